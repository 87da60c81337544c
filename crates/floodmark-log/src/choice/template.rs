//! `--key`: a field, or several with text between.

use super::Forwarded;
use crate::address::{self, Prefix};
use crate::error::Error;
use crate::format::{AnyLines, Field, Lines};
use ipnet::IpNet;

#[derive(Clone, Debug)]
pub(crate) struct Template {
    parts: Vec<Part>,
    /// What stands after the last part.
    end: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Part {
    /// What stands before it.
    before: Vec<u8>,
    name: String,
    value: Value,
    prefix: Option<Prefix>,
    /// The byte that ends it, which it must not have itself; `None` for the last one.
    ends_with: Option<u8>,
}

#[derive(Clone, Debug)]
enum Value {
    Field(Field),
    /// The client behind proxies.
    Forwarded(Forwarded),
}

impl Template {
    /// `named` finds a format's fields.
    pub(crate) fn new(
        text: &str,
        trusted: &[IpNet],
        named: &mut dyn FnMut(&str) -> Result<Field, Error>,
    ) -> Result<Self, Error> {
        let wrong = |why| Error::BadKey { key: text.into(), why };
        let mut value = |text: &str| {
            let (name, prefix) = split_prefix(text).map_err(wrong)?;
            let value = match name {
                "forwarded" => Value::Forwarded(Forwarded::new(named("forwarded")?, named("ip")?, trusted)),
                _ => Value::Field(named(name)?),
            };
            Ok((name.to_string(), value, prefix))
        };
        if !text.contains(['{', '}']) {
            let (name, value, prefix) = value(text)?;
            let parts = vec![Part { before: Vec::new(), name, value, prefix, ends_with: None }];
            return Ok(Self { parts, end: Vec::new() });
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(char) = rest.chars().next() {
            match rest.get(..2) {
                Some("{{" | "}}") => {
                    literal.push(char as u8);
                    rest = rest.get(2..).unwrap_or_default();
                    continue;
                }
                _ if char == '}' => return Err(wrong("a } has no { before it; }} is a } itself")),
                _ if char == '{' => {}
                _ => {
                    literal.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = rest.get(char.len_utf8()..).unwrap_or_default();
                    continue;
                }
            }
            let (inner, after) = rest
                .get(1..)
                .and_then(|rest| rest.split_once('}'))
                .ok_or_else(|| wrong("a { has no } after it; {{ is a { itself"))?;
            if let Some(last) = parts.last_mut() {
                let ends_with = literal.first().copied();
                let ends_with = ends_with.ok_or_else(|| wrong("put something between two fields"))?;
                if ends_with == b'\\' {
                    // Before a field's own bytes it would mean two things, and two pairs of fields would be one key.
                    return Err(wrong("what is between two fields must not begin with a backslash"));
                }
                last.ends_with = Some(ends_with);
            }
            let (name, value, prefix) = value(inner)?;
            parts.push(Part { before: std::mem::take(&mut literal), name, value, prefix, ends_with: None });
            rest = after;
        }
        if parts.is_empty() {
            return Err(wrong("it names no field"));
        }
        Ok(Self { parts, end: literal })
    }

    /// The only field, if it is taken as it stands.
    pub(crate) fn plain(&self) -> Option<Field> {
        match self.parts.as_slice() {
            [Part { before, value: Value::Field(field), prefix: None, .. }]
                if before.is_empty() && self.end.is_empty() =>
            {
                Some(*field)
            }
            _ => None,
        }
    }

    /// A field of that name, as a whole, is part of it: what has the same key has the same field.
    pub(crate) fn has(&self, name: &str) -> bool {
        let is = |part: &Part| match &part.value {
            // The peer is a proxy, or the client that is the key.
            Value::Forwarded(_) => name == "ip",
            Value::Field(_) => part.prefix.is_none() && part.name == name,
        };
        self.parts.iter().any(is)
    }

    /// Writes the key of a line; `false` if the line lacks a field of it.
    pub(crate) fn write(&mut self, lines: &mut AnyLines, line: &[u8], key: &mut Vec<u8>) -> bool {
        key.clear();
        for part in &mut self.parts {
            key.extend_from_slice(&part.before);
            let value = match &mut part.value {
                Value::Field(field) => match lines.place(*field, line) {
                    Some(place) => lines.bytes(&place, line),
                    None => return false,
                },
                Value::Forwarded(forwarded) => match forwarded.client(lines, line) {
                    Some(client) => client,
                    None => return false,
                },
            };
            let start = key.len();
            match part.prefix {
                Some(prefix) => address::write_network(value, prefix, key),
                None => key.extend_from_slice(value),
            }
            if let Some(end) = part.ends_with {
                escape(key, start, end);
            }
        }
        key.extend_from_slice(&self.end);
        true
    }
}

/// Puts a backslash before each `end` and each backslash in the bytes from `start` on.
fn escape(key: &mut Vec<u8>, start: usize, end: u8) {
    let is_escaped = |b: &u8| *b == end || *b == b'\\';
    if !key.get(start..).is_some_and(|value| value.iter().any(is_escaped)) {
        return;
    }
    for byte in key.split_off(start) {
        if is_escaped(&byte) {
            key.push(b'\\');
        }
        key.push(byte);
    }
}

/// `ip/24,64`: a name and the lengths of an IPv4 and an IPv6 prefix. What begins with a slash is a name as a whole.
fn split_prefix(text: &str) -> Result<(&str, Option<Prefix>), &'static str> {
    let Some((name, lengths)) =
        text.rsplit_once('/').filter(|(name, _)| !name.is_empty() && !name.starts_with('/'))
    else {
        return Ok((text, None));
    };
    let (v4, v6) = lengths.split_once(',').unwrap_or((lengths, "128"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(v4) || !is_number(v6) {
        return Ok((text, None));
    }
    match v4.parse().ok().zip(v6.parse().ok()).and_then(|(v4, v6)| Prefix::new(v4, v6)) {
        Some(prefix) => Ok((name, Some(prefix))),
        None => Err("a prefix has at most 32 bits of IPv4 and 128 of IPv6, as in ip/24,64"),
    }
}
