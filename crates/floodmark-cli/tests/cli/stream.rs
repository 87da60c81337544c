//! A pipe is read as it comes: what is found is printed at once, and it may end in any way.

use crate::common::{Run, SAMPLE, command, piped, sample};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Nobody waits this long for a record that is printed at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command with its standard input held open, whose lines of output come one by one.
pub(crate) struct Live {
    child: Child,
    lines: Receiver<String>,
}

impl Live {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // The receiver may be gone: then nobody wants the rest.
            stdout.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
        });
        Self { child, lines }
    }

    pub(crate) fn write(&mut self, lines: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(lines.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn record(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The rest of its output, and its end.
    pub(crate) fn finish(mut self) -> Run {
        drop(self.child.stdin.take());
        let rest: String = self.lines.iter().map(|line| line + "\n").collect();
        let mut run = Run::from(self.child.wait_with_output().unwrap());
        run.stdout = rest;
        run
    }

    /// The most memory that it has had so far, in bytes, where that can be told.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(peak.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    }

    #[cfg(unix)]
    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        let status = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(status.success());
    }
}

const ARGS: [&str; 5] = ["hot", "--mark", "3/5s", "--output", "jsonl"];

fn keys(times: &[u64]) -> String {
    times.iter().map(|time| format!("{time} a\n")).collect()
}

#[test]
fn a_key_is_told_as_hot_while_the_stream_goes_on() {
    let mut live = Live::start(&ARGS);
    live.write(&keys(&[1_700_000_000, 1_700_000_001, 1_700_000_002]));
    let hot = live.record();
    assert_eq!(
        (&hot["type"], &hot["key"], &hot["at"]),
        (&"hot".into(), &"a".into(), &"2023-11-14T22:13:22Z".into())
    );
    live.write(&keys(&[1_700_000_060]));
    let cooled = live.record();
    assert_eq!((&cooled["type"], &cooled["until"]), (&"cooled".into(), &"2023-11-14T22:13:25Z".into()));
    let run = live.finish().quiet();
    assert_eq!(run.summary()["events"], 4);
    assert!(run.records("hot").is_empty(), "an episode is told once");
}

#[test]
fn a_table_tells_of_a_hot_key_at_once_too() {
    let mut live = Live::start(&["hot", "--mark", "3/5s"]);
    live.write(&keys(&[1_700_000_000, 1_700_000_001, 1_700_000_002]));
    let row = std::iter::repeat_with(|| live.line()).find(|line| line.starts_with("2023-11-14")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["2023-11-14T22:13:22Z", "now", "3", "a"]);
    live.finish().quiet();
}

#[test]
fn an_unfinished_line_counts_when_the_stream_ends() {
    let run = piped(&ARGS, keys(&[1, 2, 3]).trim_end()).quiet();
    assert_eq!((run.records("hot").len(), &run.summary()["lines"]), (1, &3.into()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_the_summary_and_ends_well() {
    let mut live = Live::start(&ARGS);
    live.write(&keys(&[1_700_000_000, 1_700_000_001, 1_700_000_002]));
    assert_eq!(live.record()["type"], "hot");
    live.interrupt();
    // Its input is still open: it is the signal that ends it.
    assert_eq!(live.record()["type"], "cooled");
    assert_eq!(live.record()["type"], "summary");
    let run = live.finish();
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_replay_with_its_totals() {
    let mut live = Live::start(&["replay", "--limit", "2/5s", "--output", "jsonl"]);
    // A replay prints nothing before its end. But more than a pipe holds can only be written once it reads, and then
    // it listens to signals too.
    live.write(&keys(&[1_700_000_000; 100_000]));
    live.interrupt();
    let kinds: Vec<Value> = live.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
    assert_eq!(kinds.last().map(|record| &record["type"]), Some(&"summary".into()));
    assert_eq!(live.finish().quiet().stdout, "");
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let folder = crate::common::Folder::new();
    let lines: String = (0..20_000).map(|i| format!("{} key-{i}\n", 1_700_000_000 + i / 100)).collect();
    let file = folder.file("keys.txt", lines);
    for output in ["jsonl", "csv", "table"] {
        let args = ["hot", "--mark", "1/1s", "--output", output, &file];
        let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        drop(stdout);
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{output}");
    }
}

#[test]
fn a_reader_that_wants_nothing_is_no_error() {
    let mut child = command(&["hot", SAMPLE]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

/// Late in a stream: behind the newest of its key, and yet within the window, an event counts; too late, it is told.
#[track_caller]
fn check_late(more: &[&str], late_counted: u64, too_late: u64, max: u64) {
    let run =
        piped(&[&ARGS[..], &["--top", "1"], more].concat(), keys(&[100, 101, 98, 100, 90, 102])).quiet();
    let summary = run.summary();
    assert_eq!((&summary["late_counted"], &summary["too_late"]), (&late_counted.into(), &too_late.into()));
    assert_eq!((&summary["events"], &run.record("top")["max"]), (&6.into(), &max.into()));
}

#[test]
fn late_events_count_within_the_window_and_are_told_beyond_it() {
    check_late(&[], 2, 1, 5);
}

#[test]
fn late_events_beyond_the_bound_are_told() {
    check_late(&["--late", "2s"], 1, 2, 4);
    check_late(&["--late", "0s"], 0, 3, 3);
    check_late(&["--late", "1h"], 2, 1, 5);
}

#[test]
fn late_requests_of_a_replay_are_counted_as_late() {
    let run = piped(&["replay", "--limit", "9/5s", "--output", "jsonl"], keys(&[100, 101, 98, 102])).quiet();
    assert_eq!(run.summary()["late_counted"], 1);
}

/// A file is put in order, so nothing in it is late.
#[test]
fn a_shuffled_stream_is_late_where_a_file_is_not() {
    let mut lines: Vec<Vec<u8>> = sample().split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    lines.reverse();
    let args = ["hot", "--mark", "100/5s", "--output", "jsonl"];
    let run = piped(&args, lines.concat());
    // Going backwards all the way, the stream looks like a clock that is set back again and again; that is told.
    assert!(run.stderr.contains("the newest time of a key lay in the far future"), "{}", run.stderr);
    let streamed = run.summary();
    assert!(streamed["too_late"].as_u64().unwrap() + streamed["late_counted"].as_u64().unwrap() > 500);
    let folder = crate::common::Folder::new();
    let file = crate::common::jsonl(&["hot", &folder.file("reversed.log", lines.concat())]).summary();
    assert_eq!((&file["late_counted"], &file["too_late"]), (&0.into(), &0.into()));
}

#[test]
fn a_time_in_the_far_future_neither_freezes_a_key_nor_breaks_its_limit() {
    let input = "100000 a\n10 a\n20 a\n30 a\n40 a\n50 a\n60 a\n";
    let run = piped(&["replay", "--limit", "2/5s", "--all", "--output", "jsonl", "-"], input);
    let replay = run.record("replay");
    assert_eq!(replay["admitted"], 7);
    assert!(replay["worst"].as_u64().unwrap() <= 2, "{replay}");
    assert!(run.stderr.contains("1 time, the newest time of a key lay in the far future"), "{}", run.stderr);
}

#[test]
fn one_event_ahead_of_all_others_ends_no_episode() {
    let mut live = Live::start(&["hot", "--mark", "2/5s", "--output", "jsonl", "-"]);
    live.write("100 a\n101 a\n");
    assert_eq!(live.record()["type"], "hot");
    live.write("9999999999 z\n");
    live.write("102 a\n");
    let rest = live.finish();
    assert_eq!((rest.records("hot").len(), rest.records("cooled").len()), (0, 1), "{}", rest.stdout);
}

#[test]
fn keys_with_times_are_told_although_the_first_line_is_the_rest_of_one() {
    let input = "er:7\n1700000000 user:7\n1700000001 user:7\n";
    let run = piped(&["hot", "--mark", "2/5s", "--format", "keys", "--output", "jsonl", "-"], input);
    assert_eq!(run.record("hot")["key"], "user:7");
}
