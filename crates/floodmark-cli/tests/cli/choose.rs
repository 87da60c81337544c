//! Which lines count, and by what: `--where`, `--since`, `--until`, keys of several fields, clients behind proxies.

use crate::common::{Folder, Run, SAMPLE, combined, data_json, jsonl, piped, run, sample};
use floodmark_testkit::traffic::Chance;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, SystemTime};

/// The sample's lines as `(client, method, path, status)`, read here in the plainest way.
fn requests() -> Vec<[String; 4]> {
    let text = String::from_utf8(sample()).unwrap();
    let fields = |line: &str| {
        let quoted: Vec<&str> = line.split('"').collect();
        let request: Vec<&str> = quoted[1].split(' ').collect();
        let path = request[1].split('?').next().unwrap();
        let status = quoted[2].split_whitespace().next().unwrap();
        [line.split(' ').next().unwrap(), request[0], path, status].map(String::from)
    };
    text.lines().map(fields).collect()
}

fn events(args: &[&str]) -> u64 {
    jsonl(&[&["hot"], args, &[SAMPLE]].concat()).summary()["events"].as_u64().unwrap()
}

#[track_caller]
fn check_where(conditions: &[&str], holds: impl Fn(&[String; 4]) -> bool) {
    let args: Vec<&str> = conditions.iter().flat_map(|condition| ["--where", condition]).collect();
    let all = requests();
    let expected = all.iter().filter(|request| holds(request)).count() as u64;
    assert!(
        expected > 0 && expected < all.len() as u64,
        "{conditions:?} chooses {expected} of {}",
        all.len()
    );
    let run = jsonl(&[&["hot", "--strict"], args.as_slice(), &[SAMPLE]].concat());
    let summary = run.summary();
    assert_eq!(summary["events"], expected, "{conditions:?}");
    assert_eq!(summary["skipped"]["filtered"], all.len() as u64 - expected, "{conditions:?}");
    let total = jsonl(&[&["replay", "--limit", "1/1h"], args.as_slice(), &[SAMPLE]].concat());
    assert_eq!(total.record("replay_total")["asked"], expected, "{conditions:?}");
}

#[test]
fn only_lines_whose_fields_have_the_values_count() {
    check_where(&["status=401,503"], |[_, _, _, status]| status == "401" || status == "503");
    check_where(&["path=/sale/*"], |[_, _, path, _]| path.starts_with("/sale/"));
    check_where(&["path=*camp*0325"], |[_, _, path, _]| path.ends_with("0325") && path.contains("camp"));
    check_where(&["status!=200"], |[_, _, _, status]| status != "200");
    check_where(&["ip=203.0.113.7"], |[ip, ..]| ip == "203.0.113.7");
}

#[test]
fn all_conditions_must_hold() {
    check_where(&["status=200", "path=/sale/*", "ip!=203.0.113.7"], |[ip, _, path, status]| {
        status == "200" && path.starts_with("/sale/") && ip != "203.0.113.7"
    });
    assert_eq!(events(&["--where", "status=200", "--where", "status=503"]), 0);
}

#[track_caller]
fn check_mistake(args: &[&str], parts: &[&str]) {
    let Run { code, stderr, .. } = run(&[&["hot"], args, &[SAMPLE]].concat());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(parts.iter().all(|part| stderr.contains(part)) && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn a_mistake_in_what_is_asked_says_what_to_type() {
    check_mistake(&["--where", "status"], &["say FIELD=VALUE, as in status=401,403"]);
    check_mistake(&["--where", "statsu=200"], &["has no field \"statsu\"", "it has ip, path, user, status"]);
    check_mistake(&["--since", "yesterday"], &["\"yesterday\" is no time", "2026-05-17T10:05:03Z", "2h"]);
    check_mistake(&["--key", "{ip}{path}"], &["put something between two fields"]);
    check_mistake(&["--key", "{ip"], &["a { has no }"]);
    check_mistake(&["--key", "{ip}\\{path}"], &["must not begin with a backslash"]);
    check_mistake(&["--key", "ip}"], &["a } has no { before it"]);
    check_mistake(&["--key", "{{}}"], &["it names no field"]);
    check_mistake(&["--key", "ip/33"], &["at most 32 bits of IPv4"]);
    check_mistake(&["--key", "ip/24,256"], &["and 128 of IPv6"]);
    check_mistake(&["--since", "2026"], &["\"2026\" is a year: say a day of it, as 2026-01-01"]);
    check_mistake(
        &["--since", "2026-11-28", "--until", "2026-11-27"],
        &["nothing is from 2026-11-28T00:00:00Z on and before 2026-11-27T00:00:00Z"],
    );
    check_mistake(&["--since", "1h", "--until", "2h"], &["--since must be before --until"]);
    check_mistake(&["--key", "{ip} {nope}"], &["has no field \"nope\""]);
    check_mistake(&["--trusted-proxy", "10.0.0.0/33"], &["is no network: say one as 192.0.2.0/24"]);
    check_mistake(&["--time-zone", "Mars"], &["is no time zone: say one as Europe/Berlin"]);
    check_mistake(&["--why=nope"], &["has no field \"nope\""]);
}

/// `-` in a log is no value: such a line lacks the field, and has none of any values.
#[test]
fn a_line_that_lacks_a_field_has_no_value_of_it() {
    let text = String::from_utf8(sample()).unwrap();
    let known = text.lines().filter(|line| line.split(' ').nth(2) != Some("-")).count() as u64;
    let all = text.lines().count() as u64;
    assert!(0 < known && known < all);
    for (condition, expected) in
        [("user=*", known), ("user!=*", all - known), ("user=-", 0), ("user=", 0), ("user!=nobody", all)]
    {
        assert_eq!(events(&["--where", condition]), expected, "{condition}");
    }
}

#[test]
fn a_backslash_takes_the_meaning_from_a_comma_and_a_star() {
    let values = ["a,b", "a", "b", "a*b", "axb", "a\\b", ",", "ab"];
    let folder = Folder::new();
    let rows: String = values.iter().map(|value| format!("5,k,\"{value}\"\n")).collect();
    let path = folder.file("values.csv", format!("time,key,value\n{rows}"));
    let chosen = |condition: &str| {
        let condition = format!("value{condition}");
        let run = jsonl(&["hot", "--where", &condition, "--key", "value", "--top", "99", &path]);
        run.records("top").iter().map(|top| top["key"].as_str().unwrap().to_string()).collect::<BTreeSet<_>>()
    };
    let check = |condition: &str, expected: &[&str]| {
        assert_eq!(
            chosen(condition),
            expected.iter().map(|value| value.to_string()).collect(),
            "{condition}"
        );
    };
    check("=a,b", &["a", "b"]);
    check("=a\\,b", &["a,b"]);
    check("=a*b", &["a,b", "a*b", "axb", "a\\b", "ab"]);
    check("=a\\*b", &["a*b"]);
    check("=a\\\\b", &["a\\b"]);
    check("=\\,", &[","]);
    check("!=a*,b", &[","]);
}

/// Both at once, each line left out for one reason: the span is looked at first.
#[test]
fn what_is_left_out_is_counted_and_harmless() {
    let text = String::from_utf8(sample()).unwrap();
    let is_outside = |line: &&str| {
        let time = &line.split_once("/2026:").unwrap().1[..8];
        !("09:00:00".."09:01:00").contains(&time)
    };
    let (outside, inside): (Vec<&str>, Vec<&str>) = text.lines().partition(is_outside);
    let chosen = inside.iter().filter(|line| line.contains("\" 200 ")).count();
    let args = ["--since", "2026-11-27T09:00", "--until", "2026-11-27T09:01", "--where", "status=200"];
    for command in [&["hot", "--strict"][..], &["replay", "--strict", "--limit", "5/1s"]] {
        let summary = jsonl(&[command, &args[..], &[SAMPLE]].concat()).summary();
        assert_eq!(summary["matched"], chosen);
        assert_eq!(summary["skipped"]["outside"], outside.len());
        assert_eq!(summary["skipped"]["filtered"], inside.len() - chosen);
        assert!(chosen > 0 && chosen < inside.len() && !outside.is_empty());
    }
}

#[test]
fn a_while_ago_is_counted_from_now() {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let ago = |minutes: u64| (now - Duration::from_secs(60 * minutes)).as_secs();
    let lines: String = [400, 180, 120, 60, 0].map(|minutes| format!("{} k\n", ago(minutes))).concat();
    let count = |args: &[&str]| {
        let args = [&["hot", "--output", "jsonl"], args, &["-"]].concat();
        piped(&args, lines.clone()).quiet().summary()["events"].as_u64().unwrap()
    };
    assert_eq!(count(&["--since", "90m"]), 2);
    assert_eq!(count(&["--since", "2h30m"]), 3);
    assert_eq!(count(&["--since", "1d"]), 5);
    assert_eq!(count(&["--until", "30m"]), 4);
    assert_eq!(count(&["--since", "3h10m", "--until", "1h10m"]), 2);
}

/// From the first on, before the second.
#[test]
fn a_span_has_its_first_moment_and_not_its_last() {
    let lines: String = (0..10).map(|second| combined("192.0.2.1", second)).collect();
    let count = |args: &[&str]| {
        let args = [&["hot", "--output", "jsonl", "--strict"], args, &["-"]].concat();
        let summary = piped(&args, lines.clone()).quiet().summary();
        (summary["events"].as_u64().unwrap(), summary["skipped"]["outside"].as_u64().unwrap_or(0))
    };
    assert_eq!(count(&["--since", "2025-01-01T00:00:03Z"]), (7, 3));
    assert_eq!(count(&["--until", "2025-01-01T00:00:03Z"]), (3, 7));
    assert_eq!(count(&["--since", "2025-01-01 00:00:03", "--until", "2025-01-01T01:00:05+01:00"]), (2, 8));
    assert_eq!(count(&["--since", "2025-01-01", "--until", "2025-01-02"]), (10, 0));
    assert_eq!(count(&["--until", "2025-01-01"]), (0, 10));
    assert_eq!(count(&["--since", "1h"]), (0, 10));
}

#[test]
fn several_fields_together_are_one_key() {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for [ip, method, path, status] in requests() {
        *expected.entry(format!("{method} {path} {status} by {ip}!")).or_insert(0) += 1;
    }
    let run = jsonl(&[
        "hot",
        "--mark",
        "1000000/1d",
        "--key",
        "{method} {path} {status} by {ip}!",
        "--top",
        "9999",
        SAMPLE,
    ]);
    let found: BTreeMap<String, u64> = run
        .records("top")
        .iter()
        .map(|top| (top["key"].as_str().unwrap().to_string(), top["max"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, expected);
}

/// Whatever the fields hold, blanks and backslashes too: two different pairs are two keys.
#[test]
fn no_two_pairs_of_fields_are_one_key() {
    let parts = ["a", "b", " ", "\\", "\\ ", "a ", " b", "{", "a b", "x\\\\", "-"];
    let mut rows = String::from("time,one,two\n");
    let mut pairs = BTreeSet::new();
    for one in parts {
        for two in parts {
            // A cell is read without the blanks around it.
            let (one, two) = (format!(".{one}."), format!(".{two}."));
            rows += &format!("5,\"{one}\",\"{two}\"\n");
            pairs.insert((one, two));
        }
    }
    let folder = Folder::new();
    let path = folder.file("pairs.csv", rows);
    for key in ["{one} {two}", "{one}.{two}", "{one}-\\{two}", "{{{one}}} {two}."] {
        let summary = jsonl(&["hot", "--key", key, &path]).summary();
        assert_eq!(summary["keys"], pairs.len(), "{key}");
        assert_eq!(summary["events"], pairs.len(), "{key}");
    }
}

#[test]
fn clients_are_counted_by_their_networks() {
    let network = |ip: &str| match ip.parse().unwrap() {
        std::net::IpAddr::V4(ip) => format!("{}.{}.{}.0/24", ip.octets()[0], ip.octets()[1], ip.octets()[2]),
        std::net::IpAddr::V6(ip) => {
            let mut octets = ip.octets();
            octets[8..].fill(0);
            format!("{}/64", std::net::Ipv6Addr::from(octets))
        }
    };
    let expected: BTreeSet<String> = requests().iter().map(|[ip, ..]| network(ip)).collect();
    let run = jsonl(&["hot", "--key", "ip/24,64", "--top", "9999", SAMPLE]);
    let tops = run.records("top");
    let found: BTreeSet<String> = tops.iter().map(|top| top["key"].as_str().unwrap().into()).collect();
    assert_eq!(found, expected);
}

/// An attacker writes whatever list it likes, before the address that a proxy of ours appends.
#[test]
fn a_list_that_a_client_made_up_hides_it_from_nobody() {
    let line = |list: &str| combined("10.0.0.1", 1).replace("\"x\"\n", &format!("\"x\" \"{list}\"\n"));
    let lines: String = (0..50).map(|i| line(&format!("198.51.100.{i}, 192.0.2.66"))).collect();
    let args = ["hot", "--mark", "50/5s", "--output", "jsonl", "--key", "forwarded"];
    let hot = |more: &[&str]| {
        let run = piped(&[&args[..], more, &["-"]].concat(), lines.clone()).quiet();
        run.records("hot").iter().map(|hot| hot["key"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(hot(&[]), ["192.0.2.66"]);
    assert_eq!(hot(&["--trusted-proxy", "192.0.2.0/24"]), ["10.0.0.1"], "no proxy: its word is not taken");
    assert!(
        hot(&["--trusted-proxy", "private", "--trusted-proxy", "192.0.2.66"]).is_empty(),
        "a proxy is believed"
    );
}

/// Two different pairs of values are two keys, whatever stands between them, and equal ones are one.
#[test]
fn no_two_pairs_of_any_bytes_are_one_key() {
    let mut chance = Chance::new(11);
    let bits = ["a", "b", " ", "  ", "\\", "-", "{", "}", ":", "é", "ã", "日", "/", ","];
    let text = |least: u64, chance: &mut Chance| -> String {
        (0..least + chance.below(4)).map(|_| chance.pick(&bits)).collect()
    };
    let folder = Folder::new();
    for round in 0..12 {
        // What begins with a backslash may not stand between two fields.
        let [before, between, after] = [0, 1, 0].map(|least| text(least, &mut chance));
        let between = match between.strip_prefix('\\') {
            Some(rest) => format!("x{rest}"),
            None => between,
        };
        let literal = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let key = format!("{}{{one}}{}{{two}}{}", literal(&before), literal(&between), literal(&after));
        let (mut rows, mut pairs) = (String::new(), HashSet::new());
        for _ in 0..2_000 {
            let [one, two] = [1, 1].map(|least| text(least, &mut chance));
            // A dash alone is no value.
            if one != "-" && two != "-" {
                rows += &serde_json::json!({"time": 1_700_000_000, "one": one, "two": two}).to_string();
                rows.push('\n');
                pairs.insert((one, two));
            }
        }
        let path = folder.file(&format!("{round}.jsonl"), rows);
        let run = jsonl(&["hot", "--format", "json", "--key", &key, "--top", "9999", &path]);
        let keys: HashSet<String> =
            run.records("top").iter().map(|top| top["key"].as_str().unwrap().to_string()).collect();
        assert_eq!((keys.len(), pairs.len()), (pairs.len(), pairs.len()), "{key:?}");
        assert!(keys.iter().all(|key| key.starts_with(&before) && key.ends_with(&after)), "{key:?}");
    }
}

#[test]
fn a_network_and_braces_may_stand_in_a_key_of_several() {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for [ip, method, ..] in requests() {
        let network = match ip.parse().unwrap() {
            std::net::IpAddr::V4(ip) => format!("{}.{}.0.0/16", ip.octets()[0], ip.octets()[1]),
            std::net::IpAddr::V6(_) => ip,
        };
        *expected.entry(format!("{{{network}}} {method}")).or_insert(0) += 1;
    }
    let key = "{{{ip/16}}} {method}";
    let run = jsonl(&["hot", "--mark", "1000000/1d", "--key", key, "--top", "9999", SAMPLE]);
    let tops = run.records("top");
    let found: BTreeMap<String, u64> =
        tops.iter().map(|top| (top["key"].as_str().unwrap().into(), top["max"].as_u64().unwrap())).collect();
    assert_eq!(found, expected);
}

/// A list of addresses before the line, and one in quotes: whose are these requests?
#[test]
fn a_list_of_hops_is_read_from_the_right() {
    let Some(rows) = data_json("cases/lines.json") else { return };
    let reference = "elastic/beats filebeat/module/nginx/access/test/test.log";
    let rows: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["ref"] == reference)
        .map(|row| row["line"].as_str().unwrap())
        .collect();
    let client = |line: &str, proxies: &[&str]| {
        let trusted = proxies.iter().flat_map(|proxy| ["--trusted-proxy", proxy]);
        let args =
            ["hot", "--format", "combined", "--key", "forwarded", "--mark", "1/1s", "--output", "jsonl"];
        let args: Vec<&str> = args.into_iter().chain(trusted).chain(["-"]).collect();
        piped(&args, line).quiet().record("hot")["key"].as_str().unwrap().to_string()
    };
    assert_eq!(rows.len(), 2);
    assert_eq!(client(rows[0], &[]), "85.181.35.98");
    assert_eq!(client(rows[0], &["private"]), "85.181.35.98");
    assert_eq!(client(rows[0], &["85.181.35.98"]), "10.0.0.1", "private ones are believed no more");
    assert_eq!(client(rows[0], &["85.181.35.98", "10.0.0.1"]), "10.0.0.2");
    assert_eq!(client(rows[1], &[]), "204.246.1.1");
    assert_eq!(client(rows[1], &["10.0.0.0/8", "204.246.0.0/16"]), "199.96.1.1");
    assert_eq!(
        client(rows[1], &["192.0.2.0/24"]),
        "10.2.1.185",
        "the peer is no proxy: the rest is its claim"
    );
    assert_eq!(client(rows[1], &["0.0.0.0/0"]), "10.5.102.222");
}
