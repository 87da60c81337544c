//! A request, and how it looks in a combined log.

use std::{
    io::{self, Write},
    net::IpAddr,
};

/// One request as a web server would log it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it ended, in Unix seconds: access logs have no finer digits unless told to.
    pub time: u64,
    /// Who sent it.
    pub client: IpAddr,
    /// The signed-in user, if any.
    pub user: Option<&'static str>,
    /// GET, POST, ...
    pub method: &'static str,
    /// The target as sent, with its query.
    pub path: String,
    /// The status of the reply.
    pub status: u16,
    /// The size of the reply's body in bytes.
    pub bytes: u64,
    /// The page it came from, if any.
    pub referer: Option<&'static str>,
    /// The client's own description of itself.
    pub agent: &'static str,
}

/// Writes requests as combined log lines, as nginx and Apache do, in UTC.
///
/// Cost: no allocation per line, one date formatted per second of log time.
#[derive(Debug)]
pub struct CombinedLog<W> {
    out: W,
    second: u64,
    stamp: String,
}

impl<W: Write> CombinedLog<W> {
    /// A log that goes to `out`, which should be buffered: each line is written in pieces.
    pub fn new(out: W) -> Self {
        Self { out, second: 0, stamp: stamp_of(0) }
    }

    /// Writes one line.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, request: &Request) -> io::Result<()> {
        if request.time != self.second {
            self.second = request.time;
            self.stamp = stamp_of(request.time);
        }
        let Request { client, method, path, status, bytes, agent, .. } = request;
        let (user, referer) = (request.user.unwrap_or("-"), request.referer.unwrap_or("-"));
        let stamp = &self.stamp;
        writeln!(
            self.out,
            r#"{client} - {user} [{stamp}] "{method} {path} HTTP/1.1" {status} {bytes} "{referer}" "{agent}""#
        )
    }

    /// Gives the writer back, not flushed.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// `27/Nov/2026:09:00:00 +0000`; the epoch's for a time that no calendar reaches.
fn stamp_of(second: u64) -> String {
    i64::try_from(second)
        .ok()
        .and_then(|second| jiff::Timestamp::from_second(second).ok())
        .unwrap_or_default()
        .strftime("%d/%b/%Y:%H:%M:%S +0000")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_nine_fields_of_the_combined_format() {
        let request = Request {
            time: 1_795_770_000,
            client: [192, 0, 2, 9].into(),
            user: None,
            method: "GET",
            path: "/".to_owned(),
            status: 200,
            bytes: 512,
            referer: Some("https://www.example.com/"),
            agent: "Lantern/1.0",
        };
        let mut log = CombinedLog::new(Vec::new());
        log.write(&request).unwrap();
        assert_eq!(
            String::from_utf8(log.into_inner()).unwrap(),
            "192.0.2.9 - - [27/Nov/2026:09:00:00 +0000] \"GET / HTTP/1.1\" 200 512 \
             \"https://www.example.com/\" \"Lantern/1.0\"\n"
        );
    }
}
