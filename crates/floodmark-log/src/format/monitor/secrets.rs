//! What must never be shown: Redis before version 6 puts passwords into MONITOR in clear.

use std::borrow::Cow;

/// Commands whose arguments may be secrets.
const SECRET: [&[u8]; 5] = [b"AUTH", b"HELLO", b"ACL", b"CONFIG", b"MIGRATE"];

/// A line as it may be shown: what follows a quoted command that takes a password is left out. It works on any line,
/// of whatever format it was taken for, and on one that is cut.
pub(crate) fn redacted(line: &[u8]) -> Cow<'_, [u8]> {
    for quote in memchr::memchr_iter(b'"', line) {
        let rest = line.get(quote + 1..).unwrap_or_default();
        let secret = SECRET.iter().find(|word| {
            let (name, after) = rest.split_at_checked(word.len()).unwrap_or((rest, &[]));
            // A key may begin like a command: "auth:7" is none.
            let goes_on = |b: &u8| b.is_ascii_alphanumeric() || b":._-/{".contains(b);
            name.eq_ignore_ascii_case(word) && !after.first().is_some_and(goes_on)
        });
        if let Some(word) = secret {
            let is_closed = rest.get(word.len()) == Some(&b'"');
            let end = quote + 1 + word.len() + usize::from(is_closed);
            let mut shown = line.get(..end).unwrap_or(line).to_vec();
            shown.extend_from_slice(b" (redacted)");
            return shown.into();
        }
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&redacted(line.as_bytes())), expected);
    }

    #[test]
    fn a_password_is_left_out_wherever_the_line_is_shown() {
        check("1 [0 unix:/s] \"AUTH\" \"secret\"", "1 [0 unix:/s] \"AUTH\" (redacted)");
        check("1 [0 h:1] \"auth\" \"user\" \"secret", "1 [0 h:1] \"auth\" (redacted)");
        check("\"Hello\" \"3\" \"AUTH\" \"u\" \"secret\"", "\"Hello\" (redacted)");
        check("x \"config\" \"set\" \"requirepass\" \"secret\"", "x \"config\" (redacted)");
        check("1 [0 h:1] \"AUTH \"secret\"", "1 [0 h:1] \"AUTH (redacted)");
        check("1 [0 h:1] \"AUTH", "1 [0 h:1] \"AUTH (redacted)");
    }

    #[test]
    fn other_lines_are_shown_as_they_are() {
        for line in ["1 [0 h:1] \"GET\" \"auth:7\"", "\"GET /auth HTTP/1.1\" 200", "", "\"authority\":1"] {
            check(line, line);
        }
    }
}
