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
    "events",
    "units",
    "skipped",
    "damaged",
    "late_counted",
    "too_late",
    "keys",
    "first",
    "last",
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
