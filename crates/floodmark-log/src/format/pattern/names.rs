//! The names of fields: what a pattern calls them, and what other formats do.

use super::super::access;
use std::ops::Range;

/// A name that can be asked for.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) name: String,
    /// Which of the variables or groups it is of.
    pub(super) slot: usize,
    pub(super) part: Part,
}

/// Which part of a variable's text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// All, in the spelling that is usual for an address.
    Address,
    Method,
    Url,
    Path,
    /// Up to a question mark.
    NoQuery,
}

impl Part {
    /// Where it is, in a variable's text.
    pub(super) fn of(self, line: &[u8], text: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::All | Self::Address => Some(text),
            Self::Method => access::method(line, text),
            Self::Url => access::url(line, text),
            Self::Path => access::path(line, text),
            Self::NoQuery => {
                let bytes = line.get(text.clone())?;
                let length = memchr::memchr(b'?', bytes).unwrap_or(bytes.len());
                Some(text.start..text.start + length)
            }
        }
    }
}

/// What else a variable is called: the alias, the part of it that is meant, and its rank among those that have the same.
fn aliases(variable: &str) -> &'static [(&'static str, Part, u8)] {
    use Part::{Address, All, Method, NoQuery, Path, Url};
    match variable {
        "remote_addr" => &[("ip", Address, 0)],
        "remote_host" => &[("ip", Address, 1)],
        "binary_remote_addr" | "client_ip" | "clientip" => &[("ip", Address, 2)],
        "realip_remote_addr" => &[("peer", Address, 0), ("ip", Address, 3)],
        "remote_user" => &[("user", All, 0)],
        "request" => &[("method", Method, 1), ("url", Url, 1), ("path", Path, 2)],
        "request_method" => &[("method", All, 0)],
        "request_uri" => &[("url", All, 0), ("path", NoQuery, 0)],
        "uri" | "document_uri" => &[("url", All, 2), ("path", All, 1)],
        "url" => &[("path", NoQuery, 1)],
        "http_host" => &[("host", All, 1)],
        "server_name" => &[("host", All, 2)],
        "http_user_agent" => &[("agent", All, 0)],
        "http_referer" => &[("referer", All, 0)],
        "http_x_forwarded_for" => &[("forwarded", All, 0)],
        "proxy_add_x_forwarded_for" => &[("forwarded", All, 1)],
        "args" | "query_string" => &[("query", All, 0)],
        _ => &[],
    }
}

/// All names of these variables, in their order, each once.
pub(super) fn names<'a>(variables: impl Iterator<Item = &'a str> + Clone) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut push = |name: &str, slot, part| {
        if !names.iter().any(|known| known.name == name) {
            names.push(Name { name: name.into(), slot, part });
        }
    };
    // A variable's own name goes before what others may be called.
    let own: Vec<&str> = variables.clone().collect();
    for rank in 0..=3 {
        for (slot, variable) in variables.clone().enumerate() {
            for &(alias, part, _) in aliases(variable).iter().filter(|(.., of)| *of == rank) {
                if !own.contains(&alias) {
                    push(alias, slot, part);
                }
            }
        }
    }
    for (slot, variable) in variables.enumerate() {
        push(variable, slot, if is_address(variable) { Part::Address } else { Part::All });
    }
    names
}

fn is_address(variable: &str) -> bool {
    matches!(
        variable,
        "ip" | "client"
            | "addr"
            | "address"
            | "remote_addr"
            | "remote_host"
            | "realip_remote_addr"
            | "client_ip"
            | "clientip"
    )
}

/// The blanks that a variable can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    Any,
    /// None: what seems to have some is several variables of another format.
    None,
    /// As a user's name, which does not begin with one for "nobody".
    Inside,
}

/// The blanks that a variable can have where it stands in no quotes.
pub(super) fn blanks(variable: &str) -> Blanks {
    match variable {
        "status" | "remote_logname" | "request_method" | "body_bytes_sent" | "bytes_sent" => Blanks::None,
        "remote_user" => Blanks::Inside,
        _ if is_address(variable) => Blanks::None,
        _ => Blanks::Any,
    }
}
