//! What can be wrong with what a user asks for. The data path itself has no errors.

use crate::rate::format_ns;

/// Why a rate, a form or a builder was refused. Each message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is not a rate or a duration.
    #[error("\"{input}\" is not a {what}: {reason}")]
    Parse {
        /// The text as it was given.
        input: String,
        /// `rate` or `time`.
        what: &'static str,
        /// What is wrong with it, and what is allowed.
        reason: String,
    },
    /// A window of no length, or one beyond 584 years.
    #[error("a window must be between 1ns and 584 years long")]
    Window,
    /// A limiter without any limit.
    #[error("a limiter needs at least one limit: add .limit(\"100/5s\".parse()?)")]
    NoLimit,
    /// A mark of 0, which every key would reach without a single event.
    #[error("a mark of 0 is reached by every key: the least mark is 1")]
    ZeroMark,
    /// A ring of no slices, or of more than it can be worth.
    #[error("{slices} slices: a window has 1 to {max} slices; 10 is a good start")]
    Slices {
        /// As asked.
        slices: u32,
        /// The most that are allowed.
        max: u32,
    },
    /// Slices below a millisecond.
    #[error(
        "{slices} slices of {} are {} each, and a slice is at least 1ms: use fewer slices, or the exact form",
        format_ns(*window_ns),
        format_ns(*slice_ns)
    )]
    SliceTooFine {
        /// As asked.
        slices: u32,
        /// The window, in nanoseconds.
        window_ns: u64,
        /// What a slice would be, in nanoseconds.
        slice_ns: u64,
    },
}
