//! What a limiter answers.

use crate::rate::Rate;
use std::time::Duration;

/// Whether a request may pass. Being denied is a decision, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Pass. The units are counted.
    Allowed {
        /// What is left.
        quota: Quota,
    },
    /// Not now. Nothing was consumed, in none of the limits.
    Denied {
        /// What is left.
        quota: Quota,
        /// The same request is allowed this much later if nobody else comes, and not a tick earlier.
        retry_after: Duration,
        /// The limit, counted from 0 as declared, that has the longest wait.
        by: usize,
    },
    /// Not ever: the request is larger than a limit, and no wait will help.
    Never {
        /// What is left.
        quota: Quota,
        /// The first limit, counted from 0 as declared, that it exceeds.
        by: usize,
    },
}

/// What is left of a key's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The limit that has the least left; the first of them as declared.
    pub limit: Rate,
    /// How many units could still pass now: the least over all limits.
    pub remaining: u64,
    /// When all of them would be whole again if nobody came: the longest over all limits.
    pub reset_after: Duration,
}

impl Decision {
    /// The request may pass.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }

    /// What is left of the key's limits.
    #[must_use]
    pub const fn quota(&self) -> &Quota {
        match self {
            Self::Allowed { quota } | Self::Denied { quota, .. } | Self::Never { quota, .. } => quota,
        }
    }

    /// How long to wait; `None` when allowed, and when no wait will help.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Denied { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }

    /// Which limit stands in the way, counted from 0 as declared.
    #[must_use]
    pub const fn by(&self) -> Option<usize> {
        match self {
            Self::Denied { by, .. } | Self::Never { by, .. } => Some(*by),
            Self::Allowed { .. } => None,
        }
    }
}
