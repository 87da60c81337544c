//! Lines to events from outside: single odd lines of real logs, and lines that are damaged at random.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod common;
mod damage;
mod files;
mod fuzz;
mod json;
mod lines;
mod monitor;
mod packed;
mod pattern;
mod sshd;
mod watch;
