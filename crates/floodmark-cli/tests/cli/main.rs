//! The command from outside: what is typed, what comes in, what is printed, and what the shell is told.
//!
//! Expected counts of real logs, and one-line cases from the trackers of other projects, are read from the folder
//! that the variable `FLOODMARK_DATA` names; where it is absent those tests say so and pass.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod cells;
mod choose;
mod common;
mod golden;
mod inputs;
mod live;
mod manual;
mod options;
mod order;
mod output;
mod packed;
mod sequences;
mod stream;
mod why;
