//! Which arguments of a command are keys: the table that commands.txt describes.

use std::ops::Range;
use std::sync::LazyLock;

/// Where keys stand among the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// `1:-2`: from the first to the last, every so many; counted from 1, and from the end where negative.
    Range { first: i32, last: i32, step: usize },
    /// `#2`: as many as that argument says, after it, every so many.
    Number { at: usize, step: usize },
    /// `2@STORE`: after one of the words, which are looked for from that argument on.
    Word { from: usize, words: &'static str, how: After },
}

/// How many of the arguments after a word are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Some(usize),
    All,
    Half,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    name: &'static str,
    /// The first argument is a subcommand.
    has_subcommands: bool,
    pub(crate) keys: Vec<Keys>,
}

const TEXT: &str = include_str!("commands.txt");
/// Slots, a power of two: four times as many as there are lines, so that most are found at once.
const SLOTS: usize = 2048;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(TEXT));

struct Table {
    commands: Vec<Command>,
    /// Their names, packed, in the same order.
    names: Vec<Packed>,
    /// The number of a command and one; 0: nothing.
    slots: Box<[u16; SLOTS]>,
}

/// The keys of a command; `first` is its first argument, which may be a subcommand. `None`: it is not known.
///
/// Cost: one hash of the name, twice where it has subcommands; nothing is allocated.
pub(crate) fn find<'a>(name: &[u8], first: impl FnOnce() -> &'a [u8]) -> Option<&'static [Keys]> {
    let mut joined = [0; LONGEST];
    let command = match TABLE.get(name) {
        Some(command) if command.has_subcommands => {
            let name = join([name, b"|", first()], &mut joined);
            return Some(name.and_then(|name| TABLE.get(name)).map_or(&[], |command| &command.keys));
        }
        Some(command) => command,
        None => {
            let module = name.get(..memchr::memchr(b'.', name)?)?;
            TABLE.get(join([module, b".*", b""], &mut joined)?)?
        }
    };
    Some(&command.keys)
}

/// No name is longer, with its subcommand.
const LONGEST: usize = 40;

fn join<'a>(parts: [&[u8]; 3], joined: &'a mut [u8; LONGEST]) -> Option<&'a [u8]> {
    let mut end = 0;
    for part in parts {
        joined.get_mut(end..end + part.len())?.copy_from_slice(part);
        end += part.len();
    }
    joined.get(..end)
}

/// A name by its first and last eight bytes and its length, in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed([u64; 2], usize);

impl Packed {
    fn new(name: &[u8]) -> Self {
        /// Without the bit that capitals and small letters differ in. Signs and digits lose it too: what differs in
        /// nothing else is no name.
        const CAPITALS: u64 = u64::from_ne_bytes([0xdf; 8]);
        let (first, last) = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => (name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0),
        };
        Self([first & CAPITALS, last & CAPITALS], name.len())
    }

    fn hash(self) -> usize {
        let Self([first, last], length) = self;
        let word = (first ^ last.rotate_left(29) ^ length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (word >> 40) as usize
    }
}

impl Table {
    fn new(text: &'static str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let commands: Vec<Command> = lines.map(Command::new).collect();
        let names: Vec<Packed> =
            commands.iter().map(|command| Packed::new(command.name.as_bytes())).collect();
        let mut slots = Box::new([0; SLOTS]);
        for (number, name) in names.iter().enumerate() {
            let mut free = (0..SLOTS).map(|step| (name.hash() + step) % SLOTS);
            let free = free.find(|place| slots.get(*place) == Some(&0));
            if let Some(slot) = free.and_then(|place| slots.get_mut(place)) {
                *slot = number as u16 + 1;
            }
        }
        Self { commands, names, slots }
    }

    fn get(&self, name: &[u8]) -> Option<&Command> {
        let packed = Packed::new(name);
        for step in 0..SLOTS {
            let number = usize::from(*self.slots.get((packed.hash() + step) % SLOTS)?).checked_sub(1)?;
            if self.names.get(number) == Some(&packed) {
                let command = self.commands.get(number)?;
                // All of a shorter name has been compared.
                if name.len() <= 16 || command.name.as_bytes().eq_ignore_ascii_case(name) {
                    return Some(command);
                }
            }
        }
        None
    }
}

/// The places of a command's keys among so many arguments, from 0, in the order of its line; `text` is an argument
/// without its escapes, as far as numbers and words have none.
pub(crate) fn places<'a>(
    keys: &[Keys],
    arguments: usize,
    text: impl Fn(usize) -> &'a [u8],
    places: &mut Vec<usize>,
) {
    places.clear();
    for keys in keys {
        let before = places.len();
        keys.places(arguments, &text, places);
        // MIGRATE has an empty key where a list of keys follows. With a key and a list the server refuses it.
        if matches!(keys, Keys::Word { how: After::All, .. }) && places.len() > before {
            if places.iter().take(before).all(|place| text(*place).is_empty()) {
                places.drain(..before);
            } else {
                places.truncate(before);
            }
        }
    }
}

impl Command {
    fn new(line: &'static str) -> Self {
        let (name, keys) = line.split_once(' ').unwrap_or((line, ""));
        let has_subcommands = keys == "|";
        let keys = keys.split(' ').filter_map(Keys::new).collect();
        Self { name, has_subcommands, keys }
    }
}

impl Keys {
    /// Reads one item; `None` for what is none, which a test looks for.
    fn new(text: &'static str) -> Option<Self> {
        if let Some(number) = text.strip_prefix('#') {
            let (at, step) = number.split_once(':').unwrap_or((number, "1"));
            return Some(Self::Number { at: at.parse().ok()?, step: step.parse().ok()? });
        }
        if let Some((from, word)) = text.split_once('@') {
            let end = word.find(['*', '/', '+']).unwrap_or(word.len());
            let (words, how) = word.split_at_checked(end)?;
            let how = match how {
                "" => After::Some(1),
                "*" => After::All,
                "/2" => After::Half,
                more => After::Some(more.strip_prefix('+')?.parse().ok()?),
            };
            return Some(Self::Word { from: from.parse().ok()?, words, how });
        }
        let mut numbers = text.split(':');
        let first: i32 = numbers.next()?.parse().ok()?;
        let last = numbers.next().map_or(Some(first), |last| last.parse().ok())?;
        let step = numbers.next().map_or(Some(1), |step| step.parse().ok())?;
        Some(Self::Range { first, last, step })
    }

    fn places<'a>(&self, arguments: usize, text: &impl Fn(usize) -> &'a [u8], places: &mut Vec<usize>) {
        match *self {
            Self::Range { first, last, step } => {
                let place = |n: i32| match usize::try_from(n) {
                    Ok(n) => n.checked_sub(1),
                    Err(_) => arguments.checked_sub(n.unsigned_abs() as usize),
                };
                let (Some(first), Some(last)) = (place(first), place(last)) else { return };
                places.extend((first..=last).take_while(|place| *place < arguments).step_by(step.max(1)));
            }
            Self::Number { at, step } => {
                let number = at.checked_sub(1).filter(|at| *at < arguments).map(text);
                let number =
                    number.and_then(|text: &[u8]| std::str::from_utf8(text).ok()?.parse::<usize>().ok());
                // With fewer arguments than it says, the server refuses the command.
                let last = at.saturating_add(number.unwrap_or(0).saturating_mul(step));
                if last <= arguments {
                    places.extend((at..last).step_by(step.max(1)));
                }
            }
            Self::Word { from, words, how } => {
                let from = from.saturating_sub(1);
                let Some(first) = after_word(words, how, from..arguments, text) else { return };
                let last = match how {
                    After::Some(n) => (first + n).min(arguments),
                    After::All => arguments,
                    After::Half => first + (arguments - first) / 2,
                };
                places.extend(first..last);
            }
        }
    }
}

/// The place after one of the words, if there is an argument. Other words take arguments of their own, which are passed
/// over, whatever they are called: a password may well be `keys`.
fn after_word<'a>(
    words: &str,
    how: After,
    places: Range<usize>,
    text: &impl Fn(usize) -> &'a [u8],
) -> Option<usize> {
    const TAKE: [(&str, usize); 8] = [
        ("GET", 1),
        ("BY", 1),
        ("LIMIT", 2),
        ("GROUP", 2),
        ("COUNT", 1),
        ("AUTH", 1),
        ("AUTH2", 2),
        ("STRINGS", 2),
    ];
    let (mut place, mut found) = (places.start, None);
    while place + 1 < places.end {
        let argument = text(place);
        let is = |word: &str| argument.eq_ignore_ascii_case(word.as_bytes());
        if words.split(',').any(is) {
            found = Some(place + 1);
            // Where one argument follows, the last such word counts, as it does for the server.
            if !matches!(how, After::Some(1)) {
                break;
            }
            place += 1;
        }
        place += 1 + TAKE.iter().find(|(word, _)| is(word)).map_or(0, |(_, takes)| *takes);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_found_in_any_case() {
        let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut names = Vec::new();
        for line in lines {
            let (name, keys) = line.split_once(' ').unwrap_or((line, ""));
            let expected: Vec<_> = keys.split(' ').filter(|keys| !matches!(*keys, "" | "|")).collect();
            let mixed: String = name
                .chars()
                .enumerate()
                .map(|(i, c)| if i % 2 == 0 { c } else { c.to_ascii_lowercase() })
                .collect();
            for name in [name, &name.to_ascii_lowercase(), &mixed] {
                let name = name.replace(".*", ".other");
                let (name, first) = name.split_once('|').unwrap_or((&name, ""));
                let found = find(name.as_bytes(), || first.as_bytes());
                assert_eq!(found.map(<[_]>::len), Some(expected.len()), "{line}");
            }
            names.push(name);
        }
        assert!(names.is_sorted(), "the table is sorted, so that a name is in it once");
        names.dedup();
        assert_eq!(names.len(), TABLE.commands.len());
        assert!(names.len() * 4 < SLOTS + names.len(), "{} lines want more slots", names.len());
    }

    #[test]
    fn a_command_that_is_not_in_the_table_is_not_known() {
        for name in ["GETT", "GE", "", "NO.SUCH", "|", "JSON"] {
            assert_eq!(find(name.as_bytes(), || b""), None, "{name}");
        }
        assert_eq!(find(b"object", || b"help"), Some(&[][..]), "a subcommand without keys");
    }

    fn check(command: &str, expected: &[&str]) {
        let words: Vec<&str> = command.split(' ').collect();
        let arguments = &words[1..];
        let mut places = Vec::new();
        let first = arguments.first().map_or(&b""[..], |first| first.as_bytes());
        let known = find(words[0].as_bytes(), || first).unwrap();
        self::places(known, arguments.len(), |place| arguments[place].as_bytes(), &mut places);
        let keys: Vec<&str> = places.iter().map(|place| arguments[*place]).collect();
        assert_eq!(keys, expected, "{command}");
    }

    #[test]
    fn keys_are_where_the_command_has_them() {
        check("GET a", &["a"]);
        check("PING", &[]);
        check("GET", &[]);
        check("MGET a b c", &["a", "b", "c"]);
        check("MSET a 1 b 2", &["a", "b"]);
        check("MSET a 1 b", &["a", "b"]);
        check("BLPOP a b 0", &["a", "b"]);
        check("BLPOP 0", &[]);
        check("EVAL script 2 a b c", &["a", "b"]);
        check("EVAL script 0 c", &[]);
        check("EVAL script 9 a", &[]);
        check("EVAL script -1 a", &[]);
        check("EVAL script 18446744073709551615 a", &[]);
        check("MSETEX 2 a 1 b 2 EX 5", &["a", "b"]);
        check("BITOP AND d a b", &["d", "a", "b"]);
        check("OBJECT ENCODING a", &["a"]);
        check("object help", &[]);
        check("XREAD COUNT 2 STREAMS a b 0 0", &["a", "b"]);
        check("XREADGROUP GROUP streams streams STREAMS a >", &["a"]);
        check("SORT a BY store GET # LIMIT 0 5 ALPHA store d", &["a", "d"]);
        check("SORT store", &["store"]);
        check("BLESS SET a NO-EVICT", &["a"]);
        check("BLESS SCAN 0 NO-EVICT", &[]);
        check("SUNIONCARD 2 a b APPROX", &["a", "b"]);
        check("BLMOVEM a b LEFT RIGHT 1 COUNT 2", &["a", "b"]);
        check("SORT a STORE d STORE e", &["a", "e"]);
        check("SORT a GET store STORE store", &["a", "store"]);
        check("GEORADIUS a 1 2 3 km COUNT 5 STOREDIST d", &["a", "d"]);
        check("GEORADIUSBYMEMBER a store 5 km", &["a"]);
        check("GEORADIUSBYMEMBER a store 5 km STORE d", &["a", "d"]);
        check("GEORADIUSBYMEMBER a m 5 km STORE d STOREDIST e", &["a", "e"]);
        check("ZUNIONSTORE d 2 a b WEIGHTS 1 2", &["d", "a", "b"]);
        check("BZMPOP 1 2 a b MIN", &["a", "b"]);
        check("MIGRATE h 1  0 5 KEYS a b", &["a", "b"]);
        check("MIGRATE h 1 k 0 5", &["k"]);
        check("MIGRATE keys 1 k 0 5 COPY", &["k"]);
        check("STRALGO LCS KEYS a b LEN", &["a", "b"]);
        check("STRALGO LCS STRINGS keys b LEN", &[]);
        check("JSON.MGET a b $", &["a", "b"]);
        check("json.get a $", &["a"]);
        check("FT.SEARCH idx *", &[]);
    }

    #[test]
    fn a_password_is_never_a_key() {
        check("MIGRATE keys 1  0 5 AUTH secret KEYS a b", &["a", "b"]);
        check("MIGRATE h 1  0 5 AUTH keys KEYS a b", &["a", "b"]);
        check("MIGRATE h 1  0 5 COPY AUTH2 keys secret KEYS a b", &["a", "b"]);
        check("MIGRATE h 1 k 0 5 AUTH keys REPLACE", &["k"]);
        check("MIGRATE h 1 k 0 5 AUTH2 keys secret", &["k"]);
    }
}
