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
mod tests;
