//! The pure arithmetic of a window, one file per form. It knows no key, no map, no lock and no clock.
//!
//! Both forms answer the same few questions, so that limits and marks need not know which one they stand on:
//!
//! | question | changes the state | asked by |
//! |---|---|---|
//! | `count` at a time | no | reads |
//! | `record` units, wherever their time falls | yes | detector |
//! | `fits_at`: whether units fit, or when | no | limiter |
//! | `take` units that were judged to fit | yes | limiter |
//! | `falls_below` a mark, if nothing else comes | no | episodes |
//! | `heal` a newest time that lies in the far future | yes | both |
//!
//! Times are nanoseconds since the epoch, as plain `u64`; every subtraction saturates.

mod exact;
mod slices;

use crate::error::Error;
use crate::rate::Rate;
use exact::ExactLog;
use slices::SliceRing;

/// What a window knows of the true count `E` of the units in `(t - W, t]`: `lo <= E <= hi`.
///
/// Exact windows have `lo == hi`. For slices, `hi - lo` is what the oldest slice holds, of which some part may have
/// left the window. Most sliding counters return `lo` and call it the count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Count {
    /// At least this many.
    pub lo: u64,
    /// At most this many.
    pub hi: u64,
}

impl Count {
    /// The count is known exactly.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.lo == self.hi
    }
}

/// How a window is kept. Each form states its error; nothing is called exact that is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// [`Exact`](Form::Exact) for a limit or mark of at most 10, else 10 [`Slices`](Form::Slices).
    #[default]
    Auto,
    /// A log of times: no error. Memory follows use, 16 bytes per distinct time in the window.
    ///
    /// A key with more than 2^20 distinct times in one window has neighbours merged, towards the later time, so
    /// that it can only be over-counted; its [`Count`] is a bracket from then on.
    Exact,
    /// A ring of `N + 1` slices of `W / N` each, in constant memory: the count is a bracket.
    ///
    /// Decided on the upper bound, a limit is never exceeded and a mark never missed; a steady caller exactly at
    /// the limit is refused about `1 / (N + 1)` of its requests, 9 % for 10 slices. Slices are aligned to the
    /// epoch, never to a key's first event, so that windows can be merged. A window that is no multiple of `N`
    /// nanoseconds is rounded up to one: see [`Limiter::windows`](crate::Limiter::windows).
    Slices(u32),
}

/// Where an event found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placed {
    /// At or after the newest time of its key.
    OnTime,
    /// Before the newest time of its key, yet within the window: counted in its own place.
    Late,
    /// Older than the window, or further behind than the bound that was set: not counted, and reported.
    TooLate,
    /// Its key's newest time was in the far future: the whole sum was moved to this event's time.
    Healed,
}

/// What [`Window::record`] did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) placed: Placed,
    /// Units that did not fit into the counter's range.
    pub(crate) saturated: u64,
    /// The first instant, up to this event, at which the upper count fell from the mark or above to below it.
    pub(crate) fell: Option<u64>,
}

/// The sizes of one window, shared by all its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `W` in nanoseconds: a multiple of `slice`, at least what was asked for.
    pub(crate) window: u64,
    /// The width of a slice in nanoseconds; one tick for the exact form.
    pub(crate) slice: u64,
    /// `N`; 0 for the exact form.
    pub(crate) slices: u64,
}

/// The most slices a window may have: past this, the exact form is smaller and better.
const MAX_SLICES: u32 = 4_096;
const MIN_SLICE_NS: u64 = 1_000_000;

impl Shape {
    pub(crate) fn new(rate: Rate, form: Form) -> Result<Self, Error> {
        let slices = match form {
            Form::Auto if rate.limit() <= 10 => 0,
            // Finer than a millisecond a slice is not: a short window stays exact, and both keep the limit.
            Form::Auto if rate.window_ns() < 10 * MIN_SLICE_NS => 0,
            Form::Auto => 10,
            Form::Exact => 0,
            Form::Slices(slices) if slices == 0 || slices > MAX_SLICES => {
                return Err(Error::Slices { slices, max: MAX_SLICES });
            }
            Form::Slices(slices) => slices,
        };
        let window = rate.window_ns();
        if slices == 0 {
            return Ok(Self { window, slice: 1, slices: 0 });
        }
        let slice = window.div_ceil(u64::from(slices));
        if slice < MIN_SLICE_NS {
            return Err(Error::SliceTooFine { slices, window_ns: window, slice_ns: slice });
        }
        let slices = u64::from(slices);
        Ok(Self { window: slice.saturating_mul(slices), slice, slices })
    }

    /// `newest` lies so far ahead of `at` that one of the two must be wrong.
    pub(crate) fn is_far_ahead(&self, newest: u64, at: u64) -> bool {
        newest > at.saturating_add(self.window).saturating_add(self.slice)
    }
}

/// One key's window.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Exact(ExactLog),
    Slices(SliceRing),
}

/// Calls the same method on whichever form it is.
macro_rules! either {
    ($window:expr, $state:ident => $call:expr) => {
        match $window {
            Window::Exact($state) => $call,
            Window::Slices($state) => $call,
        }
    };
}

impl Window {
    pub(crate) fn new(shape: &Shape) -> Self {
        match shape.slices {
            0 => Self::Exact(ExactLog::default()),
            _ => Self::Slices(SliceRing::new(shape)),
        }
    }

    /// The newest time this key has seen.
    pub(crate) fn newest(&self) -> u64 {
        either!(self, state => state.newest())
    }

    /// The count in `(now - W, now]`; a `now` before the newest time reads at the newest time.
    #[inline]
    pub(crate) fn count(&self, shape: &Shape, now: u64) -> Count {
        either!(self, state => state.count(shape, now))
    }

    /// Counts `n` units in their own place, as a detector does, unless that has left the window; tells whether the
    /// count fell below `mark` on the way.
    #[inline]
    pub(crate) fn record(&mut self, shape: &Shape, at: u64, n: u64, mark: u64) -> Recorded {
        either!(self, state => state.record(shape, at, n, mark))
    }

    /// When `n` units, judged at the later of `at` and the newest time, fit under `limit` if nobody else comes;
    /// `None`: they fit now. The caller has seen to `n <= limit`.
    pub(crate) fn fits_at(&self, shape: &Shape, at: u64, n: u64, limit: u64) -> Option<u64> {
        either!(self, state => state.fits_at(shape, at, n, limit))
    }

    /// Counts units that were judged to fit, at the later of `at` and the newest time.
    pub(crate) fn take(&mut self, shape: &Shape, at: u64, n: u64) {
        either!(self, state => state.take(shape, at, n))
    }

    /// When all that is counted now will have left the window; 0 for an empty one.
    pub(crate) fn clears_at(&self, shape: &Shape) -> u64 {
        either!(self, state => state.clears_at(shape))
    }

    /// The first instant, after the newest time, at which the upper count is below `mark` if nothing else comes.
    pub(crate) fn falls_below(&self, shape: &Shape, mark: u64) -> u64 {
        either!(self, state => state.falls_below(shape, mark))
    }

    /// Where the newest time lies in the far future of `at`, moves the whole sum to `at`: no amnesty, no freeze,
    /// and all gone within one window.
    pub(crate) fn heal(&mut self, shape: &Shape, at: u64) -> bool {
        let far = shape.is_far_ahead(self.newest(), at);
        if far {
            either!(self, state => state.move_all_to(shape, at));
        }
        far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rate: &str, form: Form) -> Result<Shape, Error> {
        Shape::new(rate.parse().unwrap(), form)
    }

    #[test]
    fn auto_is_exact_for_small_limits_and_ten_slices_above() {
        assert_eq!(shape("10/5s", Form::Auto).unwrap().slices, 0);
        assert_eq!(shape("11/5s", Form::Auto).unwrap().slices, 10);
        assert_eq!(shape("100/9ms", Form::Auto).unwrap().slices, 0);
    }

    #[test]
    fn an_uneven_window_is_rounded_up_to_a_multiple_of_its_slices() {
        let shape = shape("100/1s", Form::Slices(7)).unwrap();
        assert_eq!((shape.slice, shape.window), (142_857_143, 1_000_000_001));
    }

    #[test]
    fn too_fine_and_too_many_slices_are_refused_with_advice() {
        let error = shape("100/5ms", Form::Slices(10)).unwrap_err().to_string();
        assert_eq!(
            error,
            "10 slices of 5ms are 500us each, and a slice is at least 1ms: use fewer slices, or the exact form"
        );
        assert!(shape("100/5s", Form::Slices(0)).unwrap_err().to_string().contains("1 to 4096 slices"));
        assert!(shape("100/10h", Form::Slices(5_000)).is_err());
        assert_eq!(shape("100/5ms", Form::Slices(5)).unwrap().slice, 1_000_000);
    }
}
