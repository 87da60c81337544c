//! How fast are hot keys found in a large access log, and in how much memory?
//!
//! `cargo run --release -p floodmark-bench --bin logs` (after `cargo build --release --bin floodmark`)
//!
//! **Input.** A generated combined log in time order: 10 M lines of about 240 bytes, 200 000 clients by Zipf's
//! law, some 3 000 lines per second of log time, with bursts. It is made once, and read
//! from the page cache: one round before the measured ones is thrown away.
//!
//! **Measured.** Whole processes on one core, one after another, round by round. Wall time is in the speed,
//! from before the fork to after the wait: start-up, reading, printing the result to a file. Hence lines per
//! second = all lines / wall time. Memory is the process's peak resident set, never less than this bench's own
//! few MiB (see `child`); mapped pages of the input would count.
//!
//! **Accuracy.** The sets of hot keys of all contenders that have a window must be equal; the bench fails if
//! they are not. A contender that only counts has no answer to compare.
//!
//! `--mixed` makes three in eight clients IPv6. `--shuffled` asks another question: what does the same log cost when its lines lie up to 30 s behind
//! their place, and so have to be put in order first?

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on its terminal")]

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use floodmark_bench::{
    child::{self, Used},
    contender::{self, Answer, Contender},
    input::{self, Clients, Order},
    table::{Spread, markdown},
};

/// Finds hot keys in a large generated access log, with floodmark and with what people use today.
#[derive(Debug, Parser)]
struct Args {
    /// Lines of the log
    #[arg(long, default_value_t = 10_000_000)]
    lines: u64,
    /// Measured rounds; one more is run first and thrown away
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The core that everything runs on
    #[arg(long, default_value_t = 1)]
    core: usize,
    /// Where the logs are kept [default: bench/ beside the build]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The binary to measure [default: the release build]
    #[arg(long)]
    floodmark: Option<PathBuf>,
    /// Compare the log in order with the same lines out of order
    #[arg(long)]
    shuffled: bool,
    /// Three in eight clients are IPv6
    #[arg(long)]
    mixed: bool,
    /// Make the log if it is missing, and stop
    #[arg(long)]
    only_make: bool,
}

/// A contender that takes part, with its runs.
struct Entry {
    contender: Contender,
    program: PathBuf,
    log: PathBuf,
    order: Order,
    runs: Vec<Used>,
    answer: Option<Answer>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let build = build_dir()?;
    let dir = args.dir.clone().unwrap_or_else(|| build.join("bench"));
    let clients = if args.mixed { Clients::Mixed } else { Clients::V4 };
    if args.only_make {
        let order = if args.shuffled { Order::Shuffled } else { Order::InOrder };
        return input::make(&input::path_of(&dir, args.lines, order, clients), args.lines, order, clients);
    }
    let floodmark = args.floodmark.clone().unwrap_or_else(|| build.join("release/floodmark"));
    let orders: &[Order] = if args.shuffled { &[Order::InOrder, Order::Shuffled] } else { &[Order::InOrder] };
    for &order in orders {
        make_in_a_child(&dir, args.lines, order, clients)?;
    }
    child::pin(args.core)?;
    let mut entries = entries(orders, &floodmark, |order| input::path_of(&dir, args.lines, order, clients));
    ensure!(!entries.is_empty(), "nothing to measure");
    for round in 0..=args.rounds {
        eprintln!("round {round} of {}{}", args.rounds, if round == 0 { " (to warm up)" } else { "" });
        for entry in &mut entries {
            run(entry, &dir, round > 0)?;
        }
    }
    report(&entries, args.lines)
}

/// The folder that cargo builds into: this program lies in its `release` or `debug`.
fn build_dir() -> Result<PathBuf> {
    let exe = env::current_exe()?;
    Ok(exe.ancestors().nth(2).context("this program lies in no folder")?.to_owned())
}

/// Makes a log that is missing. In a child, whose memory would otherwise look like the contenders'.
fn make_in_a_child(dir: &Path, lines: u64, order: Order, clients: Clients) -> Result<()> {
    let log = input::path_of(dir, lines, order, clients);
    if input::is_made(&log) {
        return Ok(());
    }
    eprintln!("making {}", log.display());
    let mut command = Command::new(env::current_exe()?);
    command.arg("--only-make").arg(format!("--lines={lines}")).arg("--dir").arg(dir);
    command.args((order == Order::Shuffled).then_some("--shuffled"));
    command.args((clients == Clients::Mixed).then_some("--mixed"));
    let status = command.status().context("cannot start the generator")?;
    ensure!(status.success(), "the log could not be made");
    Ok(())
}

fn entries(orders: &[Order], floodmark: &Path, log: impl Fn(Order) -> PathBuf) -> Vec<Entry> {
    let (grep, mawk) = (Path::new("grep"), Path::new("mawk"));
    let wanted: Vec<(Contender, &Path, &str)> = if orders.len() > 1 {
        vec![(contender::FLOODMARK_HOT, floodmark, FLOODMARK_HINT)]
    } else {
        vec![
            (contender::FLOODMARK_HOT, floodmark, FLOODMARK_HINT),
            (contender::FLOODMARK_REPLAY, floodmark, FLOODMARK_HINT),
            (contender::GREP, grep, "install grep"),
            (contender::COUNTING_MAWK, mawk, MAWK_HINT),
            (contender::EXACT_MAWK_ONE_QUEUE, mawk, MAWK_HINT),
            (contender::EXACT_MAWK, mawk, MAWK_HINT),
        ]
    };
    let mut entries = Vec::new();
    for (contender, program, hint) in wanted {
        if !child::is_installed(program) {
            eprintln!("skipped {}: no {}; {hint}", contender.name, program.display());
            continue;
        }
        entries.extend(orders.iter().map(|&order| Entry {
            contender: Contender { ..contender },
            program: program.to_owned(),
            log: log(order),
            order,
            runs: Vec::new(),
            answer: None,
        }));
    }
    entries
}

const MAWK_HINT: &str = "install it with `apt-get install mawk`";
const FLOODMARK_HINT: &str = "build it with `cargo build --release --bin floodmark`";

fn run(entry: &mut Entry, scratch: &Path, keep: bool) -> Result<()> {
    let command = (entry.contender.command)(&entry.program, &entry.log);
    let (used, output) = child::measure(command, scratch)?;
    let answer = (entry.contender.answer)(&output).with_context(|| entry.contender.name)?;
    if let Some(before) = &entry.answer {
        ensure!(*before == answer, "{} answered differently in two rounds", entry.contender.name);
    }
    entry.answer = Some(answer);
    if keep {
        entry.runs.push(used);
    }
    Ok(())
}

fn report(entries: &[Entry], lines: u64) -> Result<()> {
    let truth = entries.iter().rev().find_map(hot_keys);
    let speed = |entry: &Entry| {
        let rates = entry.runs.iter().map(|used| lines as f64 / used.wall.as_secs_f64() / 1e6);
        Spread::of(rates.collect())
    };
    let base = |name: &str| {
        entries.iter().find(|entry| entry.contender.name == name).and_then(speed).map(|speed| speed.median)
    };
    // Of the exact scripts, the one that keeps a window per key, as floodmark does.
    let bases = [&contender::COUNTING_MAWK, &contender::EXACT_MAWK, &contender::GREP].map(|it| base(it.name));
    let mut rows = Vec::new();
    for entry in entries {
        let Some(speed) = speed(entry) else { continue };
        let cpu = Spread::of(entry.runs.iter().map(|used| used.cpu.as_secs_f64()).collect());
        let mut row =
            vec![name_of(entry), format!("{:.2} ({:.2}-{:.2})", speed.median, speed.min, speed.max)];
        row.extend(
            bases.map(|base| base.map_or("-".to_owned(), |base| format!("{:.2}", speed.median / base))),
        );
        row.push(format!("{:.1}", peak_bytes(entry) / f64::from(1 << 20)));
        row.push(cpu.map_or("-".to_owned(), |cpu| format!("{:.2}", cpu.median)));
        row.push(accuracy(entry, truth, lines));
        rows.push(row);
    }
    let head = [
        "contender",
        "M lines/s: median (min-max)",
        "x counting mawk",
        "x mawk, ring per key",
        "x grep -c",
        "peak MiB",
        "CPU s",
        "answer",
    ];
    println!("{}", markdown(&head, &rows));
    print_memory(entries, lines);
    if rows.iter().flatten().any(|cell| cell.starts_with("WRONG")) {
        bail!("the contenders disagree: see WRONG in the table");
    }
    Ok(())
}

fn name_of(entry: &Entry) -> String {
    let suffix = if entry.order == Order::Shuffled { ", out of order" } else { "" };
    format!("{}{suffix}", entry.contender.name)
}

fn peak_bytes(entry: &Entry) -> f64 {
    entry.runs.iter().map(|used| used.peak_bytes).max().unwrap_or(0) as f64
}

fn hot_keys(entry: &Entry) -> Option<&BTreeSet<String>> {
    match entry.answer.as_ref()? {
        Answer::Hot { hot, .. } => Some(hot),
        _ => None,
    }
}

/// What a contender found, and whether it is right.
fn accuracy(entry: &Entry, truth: Option<&BTreeSet<String>>, lines: u64) -> String {
    match &entry.answer {
        Some(Answer::Lines(found)) if *found == lines => "lines only".to_owned(),
        Some(Answer::Lines(found)) => format!("WRONG: {found} lines of {lines}"),
        Some(Answer::Totals(keys)) => format!("totals of {keys} keys, no window"),
        Some(Answer::Hot { hot, .. }) => {
            let truth = truth.unwrap_or(hot);
            let (missed, invented) = (truth.difference(hot).count(), hot.difference(truth).count());
            if missed + invented == 0 {
                format!("exact: {} hot keys", hot.len())
            } else {
                format!("WRONG: {missed} hot keys missed, {invented} invented")
            }
        }
        Some(Answer::Rejected { units, asked }) if *asked == lines => format!("{units} rejected"),
        Some(Answer::Rejected { asked, .. }) => format!("WRONG: {asked} requests of {lines}"),
        None => "-".to_owned(),
    }
}

/// Bytes per key in order; out of order, bytes per line on top of that.
fn print_memory(entries: &[Entry], lines: u64) {
    let mut in_order = None;
    for entry in entries {
        let Some(Answer::Hot { distinct: Some(keys), .. }) = entry.answer else { continue };
        let peak = peak_bytes(entry);
        println!("{}: {:.0} bytes per key over {keys} keys", name_of(entry), peak / keys as f64);
        if entry.order == Order::InOrder {
            in_order = Some(peak);
        } else if let Some(in_order) = in_order {
            println!("out of order: {:.1} bytes per line more", (peak - in_order) / lines as f64);
        }
    }
}
