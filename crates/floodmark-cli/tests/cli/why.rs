//! `--why`: who is behind a hot key?

use crate::common::{Folder, Run, SAMPLE, jsonl, piped, run, sample};
use crate::stream::Live;
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

/// A hundred thousand keys that are hot at once, by clients of their own: the first are explained, and memory stays
/// within bounds.
#[test]
fn keys_beyond_a_bound_are_reported_without_a_reason() {
    let mut live = Live::start(&["hot", "--mark", "2/5s", "--why=ip,agent", "--output", "jsonl", "-"]);
    live.write("time,key,ip,agent\n");
    for some in (0..100_000).collect::<Vec<u32>>().chunks(1_000) {
        let line = |key: u32, net: u32| {
            format!("5,k{key},10.{net}.{}.{},\"agent {key} of {net}\"\n", key / 250, key % 250)
        };
        let lines: Vec<String> = some.iter().map(|&key| line(key, 1) + &line(key, 2)).collect();
        live.write(&lines.concat());
    }
    let hot: Vec<Value> = (0..100_000).map(|_| live.record()).collect();
    assert!(hot.iter().all(|hot| hot["type"] == "hot"));
    let explained: Vec<&Value> = hot.iter().filter(|hot| hot["why"].is_array()).collect();
    assert!(explained.iter().all(|hot| shares(hot, "agent").0 == 2));
    assert_eq!(explained.len(), 4_096);
    if let Some(peak) = live.peak_memory() {
        assert!(peak < 200 << 20, "{} MiB", peak >> 20);
    }
    assert_eq!(live.finish().quiet().summary()["keys"], 100_000);
}

/// Few values are counted exactly: the list is that of a slow count over the whole log, from a window before the mark
/// was reached until the key had cooled.
#[test]
fn with_few_values_the_list_is_that_of_a_plain_count() {
    let mut explained = 0;
    for (mark, window, cool) in [("100/5s", 5, 5), ("20/1m", 60, 60), ("30/10s", 10, 0), ("8/3s", 3, 30)] {
        let seconds_of_cool = format!("{cool}s");
        let args = ["hot", "--mark", mark, "--cool", &seconds_of_cool, "--why=path", SAMPLE];
        for episode in jsonl(&args).records("cooled") {
            // No pause is no cool time of nothing: events of one instant are one episode.
            let (from, over) = (seconds(&episode["from"]), seconds(&episode["until"]) + cool);
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for (at, ip, path) in requests() {
                if ip == episode["key"].as_str().unwrap() && at > from - window && at < over {
                    *expected.entry(path).or_insert(0) += 1;
                }
            }
            let (of, largest) = shares(&episode, "path");
            assert_eq!(of, expected.values().sum::<u64>(), "{mark}: {episode}");
            if expected.len() <= 64 {
                let mut expected: Vec<_> =
                    expected.into_iter().map(|(path, count)| (path, count, 0)).collect();
                expected.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                expected.truncate(5);
                assert_eq!(largest, expected, "{mark}: {episode}");
                explained += 1;
            }
        }
    }
    assert!(explained > 10, "{explained}");
}

/// All that is told without it is told with it, and the same.
#[test]
fn telling_who_is_behind_a_key_changes_nothing_else() {
    let text = String::from_utf8(sample()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    Chance::new(5).shuffle(&mut lines[500..900]);
    let folder = Folder::new();
    let disordered = folder.file("disordered.log", lines.join("\n"));
    let told = |path: &str, more: &[&str]| {
        let run = jsonl(&[&["hot", "--mark", "20/5s", "--top", "9"], more, &[path]].concat());
        let mut told: Vec<Value> =
            run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        told.iter_mut().for_each(|record| drop(record.as_object_mut().unwrap().remove("why")));
        // Episodes that end while others are counted may be told a little earlier or later.
        told.sort_by_key(Value::to_string);
        told
    };
    for path in [SAMPLE, &disordered] {
        for form in [&[][..], &["--slices", "5"], &["--key", "path", "--cool", "1s"]] {
            assert_eq!(told(path, &[form, &["--why=status,agent"]].concat()), told(path, form), "{form:?}");
        }
    }
}

fn whys(fields: &[&str], key: &str) -> Vec<String> {
    let run = jsonl(&[&["hot", "--mark", "100/5s", "--key", key], fields, &[SAMPLE]].concat());
    let why = run.records("hot")[0]["why"].clone();
    let fields = why.as_array().into_iter().flatten();
    fields.map(|of| of["field"].as_str().unwrap().to_string()).collect()
}

/// What is the same for all events of a key tells nothing; which addresses of a network it is does.
#[test]
fn the_usual_fields_are_those_that_the_key_does_not_tell() {
    assert_eq!(whys(&["--why"], "ip"), ["path", "agent"]);
    assert_eq!(whys(&["--why"], "path"), ["ip", "agent"]);
    assert_eq!(whys(&["--why"], "{ip} {path}"), ["agent"]);
    assert_eq!(whys(&["--why"], "ip/24,64"), ["ip", "path", "agent"]);
    assert_eq!(whys(&["--why"], "{ip/24,64} {method}"), ["ip", "path", "agent"]);
    assert_eq!(whys(&["--why"], "forwarded"), ["path", "agent"]);
    assert!(whys(&["--why"], "{ip} {path} {agent}").is_empty());
}

#[test]
fn the_fields_that_are_named_are_told_in_their_order_and_once() {
    assert_eq!(whys(&["--why=status,ip,method"], "ip"), ["status", "ip", "method"]);
    let run = jsonl(&["hot", "--why=path,path", SAMPLE]);
    for hot in run.records("hot") {
        assert_eq!(hot["why"].as_array().unwrap().len(), 1);
        assert_eq!(shares(&hot, "path").0, hot["hi"].as_u64().unwrap());
    }
}

const TABLE: [&str; 6] = ["hot", "--mark", "3/5s", "--why=ip", "--output", "jsonl"];

fn values(record: &Value) -> Vec<String> {
    let mut values: Vec<String> = shares(record, "ip").1.into_iter().map(|(value, ..)| value).collect();
    values.sort();
    values
}

#[test]
fn a_stream_tells_who_is_behind_a_key_at_once() {
    let mut live = Live::start(&TABLE);
    live.write("time,key,ip\n1700000000,a,192.0.2.1\n1700000001,a,192.0.2.1\n1700000002,a,192.0.2.2\n");
    let (of, largest) = shares(&live.record(), "ip");
    assert_eq!((of, &largest[0]), (3, &("192.0.2.1".to_string(), 2, 0)));
    live.write("1700000003,a,192.0.2.3\n1700000060,b,192.0.2.9\n1700000061,b,192.0.2.9\n");
    assert_eq!(values(&live.record()), ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    live.finish().quiet();
}

/// The window ends at the key's newest time, also where the event that reaches the mark is an older one.
#[test]
fn a_late_event_that_makes_a_key_hot_hides_no_newer_one() {
    let lines = "time,key,ip\n100,a,192.0.2.1\n103,a,192.0.2.2\n102,a,192.0.2.3\n104,a,192.0.2.4\n";
    let run = piped(&[&TABLE[..], &["-"]].concat(), lines).quiet();
    let (hot, cooled) = (run.record("hot"), run.record("cooled"));
    assert_eq!((&hot["at"], &hot["hi"]), (&"1970-01-01T00:01:43Z".into(), &3.into()));
    assert_eq!(cooled["from"], hot["at"]);
    assert_eq!(values(&hot), ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    assert_eq!(shares(&cooled, "ip").0, 4);
}

#[test]
fn what_is_too_late_to_count_is_behind_no_key() {
    let lines = "time,key,ip\n100,a,192.0.2.1\n103,a,192.0.2.2\n101,a,192.0.2.9\n103,a,192.0.2.3\n90,a,192.0.2.9\n\
                 104,a,192.0.2.4\n";
    let run = piped(&[&TABLE[..], &["--late", "1s", "-"]].concat(), lines).quiet();
    assert_eq!(run.summary()["too_late"], 2);
    assert_eq!(values(&run.record("hot")), ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    assert_eq!(values(&run.record("cooled")), ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]);
}

#[test]
fn the_largest_weights_are_shown_too() {
    let most = u64::MAX;
    let lines = format!("time,key,ip,n\n5,a,192.0.2.1,{most}\n5,a,192.0.2.2,{most}\n5,a,192.0.2.3,7\n");
    let run = piped(&["hot", "--mark", "3/5s", "--why=ip", "--weight", "n", "-"], lines).quiet();
    assert!(run.stdout.contains("18,446,744,073,709,551,615  192.0.2.1"), "{}", run.stdout);
}

/// They may be a megabyte each, of many keys: told apart is what they begin with.
#[test]
fn long_values_are_cut_between_characters() {
    let folder = Folder::new();
    for (letter, expected) in [("a", 1024), ("é", 512), ("日", 341), ("🦀", 256)] {
        let line = |end: &str| {
            let path = letter.repeat(3_000) + end;
            format!("{}\n", serde_json::json!({"time": 1_700_000_000, "ip": "192.0.2.1", "path": path}))
        };
        let path = folder.file("long.jsonl", ["x", "y", "z"].map(line).concat());
        let run = jsonl(&["hot", "--format", "json", "--mark", "3/5s", "--why=path", &path]);
        assert_eq!(shares(&run.record("hot"), "path").1, [(letter.repeat(expected), 3, 0)]);
    }
}

/// Times of microseconds are wider than those of seconds, and nothing moves out of its column.
#[test]
fn whatever_the_digits_of_its_times_a_table_is_in_columns() {
    for (digits, fraction) in [(0, ""), (1, ".5"), (3, ".250"), (6, ".107412")] {
        let line = |second: u64| format!("{}{fraction},192.0.2.1,/a\n", 1_700_000_000 + second);
        let lines = format!("time,ip,path\n{}", [1, 2, 2].map(line).concat());
        let folder = Folder::new();
        let path = folder.file("fine.csv", lines);
        let hot = run(&["hot", "--mark", "3/5s", "--why=path", "--top", "1", &path]).quiet().stdout;
        let replay = run(&["replay", "--limit", "1/5s", &path]).quiet().stdout;
        for table in [hot, replay] {
            let mut column = None;
            for line in table.lines() {
                column = line.strip_suffix("KEY").map(str::len).or(column);
                if let Some(start) = line.strip_suffix("192.0.2.1").or(line.strip_suffix("/a")) {
                    assert_eq!(Some(start.len()), column, "{digits} digits:\n{table}");
                }
            }
            assert!(column.is_some());
        }
    }
}
