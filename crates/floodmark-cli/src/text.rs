//! Text for people: what came from an input is shown safely, numbers are grouped.

use std::fmt::Write;
use std::io::{self, Write as _};

/// Shows bytes on one line of a terminal: control characters, and those that reorder text, are escaped, and so are
/// bytes that are no UTF-8.
pub(crate) fn safe(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            if is_unsafe(char) { shown.extend(char.escape_default()) } else { shown.push(char) }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Characters that a terminal acts on instead of showing them: controls, line separators, and marks of direction.
pub(crate) fn is_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `1 key`, `2 keys`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// One line on standard error.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "floodmark: {}", safe(message.as_bytes()));
}

/// Says that times of the input lay in the far future, if any did.
pub(crate) fn tell_healed(healed: u64) {
    if healed > 0 {
        let times = counted(healed, "time");
        complain(&format!(
            "{times}, the newest time of a key lay in the far future, and its counts were moved back"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        assert_eq!(safe(b"192.0.2.1"), "192.0.2.1");
        assert_eq!(safe("日本 ü".as_bytes()), "日本 ü");
        assert_eq!(safe(b"\x1b[2J\r\n\t\0"), "\\u{1b}[2J\\r\\n\\t\\u{0}");
        assert_eq!(safe(b"a\xff\xc3b"), "a\\xff\\xc3b");
        assert_eq!(safe("\u{202e}gnp\u{9b}".as_bytes()), "\\u{202e}gnp\\u{9b}");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "key"), "1 key");
    }
}
