//! Odd files of other projects, and what a careful reader gets from each: counted by hand, or by a program that was
//! written for nothing else.

use crate::common::{data, read};
use floodmark::Timestamp;
use floodmark_log::{Format, Options, Skip, format_time};
use std::collections::BTreeMap;

/// What is in a file: lines that are events, others by reason, distinct keys, first and last time.
struct File {
    path: &'static str,
    how: How,
    events: u64,
    skipped: &'static [(Skip, u64)],
    keys: usize,
    first: &'static str,
    last: &'static str,
}

/// How it is read.
enum How {
    /// As it tells itself.
    Told(Format),
    /// By a pattern.
    By(&'static str),
    /// By a pattern and the way in which its times are written.
    Timed(&'static str, &'static str),
}

use How::{By, Timed, Told};

const NONE: &[(Skip, u64)] = &[];

const S3: &str = r#"$owner $bucket [$time_local] $remote_addr $requester $request_id $operation $s3_key "$request" $status $error $bytes_sent $size $total $turnaround "$http_referer" "$http_user_agent""#;

const LTSV: &str = r"remote_host:$remote_host\tremote_logname:$l\tremote_user:$remote_user\tdatetime:[$time_local]\trequest:$request\tstatus:$status\tsize:$size\treferer:$http_referer\tuser_agent:$http_user_agent";

const FILES: &[File] = &[
    File {
        path: "access/odd/jwodder_vhost_combined.log",
        how: Told(Format::Vhost),
        events: 6,
        skipped: &[(Skip::Malformed, 1)],
        keys: 1,
        first: "2019-05-06T06:28:20Z",
        last: "2019-05-06T06:28:22Z",
    },
    File {
        path: "access/odd/lnav_logfile_access_log.0",
        how: Told(Format::Combined),
        events: 3,
        skipped: NONE,
        keys: 1,
        first: "2009-07-20T22:59:26Z",
        last: "2009-07-20T22:59:29Z",
    },
    File {
        path: "access/odd/lnav_logfile_bad_access_log.0",
        how: Told(Format::Combined),
        events: 2,
        skipped: &[(Skip::Malformed, 1)],
        keys: 1,
        first: "2009-07-20T22:59:26Z",
        last: "2009-07-20T22:59:29Z",
    },
    File {
        path: "access/odd/matomo_common.log.bz2",
        how: Told(Format::Common),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-19T23:42:07Z",
        last: "2012-02-19T23:42:07Z",
    },
    File {
        path: "access/odd/matomo_common.log.gz",
        how: Told(Format::Common),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T23:42:07Z",
        last: "2012-02-10T23:42:07Z",
    },
    File {
        path: "access/odd/matomo_common_encoding_big5.log",
        how: Told(Format::Vhost),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T21:42:07Z",
        last: "2012-02-10T21:42:07Z",
    },
    File {
        path: "access/odd/matomo_common_vhost.log",
        how: Told(Format::Vhost),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T21:42:07Z",
        last: "2012-02-10T21:42:07Z",
    },
    File {
        path: "access/odd/matomo_logs_to_tests.log",
        how: Told(Format::Combined),
        events: 4,
        skipped: &[(Skip::Blank, 1), (Skip::Malformed, 1)],
        keys: 2,
        first: "2013-02-05T07:01:26Z",
        last: "2013-10-28T23:48:46Z",
    },
    File {
        path: "access/odd/matomo_ncsa_extended.log",
        how: Told(Format::Combined),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T21:42:07Z",
        last: "2012-02-10T21:42:07Z",
    },
    File {
        path: "access/odd/matomo_caddy_json.log",
        how: Told(Format::Json),
        events: 3,
        skipped: NONE,
        keys: 1,
        first: "2023-12-23T23:17:54.8155608Z",
        last: "2023-12-23T23:17:55.141868Z",
    },
    File {
        path: "access/odd/matomo_nginx_json.log",
        how: Told(Format::Json),
        events: 2,
        skipped: NONE,
        keys: 1,
        first: "2013-10-10T14:52:00Z",
        last: "2013-10-10T14:52:00Z",
    },
    File {
        path: "access/odd/matomo_traefik_json.log",
        how: Told(Format::Json),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2023-08-11T11:39:21.773360139Z",
        last: "2023-08-11T11:39:21.773360139Z",
    },
    // Behind the name of a service; 35 of its lines tell of the server's start.
    File {
        path: "json/lnav_logfile_caddy_log.0",
        how: Told(Format::Json),
        events: 4,
        skipped: &[(Skip::NoKey, 35)],
        keys: 1,
        first: "2025-10-21T04:10:28.6153953Z",
        last: "2025-10-21T04:12:37.9247544Z",
    },
    File {
        path: "json/lnav_logfile_caddy_log.1",
        how: Told(Format::Json),
        events: 4,
        skipped: NONE,
        keys: 4,
        first: "2024-05-26T11:42:52.6014807Z",
        last: "2024-05-26T14:16:03.4146512Z",
    },
    File {
        path: "json/lnav_logfile_cloudflare.1",
        how: Told(Format::Json),
        events: 15,
        skipped: NONE,
        keys: 14,
        first: "2024-04-10T23:00:00.1Z",
        last: "2024-04-10T23:00:44.995Z",
    },
    File {
        path: "json/lnav_logfile_cloudflare.json",
        how: Told(Format::Json),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2022-10-30T00:00:02Z",
        last: "2022-10-30T00:00:02Z",
    },
    File {
        path: "access/odd/matomo_ovh.log",
        how: By(r#"%h %v %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i""#),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T21:42:07Z",
        last: "2012-02-10T21:42:07Z",
    },
    File {
        path: "access/odd/matomo_s3.log",
        how: By(S3),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T21:42:07Z",
        last: "2012-02-10T21:42:07Z",
    },
    // One line is a comment. The other is of a connection that sent no request.
    File {
        path: "access/odd/matomo_elb.log",
        how: By("$time_iso8601 $elb $remote_addr:$remote_port $backend"),
        events: 2,
        skipped: &[(Skip::BadTime, 1)],
        keys: 2,
        first: "2015-05-13T23:39:43.945958Z",
        last: "2015-05-13T23:39:43.945958Z",
    },
    File {
        path: "access/odd/matomo_custom_regex_custom_date.log",
        how: Timed(r"(?<ip>\S+) \S+ \S+ \[(?<time>.*?)\] ", "%B - %d, %Y:%H:%M:%S"),
        events: 1,
        skipped: NONE,
        keys: 1,
        first: "2012-02-10T16:42:07Z",
        last: "2012-02-10T16:42:07Z",
    },
    // What begins with # is no request.
    File {
        path: "access/odd/lnav_logfile_w3c_big.0",
        how: By(r"^(?<date>\d\S+) (?<time>\S+) (?:\S+ ){6}(?<ip>\S+)"),
        events: 210,
        skipped: &[(Skip::Malformed, 44)],
        keys: 12,
        first: "2015-01-13T00:32:17Z",
        last: "2015-01-13T23:15:41Z",
    },
    File {
        path: "access/odd/matomo_iis.log",
        how: By(r"^(?<date>\d\S+) (?<time>\S+) (?:\S+ ){8}(?<ip>\S+)"),
        events: 1,
        skipped: &[(Skip::Malformed, 4)],
        keys: 1,
        first: "2012-04-01T00:00:13Z",
        last: "2012-04-01T00:00:13Z",
    },
    File {
        path: "access/odd/matomo_iis_custom.log",
        how: By(r#"^(?<date>\d\S+) (?<time>\S+) (?:\S+ ){6}(?:-|"(?<ip>[^"]+)")"#),
        events: 2,
        skipped: &[(Skip::Blank, 3), (Skip::Malformed, 4), (Skip::NoKey, 1)],
        keys: 2,
        first: "2012-08-15T17:00:00.363Z",
        last: "2012-08-15T17:00:00.675Z",
    },
    File {
        path: "access/odd/lnav_logfile_w3c.3",
        how: By(r#"^(?<date>\d\S+) (?<time>\S+) (?:\S+ ){6}(?:-|"(?<ip>[^"]+)")"#),
        events: 2,
        skipped: &[(Skip::Blank, 3), (Skip::Malformed, 4), (Skip::NoKey, 1)],
        keys: 2,
        first: "2012-08-15T17:00:00.363Z",
        last: "2012-08-15T17:00:00.675Z",
    },
    File {
        path: "access/odd/matomo_shoutcast.log",
        how: By("$remote_addr $dns $date $time $uri $status"),
        events: 1,
        skipped: &[(Skip::Malformed, 2), (Skip::BadTime, 1)],
        keys: 1,
        first: "2015-12-07T10:37:05Z",
        last: "2015-12-07T10:37:05Z",
    },
    File {
        path: "access/odd/matomo_splitted_date_and_time.log",
        how: By(r"^(?<ip>\S+) \S+ (?<date>\S+) .* (?<time>\S+)$"),
        events: 1,
        skipped: &[(Skip::BadTime, 1)],
        keys: 1,
        first: "2015-12-07T10:37:05Z",
        last: "2015-12-07T10:37:05Z",
    },
    File {
        path: "access/odd/matomo_amazon_cloudfront_web.log",
        how: By(r"^(?<date>\S+)\t(?<time>\S+)\t\S+\t\d+\t(?<ip>\S+)\t"),
        events: 1,
        skipped: &[(Skip::Malformed, 2)],
        keys: 1,
        first: "2014-05-23T01:13:11Z",
        last: "2014-05-23T01:13:11Z",
    },
    File {
        path: "access/odd/matomo_amazon_cloudfront_rtmp.log",
        how: By(r"^(?<date>\S+)\s+(?<time>\d\S+)\s+\S+\s+(?<ip>\S+)"),
        events: 2,
        skipped: &[(Skip::Malformed, 2)],
        keys: 2,
        first: "2010-03-12T23:51:20Z",
        last: "2010-03-12T23:51:21Z",
    },
    File {
        path: "access/odd/matomo_incapsula_w3c.log",
        how: By(r#"^"(?<date>[^"]+)" "(?<time>[^"]+)" (?:"[^"]*" ){5}"(?<ip>[^"]*)""#),
        events: 2,
        skipped: &[(Skip::Malformed, 4)],
        keys: 2,
        first: "2017-06-26T18:21:17Z",
        last: "2017-06-28T07:26:35Z",
    },
    File {
        path: "json/nekrassov_sample_s3_all_match.log",
        how: By(S3),
        events: 5,
        skipped: NONE,
        keys: 5,
        first: "2019-02-03T03:54:33Z",
        last: "2019-02-28T14:12:59Z",
    },
    // Four of its lines are cut, after all that matters here.
    File {
        path: "json/nekrassov_sample_s3_all_unmatch.log",
        how: By(S3),
        events: 5,
        skipped: NONE,
        keys: 5,
        first: "2019-02-03T03:54:33Z",
        last: "2019-02-28T14:12:59Z",
    },
    File {
        path: "json/nekrassov_sample_s3_contains_unmatch.log",
        how: By(S3),
        events: 5,
        skipped: NONE,
        keys: 5,
        first: "2019-02-03T03:54:33Z",
        last: "2019-02-28T14:12:59Z",
    },
    File {
        path: "json/nekrassov_sample_ltsv_all_match.log",
        how: By(LTSV),
        events: 5,
        skipped: NONE,
        keys: 5,
        first: "2023-03-12T10:55:36Z",
        last: "2023-03-12T11:04:16Z",
    },
    // The last lacks no name before its time.
    File {
        path: "json/nekrassov_sample_ltsv_all_unmatch.log",
        how: By(LTSV),
        events: 1,
        skipped: &[(Skip::Malformed, 4)],
        keys: 1,
        first: "2023-03-12T11:04:16Z",
        last: "2023-03-12T11:04:16Z",
    },
    File {
        path: "json/nekrassov_sample_ltsv_contains_unmatch.log",
        how: By(LTSV),
        events: 5,
        skipped: NONE,
        keys: 5,
        first: "2023-03-12T10:55:36Z",
        last: "2023-03-12T11:04:16Z",
    },
    // Three of its lines tell of the start.
    File {
        path: "json/lnav_logfile_haproxy.0",
        how: By(r"haproxy\[\d+\]: (?<ip>\S+):\d+ \[(?<time>[^\]]+)\] "),
        events: 14,
        skipped: &[(Skip::Malformed, 3)],
        keys: 6,
        first: "2019-02-25T16:19:48.143Z",
        last: "2019-02-25T16:20:14.317Z",
    },
];

/// What no format covers, and why.
const NOT_COVERED: &[(&str, &str)] = &[
    ("access/odd/lnav_logfile_crlf.0", "a program's own log, without a key"),
    ("access/odd/lnav_logfile_invalid_tz.0", "a program's own log, without a key"),
    ("access/odd/lnav_logfile_invalid_utf8.0", "a program's own log, over several lines"),
    ("access/odd/lnav_logfile_syslog_with_access_log.0", "syslog of other programs than sshd"),
    ("access/odd/lnav_logfile_syslog_with_mixed_times.0", "syslog of other programs than sshd"),
    ("access/odd/lnav_logfile_tai64n.0", "a mail server's own log, in times of its own"),
    ("access/odd/lnav_logfile_with_zones.0", "syslog of other programs than sshd"),
];

#[test]
fn odd_files_of_other_projects_are_read_as_a_careful_reader_reads_them() {
    for File { path, how, events, skipped, keys, first, last } in FILES {
        let Some(file) = data(path) else { continue };
        let options = match how {
            Told(_) => Options::default(),
            By(pattern) => Options { pattern: Some(pattern.parse().unwrap()), ..Options::default() },
            Timed(pattern, time) => Options {
                pattern: Some(pattern.parse().unwrap()),
                time_format: Some((*time).into()),
                ..Options::default()
            },
        };
        let text = std::fs::read(file).unwrap();
        let (read, tally) = read(&text, &options).unwrap_or_else(|error| panic!("{path}: {error}"));
        if let Told(format) = how {
            let named = Options { format: Some(*format), ..Options::default() };
            let again = crate::common::read(&text, &named).unwrap();
            assert_eq!(again.0, read, "{path} is told to be another format than {format}");
        }
        let distinct: std::collections::BTreeSet<_> = read.iter().map(|event| &event.key).collect();
        let shown = |at: Option<Timestamp>| at.map(|at| format_time(at, 0)).unwrap_or_default();
        let found = (tally.events, &tally.skipped, distinct.len(), shown(tally.first), shown(tally.last));
        let skipped: BTreeMap<Skip, u64> = skipped.iter().copied().collect();
        assert_eq!(found, (*events, &skipped, *keys, (*first).into(), (*last).into()), "{path}");
    }
}

#[test]
fn every_odd_file_is_in_the_table_or_listed() {
    let mut known: Vec<&str> = FILES.iter().map(|file| file.path).collect();
    known.extend(NOT_COVERED.iter().map(|(path, _)| *path));
    known.sort_unstable();
    let mut all = Vec::new();
    for folder in ["access/odd", "json"] {
        let Some(path) = data(folder) else { return };
        let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
        all.extend(names.map(|name| format!("{folder}/{}", name.to_str().unwrap())));
    }
    all.sort_unstable();
    assert_eq!(known, all);
}
