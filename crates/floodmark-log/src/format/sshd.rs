//! What sshd writes to syslog.
//!
//! ```text
//! Dec 10 06:55:46 host sshd[24200]: Failed password for invalid user webmaster from 192.0.2.1 port 38926 ssh2
//! <38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - - Invalid user webmaster from 192.0.2.1
//! ```
//! What people get wrong: user names are chosen by whoever attacks, and may look like the rest of the line. So the
//! address is looked for where sshd puts it, never just after the first `from`.

use super::{Field, Found, Lines, Place};
use crate::address;
use crate::choice::Condition;
use crate::event::Skip;
use crate::options::Options;
use crate::time::{self, Stamp};
use crate::zone::YearlessTime;
use floodmark::{Clock, SystemClock};
use memchr::{memchr, memmem};
use std::net::IpAddr;
use std::ops::Range;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Sshd {
    times: YearlessTime,
    /// Of the line that was read last.
    host: Range<usize>,
    program: Range<usize>,
    said: Said,
    scratch: Vec<u8>,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    Failed,
    InvalidUser,
    Refused,
    Pam,
    #[default]
    Other,
}

/// What a message tells, as places in it or in its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    outcome: Outcome,
    n: u64,
    user: Range<usize>,
    peer: Range<usize>,
    port: Range<usize>,
}

/// A message that says it was repeated more often than this is one event of that weight: no line may cost too much.
const MOST_REPEATED: u64 = 1 << 12;

const FIELDS: [&str; 6] = ["ip", "user", "outcome", "host", "program", "port"];

/// A line's head: up to its message.
struct Head {
    stamp: Stamp,
    host: Range<usize>,
    program: Range<usize>,
    message: usize,
}

impl Sshd {
    pub(crate) fn new(options: &Options) -> Self {
        let newest =
            options.newest.unwrap_or_else(|| SystemClock.now().saturating_add(Duration::from_secs(86_400)));
        let times = YearlessTime::new(&options.zones, options.year, newest);
        let (host, program, said, scratch) = Default::default();
        Self { times, host, program, said, scratch }
    }

    fn head(&mut self, line: &[u8]) -> Result<Head, Skip> {
        let mut at = 0;
        let mut is_new = false;
        if line.first() == Some(&b'<') {
            // The priority, and in the newer form a version.
            at = memchr(b'>', line.get(..8).unwrap_or(line)).ok_or(Skip::Malformed)? + 1;
            is_new = line.get(at..at + 2) == Some(b"1 ");
            at += if is_new { 2 } else { 0 };
        }
        let begin = at;
        let has_month = line.get(at).is_some_and(u8::is_ascii_alphabetic);
        if has_month {
            at += month_length(line.get(at..).unwrap_or_default()).ok_or(Skip::Malformed)?;
        } else {
            at += memchr(b' ', line.get(at..).unwrap_or_default()).ok_or(Skip::Malformed)?;
        }
        let time_ends = at;
        let (host, program, end) = if is_new { app(line, at)? } else { tag(line, at)? };
        let written = line.get(begin..time_ends).unwrap_or_default();
        let stamp = self.time(written, has_month, line.get(host.clone()).unwrap_or_default());
        let stamp = stamp.ok_or(Skip::BadTime)?;
        let mut message = end + usize::from(line.get(end) == Some(&b' '));
        if is_new {
            message = after_data(line, message).ok_or(Skip::Malformed)?;
            // Text that is sure to be UTF-8 begins with a mark.
            let is_marked = line.get(message..).is_some_and(|text| text.starts_with(b"\xef\xbb\xbf"));
            message += if is_marked { 3 } else { 0 };
        } else if line.get(message..).is_some_and(|text| text.starts_with(b"[ID ")) {
            // Solaris numbers its messages.
            message +=
                memmem::find(line.get(message..).unwrap_or_default(), b"] ").ok_or(Skip::Malformed)? + 2;
        }
        Ok(Head { stamp, host, program, message })
    }

    fn time(&mut self, written: &[u8], has_month: bool, host: &[u8]) -> Option<Stamp> {
        if !has_month {
            return time::read_zoned(written).or_else(|| {
                let (civil, nanos, digits) = time::read_civil(written)?;
                let at = self.times.local(civil, host)?.saturating_add(Duration::from_nanos(nanos));
                Some(Stamp { at, digits })
            });
        }
        let at = match written.first_chunk() {
            Some(usual) if written.len() == 15 => self.times.read(usual, host)?,
            // A day of one digit that is not padded.
            _ => {
                let (month, rest) = written.split_first_chunk::<4>()?;
                let padded = [&month[..], b" ", rest.trim_ascii()].concat();
                self.times.read(padded.first_chunk().filter(|_| padded.len() == 15)?, host)?
            }
        };
        Some(Stamp { at, digits: 0 })
    }
}

impl Lines for Sshd {
    fn field(&mut self, name: &str) -> Option<Field> {
        FIELDS.iter().position(|known| *known == name).map(Field)
    }

    fn known(&self) -> String {
        FIELDS.join(", ")
    }

    fn usual_key(&self) -> &str {
        "ip"
    }

    fn usual_conditions(&self) -> Vec<Condition> {
        "outcome=failed".parse().into_iter().collect()
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &["ip", "user", "outcome"]
    }

    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        let Head { stamp, host, program, message } = self.head(line)?;
        let text = line.get(message..).unwrap_or_default();
        self.said = read_message(text).ok_or(Skip::Keyless)?;
        for place in [&mut self.said.user, &mut self.said.peer, &mut self.said.port] {
            *place = place.start + message..place.end + message;
        }
        (self.host, self.program) = (host, program);
        // A message that was repeated is as many attempts, each judged by itself.
        let (n, more) = match self.said.n {
            n @ 1..=MOST_REPEATED => (1, n as usize - 1),
            n => (n, 0),
        };
        Ok(Found { n, stamp, is_damaged: is_cut, more })
    }

    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place> {
        let place = match *FIELDS.get(field.0)? {
            "ip" => {
                let text = line.get(self.said.peer.clone())?;
                if address::normalize(text, &mut self.scratch) {
                    return Some(Place::Scratch);
                }
                &self.said.peer
            }
            "user" => &self.said.user,
            "host" => &self.host,
            "program" => &self.program,
            "port" => &self.said.port,
            _ => {
                self.scratch.clear();
                self.scratch.extend_from_slice(self.said.outcome.name().as_bytes());
                return Some(Place::Scratch);
            }
        };
        (!place.is_empty()).then(|| Place::Line(place.clone()))
    }

    fn scratch(&self) -> &[u8] {
        &self.scratch
    }
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::InvalidUser => "invalid_user",
            Self::Refused => "refused",
            Self::Pam => "pam",
            Self::Other => "other",
        }
    }
}

/// The length of `Dec 10 06:55:46`, whose day may have one digit, with one blank before it or two.
fn month_length(text: &[u8]) -> Option<usize> {
    let clock = memchr(b':', text.get(..16).unwrap_or(text))?;
    let length = clock + 6;
    (text.get(3) == Some(&b' ') && (8..=9).contains(&clock) && length <= text.len()).then_some(length)
}

/// The next word at or after `start`.
fn word(line: &[u8], start: usize) -> Option<Range<usize>> {
    let text = line.get(start..)?;
    let from = start + text.iter().position(|b| *b != b' ')?;
    let length = memchr(b' ', line.get(from..)?).unwrap_or(line.len() - from);
    Some(from..from + length)
}

/// The places of host and program, and the end of the latter, in `[host ][facility ]sshd[24200]:`.
///
/// A program is told by what follows its name, as a host may be called sshd too.
fn tag(line: &[u8], start: usize) -> Result<(Range<usize>, Range<usize>, usize), Skip> {
    let mut host = 0..0;
    let mut at = start;
    for _ in 0..3 {
        let token = word(line, at).ok_or(Skip::Malformed)?;
        let text = line.get(token.clone()).unwrap_or_default();
        at = token.end;
        if text.ends_with(b":") || text.ends_with(b"]") {
            let name = program(text);
            let start = token.start + usize::from(text.starts_with(b"["));
            let is_ours = is_sshd(name);
            return if is_ours { Ok((host, start..start + name.len(), at)) } else { Err(Skip::OtherProgram) };
        }
        if host.is_empty() {
            host = token;
        }
    }
    Err(Skip::OtherProgram)
}

/// The same in `host sshd` of RFC 5424, where each has its place and `-` stands for none.
fn app(line: &[u8], start: usize) -> Result<(Range<usize>, Range<usize>, usize), Skip> {
    let host = word(line, start).ok_or(Skip::Malformed)?;
    let program = word(line, host.end).ok_or(Skip::Malformed)?;
    if !is_sshd(line.get(program.clone()).unwrap_or_default()) {
        return Err(Skip::OtherProgram);
    }
    let end = program.end;
    Ok((if line.get(host.clone()) == Some(b"-") { 0..0 } else { host }, program, end))
}

/// The name in `sshd[24200]:`, `sshd(pam_unix)[1]:`, `[sshd]` and the like.
fn program(token: &[u8]) -> &[u8] {
    let token = token.strip_prefix(b"[").unwrap_or(token);
    let length = token.iter().position(|b| matches!(b, b'[' | b']' | b'(' | b':')).unwrap_or(token.len());
    token.get(..length).unwrap_or(token)
}

/// sshd itself, or one of the processes it is made of: `sshd-session`, `sshd-auth`.
fn is_sshd(name: &[u8]) -> bool {
    name.strip_prefix(b"sshd").is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-"))
}

/// The place of the message after the process, its id and the structured data of RFC 5424.
fn after_data(line: &[u8], start: usize) -> Option<usize> {
    let id = word(line, word(line, start)?.end)?;
    let mut at = id.end + 1;
    if line.get(at) == Some(&b'-') {
        return Some((at + 2).min(line.len()));
    }
    while line.get(at) == Some(&b'[') {
        let mut is_quoted = false;
        loop {
            match line.get(at)? {
                b'"' => is_quoted = !is_quoted,
                b'\\' => at += 1,
                b']' if !is_quoted => break,
                _ => {}
            }
            at += 1;
        }
        at += 1;
    }
    Some((at + 1).min(line.len()))
}

/// What a message tells of a peer; `None` if it names none.
fn read_message(text: &[u8]) -> Option<Said> {
    if let Some(repeated) = text.strip_prefix(b"message repeated ") {
        let length = memchr(b' ', repeated)?;
        let n = std::str::from_utf8(repeated.get(..length)?).ok()?.parse().ok()?;
        let inner = repeated.get(length..)?.strip_prefix(b" times: [ ")?;
        let start = text.len() - inner.len();
        let said = read_once(inner.strip_suffix(b"]").unwrap_or(inner))?;
        return Some(said.behind(start, n));
    }
    read_once(text)
}

/// The same of a message that is told once. syslog repeats no message that says so itself.
fn read_once(text: &[u8]) -> Option<Said> {
    if text.starts_with(b"message repeated ") {
        return None;
    }
    let of = |prefix: &[u8]| text.strip_prefix(prefix).map(|rest| (rest, text.len() - rest.len()));
    let said = if let Some((rest, start)) = of(b"Failed ") {
        let outcome = match rest {
            _ if rest.starts_with(b"password ") || rest.starts_with(b"none ") => Outcome::Failed,
            _ => Outcome::Other,
        };
        let body = memmem::find(rest, b" for ")? + 5;
        attempt(rest.get(body..)?)?.behind(start + body, 1).with(outcome)
    } else if let Some((rest, start)) = of(b"Invalid user ").or_else(|| of(b"Illegal user ")) {
        last_from(rest)?.behind(start, 1).with(Outcome::InvalidUser)
    } else if let Some((rest, start)) = of(b"ROOT LOGIN REFUSED FROM ") {
        peer_at(rest, 0)?.behind(start, 1).with(Outcome::Refused)
    } else if let Some((rest, start)) = of(b"refused connect from ") {
        let open = memchr::memrchr(b'(', rest).map_or(0, |open| open + 1);
        peer_at(rest, open)?.behind(start, 1).with(Outcome::Refused)
    } else if let Some((rest, start)) = of(b"User ")
        && let Some(end) = memmem::rfind(rest, b" not allowed because ")
    {
        last_from(rest.get(..end)?)?.behind(start, 1).with(Outcome::Refused)
    } else if let Some(place) = memmem::find(text, b"authentication failure")
        && text.get(..place).is_some_and(is_of_pam)
        && let Some(host) = memmem::find(text.get(place..)?, b" rhost=")
    {
        pam(text, place, place + host + 7)?
    } else if let Some((rest, start)) = of(b"error: PAM: ").or_else(|| of(b"PAM: ")) {
        // What may follow, ` via ADDRESS`, holds no `from`; a user may hold both.
        let user = memmem::find(rest, b" for ").map_or(0, |at| at + 5);
        last_from(rest.get(user..)?)?.behind(start + user, 1).with(Outcome::Pam)
    } else {
        other(text)?.behind(0, 1).with(Outcome::Other)
    };
    Some(said)
}

impl Said {
    fn behind(mut self, start: usize, n: u64) -> Self {
        for place in [&mut self.user, &mut self.peer, &mut self.port] {
            *place = place.start + start..place.end + start;
        }
        self.n = n;
        self
    }

    fn with(mut self, outcome: Outcome) -> Self {
        self.outcome = outcome;
        self
    }
}

/// `[invalid user ]USER from PEER[ port N][ ssh2][: more]`
///
/// A user of one word is followed by its peer. One with blanks may hold anything, but what sshd adds comes last.
fn attempt(text: &[u8]) -> Option<Said> {
    let start = unknown_user(text);
    let user = word(text, start)?;
    if user.start == start
        && text.get(user.end..).is_some_and(|rest| rest.starts_with(b" from "))
        && let Some(said) = peer_at(text, user.end + 6)
        && is_end(text, &said)
    {
        return Some(Said { user, ..said });
    }
    let text = text.get(start..)?;
    // What a client says of itself may follow, and hold a ` from ` too.
    let ends = memmem::rfind_iter(text, b" from ").find_map(|at| {
        let said = peer_at(text, at + 6).filter(|said| is_end(text, said))?;
        Some(Said { user: 0..at, ..said })
    });
    Some(ends.or_else(|| last_from(text))?.behind(start, 1))
}

/// Whether a line of an attempt ends after this peer: at once, or with ` ssh2`, ` ssh2: more`.
fn is_end(text: &[u8], said: &Said) -> bool {
    let rest = text.get(said.port.end.max(said.peer.end)..).unwrap_or_default();
    let (rest, may_go_on) = match rest.strip_prefix(b" ssh1").or_else(|| rest.strip_prefix(b" ssh2")) {
        Some(rest) => (rest, !said.port.is_empty()),
        None => (rest, false),
    };
    rest.is_empty() || rest == b" [preauth]" || may_go_on && rest.starts_with(b": ")
}

/// `USER from PEER[ port N]`, where the user may hold anything.
fn last_from(text: &[u8]) -> Option<Said> {
    // A user may be empty, and then the text begins with the blank before `from`, or with the word itself.
    let place = memmem::rfind(text, b" from ").map(|at| (at, at + 6));
    let (end, start) = place.or_else(|| text.starts_with(b"from ").then_some((0, 5)))?;
    let said = peer_at(text, start)?;
    Some(Said { user: unknown_user(text).min(end)..end, ..said })
}

/// How long the words are that say that there is no such user.
fn unknown_user(text: &[u8]) -> usize {
    const WORDS: [&[u8]; 2] = [b"invalid user ", b"illegal user "];
    WORDS.iter().find(|words| text.starts_with(words)).map_or(0, |words| words.len())
}

/// `PEER[ port N]` at a place.
fn peer_at(text: &[u8], start: usize) -> Option<Said> {
    let peer = word(text, start)?;
    let token = text.get(peer.clone())?;
    let peer = match token.iter().rev().take_while(|b| matches!(b, b':' | b')' | b',')).count() {
        // An IPv6 address may end with colons of its own.
        1 if token.ends_with(b"::") => peer,
        trailing => peer.start..peer.end - trailing,
    };
    if peer.is_empty() {
        return None;
    }
    let mut port = 0..0;
    if let Some(rest) = text.get(peer.end..).and_then(|rest| rest.strip_prefix(b" port ")) {
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        port = peer.end + 6..peer.end + 6 + length;
    }
    Some(Said { peer, port, n: 1, ..Said::default() })
}

/// Whether all that stands before `authentication failure` is what PAM and sshd put there: `pam_unix(sshd:auth): `,
/// `(pam_unix) `, `PAM 5 more `. In other messages it is a part of a user's name.
fn is_of_pam(text: &[u8]) -> bool {
    text.split(|b| *b == b' ').all(|word| {
        matches!(word, b"PAM" | b"more")
            || word.starts_with(b"pam_")
            || word.starts_with(b"(pam_")
            || word.iter().all(u8::is_ascii_digit)
    })
}

/// `authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=PEER  user=USER`, or so many more of them.
fn pam(text: &[u8], place: usize, host: usize) -> Option<Said> {
    let before = text.get(..place)?.strip_suffix(b" more ").unwrap_or_default();
    let n = before.rsplit(|b| *b == b' ').next().and_then(|n| std::str::from_utf8(n).ok()?.parse().ok());
    let length = memchr(b' ', text.get(host..)?).unwrap_or(text.len() - host);
    let peer = host..host + length;
    let user = text.get(peer.end..)?.trim_ascii();
    let user = match user.strip_prefix(b"user=") {
        Some(user) => text.len() - user.len()..text.len(),
        None => 0..0,
    };
    let said = Said { outcome: Outcome::Pam, n: n.unwrap_or(1), user, peer, port: 0..0 };
    (length > 0).then_some(said)
}

/// Any other message: its peer, where it stands at a place that is sshd's own.
fn other(text: &[u8]) -> Option<Said> {
    /// What stands before a peer.
    const BEFORE: [&[u8]; 13] = [
        b"Received disconnect from ",
        b"Did not receive identification string from ",
        b"Unable to negotiate with ",
        b"banner exchange: Connection from ",
        b"ssh_dispatch_run_fatal: Connection from ",
        b"Timeout before authentication for connection from ",
        b"Timeout before authentication for ",
        b"Connection from ",
        b"Connection closed by ",
        b"Connection reset by ",
        b"Disconnected from ",
        b"Disconnecting ",
        b"Address ",
    ];
    let start = [&b"error: "[..], b"fatal: "]
        .iter()
        .find(|level| text.starts_with(level))
        .map_or(0, |level| level.len());
    let inner = text.get(start..)?;
    if inner.starts_with(b"Server listening on ") {
        return None;
    }
    let is_address = |said: &Said, text: &[u8]| {
        let peer = text.get(said.peer.clone()).and_then(|peer| std::str::from_utf8(peer).ok());
        peer.is_some_and(|peer| peer.parse::<IpAddr>().is_ok())
    };
    let known = BEFORE.iter().find(|before| inner.starts_with(before));
    let direct = known.and_then(|before| peer_at(inner, before.len())).filter(|said| is_address(said, inner));
    let attempt = || attempt_of(inner).filter(|said| is_address(said, inner));
    let said = direct.or_else(attempt).or_else(|| {
        // After a user name, which may hold anything, the last is sshd's.
        let ported = memmem::rfind(inner, b" port ").and_then(|port| {
            let start = memchr::memrchr(b' ', inner.get(..port)?).map_or(0, |blank| blank + 1);
            peer_at(inner, start)
        });
        ported.filter(|said| is_address(said, inner))
    });
    let said = said.or_else(|| last_from(inner).filter(|said| is_address(said, inner)));
    let said = said.or_else(|| {
        let open = memchr(b'[', inner)? + 1;
        let length = memchr(b']', inner.get(open..)?)?;
        let peer = open..open + length;
        Some(Said { peer, n: 1, ..Said::default() }).filter(|said| is_address(said, inner))
    })?;
    // Its user is not looked for: some have none, and no two say it alike.
    Some(Said { user: 0..0, ..said }.behind(start, 1))
}

/// The peer of messages at whose end is chosen what comes last: an attempt that went well, and what is no sshd's.
fn attempt_of(text: &[u8]) -> Option<Said> {
    if text.starts_with(b"Bad protocol version identification ") {
        return last_from(text);
    }
    let is_one = [&b"Accepted "[..], b"Postponed ", b"Partial "].iter().any(|word| text.starts_with(word));
    let start = memmem::find(text, b" for ").filter(|_| is_one)? + 5;
    Some(attempt(text.get(start..)?)?.behind(start, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::parser::Parser;

    const HEAD: &str = "Dec 10 06:55:46 LabSZ sshd[24200]: ";

    /// The fields of a line: `outcome user@ip` and its units.
    fn read(line: &str) -> Result<String, Skip> {
        let key = "{outcome} {ip}".to_string();
        let options = Options {
            key: Some(key),
            year: Some(2023),
            details: Some(vec!["user".into(), "port".into()]),
            conditions: vec!["outcome=*".parse().unwrap()],
            ..Options::default()
        };
        let mut parser = Parser::new(Format::Sshd, &[], "test", &options).unwrap();
        let mut parsed = parser.parse(line.as_bytes(), false)?;
        let mut n = parsed.n;
        while parsed.has_more {
            parsed = parser.parse_next(line.as_bytes())?;
            n += parsed.n;
        }
        let key = String::from_utf8_lossy(parser.key(&parsed.key, line.as_bytes())).into_owned();
        let details: Vec<String> = parser
            .details()
            .map(|(name, value)| format!("{}={}", name.escape_ascii(), value.escape_ascii()))
            .collect();
        Ok(format!("{key} {n} {}", details.join(" ")).trim_end().to_string())
    }

    fn check(message: &str, expected: &str) {
        let line = format!("{HEAD}{message}");
        assert_eq!(read(&line).unwrap_or_else(|skip| skip.to_string()), expected, "{message}");
    }

    #[test]
    fn each_message_has_its_outcome_and_its_peer() {
        check(
            "Failed password for root from 192.0.2.1 port 38926 ssh2",
            "failed 192.0.2.1 1 user=root port=38926",
        );
        check(
            "Failed none for invalid user a from ::ffff:192.0.2.1 port 5 ssh2",
            "failed 192.0.2.1 1 user=a port=5",
        );
        check(
            "Failed publickey for git from 192.0.2.1 port 5 ssh2: RSA SHA256:x",
            "other 192.0.2.1 1 user=git port=5",
        );
        check("Invalid user webmaster from 192.0.2.1", "invalid_user 192.0.2.1 1 user=webmaster");
        check("Invalid user  from 192.0.2.1 port 7", "invalid_user 192.0.2.1 1 port=7");
        check(
            "User root from host.example.com not allowed because not listed in AllowUsers",
            "refused host.example.com 1 user=root",
        );
        check("ROOT LOGIN REFUSED FROM 192.0.2.1 port 7 [preauth]", "refused 192.0.2.1 1 port=7");
        check("refused connect from _U2=_@::ffff:192.0.2.1 (::ffff:192.0.2.1)", "refused 192.0.2.1 1");
        check(
            "error: PAM: Authentication failure for ann from 192.0.2.1 via 198.51.100.1",
            "pam 192.0.2.1 1 user=ann",
        );
        check(
            "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=192.0.2.1  user=root",
            "pam 192.0.2.1 1 user=root",
        );
        check(
            "PAM 5 more authentication failures; logname= uid=0 euid=0 tty=ssh ruser= rhost=192.0.2.1",
            "pam 192.0.2.1 5",
        );
        check("Accepted password for ann from 192.0.2.1 port 9 ssh2", "other 192.0.2.1 1 port=9");
        check(
            "reverse mapping checking getaddrinfo for x.example.com [192.0.2.1] failed - POSSIBLE BREAK-IN ATTEMPT!",
            "other 192.0.2.1 1",
        );
        check("Received disconnect from 192.0.2.1: 11: Bye Bye [preauth]", "other 192.0.2.1 1");
        check("Connection closed by 2001:db8::1 [preauth]", "other 2001:db8::1 1");
        check("input_userauth_request: invalid user webmaster [preauth]", "keyless");
        check("pam_unix(sshd:auth): check pass; user unknown", "keyless");
        check("Server listening on 0.0.0.0 port 22.", "keyless");
    }

    #[test]
    fn a_repeated_message_counts_as_often_as_it_says() {
        check(
            "message repeated 5 times: [ Failed password for root from 192.0.2.1 port 38836 ssh2]",
            "failed 192.0.2.1 5 user=root port=38836",
        );
        check(
            "message repeated 99999999999999999999 times: [ Failed password for root from 192.0.2.1 port 1 ssh2]",
            "keyless",
        );
    }

    #[test]
    fn a_user_name_is_not_taken_for_an_address() {
        check(
            "Failed password for invalid user from 192.0.2.9 from 192.0.2.1 port 5 ssh2",
            "failed 192.0.2.1 1 user=from 192.0.2.9 port=5",
        );
        check(
            "Failed password for invalid user a from 192.0.2.9 port 1 ssh2 from 192.0.2.1 port 5 ssh2",
            "failed 192.0.2.1 1 user=a from 192.0.2.9 port 1 ssh2 port=5",
        );
        check(
            "Invalid user a from 192.0.2.9 from 192.0.2.1 port 5",
            "invalid_user 192.0.2.1 1 user=a from 192.0.2.9 port=5",
        );
        check(
            "Connection closed by authenticating user a 192.0.2.9 port 1 192.0.2.1 port 5 [preauth]",
            "other 192.0.2.1 1 port=5",
        );
        check(
            "Received disconnect from 192.0.2.1 port 5:11: from 192.0.2.9 port 7",
            "other 192.0.2.1 1 port=5",
        );
    }

    /// What follows looks whole where a hasty reader stops, and all of it but the end is a user's name.
    #[test]
    fn a_user_name_that_ends_like_a_line_is_not_its_end() {
        for user in [
            "x from 192.0.2.9:",
            "x from 192.0.2.9 port 7:",
            "x from 192.0.2.9 [preauth]",
            "x from 192.0.2.9 port 7 [preauth]",
            "x from 192.0.2.9 ssh2:",
            "x from 192.0.2.9 port 7 ssh3: y",
            "x y from 192.0.2.9 port 7 ssh2",
            "authentication failure rhost=192.0.2.9",
            "message repeated 5 times: [ Failed password for x from 192.0.2.9 port 7 ssh2]",
        ] {
            let name = user.trim_end();
            check(
                &format!("Failed password for invalid user {user} from 192.0.2.1 port 5 ssh2"),
                &format!("failed 192.0.2.1 1 user={name} port=5"),
            );
            check(
                &format!("Invalid user {user} from 192.0.2.1 port 5"),
                &format!("invalid_user 192.0.2.1 1 user={name} port=5"),
            );
            check(
                &format!("error: PAM: Authentication failure for illegal user {user} from 192.0.2.1"),
                &format!("pam 192.0.2.1 1 user={name}"),
            );
            check(
                &format!("Connection closed by invalid user {user} 192.0.2.1 port 5 [preauth]"),
                "other 192.0.2.1 1 port=5",
            );
        }
        check(
            "error: PAM: Authentication failure for illegal user x from 192.0.2.9 via y from 192.0.2.1",
            "pam 192.0.2.1 1 user=x from 192.0.2.9 via y",
        );
        check(
            "error: PAM: Authentication failure for illegal user x from 192.0.2.9 via y from 192.0.2.1 via 198.51.100.1",
            "pam 192.0.2.1 1 user=x from 192.0.2.9 via y",
        );
        check("input_userauth_request: invalid user authentication failure rhost=192.0.2.9", "keyless");
    }

    #[test]
    fn what_a_client_says_of_itself_is_not_its_address() {
        check(
            "Failed hostbased for invalid user a b from 192.0.2.1 port 5 ssh2: RSA x, client user \"c from 192.0.2.9 port 7\", client host \"d\"",
            "other 192.0.2.1 1 user=a b port=5",
        );
        check(
            "Bad protocol version identification 'GET / from 192.0.2.9 port 7' from 192.0.2.1",
            "other 192.0.2.1 1",
        );
        check(
            "Bad protocol version identification 'from 192.0.2.9 port 7 ' from 192.0.2.1 port 5",
            "other 192.0.2.1 1 port=5",
        );
    }

    #[test]
    fn a_message_within_messages_is_no_way_to_exhaust_the_stack() {
        let nested = "message repeated 2 times: [ ".repeat(30_000);
        check(&format!("{nested}Failed password for a from 192.0.2.1 port 5 ssh2"), "keyless");
    }

    #[test]
    fn a_host_may_be_called_sshd() {
        let message = "Failed password for a from 192.0.2.1 port 5 ssh2";
        for head in [
            "Dec 10 06:55:46 sshd sshd[1]:",
            "Dec 10 06:55:46 sshd-gateway sshd[1]:",
            "Dec 10 06:55:46 sshd01 sshd:",
            "Dec 10 06:55:46 sshd [sshd]",
            "2024-05-01T10:00:00+02:00 sshd sshd-session[1]:",
            "<38>1 2019-07-08T17:40:16-04:00 sshd sshd 1 - -",
            "<38>1 2019-07-08T17:40:16-04:00 - sshd 1 - -",
        ] {
            let line = format!("{head} {message}");
            assert_eq!(read(&line).as_deref(), Ok("failed 192.0.2.1 1 user=a port=5"), "{line}");
        }
        for head in [
            "Dec 10 06:55:46 sshd01 CRON[1]:",
            "Dec 10 06:55:46 sshd su:",
            "Dec 10 06:55:46 host sshdump[1]:",
            "Dec 10 06:55:46 host app[1]: sshd[1]:",
            "<38>1 2019-07-08T17:40:16-04:00 sshd CRON 1 - -",
        ] {
            let line = format!("{head} {message}");
            assert_eq!(read(&line), Err(Skip::OtherProgram), "{line}");
        }
    }

    #[test]
    fn heads_of_every_kind_are_read() {
        let message = "Invalid user a from 192.0.2.1";
        for head in [
            "Dec 10 06:55:46 host sshd[24200]:",
            "Dec  1 06:55:46 host sshd:",
            "Dec 1 06:55:46 host sshd-session[1]:",
            "Dec 01 06:55:46 sshd[24200]:",
            "Dec 01 06:55:46 [sshd]:",
            "Dec 01 06:55:46 [sshd]",
            "Dec 01 06:55:46 host sshd(pam_unix)[24200]:",
            "Dec 01 06:55:46 host sshd[24200]: [ID 800047 auth.info]",
            "<38>Dec 01 06:55:46 host sshd[24200]:",
            "2024-05-01T10:00:00.123456+02:00 host sshd[1]:",
            "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - -",
            "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd-auth 57915 - -",
            "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - [a b=\"]\"][c d=\"\\\"\"]",
        ] {
            let line = format!("{head} {message}");
            assert_eq!(read(&line).as_deref(), Ok("invalid_user 192.0.2.1 1 user=a"), "{line}");
        }
        let marked = "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - - \u{feff}Invalid user a from 192.0.2.1";
        assert_eq!(read(marked).as_deref(), Ok("invalid_user 192.0.2.1 1 user=a"));
        for (line, skip) in [
            ("Dec 10 06:55:46 host CRON[1]: Invalid user a from 192.0.2.1", Skip::OtherProgram),
            (
                "Dec 10 06:55:46 host su: pam_unix(su:auth): authentication failure; rhost=192.0.2.1",
                Skip::OtherProgram,
            ),
            ("Foo 10 06:55:46 host sshd[1]: Invalid user a from 192.0.2.1", Skip::BadTime),
            ("Dec 10 06:55", Skip::Malformed),
            ("nonsense", Skip::Malformed),
        ] {
            assert_eq!(read(line), Err(skip), "{line}");
        }
    }

    #[test]
    fn only_failed_passwords_count_unless_more_is_asked() {
        let mut parser = Parser::new(Format::Sshd, &[], "test", &Options::default()).unwrap();
        let mut skip = |message: &str| parser.parse(format!("{HEAD}{message}").as_bytes(), false).err();
        assert_eq!(skip("Failed password for root from 192.0.2.1 port 38926 ssh2"), None);
        assert_eq!(skip("Invalid user a from 192.0.2.1"), Some(Skip::Filtered));
        assert_eq!(skip("Failed publickey for a from 192.0.2.1 port 5 ssh2"), Some(Skip::Filtered));
    }
}
