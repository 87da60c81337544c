//! What a reader of inputs hands on, and to whom.

use crate::event::Event;
use floodmark::Timestamp;

/// Takes the events of all inputs, one after another.
///
/// Files are read in the hope that they are in order, so what they told may have to be taken back: until
/// [`release`](Self::release), a consumer holds back what it would print.
pub trait Consumer {
    /// What may go wrong in it; reading ends there.
    type Error;

    /// The next event: in order of time from files, as it comes from a stream.
    ///
    /// # Errors
    /// Its own.
    fn event(&mut self, event: &Event<'_>) -> Result<(), Self::Error>;

    /// No further event is at hand for now: whatever was collected is to be counted.
    ///
    /// # Errors
    /// Its own.
    fn pause(&mut self) -> Result<(), Self::Error>;

    /// No event has come for a moment, and by the stream's own time it is `now`.
    ///
    /// Called only for live streams, whose times are those of the clock on the wall.
    ///
    /// # Errors
    /// Its own.
    fn idle(&mut self, now: Timestamp) -> Result<(), Self::Error>;

    /// The files are out of order: all events so far are void, and come again in the order of their times.
    ///
    /// # Errors
    /// Its own.
    fn restart(&mut self) -> Result<(), Self::Error>;

    /// The events so far stand, and so will those to come.
    ///
    /// # Errors
    /// Its own.
    fn release(&mut self) -> Result<(), Self::Error>;

    /// How many bytes are held back.
    fn held(&self) -> usize;
}

/// Watches the reading, some hundred lines at a time, whether they are events or not.
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
    /// For their events, in the hope that they are in order.
    Reading,
    /// For their times alone, to know how far out of order they are.
    LookingOver,
    /// For their events, which are put in order.
    Sorting,
}
