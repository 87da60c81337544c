//! The access logs of Apache, nginx and their kin.
//!
//! ```text
//! [vhost ]client ident user [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 203023[ "referer" "agent" ...]
//! ```
//! Client, ident, user and a readable time make an event. The rest is looked at only to tell a whole line from a
//! damaged one, and for the key where the key is the path or the status.

use super::{Field, Format, Found, Lines, Place};
use crate::address;
use crate::event::Skip;
use crate::options::Options;
use crate::time::{AccessTime, Stamp};
use memchr::{memchr, memchr2, memchr3};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Access {
    format: Format,
    /// The client may be a list of addresses that was forwarded.
    has_list: bool,
    time: AccessTime,
    /// Of the line that was read last.
    head: Head,
    tail: Tail,
    scratch: Vec<u8>,
}

/// The fields, in the order in which they are told to people; the last are those that not every line has.
const FIELDS: [(&str, Name); 10] = [
    ("ip", Name::Ip),
    ("path", Name::Path),
    ("user", Name::User),
    ("status", Name::Status),
    ("method", Name::Method),
    ("url", Name::Url),
    ("referer", Name::Referer),
    ("agent", Name::Agent),
    ("forwarded", Name::Forwarded),
    ("host", Name::Host),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Ip,
    Path,
    User,
    Status,
    Method,
    Url,
    Referer,
    Agent,
    Forwarded,
    Host,
}

/// A place in a line, which has at most 2^20 bytes; an empty one is none.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

impl Span {
    fn range(self) -> Option<Range<usize>> {
        (self.start < self.end).then_some(self.start as usize..self.end as usize)
    }
}

/// The fields before the time.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    host: Span,
    client: Span,
    user: Span,
    /// A list of addresses stands before the client, or in its place.
    list: Span,
    /// The client may be an IPv6 address.
    has_colon: bool,
}

/// The fields after the time, as far as they are there.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    request: Span,
    status: Span,
    /// What follows the status.
    rest: Span,
    is_whole: bool,
}

impl Access {
    pub(crate) fn new(format: Format, options: &Options) -> Self {
        let has_list = options.key.as_ref().is_some_and(|key| key.contains("forwarded"));
        let (time, head, tail, scratch) = Default::default();
        Self { format, has_list, time, head, tail, scratch }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    fn fields(&self) -> &'static [(&'static str, Name)] {
        let (all, but_host) = (&FIELDS, FIELDS.len() - 1);
        if self.format == Format::Vhost { all } else { all.get(..but_host).unwrap_or(all) }
    }

    /// Nearly every line begins with a client, `-` for ident and a user of one word: that is read without looking
    /// around.
    #[inline(always)]
    fn usual_head(&mut self, line: &[u8], start: usize) -> Option<(Head, usize, Stamp)> {
        if self.format == Format::Vhost {
            return None;
        }
        let text = line.get(start..)?;
        let length = memchr(b' ', text)?;
        let client = start..start + length;
        let after_ident = line.get(client.end..)?.strip_prefix(b" - ")?;
        let user_length = if after_ident.starts_with(b"- [") { 1 } else { memchr(b' ', after_ident)? };
        let user = client.end + 3..client.end + 3 + user_length;
        let open = user.end + 1;
        if length == 0 || user_length == 0 || line.get(open) != Some(&b'[') {
            return None;
        }
        // Digits and dots alone are a client that needs no second look.
        let has_colon = !is_digits_and_dots(text, length);
        if has_colon && memchr3(b',', b'"', b'[', text.get(..length)?).is_some() {
            return None;
        }
        let (after, stamp) = self.time.read_at(line, open)?;
        let (host, list) = Default::default();
        Some((Head { host, client: client.into(), user: user.into(), list, has_colon }, after, stamp))
    }

    fn head(&self, line: &[u8], range: Range<usize>) -> Option<Head> {
        let mut rest = range.clone();
        let host = if self.format == Format::Vhost { word(line, &mut rest)? } else { 0..0 };
        let list = if self.has_list { list(line, &mut rest) } else { None };
        let mut word = || word(line, &mut rest);
        let client = match &list {
            // The list stands in the place of the client, which is not told.
            Some(List { stands_alone: true, .. }) => 0..0,
            _ => word()?,
        };
        let ident = word()?;
        // The user may hold blanks, unless it then looks like fields that this format does not have.
        let user = rest.start..range.end.checked_sub(1)?;
        let text = line.get(user.clone()).filter(|text| !text.is_empty())?;
        if line.get(user.end) != Some(&b' ') {
            return None;
        }
        if text.contains(&b' ')
            && (text.starts_with(b"- ") || text.contains(&b'"') || line.get(ident) != Some(b"-"))
        {
            return None;
        }
        let name = line.get(client.clone())?;
        let has_colon = memchr(b':', name).is_some();
        let list = list.map_or(0..0, |list| list.place);
        let (host, client, user, list) = (host.into(), client.into(), user.into(), list.into());
        memchr2(b',', b'"', name).is_none().then_some(Head { host, client, user, list, has_colon })
    }

    /// ` "request" status bytes`, and for combined ` "referer" "agent"`, and whatever else is configured.
    #[inline(always)]
    fn tail(&self, line: &[u8], range: Range<usize>) -> Tail {
        let text = line.get(range.clone()).unwrap_or_default();
        if !text.starts_with(b" \"") {
            return Tail::default();
        }
        // A request may hold quotes of its own: its end is the one with a status behind it.
        let mut from = 2;
        let mut first_close = None;
        while let Some(length) = memchr(b'"', text.get(from..).unwrap_or_default()) {
            let close = from + length;
            first_close = first_close.or(Some(close));
            from = close + 1;
            let rest = text.get(from..).unwrap_or_default();
            let Some(status) = status_length(rest) else { continue };
            let after = rest.get(1 + status..).unwrap_or_default();
            let status = range.start + from + 1..range.start + from + 1 + status;
            return Tail {
                request: (range.start + 2..range.start + close).into(),
                status: status.into(),
                rest: (range.end - after.len()..range.end).into(),
                is_whole: is_whole_after_status(after, self.format == Format::Combined),
            };
        }
        let request = first_close.map_or(0..0, |close| range.start + 2..range.start + close);
        Tail { request: request.into(), ..Tail::default() }
    }
}

impl Lines for Access {
    fn field(&mut self, name: &str) -> Option<Field> {
        self.fields().iter().position(|(known, _)| *known == name).map(Field)
    }

    fn known(&self) -> String {
        self.fields().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    fn usual_key(&self) -> &str {
        "ip"
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &["ip", "path", "agent"]
    }

    #[inline]
    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        // A line may be wrapped in quotes as a whole.
        let is_list = self.has_list && line.first() == Some(&b'"');
        let start = usize::from(line.first() == Some(&b'"') && !is_list);
        let end =
            if start == 1 && line.len() > 1 && line.ends_with(b"\"") { line.len() - 1 } else { line.len() };
        let (head, after, stamp) = match self.usual_head(line, start) {
            Some(usual) => usual,
            None => {
                let Some((open, after, stamp)) = self.time.find(line) else {
                    let has_brackets = memchr(b'[', line).is_some();
                    return Err(if has_brackets { Skip::BadTime } else { Skip::Malformed });
                };
                (self.head(line, start..open).ok_or(Skip::Malformed)?, after, stamp)
            }
        };
        self.head = head;
        self.tail = self.tail(line, after..end);
        Ok(Found { n: 1, stamp, is_damaged: is_cut || !self.tail.is_whole, more: 0 })
    }

    fn stamp(&mut self, line: &[u8]) -> Option<Stamp> {
        let start = usize::from(line.first() == Some(&b'"'));
        let usual = self.usual_head(line, start).map(|(_, _, stamp)| stamp);
        usual.or_else(|| self.time.find(line).map(|(_, _, stamp)| stamp))
    }

    #[inline]
    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place> {
        let &(_, name) = FIELDS.get(field.0)?;
        let Self { head, tail, .. } = self;
        let place = match name {
            Name::Ip => head.client.range()?,
            Name::User => head.user.range()?,
            Name::Host => head.host.range()?,
            Name::Status => tail.status.range()?,
            Name::Path => path(line, tail.request.range()?)?,
            Name::Url => url(line, tail.request.range()?)?,
            Name::Method => method(line, tail.request.range()?)?,
            Name::Referer => quoted(line, tail.rest.range()?, 0)?,
            Name::Agent => quoted(line, tail.rest.range()?, 1)?,
            Name::Forwarded => head.list.range().or_else(|| quoted(line, tail.rest.range()?, 2))?,
        };
        let text = line.get(place.clone())?;
        if matches!(text, b"" | b"-") {
            return None;
        }
        let is_rewritten =
            name == Name::Ip && self.head.has_colon && address::normalize(text, &mut self.scratch);
        Some(if is_rewritten { Place::Scratch } else { Place::Line(place) })
    }

    fn scratch(&self) -> &[u8] {
        &self.scratch
    }
}

/// Whether the first `length` bytes, at most 16, are digits, dots or slashes: all bytes are looked at at once.
fn is_digits_and_dots(text: &[u8], length: usize) -> bool {
    const fn repeat(byte: u8) -> u128 {
        u128::from_ne_bytes([byte; 16])
    }
    let (Some(bytes), 1..=16) = (text.first_chunk::<16>(), length) else { return false };
    let bytes = u128::from_le_bytes(*bytes);
    let low = bytes & repeat(0x7f);
    // A byte's high bit: it is above `9`; it is at least `.`.
    let (above, at_least) = (low + repeat(0x7f - b'9'), low + repeat(0x80 - b'.'));
    let others = (above | !at_least | bytes) & repeat(0x80);
    others << (8 * (16 - length)) == 0
}

/// The length of a status behind a blank: three digits or `-`, then a blank or the end.
fn status_length(text: &[u8]) -> Option<usize> {
    let is_end = |b: Option<&u8>| b.is_none_or(|&b| b == b' ');
    match text {
        [b' ', a, b, c, ..] if [a, b, c].iter().all(|b| b.is_ascii_digit()) => {
            is_end(text.get(4)).then_some(3)
        }
        [b' ', b'-', ..] => is_end(text.get(2)).then_some(1),
        _ => None,
    }
}

/// ` bytes`, then quoted fields that are all closed; at least one of those where `needs_quoted`.
#[inline(always)]
fn is_whole_after_status(text: &[u8], needs_quoted: bool) -> bool {
    let Some(text) = text.strip_prefix(b" ") else { return false };
    let bytes = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let bytes = if text.first() == Some(&b'-') { 1 } else { bytes };
    let rest = text.get(bytes..).unwrap_or_default();
    let starts_well = bytes > 0 && if needs_quoted { rest.starts_with(b" \"") } else { is_end(rest) };
    starts_well && quotes_are_closed(rest)
}

fn is_end(rest: &[u8]) -> bool {
    rest.first().is_none_or(|&b| b == b' ')
}

/// Quotes inside a field are escaped, so one that follows neither a blank nor a backslash ends the last field, and
/// all before it are whole. That settles nearly every line by its last two bytes.
fn quotes_are_closed(text: &[u8]) -> bool {
    match text {
        [] => return true,
        [.., before, b'"'] if !matches!(before, b' ' | b'\\') => return true,
        _ => {}
    }
    let mut is_open = false;
    let mut bytes = text.iter();
    while let Some(b) = bytes.next() {
        match b {
            b'\\' => drop(bytes.next()),
            b'"' => is_open = !is_open,
            _ => {}
        }
    }
    !is_open
}

/// The next word before a blank.
fn word(line: &[u8], rest: &mut Range<usize>) -> Option<Range<usize>> {
    let length = memchr(b' ', line.get(rest.clone())?)?;
    let word = rest.start..rest.start + length;
    rest.start = word.end + 1;
    (length > 0).then_some(word)
}

/// Addresses with commas between.
struct List {
    place: Range<usize>,
    /// What follows is not the client but its ident.
    stands_alone: bool,
}

/// The list that a line may begin with: in quotes before the client, or bare in its place.
fn list(line: &[u8], rest: &mut Range<usize>) -> Option<List> {
    let text = line.get(rest.clone())?;
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let length = memchr(b'"', quoted)?;
        let place = rest.start + 1..rest.start + 1 + length;
        rest.start = place.end + 2;
        return Some(List { place, stands_alone: false });
    }
    let (start, mut words) = (rest.start, rest.clone());
    let first = word(line, &mut words)?;
    memchr(b',', line.get(first)?)?;
    *rest = words;
    let mut end = rest.start - 1;
    while line.get(..end)?.ends_with(b",") {
        end = word(line, rest)?.end;
    }
    Some(List { place: start..end, stands_alone: true })
}

/// The method of a request, where it is one: what clients send who speak another protocol is not.
pub(super) fn method(line: &[u8], request: Range<usize>) -> Option<Range<usize>> {
    let text = line.get(request.clone())?;
    let length = memchr(b' ', text)?;
    let is_method = text.get(..length)?.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'));
    (is_method && length > 0).then_some(request.start..request.start + length)
}

/// The target of a request.
pub(super) fn url(line: &[u8], request: Range<usize>) -> Option<Range<usize>> {
    let text = line.get(request.clone())?;
    let start = memchr(b' ', text)? + 1;
    let target = text.get(start..)?;
    let length = memchr(b' ', target).unwrap_or(target.len());
    Some(request.start + start..request.start + start + length)
}

/// The target of a request without its query.
pub(super) fn path(line: &[u8], request: Range<usize>) -> Option<Range<usize>> {
    let url = url(line, request)?;
    let length = memchr(b'?', line.get(url.clone())?).unwrap_or(url.len());
    Some(url.start..url.start + length)
}

/// The quoted field of that number, from 0, among those in what follows the status.
fn quoted(line: &[u8], rest: Range<usize>, number: usize) -> Option<Range<usize>> {
    let text = line.get(rest.clone())?;
    let mut from = 0;
    for place in 0..=number {
        let open = from + memchr::memmem::find(text.get(from..)?, b" \"")? + 2;
        let mut close = open;
        while let Some(length) = memchr2(b'"', b'\\', text.get(close..)?) {
            close += length;
            if text.get(close) == Some(&b'"') {
                break;
            }
            close += 2;
        }
        if text.get(close) != Some(&b'"') {
            return None;
        }
        if place == number {
            return Some(rest.start + open..rest.start + close);
        }
        from = close + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::Parser;

    const REST: &str = "[17/May/2015:10:05:03 +0000] \"GET /a?b=c HTTP/1.1\" 200 12";

    fn read(format: Format, key: &str, line: &str) -> Result<(String, bool), Skip> {
        let options = Options { key: Some(key.into()), ..Options::default() };
        let mut parser = Parser::new(format, &[], "test", &options).unwrap();
        let parsed = parser.parse(line.as_bytes(), false)?;
        let key = parser.key(&parsed.key, line.as_bytes());
        Ok((String::from_utf8(key.to_vec()).unwrap(), parsed.is_damaged))
    }

    fn check(format: Format, line: &str, expected: Result<&str, Skip>) {
        assert_eq!(read(format, "ip", line).map(|(key, _)| key), expected.map(String::from), "{line}");
    }

    #[test]
    fn the_client_is_the_key() {
        check(Format::Common, &format!("192.0.2.1 - - {REST}"), Ok("192.0.2.1"));
        check(Format::Common, &format!("192.0.2.1 - ann {REST}"), Ok("192.0.2.1"));
        check(Format::Common, &format!("192.0.2.1 - Ann Lee {REST}"), Ok("192.0.2.1"));
        check(Format::Common, &format!("[2001:DB8::1] - - {REST}"), Ok("2001:db8::1"));
        check(Format::Vhost, &format!("example.com:80 ::1 - - {REST}"), Ok("::1"));
    }

    #[test]
    fn a_line_of_another_form_is_no_event_rather_than_a_wrong_key() {
        check(Format::Common, &format!("192.0.2.1 {REST}"), Err(Skip::Malformed));
        check(Format::Common, &format!("192.0.2.1 - {REST}"), Err(Skip::Malformed));
        check(Format::Common, &format!("example.com 192.0.2.1 - - {REST}"), Err(Skip::Malformed));
        check(Format::Common, &format!("192.0.2.1, 192.0.2.2 - - {REST}"), Err(Skip::Malformed));
        check(
            Format::Common,
            &format!("\"192.0.2.1, 192.0.2.2\" 192.0.2.3 - - {REST}"),
            Err(Skip::Malformed),
        );
        check(Format::Common, "192.0.2.1 - - [yesterday] \"GET / HTTP/1.1\" 200 12", Err(Skip::BadTime));
        check(Format::Common, "192.0.2.1 - - \"GET / HTTP/1.1\" 200 12", Err(Skip::Malformed));
        check(Format::Common, &format!("- - - {REST}"), Err(Skip::NoKey));
    }

    #[test]
    fn digits_and_dots_are_told_from_all_other_bytes_at_every_place() {
        for length in 1..=16 {
            for byte in 0..=255u8 {
                for place in 0..length {
                    let mut text = *b"192.168.100.200 -";
                    text[15] = b'5';
                    text[place] = byte;
                    let expected = matches!(byte, b'.' | b'/' | b'0'..=b'9');
                    assert_eq!(is_digits_and_dots(&text, length), expected, "{byte} at {place} of {length}");
                }
            }
        }
        assert!(is_digits_and_dots(b"1.2.3.4 - - [17/May", 7));
        assert!(!is_digits_and_dots(b"1.2.3.4", 7), "too short to look at once");
    }

    #[test]
    fn any_field_can_be_the_key() {
        let line = format!("example.com 192.0.2.1 - ann {REST}");
        for (key, expected) in [
            ("ip", "192.0.2.1"),
            ("path", "/a"),
            ("url", "/a?b=c"),
            ("method", "GET"),
            ("user", "ann"),
            ("host", "example.com"),
            ("status", "200"),
        ] {
            assert_eq!(read(Format::Vhost, key, &line), Ok((expected.into(), false)));
        }
        let anonymous = format!("192.0.2.1 - - {REST}");
        assert_eq!(read(Format::Common, "user", &anonymous), Err(Skip::NoKey));
        let error = Parser::new(
            Format::Common,
            &[],
            "a.log",
            &Options { key: Some("host".into()), ..Options::default() },
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "a.log (common) has no field \"host\": it has ip, path, user, status, method, url, referer, agent, \
             forwarded"
        );
    }

    #[test]
    fn a_cut_line_is_an_event_and_is_told_from_a_whole_one() {
        let whole = format!("192.0.2.1 - - {REST} \"http://example.com/\" \"agent (\\\"x\\\")\" \"-\"");
        assert_eq!(read(Format::Combined, "ip", &whole), Ok(("192.0.2.1".into(), false)));
        let time_ends = whole.find(']').unwrap() + 1;
        for cut in time_ends..whole.len() {
            let read = read(Format::Combined, "ip", &whole[..cut]).map(|(_, is_damaged)| is_damaged);
            // Cut between two fields, the line is one that could have been written like that.
            let looks_whole = whole[..cut].ends_with("com/\"")
                || whole[..cut].ends_with("com/\" ")
                || whole[..cut].ends_with("\\\")\"")
                || whole[..cut].ends_with("\\\")\" ");
            assert_eq!(read, Ok(!looks_whole), "{}", &whole[..cut]);
        }
    }

    #[test]
    fn no_user_name_hides_a_request_or_its_time() {
        for user in ["[[[[", "a [[[[", "[2015-05-17T10:05:03]", "[[[[["] {
            let line = format!("192.0.2.1 - {user} {REST}");
            assert_eq!(read(Format::Common, "ip", &line), Ok(("192.0.2.1".into(), false)), "{line}");
            let mut parser = Parser::new(Format::Common, &[], "test", &Options::default()).unwrap();
            let parsed = parser.parse(line.as_bytes(), false).unwrap();
            assert_eq!(parser.stamp(line.as_bytes()), Some(parsed.stamp), "one line, one time");
            assert_eq!(parsed.stamp.at.as_nanos() / 1_000_000_000, 1_431_857_103);
        }
    }

    #[test]
    fn odd_requests_are_whole_lines() {
        for request in ["", "-", "\\x16\\x03\\x01", "GET /a\"b HTTP/1.0", "GET /\\\" HTTP/1.1", "GET /"] {
            let line = format!("192.0.2.1 - - [17/May/2015:10:05:03 +0000] \"{request}\" 400 -");
            assert_eq!(read(Format::Common, "ip", &line), Ok(("192.0.2.1".into(), false)), "{line}");
        }
    }

    #[test]
    fn a_line_wrapped_in_quotes_is_read_as_if_it_were_not() {
        let line = format!("\"192.0.2.1 - - {REST} \"-\" \"agent\"\"");
        assert_eq!(read(Format::Combined, "ip", &line), Ok(("192.0.2.1".into(), false)));
    }
}
