//! What a reader of inputs hands on, and to whom.

use crate::event::Event;
use floodmark::Timestamp;

/// Takes the events of all inputs, one after another.
pub trait Consumer {
    /// What may go wrong in it; reading ends there.
    type Error;

    /// The next event: in order of time from files, as it comes from a stream.
    ///
    /// # Errors
    /// Its own.
    fn event(&mut self, event: &Event<'_>) -> Result<(), Self::Error>;

    /// No event has come for a moment, and by the stream's own time it is `now`.
    ///
    /// Called only for live streams, whose times are those of the clock on the wall.
    ///
    /// # Errors
    /// Its own.
    fn idle(&mut self, now: Timestamp) -> Result<(), Self::Error>;
}

/// Watches the reading, some thousand lines at a time.
pub trait Watch {
    /// How far it has come.
    fn progress(&mut self, _progress: Progress) {}

    /// Whether to stop here, with what was read so far.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Nobody watches.
impl Watch for () {}

/// How far the reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which of the passes over the files.
    pub phase: Phase,
    /// Bytes of all files read in this pass.
    pub bytes: u64,
    /// Bytes of all files.
    pub total: u64,
}

/// A pass over the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// For their times alone, to know how far out of order they are.
    LookingOver,
    /// For their events.
    Reading,
}
