//! Nothing panics on lines that are damaged at random, every line is accounted for, and a file of them is put in order.

use crate::common::read;
use floodmark_log::{Format, Options};

/// As many lines are damaged in each format.
const LINES: usize = 2_000;

/// A reproducible stream of random numbers: SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        const TELLING: &[u8] = b" \"[]\\,;\t:/+-.@=\r\n0129aZ\0\x1b\x7f\xff\xef\xbb\xbf\xc3\xa9";
        if self.bits().is_multiple_of(4) { self.bits() as u8 } else { TELLING[self.below(TELLING.len())] }
    }

    /// Does one to four things to a line.
    pub(crate) fn damage(&mut self, line: &[u8]) -> Vec<u8> {
        let mut line = line.to_vec();
        for _ in 0..=self.below(4) {
            let place = self.below(line.len());
            match self.below(6) {
                0 => line.truncate(place),
                1 => drop(line.drain(..place)),
                2 => line.insert(place, self.byte()),
                3 if !line.is_empty() => line[place] = self.byte(),
                4 => line.extend_from_within(place..),
                _ => {
                    let end = (place + self.below(8)).min(line.len());
                    line.drain(place..end);
                }
            }
        }
        line
    }
}

const REQUEST: &str = "[17/May/2015:10:05:03 +0000] \"GET /a?b=c HTTP/1.1\" 200 12";

/// Whole lines of a format, and the line that goes before them.
fn whole(format: Format) -> (&'static str, Vec<String>) {
    let quoted = "\"https://example.com/\" \"agent (\\\"x\\\")\"";
    let clients = ["192.0.2.1", "2001:db8::1", "[::ffff:192.0.2.1]", "host.example.com"];
    let lines = |make: &dyn Fn(&str) -> String| clients.iter().map(|client| make(client)).collect();
    match format {
        Format::Common | Format::Pattern => ("", lines(&|client| format!("{client} - ann {REQUEST}"))),
        Format::Combined => ("", lines(&|client| format!("\"{client} - - {REQUEST} {quoted}\""))),
        Format::Vhost => ("", lines(&|client| format!("example.com:80 {client} - - {REQUEST} {quoted}"))),
        Format::Json => (
            "{}",
            lines(&|client| {
                format!(
                    "{{\"ts\":1431857103.25,\"remote_addr\":\"{client}\",\"request\":\"GET /a?b HTTP/1.1\",\"user\":\"ann\",\
                     \"n\":[1,{{\"x\":\"caf\\u00e9 \\\"q\\\"\"}}],\"status\":200}}"
                )
            }),
        ),
        Format::Sshd => (
            "Dec 10 06:55:45 host sshd[1]: Server listening on 0.0.0.0 port 22.",
            lines(&|client| {
                format!(
                    "Dec 10 06:55:46 host sshd[1]: Failed password for invalid user a from {client} port 38926 ssh2"
                )
            }),
        ),
        Format::Monitor => (
            "OK",
            lines(&|client| {
                format!(
                    "1339518090.420270 [0 {client}:6379] \"MSET\" \"{client}\" \"v\" \"k\\\"\\x00\" \"] \\\"\""
                )
            }),
        ),
        Format::Csv => ("time,client,n", lines(&|client| format!("2015-05-17T10:05:03.25Z,\"{client}\",3"))),
        Format::Tsv => ("time\tclient\tn", lines(&|client| format!("1431857103\t{client}\t3"))),
        _ => ("5 a", lines(&|client| format!("1431857103.5 {client} 3"))),
    }
}

/// What to say to have lines read in a format.
fn asked(format: Format) -> Options {
    let pattern = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent"#;
    let pattern = (format == Format::Pattern).then(|| pattern.parse().unwrap());
    Options { format: Some(format), pattern, ..Options::default() }
}

fn damaged(format: Format, seed: u64) -> Vec<u8> {
    let (head, lines) = whole(format);
    let mut random = Random(seed);
    let mut bytes = [head.as_bytes(), b"\n"].concat();
    for _ in 0..LINES {
        let line = &lines[random.below(lines.len())];
        bytes.extend(random.damage(line.as_bytes()));
        bytes.push(b'\n');
    }
    bytes
}

/// Reads bytes in a format, or in the one that they are told to be.
fn check(bytes: &[u8], options: &Options) -> u64 {
    // An error is an answer too: it must only not panic, and what is read must add up.
    let Ok((events, tally)) = read(bytes, options) else { return 0 };
    assert_eq!(tally.lines, tally.matched + tally.skipped.values().sum::<u64>(), "{options:?}");
    assert_eq!(
        (tally.events, tally.units),
        (events.len() as u64, events.iter().fold(0, |n, e| e.n.saturating_add(n)))
    );
    assert!(tally.damaged <= tally.matched && tally.matched <= tally.events);
    // The empty key is a key like others, to Redis.
    let may_be_empty = matches!(options.format, None | Some(Format::Monitor));
    assert!(may_be_empty || events.iter().all(|event| !event.key.is_empty()), "{options:?}");
    assert!(events.is_sorted_by_key(|event| event.at), "{options:?}");
    assert_eq!(tally.lines, bytes.split_inclusive(|&b| b == b'\n').count() as u64);
    tally.events
}

#[test]
fn damaged_lines_of_every_format_are_read_or_skipped_and_add_up() {
    for (seed, format) in Format::ALL.into_iter().enumerate() {
        let bytes = damaged(format, seed as u64);
        let keys: &[&str] = match format {
            Format::Csv | Format::Tsv => &["client", "time", "n"],
            Format::Keys => &["key"],
            Format::Monitor => &["key", "command", "db", "client", "ip"],
            Format::Sshd => &["ip", "user", "outcome", "host", "program", "port"],
            Format::Vhost => &["ip", "path", "user", "status", "host"],
            _ => &["ip", "path", "user", "status"],
        };
        for key in keys {
            let weight = matches!(format, Format::Csv | Format::Tsv).then(|| "n".into());
            let options = Options { key: Some((*key).into()), weight, ..asked(format) };
            let events = check(&bytes, &options);
            assert!(*key == "user" || events > 100, "{format}: only {events} of {LINES} are events by {key}");
        }
    }
}

#[test]
fn lines_of_one_format_are_no_danger_to_another() {
    for (seed, written) in Format::ALL.into_iter().enumerate() {
        let bytes = damaged(written, 100 + seed as u64);
        check(&bytes, &Options::default());
        for format in Format::ALL {
            check(&bytes, &asked(format));
            let (time, key) = (Some("time".into()), Some("client".into()));
            check(&bytes, &Options { time, key, ..asked(format) });
        }
    }
}

#[test]
fn random_bytes_are_no_danger() {
    for seed in 0..40 {
        let mut random = Random(1_000 + seed);
        let bytes: Vec<u8> =
            (0..4_000).map(|_| if seed % 2 == 0 { random.bits() as u8 } else { random.byte() }).collect();
        check(&bytes, &Options::default());
        for format in Format::ALL {
            check(&bytes, &asked(format));
        }
    }
}

/// A line may be cut anywhere, also inside its time or by a byte order mark.
#[test]
fn every_beginning_of_a_line_is_read_or_skipped() {
    for format in Format::ALL {
        let (head, lines) = whole(format);
        for line in &lines {
            let cuts = (0..=line.len()).map(|end| &line.as_bytes()[..end]);
            let bytes = [head.as_bytes()].into_iter().chain(cuts).collect::<Vec<_>>().join(&b'\n');
            let marked = [b"\xef\xbb\xbf", bytes.as_slice()].concat();
            let options = asked(format);
            let events = check(&bytes, &options);
            assert_eq!(check(&marked, &options), events, "{format}");
            assert!(events > 0, "{format}");
        }
    }
}
