//! What a command has found, as a table, as JSON lines or as CSV.

mod record;
mod summary;
mod table;

pub(crate) use record::{HOT_COLUMNS, Key, REPLAY_COLUMNS, Record, millis};
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
use std::io::{self, BufWriter, Write};

/// Where records go.
pub(crate) struct Report {
    sink: Sink,
    bar: ProgressBar,
    /// The most digits of a second that a time has had so far.
    digits: u8,
    /// Each record is wanted at once, not when a buffer is full.
    is_live: bool,
}

enum Sink {
    Table(BufWriter<AutoStream<io::Stdout>>),
    Jsonl(BufWriter<io::Stdout>),
    Csv { writer: Box<csv::Writer<io::Stdout>>, columns: &'static [&'static str] },
}

impl Report {
    /// `columns`: those of all the command's records, for CSV.
    pub(crate) fn new(
        output: &OutputArgs,
        columns: &'static [&'static str],
        bar: ProgressBar,
        digits: u8,
        is_live: bool,
    ) -> Result<Self> {
        let stdout = io::stdout();
        let sink = match output.output {
            Output::Table => {
                let choice = match output.color {
                    clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
                    clap::ColorChoice::Always => anstream::ColorChoice::Always,
                    clap::ColorChoice::Never => anstream::ColorChoice::Never,
                };
                Sink::Table(BufWriter::new(AutoStream::new(stdout, choice)))
            }
            Output::Jsonl => Sink::Jsonl(BufWriter::new(stdout)),
            Output::Csv => {
                let mut writer = Box::new(csv::Writer::from_writer(stdout));
                writer.write_record(columns)?;
                Sink::Csv { writer, columns }
            }
        };
        Ok(Self { sink, bar, digits, is_live })
    }

    /// It is a table, to be read by people: records are not wanted.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.sink, Sink::Table(_))
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
        let is_live = self.is_live;
        let sink = &mut self.sink;
        self.bar.suspend(|| match sink {
            Sink::Table(_) => Ok(()),
            Sink::Jsonl(out) => {
                let line = serde_json::to_string(record)?;
                writeln!(out, "{}", escaped(&line))?;
                if is_live { Ok(out.flush()?) } else { Ok(()) }
            }
            Sink::Csv { writer, columns } => {
                let record = serde_json::to_value(record)?;
                writer.write_record(columns.iter().map(|column| cell(record.get(column))))?;
                if is_live { Ok(writer.flush()?) } else { Ok(()) }
            }
        })
    }

    /// Writes a line of a table; nothing to the other outputs.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        let is_live = self.is_live;
        let Sink::Table(out) = &mut self.sink else { return Ok(()) };
        self.bar.suspend(|| {
            writeln!(out, "{line}")?;
            if is_live { Ok(out.flush()?) } else { Ok(()) }
        })
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        match &mut self.sink {
            Sink::Table(out) => out.flush()?,
            Sink::Jsonl(out) => out.flush()?,
            Sink::Csv { writer, .. } => writer.flush()?,
        }
        Ok(())
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
