//! Single lines that other tools have dropped or misread, from their trackers.
//!
//! They are read from `cases/lines.json` in the folder that `FLOODMARK_DATA` names, where several may have the same
//! reference: each is named by that and its number among them.

use crate::common::{Kept, data, read};
use crate::pattern;
use floodmark::Timestamp;
use floodmark_log::{Format, Options, Skip};
use serde_json::Value;

/// A row of the file: its reference, and its place among those with the same.
type Row = (&'static str, usize);

const VRL: &str = "vectordotdev/vrl#226";
const BEATS: &str = "elastic/beats filebeat/module/nginx/access/test/test.log";
const GOACCESS_CI: &str = "allinurl/goaccess .github/workflows/build-test.yml";

/// The rows that are tested here, each by one test.
const TESTED: [(Row, fn()); 26] = [
    ((VRL, 0), a_handshake_of_another_protocol_is_an_event),
    ((VRL, 1), a_second_handshake_of_another_protocol_is_an_event),
    ((VRL, 2), an_empty_request_is_an_event),
    ((VRL, 3), a_request_of_escaped_bytes_is_an_event),
    ((VRL, 4), a_request_of_escaped_bytes_and_punctuation_is_an_event),
    (("vectordotdev/vector#14710", 0), a_request_of_one_word_is_an_event),
    (("elastic/beats#6858", 0), an_empty_request_on_loopback_is_an_event),
    (("fluent/fluentd#535", 0), a_request_without_a_protocol_has_its_path_and_time),
    (("allinurl/goaccess#1746", 0), a_host_name_is_a_client_and_a_dash_is_no_bytes),
    (("allinurl/goaccess#2198", 0), a_line_wrapped_in_quotes_is_read_as_if_it_were_not),
    (("allinurl/goaccess#2533", 0), a_key_inside_a_quoted_field_is_not_guessed),
    (("allinurl/goaccess#2717", 0), pattern::a_duration_before_the_client_is_no_client),
    (("rory/apache-log-parser tests.py", 0), pattern::marks_around_a_field_are_no_part_of_it),
    (("allinurl/goaccess#1264", 0), unknown_clients_are_not_one_hot_key),
    ((BEATS, 0), a_list_of_addresses_is_not_taken_for_its_first),
    ((BEATS, 1), a_quoted_list_of_addresses_is_not_taken_for_a_client),
    ((GOACCESS_CI, 0), a_virtual_host_and_an_ipv6_client_are_told_apart),
    ((GOACCESS_CI, 1), a_request_that_timed_out_is_an_event),
    (("Tomcat/Jetty form (several repositories)", 0), a_long_spelling_of_an_ipv6_client_is_the_short_one),
    (
        ("InsightDataScience/fansite-analytics-challenge README", 0),
        a_zone_of_three_digits_and_an_impossible_ipv4_are_read,
    ),
    (("wazuh/wazuh-ruleset#22", 0), a_repeated_message_is_as_many_events),
    (("redis/node-redis#1208", 0), a_client_with_an_ipv6_address_hides_no_key),
    (("facebookarchive/redis-faina#2", 0), a_line_of_redis_2_4_is_read),
    (("redis/docs monitor.md", 0), what_a_script_calls_counts_where_that_is_asked),
    (("microsoft/garnet#538", 0), a_line_of_another_server_is_read),
    (("lyramilk source comment", 0), a_password_is_no_key_and_is_not_shown),
];

/// The rows; `None` where there is no data.
fn rows() -> Option<Vec<Value>> {
    Some(serde_json::from_slice(&std::fs::read(data("cases/lines.json")?).unwrap()).unwrap())
}

fn row((reference, number): Row) -> Option<Value> {
    let rows = rows()?;
    Some(rows.iter().filter(|row| row["ref"] == reference).nth(number).unwrap().clone())
}

/// Reads one line in a format, or in the one that it is told to be, by a key.
fn read_by(row: &Value, format: Option<Format>, key: &str) -> Result<(String, Timestamp), String> {
    let options = Options { format, key: Some(key.into()), examples: 1, ..Options::default() };
    let line = row["line"].as_str().unwrap();
    let (events, tally) = read(line.as_bytes(), &options).map_err(|error| error.to_string())?;
    assert_eq!((tally.lines, tally.damaged), (1, 0), "{line}");
    match events.as_slice() {
        [event] => Ok((String::from_utf8(event.key.clone()).unwrap(), event.at)),
        _ => Err(tally.examples[0].skip.to_string()),
    }
}

/// A line is an event, and its fields are those that the row expects.
#[track_caller]
fn check_fields(place: Row, format: Format) {
    let Some(row) = row(place) else { return };
    let expect = &row["expect"];
    let mut asked = 0;
    for (field, key) in
        [("ip", "ip"), ("key", "ip"), ("status", "status"), ("path", "path"), ("vhost", "host")]
    {
        let expected = match &expect[field] {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        for format in [None, Some(format)] {
            let (found, at) = read_by(&row, format, key).unwrap();
            assert_eq!(found, expected, "{field} of {}", row["line"]);
            if let Some(epoch) = expect["epoch"].as_u64() {
                assert_eq!(at, Timestamp::from_secs(epoch));
            }
        }
        asked += 1;
    }
    assert!(asked > 0, "{expect} asks for nothing");
}

/// A line is no event in any of the access log formats, for this reason, and its format cannot be told from it.
#[track_caller]
fn check_skipped(place: Row, formats: &[(Format, Skip)]) {
    let Some(row) = row(place) else { return };
    assert!(read_by(&row, None, "ip").unwrap_err().contains("can't tell the format"));
    for &(format, skip) in formats {
        assert_eq!(read_by(&row, Some(format), "ip"), Err(skip.to_string()), "{format}: {}", row["line"]);
    }
}

#[test]
fn a_handshake_of_another_protocol_is_an_event() {
    check_fields((VRL, 0), Format::Combined);
}

#[test]
fn a_second_handshake_of_another_protocol_is_an_event() {
    check_fields((VRL, 1), Format::Combined);
}

#[test]
fn an_empty_request_is_an_event() {
    check_fields((VRL, 2), Format::Combined);
}

#[test]
fn a_request_of_escaped_bytes_is_an_event() {
    check_fields((VRL, 3), Format::Combined);
}

#[test]
fn a_request_of_escaped_bytes_and_punctuation_is_an_event() {
    check_fields((VRL, 4), Format::Combined);
}

#[test]
fn a_request_of_one_word_is_an_event() {
    check_fields(("vectordotdev/vector#14710", 0), Format::Combined);
}

#[test]
fn an_empty_request_on_loopback_is_an_event() {
    check_fields(("elastic/beats#6858", 0), Format::Combined);
}

#[test]
fn a_request_without_a_protocol_has_its_path_and_time() {
    check_fields(("fluent/fluentd#535", 0), Format::Combined);
}

#[test]
fn a_host_name_is_a_client_and_a_dash_is_no_bytes() {
    check_fields(("allinurl/goaccess#1746", 0), Format::Combined);
}

#[test]
fn a_line_wrapped_in_quotes_is_read_as_if_it_were_not() {
    check_fields(("allinurl/goaccess#2198", 0), Format::Combined);
}

#[test]
fn a_virtual_host_and_an_ipv6_client_are_told_apart() {
    check_fields((GOACCESS_CI, 0), Format::Vhost);
}

#[test]
fn a_request_that_timed_out_is_an_event() {
    check_fields((GOACCESS_CI, 1), Format::Vhost);
}

#[test]
fn a_long_spelling_of_an_ipv6_client_is_the_short_one() {
    check_fields(("Tomcat/Jetty form (several repositories)", 0), Format::Common);
}

/// An impossible address is a name like any other. The zone -400 is four hours west, as -0400 is.
#[test]
fn a_zone_of_three_digits_and_an_impossible_ipv4_are_read() {
    let place = ("InsightDataScience/fansite-analytics-challenge README", 0);
    check_fields(place, Format::Common);
    let Some(row) = row(place) else { return };
    let four_hours_after_midnight = Timestamp::from_secs(807_249_602);
    assert_eq!(read_by(&row, None, "ip").unwrap().1, four_hours_after_midnight);
}

#[test]
fn a_key_inside_a_quoted_field_is_not_guessed() {
    let skips = [Format::Combined, Format::Common, Format::Vhost].map(|format| (format, Skip::Malformed));
    check_skipped(("allinurl/goaccess#2533", 0), &skips);
}

/// The client is `-`, so there is no key. Read as a line without a virtual host it has a field too many.
#[test]
fn unknown_clients_are_not_one_hot_key() {
    let skips = [
        (Format::Vhost, Skip::NoKey),
        (Format::Combined, Skip::Malformed),
        (Format::Common, Skip::Malformed),
    ];
    check_skipped(("allinurl/goaccess#1264", 0), &skips);
}

/// Which of them is the client is for the user to say.
#[test]
fn a_list_of_addresses_is_not_taken_for_its_first() {
    let skips = [Format::Combined, Format::Common, Format::Vhost].map(|format| (format, Skip::Malformed));
    check_skipped((BEATS, 0), &skips);
    check_forwarded((BEATS, 0), &[("private", "85.181.35.98"), ("85.0.0.0/8", "10.0.0.2")]);
}

#[test]
fn a_quoted_list_of_addresses_is_not_taken_for_a_client() {
    let skips = [Format::Combined, Format::Common, Format::Vhost].map(|format| (format, Skip::Malformed));
    check_skipped((BEATS, 1), &skips);
    check_forwarded((BEATS, 1), &[("private", "204.246.1.1"), ("204.246.0.0/16", "199.96.1.1")]);
}

/// The client behind the private networks and one more.
#[track_caller]
fn check_forwarded(place: Row, expected: &[(&str, &str)]) {
    let Some(row) = row(place) else { return };
    for (proxies, client) in expected {
        let mut trusted = floodmark_log::private_networks();
        trusted.extend(proxies.parse::<floodmark_log::IpNet>());
        let options = Options { key: Some("forwarded".into()), trusted, ..Options::default() };
        let (events, _) = read(row["line"].as_str().unwrap().as_bytes(), &options).unwrap();
        assert_eq!(String::from_utf8_lossy(&events[0].key), *client, "{proxies}");
    }
}

/// The fields of a line, each told from itself alone, in a format that is told from it too.
#[track_caller]
fn check_read(place: Row, options: &Options, fields: &[(&str, &str)]) -> Option<Vec<Kept>> {
    let row = row(place)?;
    let line = row["line"].as_str().unwrap();
    for (field, expected) in fields {
        let options = Options { key: Some((*field).into()), ..options.clone() };
        let (events, _) = read(line.as_bytes(), &options).unwrap();
        assert_eq!(String::from_utf8_lossy(&events[0].key), *expected, "{field} of {line}");
    }
    Some(read(line.as_bytes(), options).unwrap().0)
}

#[test]
fn a_repeated_message_is_as_many_events() {
    let place = ("wazuh/wazuh-ruleset#22", 0);
    let fields = [("ip", "192.0.2.1"), ("user", "root"), ("outcome", "failed")];
    let Some(events) = check_read(place, &Options::default(), &fields) else { return };
    assert_eq!(events.iter().map(|event| event.n).sum::<u64>(), 2);
}

#[test]
fn a_client_with_an_ipv6_address_hides_no_key() {
    let fields = [
        ("client", "[::ffff:172.17.0.1]:43346"),
        ("ip", "172.17.0.1"),
        ("db", "0"),
        ("command", "GET"),
        ("key", "..."),
    ];
    check_read(("redis/node-redis#1208", 0), &Options::default(), &fields);
}

#[test]
fn a_line_of_redis_2_4_is_read() {
    let fields = [("db", "1"), ("command", "GET"), ("key", "k")];
    check_read(("facebookarchive/redis-faina#2", 0), &Options::default(), &fields);
}

#[test]
fn what_a_script_calls_counts_where_that_is_asked() {
    let place = ("redis/docs monitor.md", 0);
    let lua = Options { lua: true, ..Options::default() };
    check_read(place, &lua, &[("client", "lua"), ("key", "x")]);
    let Some(events) = check_read(place, &Options::default(), &[]) else { return };
    assert_eq!(events, []);
}

#[test]
fn a_line_of_another_server_is_read() {
    check_read(("microsoft/garnet#538", 0), &Options::default(), &[("key", "foo")]);
}

#[test]
fn a_password_is_no_key_and_is_not_shown() {
    let place = ("lyramilk source comment", 0);
    let Some(row) = row(place) else { return };
    let line = row["line"].as_str().unwrap();
    // Whole it has no key; with one quote less it is malformed, and would be shown.
    for line in [line.to_string(), line.replacen("AUTH\"", "AUTH", 1), line.replacen('[', "", 1)] {
        for format in [None, Some(Format::Monitor), Some(Format::Keys), Some(Format::Sshd)] {
            let options = Options { format, examples: 9, ..Options::default() };
            let shown = match read(line.as_bytes(), &options) {
                Ok((events, tally)) => format!(
                    "{events:?} {:?}",
                    tally
                        .examples
                        .iter()
                        .map(|e| String::from_utf8_lossy(&e.text).into_owned())
                        .collect::<Vec<_>>()
                ),
                Err(error) => error.to_string(),
            };
            assert!(!shown.contains("placeholder"), "{shown}");
        }
    }
}

#[test]
fn every_row_is_tested() {
    let Some(rows) = rows() else { return };
    let mut known: Vec<Row> = TESTED.iter().map(|(row, _)| *row).collect();
    let mut all: Vec<(&str, usize)> = Vec::new();
    for row in &rows {
        let reference = row["ref"].as_str().unwrap();
        all.push((reference, all.iter().filter(|(known, _)| *known == reference).count()));
    }
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}
