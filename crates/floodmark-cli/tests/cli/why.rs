//! `--why`: who is behind a hot key?

use crate::common::{Folder, Run, SAMPLE, jsonl, piped, run, sample};
use floodmark_testkit::traffic::Chance;
use serde_json::Value;
use std::collections::BTreeMap;

/// The values of a field of a record: how many units in all, and `(value, count, error)`.
fn shares(record: &Value, field: &str) -> (u64, Vec<(String, u64, u64)>) {
    let why = record["why"].as_array().unwrap();
    let of_field = why.iter().find(|of| of["field"] == field).unwrap();
    let share = |share: &Value| {
        let number = |name: &str| share[name].as_u64().unwrap();
        (share["value"].as_str().unwrap().to_string(), number("count"), number("error"))
    };
    (of_field["of"].as_u64().unwrap(), of_field["largest"].as_array().unwrap().iter().map(share).collect())
}

fn seconds(time: &Value) -> i64 {
    time.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second()
}

/// The sample's requests, read in the plainest way: second, client, path.
fn requests() -> Vec<(i64, String, String)> {
    let text = String::from_utf8(sample()).unwrap();
    let read = |line: &str| {
        let time = &line[line.find('[').unwrap() + 1..line.find(']').unwrap()];
        let time = jiff::fmt::strtime::parse("%d/%b/%Y:%H:%M:%S %z", time).unwrap().to_timestamp().unwrap();
        let path = line.split('"').nth(1).unwrap().split(' ').nth(1).unwrap().split('?').next().unwrap();
        (time.as_second(), line.split(' ').next().unwrap().to_string(), path.to_string())
    };
    text.lines().map(read).collect()
}

/// From a window before the mark was reached, up to the last event of the episode.
#[test]
fn the_largest_values_of_an_episode_are_those_of_its_events() {
    let run = jsonl(&["hot", "--mark", "50/5s", "--key", "path", "--why=ip", SAMPLE]);
    let cooled = run.records("cooled");
    assert!(cooled.len() >= 2);
    for episode in cooled {
        let (from, until) = (seconds(&episode["from"]), seconds(&episode["until"]));
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for (at, ip, path) in requests() {
            if path == episode["key"].as_str().unwrap() && at > from - 5 && at < until + 5 {
                *expected.entry(ip).or_insert(0) += 1;
            }
        }
        let (of, largest) = shares(&episode, "ip");
        for (value, count, error) in &largest {
            let truth = expected[value];
            assert!(count - error <= truth && truth <= *count, "{value}: {count} -{error}, {truth}");
        }
        assert_eq!(of, expected.values().sum::<u64>(), "{episode}");
        let most = expected.values().max().unwrap();
        assert!(largest.first().unwrap().1 >= *most);
    }
}

#[test]
fn what_makes_a_key_hot_is_told_with_it() {
    let run = jsonl(&["hot", "--mark", "100/5s", "--why", SAMPLE]);
    for hot in run.records("hot") {
        let (of, largest) = shares(&hot, "path");
        assert_eq!(of, hot["hi"].as_u64().unwrap(), "all of the window is accounted for: {hot}");
        assert!(largest.iter().map(|(_, count, _)| count).sum::<u64>() > 0);
        let fields: Vec<&Value> = hot["why"].as_array().unwrap().iter().map(|of| &of["field"]).collect();
        assert_eq!(fields, ["path", "agent"], "the client is the key, and tells nothing more");
    }
}

/// A key that is hit on a thousand paths: each count is right within its error, and that within a 64th.
#[test]
fn counts_of_many_values_are_right_within_their_error() {
    let mut chance = Chance::new(7);
    let mut truth: BTreeMap<String, u64> = BTreeMap::new();
    let mut lines = String::from("time,ip,path\n");
    for _ in 0..20_000 {
        let path = match chance.below(4) {
            0 => "/often".to_string(),
            _ => format!("/{}", chance.below(1_000)),
        };
        lines += &format!("5,192.0.2.1,{path}\n");
        *truth.entry(path).or_insert(0) += 1;
    }
    let run = piped(&["hot", "--mark", "1/5s", "--why=path", "--output", "jsonl", "-"], lines).quiet();
    let (of, largest) = shares(&run.record("cooled"), "path");
    assert_eq!((of, largest[0].0.as_str(), largest.len()), (20_000, "/often", 5));
    for (value, count, error) in largest {
        assert!(error <= of / 64 && count - error <= truth[&value] && truth[&value] <= count, "{value}");
    }
}

#[test]
fn a_file_out_of_order_has_the_same_culprits() {
    let text = String::from_utf8(sample()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let folder = Folder::new();
    let in_order = folder.file("in_order.log", lines.join("\n"));
    Chance::new(3).shuffle(&mut lines);
    let shuffled = folder.file("shuffled.log", lines.join("\n"));
    // Whole seconds: events of one second come in another order, so which one was the last to reach a mark differs,
    // but not the sum of an episode.
    let sums = |path: &str| {
        let run = jsonl(&["hot", "--mark", "100/5s", "--why=status", path]);
        let mut sums: Vec<String> = run
            .records("cooled")
            .iter()
            .map(|cooled| format!("{} {}", cooled["key"], cooled["why"]))
            .collect();
        sums.sort();
        sums
    };
    assert_eq!(sums(&shuffled), sums(&in_order));
}

#[test]
fn a_cell_of_csv_holds_it_as_json() {
    let run = run(&["hot", "--why", "--output", "csv", SAMPLE]).quiet();
    let mut rows = csv::Reader::from_reader(run.stdout.as_bytes());
    let column = rows.headers().unwrap().iter().position(|name| name == "why").unwrap();
    let cells: Vec<String> = rows.records().map(|row| row.unwrap()[column].to_string()).collect();
    let explained: Vec<&String> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    assert_eq!(explained.len(), 8, "four keys, hot and cooled");
    for cell in explained {
        assert!(serde_json::from_str::<Value>(cell).unwrap()[0]["largest"].is_array());
    }
}

#[test]
fn people_see_it_under_each_key() {
    let Run { stdout, .. } = run(&["hot", "--why", SAMPLE]).quiet();
    let lines: Vec<&str> = stdout.lines().collect();
    let place = lines.iter().position(|line| line.ends_with("203.0.113.7")).unwrap();
    let words: Vec<&str> = lines[place + 1].split_whitespace().collect();
    assert_eq!(words, ["path", "180", "/sale/copper-lantern-half-price"]);
    assert!(stdout.contains("(many, none with more than"), "a crawler's paths are no list:\n{stdout}");
}

/// A hundred thousand keys that are hot at once: the first are explained, and memory stays within bounds.
#[test]
fn keys_beyond_a_bound_are_reported_without_a_reason() {
    let mut lines = String::from("time,key,ip\n");
    for key in 0..100_000 {
        lines += &format!("5,k{key},192.0.2.1\n");
    }
    let run = piped(&["hot", "--mark", "1/5s", "--why=ip", "--output", "jsonl", "-"], lines).quiet();
    let hot = run.records("hot");
    let explained = hot.iter().filter(|hot| hot["why"].is_array()).count();
    assert_eq!((hot.len(), explained), (100_000, 4_096));
}
