//! A walk through a JSON text that stops only at what is wanted.
//!
//! Nothing is built of the text: a wanted value is noted as its place, all others are passed over. When all that is
//! needed has been found, the rest of the text is not looked at. The members of an
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
pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// How many of the needed ones are not settled yet.
    missing: usize,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    place: Option<Range<usize>>,
    /// Without it, it is not enough.
    is_needed: bool,
    /// Its value says something, so no other member has to stand in for it.
    is_settled: bool,
}

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
            slots.slots.push(Slot::default());
            slots.slots.len() - 1
        })
    }

    /// Notes the places of all wanted values of a text.
    pub(crate) fn walk(&mut self, text: &[u8], slots: &mut Slots) -> Result<(), Broken> {
        slots.clear();
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err(Broken::NoJson);
        }
        let mut json = serde_json::Deserializer::from_slice(text);
        let start = text.as_ptr() as usize;
        let walked = Walk { node: self, slots, start }.deserialize(&mut json).and_then(|()| json.end());
        // A value that ends with the text, such as a number, may go on.
        let end = text.trim_ascii_end().len();
        match walked {
            Ok(()) => Ok(()),
            Err(_) if slots.is_enough() && text.trim_ascii_end().ends_with(b"}") => Ok(()),
            Err(error) if error.is_eof() || slots.is_enough() => {
                let places = slots.slots.iter_mut().map(|slot| &mut slot.place);
                places.for_each(|place| *place = place.take().filter(|place| place.end < end));
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
        self.slots.get(slot)?.place.as_ref()
    }

    /// The walk ends when all that is needed has been found; without anything needed, at the end of the text.
    pub(crate) fn need(&mut self, slot: usize) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.is_needed = true;
        }
    }

    fn clear(&mut self) {
        self.missing = 0;
        for slot in &mut self.slots {
            (slot.place, slot.is_settled) = (None, false);
            self.missing += usize::from(slot.is_needed);
        }
    }

    fn is_enough(&self) -> bool {
        self.missing == 0 && self.slots.iter().any(|slot| slot.is_needed)
    }

    /// Of a member that stands twice, the first that says something counts: where the walk ends must not matter.
    fn note(&mut self, slot: usize, place: Range<usize>, text: &str) {
        let Some(slot) = self.slots.get_mut(slot).filter(|slot| !slot.is_settled) else { return };
        slot.place = Some(place);
        slot.is_settled = says_something(text);
        self.missing -= usize::from(slot.is_settled && slot.is_needed);
    }
}

/// Whether a value is surely one. What an array says depends on its items, so it is not sure.
fn says_something(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'"') => !matches!(text, r#""""# | r#""-""#),
        Some(b'n' | b'[' | b'{') | None => false,
        Some(_) => true,
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
        self.slots.note(slot, place..place + value.get().len(), value.get());
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
            // Without having seen its end: that is an error, which does not matter any more.
            if self.slots.is_enough() {
                break;
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
            let walked = node.walk(text.as_bytes(), &mut slots);
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
    fn a_text_is_walked_no_further_than_is_needed() {
        let (mut node, mut slots) = (Node::default(), Slots::default());
        let slot = node.want("/a/b", &mut slots);
        slots.need(slot);
        let mut walk = |text: &str| {
            (
                node.walk(text.as_bytes(), &mut slots),
                slots.get(slot).map(|place| text[place.clone()].to_string()),
            )
        };
        assert_eq!(walk(r#"{"a":{"b":1,"c":oops},"d"}"#), (Ok(()), Some("1".into())));
        assert_eq!(walk(r#"{"a":{"b":1,"c":"cut"#), (Err(Broken::Cut), Some("1".into())));
        assert_eq!(walk(r#"{"a":{"b":1"#), (Err(Broken::Cut), None));
        assert_eq!(walk(r#"{"a":{"c":1},"d":oops}"#), (Err(Broken::NoJson), None));
        assert_eq!(walk(r#"{"a":{"c":1}}"#), (Ok(()), None));
    }

    #[test]
    fn what_is_no_object_is_told() {
        for text in ["", "x", "[1]", "\"a\"", "{\"a\":}", "{\"a\":1}}", "{a:1}", "{\"a\":\"\\q\"}"] {
            let (mut node, mut slots) = (Node::default(), Slots::default());
            node.want("/a", &mut slots);
            assert_eq!(node.walk(text.as_bytes(), &mut slots), Err(Broken::NoJson), "{text}");
        }
        let deep = "{\"b\":".to_string() + &"[".repeat(100_000);
        assert!(Node::default().walk(deep.as_bytes(), &mut Slots::default()).is_err());
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
            node.walk(text.as_bytes(), &mut slots).unwrap();
            assert_eq!(slots.get(a).map(|place| &text[place.clone()]), expected, "{text}");
        }
    }
}
