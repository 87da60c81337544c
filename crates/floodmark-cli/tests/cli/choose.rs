//! Which lines count, and by what: `--where`, `--since`, `--until`, keys of several fields, clients behind proxies.

use crate::common::{Folder, Run, SAMPLE, combined, jsonl, piped, run, sample};
use std::collections::{BTreeMap, BTreeSet};

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
    check_mistake(&["--key", "ip/33"], &["at most 32 bits of IPv4"]);
    check_mistake(&["--key", "{ip} {nope}"], &["has no field \"nope\""]);
    check_mistake(&["--trusted-proxy", "10.0.0.0/33"], &["is no network: say one as 192.0.2.0/24"]);
    check_mistake(&["--time-zone", "Mars"], &["is no time zone: say one as Europe/Berlin"]);
    check_mistake(&["--why=nope"], &["has no field \"nope\""]);
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
    for key in ["{one} {two}", "{one}.{two}", "{one}\\{two}", "{{{one}}} {two}."] {
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
