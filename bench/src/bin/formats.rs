//! How fast are Redis MONITOR, JSON lines and compressed logs read?
//!
//! `cargo run --release -p floodmark-bench --bin formats` (after `cargo build --release --bin floodmark`)
//!
//! **Input.** The traffic of the `logs` bench, by 200 000 clients, written as `redis-cli monitor` prints it (one key per
//! command, 80 bytes a line), as nginx writes JSON (330 bytes a line), and as a combined log that `gzip` compressed.
//!
//! **Measured.** Whole processes, one after another, round by round; the first round is thrown away. MONITOR and JSON
//! on one core. The compressed log on all cores, because `zcat log.gz | floodmark hot -`, the rival, runs on two.
//!
//! **Accuracy.** The sets of hot keys of all contenders that have a window must be equal, or the bench fails. mawk
//! splits lines at blanks or quotes, so it has the right key only because these lines hold no surprises.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on its terminal")]

use std::{
    collections::BTreeSet,
    env,
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use clap::{Parser, ValueEnum};
use floodmark_bench::{
    child::{self, Used},
    contender::{Answer, FLOODMARK_HOT, MARK},
    input::{self, Clients, Order},
    table::{Spread, markdown},
};
use floodmark_testkit::traffic::Request;

/// Finds hot keys in large inputs of several formats.
#[derive(Debug, Parser)]
struct Args {
    /// Which formats [default: all of them]
    format: Vec<Shape>,
    /// Lines of each input
    #[arg(long, default_value_t = 3_000_000)]
    lines: u64,
    /// Measured rounds; one more is run first and thrown away
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The core that MONITOR and JSON run on
    #[arg(long, default_value_t = 1)]
    core: usize,
    /// Where the inputs are kept [default: bench/ beside the build]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The binary to measure [default: the release build]
    #[arg(long)]
    floodmark: Option<PathBuf>,
    /// Make an input if it is missing, and stop
    #[arg(long)]
    only_make: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Monitor,
    Json,
    Gzip,
}

/// A command with its name, and whether it prints plain hot keys, records, or totals.
struct Entry {
    name: &'static str,
    command: Command,
    prints: Prints,
    runs: Vec<Used>,
    hot: Option<BTreeSet<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prints {
    Keys,
    Records,
    Totals,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let exe = env::current_exe()?;
    let build = exe.ancestors().nth(2).context("this program lies in no folder")?;
    let dir = args.dir.clone().unwrap_or_else(|| build.join("bench"));
    let floodmark = args.floodmark.clone().unwrap_or_else(|| build.join("release/floodmark"));
    let shapes = if args.format.is_empty() { Shape::value_variants() } else { &args.format };
    for &shape in shapes {
        let path = dir.join(format!("formats-{}.{}", args.lines, shape.extension()));
        if !path.exists() {
            if args.only_make {
                make(shape, &path, args.lines)?;
                continue;
            }
            // In a child, whose memory would otherwise look like the contenders'.
            let mut command = Command::new(&exe);
            command.arg("--only-make").arg(format!("--lines={}", args.lines)).arg("--dir").arg(&dir);
            command.arg(shape.extension());
            ensure!(command.status()?.success(), "{} could not be made", path.display());
        }
        if args.only_make {
            continue;
        }
        // Gzip last: what is pinned stays pinned.
        if shape != Shape::Gzip {
            child::pin(args.core)?;
        } else if shapes.len() > 1 {
            let status =
                Command::new("taskset").args(["-pc", "0-1023"]).arg(std::process::id().to_string()).output();
            ensure!(
                status.is_ok_and(|out| out.status.success()),
                "cannot give all cores back; run it with gzip alone"
            );
        }
        let mut entries = shape.entries(&floodmark, &path);
        for round in 0..=args.rounds {
            eprintln!("{}: round {round} of {}", shape.extension(), args.rounds);
            for entry in &mut entries {
                entry.run(&dir, round > 0)?;
            }
        }
        report(shape, &entries, args.lines)?;
    }
    Ok(())
}

impl Shape {
    fn extension(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::Json => "json",
            Self::Gzip => "gzip",
        }
    }

    fn entries(self, floodmark: &Path, log: &Path) -> Vec<Entry> {
        let hot = |words: &[&str]| {
            let mut command = Command::new(floodmark);
            command.args(["hot", "--exact", "--output", "jsonl", "--mark", MARK]).args(words).arg(log);
            command
        };
        let mawk = |separator: &str, key: u32, time: u32, script: &str| {
            let mut command = Command::new("mawk");
            command.env("LC_ALL", "C").args(["-F", separator, "-v", "WINDOW=5", "-v", "MARK=100"]);
            command.arg("-v").arg(format!("KEY={key}")).arg("-v").arg(format!("TIME={time}"));
            command.arg(script).arg(log);
            command
        };
        let (counts, exact) =
            ("{ c[$KEY]++ } END { for (k in c) print c[k], k }", include_str!("../../awk/exact_field.awk"));
        let shell = |line: &str| {
            let mut command = Command::new("sh");
            command.arg("-c").arg(line).arg("sh").arg(log).arg(floodmark);
            command
        };
        let entry = |name, command, prints| Entry { name, command, prints, runs: Vec::new(), hot: None };
        match self {
            Self::Monitor => vec![
                entry("floodmark hot", hot(&[]), Prints::Records),
                entry("mawk, counts only", mawk(" ", 5, 1, counts), Prints::Totals),
                entry("mawk, exact, ring per key", mawk(" ", 5, 1, exact), Prints::Keys),
            ],
            Self::Json => vec![
                entry("floodmark hot", hot(&[]), Prints::Records),
                entry("mawk at quotes, counts only", mawk("\"", 8, 4, counts), Prints::Totals),
                entry("mawk at quotes, exact, ring per key", mawk("\"", 8, 4, exact), Prints::Keys),
                entry("jq, the client of each line", shell("jq -r .remote_addr \"$1\""), Prints::Totals),
            ],
            Self::Gzip => vec![
                entry("floodmark hot log.gz", hot(&[]), Prints::Records),
                entry(
                    "zcat log.gz | floodmark hot -",
                    shell(&format!("zcat < \"$1\" | \"$2\" hot --exact --output jsonl --mark {MARK} -")),
                    Prints::Records,
                ),
                entry("zcat log.gz > /dev/null", shell("zcat < \"$1\" > /dev/null"), Prints::Totals),
            ],
        }
    }

    fn write(self, out: &mut impl Write, request: &Request, micros: u64) -> io::Result<()> {
        let Request { time, client, method, path, status, bytes, agent, .. } = request;
        match self {
            Self::Monitor => {
                let command = ["GET", "HGETALL", "INCR", "EXISTS"][(bytes % 4) as usize];
                let port = 32_768 + bytes % 28_000;
                writeln!(
                    out,
                    "{time}.{micros:06} [0 10.0.0.{}:{port}] \"{command}\" \"sess:{client}\"",
                    bytes % 16
                )
            }
            _ => writeln!(
                out,
                "{{\"msec\":\"{time}.{micros:06}\",\"remote_addr\":\"{client}\",\"remote_user\":\"\",\"request_method\":\"{method}\",\
                 \"request_uri\":\"{path}\",\"status\":{status},\"body_bytes_sent\":{bytes},\"request_time\":0.012,\
                 \"http_referer\":\"https://shop.example.com/\",\"http_user_agent\":\"{agent}\",\"http_host\":\"shop.example.com\"}}"
            ),
        }
    }
}

fn make(shape: Shape, path: &Path, lines: u64) -> Result<()> {
    eprintln!("making {}", path.display());
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    // Renamed when it is whole: a run that was stopped half-way leaves no input.
    let part = path.with_extension("part");
    if shape == Shape::Gzip {
        input::make(&part, lines, Order::InOrder, Clients::V4)?;
        let zipped = Command::new("gzip").arg("-c").arg(&part).stdout(File::create(path)?).status()?;
        ensure!(zipped.success(), "gzip failed");
        return Ok(std::fs::remove_file(part)?);
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&part)?);
    let (mut second, mut micros) = (0, 0);
    for request in input::traffic(lines, Clients::V4) {
        micros = if request.time == second { (micros + 50).min(999_999) } else { 0 };
        second = request.time;
        shape.write(&mut out, &request, micros)?;
    }
    out.flush()?;
    Ok(std::fs::rename(part, path)?)
}

impl Entry {
    fn run(&mut self, scratch: &Path, keep: bool) -> Result<()> {
        let mut command = Command::new(self.command.get_program());
        command.args(self.command.get_args());
        let (used, output) = child::measure(command, scratch)?;
        self.hot = match self.prints {
            Prints::Totals => None,
            Prints::Keys => {
                let keys = std::str::from_utf8(&output)?.lines();
                Some(keys.map(|key| key.trim_matches('"').to_owned()).collect())
            }
            Prints::Records => match (FLOODMARK_HOT.answer)(&output)? {
                Answer::Hot { hot, .. } => Some(hot),
                _ => None,
            },
        };
        if keep {
            self.runs.push(used);
        }
        Ok(())
    }
}

fn report(shape: Shape, entries: &[Entry], lines: u64) -> Result<()> {
    let speed = |entry: &Entry| {
        let rates = entry.runs.iter().map(|used| lines as f64 / used.wall.as_secs_f64() / 1e6);
        Spread::of(rates.collect())
    };
    let base = entries.get(1).and_then(speed).map(|speed| speed.median);
    let truth = entries.iter().find_map(|entry| entry.hot.as_ref());
    let mut rows = Vec::new();
    for entry in entries {
        let Some(speed) = speed(entry) else { continue };
        let cpu = Spread::of(entry.runs.iter().map(|used| used.cpu.as_secs_f64()).collect());
        let peak = entry.runs.iter().map(|used| used.peak_bytes).max().unwrap_or(0);
        let answer = match &entry.hot {
            None => "no window".into(),
            hot if hot.as_ref() == truth => format!("exact: {} hot keys", truth.map_or(0, BTreeSet::len)),
            Some(hot) => format!("WRONG: {} hot keys", hot.len()),
        };
        rows.push(vec![
            entry.name.to_owned(),
            format!("{:.2} ({:.2}-{:.2})", speed.median, speed.min, speed.max),
            base.map_or("-".to_owned(), |base| format!("{:.2}", speed.median / base)),
            format!("{:.1}", peak as f64 / f64::from(1 << 20)),
            cpu.map_or("-".to_owned(), |cpu| format!("{:.2}", cpu.median)),
            answer,
        ]);
    }
    let head =
        [shape.extension(), "M lines/s: median (min-max)", "x second row", "peak MiB", "CPU s", "answer"];
    println!("{}", markdown(&head, &rows));
    if rows.iter().flatten().any(|cell| cell.starts_with("WRONG")) {
        bail!("the contenders disagree: see WRONG in the table");
    }
    Ok(())
}
