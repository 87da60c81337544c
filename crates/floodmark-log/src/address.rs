//! One client, one key: all spellings of an address are the same key.

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr};

/// Writes the usual spelling of an IPv6 address into `out` and tells whether `text` was one that needed it.
///
/// IPv4-mapped IPv6 (`::ffff:192.0.2.1`) is that IPv4; brackets are left out. Everything else, IPv4 and host names
/// among it, is a key as it stands.
pub(crate) fn normalize(text: &[u8], out: &mut Vec<u8>) -> bool {
    if memchr::memchr(b':', text).is_none() {
        return false;
    }
    let inner = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text);
    let address: Option<Ipv6Addr> = std::str::from_utf8(inner).ok().and_then(|text| text.parse().ok());
    let Some(address) = address else { return false };
    out.clear();
    let address = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
    write!(out, "{address}").is_ok()
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
    fn what_is_no_ipv6_address_is_a_key_as_it_stands() {
        for text in
            ["192.0.2.1", "208.271.69.50", "crawl7.example.com", "example.com:80", "fe80::1%eth0", ":"]
        {
            check(text, text);
        }
    }
}
