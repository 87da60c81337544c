//! A walk through a JSON text that stops only at what is wanted.
//!
//! Nothing is built of the text: a wanted value is noted as its place, all others are passed over. The members of an
//! object come in the same order line after line, so each one's name is compared with the one that stood there in
//! the line before, and looked up only if it is another.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// What is wanted of a value: itself, or of its members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// Its number among the wanted values.
    slot: Option<usize>,
    members: Vec<(Box<str>, Self)>,
    /// The names that stood at each place in the line before, and which members they are.
    before: Vec<(String, Option<usize>)>,
}

/// Which places the wanted values of a text have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(Vec<Option<Range<usize>>>);

/// Why a text gave less than all it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It ends before its end.
    Cut,
    /// It is no JSON object.
    NoJson,
}

impl Node {
    /// Wants the value at a pointer (RFC 6901), as one of `slots`; the same pointer is the same slot.
    pub(crate) fn want(&mut self, pointer: &str, slots: &mut Slots) -> usize {
        let mut node = self;
        for name in pointer.split('/').skip(1) {
            let name = name.replace("~1", "/").replace("~0", "~");
            // What stood there before was looked up among fewer members.
            node.before.clear();
            let known = node.members.iter().position(|(known, _)| **known == *name);
            let place = known.unwrap_or(node.members.len());
            if known.is_none() {
                node.members.push((name.into(), Self::default()));
            }
            let Some((_, member)) = node.members.get_mut(place) else { return 0 };
            node = member;
        }
        *node.slot.get_or_insert_with(|| {
            slots.0.push(None);
            slots.0.len() - 1
        })
    }

    /// Notes the places of all wanted values of a text.
    pub(crate) fn walk(&mut self, text: &str, slots: &mut Slots) -> Result<(), Broken> {
        slots.0.iter_mut().for_each(|slot| *slot = None);
        if !text.trim_start().starts_with('{') {
            return Err(Broken::NoJson);
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let start = text.as_ptr() as usize;
        let walked = Walk { node: self, slots, start }.deserialize(&mut json).and_then(|()| json.end());
        match walked {
            Ok(()) => Ok(()),
            Err(error) if error.is_eof() => {
                // A value that ends with the text, such as a number, may go on.
                let end = text.trim_end().len();
                slots.0.iter_mut().for_each(|slot| *slot = slot.take().filter(|place| place.end < end));
                Err(Broken::Cut)
            }
            Err(_) => Err(Broken::NoJson),
        }
    }

    fn member(&mut self, place: usize, name: &str) -> Option<usize> {
        if let Some((before, member)) = self.before.get(place)
            && **before == *name
        {
            return *member;
        }
        let member = self.members.iter().position(|(known, _)| **known == *name);
        // An object without end must not be remembered without end.
        if place == self.before.len() && place < 256 {
            self.before.push((String::new(), None));
        }
        if let Some((before, known)) = self.before.get_mut(place) {
            before.clear();
            before.push_str(name);
            *known = member;
        }
        member
    }
}

impl Slots {
    pub(crate) fn get(&self, slot: usize) -> Option<&Range<usize>> {
        self.0.get(slot)?.as_ref()
    }
}

struct Walk<'a> {
    node: &'a mut Node,
    slots: &'a mut Slots,
    /// The address of the text's first byte.
    start: usize,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Walk<'_> {
    /// The value of a member, or an item, that is wanted itself.
    fn note(&mut self, slot: usize, value: &RawValue) {
        let place = (value.get().as_ptr() as usize).wrapping_sub(self.start);
        if let Some(slot) = self.slots.0.get_mut(slot) {
            *slot = Some(place..place + value.get().len());
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut place = 0;
        while let Some(member) = map.next_key_seed(Name { node: self.node, place })? {
            place += 1;
            let member = member.and_then(|member| self.node.members.get_mut(member));
            match member {
                None => drop(map.next_value::<IgnoredAny>()?),
                Some((_, Node { slot: Some(slot), members, .. })) if members.is_empty() => {
                    let slot = *slot;
                    let value = map.next_value()?;
                    self.note(slot, value);
                }
                Some((_, node)) if node.slot.is_none() => {
                    map.next_value_seed(Walk { node, slots: self.slots, start: self.start })?;
                }
                // Both: it is walked through if it has members.
                Some((_, node)) => {
                    let value: &RawValue = map.next_value()?;
                    if value.get().starts_with(['{', '[']) {
                        let mut json = serde_json::Deserializer::from_str(value.get());
                        let walk = Walk { node, slots: self.slots, start: self.start };
                        walk.deserialize(&mut json).map_err(serde::de::Error::custom)?;
                    } else if let Some(slot) = node.slot {
                        self.note(slot, value);
                    }
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        for place in 0usize.. {
            // Few items are wanted: mostly the first one.
            let member = self.node.members.iter_mut().find(|(name, _)| name.parse() == Ok(place));
            let is_there = match member {
                None => items.next_element::<IgnoredAny>()?.is_some(),
                Some((_, Node { slot: Some(slot), .. })) => {
                    let slot = *slot;
                    let value: Option<&RawValue> = items.next_element()?;
                    if let Some(value) = value {
                        self.note(slot, value);
                    }
                    value.is_some()
                }
                Some((_, node)) => {
                    let walk = Walk { node, slots: self.slots, start: self.start };
                    items.next_element_seed(walk)?.is_some()
                }
            };
            if !is_there {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The name of a member: which of the wanted ones it is.
struct Name<'a> {
    node: &'a mut Node,
    place: usize,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.node.member(self.place, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pointers: &[&str], text: &str, expected: (&[&str], Result<(), Broken>)) {
        let (mut node, mut slots) = (Node::default(), Slots::default());
        let wanted: Vec<usize> = pointers.iter().map(|pointer| node.want(pointer, &mut slots)).collect();
        // Twice: what was remembered of the first line must not change what is found in the second.
        for _ in 0..2 {
            let walked = node.walk(text, &mut slots);
            let found: Vec<&str> =
                wanted.iter().map(|slot| slots.get(*slot).map_or("", |place| &text[place.clone()])).collect();
            assert_eq!((found.as_slice(), walked), expected, "{text}");
        }
    }

    #[test]
    fn wanted_values_are_found_wherever_they_are() {
        let text = r#"{"a":{"b":[1,{"c":"x\"y"}],"d~/":null},"e":-1.50e3,"f":{"a":7}}"#;
        check(
            &["/a/b/1/c", "/a/d~0~1", "/e", "/f", "/g"],
            text,
            (&["\"x\\\"y\"", "null", "-1.50e3", "{\"a\":7}", ""], Ok(())),
        );
        check(&["/a", "/a/d~0~1"], text, (&["", "null"], Ok(())));
        check(&["/request", "/request/uri"], r#"{"request":"GET /"}"#, (&["\"GET /\"", ""], Ok(())));
        check(&["/a", "/a"], r#"{"b":1,"a":2}"#, (&["2", "2"], Ok(())));
    }

    #[test]
    fn a_text_that_is_cut_gives_what_is_surely_whole() {
        check(&["/a", "/b"], r#"{"a":12,"b":34"#, (&["12", ""], Err(Broken::Cut)));
        check(&["/a", "/b"], r#"{"a":12,"b":"x"#, (&["12", ""], Err(Broken::Cut)));
        check(&["/a"], r#"{"a":"x""#, (&[""], Err(Broken::Cut)));
        check(&["/a"], r#"{"a":"x","#, (&["\"x\""], Err(Broken::Cut)));
    }

    #[test]
    fn what_is_no_object_is_told() {
        for text in ["", "x", "[1]", "\"a\"", "{\"a\":}", "{\"a\":1}}", "{a:1}", "{\"a\":\"\\q\"}"] {
            let (mut node, mut slots) = (Node::default(), Slots::default());
            node.want("/a", &mut slots);
            assert_eq!(node.walk(text, &mut slots), Err(Broken::NoJson), "{text}");
        }
        let deep = "{\"b\":".to_string() + &"[".repeat(100_000);
        assert!(Node::default().walk(&deep, &mut Slots::default()).is_err());
    }

    #[test]
    fn lines_of_different_shapes_do_not_disturb_each_other() {
        let (mut node, mut slots) = (Node::default(), Slots::default());
        let a = node.want("/a", &mut slots);
        for (text, expected) in [
            (r#"{"x":1,"a":2}"#, Some("2")),
            (r#"{"a":3}"#, Some("3")),
            (r#"{"y":1,"z":2,"a":4}"#, Some("4")),
            (r#"{"x":1}"#, None),
            (r#"{"x":1,"a":5}"#, Some("5")),
            (r#"{}"#, None),
        ] {
            node.walk(text, &mut slots).unwrap();
            assert_eq!(slots.get(a).map(|place| &text[place.clone()]), expected, "{text}");
        }
    }
}
