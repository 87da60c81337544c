//! Real logs against counts that were computed independently, by sorting and two pointers.

use crate::common::{Run, data, data_json, jsonl};
use serde_json::Value;

const GOLDEN: &str = "golden/computed_windows.json";

/// The files that are checked here, each by one test.
const CHECKED: [(&str, fn()); 6] = [
    ("access/elastic_apache_10k.log", a_log_out_of_order_by_a_minute_is_counted_exactly),
    ("access/lnav_shop_nginx_2019.log", a_shop_of_another_zone_is_counted_exactly),
    ("access/nasa_jul95_1h.log", a_common_log_is_counted_exactly),
    ("access/nasa_19950701.tsv", a_table_of_epoch_seconds_is_counted_exactly),
    ("access/ocatak_acunetix.log", a_shuffled_log_in_quotes_is_counted_exactly),
    ("auth/loghub_OpenSSH_2k.log", failed_passwords_of_sshd_are_counted_exactly),
];

#[test]
fn a_log_out_of_order_by_a_minute_is_counted_exactly() {
    check("access/elastic_apache_10k.log");
}

#[test]
fn a_shop_of_another_zone_is_counted_exactly() {
    check("access/lnav_shop_nginx_2019.log");
}

#[test]
fn a_common_log_is_counted_exactly() {
    check("access/nasa_jul95_1h.log");
}

#[test]
fn a_table_of_epoch_seconds_is_counted_exactly() {
    check("access/nasa_19950701.tsv");
}

#[test]
fn a_shuffled_log_in_quotes_is_counted_exactly() {
    check("access/ocatak_acunetix.log");
}

/// Its lines have no year; the counts are those of 2023. Two messages were repeated five times.
#[test]
fn failed_passwords_of_sshd_are_counted_exactly() {
    check("auth/loghub_OpenSSH_2k.log");
}

#[test]
fn every_file_of_the_golden_counts_is_checked_or_listed() {
    let Some(golden) = data_json(GOLDEN) else { return };
    let mut known: Vec<&str> = CHECKED.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    let mut names: Vec<&String> = golden.as_object().unwrap().keys().collect();
    names.sort_unstable();
    assert_eq!(known, names);
}

fn check(name: &str) {
    let (Some(golden), Some(path)) = (data_json(GOLDEN), data(name)) else { return };
    let (golden, path) = (&golden[name], path.to_str().unwrap());
    for (window, expected) in golden["max_in_window"].as_object().unwrap() {
        check_top(path, window, &expected["half_open_top5"]);
        for (over, keys) in expected["keys_over"].as_object().unwrap() {
            let mark: u64 = over.parse::<u64>().unwrap() + 1;
            check_hot(path, &format!("{mark}/{window}s"), keys, golden);
        }
    }
    for (limit, expected) in golden["replay_rejected"].as_object().unwrap() {
        check_replay(path, limit, expected);
    }
}

/// The five highest counts in any window, and where each was reached; at a mark that no key reaches.
fn check_top(path: &str, window: &str, expected: &Value) {
    let run = jsonl(&["hot", "--year", "2023", "--mark", &format!("1000000/{window}s"), "--top", "5", path]);
    assert!(run.records("hot").is_empty() && run.records("cooled").is_empty());
    let top: Vec<Value> = run.records("top");
    let expected: Vec<[Value; 3]> = serde_json::from_value(expected.clone()).unwrap();
    assert_eq!(top.len(), expected.len(), "{window} s");
    for (found, [key, max, at]) in top.iter().zip(&expected) {
        assert_eq!((&found["key"], &found["max"]), (key, max), "{window} s");
        assert_eq!((&found["max_lo"], &found["max_hi"]), (max, max), "{window} s");
        assert_eq!(found["at"], rfc_3339(at), "{window} s, {key}");
        assert_eq!(found["window_ms"], 1000 * window.parse::<u64>().unwrap());
    }
}

/// How many keys reach the mark; each is told as hot and as cooled, as often as the other.
fn check_hot(path: &str, mark: &str, keys: &Value, golden: &Value) {
    let run = jsonl(&["hot", "--year", "2023", "--mark", mark, path]);
    assert_eq!(distinct_keys(&run, "hot"), keys.as_u64().unwrap(), "{mark}");
    assert_eq!(run.records("hot").len(), run.records("cooled").len(), "{mark}");
    check_summary(&run, golden);
}

fn check_summary(run: &Run, golden: &Value) {
    let summary = run.summary();
    assert_eq!((&summary["events"], &summary["keys"]), (&golden["events"], &golden["keys"]));
    assert_eq!(summary["units"], golden["events"]);
    assert_eq!(summary["first"], rfc_3339(&golden["first"]));
    assert_eq!(summary["last"], rfc_3339(&golden["last"]));
    assert_eq!((&summary["late_counted"], &summary["too_late"]), (&0.into(), &0.into()));
}

/// What a sliding log would have rejected, and that it never admitted more than the limit in any window.
fn check_replay(path: &str, limit: &str, expected: &Value) {
    let run = jsonl(&["replay", "--year", "2023", "--limit", limit, "--all", path]);
    let most: u64 = limit.split_once('/').unwrap().0.parse().unwrap();
    let number = |record: &Value, name: &str| record[name].as_u64().unwrap();
    let mut sums = (0, 0, 0);
    for record in run.records("replay") {
        let (asked, admitted, rejected) =
            (number(&record, "asked"), number(&record, "admitted"), number(&record, "rejected"));
        assert_eq!(asked, admitted + rejected, "{record}");
        assert!(number(&record, "worst") <= most, "{record}");
        assert_eq!(record["first_rejected"].is_null(), rejected == 0, "{record}");
        sums = (sums.0 + 1, sums.1 + rejected, sums.2 + u64::from(rejected > 0));
    }
    let total = run.record("replay_total");
    assert_eq!((&total["rejected"], &total["keys_rejected"]), (&sums.1.into(), &sums.2.into()), "{limit}");
    assert_eq!(total["keys"], sums.0);
    assert_eq!(number(&total, "asked"), number(&total, "admitted") + sums.1);
    assert_eq!(
        (&total["rejected"], &total["keys_rejected"]),
        (&expected["sliding_log"], &expected["sliding_log_keys"])
    );
    run.summary();
}

fn distinct_keys(run: &Run, kind: &str) -> u64 {
    let mut keys: Vec<String> = run.records(kind).iter().map(|record| record["key"].to_string()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.len() as u64
}

fn rfc_3339(seconds: &Value) -> String {
    let at = floodmark::Timestamp::from_secs(seconds.as_u64().unwrap());
    floodmark_log::format_time(at, 0)
}
