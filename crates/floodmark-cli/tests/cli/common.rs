//! Runs the binary, and reads what it says.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The sample log that comes with the project.
pub(crate) const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/flash-sale.log");

/// The sample log's bytes.
pub(crate) fn sample() -> Vec<u8> {
    std::fs::read(SAMPLE).unwrap()
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Run {
    /// It ended well and had nothing to complain of.
    #[track_caller]
    pub(crate) fn quiet(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self
    }

    /// The JSON lines of one type; each begins with it.
    #[track_caller]
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let start = format!("{{\"type\":\"{kind}\"");
        let lines = self.stdout.lines().filter(|line| line.starts_with(&start));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The only JSON line of its type.
    #[track_caller]
    pub(crate) fn record(&self, kind: &str) -> Value {
        let mut records = self.records(kind);
        assert_eq!(records.len(), 1, "{kind} in {self:?}");
        records.remove(0)
    }

    /// The summary, which is the last line, and whose numbers add up.
    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        assert!(last.starts_with("{\"type\":\"summary\""), "{self:?}");
        let summary: Value = serde_json::from_str(last).unwrap();
        let skipped: u64 = summary["skipped"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!(summary["lines"].as_u64(), summary["matched"].as_u64().map(|n| n + skipped), "{last}");
        summary
    }
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_floodmark"));
    command.args(args).stdin(Stdio::null());
    command
}

/// `floodmark ARGS`
pub(crate) fn run(args: &[&str]) -> Run {
    command(args).output().unwrap().into()
}

/// `floodmark ARGS --output jsonl`, which must end well and quietly.
#[track_caller]
pub(crate) fn jsonl(args: &[&str]) -> Run {
    run(&[args, &["--output", "jsonl"]].concat()).quiet()
}

/// `... | floodmark ARGS`
pub(crate) fn piped(args: &[&str], input: impl Into<Vec<u8>>) -> Run {
    let mut command = assert_cmd::Command::from(command(args));
    command.write_stdin(input).output().unwrap().into()
}

/// A folder for inputs that a test makes; it goes when the test is over.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().into()
    }
}

/// A line of a combined log, `second` seconds into 2025.
pub(crate) fn combined(client: &str, second: u64) -> String {
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{client} - - [01/Jan/2025:{hour:02}:{minute:02}:{second:02} +0000] \"GET /a HTTP/1.1\" 200 12 \"-\" \"x\"\n"
    )
}

/// A file of the test data; `None`, and one line that says so, where there is none.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
pub(crate) fn data(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("FLOODMARK_DATA").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let path = folder.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: there is no {} (FLOODMARK_DATA names the folder)", path.display());
    None
}

/// A JSON file of the test data.
pub(crate) fn data_json(path: &str) -> Option<Value> {
    data(path).map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}
