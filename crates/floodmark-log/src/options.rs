//! What a user can say of inputs.

use crate::choice::Condition;
use crate::format::{Format, Pattern};
use crate::zone::Zone;
use floodmark::Timestamp;
use ipnet::IpNet;

/// The unit of times that are plain numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// By size: seconds below 10^11, then milliseconds, microseconds, nanoseconds.
    #[default]
    Auto,
    /// Seconds since the epoch.
    Seconds,
    /// Milliseconds since the epoch.
    Millis,
    /// Microseconds since the epoch.
    Micros,
    /// Nanoseconds since the epoch.
    Nanos,
}

/// How to read inputs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Left out: told from the first lines.
    pub format: Option<Format>,
    /// Which field is the key: its name, with a prefix length after a slash (`ip/24,64`), or several in a template
    /// (`{ip} {path}`). Left out: the client's address of a log, the key of a stream or of a Redis command, the column
    /// of a table that is named like one.
    ///
    /// Fields of a template stand between its other bytes. So that no two events get the same key unless all their
    /// fields are the same, a backslash is put before a backslash in a field, and before the byte that ends it; not
    /// in the last field, which ends with the key.
    pub key: Option<String>,
    /// The time column of a table, or the member of a JSON line. Left out: told from the names.
    pub time: Option<String>,
    /// The column or member that holds an event's units. Left out: every event is one unit.
    pub weight: Option<String>,
    /// The unit of times that are plain numbers.
    pub time_unit: TimeUnit,
    /// What a line must say to be an event; all of them must hold.
    pub conditions: Vec<Condition>,
    /// Events before this are left out.
    pub since: Option<Timestamp>,
    /// Events at or after this are left out.
    pub until: Option<Timestamp>,
    /// Which fields tell who is behind a key, for [`Event::details`](crate::Event::details); none named: those that
    /// are usual for the format. Left out: events have no details.
    pub details: Option<Vec<String>>,
    /// Proxies that are believed what they forward; none: those with private addresses. See
    /// [`private_networks`](crate::private_networks).
    pub trusted: Vec<IpNet>,
    /// The year of the first line, for times that have none.
    pub year: Option<i16>,
    /// The zones of times that have none. Left out: UTC. Of several for the same host, the last counts.
    pub zones: Vec<Zone>,
    /// No line is later than this, for times that have no year.
    pub newest: Option<Timestamp>,
    /// How lines are written that are of no known format. It is then the format of all inputs.
    pub pattern: Option<Pattern>,
    /// How the time of a pattern is written, in the letters of `strftime`. Left out: in one of the usual ways.
    pub time_format: Option<String>,
    /// Redis commands that a script called are events too.
    pub lua: bool,
    /// Count a file that is named twice twice.
    pub count_twice: bool,
    /// How many skipped lines to keep as examples.
    pub examples: usize,
}
