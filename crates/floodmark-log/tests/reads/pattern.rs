//! Logs of other projects that are in no known format, read with a pattern.

use crate::common::{Kept, data, read};
use floodmark::Timestamp;
use floodmark_log::{Format, Options, Skip, Tally};
use serde_json::Value;

const S3: &str = r#"$owner $bucket [$time_local] $remote_addr $requester $request_id $operation $s3_key "$request" $status $error $bytes_sent $size $total $turnaround "$http_referer" "$http_user_agent""#;

fn options(pattern: &str, key: Option<&str>) -> Options {
    Options { pattern: Some(pattern.parse().unwrap()), key: key.map(Into::into), ..Options::default() }
}

/// The events of a file, if it is there.
fn read_file(path: &str, options: &Options) -> Option<(Vec<Kept>, Tally)> {
    Some(read(&std::fs::read(data(path)?).unwrap(), options).unwrap())
}

/// Reads a file whose first event is `key` at `secs`, and which has so many events.
fn check(path: &str, options: &Options, key: &str, secs: u64, events: u64) {
    let Some((kept, tally)) = read_file(path, options) else { return };
    let first = kept
        .first()
        .map(|kept| (String::from_utf8_lossy(&kept.key).into_owned(), kept.at.as_nanos() / 1_000_000_000));
    assert_eq!(first, Some((key.to_string(), secs)), "{path}");
    assert_eq!(tally.events, events, "{path}: {:?}", tally.skipped);
}

/// Reads the first line of the published cases that has this reference.
fn check_case(reference: &str, pattern: &str, key: Option<&str>, expected: &str) {
    let Some(path) = data("cases/lines.json") else { return };
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let row = rows.iter().find(|row| row["ref"] == reference).unwrap();
    let (kept, _) = read(row["line"].as_str().unwrap().as_bytes(), &options(pattern, key)).unwrap();
    assert_eq!(kept.iter().map(|kept| String::from_utf8_lossy(&kept.key)).collect::<Vec<_>>(), [expected]);
}

#[test]
fn formats_of_hosts_and_clouds_are_read_as_their_manuals_write_them() {
    let ovh = r#"%h %v %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i""#;
    check("access/odd/matomo_ovh.log", &options(ovh, None), "1.2.3.4", 1_328_910_127, 1);
    check("access/odd/matomo_s3.log", &options(S3, None), "1.2.3.4", 1_328_910_127, 1);
    let elb = r#"$time_iso8601 $elb $remote_addr:$remote_port $backend $a $b $c $status $d $e $f "$request" "$http_user_agent" $cipher $protocol"#;
    check("access/odd/matomo_elb.log", &options(elb, None), "1.2.3.4", 1_431_560_383, 2);
    check("access/odd/matomo_elb.log", &options(elb, Some("method")), "GET", 1_431_560_383, 1);
}

#[test]
fn a_time_in_letters_of_its_own_is_read_by_them() {
    let path = "access/odd/matomo_custom_regex_custom_date.log";
    let time_format = Some("%B - %d, %Y:%H:%M:%S".to_string());
    let pattern = r#"(?<ip>\S+) \S+ \S+ \[(?<time>.*?)\] "\S+ (?<path>\S+)"#;
    check(path, &Options { time_format, ..options(pattern, None) }, "1.2.3.4", 1_328_892_127, 1);
    let Some(path) = data(path) else { return };
    let error = read(&std::fs::read(path).unwrap(), &options(pattern, None)).unwrap_err().to_string();
    assert!(
        error.contains("\"February - 10, 2012:16:42:07\": say how that is written, as --time-format"),
        "{error}"
    );
}

#[test]
fn what_a_pattern_does_not_fit_is_told_from_what_it_does() {
    check("json/nekrassov_sample_s3_all_match.log", &options(S3, None), "192.0.2.76", 1_549_166_073, 5);
    let ltsv = "remote_host:$remote_host\\tremote_logname:$l\\tremote_user:$remote_user\\tdatetime:[$time_local]\\trequest:$request\\tstatus:$status\\tsize:$size\\treferer:$http_referer\\tuser_agent:$http_user_agent";
    check("json/nekrassov_sample_ltsv_all_match.log", &options(ltsv, None), "192.168.1.1", 1_678_618_536, 5);
    let Some((kept, tally)) =
        read_file("json/nekrassov_sample_ltsv_contains_unmatch.log", &options(ltsv, None))
    else {
        return;
    };
    assert_eq!((kept.len(), tally.damaged), (5, 2));
}

#[test]
fn a_proxy_that_logs_to_syslog_is_read_by_its_own_time() {
    let pattern = r"haproxy\[\d+\]: (?<ip>\S+):\d+ \[(?<time>[^\]]+)\] (?<frontend>\S+) (?<backend>\S+) (?:\S+ )(?<status>\d+)?";
    let path = "json/lnav_logfile_haproxy.0";
    let Some((kept, _)) = read_file(path, &options(pattern, None)) else { return };
    let first = kept.first().unwrap();
    assert_eq!(first.key, b"141.35.244.171");
    assert_eq!(first.at, Timestamp::from_millis(1_551_111_588_143));
}

#[test]
fn errors_of_a_server_are_counted_by_what_they_are() {
    let path = "auth/loghub_Apache_error_2k.log";
    let pattern = r"^\[(?<time>[^\]]+)\] \[(?<level>\w+)\](?: \[client (?<ip>[^\]]+)\])? (?<message>.*)";
    check(path, &options(pattern, Some("level")), "notice", 1_133_671_664, 2000);
    let options = options(pattern, None);
    let Some((kept, tally)) = read_file(path, &options) else { return };
    assert_eq!(kept.len() as u64 + tally.skipped[&Skip::NoKey], 2000, "some have no client");
}

#[test]
pub(crate) fn a_duration_before_the_client_is_no_client() {
    let pattern = r#"%D %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i" "%{X-Forwarded-For}i" "%v""#;
    check_case("allinurl/goaccess#2717", pattern, None, "10.5.176.14");
}

#[test]
pub(crate) fn marks_around_a_field_are_no_part_of_it() {
    let pattern = r#"%h <<%P>> %t %Dus \"%r\" %>s %b  \"%{Referer}i\" \"%{User-Agent}i\" %l %u"#;
    check_case("rory/apache-log-parser tests.py", pattern, None, "127.0.0.1");
    check_case("rory/apache-log-parser tests.py", pattern, Some("pid"), "6113");
}

#[test]
fn a_key_inside_a_quoted_field_is_the_one_the_pattern_names() {
    let pattern = r#"$host - "ProxyBy: $remote_addr" - $remote_user [$time_local] "$request" $status"#;
    check_case("allinurl/goaccess#2533", pattern, None, "212.25.2.10");
    check_case("allinurl/goaccess#2533", pattern, Some("host"), "url.com");
}

#[test]
fn nothing_makes_a_pattern_panic() {
    let patterns = [
        S3,
        r"(?<ip>\S*) (?<time>\S*)",
        "%h %t \"%r\" %U%q %{sec}t.%{usec_frac}t",
        "$uri$is_args$args $msec",
    ];
    let lines: [&[u8]; 8] =
        [b"\"", b"\"\"", b"\\", b"1 5 \"\\", b"\xff [", b"[] ?", b"/?\0 5.5", b"\" 5 \" 5"];
    for pattern in patterns {
        for line in lines {
            let _ = read(line, &options(pattern, Some("{ip}")));
            let _ = read(line, &Options { format: Some(Format::Pattern), ..options(pattern, None) });
        }
    }
}
