//! Limits: may this key do `n` more now?

mod decision;

pub use decision::{Decision, Quota};

use crate::clock::{Clock, SystemClock, Timestamp};
use crate::error::Error;
use crate::rate::Rate;
use crate::table::{Batch, Hashed, Shard, Table};
use crate::window::{Form, Shape, Window};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;

/// Limits per key that hold in every window: at most `L` units in any half-open interval of length `W`.
///
/// What people get wrong: a limiter that restarts each minute, weighs two minutes or refills a bucket admits up to
/// `2L` in some window of one minute. This one never admits more than `L`, in either form, under any interleaving
/// of threads.
///
/// Several limits are one decision, all or nothing: a denied request consumes nothing in none of them. Requests
/// that come with an older time than their key has seen are judged and counted at that newest time.
///
/// Clones share their counts.
///
/// # Examples
/// ```
/// use floodmark::{Decision, Limiter, Timestamp};
///
/// let limiter = Limiter::builder().limit("10/1s".parse()?).limit("100/1m".parse()?).build()?;
/// let now = Timestamp::from_secs(1_000);
/// assert!(limiter.check_at("ann", 10, now).is_allowed());
/// match limiter.check_at("ann", 1, now) {
///     Decision::Denied { retry_after, by, .. } => assert_eq!((retry_after.as_secs(), by), (1, 0)),
///     other => panic!("{other:?}"),
/// }
/// assert!(matches!(limiter.check_at("ann", 11, now), Decision::Never { by: 0, .. })); // 11 can't fit into 10
/// # Ok::<(), floodmark::Error>(())
/// ```
///
/// # Accuracy
/// [`Form::Exact`] denies nothing that fits. [`Form::Slices`] decides on the upper bound, so it denies up to one
/// slice's worth that would have fitted: a steady caller exactly at the limit loses about `1 / (N + 1)`.
///
/// # Cost
/// One hash and one lookup under a short lock. Memory: a key's bytes and about 150 more per limit; the exact form
/// adds 16 per distinct time in the window, at most `L` of them.
#[derive(Clone, Debug)]
pub struct Limiter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limits: Box<[Limit]>,
    table: Table<Windows, LimiterStats>,
    clock: Arc<dyn Clock>,
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    rate: Rate,
    shape: Shape,
}

/// A decision before the quota is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Fits,
    NotNow { fits_at: u64, by: usize },
    Never { by: usize },
}

/// One window per limit, in the order of the limits.
type Windows = SmallVec<[Window; 1]>;

/// What a limiter has done so far, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimiterStats {
    /// Units allowed, and counted.
    pub allowed: u64,
    /// Units denied: "not now".
    pub denied: u64,
    /// Units of requests larger than a limit.
    pub never: u64,
    /// Times that a key's newest time lay in the far future and its sum was moved back.
    pub healed: u64,
}

/// Makes a [`Limiter`]. See [`Limiter::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct LimiterBuilder {
    limits: Vec<Rate>,
    form: Form,
    clock: Arc<dyn Clock>,
}

impl LimiterBuilder {
    /// One more limit per key.
    pub fn limit(mut self, rate: Rate) -> Self {
        self.limits.push(rate);
        self
    }

    /// How the windows are kept. Left out: [`Form::Auto`].
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Where [`Limiter::check`] gets its time from. Left out: [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The limiter.
    ///
    /// # Errors
    /// [`Error::NoLimit`] without a limit; [`Error::Slices`] and [`Error::SliceTooFine`] where the form does not
    /// suit a window. Nothing is clamped in silence.
    pub fn build(self) -> Result<Limiter, Error> {
        if self.limits.is_empty() {
            return Err(Error::NoLimit);
        }
        let limits = self.limits.iter().map(|&rate| Ok(Limit { rate, shape: Shape::new(rate, self.form)? }));
        let limits = limits.collect::<Result<_, Error>>()?;
        Ok(Limiter { shared: Arc::new(Shared { limits, table: Table::default(), clock: self.clock }) })
    }
}

impl Limiter {
    /// One limit per key, in the default form, on the system's clock.
    ///
    /// # Errors
    /// As [`LimiterBuilder::build`]; none for the default form.
    pub fn new(rate: Rate) -> Result<Self, Error> {
        Self::builder().limit(rate).build()
    }

    /// Several limits, another form, another clock.
    pub fn builder() -> LimiterBuilder {
        LimiterBuilder { limits: Vec::new(), form: Form::default(), clock: Arc::new(SystemClock) }
    }

    /// May `key` do one more? If so, it is counted.
    pub fn check(&self, key: impl AsRef<[u8]>) -> Decision {
        self.check_n(key, 1)
    }

    /// May `key` do `n` more at once? If so, they are counted; 0 only reads.
    pub fn check_n(&self, key: impl AsRef<[u8]>, n: u64) -> Decision {
        self.check_at(key, n, self.shared.clock.now())
    }

    /// The same, at a time that is handed in.
    pub fn check_at(&self, key: impl AsRef<[u8]>, n: u64, at: Timestamp) -> Decision {
        let key = self.shared.table.hash(key.as_ref());
        self.check_in(&mut self.shared.table.shard(key), key, n, at.as_nanos())
    }

    /// Decides on a batch of requests, as [`check_at`](Self::check_at) would one after another, and puts the answers
    /// into `decisions`, in their order.
    pub fn check_many(&self, batch: &Batch, decisions: &mut Vec<Decision>) {
        decisions.clear();
        let table = &self.shared.table;
        let mut keys: SmallVec<[_; 64]> = batch.iter().map(|(key, ..)| table.hash(key)).collect();
        let Some(&first) = keys.first() else { return };
        let mut shard = table.shard(first);
        shard.fetch(&mut keys);
        let requests = batch.iter().zip(&keys);
        decisions.extend(requests.map(|((_, n, at), &key)| self.check_in(&mut shard, key, n, at.as_nanos())));
    }

    /// One request, in its key's locked shard.
    fn check_in(
        &self,
        shard: &mut Shard<Windows, LimiterStats>,
        key: Hashed<'_>,
        n: u64,
        at: u64,
    ) -> Decision {
        let limits = &self.shared.limits;
        let is_never = limits.iter().any(|limit| n > limit.rate.limit());
        // A read changes nothing, and a new key is made only by what is counted.
        if n == 0 || (is_never && shard.get(key).is_none()) {
            let windows = self.healed(shard.get(key), at);
            let verdict = self.judge(&windows, n, at);
            shard.tally.note(verdict, n);
            return self.decision(verdict, &windows, at);
        }
        shard.update(
            key,
            || self.fresh(),
            |windows, tally| {
                for (window, limit) in windows.iter_mut().zip(limits) {
                    tally.healed += u64::from(window.heal(&limit.shape, at));
                }
                let verdict = self.judge(windows, n, at);
                if verdict == Verdict::Fits {
                    for (window, limit) in windows.iter_mut().zip(limits) {
                        window.take(&limit.shape, at, n);
                    }
                }
                tally.note(verdict, n);
                self.decision(verdict, windows, at)
            },
        )
    }

    /// What [`check_at`](Self::check_at) would answer. Changes nothing, creates nothing; the quota is what is left
    /// now, before the `n`.
    #[must_use]
    pub fn peek_at(&self, key: impl AsRef<[u8]>, n: u64, at: Timestamp) -> Decision {
        let (key, at) = (self.shared.table.hash(key.as_ref()), at.as_nanos());
        let windows = self.healed(self.shared.table.shard(key).get(key), at);
        self.decision(self.judge(&windows, n, at), &windows, at)
    }

    /// The window of each limit as it is kept: what was asked for, rounded up to a multiple of its slices.
    pub fn windows(&self) -> impl Iterator<Item = Duration> {
        self.shared.limits.iter().map(|limit| Duration::from_nanos(limit.shape.window))
    }

    /// How many keys are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.table.len()
    }

    /// No key has been counted yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What has been decided so far. Consistency: each shard's numbers are from one moment.
    #[must_use]
    pub fn stats(&self) -> LimiterStats {
        self.shared.table.shards().fold(LimiterStats::default(), |sum, shard| sum.plus(&shard.tally))
    }

    fn fresh(&self) -> Windows {
        self.shared.limits.iter().map(|limit| Window::new(&limit.shape)).collect()
    }

    /// A key's windows as they would be judged at a time; fresh ones for a key that is not there.
    fn healed(&self, windows: Option<&Windows>, at: u64) -> Windows {
        let mut windows = windows.cloned().unwrap_or_else(|| self.fresh());
        for (window, limit) in windows.iter_mut().zip(&self.shared.limits) {
            window.heal(&limit.shape, at);
        }
        windows
    }

    /// Asks every limit; consumes nothing.
    fn judge(&self, windows: &Windows, n: u64, at: u64) -> Verdict {
        let limits = || windows.iter().zip(&self.shared.limits);
        if let Some(by) = limits().position(|(_, limit)| n > limit.rate.limit()) {
            return Verdict::Never { by };
        }
        let mut verdict = Verdict::Fits;
        for (by, (window, limit)) in limits().enumerate() {
            let Some(fits_at) = window.fits_at(&limit.shape, at, n, limit.rate.limit()) else { continue };
            match verdict {
                Verdict::NotNow { fits_at: longest, .. } if longest >= fits_at => {}
                _ => verdict = Verdict::NotNow { fits_at, by },
            }
        }
        verdict
    }

    fn decision(&self, verdict: Verdict, windows: &Windows, at: u64) -> Decision {
        let quota = self.quota(windows, at);
        match verdict {
            Verdict::Fits => Decision::Allowed { quota },
            Verdict::Never { by } => Decision::Never { quota, by },
            Verdict::NotNow { fits_at, by } => {
                Decision::Denied { quota, retry_after: Duration::from_nanos(fits_at.saturating_sub(at)), by }
            }
        }
    }

    fn quota(&self, windows: &Windows, at: u64) -> Quota {
        let mut least: Option<(u64, Rate)> = None;
        let mut clears_at = 0;
        for (window, Limit { rate, shape }) in windows.iter().zip(&self.shared.limits) {
            let remaining = rate.limit().saturating_sub(window.count(shape, at).hi);
            if least.is_none_or(|(least, _)| remaining < least) {
                least = Some((remaining, *rate));
            }
            clears_at = clears_at.max(window.clears_at(shape));
        }
        // There is at least one limit: build() saw to it.
        let (remaining, limit) = least.unwrap_or((0, Rate::per_second(0)));
        Quota { limit, remaining, reset_after: Duration::from_nanos(clears_at.saturating_sub(at)) }
    }
}

impl LimiterStats {
    fn note(&mut self, verdict: Verdict, n: u64) {
        let sum = match verdict {
            Verdict::Fits => &mut self.allowed,
            Verdict::NotNow { .. } => &mut self.denied,
            Verdict::Never { .. } => &mut self.never,
        };
        *sum = sum.saturating_add(n);
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            allowed: self.allowed.saturating_add(other.allowed),
            denied: self.denied.saturating_add(other.denied),
            never: self.never.saturating_add(other.never),
            healed: self.healed.saturating_add(other.healed),
        }
    }
}
