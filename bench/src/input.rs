//! The access log that the benches read: made once, kept beside the build.

use std::{
    fs::{self, File},
    io::BufWriter,
    net::IpAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use floodmark_testkit::traffic::{
    Background, Chance, CombinedLog, Crawler, Eager, EdgeBurst, FlashSale, Request, SALE_OPENS, Traffic,
};

/// Raise it whenever the generator's output changes, so that old files are made again.
const VERSION: u32 = 2;

/// How many distinct clients the background has.
pub const CLIENTS: u64 = 200_000;

/// Requests per second of log time, on average.
const PER_SECOND: u64 = 3_000;

/// How far a line of the shuffled log may lie behind its place, in seconds of log time.
pub const DISPLACED_SECONDS: u64 = 30;

/// The order of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By time.
    InOrder,
    /// The same lines, each up to [`DISPLACED_SECONDS`] later in the file than its time asks for.
    Shuffled,
}

/// The addresses of the clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// All IPv4.
    V4,
    /// Three in eight IPv6, which are longer and must be brought to one spelling.
    Mixed,
}

/// Where the log of so many lines is kept.
#[must_use]
pub fn path_of(dir: &Path, lines: u64, order: Order, clients: Clients) -> PathBuf {
    let mixed = if clients == Clients::Mixed { "-mixed" } else { "" };
    let shuffled = if order == Order::Shuffled { "-shuffled" } else { "" };
    dir.join(format!("access-{lines}{mixed}{shuffled}.log"))
}

/// Whether the log is there, complete, and by this version of the generator.
#[must_use]
pub fn is_made(path: &Path) -> bool {
    let bytes = fs::metadata(path).map(|file| file.len()).unwrap_or(0);
    fs::read_to_string(marker_of(path)).is_ok_and(|marker| marker == marker_text(bytes))
}

/// Writes the log. Cost: about a microsecond per line; memory is that of [`DISPLACED_SECONDS`] of requests at
/// most, and 20 MiB.
///
/// # Errors
/// If the folder or the file cannot be written.
pub fn make(path: &Path, lines: u64, order: Order, clients: Clients) -> Result<()> {
    let cannot = || format!("cannot write {}; choose another folder with --dir", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).with_context(cannot)?;
    }
    let file = File::create(path).with_context(cannot)?;
    let mut log = CombinedLog::new(BufWriter::with_capacity(1 << 20, file));
    match order {
        Order::InOrder => traffic(lines, clients).try_for_each(|request| log.write(&request)),
        Order::Shuffled => shuffled(traffic(lines, clients), |request| log.write(request)),
    }
    .with_context(cannot)?;
    let file = log.into_inner().into_inner().map_err(|error| error.into_error()).with_context(cannot)?;
    let bytes = file.metadata()?.len();
    // Written last: a run that was stopped half-way leaves a log without its marker.
    fs::write(marker_of(path), marker_text(bytes)).with_context(cannot)
}

fn marker_of(log: &Path) -> PathBuf {
    log.with_extension("made")
}

fn marker_text(bytes: u64) -> String {
    format!("generator {VERSION}, {bytes} bytes\n")
}

/// Exactly `lines` requests, in time order. The busiest clients of the background are over 100/5s for most of the time; every
/// ten minutes there is a sale, a crawler and a burst across a minute's edge besides.
pub fn traffic(lines: u64, clients: Clients) -> impl Iterator<Item = Request> {
    // A fifth longer than the mean asks for, so that the span never ends before the lines do.
    let seconds = lines / PER_SECOND * 6 / 5 + 600;
    let mut traffic =
        Traffic::new(12, SALE_OPENS..SALE_OPENS + seconds).with(Background::new(CLIENTS, PER_SECOND));
    for episode in 0..seconds / 600 {
        let at = SALE_OPENS + episode * 600;
        let host = episode as u8;
        traffic = traffic
            .with(FlashSale {
                at: at + 60,
                seconds: 20,
                path: "/sale/copper-lantern-half-price",
                shoppers: CLIENTS,
                per_second: 2_000,
                eager: vec![Eager { client: [203, 0, 113, host].into(), per_second: 30 }],
            })
            .with(Crawler { client: [192, 0, 2, host].into(), at: at + 120, seconds: 240, per_second: 25 })
            .with(EdgeBurst { client: [198, 51, 100, host].into(), edge: at + 480, each_side: 60 });
    }
    traffic.take(lines as usize).map(move |mut request| {
        if let (Clients::V4, IpAddr::V6(address)) = (clients, request.client) {
            let [.., a, b, c] = address.octets();
            request.client = [10, a, b, c].into();
        }
        request
    })
}

/// Hands on the requests out of order: those of a second are spread over the next thirty.
fn shuffled(
    requests: impl Iterator<Item = Request>,
    mut write: impl FnMut(&Request) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let places = DISPLACED_SECONDS + 1;
    let mut chance = Chance::new(13);
    // One place per second to come; place `now % places` is due.
    let mut held: Vec<Vec<Request>> = (0..places).map(|_| Vec::new()).collect();
    let mut now = SALE_OPENS;
    for request in requests {
        while now < request.time {
            let due = &mut held[(now % places) as usize];
            chance.shuffle(due);
            due.drain(..).try_for_each(|request| write(&request))?;
            now += 1;
        }
        let later = now + chance.below(places);
        held[(later % places) as usize].push(request);
    }
    (now..now + places)
        .try_for_each(|due| held[(due % places) as usize].drain(..).try_for_each(|request| write(&request)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_displaces_lines_and_loses_none() {
        let before: Vec<Request> = traffic(100_000, Clients::Mixed).collect();
        let mut after = Vec::new();
        shuffled(before.iter().cloned(), |request| {
            after.push(request.clone());
            Ok(())
        })
        .unwrap();
        let mut newest = 0;
        let mut most_behind = 0;
        for request in &after {
            newest = newest.max(request.time);
            most_behind = most_behind.max(newest - request.time);
        }
        assert!((20..=DISPLACED_SECONDS).contains(&most_behind), "{most_behind} s");
        let total = |requests: &[Request]| requests.iter().map(|request| request.bytes).sum::<u64>();
        assert_eq!((after.len(), total(&after)), (100_000, total(&before)));
    }
}
