//! What can be typed.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use floodmark::{Clock, Form, Rate, SystemClock, Timestamp, parse_duration};
use floodmark_log::{
    Condition, Format, IpNet, Options, Pattern, TimeUnit, Zone, format_time, private_networks, read_moment,
};
use std::io::{IsTerminal, stdin};
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Counts events per key in sliding windows: finds hot keys in logs and streams, and replays limits over them.
#[derive(Debug, Parser)]
#[command(name = "floodmark", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Hot(HotArgs),
    Replay(ReplayArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Prints what a shell needs to complete floodmark's options.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  floodmark completions bash > /etc/bash_completion.d/floodmark
  floodmark completions zsh > \"${fpath[1]}/_floodmark\"
  floodmark completions fish > ~/.config/fish/completions/floodmark.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    pub(crate) shell: Shell,
}

/// Prints the manual page, of floodmark or of one of its commands.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  floodmark man | man -l -
  floodmark man hot > /usr/local/share/man/man1/floodmark-hot.1")]
pub(crate) struct ManArgs {
    /// Which command's
    #[arg(value_name = "COMMAND")]
    pub(crate) subcommand: Option<String>,
}

/// Which keys were hit N times or more within T, when, and how hard?
///
/// Windows slide: a burst is found wherever its edges fall. Each key is reported in episodes, from the event that
/// reached the mark to the first instant below it. Files are put in the order of their times; a pipe is read as it
/// comes, and an episode is printed the moment it starts.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  floodmark hot --mark 100/5s access.log
  floodmark hot --mark 20/1m --key user --top 10 access.log access.log.1
  tail -f access.log | floodmark hot --mark 100/5s -
  floodmark hot --mark 100/5s --output jsonl access.log.*.gz | jq .")]
pub(crate) struct HotArgs {
    /// Report keys with this many or more within this time, such as 100/5s, 20/1m or 1000/1h30m
    #[arg(long, value_name = "N/TIME", default_value = "100/5s")]
    pub(crate) mark: Rate,
    /// An episode is over after this long below the mark [default: the mark's time]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) cool: Option<Duration>,
    /// In a stream, events further than this behind their key's newest are too late [default: no bound but the window]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) late: Option<Duration>,
    /// Also list the K keys with the highest count in any window
    #[arg(long, value_name = "K")]
    pub(crate) top: Option<usize>,
    /// For each hot key, also tell who is behind it: the largest clients, paths or commands, or the fields named here
    #[arg(long, value_name = "FIELDS", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    pub(crate) why: Option<Vec<String>>,
    /// Exit with 1 if any key was hot
    #[arg(long)]
    pub(crate) fail_if_hot: bool,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What would a limit of N per T have rejected?
///
/// Every event is a request at its own time. Rejected requests are not counted against the limit. Several limits are
/// one decision: a request passes if all have room, and consumes nothing anywhere if one has not.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  floodmark replay --limit 10/1s access.log
  floodmark replay --limit 10/10s --limit 100/1m --key ip access.log access.log.1")]
pub(crate) struct ReplayArgs {
    /// At most this many within this time, such as 10/10s; may be given more than once
    #[arg(long = "limit", value_name = "N/TIME", required = true)]
    pub(crate) limits: Vec<Rate>,
    /// Report every key, not only those with a rejection
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct FormArgs {
    /// Count exactly, from a log of times (the default)
    #[arg(long)]
    exact: bool,
    /// Count in N slices per window, in constant memory per key: never too few, at most a slice too many
    #[arg(long, value_name = "N")]
    slices: Option<u32>,
}

impl FormArgs {
    pub(crate) fn form(&self) -> Form {
        self.slices.map_or(Form::Exact, Form::Slices)
    }

    /// The number of slices, if the count is not exact.
    pub(crate) fn slices(&self) -> Option<u32> {
        self.slices
    }
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// Logs, tables or streams of keys; - is standard input. Several are one input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The key: a field such as ip, path, user, host or status, the name of a column; ip/24,64 for networks, forwarded
    /// for the client behind proxies, '{ip} {path}' for several together [default: the client's address of a log, the
    /// key of a stream or of a Redis command]
    #[arg(long, value_name = "FIELD")]
    key: Option<String>,
    /// Only lines whose field has one of these values, such as status=401,403 or 'path=/login*', or none of them, such
    /// as 'status!=200'; given more than once, all must hold
    #[arg(long = "where", value_name = "FIELD=VALUES")]
    conditions: Vec<Condition>,
    /// Only events from this time on: 2026-05-17T10:05:03Z, 2026-05-17, or 2h for two hours ago
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Timestamp>,
    /// Only events before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Timestamp>,
    /// With --key forwarded, believe these proxies, such as 192.0.2.0/24; private for all private addresses
    /// [default: private]
    #[arg(long = "trusted-proxy", value_name = "NETWORK", value_parser = Proxies::from_str)]
    proxies: Vec<Proxies>,
    /// How the lines are written [default: told from the first ones]
    #[arg(long, value_parser = PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>()))]
    format: Option<Format>,
    // Not a doc comment: there the groups would be tags.
    #[arg(
        long,
        help = "How the lines are written, if in no known way: a regular expression with named groups, as \
                '(?<ip>\\S+) .*\\[(?<time>[^\\]]+)\\]', or the log_format of nginx or LogFormat of Apache, as \
                '$remote_addr [$time_local]' or '%h %t'"
    )]
    pattern: Option<Pattern>,
    /// How the time of a pattern is written, if in no usual way, such as '%Y-%m-%d %H:%M:%S'
    #[arg(long, value_name = "STRFTIME", requires = "pattern")]
    time_format: Option<String>,
    /// The column, or the member of a JSON line, that holds the time [default: told from its name]
    #[arg(long, value_name = "NAME")]
    time: Option<String>,
    /// The column or member that holds how many units a line stands for [default: each line is one]
    #[arg(long, value_name = "NAME")]
    weight: Option<String>,
    /// The unit of times that are plain numbers [default: told from their size]
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<Unit>,
    /// Also count the commands that Redis scripts call
    #[arg(long)]
    lua: bool,
    /// The year of the first line, for times without one [default: the latest that is not in the future]
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i16).range(1970..=2500))]
    year: Option<i16>,
    /// The zone of times without one, such as Europe/Berlin, +02:00 or local; HOST=ZONE for the lines of one host
    /// [default: UTC]
    #[arg(long = "time-zone", value_name = "ZONE")]
    zones: Vec<Zone>,
    /// Count a file that is named twice twice
    #[arg(long)]
    count_twice: bool,
    /// Show the first K lines that were skipped, on standard error
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) show_skipped: usize,
    /// Exit with 2 if any line was skipped (other than blank lines and headers)
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Networks of trusted proxies.
#[derive(Clone, Debug)]
struct Proxies(Vec<IpNet>);

impl FromStr for Proxies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "private" {
            return Ok(Self(private_networks()));
        }
        let network = text.parse().ok().or_else(|| Some(IpNet::from(text.parse::<IpAddr>().ok()?)));
        let say =
            || format!("\"{text}\" is no network: say one as 192.0.2.0/24 or 2001:db8::/32, or private");
        Ok(Self(vec![network.ok_or_else(say)?]))
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    read_moment(text, SystemClock.now())
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Unit {
    S,
    Ms,
    Us,
    Ns,
}

impl InputArgs {
    /// The inputs that were named, or standard input where something is piped in.
    pub(crate) fn paths(&self, command: &str) -> anyhow::Result<Vec<PathBuf>> {
        if !self.files.is_empty() {
            return Ok(self.files.clone());
        }
        if stdin().is_terminal() {
            anyhow::bail!("no input: name a file, as in floodmark {command} access.log, or pipe one in");
        }
        Ok(vec![PathBuf::from("-")])
    }

    /// Refuses a span that no time is in.
    pub(crate) fn check_span(&self) -> anyhow::Result<()> {
        if let (Some(since), Some(until)) = (self.since, self.until) {
            let (from, to) = (format_time(since, 0), format_time(until, 0));
            anyhow::ensure!(
                since < until,
                "nothing is from {from} on and before {to}: --since must be before --until"
            );
        }
        Ok(())
    }

    /// `details`: which fields tell who is behind a key, if that is asked.
    pub(crate) fn options(&self, details: Option<&[String]>) -> Options {
        Options {
            format: self.format,
            key: self.key.clone(),
            time: self.time.clone(),
            weight: self.weight.clone(),
            time_unit: match self.time_unit {
                None => TimeUnit::Auto,
                Some(Unit::S) => TimeUnit::Seconds,
                Some(Unit::Ms) => TimeUnit::Millis,
                Some(Unit::Us) => TimeUnit::Micros,
                Some(Unit::Ns) => TimeUnit::Nanos,
            },
            count_twice: self.count_twice,
            examples: self.show_skipped,
            conditions: self.conditions.clone(),
            since: self.since,
            until: self.until,
            trusted: self.proxies.iter().flat_map(|Proxies(networks)| networks).copied().collect(),
            pattern: self.pattern.clone(),
            time_format: self.time_format.clone(),
            lua: self.lua,
            year: self.year,
            zones: self.zones.clone(),
            details: details.map(<[String]>::to_vec),
            ..Options::default()
        }
    }
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// A table to read, or JSON lines or CSV to process (docs/output.md)
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    /// Colour in the table; NO_COLOR is honoured
    #[arg(long, value_enum, default_value_t = clap::ColorChoice::Auto)]
    pub(crate) color: clap::ColorChoice,
    /// No progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Table,
    Jsonl,
    Csv,
}
