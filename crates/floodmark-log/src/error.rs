//! What can be wrong with an input as a whole. What is wrong with one line is a [`Skip`](crate::Skip).

use crate::format::Format;
use crate::source::{Fault, Packing};
use std::io;
use std::path::PathBuf;

/// Why an input could not be read. Each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {}", path.display(), explain(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A directory where a file was expected.
    #[error("{0} is a directory: name the files in it, such as {0}/*.log")]
    Directory(String),
    /// Of a compression that is not unpacked here.
    #[error("{path} is compressed ({kind}): pipe it in, {tool} {path} | floodmark ... -")]
    Compressed {
        /// The file.
        path: String,
        /// The compression.
        kind: &'static str,
        /// What unpacks it.
        tool: &'static str,
    },
    /// What was unpacked is compressed too.
    #[error("{path} is compressed twice ({kind} inside): unpack it once, the rest is done here")]
    Twice {
        /// The input.
        path: String,
        /// The inner compression.
        kind: &'static str,
    },
    /// Compressed data that ends in the middle.
    #[error("{path} is cut: its {kind} data ends early {}", after(*lines))]
    Cut {
        /// The input.
        path: String,
        /// The compression.
        kind: &'static str,
        /// How many lines were read before.
        lines: u64,
    },
    /// Compressed data that is not what was compressed.
    #[error("{path} is damaged: its {kind} data is corrupt {}", after(*lines))]
    Corrupt {
        /// The input.
        path: String,
        /// The compression.
        kind: &'static str,
        /// How many lines were read before.
        lines: u64,
    },
    /// Compressed data that takes too much memory to unpack.
    #[error(
        "{path} needs more than 128 MiB of memory to be unpacked ({kind}): pipe it in, {tool} {path} | floodmark ... -"
    )]
    Window {
        /// The input.
        path: String,
        /// The compression.
        kind: &'static str,
        /// What unpacks it.
        tool: &'static str,
    },
    /// Compressed data that needs a dictionary.
    #[error("{0} was compressed with a dictionary: pipe it in, zstd -dc -D DICTIONARY {0} | floodmark ... -")]
    Dictionary(String),
    /// Something else follows compressed data. See [`is_harmless`](Self::is_harmless).
    #[error("{path} goes on behind its {kind} data with something else: that is left out")]
    Trailing {
        /// The input.
        path: String,
        /// The compression.
        kind: &'static str,
    },
    /// Not text.
    #[error("{0} is not text: floodmark reads lines (access logs, MONITOR, sshd, JSON, csv, tsv, keys)")]
    Binary(String),
    /// No format fits the first lines.
    #[error(
        "{path}: can't tell the format from its first lines, such as {line}; \
         say --format common, combined, vhost, monitor, sshd, json, csv, tsv or keys, or describe them with --pattern"
    )]
    UnknownFormat {
        /// The input.
        path: String,
        /// Its first line, shortened and made safe to show.
        line: String,
    },
    /// `--format` is another than that of the lines.
    #[error(
        "{path}: its first lines are not {asked}, such as {line}; they look like {looks_like}: \
         say --format {looks_like}, or leave it out"
    )]
    WrongFormat {
        /// The input.
        path: String,
        /// What was asked for.
        asked: Format,
        /// What it looks like.
        looks_like: Format,
        /// Its first line, shortened and made safe to show.
        line: String,
    },
    /// `--key` is no field and no template of fields.
    #[error("\"{key}\" is no key: {why}; say a field as ip, or several as '{{ip}} {{path}}'")]
    BadKey {
        /// What was asked for.
        key: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something names a field that the format does not have.
    #[error("{path} has no field \"{name}\": it has {known}")]
    UnknownField {
        /// The input.
        path: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// `--format pattern` without one.
    #[error(
        "--format pattern needs to be told which: say --pattern and a regular expression with named groups, such as \
         '(?<ip>\\S+) .*\\[(?<time>[^\\]]+)\\]', or the log_format of nginx or the LogFormat of Apache"
    )]
    NoPattern,
    /// A pattern that says too little, or is for another format than the one that is asked for.
    #[error("--pattern: {why}")]
    BadPattern {
        /// What is wrong with it, and what to type.
        why: String,
    },
    /// A pattern that fits none of the first lines.
    #[error("{path}: {why}")]
    Unmatched {
        /// The input.
        path: String,
        /// What is wrong, shown by the first line.
        why: String,
    },
    /// A table without a recognisable time or key column.
    #[error("{path}: which field is the {what}? Say --{what} NAME; it has {known}")]
    NoColumn {
        /// The input.
        path: String,
        /// `time` or `key`.
        what: &'static str,
        /// What there is.
        known: String,
    },
}

impl Error {
    /// The input was read all the same, and as it was meant.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        matches!(self, Self::Trailing { .. })
    }

    /// What is wrong with compressed data, of which so many lines could be read.
    pub(crate) fn packed(path: &str, fault: Fault, packing: Packing, lines: u64) -> Self {
        let (path, kind) = (path.to_string(), packing.name());
        match fault {
            Fault::Cut => Self::Cut { path, kind, lines },
            Fault::Corrupt => Self::Corrupt { path, kind, lines },
            Fault::Window => Self::Window { path, kind, tool: packing.tool() },
            Fault::Dictionary => Self::Dictionary(path),
            Fault::Trailing => Self::Trailing { path, kind },
        }
    }
}

fn after(lines: u64) -> String {
    match lines {
        0 => "before there is a line that can be read".into(),
        1 => "after 1 line; what came before counts".into(),
        _ => format!("after {} lines; what came before counts", grouped(lines)),
    }
}

/// `12,345`
fn grouped(n: u64) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1000), n % 1000) }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file: check the name".into(),
        io::ErrorKind::PermissionDenied => "not allowed to read it: check its permissions".into(),
        _ => error.to_string(),
    }
}
