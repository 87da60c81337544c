//! Seeded traffic: the same seed gives the same requests, byte for byte, on every machine and for ever.
//!
//! What people get wrong: a generator that draws from floating-point powers, logarithms or a library's
//! "standard" random numbers changes with the C library, or with a version number. Here every draw is
//! integer arithmetic ([`Chance`], [`Zipf`]), so that a committed log can be compared with what its generator
//! writes today.
//!
//! Times are Unix seconds throughout. Each scenario draws from a stream of its own: adding one at the end
//! changes no request of those before it, only how the requests of one second are interleaved.
//!
//! Cost: about a microsecond per line with its formatting; memory is that of one second of requests.
//!
//! ```
//! use floodmark_testkit::traffic::{Background, Crawler, Traffic};
//!
//! let requests: Vec<_> = Traffic::new(7, 1_000..1_060)
//!     .with(Background::new(200, 3))
//!     .with(Crawler { client: [192, 0, 2, 1].into(), at: 1_010, seconds: 20, per_second: 25 })
//!     .collect();
//! assert!(requests.is_sorted_by_key(|request| request.time));
//! ```

mod chance;
mod request;
mod sample;
mod scenario;

use std::{fmt, ops::Range, vec};

pub use chance::{Chance, Zipf};
pub use request::{CombinedLog, Request};
pub use sample::{SALE_OPENS, flash_sale_log, flash_sale_sample};
pub use scenario::{Background, Crawler, Drip, Eager, EdgeBurst, FlashSale, Scenario, visitor_address};

/// A mix of scenarios over a span of time, as an iterator of requests in time order.
pub struct Traffic {
    seed: u64,
    ahead: Range<u64>,
    mix: Vec<(Box<dyn Scenario>, Chance)>,
    interleave: Chance,
    of_this_second: vec::IntoIter<Request>,
}

impl Traffic {
    /// Silence over `span` (Unix seconds, the end excluded); mix scenarios in by [`Traffic::with`].
    #[must_use]
    pub fn new(seed: u64, span: Range<u64>) -> Self {
        Self {
            seed,
            ahead: span,
            mix: Vec::new(),
            interleave: Chance::new(seed),
            of_this_second: Vec::new().into_iter(),
        }
    }

    /// Adds a scenario; what it sends outside the span is not in the traffic.
    #[must_use]
    pub fn with(mut self, scenario: impl Scenario + 'static) -> Self {
        let stream = self.mix.len() as u64 + 1;
        self.mix.push((Box::new(scenario), Chance::of_stream(self.seed, stream)));
        self
    }

    fn requests_of(&mut self, second: u64) -> Vec<Request> {
        let mut requests = Vec::new();
        for (scenario, chance) in &mut self.mix {
            scenario.send(second, chance, &mut requests);
        }
        self.interleave.shuffle(&mut requests);
        requests
    }
}

impl Iterator for Traffic {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        loop {
            if let Some(request) = self.of_this_second.next() {
                return Some(request);
            }
            let second = self.ahead.next()?;
            self.of_this_second = self.requests_of(second).into_iter();
        }
    }
}

impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traffic")
            .field("seed", &self.seed)
            .field("ahead", &self.ahead)
            .field("mix", &self.mix.iter().map(|(scenario, _)| scenario).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
