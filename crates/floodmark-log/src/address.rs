//! One client, one key: all spellings of an address are the same key.

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr};

/// Writes the usual spelling of an IPv6 address into `out` and tells whether `text` was one that needed it.
///
/// IPv4-mapped IPv6 (`::ffff:192.0.2.1`) is that IPv4; brackets are left out. Everything else, IPv4 and host names
/// among it, is a key as it stands.
pub(crate) fn normalize(text: &[u8], out: &mut Vec<u8>) -> bool {
    if is_usual_spelling(text) || memchr::memchr(b':', text).is_none() {
        return false;
    }
    let inner = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text);
    let address: Option<Ipv6Addr> = std::str::from_utf8(inner).ok().and_then(|text| text.parse().ok());
    let Some(address) = address else { return false };
    out.clear();
    let address = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
    write!(out, "{address}").is_ok()
}

/// Whether a text is no IPv6 address, or one that is surely written as it would be shown: most are, and reading one
/// back costs more than all the rest of a line.
///
/// Sure are small letters, no leading zeros, at most one `::`, and no zero group beside another or beside that. A
/// bit for each byte tells where the colons and the zeros are; the rules are then a few shifts.
fn is_usual_spelling(text: &[u8]) -> bool {
    let mut bytes = [0; 40];
    match bytes.get_mut(..text.len()) {
        Some(place) => place.copy_from_slice(text),
        None => return false,
    }
    let (mut colons, mut zeros, mut capitals) = (0, 0, 0);
    for (place, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        colons |= zero_bytes(word ^ repeat(b':')) << (8 * place);
        zeros |= zero_bytes(word ^ repeat(b'0')) << (8 * place);
        capitals |= zero_bytes((word & repeat(0xe0)) ^ repeat(0x40));
    }
    let end = 1 << text.len();
    let leading_zeros = zeros & (colons << 1 | 1);
    let zero_groups = leading_zeros & (colons | end) >> 1;
    let gaps = colons & colons >> 1;
    let digits = !colons & (end - 1);
    let too_long = digits & digits >> 1 & digits >> 2 & digits >> 3 & digits >> 4;
    let beside_zero = zero_groups & (zero_groups >> 2 | gaps >> 1 | gaps << 2);
    let at_an_end = colons & (1 | end >> 1);
    let groups_fit = match gaps.count_ones() {
        0 => colons.count_ones() == 7,
        1 => colons.count_ones() <= 6,
        _ => false,
    };
    capitals | too_long | beside_zero | at_an_end == 0 && leading_zeros == zero_groups && groups_fit
}

/// A byte eight times.
const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// A bit for each byte of a word that is zero, the first byte's the lowest.
const fn zero_bytes(word: u64) -> u64 {
    let low = repeat(0x7f);
    let zeros = !(((word & low) + low) | word | low);
    (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
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
        assert!(is_usual_spelling(b"2001:db8::1") && is_usual_spelling(b"2001:db8:cafe::24"));
        assert!(is_usual_spelling(b"2001:db8:1:2:3:4:5:6") && is_usual_spelling(b"2001:db8:0:2:3:4:0:6"));
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
