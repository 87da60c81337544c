//! The `floodmark` command.

mod args;
mod hot;
mod replay;
mod report;
mod session;
mod text;

use anyhow::Error;
use args::{Cli, Command};
use clap::Parser;
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
    let verdict = match Cli::parse().command {
        Command::Hot(args) => hot::run(&args),
        Command::Replay(args) => replay::run(&args),
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

fn is_closed_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        let of_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind).or(of_json);
        kind == Some(io::ErrorKind::BrokenPipe)
    })
}
