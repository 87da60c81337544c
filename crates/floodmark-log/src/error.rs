//! What can be wrong with an input as a whole. What is wrong with one line is a [`Skip`](crate::Skip).

use crate::format::Format;
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
         say --format common, combined, vhost, monitor, csv, tsv or keys"
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
