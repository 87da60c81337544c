//! The JSON lines, which are an interface: their fields and order, how times are written, and what is one key.

use crate::common::{Folder, Run, combined, jsonl, piped};
use serde_json::Value;

#[track_caller]
fn check(args: &[&str], input: impl Into<Vec<u8>>, expected: &str) {
    let run = piped(&[args, &["--output", "jsonl", "-"]].concat(), input).quiet();
    assert_eq!(run.stdout, expected);
}

const KEYS: &str = "100 b\n101 a\n102 a\n103 a 2\n\n120 a\n";

#[test]
fn hot_writes_the_documented_fields_in_the_documented_order() {
    let expected = concat!(
        r#"{"type":"hot","key":"a","mark":"3/5s","at":"1970-01-01T00:01:43Z","lo":4,"hi":4}"#,
        "\n",
        r#"{"type":"cooled","key":"a","mark":"3/5s","from":"1970-01-01T00:01:43Z","until":"1970-01-01T00:01:47Z","#,
        r#""peak":4,"peak_at":"1970-01-01T00:01:43Z","total":2}"#,
        "\n",
        r#"{"type":"top","key":"a","window_ms":5000,"max":4,"max_lo":4,"max_hi":4,"at":"1970-01-01T00:01:43Z"}"#,
        "\n",
        r#"{"type":"top","key":"b","window_ms":5000,"max":1,"max_lo":1,"max_hi":1,"at":"1970-01-01T00:01:40Z"}"#,
        "\n",
        r#"{"type":"summary","lines":6,"matched":5,"events":5,"units":6,"skipped":{"blank":1},"damaged":0,"late_counted":0,"#,
        r#""too_late":0,"keys":2,"first":"1970-01-01T00:01:40Z","last":"1970-01-01T00:02:00Z"}"#,
        "\n",
    );
    check(&["hot", "--mark", "3/5s", "--top", "3"], KEYS, expected);
}

#[test]
fn replay_writes_the_documented_fields_in_the_documented_order() {
    let expected = concat!(
        r#"{"type":"replay","key":"a","limit":"2/5s","asked":5,"admitted":3,"rejected":2,"#,
        r#""first_rejected":"1970-01-01T00:01:43Z","last_rejected":"1970-01-01T00:01:43Z","worst":2,"worst_asked":4}"#,
        "\n",
        r#"{"type":"replay_total","limit":"2/5s","asked":6,"admitted":4,"rejected":2,"keys":2,"keys_rejected":1}"#,
        "\n",
        r#"{"type":"summary","lines":6,"matched":5,"events":5,"units":6,"skipped":{"blank":1},"damaged":0,"late_counted":0,"#,
        r#""too_late":0,"keys":2,"first":"1970-01-01T00:01:40Z","last":"1970-01-01T00:02:00Z"}"#,
        "\n",
    );
    check(&["replay", "--limit", "2/5s"], KEYS, expected);
}

#[test]
fn replay_has_a_total_for_each_limit_and_shows_all_keys_where_that_is_asked() {
    let args = ["replay", "--limit", "2/5s", "--limit", "5/1m", "--all", "--output", "jsonl"];
    let run = piped(&args, KEYS).quiet();
    let fields = |kind: &str, names: [&str; 3]| {
        let row = |record: &Value| names.map(|name| record[name].to_string()).join(" ");
        run.records(kind).iter().map(row).collect::<Vec<_>>()
    };
    let rows = fields("replay", ["key", "limit", "rejected"]);
    assert_eq!(rows, [r#""a" "2/5s" 2"#, r#""b" "2/5s" 0"#, r#""a" "5/1m" 0"#, r#""b" "5/1m" 0"#]);
    let rows = fields("replay_total", ["limit", "rejected", "keys_rejected"]);
    assert_eq!(rows, [r#""2/5s" 2 1"#, r#""5/1m" 0 0"#]);
}

/// One decision: what more than one limit would reject is told of the one with the longest wait, and only of that.
#[test]
fn what_several_limits_reject_is_told_of_the_one_with_the_longest_wait() {
    let run = piped(&["replay", "--limit", "2/5s", "--limit", "3/1m", "--output", "jsonl"], KEYS).quiet();
    let rejected: Vec<Value> =
        run.records("replay_total").iter().map(|total| total["rejected"].clone()).collect();
    assert_eq!(rejected, [0, 2]);
    assert_eq!(run.record("replay")["limit"], "3/1m");
}

#[test]
fn slices_write_a_bracket() {
    // The first event is in the slice that has left the window in part: it may count and may not.
    let lines = "1000.5 a\n1005 a\n1010 a\n";
    let run = piped(&["hot", "--mark", "3/10s", "--slices", "10", "--output", "jsonl"], lines).quiet();
    let hot = run.record("hot");
    assert_eq!(
        (&hot["at"], &hot["lo"], &hot["hi"]),
        (&"1970-01-01T00:16:50.0Z".into(), &2.into(), &3.into())
    );
}

#[test]
fn the_highest_come_first_and_ties_by_key() {
    let lines = "1 c\n1 b\n1 a\n2 c\n2 b\n3 d\n";
    let top =
        piped(&["hot", "--mark", "9/5s", "--top", "3", "--output", "jsonl"], lines).quiet().records("top");
    let keys: Vec<&str> = top.iter().map(|top| top["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["b", "c", "a"]);
}

#[track_caller]
fn check_time(lines: &str, expected: &[&str]) {
    let folder = Folder::new();
    let file = folder.file("keys.txt", lines);
    let args = ["hot", "--mark", "1/1s", "--cool", "0s"];
    for run in
        [jsonl(&[&args[..], &[&file]].concat()), piped(&[&args[..], &["--output", "jsonl"]].concat(), lines)]
    {
        let hot: Vec<Value> = run.records("hot").into_iter().map(|hot| hot["at"].clone()).collect();
        assert_eq!(hot, expected, "{lines}");
    }
}

#[test]
fn times_have_as_many_digits_as_the_input() {
    check_time("1700000000 a\n1700000005 a\n", &["2023-11-14T22:13:20Z", "2023-11-14T22:13:25Z"]);
    check_time(
        "1700000000000 a\n1700000005500 a\n",
        &["2023-11-14T22:13:20.000Z", "2023-11-14T22:13:25.500Z"],
    );
    check_time("1700000000.25 a\n1700000005.50 a\n", &["2023-11-14T22:13:20.25Z", "2023-11-14T22:13:25.50Z"]);
    check_time(
        "1700000000000000000 a\n1700000005000000001 a\n",
        &["2023-11-14T22:13:20.000000000Z", "2023-11-14T22:13:25.000000001Z"],
    );
    check_time("2023-11-14T22:13:20.1+01:00 a\n", &["2023-11-14T21:13:20.1Z"]);
}

/// How the keys of some lines are written, each once, in the order of their names.
fn keys_of(args: &[&str], lines: impl Into<Vec<u8>>) -> (Vec<String>, Run) {
    let args = [&["hot", "--mark", "1000/1s", "--top", "100", "--output", "jsonl"], args].concat();
    let run = piped(&args, lines).quiet();
    let mut keys: Vec<String> =
        run.records("top").iter().filter_map(|top| top["key"].as_str().map(Into::into)).collect();
    keys.sort_unstable();
    (keys, run)
}

#[test]
fn all_spellings_of_an_address_are_one_key() {
    let spellings =
        ["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8::0001", "[2001:db8::1]", "2001:db8::1"];
    let mapped = [
        "::ffff:192.0.2.1",
        "::FFFF:c000:201",
        "192.0.2.1",
        "[::ffff:192.0.2.1]",
        "0:0:0:0:0:ffff:192.0.2.1",
    ];
    let lines: String = spellings.iter().chain(&mapped).map(|client| combined(client, 1)).collect();
    assert_eq!(keys_of(&[], lines).0, ["192.0.2.1", "2001:db8::1"]);
    let table: String = spellings.iter().chain(&mapped).map(|client| format!("5,{client}\n")).collect();
    assert_eq!(keys_of(&[], format!("time,client_ip\n{table}")).0, ["192.0.2.1", "2001:db8::1"]);
}

#[test]
fn a_path_is_a_key_without_its_query() {
    let of = |target: &str| combined("192.0.2.1", 1).replace("/a", target);
    let lines = of("/a?x=1") + &of("/a") + &of("/a?") + &of("/b/?a=/a") + &of("*");
    assert_eq!(keys_of(&["--key", "path"], lines).0, ["*", "/a", "/b/"]);
}

#[test]
fn a_user_and_a_status_can_be_the_key_and_a_missing_one_is_told() {
    let lines = combined("192.0.2.1", 1) + &combined("192.0.2.2", 1).replacen("- -", "- ann", 1);
    let (users, run) = (["ann"], piped(&["hot", "--key", "user", "--output", "jsonl"], lines.clone()));
    assert_eq!(run.summary()["skipped"].to_string(), "{\"no_key\":1}");
    assert_eq!(run.summary()["keys"], users.len());
    assert_eq!(keys_of(&["--key", "status"], lines).0, ["200"]);
}

#[test]
fn a_key_that_is_no_text_is_written_in_hexadecimal() {
    let (keys, run) = keys_of(&[], b"5 k\xff\n5 \xc3\xa9\n5 \xed\xa0\x80\n".to_vec());
    assert_eq!(keys, ["é"]);
    let hex: Vec<Value> = run.records("top").into_iter().filter(|top| top.get("key").is_none()).collect();
    assert_eq!(
        hex.iter().map(|top| top["key_hex"].as_str().unwrap()).collect::<Vec<_>>(),
        ["6bff", "eda080"]
    );
}

/// An escape that a terminal would act on is an escape of JSON, which means the same.
#[test]
fn control_characters_in_json_are_escaped_and_keep_their_meaning() {
    let (keys, run) = keys_of(&[], "5 \u{1b}[31m\u{7f}\u{9b}\u{202e}\"\\\n");
    assert_eq!(keys, ["\u{1b}[31m\u{7f}\u{9b}\u{202e}\"\\"]);
    assert!(run.stdout.is_ascii() && !run.stdout.contains('\u{1b}') && !run.stdout.contains('\u{7f}'));
}
