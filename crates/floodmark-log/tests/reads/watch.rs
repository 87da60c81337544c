//! Whoever watches is told how far it has come, and can stop it, also where no line is an event.

use crate::common::Keeper;
use floodmark_log::{Inputs, Options, Phase, Progress, Watch};

/// Stops after so many bytes of a pass.
struct Stop {
    phase: Phase,
    after: u64,
    told: Vec<Progress>,
}

impl Watch for Stop {
    fn progress(&mut self, progress: Progress) {
        assert!(progress.bytes <= progress.total, "{progress:?}");
        self.told.push(progress);
    }

    fn should_stop(&self) -> bool {
        self.told.iter().any(|told| told.phase == self.phase && told.bytes >= self.after)
    }
}

const LINES: u64 = 200_000;

/// Reads a file, up to a place in a pass: its lines and events, the events handed on, and what was told.
fn read(lines: String, conditions: &[&str], phase: Phase) -> (u64, u64, usize, Vec<Progress>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    let after = lines.len() as u64 / 2;
    std::fs::write(&path, lines).unwrap();
    let conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
    let options = Options { conditions, ..Options::default() };
    let mut watch = Stop { phase, after, told: Vec::new() };
    let mut keeper = Keeper::default();
    let (tally, problems) = Inputs::open(&[path], options).read(&mut keeper, &mut watch).unwrap();
    assert!(problems.is_empty());
    (tally.lines, tally.events, keeper.0.len(), watch.told)
}

fn lines(second: impl Fn(u64) -> u64) -> String {
    (0..LINES).map(|i| format!("{} key{}\n", 1_700_000_000 + second(i), i % 7)).collect()
}

#[test]
fn lines_that_are_no_events_are_seen_and_can_be_stopped() {
    let (read, events, handed_on, told) = read(lines(|i| i), &["key=none"], Phase::Reading);
    assert!(told.len() > 5 && told.is_sorted_by_key(|told| told.bytes));
    assert!(read > 0 && read < LINES * 3 / 4, "{read} lines were read");
    assert_eq!((events, handed_on), (0, 0));
}

/// All that is told to have been read was handed on: in order, or when it was put in order.
#[test]
fn what_was_read_before_it_was_stopped_counts() {
    let (read_in_order, events, handed_on, _) = read(lines(|i| i), &[], Phase::Reading);
    assert!(read_in_order < LINES * 3 / 4);
    assert_eq!((events, handed_on as u64), (read_in_order, read_in_order));
    let (read_sorted, events, handed_on, told) = read(lines(|i| i ^ 0x3ff), &[], Phase::Sorting);
    assert!(told.iter().any(|told| told.phase == Phase::Sorting));
    assert!(read_sorted > 0 && read_sorted < LINES * 3 / 4);
    assert_eq!((events, handed_on as u64), (read_sorted, read_sorted));
}
