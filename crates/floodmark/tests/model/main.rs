//! The engine against the slow model, and against its promises, on random traffic.
//!
//! The invariants are numbered I1 to I12 where a test stands for one. (Of I6, the merging of rings has no test:
//! the API cannot merge yet.) That these tests can fail is shown by the mutants of the testkit:
//! `cargo run -p floodmark-testkit --bin mutants`.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod agrees;
mod batch;
mod clock;
mod count;
mod detector;
mod limiter;
mod scenario;
mod threads;
mod why;
