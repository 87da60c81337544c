//! All files as one: merged in the order of their times.

use crate::error::Error;
use crate::event::Tally;
use crate::feed::{Consumer, Phase, Progress, Watch};
use crate::order::{FileEvents, FileInput, Ordered, Stopped};
use floodmark::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::path::PathBuf;

/// A consumer that holds back more than this is told whether it may let go.
const MAX_HELD: usize = 4 << 20;

/// Hands the events of all files to `consumer`. Files that can't be read to their end are told as problems.
pub(crate) fn read<C: Consumer>(
    inputs: Vec<FileInput>,
    examples: usize,
    problems: &mut Vec<Error>,
    consumer: &mut C,
    watch: &mut dyn Watch,
) -> Result<Tally, C::Error> {
    let total = inputs.iter().map(|input| input.length).sum();
    let told = problems.len();
    let mut merge =
        Merge { sources: Vec::new(), problems, watch, phase: Phase::Reading, total, bytes: 0, held: false };
    for input in inputs {
        merge.open(input, |input| FileEvents::new(input, examples).map(Ordered::as_is));
    }
    if !merge.run(consumer)? {
        consumer.restart()?;
        // Whatever was in the way will be so again.
        merge.problems.truncate(told);
        merge.sort(examples);
        // How far the times go back is not known if that was stopped.
        if !merge.watch.should_stop() {
            merge.run(consumer)?;
        }
    }
    let mut tally = Tally::default();
    for source in merge.sources {
        tally.add(source.into_decoder().tally, examples);
    }
    Ok(tally)
}

struct Merge<'a> {
    sources: Vec<Ordered>,
    problems: &'a mut Vec<Error>,
    watch: &'a mut dyn Watch,
    phase: Phase,
    /// Bytes of all files, and those that were read in this phase.
    total: u64,
    bytes: u64,
    /// What the consumer was told may still have to be taken back.
    held: bool,
}

impl Merge<'_> {
    fn open(&mut self, input: FileInput, open: impl FnOnce(FileInput) -> io::Result<Ordered>) {
        let path = PathBuf::from(&input.path);
        match open(input) {
            Ok(source) => self.sources.push(source),
            Err(source) => self.problems.push(Error::Io { path, source }),
        }
    }

    /// Begins again, with sources that put their events in order.
    fn sort(&mut self, examples: usize) {
        self.phase = Phase::LookingOver;
        let mut bytes = 0;
        for source in std::mem::take(&mut self.sources) {
            let input = source.rewind();
            let (watch, total) = (&mut *self.watch, self.total);
            let lag = input.look_over(|read| {
                bytes += read;
                watch.progress(Progress { phase: Phase::LookingOver, bytes, total });
                !watch.should_stop()
            });
            self.open(input, |input| Ok(Ordered::sorted(FileEvents::new(input, examples)?, lag?)));
        }
        self.phase = Phase::Sorting;
    }

    /// Hands on the events of all sources, the earliest first; `false`: one of them is out of order.
    fn run<C: Consumer>(&mut self, consumer: &mut C) -> Result<bool, C::Error> {
        self.held = self.phase == Phase::Reading;
        self.bytes = 0;
        let mut next: BinaryHeap<Reverse<(Timestamp, usize)>> = BinaryHeap::new();
        for index in 0..self.sources.len() {
            let Ok(at) = self.advance(index) else { return Ok(false) };
            next.extend(at.map(|at| Reverse((at, index))));
        }
        if !self.held {
            consumer.release()?;
        }
        let mut events = 0u64;
        while let Some(Reverse((_, index))) = next.pop() {
            // This source's events are next as long as no other's are earlier.
            let until = next.peek().map(|Reverse(next)| *next);
            loop {
                if let Some(event) = self.sources.get(index).and_then(Ordered::event) {
                    consumer.event(&event)?;
                }
                events += 1;
                if events.is_multiple_of(4096) && self.held && consumer.held() > MAX_HELD {
                    let is_in_order = self.is_in_order_to_the_end();
                    if !is_in_order && !self.watch.should_stop() {
                        return Ok(false);
                    }
                    self.held = false;
                    consumer.release()?;
                }
                match self.advance(index) {
                    Err(OutOfOrder) => return Ok(false),
                    Ok(Some(at)) if until.is_none_or(|until| (at, index) <= until) => {}
                    Ok(Some(at)) => {
                        next.push(Reverse((at, index)));
                        break;
                    }
                    Ok(None) => break,
                }
            }
        }
        consumer.pause()?;
        Ok(true)
    }

    #[inline]
    fn advance(&mut self, index: usize) -> Result<Option<Timestamp>, OutOfOrder> {
        let Some(source) = self.sources.get_mut(index) else { return Ok(None) };
        let (watch, bytes) = (&mut *self.watch, &mut self.bytes);
        let (phase, total) = (self.phase, self.total);
        let mut on_read = |read| {
            *bytes += read;
            watch.progress(Progress { phase, bytes: *bytes, total });
            !watch.should_stop()
        };
        match source.advance(&mut on_read) {
            Ok(Some(at)) => Ok(Some(at)),
            Ok(None) => {
                self.problems.extend(source.problem());
                Ok(None)
            }
            Err(Stopped::OutOfOrder(_)) if self.held && !self.watch.should_stop() => Err(OutOfOrder),
            // What has been let go can't be taken back: the file has changed meanwhile, and the event is a late one.
            // So is one that was read when it was said to stop.
            Err(Stopped::OutOfOrder(at)) => Ok(Some(at)),
            Err(Stopped::Io(error)) => {
                let path = PathBuf::from(&source.decoder().path);
                self.problems.push(Error::Io { path, source: error });
                Ok(None)
            }
        }
    }

    fn is_in_order_to_the_end(&mut self) -> bool {
        let (watch, total) = (&mut *self.watch, self.total);
        let mut bytes: u64 = self.sources.iter().map(Ordered::taken_in).sum();
        let mut on_read = |read| {
            bytes += read;
            // What is in the buffers is read once more.
            watch.progress(Progress { phase: Phase::LookingOver, bytes: bytes.min(total), total });
            !watch.should_stop()
        };
        self.sources.iter_mut().all(|source| {
            // What can't be read now will be a problem when it is its turn.
            source.is_in_order_to_its_end(&mut on_read).unwrap_or(true)
        })
    }
}

struct OutOfOrder;
