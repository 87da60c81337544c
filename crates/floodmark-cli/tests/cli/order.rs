//! Files are put in the order of their times, however their lines and they themselves are shuffled.

use crate::common::{Folder, Run, SAMPLE, combined, jsonl, piped, run, sample};
use floodmark_testkit::traffic::Chance;

const HOT: [&str; 5] = ["hot", "--mark", "100/5s", "--top", "5"];
const REPLAY: [&str; 3] = ["replay", "--limit", "20/5s"];

fn lines() -> Vec<Vec<u8>> {
    sample().split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect()
}

fn shuffled(seed: u64) -> Vec<u8> {
    let (mut lines, mut chance) = (lines(), Chance::new(seed));
    for last in (1..lines.len()).rev() {
        lines.swap(last, (chance.bits() % (last as u64 + 1)) as usize);
    }
    lines.concat()
}

/// The sample as a whole is hot and rejects, so that there is something to compare.
fn whole(args: &[&str]) -> Run {
    let run = jsonl(&[args, &[SAMPLE]].concat());
    assert!(!run.records("hot").is_empty() || !run.records("replay").is_empty());
    run
}

#[track_caller]
fn check(args: &[&str], files: &[&str]) {
    assert_eq!(jsonl(&[args, files].concat()).stdout, whole(args).stdout);
}

#[test]
fn two_halves_are_merged_whatever_their_order() {
    let (folder, lines) = (Folder::new(), lines());
    let (first, second) = lines.split_at(lines.len() / 2);
    let first = folder.file("first.log", first.concat());
    let second = folder.file("second.log", second.concat());
    for args in [&HOT[..], &REPLAY] {
        check(args, &[&first, &second]);
        check(args, &[&second, &first]);
    }
}

#[test]
fn lines_dealt_to_three_files_are_merged() {
    let (folder, lines) = (Folder::new(), lines());
    let deal = |n: usize| lines.iter().skip(n).step_by(3).flatten().copied().collect::<Vec<u8>>();
    let files = [0, 1, 2].map(|n| folder.file(&format!("{n}.log"), deal(n)));
    check(&HOT, &[&files[2], &files[0], &files[1]]);
    check(&REPLAY, &[&files[2], &files[0], &files[1]]);
}

#[test]
fn shuffled_lines_give_what_they_give_in_order() {
    let folder = Folder::new();
    for seed in 1..4 {
        let file = folder.file("shuffled.log", shuffled(seed));
        check(&HOT, &[&file]);
        check(&REPLAY, &[&file]);
    }
}

#[test]
fn a_file_redirected_to_standard_input_is_put_in_order_too() {
    let folder = Folder::new();
    let file = std::fs::File::open(folder.file("shuffled.log", shuffled(5))).unwrap();
    let mut command = crate::common::command(&[&HOT[..], &["--output", "jsonl", "-"]].concat());
    let run = Run::from(command.stdin(file).output().unwrap()).quiet();
    assert_eq!(run.stdout, whole(&HOT).stdout);
}

#[test]
fn a_pipe_in_order_gives_what_the_file_gives() {
    let of_pipe = piped(&[&HOT[..], &["--output", "jsonl", "-"]].concat(), sample()).quiet();
    let of_file = whole(&HOT);
    for kind in ["hot", "cooled", "top", "summary"] {
        assert_eq!(of_pipe.records(kind), of_file.records(kind), "{kind}");
    }
    // Without a name, what is piped in is the input.
    assert_eq!(piped(&[&HOT[..], &["--output", "jsonl"]].concat(), sample()).stdout, of_pipe.stdout);
    let replayed = piped(&[&REPLAY[..], &["--output", "jsonl", "-"]].concat(), sample()).quiet();
    assert_eq!(replayed.stdout, whole(&REPLAY).stdout);
}

#[test]
fn the_same_file_twice_counts_once_and_says_so() {
    let once = whole(&HOT);
    let twice = run(&[&HOT[..], &["--output", "jsonl", SAMPLE, SAMPLE]].concat());
    assert_eq!((twice.code, &twice.stdout), (Some(0), &once.stdout));
    assert_eq!(twice.stderr.lines().count(), 1, "{}", twice.stderr);
    assert!(twice.stderr.contains("is the same file as"), "{}", twice.stderr);
    assert!(twice.stderr.contains("--count-twice"), "{}", twice.stderr);
}

#[cfg(unix)]
#[test]
fn another_name_of_a_file_is_no_other_file() {
    let folder = Folder::new();
    let file = folder.file("a.log", combined("192.0.2.1", 1));
    let link = format!("{}/b.log", folder.path());
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let run = run(&["hot", "--output", "jsonl", &file, &link]);
    assert_eq!(run.summary()["lines"], 1);
    assert!(run.stderr.contains("b.log is the same file as"), "{}", run.stderr);
}

#[test]
fn the_same_file_counts_twice_where_that_is_asked() {
    let folder = Folder::new();
    let file = folder.file("a.log", combined("192.0.2.1", 1).repeat(3));
    let run = jsonl(&["hot", "--mark", "6/1s", "--count-twice", &file, &file]);
    assert_eq!(run.records("hot").len(), 1);
    assert_eq!(run.summary()["lines"], 6);
}

/// Ends of a window are where a mistake of order shows: 5 in (0 s, 5 s], and never 6.
#[test]
fn events_of_one_instant_from_several_files_are_all_counted() {
    let folder = Folder::new();
    let make = |name: &str, seconds: &[u64]| {
        folder.file(name, seconds.iter().map(|&s| combined("192.0.2.1", s)).collect::<String>())
    };
    let (a, b) = (make("a.log", &[0, 5, 5]), make("b.log", &[5, 1, 4]));
    assert_eq!(jsonl(&["hot", "--mark", "5/5s", &a, &b]).record("hot")["at"], "2025-01-01T00:00:05Z");
    assert!(jsonl(&["hot", "--mark", "6/5s", &b, &a]).records("hot").is_empty());
}
