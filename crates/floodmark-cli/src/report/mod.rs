//! What a command has found, as a table, as JSON lines or as CSV.

mod record;
mod summary;
mod table;

pub(crate) use record::{HOT_COLUMNS, Key, REPLAY_COLUMNS, Record, Share, Shares, millis};
pub(crate) use summary::Summary;
pub(crate) use table::{Column, Table};

use crate::args::{Output, OutputArgs};
use crate::text::{is_unsafe, safe};
use anstream::AutoStream;
use anyhow::Result;
use floodmark::Timestamp;
use floodmark_log::format_time;
use indicatif::ProgressBar;
use serde_json::Value;
use std::io::{self, Write};

/// Where records go.
///
/// They are held back until [`release`](Self::release), because a file that turns out to be out of order makes them
/// void.
pub(crate) struct Report {
    output: Output,
    /// The columns of all the command's records, for CSV.
    columns: &'static [&'static str],
    /// What was written and not yet sent on.
    pending: Vec<u8>,
    /// The part of it that stands whatever comes: what was written before the first event.
    prelude: usize,
    is_released: bool,
    /// Each record is wanted at once, not when a buffer is full.
    is_live: bool,
    out: AutoStream<io::Stdout>,
    bar: ProgressBar,
    /// The most digits of a second that a time has had so far.
    digits: u8,
}

/// So much is sent on at once.
const BUFFER: usize = 64 << 10;

impl Report {
    pub(crate) fn new(
        args: &OutputArgs,
        columns: &'static [&'static str],
        bar: ProgressBar,
        digits: u8,
        is_live: bool,
    ) -> Result<Self> {
        let choice = match args.color {
            // Colour is for tables; whatever else there is in other outputs is data.
            _ if args.output != Output::Table => anstream::ColorChoice::AlwaysAnsi,
            clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
            clap::ColorChoice::Always => anstream::ColorChoice::Always,
            clap::ColorChoice::Never => anstream::ColorChoice::Never,
        };
        let mut report = Self {
            output: args.output,
            columns,
            pending: Vec::new(),
            prelude: 0,
            is_released: false,
            is_live,
            out: AutoStream::new(io::stdout(), choice),
            bar,
            digits,
        };
        if report.output == Output::Csv {
            report.csv_row(columns)?;
        }
        Ok(report)
    }

    /// It is a table, to be read by people: records are not wanted.
    pub(crate) fn is_table(&self) -> bool {
        self.output == Output::Table
    }

    /// Each record is wanted at once.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Times have at least this many digits from now on.
    pub(crate) fn note_digits(&mut self, digits: u8) {
        self.digits = self.digits.max(digits);
    }

    pub(crate) fn time(&self, at: Timestamp) -> String {
        format_time(at, self.digits)
    }

    /// Writes a record to JSON lines or CSV; nothing to a table.
    pub(crate) fn record(&mut self, record: &Record) -> Result<()> {
        match self.output {
            Output::Table => return Ok(()),
            Output::Jsonl => writeln!(self.pending, "{}", escaped(&serde_json::to_string(record)?))?,
            Output::Csv => {
                let record = serde_json::to_value(record)?;
                self.csv_row(self.columns.iter().map(|column| cell(record.get(column))))?;
            }
        }
        self.written()
    }

    /// Writes a line of a table; nothing to the other outputs.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        if self.is_table() {
            writeln!(self.pending, "{line}")?;
        }
        self.written()
    }

    /// Writes the names of a table's columns.
    pub(crate) fn head(&mut self, table: &Table) -> Result<()> {
        self.line(&table.head(self.digits))
    }

    /// Writes a row of a table.
    pub(crate) fn row(&mut self, table: &Table, cells: &[String]) -> Result<()> {
        self.line(&table.row(cells, self.digits))
    }

    fn csv_row(&mut self, row: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<()> {
        let mut writer = csv::WriterBuilder::new().buffer_capacity(512).from_writer(&mut self.pending);
        writer.write_record(row)?;
        Ok(writer.flush()?)
    }

    fn written(&mut self) -> Result<()> {
        if self.is_released && (self.is_live || self.pending.len() >= BUFFER) { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        let (pending, out) = (&mut self.pending, &mut self.out);
        self.bar.suspend(|| {
            out.write_all(pending)?;
            pending.clear();
            Ok(out.flush()?)
        })
    }

    /// What was written so far stands, whatever comes.
    pub(crate) fn keep(&mut self) {
        self.prelude = self.pending.len();
    }

    /// Forgets what was written since [`keep`](Self::keep).
    pub(crate) fn take_back(&mut self) {
        self.pending.truncate(self.prelude);
    }

    /// How much is held back.
    pub(crate) fn held(&self) -> usize {
        if self.is_released { 0 } else { self.pending.len() }
    }

    /// Nothing will be taken back any more.
    pub(crate) fn release(&mut self) -> Result<()> {
        self.is_released = true;
        self.send()
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.send()
    }
}

/// JSON in which no terminal finds anything to act on. Such characters stand only inside strings, where their escape
/// means the same.
fn escaped(json: &str) -> String {
    if !json.chars().any(is_unsafe) {
        return json.to_string();
    }
    let mut units = [0; 2];
    let escape = |char: char| -> String {
        if !is_unsafe(char) {
            return char.into();
        }
        char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    json.chars().map(escape).collect()
}

/// A value as a cell: shown safely, and never taken for a formula by a spreadsheet.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => {
            let text = safe(text.as_bytes());
            if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
        }
        // Structure has no cell of its own: it is JSON, which stays safe when escaped.
        Some(list @ Value::Array(_)) => escaped(&list.to_string()),
        Some(Value::Object(map)) => {
            map.iter().map(|(name, n)| format!("{name}={n}")).collect::<Vec<_>>().join(";")
        }
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_no_formula() {
        for text in ["=1+1", "+1", "-1", "@x"] {
            assert_eq!(cell(Some(&text.into())), format!("'{text}"));
        }
        assert_eq!(cell(Some(&"\t=1".into())), "\\t=1");
        assert_eq!(cell(Some(&serde_json::json!(-5))), "-5");
        assert_eq!(cell(Some(&serde_json::json!({"blank": 1, "no_key": 2}))), "blank=1;no_key=2");
        assert_eq!(cell(None), "");
    }

    #[test]
    fn json_is_safe_on_a_terminal_and_still_means_the_same() {
        let text = "\u{1b}[0m \u{9b} \u{202e} é";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert!(json.is_ascii() || !json.chars().any(is_unsafe));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
