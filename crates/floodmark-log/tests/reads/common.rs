//! Reads bytes as a file and keeps what a consumer is handed.

use floodmark::Timestamp;
use floodmark_log::{Consumer, Error, Event, Inputs, Options, Tally};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// An event that outlives its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) key: Vec<u8>,
    pub(crate) n: u64,
    pub(crate) at: Timestamp,
}

#[derive(Default)]
pub(crate) struct Keeper(pub(crate) Vec<Kept>);

impl Consumer for Keeper {
    type Error = Infallible;

    fn event(&mut self, &Event { key, n, at, .. }: &Event<'_>) -> Result<(), Infallible> {
        self.0.push(Kept { key: key.to_vec(), n, at });
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn idle(&mut self, _now: Timestamp) -> Result<(), Infallible> {
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Infallible> {
        self.0.clear();
        Ok(())
    }

    fn release(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn held(&self) -> usize {
        0
    }
}

/// The events of a file and the account of its lines, or why it could not be read.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<(Vec<Kept>, Tally), Error> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("input");
    std::fs::write(&path, bytes).unwrap();
    let mut keeper = Keeper::default();
    let (tally, mut problems) = Inputs::open(&[path], options.clone()).read(&mut keeper, &mut ()).unwrap();
    match problems.pop() {
        Some(problem) => Err(problem),
        None => Ok((keeper.0, tally)),
    }
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
