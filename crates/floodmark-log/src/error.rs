//! What can be wrong with an input as a whole. What is wrong with one line is a [`Skip`](crate::Skip).

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
    /// Compressed input.
    #[error("{path} is compressed ({kind}): pipe it in, {tool} {path} | floodmark ... -")]
    Compressed {
        /// The file.
        path: String,
        /// The compression.
        kind: &'static str,
        /// What unpacks it.
        tool: &'static str,
    },
    /// Not text.
    #[error("{0} is not text: floodmark reads lines (access logs, csv, tsv, or keys)")]
    Binary(String),
    /// No format fits the first lines.
    #[error(
        "{path}: can't tell the format from its first lines, such as {line}; \
         say --format common, combined, vhost, csv, tsv or keys"
    )]
    UnknownFormat {
        /// The input.
        path: String,
        /// Its first line, shortened and made safe to show.
        line: String,
    },
    /// `--key` names something the format does not have.
    #[error("{path} has no {what} \"{name}\": it has {known}")]
    UnknownField {
        /// The input.
        path: String,
        /// `key` or `column`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A table without a recognisable time or key column.
    #[error("{path}: which column is the {what}? Say --{what} NAME; its columns are {known}")]
    NoColumn {
        /// The input.
        path: String,
        /// `time` or `key`.
        what: &'static str,
        /// What there is.
        known: String,
    },
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file: check the name".into(),
        io::ErrorKind::PermissionDenied => "not allowed to read it: check its permissions".into(),
        _ => error.to_string(),
    }
}
