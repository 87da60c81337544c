//! JSON lines: one object per line.
//!
//! The usual logs are known by the names of their members ([`shapes`]); any other member is named by a pointer
//! (RFC 6901), or by its name alone where it stands at the top.

mod shapes;
mod tree;

use super::{Field, Found, Lines, Place};
use crate::address;
use crate::error::Error;
use crate::event::Skip;
use crate::options::{Options, TimeUnit};
use crate::time::{self, Stamp};
use memchr::{memchr, memchr2};
use serde::de::{Deserializer, Visitor};
use shapes::{Part, SHAPES, Shape, TIMES};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tree::{Broken, Node, Slots};

#[derive(Clone, Debug)]
pub(crate) struct Json {
    tree: Node,
    slots: Slots,
    time: Vec<usize>,
    weight: Option<usize>,
    fields: Vec<Candidates>,
    unit: TimeUnit,
    /// The first lines, which tell where fields are.
    sample: Arc<[Box<str>]>,
    /// The pointers of the usual logs that they have.
    present: Arc<BTreeSet<&'static str>>,
    /// None of them has a client, but a member that is called a key.
    has_key: bool,
    /// When the line came, by whatever brought it: its time, if it has none itself.
    came_at: Option<Stamp>,
    scratch: Vec<u8>,
    /// A line that is no UTF-8, with other bytes in those places.
    mended: String,
}

/// A field: the slots of the values that may be it, the likeliest first.
type Candidates = Vec<(usize, Part)>;

impl Json {
    pub(crate) fn new(lines: &[&[u8]], path: &str, options: &Options) -> Result<Self, Error> {
        let sample = lines.iter().map(|line| String::from_utf8_lossy(line));
        let sample = sample.filter(|line| line.trim_start().starts_with('{'));
        let sample = sample.map(|line| line.into_owned().into_boxed_str()).collect();
        let (tree, slots, fields, scratch, mended) = Default::default();
        let (time, weight, unit) = (Vec::new(), None, options.time_unit);
        let (has_key, came_at, present) = (false, None, Arc::default());
        let mut json = Self {
            tree,
            slots,
            time,
            weight,
            fields,
            unit,
            sample,
            present,
            has_key,
            came_at,
            scratch,
            mended,
        };
        let shapes = SHAPES.iter().flat_map(|(_, shape)| shape.iter().map(|(pointer, _)| *pointer));
        if !json.sample.is_empty() {
            json.present = Arc::new(json.found(TIMES.iter().copied().chain(shapes)));
        }
        let mut clients = SHAPES.iter().filter(|(name, _)| *name == "ip").flat_map(|(_, clients)| *clients);
        json.has_key = json.is_there("key") && !clients.any(|(pointer, _)| json.present.contains(pointer));
        let times: Vec<Cow<'_, str>> = match &options.time {
            Some(name) => vec![pointer(name)],
            None => json.likely(TIMES, |pointer| pointer).into_iter().map(Cow::from).collect(),
        };
        json.time = times.iter().map(|pointer| json.tree.want(pointer, &mut json.slots)).collect();
        if let Some(name) = &options.weight {
            json.weight = Some(json.tree.want(&pointer(name), &mut json.slots));
        }
        json.time.first().into_iter().chain(&json.weight).for_each(|slot| json.slots.need(*slot));
        if let Some(name) = options.time.iter().chain(&options.weight).find(|name| !json.may_be(name)) {
            return Err(Error::UnknownField { path: path.into(), name: name.clone(), known: json.known() });
        }
        Ok(json)
    }

    /// Those of some pointers at which the first lines have a value.
    fn found<'p>(&self, pointers: impl Iterator<Item = &'p str>) -> BTreeSet<&'p str> {
        let (mut tree, mut slots) = (Node::default(), Slots::default());
        let wanted: Vec<_> = pointers.map(|pointer| (pointer, tree.want(pointer, &mut slots))).collect();
        let mut found = BTreeSet::new();
        for line in self.sample.iter() {
            let _ = tree.walk(line.as_bytes(), &mut slots);
            let is_value = |slot| {
                let text = slots.get(slot).and_then(|place| line.get(place.clone()));
                text.is_some_and(|text| !text.starts_with('{') && text != "null")
            };
            found.extend(wanted.iter().filter(|(_, slot)| is_value(*slot)).map(|(pointer, _)| *pointer));
        }
        found
    }

    /// Those of some pointers of the usual logs that the first lines have; all, if they have none.
    fn likely<T: Copy>(&self, all: impl AsRef<[T]>, pointer: impl Fn(T) -> &'static str) -> Vec<T> {
        let all = all.as_ref();
        let present: Vec<T> = all.iter().copied().filter(|it| self.present.contains(pointer(*it))).collect();
        if present.is_empty() { all.to_vec() } else { present }
    }

    /// Whether one of the first lines has a member.
    fn is_there(&self, name: &str) -> bool {
        !self.found(std::iter::once(&*pointer(name))).is_empty()
    }

    /// Whether a name can be that of a member: a pointer is believed.
    fn may_be(&self, name: &str) -> bool {
        name.starts_with('/') || self.sample.is_empty() || self.is_there(name)
    }

    /// Where a value's text is; `None` if there is none in it. Of an array, that of its first item.
    fn value(&mut self, slot: usize, line: &[u8]) -> Option<Place> {
        let place = self.slots.get(slot)?.clone();
        let text = line.get(place.clone())?;
        let Some(items) = text.strip_prefix(b"[") else { return self.scalar(place, line) };
        let items = items.trim_ascii_start();
        let length = first_item(items)?;
        let start = place.end - items.len();
        self.scalar(start..start + length, line)
    }

    fn scalar(&mut self, place: Range<usize>, line: &[u8]) -> Option<Place> {
        let text = line.get(place.clone())?;
        match text.first()? {
            b'"' => {
                let inner = place.start + 1..place.end - 1;
                let string = line.get(inner.clone())?;
                if memchr(b'\\', string).is_none() {
                    return (!matches!(string, b"" | b"-")).then_some(Place::Line(inner));
                }
                let mut json = serde_json::Deserializer::from_slice(text);
                json.deserialize_bytes(Unescaped(&mut self.scratch)).ok()?;
                (!matches!(self.scratch.as_slice(), b"" | b"-")).then_some(Place::Scratch)
            }
            b'[' | b'{' => None,
            _ => (text != b"null").then_some(Place::Line(place)),
        }
    }

    /// The part of a value that is the field.
    fn part(&mut self, value: Place, part: Part, line: &[u8]) -> Option<Place> {
        if part == Part::Whole {
            return Some(value);
        }
        let text = match &value {
            Place::Line(place) => line.get(place.clone())?,
            Place::Scratch => &self.scratch,
        };
        let range = match part {
            Part::Whole => 0..text.len(),
            // Most are IPv4 without a port, and need no second look.
            Part::Address if memchr(b':', text).is_none() => return Some(value),
            Part::Address => 0..address::without_port(text).len(),
            Part::Path => path(text, 0..text.len()),
            Part::RequestMethod => 0..memchr(b' ', text)?,
            Part::RequestUrl => target(text)?,
            Part::RequestPath => path(text, target(text)?),
        };
        if range.is_empty() {
            return None;
        }
        match value {
            Place::Line(place) => {
                let place = place.start + range.start..place.start + range.end;
                let is_address = part == Part::Address;
                let is_rewritten =
                    is_address && address::normalize(line.get(place.clone())?, &mut self.scratch);
                Some(if is_rewritten { Place::Scratch } else { Place::Line(place) })
            }
            Place::Scratch => {
                self.scratch.truncate(range.end);
                self.scratch.drain(..range.start);
                if part == Part::Address {
                    let text = std::mem::take(&mut self.scratch);
                    if !address::normalize(&text, &mut self.scratch) {
                        self.scratch = text;
                    }
                }
                Some(Place::Scratch)
            }
        }
    }

    fn stamp_of(&mut self, line: &[u8]) -> Result<Stamp, Skip> {
        let mut skip = self.came_at.ok_or(Skip::BadTime);
        for index in 0..self.time.len() {
            let Some(slot) = self.time.get(index).copied() else { break };
            let Some(place) = self.value(slot, line) else { continue };
            let text = match &place {
                Place::Line(place) => line.get(place.clone()).unwrap_or_default(),
                Place::Scratch => &self.scratch,
            };
            match time::read_any(text, self.unit) {
                Some(stamp) => return Ok(stamp),
                None => skip = Err(Skip::BadTime),
            }
        }
        skip
    }
}

impl Lines for Json {
    fn field(&mut self, name: &str) -> Option<Field> {
        let shape = SHAPES.iter().find(|(known, _)| *known == name);
        // A member of that name is meant, if nothing is there that the name usually means.
        let is_there = |(_, pointers): &&Shape| pointers.iter().any(|(it, _)| self.present.contains(it));
        let shape = shape.filter(|shape| is_there(shape) || !self.is_there(name));
        let candidates: Candidates = match shape {
            Some((_, shape)) => {
                let likely = self.likely(shape, |(pointer, _)| pointer).into_iter();
                likely.map(|(pointer, part)| (self.tree.want(pointer, &mut self.slots), part)).collect()
            }
            None if !self.may_be(name) => return None,
            None => vec![(self.tree.want(&pointer(name), &mut self.slots), Part::Whole)],
        };
        if let Some((likeliest, _)) = candidates.first() {
            self.slots.need(*likeliest);
        }
        self.fields.push(candidates);
        Some(Field(self.fields.len() - 1))
    }

    fn known(&self) -> String {
        let usual = SHAPES.map(|(name, _)| name).join(", ");
        let mut members = Vec::new();
        for line in self.sample.iter() {
            let Ok(serde_json::Value::Object(object)) = serde_json::from_str(line) else { continue };
            collect(&object, "", &mut members);
        }
        if members.is_empty() {
            return usual;
        }
        let rest = if members.len() > 24 { ", ..." } else { "" };
        members.truncate(24);
        format!("{}{rest}; by their usual names {usual}", members.join(", "))
    }

    fn usual_key(&self) -> &str {
        if self.has_key { "key" } else { "ip" }
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &["ip", "path", "agent"]
    }

    fn came_at(&mut self, at: Option<Stamp>) {
        self.came_at = at;
    }

    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        let mut walked = self.tree.walk(line, &mut self.slots);
        // nginx writes whatever bytes a client sent. They stand in no name, and are no part of the notation.
        if walked == Err(Broken::NoJson) && std::str::from_utf8(line).is_err() {
            mend(line, &mut self.mended);
            walked = self.tree.walk(self.mended.as_bytes(), &mut self.slots);
        }
        let is_damaged = match walked {
            Ok(()) => is_cut,
            Err(Broken::Cut) => true,
            Err(Broken::NoJson) => return Err(Skip::Malformed),
        };
        let stamp = self.stamp_of(line).map_err(|skip| if is_damaged { Skip::Malformed } else { skip })?;
        if is_damaged && !self.fields.iter().all(|field| self.has_likeliest(field)) {
            return Err(Skip::Malformed);
        }
        let n = match self.weight {
            None => 1,
            Some(slot) => {
                let place = self.value(slot, line).ok_or(Skip::BadNumber)?;
                let text = match &place {
                    Place::Line(place) => line.get(place.clone()).unwrap_or_default(),
                    Place::Scratch => &self.scratch,
                };
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Skip::BadNumber)?
            }
        };
        Ok(Found { n, stamp, is_damaged, more: 0 })
    }

    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place> {
        for index in 0.. {
            let (slot, part) = *self.fields.get(field.0)?.get(index)?;
            if let Some(value) = self.value(slot, line) {
                return self.part(value, part, line);
            }
        }
        None
    }

    fn scratch(&self) -> &[u8] {
        &self.scratch
    }
}

impl Json {
    /// A line has the likeliest value of a field, so that none that was cut off would go before it.
    fn has_likeliest(&self, field: &Candidates) -> bool {
        field.first().is_some_and(|(slot, _)| self.slots.get(*slot).is_some())
    }
}

/// A string without its escapes. Half of a character that UTF-16 writes in two is kept, as its three bytes.
struct Unescaped<'a>(&'a mut Vec<u8>);

impl Visitor<'_> for Unescaped<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, text: &[u8]) -> Result<(), E> {
        self.0.clear();
        self.0.extend_from_slice(text);
        Ok(())
    }
}

/// The length of an array's first item, of the text behind its bracket; `None` if it is empty.
fn first_item(items: &[u8]) -> Option<usize> {
    if !items.starts_with(b"\"") {
        let end = items.iter().position(|b| matches!(b, b',' | b']') || b.is_ascii_whitespace())?;
        return (end > 0).then_some(end);
    }
    let mut from = 1;
    loop {
        from += memchr2(b'"', b'\\', items.get(from..)?)?;
        match items.get(from)? {
            b'"' => return Some(from + 1),
            _ => from += 2,
        }
    }
}

/// Copies a line with a question mark for every byte that is no UTF-8, so that all else keeps its place.
fn mend(line: &[u8], out: &mut String) {
    out.clear();
    for chunk in line.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
}

/// A name at the top as a pointer; a pointer as it stands.
fn pointer(name: &str) -> Cow<'_, str> {
    if name.starts_with('/') {
        return name.into();
    }
    format!("/{}", name.replace('~', "~0").replace('/', "~1")).into()
}

/// The names of an object's members: at the top as they stand, deeper ones as pointers.
fn collect(object: &serde_json::Map<String, serde_json::Value>, above: &str, members: &mut Vec<String>) {
    for (name, value) in object {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        match value {
            serde_json::Value::Object(inner) if above.is_empty() => {
                collect(inner, &format!("/{escaped}"), members);
            }
            serde_json::Value::Object(_) | serde_json::Value::Array(_) => {}
            _ => {
                let shown = if above.is_empty() { name.clone() } else { format!("{above}/{escaped}") };
                if !members.contains(&shown) {
                    members.push(shown);
                }
            }
        }
    }
}

/// The target of `GET /a?b HTTP/1.1`.
fn target(text: &[u8]) -> Option<Range<usize>> {
    let start = memchr(b' ', text)? + 1;
    let rest = text.get(start..)?;
    Some(start..start + memchr(b' ', rest).unwrap_or(rest.len()))
}

/// The path of a URL, which may have a host before and a query behind.
fn path(text: &[u8], url: Range<usize>) -> Range<usize> {
    let whole = text.get(url.clone()).unwrap_or_default();
    let end = url.start + memchr(b'?', whole).unwrap_or(whole.len());
    let scheme = memchr::memmem::find(whole, b"://").filter(|at| !whole.starts_with(b"/") && *at < 16);
    let start = scheme.map_or(url.start, |at| {
        let host = url.start + at + 3;
        host + text.get(host..end).and_then(|rest| memchr(b'/', rest)).unwrap_or(0)
    });
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::parser::Parser;
    use crate::time::format_time;

    fn read(line: &str, options: &Options) -> Result<(String, String), Skip> {
        let mut parser = Parser::new(Format::Json, &[line.as_bytes()], "a.json", options).unwrap();
        let parsed = parser.parse(line.as_bytes(), false)?;
        let key = String::from_utf8_lossy(parser.key(&parsed.key, line.as_bytes())).into_owned();
        Ok((key, format_time(parsed.stamp.at, parsed.stamp.digits)))
    }

    fn check(line: &str, key: &str, expected: Result<(&str, &str), Skip>) {
        let options = Options { key: Some(key.into()), ..Options::default() };
        let expected = expected.map(|(key, at)| (key.to_string(), at.to_string()));
        assert_eq!(read(line, &options), expected, "{key} of {line}");
    }

    const NGINX: &str = r#"{"time_local":"17/May/2015:10:05:03 +0000","remote_addr":"::ffff:192.0.2.1","request":"GET /a?b HTTP/1.1","status":"200","http_x_forwarded_for":"-"}"#;
    const CADDY: &str = r#"{"level":"info","ts":1703373474.8155608,"request":{"remote_ip":"192.0.2.9","client_ip":"192.0.2.1","method":"GET","uri":"/beta/?x=1","headers":{"User-Agent":["agent \"x\""]}},"user_id":"","status":200}"#;
    const ENVOY: &str = r#"{"start_time":"2023-12-23T23:17:54.815Z","downstream_remote_address":"[2001:DB8::1]:64985","path":"/p?q","method":"POST","response_code":403,"authority":"example.com"}"#;

    #[test]
    fn the_usual_logs_are_known_by_their_names() {
        let at = "2015-05-17T10:05:03Z";
        for (key, expected) in
            [("ip", "192.0.2.1"), ("path", "/a"), ("url", "/a?b"), ("method", "GET"), ("status", "200")]
        {
            check(NGINX, key, Ok((expected, at)));
        }
        check(NGINX, "forwarded", Ok(("192.0.2.1", at)));
        let at = "2023-12-23T23:17:54.8155608Z";
        for (key, expected) in [
            ("ip", "192.0.2.1"),
            ("path", "/beta/"),
            ("status", "200"),
            ("agent", "agent \"x\""),
            ("/request/remote_ip", "192.0.2.9"),
            ("level", "info"),
        ] {
            check(CADDY, key, Ok((expected, at)));
        }
        check(CADDY, "user", Err(Skip::NoKey));
        let at = "2023-12-23T23:17:54.815Z";
        for (key, expected) in [
            ("ip", "2001:db8::1"),
            ("path", "/p"),
            ("method", "POST"),
            ("status", "403"),
            ("host", "example.com"),
        ] {
            check(ENVOY, key, Ok((expected, at)));
        }
    }

    #[test]
    fn times_are_numbers_or_strings_of_any_unit() {
        for (time, expected) in [
            ("1700000000", "2023-11-14T22:13:20Z"),
            ("\"1700000000.5\"", "2023-11-14T22:13:20.5Z"),
            ("1700000000123", "2023-11-14T22:13:20.123Z"),
            ("1700000000123456789", "2023-11-14T22:13:20.123456789Z"),
            ("\"2023-11-14T22:13:20+01:00\"", "2023-11-14T21:13:20Z"),
        ] {
            check(&format!("{{\"k\":\"a\",\"time\":{time}}}"), "k", Ok(("a", expected)));
        }
        check(r#"{"k":"a","time":"soon"}"#, "k", Err(Skip::BadTime));
        check(r#"{"k":"a"}"#, "k", Err(Skip::BadTime));
    }

    #[test]
    fn any_member_can_be_the_key_the_time_or_the_weight() {
        let line = r#"{"at":{"t":5},"user":{"id":42},"tags":["x","y"],"n":"3","a/b":true}"#;
        let options = |key: &str| Options {
            key: Some(key.into()),
            time: Some("/at/t".into()),
            weight: Some("n".into()),
            ..Options::default()
        };
        for (key, expected) in [("/user/id", "42"), ("/tags/1", "y"), ("tags", "x"), ("a/b", "true")] {
            assert_eq!(
                read(line, &options(key)),
                Ok((expected.into(), "1970-01-01T00:00:05Z".into())),
                "{key}"
            );
        }
        assert_eq!(read(line, &options("/user")), Err(Skip::NoKey));
        let error = Parser::new(Format::Json, &[line.as_bytes()], "a.json", &options("nope")).unwrap_err();
        assert!(error.to_string().contains("n, a/b") || error.to_string().contains("/user/id"), "{error}");
    }

    #[test]
    fn a_cut_line_is_an_event_if_what_is_asked_for_is_whole() {
        let options = Options { key: Some("ip".into()), ..Options::default() };
        let mut parser = Parser::new(Format::Json, &[CADDY.as_bytes()], "a.json", &options).unwrap();
        let key_ends = CADDY.find("\"192.0.2.1\"").unwrap() + 12;
        for cut in 1..CADDY.len() {
            let line = &CADDY.as_bytes()[..cut];
            match parser.parse(line, false) {
                Ok(parsed) => {
                    // Cut behind an inner brace, it looks whole as far as it is looked at.
                    assert!(parsed.is_damaged != line.ends_with(b"}") && cut >= key_ends, "{cut}");
                    assert_eq!(parser.key(&parsed.key, line), b"192.0.2.1");
                    assert_eq!(format_time(parsed.stamp.at, 7), "2023-12-23T23:17:54.8155608Z");
                }
                Err(skip) => assert!(skip == Skip::Malformed && cut <= key_ends, "{cut}"),
            }
        }
    }

    #[test]
    fn strings_are_read_without_their_escapes() {
        check(
            r#"{"time":1,"k":"caf\u00e9 \ud83d\ude00 \"x\""}"#,
            "k",
            Ok(("café 😀 \"x\"", "1970-01-01T00:00:01Z")),
        );
        check("{\"time\":1,\"ip\":\"192.0.2.1:80\"}", "ip", Ok(("192.0.2.1", "1970-01-01T00:00:01Z")));
        check("{\"time\":1,\"uri\":\"https://example.com/a?b\"}", "path", Ok(("/a", "1970-01-01T00:00:01Z")));
    }
}
