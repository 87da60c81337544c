//! A mistake in what was typed gets one line that says what is wrong and what to type instead, and exit code 2.

use crate::common::{Folder, Run, SAMPLE, combined, jsonl, run};

/// Refuses the arguments with one line that has all these parts, and prints nothing else.
#[track_caller]
fn check(args: &[&str], parts: &[&str]) {
    let Run { code, stdout, stderr } = run(args);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("floodmark: "), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{part:?} is not in {stderr}");
    }
}

#[test]
fn a_rate_of_zero_is_refused() {
    check(&["hot", "--mark", "0/5s", SAMPLE], &["a mark of 0", "the least mark is 1"]);
    check(&["replay", "--limit", "0/1s", SAMPLE], &["a limit of 0", "use 1 or more"]);
    check(&["replay", "--limit", "5/1s", "--limit", "0/1s", SAMPLE], &["a limit of 0"]);
    check(&["hot", "--mark", "5/0s", SAMPLE], &["a window of no length", "such as 100/5s"]);
}

#[test]
fn a_rate_that_is_none_is_refused() {
    for command in [["hot", "--mark"], ["replay", "--limit"]] {
        for (rate, wrong) in [
            ("100/5", "lacks a unit"),
            ("100", "no \"/\""),
            ("/5s", "its number"),
            ("-1/5s", "its number"),
            ("1e3/5s", "its number"),
            ("5/5 parsecs", "its time"),
            ("", "is not a rate"),
        ] {
            let rate = format!("{}={rate}", command[1]);
            check(&[command[0], &rate, SAMPLE], &[wrong, "write N/TIME, such as 100/5s"]);
        }
    }
    check(&["hot", "--cool", "5", SAMPLE], &["\"5\" is not a time", "such as 5s, 500ms"]);
    check(&["hot", "--late", "soon", SAMPLE], &["\"soon\" is not a time", "such as 5s, 500ms"]);
}

#[test]
fn a_window_below_a_tick_of_the_log_is_refused() {
    let parts = ["a window of 100ms", "steps of 1s", "use 1s or more"];
    check(&["hot", "--mark", "10/100ms", SAMPLE], &parts);
    check(&["replay", "--limit", "5/1m", "--limit", "10/100ms", SAMPLE], &parts);
}

#[test]
fn slices_below_a_tick_of_the_log_are_refused() {
    let parts = ["10 slices of 5s", "steps of 1s", "--slices 5 or fewer, or --exact"];
    check(&["hot", "--slices", "10", "--mark", "100/5s", SAMPLE], &parts);
    check(&["replay", "--slices", "10", "--limit", "100/5s", SAMPLE], &parts);
    assert_eq!(run(&["hot", "--slices", "5", "--mark", "100/5s", SAMPLE]).code, Some(0));
}

#[test]
fn a_window_of_milliseconds_suits_times_of_milliseconds() {
    let folder = Folder::new();
    let file = folder.file("ms.txt", "1700000000000 a\n1700000000050 a\n1700000000100 a\n");
    let run = jsonl(&["hot", "--mark", "2/100ms", &file]);
    assert_eq!(run.record("hot")["at"], "2023-11-14T22:13:20.050Z");
    check(&["hot", "--mark", "2/100us", &file], &["a window of 100us", "steps of 1ms"]);
}

#[test]
fn slices_that_are_none_or_too_fine_are_refused() {
    check(&["hot", "--slices", "0", SAMPLE], &["1 to 4096 slices"]);
    check(&["hot", "--slices", "5000", "--mark", "5/10h", SAMPLE], &["1 to 4096 slices"]);
    check(&["hot", "--slices", "10", "--mark", "5/5ms", SAMPLE], &["at least 1ms", "exact form"]);
    check(&["hot", "--slices", "10", "--exact", SAMPLE], &["--slices", "--exact", "cannot be used with"]);
}

#[test]
fn an_unknown_key_is_refused_with_those_there_are() {
    for command in [&["hot"][..], &["replay", "--limit", "5/1s"]] {
        let args = |more: &[&'static str]| [command, more, &[SAMPLE]].concat();
        check(&args(&["--key", "nope"]), &["has no field \"nope\"", "it has ip, path, user, status"]);
        check(&args(&["--key", "host"]), &["has no field \"host\"", "it has ip, path, user, status"]);
    }
    let folder = Folder::new();
    let keys = folder.file("keys.txt", "1700000000 a\n");
    check(&["hot", "--key", "ip", &keys], &["has no field \"ip\"", "it has key"]);
}

#[test]
fn an_unknown_column_is_refused_with_those_there_are() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "time,key,size\n1700000000,a,5\n");
    for option in ["--key", "--time", "--weight"] {
        check(&["hot", option, "nope", &table], &["t.csv has no field \"nope\"", "it has time, key, size"]);
    }
    assert_eq!(jsonl(&["hot", "--key", "size", "--mark", "1/1s", &table]).record("hot")["key"], "5");
    assert_eq!(jsonl(&["hot", "--weight", "size", &table]).summary()["units"], 5);
}

#[test]
fn a_table_without_a_known_time_or_key_column_is_refused_with_the_option_to_say() {
    let folder = Folder::new();
    let no_time = folder.file("no_time.csv", "when,key\n5,a\n");
    check(&["hot", &no_time], &["which field is the time?", "--time NAME", "it has when, key"]);
    assert_eq!(jsonl(&["hot", "--time", "when", &no_time]).summary()["events"], 1);
    let no_key = folder.file("no_key.tsv", "time\tlbn\n5\ta\n");
    check(&["hot", &no_key], &["which field is the key?", "--key NAME", "it has time, lbn"]);
    assert_eq!(jsonl(&["hot", "--key", "lbn", &no_key]).summary()["events"], 1);
}

#[test]
fn a_format_of_ones_own_is_read_as_its_pattern_says() {
    let folder = Folder::new();
    let file = folder.file("own.log", "5ms 192.0.2.1 [01.02.2025 03:04:05] GET\n");
    let pattern = ["hot", "--pattern", r"(?<ip>[\d.]+) \[(?<time>[^\]]+)", &file];
    check(&pattern, &["\"01.02.2025 03:04:05\": say how that is written, as --time-format"]);
    let times = ["--time-format", "%d.%m.%Y %H:%M:%S"];
    let run = jsonl(&[&pattern[..], &times, &["--mark", "1/1s"]].concat());
    assert_eq!((&run.records("hot")[0]["key"], &run.summary()["events"]), (&"192.0.2.1".into(), &1.into()));
    let nginx = jsonl(&[
        "hot",
        "--pattern",
        "$ms $remote_addr [$time_local] $request_method",
        "--key",
        "method",
        times[0],
        times[1],
        &file,
    ]);
    assert_eq!(nginx.summary()["events"], 1);
    check(&["hot", "--pattern", "ip time", &file], &["no fields", "(?<ip>", "$remote_addr", "%h %t"]);
    check(
        &["hot", "--pattern", "%Dms %h %u %t", &file],
        &["matched up to \"5ms 192.0.2.1 \", then wanted %u"],
    );
    check(&["hot", "--format", "pattern", &file], &["say --pattern"]);
    check(&["hot", "--time-format", "%Y", &file], &["--pattern <PATTERN>"]);
}

#[test]
fn an_unknown_word_for_an_option_is_refused_with_those_there_are() {
    let formats = ["common", "combined", "vhost", "csv", "tsv", "keys"];
    check(&["hot", "--format", "nope", SAMPLE], &formats);
    check(&["hot", "--format", "nope", SAMPLE], &["'nope'", "--format"]);
    check(&["hot", "--output", "xml", SAMPLE], &["'xml'", "table, jsonl, csv"]);
    check(&["hot", "--color", "blue", SAMPLE], &["'blue'", "auto, always, never"]);
    check(&["hot", "--time-unit", "d", SAMPLE], &["'d'", "s, ms, us, ns"]);
    check(&["hot", "--top", "many", SAMPLE], &["'many'", "--top <K>"]);
}

#[test]
fn an_unknown_option_or_a_missing_one_is_refused_with_the_usage() {
    check(&["hot", "--marks", "5/1s", SAMPLE], &["'--marks'", "'--mark'", "sage: floodmark hot"]);
    check(&["replay", SAMPLE], &["--limit <N/TIME>", "sage: floodmark replay"]);
    check(&["warm", SAMPLE], &["'warm'", "sage: floodmark"]);
}

#[test]
fn help_has_examples() {
    for command in ["hot", "replay"] {
        let help = run(&[command, "--help"]).quiet();
        assert!(help.stdout.contains("Examples:"), "{}", help.stdout);
        assert!(help.stdout.contains(&format!("floodmark {command} --")), "{}", help.stdout);
        assert!(run(&[command, "-h"]).quiet().stdout.contains("Examples:"));
    }
    let all = run(&["--help"]).quiet();
    assert!(all.stdout.contains("hot") && all.stdout.contains("replay"), "{}", all.stdout);
    assert!(run(&["--version"]).quiet().stdout.starts_with("floodmark"));
}

#[test]
fn hot_keys_fail_only_where_that_is_asked() {
    let args = ["hot", "--mark", "100/5s", SAMPLE];
    assert_eq!(run(&args).code, Some(0));
    assert_eq!(run(&[&args[..], &["--fail-if-hot"]].concat()).code, Some(1));
    assert_eq!(run(&["hot", "--mark", "100000/5s", "--fail-if-hot", SAMPLE]).code, Some(0));
    // What could not be read might have been hot too: that is the graver news.
    assert_eq!(run(&["hot", "--mark", "100/5s", "--fail-if-hot", SAMPLE, "/no/such.log"]).code, Some(2));
}

/// Times that are out of order are read twice: what was hot in the first reading must not count.
#[test]
fn a_key_that_only_looked_hot_before_the_lines_were_in_order_does_not_fail() {
    let folder = Folder::new();
    let lines: String = [10, 10, 11, 5].map(|second| combined("192.0.2.1", second)).concat();
    let file = folder.file("back.log", lines);
    assert_eq!(run(&["hot", "--mark", "4/1s", "--fail-if-hot", &file]).code, Some(0));
    assert_eq!(run(&["hot", "--mark", "3/2s", "--fail-if-hot", &file]).code, Some(1));
}

#[test]
fn a_replay_in_no_slices_is_refused_and_does_not_panic() {
    let run = crate::common::piped(&["replay", "--limit", "10/1s", "--slices", "0", "-"], "5 a\n");
    assert!(run.stderr.contains("0 slices: a window has 1 to 4096 slices"), "{}", run.stderr);
}
