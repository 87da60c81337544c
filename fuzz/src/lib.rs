//! What must hold for any bytes, one function for each family of formats.
//!
//! The fuzzer calls these (`./fuzz/run`), and so does a test of `floodmark-log`, on the corpus and on damaged copies of
//! it: that one needs no nightly.

use floodmark_log::{Error, Format, Options, Tally, read_text, unpacked};
use std::io::Read;

/// An event that outlives its line.
type Kept = (Vec<u8>, u64, u64, Vec<u8>);

/// Access logs, by every field.
pub fn access(bytes: &[u8]) {
    for (format, host) in [(Format::Common, ""), (Format::Combined, ""), (Format::Vhost, "example.com:80 ")] {
        let line = "192.0.2.1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 12 \"-\" \"x\"\n";
        let bytes = &behind(&[host, line].concat(), bytes);
        let keys =
            ["ip", "{ip} {path}", "forwarded", "{user}{{{agent}", "ip/24,64", "{method} {url} {referer}"];
        keys.iter().for_each(|key| check(bytes, &of(format, key)));
    }
}

/// CSV and TSV, whose first line names their columns.
pub fn table(bytes: &[u8]) {
    for format in [Format::Csv, Format::Tsv] {
        let head = if format == Format::Csv { "time,client,n\n" } else { "time\tclient\tn\n" };
        check(&behind(head, bytes), &Options { weight: Some("n".into()), ..of(format, "client") });
    }
}

/// Streams of keys, with times and without.
pub fn keys(bytes: &[u8]) {
    check(&behind("5 a\n", bytes), &of(Format::Keys, "key"));
}

/// Redis MONITOR: its keys, and one event per command.
pub fn monitor(bytes: &[u8]) {
    let bytes = &behind("OK\n", bytes);
    for key in ["key", "{db}:{key}", "command", "client", "ip"] {
        check(bytes, &Options { lua: key == "key", ..of(Format::Monitor, key) });
    }
}

/// sshd in syslog, in zones where clocks are set back.
pub fn sshd(bytes: &[u8]) {
    let bytes = &behind("Dec  9 06:55:46 host sshd[1]: Invalid user a from 192.0.2.1\n", bytes);
    for zone in ["UTC", "America/New_York", "host=Europe/Berlin"] {
        let zones = zone.parse().into_iter().collect();
        let conditions = "outcome=*".parse().into_iter().collect();
        let year = Some(2023).filter(|_| zone == "UTC");
        check(bytes, &Options { zones, conditions, year, ..of(Format::Sshd, "{ip} {user}") });
    }
}

/// JSON lines, and what container runtimes put around lines.
pub fn json(bytes: &[u8]) {
    let bytes = &behind("{\"ts\":1,\"at\":1,\"ip\":\"a\",\"k\":\"a\",\"n\":1}\n", bytes);
    for key in ["ip", "path", "/a/0/b", "k", "{ip} {agent}", "forwarded"] {
        check(bytes, &Options { weight: Some("/n".into()).filter(|_| key == "k"), ..of(Format::Json, key) });
    }
    check(bytes, &Options { time: Some("/at".into()), ..of(Format::Json, "/k") });
}

/// Patterns of the user's: a fixed few on any lines, and any pattern on its own text.
pub fn pattern(bytes: &[u8]) {
    let patterns = [
        r"(?<ip>\S+) .*?\[(?<time>[^\]]+)\] (?<rest>.*)",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer""#,
        r#"%v %h %l %u %t \"%r\" %>s %b \"%{User-agent}i\""#,
    ];
    let mut patterns: Vec<String> = patterns.map(String::from).to_vec();
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    patterns.push(String::from_utf8_lossy(first.get(..200).unwrap_or(first)).into_owned());
    for pattern in patterns.iter().filter_map(|pattern| pattern.parse().ok()) {
        check(bytes, &Options { pattern: Some(pattern), ..Options::default() });
    }
}

/// Compressed bytes, to lines of whatever format.
pub fn packed(bytes: &[u8]) {
    // A few bytes may unpack to very many: so much of them is enough.
    let unpack = |bytes: &[u8]| {
        let mut plain = Vec::new();
        let unpacked = unpacked(bytes).map(|reader| reader.take(1 << 20).read_to_end(&mut plain));
        (plain, unpacked.is_ok_and(|read| read.is_ok()))
    };
    let (plain, is_whole) = unpack(bytes);
    assert_eq!(unpack(bytes), (plain.clone(), is_whole), "the same bytes are unpacked the same");
    // What is cut gives a beginning of what the whole gives; where that is broken, it may be the other way round.
    let (beginning, _) = unpack(&bytes[..bytes.len() / 2]);
    let is_beginning = plain.starts_with(&beginning) || (!is_whole && beginning.starts_with(&plain));
    assert!(is_beginning || !is_packed(bytes), "a cut file gives other bytes");
    told(plain.get(..4096).unwrap_or(&plain));
}

fn is_packed(bytes: &[u8]) -> bool {
    let magics: [&[u8]; 5] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\0", b"\x50\x2a\x4d\x18"];
    magics.iter().any(|magic| bytes.starts_with(magic))
}

/// Lines whose format is told from themselves, with all that can be asked of them.
pub fn told(bytes: &[u8]) {
    check(bytes, &Options::default());
    let since = floodmark_log::read_moment("2015-05-17", Default::default()).ok();
    check(bytes, &Options { since, details: Some(Vec::new()), ..Options::default() });
    // Any text as a key, a condition, a moment.
    let text = String::from_utf8_lossy(bytes.get(..100).unwrap_or(bytes)).into_owned();
    let conditions = text.parse().into_iter().collect();
    let _ = floodmark_log::read_moment(&text, Default::default());
    let _ = text.parse::<floodmark_log::Zone>();
    let line = b"192.0.2.1 - ann [17/May/2015:10:05:03 +0000] \"GET /a?b HTTP/1.1\" 200 12 \"-\" \"x\"\n";
    check(line, &Options { conditions, key: Some(text), ..Options::default() });
}

/// Key templates, conditions and moments, each from its own line, and the lines that they are asked of.
pub fn template(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |b| *b == b'\n');
    let mut part = || parts.next().unwrap_or_default();
    let [key, condition, moment] =
        [part(), part(), part()].map(|text| String::from_utf8_lossy(text).into_owned());
    let lines = behind("time\tx\ty\n5\ta\tb\n", part());
    moments(&moment);
    // Events of the same key have the same fields.
    let all = Options { key: Some(key), details: Some(vec!["x".into(), "y".into()]), ..of(Format::Tsv, "") };
    check(&lines, &all);
    let has =
        |name: &str| all.key.as_ref().is_some_and(|key| key == name || key.contains(&format!("{{{name}}}")));
    if let Ok((events, _)) = read(&lines, &all)
        && has("x")
        && has("y")
    {
        let mut fields = std::collections::HashMap::new();
        for (key, _, _, details) in &events {
            assert_eq!(fields.entry(key).or_insert(details), &details, "two clients share a key");
        }
    }
    // A condition and its opposite take every event once.
    let all = Options { key: Some("x".into()), ..all };
    let opposite = condition.split_once('=').map(|(name, value)| match name.strip_suffix('!') {
        Some(name) => format!("{name}={value}"),
        None => format!("{name}!={value}"),
    });
    let count = |text: &str| {
        let options = Options { conditions: vec![text.parse().ok()?], ..all.clone() };
        read(&lines, &options).ok().map(|(events, _)| events.len())
    };
    if let (Some(these), Some(others)) = (count(&condition), opposite.and_then(|text| count(&text))) {
        let events = read(&lines, &all).map_or(0, |(events, _)| events.len());
        assert_eq!(these + others, events, "an event is neither here nor there");
    }
}

/// A moment is read back as it is written, and more time ago is not later.
fn moments(text: &str) {
    let now = floodmark_log::read_moment("2026-01-05", Default::default()).unwrap_or_default();
    let Ok(at) = floodmark_log::read_moment(text, now) else { return };
    let written = floodmark_log::format_time(at, 9);
    let again = floodmark_log::read_moment(&written, now).map(|at| at.as_nanos());
    // Numbers reach further than dates do.
    let is_date = written.get(..4).is_some_and(|year| year < "2262");
    assert!(!is_date || again == Ok(at.as_nanos()), "{text:?} is written as {written}");
    let is_ago = floodmark_log::read_moment(text, Default::default()).is_ok_and(|other| other != at);
    if is_ago {
        assert!(at <= now, "{text:?} ago is later than now");
    }
}

/// A first line of the format, so that no other is thought of, and then the bytes.
fn behind(line: &str, bytes: &[u8]) -> Vec<u8> {
    [line.as_bytes(), bytes].concat()
}

fn of(format: Format, key: &str) -> Options {
    Options { format: Some(format), key: Some(key.into()), ..Options::default() }
}

fn read(bytes: &[u8], options: &Options) -> Result<(Vec<Kept>, Tally), Error> {
    let mut kept = Vec::new();
    let tally = read_text(bytes, "fuzz", options, |event| {
        let details = event.details.text().to_vec();
        // Details can be taken apart again.
        event.details.for_each(|(name, _)| assert!(std::str::from_utf8(name).is_ok()));
        kept.push((event.key.to_vec(), event.n, event.at.as_nanos(), details));
    })?;
    Ok((kept, tally))
}

/// Reads bytes, and what they tell must add up.
fn check(bytes: &[u8], options: &Options) {
    // Each line may be as many events as it says it was repeated.
    let bytes = bytes.get(..64 << 10).unwrap_or(bytes);
    let options = &Options {
        examples: 2,
        newest: Some(floodmark_log::read_moment("2026-01-05", Default::default()).unwrap_or_default()),
        ..options.clone()
    };
    let Ok((events, tally)) = read(bytes, options) else { return };
    assert_eq!(
        tally.lines,
        tally.matched + tally.skipped.values().sum::<u64>(),
        "all lines are accounted for"
    );
    assert_eq!(tally.events, events.len() as u64);
    assert!(tally.matched <= tally.events && tally.damaged <= tally.matched);
    assert_eq!(tally.units, events.iter().fold(0, |sum: u64, event| sum.saturating_add(event.1)));
    assert_eq!(tally.lines, bytes.split_inclusive(|b| *b == b'\n').count() as u64);
    assert_eq!(tally.first.map(|at| at.as_nanos()), events.iter().map(|event| event.2).min());
    assert_eq!(tally.last.map(|at| at.as_nanos()), events.iter().map(|event| event.2).max());
    if options.format.is_some_and(|format| format != Format::Monitor) {
        assert!(events.iter().all(|event| !event.0.is_empty()), "an empty key");
    }
    // Reading it again gives the same, and so do its lines up to any of them.
    let again = read(bytes, options).map(|(events, _)| events);
    // Keys alone are stamped as they come.
    let same = |a: &Kept, b: &Kept| {
        (&a.0, a.1, &a.3) == (&b.0, b.1, &b.3) && (a.2 == b.2 || options.format.is_none())
    };
    let again = again.expect("the same bytes are read again");
    assert!(
        again.len() == events.len() && again.iter().zip(&events).all(|(a, b)| same(a, b)),
        "they are read the same"
    );
    if let Some(format) = options.format
        && format != Format::Json
    {
        // A place that the bytes themselves choose, so that the fuzzer can move it.
        let cut =
            bytes.len() / 2 + usize::from(bytes.last().copied().unwrap_or_default()) % (bytes.len() / 2 + 1);
        let line = bytes.iter().take(cut).rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        let whole = read(&bytes[..line], options);
        if let Ok((beginning, told)) = &whole {
            assert!(events.starts_with(beginning), "what follows a line changes it");
            // The line that is cut is at most one line, and none before it changes.
            if let Ok((damaged, tally)) = read(&bytes[..cut], options) {
                assert!(damaged.starts_with(beginning), "a cut line changes those before it");
                assert!(tally.lines - told.lines <= 1 && tally.matched - told.matched <= 1);
            }
        }
    }
}
