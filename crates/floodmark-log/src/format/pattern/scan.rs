//! Finds the variables of a format with text between them, without looking back.
//!
//! ```text
//! "$request" $status      literal `"`   $request, up to `" `   $status, up to the end of the line
//! ```
//! A variable ends at the first occurrence of the text that follows it; in quotes, at the first that is no escaped
//! quote. Those that may hold that text themselves, like a time with a blank in it, pass over so many of them.

use super::log_format::{Part, Variable, Written};
use super::names::{self, Blanks};
use memchr::{memchr, memchr2};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct Scanner {
    /// What a line begins with.
    prefix: Vec<u8>,
    steps: Vec<Step>,
}

/// A variable and how it ends.
#[derive(Clone, Debug)]
struct Step {
    end: End,
    blanks: Blanks,
    /// The next one is a time.
    is_before_time: bool,
}

#[derive(Clone, Debug)]
enum End {
    Line,
    Text(Text),
    /// At this byte, which is the next variable's first, or at what follows that one.
    Before(u8, Option<Text>),
    /// It is a question mark or nothing.
    Mark,
}

/// The text behind a variable.
#[derive(Clone, Debug)]
struct Text {
    bytes: Vec<u8>,
    /// The place in it of the byte to look for, one that is likely to be rare.
    anchor: usize,
    /// So often it occurs in the variable itself.
    within: usize,
    /// The variable is in quotes.
    is_quoted: bool,
    /// Nothing but the end of the line comes behind it.
    is_last: bool,
}

/// How much of a format a line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Whole,
    /// The first variable that is not there, and where it should have begun.
    Until(usize, usize),
}

impl Scanner {
    /// The variables are numbered in their order.
    pub(super) fn new(parts: &[Part]) -> Result<Self, String> {
        let prefix = match parts.first() {
            Some(Part::Literal(text)) => text.clone(),
            _ => Vec::new(),
        };
        let mut steps = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let Part::Variable(variable) = part else { continue };
            let before = at.checked_sub(1).and_then(|before| parts.get(before));
            // The next text, which is not always the next part.
            let text = parts.iter().enumerate().skip(at).find_map(|(at, part)| match part {
                Part::Literal(bytes) => Some(Text::new(bytes, variable, before, at + 1 == parts.len())),
                Part::Variable(_) => None,
            });
            let end = match parts.get(at + 1) {
                None => End::Line,
                Some(Part::Literal(_)) => text.map_or(End::Line, End::Text),
                Some(Part::Variable(next)) => between(variable, next, text)?,
            };
            let mut following = parts.iter().skip(at + 1).filter_map(|part| match part {
                Part::Literal(_) => None,
                Part::Variable(next) => Some(next),
            });
            let is_before_time = following.next().is_some_and(|next| next.time.is_some());
            let is_quoted = matches!(before, Some(Part::Literal(before)) if before.last() == Some(&b'"'));
            let blanks = if is_quoted { Blanks::Any } else { names::blanks(&variable.name) };
            steps.push(Step { end, blanks, is_before_time });
        }
        Ok(Self { prefix, steps })
    }

    pub(super) fn starts_with_quote(&self) -> bool {
        self.prefix.first() == Some(&b'"')
    }

    /// Finds the variables in a part of a line; those that are not there are empty. The variable before a time passes
    /// over `extra` of the texts that could end it.
    #[inline]
    pub(super) fn scan(
        &self,
        line: &[u8],
        range: Range<usize>,
        extra: usize,
        places: &mut [Range<usize>],
    ) -> Reach {
        places.fill(0..0);
        let text = line.get(..range.end).unwrap_or(line);
        if !text.get(range.start..).is_some_and(|text| text.starts_with(&self.prefix)) {
            return Reach::Until(0, range.start);
        }
        let mut at = range.start + self.prefix.len();
        for (number, (step, place)) in self.steps.iter().zip(places).enumerate() {
            let rest = text.get(at..).unwrap_or_default();
            let extra = if step.is_before_time { extra } else { 0 };
            let Some((length, behind)) = step.end.find(rest, extra) else { return Reach::Until(number, at) };
            let found = rest.get(..length).unwrap_or_default();
            // A line with more words than these is in another format.
            let is_other = match step.blanks {
                Blanks::Any => false,
                Blanks::None => memchr(b' ', found).is_some(),
                Blanks::Inside => found.starts_with(b"- "),
            };
            if is_other {
                return Reach::Until(number, at);
            }
            *place = at..at + length;
            at += length + behind;
        }
        Reach::Whole
    }
}

/// How a variable ends that another follows at once. `text` is what comes behind that one.
fn between(variable: &Variable, next: &Variable, text: Option<Text>) -> Result<End, String> {
    match (variable.name.as_str(), next.name.as_str()) {
        ("is_args", _) => Ok(End::Mark),
        (_, "is_args" | "query_string") => Ok(End::Before(b'?', text)),
        (_, "request_uri" | "uri" | "document_uri") => Ok(End::Before(b'/', text)),
        _ => Err(format!(
            "nothing stands between {} and {}, so nothing tells where one ends: take a regular expression, with (?<ip>...) \
             and (?<time>...)",
            variable.typed, next.typed
        )),
    }
}

impl End {
    /// The length of the variable at the start of `rest`, and of what ends it.
    #[inline]
    fn find(&self, rest: &[u8], extra: usize) -> Option<(usize, usize)> {
        match self {
            Self::Line => Some((rest.len(), 0)),
            Self::Text(text) => Some((text.find(rest, extra)?, text.bytes.len())),
            Self::Before(byte, text) => {
                let end = text.as_ref().map_or(Some(rest.len()), |text| text.find(rest, 0))?;
                Some((memchr(*byte, rest.get(..end)?).unwrap_or(end), 0))
            }
            Self::Mark => Some((usize::from(rest.first() == Some(&b'?')), 0)),
        }
    }
}

impl Text {
    fn new(bytes: &[u8], variable: &Variable, before: Option<&Part>, is_last: bool) -> Self {
        let is_rare = |b: &u8| !b.is_ascii_alphanumeric() && !matches!(b, b' ' | b'/' | b'.');
        let anchor = bytes.iter().position(is_rare).unwrap_or(0);
        let is_quoted = bytes.first() == Some(&b'"')
            && matches!(before, Some(Part::Literal(before)) if before.last() == Some(&b'"'));
        let within = match (&variable.time, variable.name.as_str()) {
            (Some(Written::Letters(letters)), _) => super::when::sample(letters).unwrap_or_default(),
            (Some(Written::Usual), "time_local") => "17/May/2015:10:05:03 +0000".into(),
            (None, "request") if !is_quoted => "GET / HTTP/1.1".into(),
            _ => String::new(),
        };
        let within = memchr::memmem::find_iter(within.as_bytes(), bytes).count();
        Self { bytes: bytes.into(), anchor, within, is_quoted, is_last }
    }

    /// Where it begins.
    #[inline]
    fn find(&self, rest: &[u8], extra: usize) -> Option<usize> {
        if self.is_last && rest.ends_with(&self.bytes) {
            return Some(rest.len() - self.bytes.len());
        }
        if self.is_quoted {
            // A server that escapes nothing may have written a backslash before the closing quote.
            return self.find_quote(rest).or_else(|| self.find_plain(rest, 0));
        }
        self.find_plain(rest, self.within + extra)
    }

    #[inline]
    fn find_plain(&self, rest: &[u8], mut left: usize) -> Option<usize> {
        let byte = *self.bytes.get(self.anchor)?;
        let mut from = self.anchor;
        loop {
            let at = from + memchr(byte, rest.get(from..)?)?;
            let begin = at - self.anchor;
            if self.is_at(rest, begin) {
                if left == 0 {
                    return Some(begin);
                }
                left -= 1;
            }
            from = at + 1;
        }
    }

    #[inline]
    fn find_quote(&self, rest: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            at += memchr2(b'"', b'\\', rest.get(at..)?)?;
            if rest.get(at) == Some(&b'\\') {
                at += 2;
            } else if self.is_at(rest, at) {
                return Some(at);
            } else {
                at += 1;
            }
        }
    }

    #[inline]
    fn is_at(&self, rest: &[u8], at: usize) -> bool {
        let Some(here) = rest.get(at..).filter(|here| here.starts_with(&self.bytes)) else { return false };
        // A line may have more than its pattern, but not in the middle of a word.
        !self.is_last || here.get(self.bytes.len()).is_none_or(u8::is_ascii_whitespace)
    }
}

#[cfg(test)]
mod tests {
    use super::super::log_format::{parts, server};
    use super::*;

    /// The variables of a line with bars between, and how far they are there.
    fn scan(pattern: &str, line: &str) -> (String, Reach) {
        let parts = parts(pattern, server(pattern).unwrap()).unwrap();
        let scanner = Scanner::new(&parts).unwrap();
        let mut places = vec![0..0; scanner.steps.len()];
        let reach = scanner.scan(line.as_bytes(), 0..line.len(), 0, &mut places);
        (places.iter().map(|place| &line[place.clone()]).collect::<Vec<_>>().join("|"), reach)
    }

    fn check(pattern: &str, line: &str, expected: &str) {
        assert_eq!(scan(pattern, line), (expected.into(), Reach::Whole), "{pattern}");
    }

    #[test]
    fn a_variable_ends_at_the_text_that_follows_it() {
        check("$a - $b [$c]", "1 - x-y - [t]", "1|x-y -|t");
        check("$a|$b", "1|2|3", "1|2|3");
        check("<$a>", "<1>", "1");
        check("$a $b", "1 ", "1|");
    }

    #[test]
    fn a_variable_in_quotes_ends_at_one_that_is_not_escaped() {
        check(r#""$a" $b"#, r#""x\" 1 y" 2"#, r#"x\" 1 y|2"#);
        check(r#""$a" $b"#, r#""x"y" 2"#, r#"x"y|2"#);
        check(r#""$a" $b"#, r#""C:\" 2"#, r#"C:\|2"#);
        check(r#"$a "$b""#, r#"1 "x" y""#, r#"1|x" y"#);
    }

    #[test]
    fn a_time_may_hold_the_text_that_ends_it() {
        check("$time_local $status", "17/May/2015:10:05:03 +0000 200", "17/May/2015:10:05:03 +0000|200");
        check("%{%a %b %d %T %Y}t %s", "Sun Dec 04 04:47:44 2005 200", "Sun Dec 04 04:47:44 2005|200");
        check("$request $status", "GET /a HTTP/1.1 200", "GET /a HTTP/1.1|200");
    }

    #[test]
    fn a_line_with_more_words_than_its_pattern_is_another() {
        assert_eq!(scan("$remote_addr [$b]", "5 192.0.2.1 [t]"), ("|".into(), Reach::Until(0, 0)));
        assert_eq!(scan("$status [$b]", "5 200 [t]"), ("|".into(), Reach::Until(0, 0)));
        check("\"$remote_addr\" [$b]", "\"192.0.2.1, 10.0.0.1\" [t]", "192.0.2.1, 10.0.0.1|t");
        check("$remote_user [$b]", "Ann Lee [t]", "Ann Lee|t");
        let reach = Reach::Until(2, 22);
        assert_eq!(
            scan("%h %l %u %t", "example.com 192.0.2.1 - - [t]"),
            ("example.com|192.0.2.1||".into(), reach)
        );
    }

    #[test]
    fn variables_that_touch_are_told_apart_where_their_first_byte_is_known() {
        check("$scheme://$host$request_uri $status", "http://a.b:80/c?d 200", "http|a.b:80|/c?d|200");
        check("$uri$is_args$args $status", "/a?b=c 200", "/a|?|b=c|200");
        check("$uri$is_args$args $status", "/a 200", "/a|||200");
        check("%m %U%q %H", "GET /a HTTP/1.1", "GET|/a||HTTP/1.1");
        let error = Scanner::new(&parts("$a$b", server("$a$b").unwrap()).unwrap()).unwrap_err();
        assert!(error.starts_with("nothing stands between $a and $b"), "{error}");
    }

    #[test]
    fn a_line_may_have_more_than_its_pattern_and_says_where_it_has_less() {
        check("\"$a\"", "\"x\" more", "x");
        assert_eq!(scan("\"$a\"", "\"x\"more"), (String::new(), Reach::Until(0, 1)));
        assert_eq!(scan("$a [$b] $c", "1 [2]"), ("1||".into(), Reach::Until(1, 3)));
        assert_eq!(scan("[$a]", "1"), (String::new(), Reach::Until(0, 0)));
    }
}
