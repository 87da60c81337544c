//! The slow model: windows, a limiter and a detector that keep every event and count from scratch each time.
//!
//! It is the engine's judge, so it must be obviously right and owe the engine nothing: no shared code, no shared
//! types, times as plain nanoseconds, nothing remembered that could be worked out. Where the engine steps from
//! one state to the next, the model looks at the whole past and tries every instant at which something could
//! change. One model stands for one key; a test keeps one per key.
//!
//! Cost: quadratic to cubic in the number of events. That is its strength, and why it stays in the testkit.
//!
//! # Examples
//! ```
//! use floodmark_testkit::model::{SlowForm, SlowLimit, SlowLimiter, SlowVerdict};
//!
//! let mut limiter = SlowLimiter::new(&[SlowLimit { limit: 2, window_ns: 10, form: SlowForm::Exact }]);
//! assert_eq!(limiter.check(2, 100).verdict, SlowVerdict::Allowed);
//! assert_eq!(limiter.check(1, 103).verdict, SlowVerdict::Denied { retry_after_ns: 7, by: 0 });
//! assert_eq!(limiter.check(1, 110).verdict, SlowVerdict::Allowed);
//! ```

mod answer;
mod detector;
mod limiter;
mod window;

pub use answer::{SlowCooled, SlowHit, SlowPeak, SlowPlaced, SlowStats, SlowStep};
pub use detector::{SlowDetector, SlowMark};
pub use limiter::{SlowDecision, SlowLimit, SlowLimiter, SlowVerdict};
pub use window::{SlowCount, SlowForm, SlowWindow};
