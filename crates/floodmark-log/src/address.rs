//! One client, one key: all spellings of an address are the same key.

use ipnet::{Ipv4Net, Ipv6Net};
use std::io::Write;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

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

/// The lengths of the networks that clients are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    v4: u8,
    v6: u8,
}

impl Prefix {
    pub(crate) fn new(v4: u8, v6: u8) -> Option<Self> {
        (v4 <= 32 && v6 <= 128).then_some(Self { v4, v6 })
    }
}

/// Appends the network that an address is in, such as `192.0.2.0/24`; the address itself where the prefix is all of
/// it, and whatever is no address as it stands.
pub(crate) fn write_network(text: &[u8], prefix: Prefix, out: &mut Vec<u8>) {
    let address: Option<IpAddr> = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    let address = address.map(|address| address.to_canonical());
    // Writing to memory cannot fail.
    let _ = match address {
        Some(IpAddr::V4(v4)) if prefix.v4 < 32 => {
            Ipv4Net::new(v4, prefix.v4).map(|network| write!(out, "{}", network.trunc())).ok()
        }
        Some(IpAddr::V6(v6)) if prefix.v6 < 128 => {
            Ipv6Net::new(v6, prefix.v6).map(|network| write!(out, "{}", network.trunc())).ok()
        }
        Some(address) => Some(write!(out, "{address}")),
        None => {
            out.extend_from_slice(text);
            None
        }
    };
}

/// Writes an address in its usual spelling.
pub(crate) fn write(address: IpAddr, out: &mut Vec<u8>) {
    out.clear();
    let _ = write!(out, "{address}");
}

/// An address without its port: of `192.0.2.1:80` and `[2001:db8::1]:80`; all else as it stands.
pub(crate) fn without_port(text: &[u8]) -> &[u8] {
    let colons = memchr::memchr_iter(b':', text).count();
    let end = match text.strip_prefix(b"[") {
        Some(_) => memchr::memchr(b']', text).map(|at| at + 1),
        None if colons == 1 => memchr::memchr(b':', text),
        None => None,
    };
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Reads an address of a list of hops, in any spelling, with a port or without.
pub(crate) fn of_hop(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address: IpAddr = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
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

    fn check_network(address: &str, v4: u8, v6: u8, expected: &str) {
        let mut out = Vec::new();
        write_network(address.as_bytes(), Prefix::new(v4, v6).unwrap(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn clients_can_be_counted_by_their_network() {
        check_network("192.0.2.77", 24, 64, "192.0.2.0/24");
        check_network("2001:db8:1234:5678::102:304", 32, 56, "2001:db8:1234:5600::/56");
        check_network("64:ff9b::102:304", 32, 56, "64:ff9b::/56");
        check_network("192.0.2.77", 32, 64, "192.0.2.77");
        check_network("::ffff:102:304", 32, 56, "1.2.3.4");
        check_network("2001:db8::1", 24, 128, "2001:db8::1");
        check_network("crawl7.example.com", 24, 64, "crawl7.example.com");
        assert_eq!((Prefix::new(33, 0), Prefix::new(0, 129)), (None, None));
    }

    #[test]
    fn a_hop_may_have_a_port() {
        for text in ["192.0.2.1", "192.0.2.1:80", "::ffff:192.0.2.1", "[::ffff:c000:201]:80"] {
            assert_eq!(of_hop(text.as_bytes()), "192.0.2.1".parse().ok(), "{text}");
        }
        assert_eq!(of_hop(b"[2001:db8::1]"), "2001:db8::1".parse().ok());
        for text in ["unknown", "", "_hidden", "192.0.2.1:http"] {
            assert_eq!(of_hop(text.as_bytes()), None, "{text}");
        }
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
