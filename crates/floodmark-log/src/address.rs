//! One client, one key: all spellings of an address are the same key.

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr};

/// Writes the usual spelling of an IPv6 address into `out` and tells whether `text` was one that needed it.
///
/// IPv4-mapped IPv6 (`::ffff:192.0.2.1`) is that IPv4; brackets are left out. Everything else, IPv4 and host names
/// among it, is a key as it stands.
pub(crate) fn normalize(text: &[u8], out: &mut Vec<u8>) -> bool {
    if memchr::memchr(b':', text).is_none() || is_usual_spelling(text) {
        return false;
    }
    let inner = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text);
    let address: Option<Ipv6Addr> = std::str::from_utf8(inner).ok().and_then(|text| text.parse().ok());
    let Some(address) = address else { return false };
    out.clear();
    let address = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
    write!(out, "{address}").is_ok()
}

/// Whether an IPv6 address is surely written as it would be shown: most are, and reading one back costs more than
/// all the rest of a line.
///
/// Sure are small letters, no leading zeros, at most one `::`, and no zero group beside another or beside that.
fn is_usual_spelling(text: &[u8]) -> bool {
    let (mut groups, mut gaps) = (0, 0);
    let mut after_zero = false;
    let mut rest = text;
    if rest.starts_with(b":") {
        return false;
    }
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count();
        let is_zero = match rest {
            _ if digits == 0 => true,
            [b'0', ..] if digits > 1 => return false,
            [b'0', ..] => true,
            _ => false,
        };
        if digits > 4 || (is_zero && after_zero) {
            return false;
        }
        after_zero = is_zero;
        groups += u32::from(digits > 0);
        gaps += u32::from(digits == 0);
        rest = match rest.get(digits..) {
            Some([b':', after @ ..]) => after,
            Some([]) => &[],
            _ => return false,
        };
    }
    // A `::` at the end is seen as one empty group too few; that is for the careful way.
    match gaps {
        0 => groups == 8 && !text.ends_with(b":"),
        1 => groups <= 6 && !text.ends_with(b":"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let mut out = Vec::new();
        let key = if normalize(input.as_bytes(), &mut out) { out } else { input.as_bytes().to_vec() };
        assert_eq!(String::from_utf8(key).unwrap(), expected);
    }

    #[test]
    fn all_spellings_of_an_address_are_one_key() {
        check("0:0:0:0:0:0:0:1", "::1");
        check("2001:DB8::0001", "2001:db8::1");
        check("[2001:db8::1]", "2001:db8::1");
        check("::ffff:1.2.3.4", "1.2.3.4");
        check("::ffff:102:304", "1.2.3.4");
    }

    #[test]
    fn a_spelling_that_is_passed_over_is_the_one_that_would_be_shown() {
        let groups = ["0", "1", "a0", "00a", "ffff", "0000", "F"];
        for seed in 0u32..200_000 {
            let mut text = String::new();
            for place in 0..(seed % 9) {
                let pick = (seed / 9).wrapping_mul(2_654_435_761).rotate_left(place * 5) as usize % 10;
                text += groups.get(pick).copied().unwrap_or_default();
                text += if place + 1 == seed % 9 && seed % 2 == 0 { "" } else { ":" };
            }
            if let Ok(address) = text.parse::<Ipv6Addr>()
                && is_usual_spelling(text.as_bytes())
            {
                assert_eq!(address.to_string(), text);
            }
        }
        assert!(is_usual_spelling(b"2001:db8::1") && is_usual_spelling(b"2001:db8:0:2:3:4:0:6"));
    }

    #[test]
    fn what_is_no_ipv6_address_is_a_key_as_it_stands() {
        for text in
            ["192.0.2.1", "208.271.69.50", "crawl7.example.com", "example.com:80", "fe80::1%eth0", ":"]
        {
            check(text, text);
        }
    }
}
