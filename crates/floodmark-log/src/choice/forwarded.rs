//! The client behind proxies.
//!
//! What people get wrong: `X-Forwarded-For` is written by whoever sends the request. Only what a proxy of one's own
//! has appended can be believed, so the list is read from the right, and the first address that is no such proxy is
//! the client. Its left end is anybody's claim.

use crate::address;
use crate::format::{AnyLines, Field, Lines};
use ipnet::IpNet;

/// Private, link-local and loopback networks: where proxies of one's own usually are.
#[must_use]
pub fn private_networks() -> Vec<IpNet> {
    const PRIVATE: [&str; 9] = [
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "100.64.0.0/10",
        "::1/128",
        "fc00::/7",
        "fe80::/10",
    ];
    PRIVATE.iter().filter_map(|network| network.parse().ok()).collect()
}

#[derive(Clone, Debug)]
pub(crate) struct Forwarded {
    list: Field,
    peer: Field,
    trusted: Vec<IpNet>,
    text: Vec<u8>,
    client: Vec<u8>,
}

impl Forwarded {
    pub(crate) fn new(list: Field, peer: Field, trusted: &[IpNet]) -> Self {
        let trusted = if trusted.is_empty() { private_networks() } else { trusted.to_vec() };
        Self { list, peer, trusted, text: Vec::new(), client: Vec::new() }
    }

    /// The client of the line that was read last: the last address of the list and the peer after it that is no
    /// trusted proxy, or the leftmost if all are. What is no address ends the walk: nobody vouches for what is left
    /// of it.
    pub(crate) fn client(&mut self, lines: &mut AnyLines, line: &[u8]) -> Option<&[u8]> {
        self.text.clear();
        if let Some(place) = lines.place(self.list, line) {
            self.text.extend_from_slice(lines.bytes(&place, line));
        }
        if let Some(place) = lines.place(self.peer, line) {
            self.text.push(b',');
            self.text.extend_from_slice(lines.bytes(&place, line));
        }
        let mut client = None;
        for hop in self.text.rsplit(|&b| b == b',') {
            let hop = hop.trim_ascii();
            match address::of_hop(hop) {
                Some(address) => {
                    client = Some(address);
                    if !self.trusted.iter().any(|network| network.contains(&address)) {
                        break;
                    }
                }
                // A peer may be known by name.
                // nginx writes `unix:` of a proxy on this host, behind a socket.
                None if client.is_none() && !matches!(hop, b"" | b"-" | b"unknown" | b"unix:") => {
                    self.client.clear();
                    self.client.extend_from_slice(hop);
                    return Some(&self.client);
                }
                None if client.is_none() => {}
                None => break,
            }
        }
        address::write(client?, &mut self.client);
        Some(&self.client)
    }
}

#[cfg(test)]
mod tests {
    use crate::format::Format;
    use crate::options::Options;
    use crate::parser::Parser;

    fn check(line: &str, trusted: &[&str], expected: &str) {
        let trusted = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let options = Options { key: Some("forwarded".into()), trusted, ..Options::default() };
        let mut parser = Parser::new(Format::Combined, &[], "test", &options).unwrap();
        let key = match parser.parse(line.as_bytes(), false) {
            Ok(parsed) => String::from_utf8(parser.key(&parsed.key, line.as_bytes()).to_vec()).unwrap(),
            Err(skip) => skip.to_string(),
        };
        assert_eq!(key, expected, "{line}");
    }

    const REST: &str = "- - [07/Dec/2016:11:05:07 +0100] \"GET / HTTP/1.1\" 200 571 \"-\" \"agent\"";

    #[test]
    fn the_client_is_the_last_address_that_is_no_trusted_proxy() {
        let behind = |list: &str| format!("10.2.1.185 {REST} \"{list}\"");
        check(&behind("192.0.2.1"), &[], "192.0.2.1");
        check(&behind("192.0.2.1, 10.0.0.3"), &[], "192.0.2.1");
        check(&behind("198.51.100.9, 192.0.2.1, 10.0.0.3"), &[], "192.0.2.1");
        check(&behind("198.51.100.9, 192.0.2.1"), &["10.0.0.0/8", "192.0.2.0/24"], "198.51.100.9");
        check(&behind("::ffff:192.0.2.1"), &[], "192.0.2.1");
        check(&behind("10.0.0.7, 10.0.0.3"), &[], "10.0.0.7");
    }

    #[test]
    fn a_peer_that_is_no_trusted_proxy_is_the_client_whatever_it_claims() {
        check(&format!("192.0.2.9 {REST} \"198.51.100.1\""), &[], "192.0.2.9");
        check(&format!("192.0.2.9 {REST} \"-\""), &[], "192.0.2.9");
        check(&format!("crawl.example.com {REST} \"198.51.100.1\""), &[], "crawl.example.com");
    }

    #[test]
    fn what_is_no_address_ends_the_walk() {
        check(&format!("10.2.1.185 {REST} \"198.51.100.9, unknown, 10.0.0.3\""), &[], "10.0.0.3");
        check(&format!("- {REST} \"unknown\""), &[], "no_key");
    }

    #[test]
    fn a_proxy_behind_a_socket_is_no_client() {
        check(&format!("unix: {REST} \"198.51.100.1, 192.0.2.1\""), &[], "192.0.2.1");
        check(&format!("unix: {REST} \"-\""), &[], "no_key");
    }

    #[test]
    fn a_list_may_stand_before_the_client_or_in_its_place() {
        check(&format!("10.0.0.2, 10.0.0.1, 192.0.2.38 {REST}"), &[], "192.0.2.38");
        check(&format!("\"198.51.100.2, 192.0.2.1\" 10.2.1.185 {REST}"), &[], "192.0.2.1");
        check(&format!("\"-\" 10.2.1.185 {REST}"), &[], "10.2.1.185");
        check(&format!("192.0.2.7 {REST}"), &[], "192.0.2.7");
    }
}
