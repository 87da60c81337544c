//! JSON lines of real servers, what is around them in containers, and single odd ones.

use crate::common::{data, read};
use floodmark::Timestamp;
use floodmark_log::{Format, Options, Skip, format_time};
use std::collections::BTreeMap;

/// What is in a file, as it was counted by a program that was written for nothing else and knows none of this code.
struct File {
    path: &'static str,
    /// Lines that are no requests, by reason.
    skipped: &'static [(Skip, u64)],
    first: &'static str,
    last: &'static str,
    /// A key, how many different ones there are, the events that have it, and one of them with its own.
    keys: &'static [(&'static str, usize, u64, (&'static str, u64))],
}

const NONE: &[(Skip, u64)] = &[];

const FILES: &[File] = &[
    // The line that is no request tells which server was picked. Older lines know no client, only their peer.
    File {
        path: "golden/crowdsec/caddy-logs/caddy-logs.log",
        skipped: &[(Skip::Blank, 1), (Skip::NoKey, 1)],
        first: "2023-09-04T15:19:51.7564995Z",
        last: "2024-03-29T19:51:04.947103Z",
        keys: &[
            ("ip", 2, 10, ("127.0.0.1", 6)),
            ("path", 1, 10, ("/", 10)),
            ("host", 2, 10, ("127.0.0.1:8080", 7)),
            ("agent", 2, 10, ("curl/7.74.0", 7)),
            ("status", 3, 10, ("401", 2)),
            ("method", 1, 10, ("GET", 10)),
        ],
    },
    File {
        path: "golden/crowdsec/traefik_base-http-scenario/traefik_base-http-scenario.log",
        skipped: NONE,
        first: "2021-12-08T14:02:43.464763557Z",
        last: "2021-12-08T14:02:43.589545005Z",
        keys: &[
            ("ip", 1, 80, ("172.17.0.1", 80)),
            ("path", 76, 80, ("/toto", 5)),
            ("host", 1, 80, ("test.docker.localhost", 80)),
            ("agent", 1, 80, ("Nikto", 80)),
            ("status", 2, 80, ("400", 1)),
            ("method", 2, 80, ("CONNECT", 1)),
        ],
    },
    // What Kubernetes puts around a line has a time of its own, an hour and some milliseconds off.
    File {
        path: "golden/crowdsec/envoy-http-crawl-non_statics/envoy-http-crawl-non_statics.log",
        skipped: NONE,
        first: "2025-12-31T16:40:00.1Z",
        last: "2025-12-31T16:40:00.49Z",
        keys: &[
            ("ip", 1, 41, ("10.0.0.13", 41)),
            ("path", 41, 41, ("/page-01", 1)),
            ("host", 1, 41, ("crawl.internal", 41)),
            ("agent", 1, 41, ("Mozilla/5.0", 41)),
            ("status", 1, 41, ("404", 41)),
            ("method", 1, 41, ("GET", 41)),
        ],
    },
    File {
        path: "golden/crowdsec/envoy-http-bad-user-agent/envoy-http-bad-user-agent.log",
        skipped: NONE,
        first: "2025-12-31T16:37:40.479Z",
        last: "2025-12-31T16:37:41.479Z",
        keys: &[
            ("ip", 1, 2, ("10.0.0.12", 2)),
            ("path", 2, 2, ("/admin", 1)),
            ("agent", 1, 2, ("Mozilla/5.0 zgrab/0.x", 2)),
            ("status", 2, 2, ("200", 1)),
        ],
    },
    File {
        path: "golden/crowdsec/nextcloud-bf/nextcloud-bf.log",
        skipped: NONE,
        first: "2022-01-16T15:42:37Z",
        last: "2023-02-14T17:28:33Z",
        keys: &[
            ("ip", 3, 19, ("2001:db8::d72", 6)),
            ("path", 2, 19, ("/login", 12)),
            ("method", 2, 19, ("GET", 7)),
            ("user", 1, 19, ("--", 19)),
        ],
    },
    // Two thirds of it are written in another way.
    File {
        path: "golden/crowdsec/grafana-bf/grafana-bf.log",
        skipped: &[(Skip::Malformed, 24), (Skip::Blank, 1)],
        first: "2024-02-07T07:33:35.0353436Z",
        last: "2024-02-07T07:34:51.1833376Z",
        keys: &[("ip", 2, 12, ("192.168.1.4", 6)), ("remote_addr", 2, 12, ("192.168.1.3", 6))],
    },
];

fn options(key: &str) -> Options {
    Options { format: Some(Format::Json), key: Some(key.into()), ..Options::default() }
}

#[test]
fn json_of_real_servers_is_read_as_a_careful_reader_reads_it() {
    for File { path, skipped, first, last, keys } in FILES {
        let Some(file) = data(path) else { continue };
        let text = std::fs::read(file).unwrap();
        for (key, distinct, events, (one, its)) in *keys {
            let (read, tally) =
                read(&text, &options(key)).unwrap_or_else(|error| panic!("{path} by {key}: {error}"));
            let mut counts = BTreeMap::new();
            for event in &read {
                *counts.entry(String::from_utf8_lossy(&event.key).into_owned()).or_insert(0u64) += event.n;
            }
            assert_eq!((counts.len(), tally.events), (*distinct, *events), "{path} by {key}");
            assert_eq!(counts.get(*one), Some(its), "{path} by {key}: {one}");
            let shown = |at: Option<Timestamp>| at.map(|at| format_time(at, 0)).unwrap_or_default();
            assert_eq!((shown(tally.first), shown(tally.last)), ((*first).into(), (*last).into()), "{path}");
            let skipped: BTreeMap<Skip, u64> = skipped.iter().copied().collect();
            assert_eq!(tally.skipped, skipped, "{path} by {key}");
        }
    }
}

/// The keys of some lines, and how many of them were skipped for what.
fn check(lines: &[&[u8]], options: &Options, keys: &[&[u8]], skipped: &[(Skip, u64)]) {
    let text = lines.join(&b'\n');
    let (read, tally) = read(&text, options).unwrap();
    let shown =
        |keys: &[&[u8]]| -> Vec<String> { keys.iter().map(|key| key.escape_ascii().to_string()).collect() };
    let found: Vec<&[u8]> = read.iter().map(|event| event.key.as_slice()).collect();
    let expected: BTreeMap<Skip, u64> = skipped.iter().copied().collect();
    let text = text.escape_ascii();
    assert_eq!((shown(&found), tally.skipped), (shown(keys), expected), "{text}");
}

#[test]
fn a_member_that_says_nothing_leaves_the_field_to_the_next_one() {
    for nothing in [r#""-""#, r#""""#, "null", "[]", "{}", r#"["-"]"#, r#"[null]"#] {
        let both = format!(r#"{{"time":1,"remote_addr":{nothing},"client_ip":"192.0.2.1"}}"#);
        let full = r#"{"time":1,"remote_addr":"192.0.2.2","client_ip":"192.0.2.1"}"#;
        check(&[full.as_bytes(), both.as_bytes()], &options("ip"), &[b"192.0.2.2", b"192.0.2.1"], NONE);
        let time = format!(r#"{{"time_iso8601":{nothing},"remote_addr":"192.0.2.2","msec":"1.5"}}"#);
        let full = r#"{"time_iso8601":"1970-01-01T00:00:01Z","remote_addr":"192.0.2.1","msec":"1.5"}"#;
        check(&[full.as_bytes(), time.as_bytes()], &options("ip"), &[b"192.0.2.1", b"192.0.2.2"], NONE);
    }
}

#[test]
fn of_a_member_that_stands_twice_the_order_of_others_does_not_matter() {
    // The first one counts, wherever the time stands: a line is read no further than it must be.
    for line in [
        r#"{"time":1,"remote_addr":"192.0.2.1","remote_addr":"192.0.2.2"}"#,
        r#"{"remote_addr":"192.0.2.1","time":1,"remote_addr":"192.0.2.2"}"#,
        r#"{"remote_addr":"192.0.2.1","remote_addr":"192.0.2.2","time":1}"#,
    ] {
        check(&[line.as_bytes()], &options("ip"), &[b"192.0.2.1"], NONE);
    }
}

#[test]
fn bytes_that_are_no_text_do_not_hide_a_request() {
    // nginx writes what a client sent as it is, apart from quotes, backslashes and control characters.
    let good = br#"{"time":1,"remote_addr":"192.0.2.1","request_uri":"/a","http_user_agent":"x"}"#;
    let agent =
        b"{\"time\":1,\"http_user_agent\":\"\xff\xc3\",\"remote_addr\":\"192.0.2.2\",\"request_uri\":\"/b\"}";
    let path = b"{\"time\":1,\"http_user_agent\":\"\",\"remote_addr\":\"192.0.2.3\",\"request_uri\":\"/\xe9\\\"\xff?q\"}";
    let ips: [&[u8]; 3] = [b"192.0.2.1", b"192.0.2.2", b"192.0.2.3"];
    check(&[good, agent, path], &options("ip"), &ips, NONE);
    check(&[good, agent, path], &options("path"), &[b"/a", b"/b", b"/\xe9\"\xff"], NONE);
    check(&[agent, path, good], &options("ip"), &[b"192.0.2.2", b"192.0.2.3", b"192.0.2.1"], NONE);
}

#[test]
fn half_of_a_character_does_not_hide_a_request() {
    let lines: [&[u8]; 2] = [
        br#"{"time":1,"ip":"192.0.2.1","path":"/\ud83d"}"#,
        br#"{"time":1,"ip":"192.0.2.2","path":"/\ud83d\ude00"}"#,
    ];
    check(&lines, &options("ip"), &[b"192.0.2.1", b"192.0.2.2"], NONE);
    check(&lines, &options("path"), &[b"/\xed\xa0\xbd", "/😀".as_bytes()], NONE);
}

#[test]
fn what_is_no_json_is_no_event() {
    let good = br#"{"time":1,"ip":"192.0.2.1"}"#;
    let lines: [&[u8]; 6] =
        [good, b"nonsense", b"[1]", b"{\"time\":oops}", b"{}", b"{\"time\":\"soon\",\"ip\":\"a\"}"];
    check(&lines, &options("ip"), &[b"192.0.2.1"], &[(Skip::Malformed, 3), (Skip::BadTime, 2)]);
}

#[test]
fn a_weight_is_a_whole_number_or_its_text() {
    let weighed = |n: &str| format!(r#"{{"time":1,"ip":"192.0.2.1","n":{n}}}"#);
    let options = Options { weight: Some("n".into()), ..options("ip") };
    for (n, expected) in [("3", 3), ("\"12\"", 12), ("18446744073709551615", u64::MAX)] {
        let (read, _) = read(weighed(n).as_bytes(), &options).unwrap();
        assert_eq!(read.iter().map(|event| event.n).collect::<Vec<_>>(), [expected], "{n}");
    }
    for n in ["1.5", "-1", "null", "true", "\"x\"", "[]", "18446744073709551616"] {
        let lines = [weighed("3"), weighed(n)];
        let lines = [lines[0].as_bytes(), lines[1].as_bytes()];
        check(&lines, &options, &[b"192.0.2.1"], &[(Skip::BadNumber, 1)]);
    }
}

#[test]
fn the_runtime_s_time_stands_in_for_one_that_a_line_lacks() {
    let lines = [
        r#"2016-10-06T00:17:09.5Z stdout F {"remote_addr":"192.0.2.1"}"#,
        r#"2016-10-06T00:17:10.5Z stdout F {"remote_addr":"192.0.2.2","time":1475713000}"#,
    ];
    let (read, _) = read(lines.join("\n").as_bytes(), &options("ip")).unwrap();
    let times: Vec<String> = read.iter().map(|event| format_time(event.at, 0)).collect();
    assert_eq!(times, ["2016-10-06T00:16:40Z", "2016-10-06T00:17:09.5Z"]);
}

#[test]
fn parts_of_lines_are_joined_with_those_of_the_same_stream() {
    let line = |stream: &str, tag: &str, text: &str| format!("2016-10-06T00:17:09Z {stream} {tag} {text}");
    let lines = [
        line("stdout", "F", r#"{"time":1,"remote_addr":"192.0.2.1"}"#),
        line("stdout", "P", r#"{"time":1,"remote"#),
        line("stderr", "P", r#"{"time":1,"remote_addr":"192."#),
        line("stderr", "F", r#"0.2.3"}"#),
        line("stderr", "F", r#"{"time":1,"remote_addr":"192.0.2.4"}"#),
        line("stdout", "F", r#"_addr":"192.0.2.2"}"#),
    ];
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let keys: [&[u8]; 4] = [b"192.0.2.1", b"192.0.2.3", b"192.0.2.4", b"192.0.2.2"];
    check(&lines, &options("ip"), &keys, &[(Skip::Partial, 2)]);
}
