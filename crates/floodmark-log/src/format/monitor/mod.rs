//! What Redis prints to those who MONITOR it.
//!
//! ```text
//! 1339518090.420270 [0 127.0.0.1:60866] "set" "x" "6"
//! 1339518090.420270 [0 unix:/path with spaces] ...    [0 [::1]:43346] ...    [0 lua] ...    (db 0) ...
//! ```
//! What people get wrong: an argument may hold `"] "`, an address blanks and brackets, so the address ends at the
//! first `] "` and the arguments are read quote by quote. Which arguments are keys is for the command to say.

mod commands;
mod secrets;

use super::{Field, Found, Lines, Place};
use crate::address;
use crate::event::Skip;
use crate::options::Options;
use crate::time::Stamp;
use commands::Keys;
use floodmark::Timestamp;
use memchr::{memchr, memchr2};
pub(crate) use secrets::redacted;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    /// What scripts call counts too.
    lua: bool,
    /// The key was asked for: a command is as many events as it names keys.
    by_key: bool,
    db: Range<usize>,
    client: Range<usize>,
    command: Argument,
    arguments: Vec<Argument>,
    /// The keys' places among the arguments, and which of them is the event's.
    keys: Vec<usize>,
    key: usize,
    scratch: Vec<u8>,
}

/// What stands between two quotes.
#[derive(Clone, Debug, Default)]
struct Argument {
    place: Range<usize>,
    has_escapes: bool,
}

const FIELDS: [&str; 5] = ["key", "command", "db", "client", "ip"];

impl Monitor {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            lua: options.lua,
            by_key: false,
            db: 0..0,
            client: 0..0,
            command: Argument::default(),
            arguments: Vec::new(),
            keys: Vec::new(),
            key: 0,
            scratch: Vec::new(),
        }
    }

    /// Reads the database and the client, from after the time on; gives the place of the first quote.
    fn read_client(&mut self, line: &[u8], start: usize) -> Option<usize> {
        let text = line.get(start..)?;
        if let Some(db) = text.strip_prefix(b"(db ") {
            // The form of Redis 2.4, which does not tell the client.
            let length = memchr(b')', db)?;
            self.db = start + 4..start + 4 + length;
            self.client = 0..0;
            return text.get(4 + length..)?.starts_with(b") \"").then_some(start + 6 + length);
        }
        let inner = text.strip_prefix(b"[")?;
        let db = memchr(b' ', inner)?;
        self.db = start + 1..start + 1 + db;
        let client = self.db.end + 1;
        let rest = line.get(client..)?;
        let length = memchr::memchr_iter(b']', rest)
            .find(|end| rest.get(*end..).is_some_and(|rest| rest.starts_with(b"] \"")))?;
        self.client = client..client + length;
        Some(self.client.end + 2)
    }

    /// The keys of the command that was read; `false`: its line is cut before a key that it must have.
    fn find_keys(&mut self, line: &[u8], keys: &[Keys], rest: usize) -> bool {
        self.arguments.clear();
        self.keys.clear();
        // Nearly every command has one key, its first argument: then the others need not be looked at.
        match keys {
            [] => return true,
            [Keys::Range { first: 1, last: 1, .. }] => {
                self.arguments.extend(argument(line, rest));
                self.keys.extend(self.arguments.first().map(|_| 0));
                return !self.keys.is_empty()
                    || line.get(rest..).is_none_or(|rest| rest.trim_ascii().is_empty());
            }
            _ => {}
        }
        let mut at = rest;
        while let Some(argument) = argument(line, at) {
            at = argument.place.end + 1;
            self.arguments.push(argument);
        }
        let is_whole = line.get(at..).is_none_or(|rest| rest.trim_ascii().is_empty());
        let arguments = &self.arguments;
        let text = |place: usize| arguments.get(place).and_then(|argument| line.get(argument.place.clone()));
        commands::places(keys, arguments.len(), |place| text(place).unwrap_or_default(), &mut self.keys);
        is_whole || !self.keys.is_empty()
    }
}

impl Lines for Monitor {
    fn field(&mut self, name: &str) -> Option<Field> {
        self.by_key |= name == "key";
        FIELDS.iter().position(|known| *known == name).map(Field)
    }

    fn known(&self) -> String {
        FIELDS.join(", ")
    }

    fn usual_key(&self) -> &str {
        "key"
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &["ip", "command"]
    }

    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        let (stamp, start) = read_time(line)?;
        let quote = self.read_client(line, start).ok_or(Skip::Malformed)?;
        self.command = argument(line, quote).ok_or(Skip::Malformed)?;
        if line.get(self.client.clone()) == Some(b"lua") && !self.lua {
            return Err(Skip::Lua);
        }
        let rest = self.command.place.end + 1;
        let mut found = Found { n: 1, stamp, is_damaged: is_cut || !line.ends_with(b"\""), more: 0 };
        if self.by_key {
            let name = line.get(self.command.place.clone()).unwrap_or_default();
            let first = || argument(line, rest).and_then(|first| line.get(first.place)).unwrap_or_default();
            let keys = commands::find(name, first).ok_or(Skip::UnknownCommand)?;
            if !self.find_keys(line, keys, rest) {
                return Err(Skip::Malformed);
            }
            self.key = 0;
            found.more = self.keys.len().checked_sub(1).ok_or(Skip::Keyless)?;
        }
        Ok(found)
    }

    fn next(&mut self, _line: &[u8]) {
        self.key += 1;
    }

    fn stamp(&mut self, line: &[u8]) -> Option<Stamp> {
        read_time(line).ok().map(|(stamp, _)| stamp)
    }

    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place> {
        let place = match *FIELDS.get(field.0)? {
            "key" => {
                let argument = self.arguments.get(*self.keys.get(self.key)?)?;
                if argument.has_escapes {
                    unescape(line.get(argument.place.clone())?, &mut self.scratch);
                    return Some(Place::Scratch);
                }
                return Some(Place::Line(argument.place.clone()));
            }
            "command" => {
                self.scratch.clear();
                self.scratch.extend_from_slice(line.get(self.command.place.clone())?);
                self.scratch.make_ascii_uppercase();
                return Some(Place::Scratch);
            }
            "db" => self.db.clone(),
            "client" => self.client.clone(),
            _ => {
                let client = line.get(self.client.clone())?;
                let is_path = client.starts_with(b"unix:") || client == b"lua";
                let port = memchr::memrchr(b':', client).filter(|_| !is_path).unwrap_or(client.len());
                if address::normalize(client.get(..port)?, &mut self.scratch) {
                    return Some(Place::Scratch);
                }
                self.client.start..self.client.start + port
            }
        };
        (!place.is_empty()).then_some(Place::Line(place))
    }

    fn scratch(&self) -> &[u8] {
        &self.scratch
    }
}

/// `1339518090.420270 ` and the place after it. Redis sends each line after a `+`, and `OK` before the first.
#[inline]
fn read_time(line: &[u8]) -> Result<(Stamp, usize), Skip> {
    let start = usize::from(line.first() == Some(&b'+'));
    let text = line.get(start..).unwrap_or_default();
    // As it has been since 2001 and will be until 2286.
    if let Some(&[ref secs @ .., b'.', m5, m4, m3, m2, m1, m0, b' ']) = text.first_chunk::<18>()
        && let (Some((high, low)), Some(micros)) =
            (secs.split_last_chunk::<8>(), eight_digits([b'0', b'0', m5, m4, m3, m2, m1, m0]))
        && let (&[s1, s0], Some(low)) = (high, eight_digits(*low))
        && let Some(high) = crate::time::two(s1, s0)
    {
        let micros = (u64::from(high) * 100_000_000 + low) * 1_000_000 + micros;
        return Ok((Stamp { at: Timestamp::from_nanos(micros * 1_000), digits: 6 }, start + 18));
    }
    read_any_time(text).map(|(stamp, length)| (stamp, start + length))
}

/// The number in eight digits.
fn eight_digits(digits: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(digits);
    let values = word ^ 0x3030_3030_3030_3030;
    // A byte above 9, before or after six is added, has a bit in its upper half.
    if (values | values.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0 != 0 {
        return None;
    }
    let pairs = (values.wrapping_mul(10) + (values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff)
}

/// A time with other numbers of digits.
fn read_any_time(text: &[u8]) -> Result<(Stamp, usize), Skip> {
    if text == b"OK" {
        return Err(Skip::Header);
    }
    let end = memchr(b' ', text.get(..32).unwrap_or(text)).ok_or(Skip::Malformed)?;
    let (mut nanos, mut digits, mut has_point) = (0u64, 0u8, false);
    for byte in text.get(..end).unwrap_or_default() {
        match byte {
            b'0'..=b'9' if digits < 9 => {
                nanos = nanos.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                digits += u8::from(has_point);
            }
            b'.' if !has_point => has_point = true,
            _ => return Err(Skip::BadTime),
        }
    }
    if !has_point || end < 2 {
        return Err(Skip::BadTime);
    }
    let at = Timestamp::from_nanos(nanos.saturating_mul(10u64.pow(u32::from(9 - digits))));
    Ok((Stamp { at, digits }, end + 1))
}

/// The quoted argument at or after a blank at `start`; `None` where there is none, or its end is missing.
fn argument(line: &[u8], start: usize) -> Option<Argument> {
    let blank = usize::from(line.get(start) == Some(&b' '));
    let text = line.get(start + blank..)?.strip_prefix(b"\"")?;
    let first = start + blank + 1;
    let (mut end, mut has_escapes) = (0, false);
    loop {
        end += memchr2(b'"', b'\\', text.get(end..)?)?;
        if text.get(end) == Some(&b'"') {
            return Some(Argument { place: first..first + end, has_escapes });
        }
        has_escapes = true;
        end += 2;
    }
}

/// `\\ \" \n \r \t \a \b \xHH` to the bytes they stand for.
fn unescape(text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = text;
    while let Some(at) = memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at + 1..).unwrap_or_default();
        let hex = |b: &u8| char::from(*b).to_digit(16).map(|digit| digit as u8);
        let (byte, length) = match escape {
            [b'x', high, low, ..] if hex(high).is_some() && hex(low).is_some() => {
                (hex(high).unwrap_or(0) << 4 | hex(low).unwrap_or(0), 3)
            }
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b't', ..] => (b'\t', 1),
            [b'a', ..] => (7, 1),
            [b'b', ..] => (8, 1),
            [other, ..] => (*other, 1),
            [] => (b'\\', 0),
        };
        out.push(byte);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::parser::Parser;

    /// The keys of a line, or why it is skipped; and whether it is damaged.
    fn read(key: &str, line: &[u8]) -> Result<(Vec<String>, bool), Skip> {
        let options = Options { key: Some(key.into()), ..Options::default() };
        let mut parser = Parser::new(Format::Monitor, &[], "test", &options).unwrap();
        let mut parsed = parser.parse(line, false)?;
        let is_damaged = parsed.is_damaged;
        let mut keys = Vec::new();
        loop {
            keys.push(String::from_utf8_lossy(parser.key(&parsed.key, line)).into_owned());
            if !parsed.has_more {
                return Ok((keys, is_damaged));
            }
            parsed = parser.parse_next(line)?;
        }
    }

    fn check(line: &str, expected: Result<&[&str], Skip>) {
        let found = read("key", line.as_bytes()).map(|(keys, _)| keys);
        assert_eq!(found, expected.map(|keys| keys.iter().map(ToString::to_string).collect()), "{line}");
    }

    #[test]
    fn every_form_of_a_line_gives_its_keys() {
        for head in [
            "1339518090.420270 [0 127.0.0.1:60866]",
            "+1339518090.420270 [15 lua:1]",
            "1339518090.420270 [0 unix:/tmp/a] b/redis.sock]",
            "1339518090.420270 [0 unix:/tmp/[x/r.sock]",
            "1339518090.420270 [0 [::ffff:172.17.0.1]:43346]",
            "1337200000.123456 (db 1)",
        ] {
            check(&format!("{head} \"set\" \"x\" \"6\""), Ok(&["x"]));
            check(&format!("{head} \"MGET\" \"a\" \"b\" \"a\""), Ok(&["a", "b", "a"]));
            check(&format!("{head} \"GET\" \"a\\\"] \\\"b\""), Ok(&["a\"] \"b"]));
            check(&format!("{head} \"PING\""), Err(Skip::Keyless));
            check(&format!("{head} \"NOSUCH\" \"x\""), Err(Skip::UnknownCommand));
        }
        check("OK", Err(Skip::Header));
        check("+OK", Err(Skip::Header));
        check("1.5 [0 lua] \"GET\" \"x\"", Err(Skip::Lua));
    }

    #[test]
    fn escapes_are_the_bytes_they_stand_for() {
        check(
            "1.5 [0 h:1] \"GET\" \"\\\\x00 \\x41\\n\\r\\t\\a\\b\\\"\\\\\"",
            Ok(&["\\x00 A\n\r\t\u{7}\u{8}\"\\"]),
        );
        check("1.5 [0 h:1] \"GET\" \"\\xe9\\x94\\xae\"", Ok(&["键"]));
        check("1.5 [0 h:1] \"GET\" \"\"", Ok(&[""]));
        check("1.5 [0 h:1] \"GET\" \"\\xzz\"", Ok(&["xzz"]));
    }

    #[test]
    fn other_fields_are_one_event_per_command() {
        let line = b"1.5 [3 [::ffff:172.17.0.1]:43346] \"mGet\" \"a\" \"b\"";
        for (key, expected) in
            [("command", "MGET"), ("db", "3"), ("client", "[::ffff:172.17.0.1]:43346"), ("ip", "172.17.0.1")]
        {
            assert_eq!(read(key, line), Ok((vec![expected.to_string()], false)), "{key}");
        }
        let both = vec!["3:a".to_string(), "3:b".to_string()];
        assert_eq!(read("{db}:{key}", line), Ok((both, false)));
        assert_eq!(read("client", b"1.5 [0 h:1] \"PING\"").unwrap().0, ["h:1"]);
        assert_eq!(read("ip", b"1.5 [0 unix:/a b:c] \"PING\"").unwrap().0, ["unix:/a b:c"]);
        assert_eq!(read("ip", b"1.5 (db 0) \"PING\""), Err(Skip::NoKey));
    }

    #[test]
    fn each_key_of_a_command_is_chosen_by_itself() {
        let line = b"1.5 [0 h:1] \"MGET\" \"a:1\" \"b:1\" \"a:2\" \"c:1\"";
        for (condition, expected) in [
            ("key=a:*", &["a:1", "a:2"][..]),
            ("key=b:*", &["b:1"]),
            ("key!=a:*", &["b:1", "c:1"]),
            ("key=c:1", &["c:1"]),
        ] {
            let conditions = vec![condition.parse().unwrap()];
            let mut keys = Vec::new();
            let options = Options { conditions, ..Options::default() };
            let tally =
                crate::read_text(line, "test", &options, |event| keys.push(event.key.to_vec())).unwrap();
            let keys: Vec<_> = keys.iter().map(|key| String::from_utf8_lossy(key)).collect();
            assert_eq!(keys, expected, "{condition}");
            assert_eq!((tally.matched, tally.events), (1, expected.len() as u64));
        }
        assert_eq!(read("key", b"1.5 [0 h:1] \"MGET\""), Err(Skip::Keyless));
    }

    #[test]
    fn a_cut_line_is_an_event_if_its_keys_are_whole() {
        let whole = "1339518090.420270 [0 127.0.0.1:60866] \"set\" \"key\" \"a \\\"value\\\"\"";
        let key_ends = whole.find("key\"").unwrap() + 4;
        for cut in 1..whole.len() {
            let found = read("key", &whole.as_bytes()[..cut]);
            match found {
                Ok((keys, is_damaged)) => {
                    assert!(cut >= key_ends && keys == ["key"]);
                    // Cut between two arguments, or at a quote of the value, it looks like a whole one.
                    assert_eq!(is_damaged, !whole[..cut].ends_with('"'), "{}", &whole[..cut]);
                }
                Err(_) => assert!(cut < key_ends, "{}", &whole[..cut]),
            }
        }
    }

    #[test]
    fn times_have_as_many_digits_as_they_are_written_with() {
        let mut monitor = Monitor::new(&Options::default());
        let stamp = monitor.stamp(b"1339518090.420270 [0 h:1] \"PING\"").unwrap();
        assert_eq!((stamp.at, stamp.digits), (Timestamp::from_nanos(1_339_518_090_420_270_000), 6));
        for text in ["00000000", "12345678", "99999999", "00000009"] {
            assert_eq!(eight_digits(*text.as_bytes().first_chunk().unwrap()), text.parse().ok(), "{text}");
            for place in 0..8 {
                for byte in (0..=255).filter(|byte: &u8| !byte.is_ascii_digit()) {
                    let mut wrong = *text.as_bytes().first_chunk().unwrap();
                    wrong[place] = byte;
                    assert_eq!(eight_digits(wrong), None, "{byte} at {place}");
                }
            }
        }
        for line in ["1339518090 [0 h:1] \"PING\"", "x.5 [", "1.2.3 [", ". [", "1.0000000001 ["] {
            assert_eq!(monitor.stamp(line.as_bytes()), None, "{line}");
        }
    }
}
