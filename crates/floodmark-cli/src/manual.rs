//! `floodmark completions` and `floodmark man`: what clap knows of the options, for shells and for people.

use crate::Verdict;
use crate::args::{Cli, CompletionsArgs, ManArgs};
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_mangen::Man;
use std::io::{self, Write};

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Verdict> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "floodmark", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Verdict::Done)
}

pub(crate) fn man(args: &ManArgs) -> Result<Verdict> {
    let mut command = Cli::command();
    command.build();
    if let Some(name) = &args.subcommand {
        let known = command.get_subcommands().map(|known| known.get_name()).collect::<Vec<_>>().join(", ");
        let found = command.find_subcommand(name);
        command = found.with_context(|| format!("there is no command {name}: they are {known}"))?.clone();
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    io::stdout().write_all(&page)?;
    Ok(Verdict::Done)
}
