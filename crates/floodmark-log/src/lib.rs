//! Log lines to events: access logs, Redis MONITOR, sshd, JSON, CSV, TSV, streams of keys and formats of one's own, put in
//! time order.
//!
//! What people get wrong: real logs are not in order. A web server writes a line when a request ends and stamps it
//! with when it began; rotated files overlap; some exports are shuffled outright. A sliding window over such a file
//! in the order of its lines is wrong, so a file is put in order, and what that takes is held: nothing for a file in
//! order. A stream is never held back.
//!
//! # The path of a line
//! ```text
//! path ─► Inputs ─┬─ file ─► LineBuffer ─► Parser (one per format) ─► in order? ─► merge of all files ─┐
//!                 │                                                   no: sort ─────►┘                 ├─► Consumer
//!                 └─ pipe, standard input: a thread each ─► LineBuffer ─► Parser ────────────────────────┘
//! ```
//! Files are read in the hope that they are in order. If one is not, the consumer forgets what it was told, and all
//! are read again: looked over for how far their times go back, and put in order with no more held than that takes.
//! Whatever is compressed with gzip, zstd, bzip2 or xz is unpacked on the way, whatever its name.
//!
//! This crate never counts hits; it counts lines ([`Tally`]), so that they add up: `lines = matched + skipped`.
//!
//! # Cost
//! Nothing is allocated per line, but for a JSON line two small pieces. Memory: a buffer of 64 KiB per input that is
//! open, for one that is compressed 256 KiB more and what its compression refers back to (at most 128 MiB, mostly 8 MiB or
//! less), and for a file out of order 24 bytes per event that must be held, plus its distinct keys.

mod address;
mod choice;
mod decoder;
mod detect;
mod envelope;
mod error;
mod event;
mod feed;
mod files;
mod format;
mod input;
mod lines;
mod options;
mod order;
mod parser;
mod source;
mod stream;
mod text;
mod time;
mod zone;

pub use choice::{Condition, private_networks, read_moment};
pub use error::Error;
pub use event::{Details, Event, Example, Skip, Tally};
pub use feed::{Consumer, Phase, Progress, Watch};
pub use format::{Format, Pattern};
pub use input::Inputs;
pub use ipnet::IpNet;
pub use options::{Options, TimeUnit};
pub use text::{read_text, unpacked};
pub use time::{digits_of, format_time};
pub use zone::Zone;
