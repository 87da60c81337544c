//! The `floodmark` command.

mod args;
mod hot;
mod manual;
mod replay;
mod report;
mod session;
mod text;
mod why;

use anyhow::Error;
use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use std::io;
use std::process::ExitCode;

/// What a command found, as the shell is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Done.
    Done,
    /// Done, and something was hot that must not be.
    Hot,
    /// An input or a line could not be read, and it was said.
    Faulty,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // The help is no mistake, asked for or not.
        Err(help)
            if !help.use_stderr() || help.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            help.exit()
        }
        Err(mistake) => {
            text::complain(&one_line(&mistake.to_string()));
            return ExitCode::from(2);
        }
    };
    let verdict = match cli.command {
        Command::Hot(args) => hot::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    match verdict {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::Hot) => ExitCode::from(1),
        Ok(Verdict::Faulty) => ExitCode::from(2),
        // Whoever read the output has seen enough.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            text::complain(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// What is wrong with the arguments, on one line as everything else that is wrong: what, which values there are, a
/// tip, and the usage, as far as there is any of it.
fn one_line(mistake: &str) -> String {
    let mistake = mistake.strip_prefix("error: ").unwrap_or(mistake);
    let parts = mistake.split("\n\n").filter(|part| !part.starts_with("For more information"));
    let parts = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    parts.collect::<Vec<_>>().join("; ")
}

fn is_closed_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        let of_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind).or(of_json);
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], expected: &str) {
        let mistake = Cli::try_parse_from(args).unwrap_err();
        assert_eq!(one_line(&mistake.to_string()), expected);
    }

    #[test]
    fn a_mistake_is_told_on_one_line() {
        check(
            &["floodmark", "hot", "--output", "xml"],
            "invalid value 'xml' for '--output <OUTPUT>' [possible values: table, jsonl, csv]",
        );
        check(
            &["floodmark", "replay", "a.log"],
            "the following required arguments were not provided: --limit <N/TIME>; \
             Usage: floodmark replay --limit <N/TIME> <FILE>...",
        );
    }
}
