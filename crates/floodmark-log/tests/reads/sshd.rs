//! sshd's lines, against what others read in them.

use crate::common::{data, read};
use floodmark::Timestamp;
use floodmark_log::{Format, Options, Skip, Tally};
use serde_json::Value;
use std::collections::BTreeMap;

/// The rows after this are for other modes than the normal one.
const OTHER_MODES: &str = "# filterOptions: [{\"mode\": \"ddos\"}";
/// The rows after this are of the newer syslog format, again in the normal mode.
const NEWER: &str = "# filterOptions: {\"test.condition\":\"name=='sshd'\", \"logtype\": \"rfc5424\"}";

/// fail2ban tests its filter for sshd with lines and the time and host that it must find in each. The lines that
/// name their host themselves must give the same here, whatever their outcome.
///
/// It takes the time for that of Zurich, and 14 August 2005 for today.
#[test]
fn times_and_hosts_are_those_that_fail2ban_finds() {
    let Some(path) = data("auth/fail2ban/logs/sshd") else { return };
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let mut taken = BTreeMap::new();
    let mut is_normal = true;
    let mut expected: Option<Value> = None;
    for line in text.lines() {
        if line.starts_with(OTHER_MODES) {
            is_normal = false;
        } else if line.starts_with(NEWER) {
            is_normal = true;
        }
        if let Some(json) = line.strip_prefix("# failJSON: ") {
            expected = serde_json::from_str(json).ok();
            continue;
        }
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let Some(row) = expected.take() else { continue };
        let why = if !is_normal {
            "of another mode"
        } else if row["match"] != true {
            "no failure"
        } else if row["constraint"].as_str().is_some_and(|constraint| constraint.contains("aggressive'")) {
            "of another mode"
        } else if !row["host"].as_str().is_some_and(|host| line.contains(host)) {
            "its host is in an earlier line"
        } else {
            check(line, &row);
            "taken"
        };
        *taken.entry(why).or_insert(0) += 1;
    }
    let expected =
        [("its host is in an earlier line", 3), ("no failure", 36), ("of another mode", 51), ("taken", 65)];
    assert_eq!(taken.into_iter().collect::<Vec<_>>(), expected);
}

fn check(line: &str, row: &Value) {
    let options = Options {
        format: Some(Format::Sshd),
        conditions: vec!["outcome=*".parse().unwrap()],
        zones: vec!["Europe/Zurich".parse().unwrap()],
        // 2005-08-14T12:00 in Zurich.
        newest: Some(Timestamp::from_secs(1_124_013_600)),
        ..Options::default()
    };
    let (events, tally) = read(line.as_bytes(), &options).unwrap();
    assert_eq!(events.len(), 1, "{line}: {:?}", tally.skipped);
    let expected_host = row["host"].as_str().unwrap();
    assert_eq!(String::from_utf8_lossy(&events[0].key), expected_host, "{line}");
    let civil: jiff::civil::DateTime = row["time"].as_str().unwrap().parse().unwrap();
    let expected = civil.in_tz("Europe/Zurich").unwrap().timestamp().as_second();
    assert_eq!(events[0].at.as_nanos() / 1_000_000_000, expected as u64, "{line}");
}

#[test]
fn lines_of_other_programs_are_told_apart() {
    let Some(path) = data("auth/loghub_Linux_2k.log") else { return };
    let text = std::fs::read(path).unwrap();
    let of = |outcome: &str| {
        let conditions = vec![format!("outcome={outcome}").parse().unwrap()];
        let (events, tally) =
            read(&text, &Options { year: Some(2005), conditions, ..Options::default() }).unwrap();
        let keys: std::collections::BTreeSet<_> = events.into_iter().map(|event| event.key).collect();
        (tally, keys.len())
    };
    let (pam, keys) = of("pam");
    // One of the 490 authentication failures in the file is gdm's.
    assert_eq!((pam.lines, pam.events, keys), (2_000, 489, 47));
    assert_eq!(pam.skipped, BTreeMap::from([(Skip::Keyless, 188), (Skip::OtherProgram, 1_323)]));
    assert_eq!(of("failed").0.events, 0);
}

/// Attacks that CrowdSec's scenarios are tested with: the same addresses, as often.
#[test]
fn attacks_that_other_tools_find_have_their_outcome_and_their_address() {
    for (file, outcome, expected) in [
        ("ssh-bf/ssh-bf.log", "invalid_user", &[("35.188.49.176", 6)][..]),
        ("ssh-slow-bf/ssh-slow-bf.log", "invalid_user", &[("103.100.210.198", 22)]),
        ("ssh-timeout/ssh-timeout.log", "other", &[("192.168.9.212", 4), ("192.168.9.213", 4)]),
        ("sshd-invalid-bf/sshd-invalid-bf.log", "other", &[("179.43.183.98", 6)]),
        ("sshd-refused-conn/sshd-refused-conn.log", "refused", &[("192.168.1.1", 1)]),
        ("ssh-generic-test/ssh-generic-test.log", "invalid_user", &[("127.0.0.1", 1)]),
        ("sshd-impossible-travel/sshd-success-logs.log", "other", &[("1.2.3.4", 1), ("9.8.8.8", 1)]),
        // Ends of sessions are no attack: no failed password is among them.
        ("sshd-logs-fp/sshd-logs.log", "failed", &[]),
    ] {
        let Some(path) = data(&format!("golden/crowdsec/{file}")) else { return };
        let conditions = vec![format!("outcome={outcome}").parse().unwrap()];
        let options = Options { year: Some(2023), conditions, ..Options::default() };
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for event in read(&std::fs::read(path).unwrap(), &options).unwrap().0 {
            *found.entry(String::from_utf8(event.key).unwrap()).or_insert(0) += event.n;
        }
        let expected = expected.iter().map(|(ip, n)| (ip.to_string(), *n)).collect();
        assert_eq!(found, expected, "{file}");
    }
}

/// Lines with months that are none, in bytes that are no text, and with times since the epoch.
#[test]
fn odd_lines_among_good_ones_are_told_apart() {
    for (name, expected, skipped) in [
        // Nine lines of which three each begin with `Dez`, `De ` and a month in Latin-1.
        ("testcase01", &[("failed.dns.ch", 3), ("193.168.0.128", 3), ("87.142.124.10", 4)][..], 9),
        ("testcase01a", &[("87.142.124.10", 4)], 0),
        // One line names no client.
        ("testcase02", &[("66.38.192.238", 2), ("141.3.81.106", 10)], 1),
        // Two times since the epoch, four of another kind, and two lines that are none of sshd's.
        ("testcase04", &[("212.41.96.185", 7)], 8),
    ] {
        let Some(path) = data(&format!("auth/fail2ban/{name}.log")) else { return };
        let (events, tally) = counts(&std::fs::read(path).unwrap(), "*");
        assert_eq!(events, named(expected), "{name}");
        assert_eq!(tally.skipped.values().sum::<u64>(), skipped, "{name}: {:?}", tally.skipped);
    }
}

/// The units of each address, and the account of all lines.
fn counts(text: &[u8], outcome: &str) -> (BTreeMap<String, u64>, Tally) {
    let conditions = vec![format!("outcome={outcome}").parse().unwrap()];
    let options = Options { format: Some(Format::Sshd), year: Some(2005), conditions, ..Options::default() };
    let (events, tally) = read(text, &options).unwrap();
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(String::from_utf8(event.key).unwrap()).or_insert(0) += event.n;
    }
    (counts, tally)
}

fn named(counts: &[(&str, u64)]) -> BTreeMap<String, u64> {
    counts.iter().map(|(address, n)| (address.to_string(), *n)).collect()
}
