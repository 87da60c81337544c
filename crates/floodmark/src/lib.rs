//! Sliding windows per key: limits that hold in *every* window, and hot keys in episodes.
//!
//! What people get wrong about windows: a counter that restarts each minute lets twice the limit through across
//! its edge, and misses every burst that straddles it. Here a window of length `W` is half-open and slides: at
//! time `t` it holds the events with `t - W < time <= t`, for every `t`.
//!
//! # The tour
//! - [`Limiter`] decides: may `key` do `n` more now? See [`Decision`].
//! - [`Detector`] notices: has `key` reached its mark? A key at its mark is *hot*, in episodes: see [`Step`].
//! - [`Rate`] is how both are written: `100/5s`, `5/s`, `1000/1h30m`.
//! - [`Form`] picks the arithmetic of the window: exact, or a ring of slices in constant memory.
//! - [`Timestamp`] and [`Clock`]: the engine never asks the operating system for the time by itself.
//!
//! # Examples
//! At most 3 requests per second and client, in any second whatsoever:
//! ```
//! use floodmark::{Limiter, ManualClock, Rate};
//! use std::time::Duration;
//!
//! let clock = ManualClock::default();
//! let limiter = Limiter::builder().limit("3/1s".parse()?).clock(clock.clone()).build()?;
//! for _ in 0..3 {
//!     assert!(limiter.check("203.0.113.7").is_allowed());
//! }
//! let denied = limiter.check("203.0.113.7");
//! assert_eq!(denied.retry_after(), Some(Duration::from_secs(1)));
//! clock.advance(Duration::from_secs(1));
//! assert!(limiter.check("203.0.113.7").is_allowed());
//! # Ok::<(), floodmark::Error>(())
//! ```
//!
//! Which keys were hit 100 times or more within 5 seconds?
//! ```
//! use floodmark::{Detector, Step, Timestamp};
//!
//! let detector = Detector::new("100/5s".parse()?)?;
//! let mut hot = Vec::new();
//! for i in 0..150 {
//!     let at = Timestamp::from_millis(1_000 + i * 20);
//!     if let Step::Hot { count, .. } = detector.hit_at("product:42", 1, at).step {
//!         hot.push((at, count.hi));
//!     }
//! }
//! assert_eq!(hot, [(Timestamp::from_millis(1_000 + 99 * 20), 100)]); // once per episode, at the hundredth
//! # Ok::<(), floodmark::Error>(())
//! ```
//!
//! # Accuracy
//! | form | error | worst admitted in one `W` for a limit `L` |
//! |---|---|---|
//! | [`Form::Exact`] | none | `L` |
//! | [`Form::Slices`] | `lo <= E <= hi`; `hi - lo` is one slice | `L`, by deciding on `hi` |
//!
//! Both are checked against a slow model that keeps every event (`tests/model/`).
//!
//! # Consistency
//! Every type here is `Send + Sync`; checking and adding is one step under one short lock, and no lock is held
//! while your code runs. Keys are kept until the limiter or detector is dropped; a bounded table is on its way.

mod clock;
mod error;
mod hot;
mod limit;
mod rate;
mod sync;
mod table;
mod window;

pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use error::Error;
pub use hot::{
    Change, Cooled, Detector, DetectorBuilder, DetectorStats, Heavy, Hit, KeyPeak, Peak, Recent, Share, Step,
};
pub use limit::{Decision, Limiter, LimiterBuilder, LimiterStats, Quota};
pub use rate::{Rate, format_duration, parse_duration};
pub use table::Batch;
pub use window::{Count, Form, Placed};
