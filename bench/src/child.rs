//! A child process on one core, with what it used.
//!
//! What people get wrong: the kernel counts the peak memory of a child from before its `exec`, when it still
//! shares the parent's memory. A parent that holds 500 MiB makes every child look like 500 MiB. So the benches
//! do what needs memory in children of their own.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rustix::thread::{CpuSet, sched_setaffinity};
use wait4::Wait4;

/// What one run of a child took.
#[derive(Debug)]
pub struct Used {
    /// From before the spawn to after the wait: fork, exec and the write of the output are in it.
    pub wall: Duration,
    /// User and system time together.
    pub cpu: Duration,
    /// The largest resident set, in bytes.
    pub peak_bytes: u64,
}

/// Binds this thread, and every child it starts from now on, to one core.
///
/// # Errors
/// If there is no such core, or the system forbids it.
pub fn pin(core: usize) -> Result<()> {
    ensure!(
        core < CpuSet::MAX_CPU,
        "core {core} is out of range: give --core a number below {}",
        CpuSet::MAX_CPU
    );
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set)
        .with_context(|| format!("cannot run on core {core}; choose another with --core"))
}

/// Runs a command to its end; gives what it used and what it wrote to standard output.
///
/// Both outputs go through files in the folder `scratch`: a pipe would put the reader's work on the measured
/// core, and a terminal would have progress drawn on it.
///
/// # Errors
/// If the command cannot be started, or does not end with success.
pub fn measure(mut command: Command, scratch: &Path) -> Result<(Used, Vec<u8>)> {
    let (out, err) = (scratch.join("child.out"), scratch.join("child.err"));
    let create = |path: &Path| File::create(path).with_context(|| format!("cannot write {}", path.display()));
    command.stdin(Stdio::null()).stdout(create(&out)?).stderr(create(&err)?);
    let begun = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot start {}", shown(&command)))?;
    let ended = child.wait4().with_context(|| format!("lost {}", shown(&command)))?;
    let wall = begun.elapsed();
    ensure!(
        ended.status.success(),
        "{} ended with {}: {}",
        shown(&command),
        ended.status,
        String::from_utf8_lossy(&fs::read(&err)?).trim()
    );
    let used = Used { wall, cpu: ended.rusage.utime + ended.rusage.stime, peak_bytes: ended.rusage.maxrss };
    Ok((used, fs::read(&out)?))
}

/// Whether a program of this name can be started here.
#[must_use]
pub fn is_installed(program: &Path) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// The program and its short arguments: a script given as an argument would fill the screen.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).filter(|word| word.len() < 200).collect::<Vec<_>>().join(" ")
}
