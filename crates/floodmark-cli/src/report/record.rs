//! The records of the JSON lines, documented in docs/output.md: a stable interface.

use serde::Serialize;
use serde_json::Number;
use std::collections::BTreeMap;
use std::time::Duration;

/// A key: text where it is UTF-8, else its bytes in hexadecimal.
#[derive(Debug, Serialize)]
pub(crate) enum Key {
    #[serde(rename = "key")]
    Text(String),
    #[serde(rename = "key_hex")]
    Hex(String),
}

impl Key {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Hex(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}

/// A value of a field: text where it is UTF-8, else its bytes in hexadecimal.
#[derive(Debug, Serialize)]
pub(crate) enum Value {
    #[serde(rename = "value")]
    Text(String),
    #[serde(rename = "value_hex")]
    Hex(String),
}

impl Value {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Hex(text) => text,
        }
    }
}

impl From<Key> for Value {
    fn from(key: Key) -> Self {
        match key {
            Key::Text(text) => Self::Text(text),
            Key::Hex(hex) => Self::Hex(hex),
        }
    }
}

/// Who is behind a hot key, by one field.
#[derive(Debug, Serialize)]
pub(crate) struct Shares {
    pub(crate) field: String,
    /// The units of all values.
    pub(crate) of: u64,
    /// The largest first.
    pub(crate) largest: Vec<Share>,
}

/// One value, with at most `count` units and at least `count - error`.
#[derive(Debug, Serialize)]
pub(crate) struct Share {
    #[serde(flatten)]
    pub(crate) value: Value,
    pub(crate) count: u64,
    pub(crate) error: u64,
}

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record {
    Hot {
        #[serde(flatten)]
        key: Key,
        mark: String,
        at: String,
        lo: u64,
        hi: u64,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        why: Vec<Shares>,
    },
    Cooled {
        #[serde(flatten)]
        key: Key,
        mark: String,
        from: String,
        until: String,
        peak: u64,
        peak_at: String,
        total: u64,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        why: Vec<Shares>,
    },
    Top {
        #[serde(flatten)]
        key: Key,
        window_ms: Number,
        max: u64,
        max_lo: u64,
        max_hi: u64,
        at: String,
    },
    Replay {
        #[serde(flatten)]
        key: Key,
        limit: String,
        asked: u64,
        admitted: u64,
        rejected: u64,
        first_rejected: Option<String>,
        last_rejected: Option<String>,
        worst: u64,
        worst_asked: u64,
    },
    ReplayTotal {
        limit: String,
        asked: u64,
        admitted: u64,
        rejected: u64,
        keys: u64,
        keys_rejected: u64,
    },
    Summary {
        lines: u64,
        matched: u64,
        events: u64,
        units: u64,
        skipped: BTreeMap<&'static str, u64>,
        damaged: u64,
        late_counted: u64,
        too_late: u64,
        keys: u64,
        first: Option<String>,
        last: Option<String>,
    },
}

/// The columns of `hot` as CSV.
pub(crate) const HOT_COLUMNS: &[&str] = &[
    "type",
    "key",
    "key_hex",
    "mark",
    "at",
    "lo",
    "hi",
    "from",
    "until",
    "peak",
    "peak_at",
    "total",
    "window_ms",
    "max",
    "max_lo",
    "max_hi",
    "lines",
    "matched",
    "events",
    "units",
    "skipped",
    "damaged",
    "late_counted",
    "too_late",
    "keys",
    "first",
    "last",
    "why",
];

/// The columns of `replay` as CSV.
pub(crate) const REPLAY_COLUMNS: &[&str] = &[
    "type",
    "key",
    "key_hex",
    "limit",
    "asked",
    "admitted",
    "rejected",
    "first_rejected",
    "last_rejected",
    "worst",
    "worst_asked",
    "keys",
    "keys_rejected",
    "lines",
    "matched",
    "events",
    "units",
    "skipped",
    "damaged",
    "late_counted",
    "too_late",
    "first",
    "last",
];

/// A duration in milliseconds: whole where it is, else with a fraction.
pub(crate) fn millis(span: Duration) -> Number {
    let nanos = span.as_nanos() as u64;
    if nanos.is_multiple_of(1_000_000) {
        return (nanos / 1_000_000).into();
    }
    Number::from_f64(nanos as f64 / 1e6).unwrap_or_else(|| 0.into())
}
