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
    /// `@STORE`: after a word.
    Word { word: &'static [u8], how: After },
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
    /// The number of a command and one; 0: nothing.
    slots: Box<[u16; SLOTS]>,
}

/// The keys of a command, whose first argument may be a subcommand. `None`: it is not known.
///
/// Cost: one hash of the name, twice where it has subcommands; nothing is allocated.
pub(crate) fn find(name: &[u8], first: &[u8]) -> Option<&'static [Keys]> {
    let command = match TABLE.get([name, b"", b""]) {
        Some(command) if command.has_subcommands => {
            return Some(TABLE.get([name, b"|", first]).map_or(&[], |command| &command.keys));
        }
        Some(command) => command,
        None => {
            let module = name.get(..memchr::memchr(b'.', name)?)?;
            TABLE.get([module, b".*", b""])?
        }
    };
    Some(&command.keys)
}

impl Table {
    fn new(text: &'static str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let commands: Vec<Command> = lines.map(Command::new).collect();
        let mut slots = Box::new([0; SLOTS]);
        for (number, command) in commands.iter().enumerate() {
            let hash = hash([command.name.as_bytes(), b"", b""]);
            let mut free = (0..SLOTS).map(|step| (hash + step) % SLOTS);
            let free = free.find(|place| slots.get(*place) == Some(&0));
            if let Some(slot) = free.and_then(|place| slots.get_mut(place)) {
                *slot = number as u16 + 1;
            }
        }
        Self { commands, slots }
    }

    fn get(&self, name: [&[u8]; 3]) -> Option<&Command> {
        let hash = hash(name);
        for step in 0..SLOTS {
            let number = usize::from(*self.slots.get((hash + step) % SLOTS)?).checked_sub(1)?;
            let command = self.commands.get(number)?;
            if is_called(command.name.as_bytes(), name) {
                return Some(command);
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
        // MIGRATE has an empty key where a list of keys follows.
        if matches!(keys, Keys::Word { how: After::All, .. }) && places.len() > before {
            let list = places.split_off(before);
            places.retain(|place| !text(*place).is_empty());
            places.extend(list);
        }
    }
}

/// Of a name in any case, in parts.
fn hash(name: [&[u8]; 3]) -> usize {
    let mut hash = 0u32;
    for byte in name.into_iter().flatten() {
        hash = (hash.rotate_left(5) ^ u32::from(byte.to_ascii_uppercase())).wrapping_mul(0x9e37_79b9);
    }
    (hash >> 16) as usize
}

fn is_called(known: &[u8], [name, between, sub]: [&[u8]; 3]) -> bool {
    known.len() == name.len() + between.len() + sub.len()
        && known.get(..name.len()).is_some_and(|known| known.eq_ignore_ascii_case(name))
        && known.get(name.len()..).is_some_and(|rest| {
            rest.starts_with(between)
                && rest.get(between.len()..).is_some_and(|known| known.eq_ignore_ascii_case(sub))
        })
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
        if let Some(word) = text.strip_prefix('@') {
            let end = word.find(['*', '/', '+']).unwrap_or(word.len());
            let (word, how) = word.split_at_checked(end)?;
            let how = match how {
                "" => After::Some(1),
                "*" => After::All,
                "/2" => After::Half,
                more => After::Some(more.strip_prefix('+')?.parse().ok()?),
            };
            return Some(Self::Word { word: word.as_bytes(), how });
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
                let last = at.saturating_add(number.unwrap_or(0).saturating_mul(step)).min(arguments);
                places.extend((at..last).step_by(step.max(1)));
            }
            Self::Word { word, how } => {
                // The first argument is a key, where only one key follows the word.
                let start = usize::from(matches!(how, After::Some(1)));
                let Some(at) = self::word(word, start..arguments, text) else { return };
                let first = at + 1;
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

/// The place of a word that something follows. Words that stand for something else take arguments of their own, which
/// are passed over.
fn word<'a>(word: &[u8], places: Range<usize>, text: &impl Fn(usize) -> &'a [u8]) -> Option<usize> {
    const TAKE: [(&[u8], usize); 5] = [(b"GET", 1), (b"BY", 1), (b"LIMIT", 2), (b"GROUP", 2), (b"COUNT", 1)];
    let mut place = places.start;
    while place + 1 < places.end {
        let argument = text(place);
        if argument.eq_ignore_ascii_case(word) {
            return Some(place);
        }
        let takes = TAKE.iter().find(|(word, _)| argument.eq_ignore_ascii_case(word));
        place += 1 + takes.map_or(0, |(_, takes)| *takes);
    }
    None
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
                let found = find(name.as_bytes(), first.as_bytes());
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
            assert_eq!(find(name.as_bytes(), b""), None, "{name}");
        }
        assert_eq!(find(b"object", b"help"), Some(&[][..]), "a subcommand without keys");
    }

    fn check(command: &str, expected: &[&str]) {
        let words: Vec<&str> = command.split(' ').collect();
        let arguments = &words[1..];
        let mut places = Vec::new();
        let first = arguments.first().map_or(&b""[..], |first| first.as_bytes());
        let known = find(words[0].as_bytes(), first).unwrap();
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
        check("EVAL script 9 a", &["a"]);
        check("EVAL script -1 a", &[]);
        check("EVAL script 18446744073709551615 a", &["a"]);
        check("MSETEX 2 a 1 b 2 EX 5", &["a", "b"]);
        check("BITOP AND d a b", &["d", "a", "b"]);
        check("OBJECT ENCODING a", &["a"]);
        check("object help", &[]);
        check("XREAD COUNT 2 STREAMS a b 0 0", &["a", "b"]);
        check("XREADGROUP GROUP streams streams STREAMS a >", &["a"]);
        check("SORT a BY store GET # LIMIT 0 5 ALPHA store d", &["a", "d"]);
        check("SORT store", &["store"]);
        check("GEORADIUS a 1 2 3 km COUNT 5 STOREDIST d", &["a", "d"]);
        check("ZUNIONSTORE d 2 a b WEIGHTS 1 2", &["d", "a", "b"]);
        check("BZMPOP 1 2 a b MIN", &["a", "b"]);
        check("MIGRATE h 1  0 5 KEYS a b", &["a", "b"]);
        check("MIGRATE h 1 k 0 5", &["k"]);
        check("STRALGO LCS KEYS a b LEN", &["a", "b"]);
        check("JSON.MGET a b $", &["a", "b"]);
        check("json.get a $", &["a"]);
        check("FT.SEARCH idx *", &[]);
    }
}
