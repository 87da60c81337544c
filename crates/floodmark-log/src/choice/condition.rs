//! `--where`: what a line must say.

use memchr::memmem;
use std::str::FromStr;

/// A field, and the values that it may have, such as `status=401,403`, `path=/login*` or `status!=200`.
///
/// A comma stands between values, of which one must match; `*` stands for any bytes, none among them. A backslash
/// takes their meaning from both. A line that lacks the field has none of the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    field: String,
    check: Check,
}

/// A condition without the name of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    is_not: bool,
    values: Vec<Pattern>,
}

/// What stands between the `*`s of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(Vec<Vec<u8>>);

impl Condition {
    /// The name of the field.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    pub(crate) fn check(&self) -> Check {
        self.check.clone()
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("\"{text}\" is not a condition: say FIELD=VALUE, as in status=401,403 or path=/login*")
        };
        let (field, values) = text.split_once('=').ok_or_else(wrong)?;
        let (field, is_not) = match field.strip_suffix('!') {
            Some(field) => (field, true),
            None => (field, false),
        };
        if field.is_empty() {
            return Err(wrong());
        }
        Ok(Self { field: field.into(), check: Check { is_not, values: patterns(values) } })
    }
}

fn patterns(text: &str) -> Vec<Pattern> {
    let mut values = Vec::new();
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => piece.push(bytes.next().unwrap_or(b'\\')),
            b'*' => pieces.push(std::mem::take(&mut piece)),
            b',' => {
                pieces.push(std::mem::take(&mut piece));
                values.push(Pattern(std::mem::take(&mut pieces)));
            }
            other => piece.push(other),
        }
    }
    pieces.push(piece);
    values.push(Pattern(pieces));
    values
}

impl Check {
    /// Whether a field with this value, or without one, fits.
    pub(crate) fn holds(&self, value: Option<&[u8]>) -> bool {
        let is_one = value.is_some_and(|value| self.values.iter().any(|pattern| pattern.matches(value)));
        is_one != self.is_not
    }
}

impl Pattern {
    fn matches(&self, value: &[u8]) -> bool {
        let [first, middle @ .., last] = self.0.as_slice() else {
            return self.0.first().is_some_and(|whole| whole == value);
        };
        let Some(rest) = value.strip_prefix(first.as_slice()) else { return false };
        let Some(mut rest) = rest.strip_suffix(last.as_slice()) else { return false };
        // The earliest place for each piece leaves the most room for the others.
        middle.iter().all(|piece| match memmem::find(rest, piece) {
            Some(at) => {
                rest = rest.get(at + piece.len()..).unwrap_or_default();
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(condition: &str, value: Option<&str>, expected: bool) {
        let condition: Condition = condition.parse().unwrap();
        assert_eq!(condition.check.holds(value.map(str::as_bytes)), expected, "{condition:?} {value:?}");
    }

    #[test]
    fn one_of_the_values_must_be_the_whole_field() {
        check("status=401,403", Some("403"), true);
        check("status=401,403", Some("40"), false);
        check("status=401,403", Some("4031"), false);
        check("status=401", None, false);
        check("user=", Some(""), true);
    }

    #[test]
    fn a_star_is_any_bytes() {
        check("path=/login*", Some("/login"), true);
        check("path=/login*", Some("/login/x"), true);
        check("path=/login*", Some("/a/login"), false);
        check("path=*.php", Some("/a.php"), true);
        check("path=/a*b*c", Some("/abbc"), true);
        check("path=/a*b*c", Some("/acb"), false);
        check("path=/ab*bc", Some("/abc"), false);
        check("path=*", Some("anything"), true);
        check("path=*", None, false);
    }

    #[test]
    fn a_backslash_takes_the_meaning_away() {
        check("path=/a\\,b", Some("/a,b"), true);
        check("path=/a\\*", Some("/a*"), true);
        check("path=/a\\*", Some("/ab"), false);
        check("path=a\\\\", Some("a\\"), true);
    }

    #[test]
    fn a_negated_condition_holds_where_none_of_the_values_is() {
        check("status!=200,304", Some("500"), true);
        check("status!=200,304", Some("304"), false);
        check("user!=ann", None, true);
    }

    #[test]
    fn what_is_no_condition_says_what_to_type() {
        for text in ["status", "=5", "!=5", ""] {
            assert!(text.parse::<Condition>().unwrap_err().contains("say FIELD=VALUE"), "{text}");
        }
    }
}
