//! Compressed files are read as often as it takes.

use crate::common::read;
use flate2::write::GzEncoder;
use floodmark_log::{Consumer, Error, Event, Inputs, Options, Phase, Progress, Watch};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::Write as _;

const LINES: u64 = 60_000;

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn keys(times: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut lines = String::new();
    times.for_each(|time| writeln!(lines, "{} key-{}", 1_700_000_000 + time, time % 7).unwrap());
    lines.into_bytes()
}

/// Holds back more than may be held back, until it is let go.
#[derive(Default)]
struct Hoarder {
    times: Vec<u64>,
    restarts: u32,
    /// After how many events it was let go.
    released_at: Option<usize>,
}

impl Consumer for Hoarder {
    type Error = Infallible;

    fn event(&mut self, event: &Event<'_>) -> Result<(), Infallible> {
        self.times.push(event.at.as_nanos());
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn idle(&mut self, _now: floodmark::Timestamp) -> Result<(), Infallible> {
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Infallible> {
        self.times.clear();
        self.restarts += 1;
        Ok(())
    }

    fn release(&mut self) -> Result<(), Infallible> {
        self.released_at.get_or_insert(self.times.len());
        Ok(())
    }

    fn held(&self) -> usize {
        if self.released_at.is_none() { usize::MAX } else { 0 }
    }
}

/// Wants progress never to go beyond the file, as it lies on disk.
#[derive(Default)]
struct Bounds(Vec<Phase>);

impl Watch for Bounds {
    fn progress(&mut self, Progress { phase, bytes, total }: Progress) {
        assert!(bytes <= total, "{phase:?}: {bytes} of {total}");
        if self.0.last() != Some(&phase) {
            self.0.push(phase);
        }
    }
}

fn hoard(bytes: &[u8]) -> (Hoarder, Vec<Phase>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).unwrap();
    let (mut hoarder, mut bounds) = (Hoarder::default(), Bounds::default());
    let (tally, problems) =
        Inputs::open(&[path], Options::default()).read(&mut hoarder, &mut bounds).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((tally.events, hoarder.times.len() as u64), (LINES, LINES));
    assert!(hoarder.times.is_sorted());
    (hoarder, bounds.0)
}

#[test]
fn a_file_in_order_is_let_go_once_its_rest_has_been_looked_over() {
    for plain in [keys(0..LINES), keys((0..LINES).map(|i| i / 100))] {
        for bytes in [gzip(&plain), plain] {
            let (hoarder, phases) = hoard(&bytes);
            assert_eq!((hoarder.restarts, hoarder.released_at), (0, Some(4096)));
            assert_eq!(phases, [Phase::Reading, Phase::LookingOver, Phase::Reading]);
        }
    }
}

#[test]
fn a_file_that_is_out_of_order_at_its_end_is_sorted() {
    let plain = keys((1..LINES).chain([0]));
    for bytes in [gzip(&plain), plain] {
        let (hoarder, phases) = hoard(&bytes);
        assert_eq!(hoarder.restarts, 1);
        assert_eq!(phases.last(), Some(&Phase::Sorting));
    }
}

#[test]
fn events_of_a_file_that_was_cut_anywhere_are_the_first_ones() {
    let plain = keys(0..40);
    let packed = gzip(&plain);
    let (all, _) = read(&packed, &Options::default()).unwrap();
    assert_eq!(all.len(), 40);
    for length in 3..packed.len() {
        match read(&packed[..length], &Options::default()) {
            Err(Error::Cut { lines, kind: "gzip", .. }) => assert!(lines <= 40, "{length}"),
            other => panic!("{length}: {other:?}"),
        }
    }
}
