//! Random traffic with the jumps that hurt: same tick, edges of slices and windows, gaps, steps of the clock.

use floodmark::{Form, Rate, Timestamp};
use floodmark_testkit::model::{SlowForm, SlowWindow};
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::time::Duration;

/// A failing case is kept as a test of its own, not as a number in a file.
pub(crate) fn config() -> Config {
    // One traffic in eleven is at the end of time, and rejected where a later one is needed.
    Config { failure_persistence: None, max_global_rejects: u32::MAX, ..Config::default() }
}

/// A window as a user asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) form: Form,
    pub(crate) window_ns: u64,
}

impl Shape {
    pub(crate) fn rate(self, limit: u64) -> Rate {
        Rate::new(limit, Duration::from_nanos(self.window_ns)).unwrap()
    }

    pub(crate) fn slow(self) -> SlowForm {
        match self.form {
            Form::Slices(slices) => SlowForm::Slices(slices.into()),
            _ => SlowForm::Exact,
        }
    }

    /// `W` as it is kept.
    pub(crate) fn window(self) -> u64 {
        SlowWindow::new(self.slow(), self.window_ns).window_ns()
    }

    /// `s`; one tick for the exact form.
    pub(crate) fn slice(self) -> u64 {
        SlowWindow::new(self.slow(), self.window_ns).slice_ns()
    }

    /// `N`; for the exact form a number to divide its window by, so that traffic has a grain.
    pub(crate) fn parts(self) -> u64 {
        match self.form {
            Form::Slices(slices) => slices.into(),
            _ => 4,
        }
    }

    /// The grain of the traffic.
    pub(crate) fn grain(self) -> u64 {
        (self.window() / self.parts()).max(1)
    }
}

const MS: u64 = 1_000_000;

/// I8: among them one slice, two slices, slices of 1 ms, and a window of one tick. 7 slices of 1 s are uneven.
pub(crate) fn slices() -> impl Strategy<Value = Shape> {
    let shape = |(slices, window_ns)| Shape { form: Form::Slices(slices), window_ns };
    let few = prop_oneof![Just((1, MS)), Just((1, 5_000 * MS)), Just((2, 2 * MS)), Just((2, 1_001 * MS))];
    let usual = prop_oneof![Just((3, 30 * MS)), Just((5, 5_000 * MS)), Just((7, 1_000 * MS))];
    let many = prop_oneof![Just((10, 10 * MS)), Just((10, 5_000 * MS)), Just((11, 3_600_000 * MS))];
    prop_oneof![few, usual, many].prop_map(shape)
}

pub(crate) fn exact() -> impl Strategy<Value = Shape> {
    let windows = prop_oneof![Just(1), Just(2), Just(10), Just(10 * MS), Just(5_000 * MS)];
    windows.prop_map(|window_ns| Shape { form: Form::Exact, window_ns })
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![1 => exact(), 2 => slices()]
}

/// From one event to the next.
#[derive(Clone, Copy, Debug)]
enum Jump {
    /// Some 256ths of a grain.
    Part(u8),
    /// To so-many edges of slices ahead, or this much beside it.
    Edge(u64, i64),
    /// A window ahead, or this much beside it.
    Window(i64),
    /// So many grains ahead.
    Gap(u64),
    /// Some 256ths of a window back.
    Back(u8),
    /// A window back, or this much beside it.
    BackWindow(i64),
    /// As far back as can just be healed, or this much beside it.
    BackFar(i64),
    /// So many windows back.
    BackWindows(u64),
}

/// Which way the clock may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Forwards,
    /// Back by any amount, and into the far future for single events.
    Steps,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    key: u8,
    n: u64,
    jump: Jump,
    /// Whether the clock stays where the jump took it: if not, the event was a straggler or a false reading.
    stays: bool,
}

/// `n` units of a key at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) key: u8,
    pub(crate) n: u64,
    pub(crate) at: u64,
}

impl Event {
    pub(crate) fn time(&self) -> Timestamp {
        Timestamp::from_nanos(self.at)
    }

    pub(crate) fn key(&self) -> [u8; 1] {
        [self.key]
    }
}

fn forwards() -> BoxedStrategy<Jump> {
    prop_oneof![
        3 => Just(Jump::Part(0)),
        1 => Just(Jump::Edge(0, 1)),
        6 => any::<u8>().prop_map(Jump::Part),
        4 => (1..13u64, -1..=1i64).prop_map(|(edges, beside)| Jump::Edge(edges, beside)),
        2 => (-1..=1i64).prop_map(Jump::Window),
        2 => (1..25u64).prop_map(Jump::Gap),
        1 => (25..100_000u64).prop_map(Jump::Gap),
    ]
    .boxed()
}

fn jump(clock: Clock) -> BoxedStrategy<Jump> {
    if clock == Clock::Forwards {
        return forwards();
    }
    let back = prop_oneof![
        4 => any::<u8>().prop_map(Jump::Back),
        2 => (-1..=1i64).prop_map(Jump::BackWindow),
        2 => (-1..=1i64).prop_map(Jump::BackFar),
        1 => (1..50u64).prop_map(Jump::BackWindows),
    ];
    prop_oneof![3 => forwards(), 1 => back].boxed()
}

/// How large events are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weight {
    /// From 0 to 4, mostly 1.
    Small,
    /// Some near the largest number, too.
    Any,
}

fn units(weight: Weight) -> BoxedStrategy<u64> {
    let small = prop_oneof![6 => Just(1u64), 3 => 0..5u64];
    match weight {
        Weight::Small => small.boxed(),
        Weight::Any => {
            let huge = prop_oneof![Just(u64::MAX), Just(u64::MAX - 1), Just(u64::MAX / 2), 1..u64::MAX];
            prop_oneof![8 => small, 1 => huge].boxed()
        }
    }
}

fn op(clock: Clock, weight: Weight) -> impl Strategy<Value = Op> {
    let stays = prop::bool::weighted(if clock == Clock::Steps { 0.7 } else { 1.0 });
    (0..2u8, units(weight), jump(clock), stays).prop_map(|(key, n, jump, stays)| Op { key, n, jump, stays })
}

/// The time a traffic begins at: the epoch, today, or the end of time, somewhere in a slice.
fn start() -> impl Strategy<Value = u64> {
    let near_end = (0..40_000_000_000u64).prop_map(|before| u64::MAX - before);
    let today = (0..10_000_000_000u64).prop_map(|after| 1_700_000_000_000_000_000 + after);
    prop_oneof![1 => Just(0), 1 => 0..10 * MS, 8 => today, 1 => near_end]
}

/// Up to `most` events, in the scale of a shape.
pub(crate) fn events(
    shape: impl Strategy<Value = Shape>,
    clock: Clock,
    weight: Weight,
    most: usize,
) -> impl Strategy<Value = (Shape, Vec<Event>)> {
    let ops = prop::collection::vec(op(clock, weight), 1..most);
    (shape, start(), ops).prop_map(move |(shape, start, ops)| {
        let mut now = start;
        let events = ops.iter().map(|op| {
            let at = jumped(shape, now, op.jump);
            now = if op.stays { at } else { now };
            Event { key: op.key, n: op.n, at }
        });
        let events = events.collect();
        (shape, events)
    })
}

fn jumped(shape: Shape, now: u64, jump: Jump) -> u64 {
    let (grain, window) = (shape.grain(), shape.window());
    let parts = |of: u64, part: u8| (u128::from(of) * u128::from(part) / 256) as u64;
    let ahead = |by: u64, beside: i64| now.saturating_add(by).saturating_add_signed(beside);
    let back = |by: u64, beside: i64| now.saturating_sub(by).saturating_add_signed(beside);
    let at = match jump {
        Jump::Part(part) => ahead(parts(grain, part), 0),
        Jump::Edge(edges, beside) => {
            (now / grain).saturating_add(edges).saturating_mul(grain).saturating_add_signed(beside)
        }
        Jump::Window(beside) => ahead(window, beside),
        Jump::Gap(grains) => ahead(grain.saturating_mul(grains), 0),
        Jump::Back(part) => back(parts(window, part), 0),
        Jump::BackWindow(beside) => back(window, beside),
        Jump::BackFar(beside) => back(window + shape.slice(), beside),
        Jump::BackWindows(windows) => back(window.saturating_mul(windows), 0),
    };
    let only_back =
        matches!(jump, Jump::Back(_) | Jump::BackWindow(_) | Jump::BackFar(_) | Jump::BackWindows(_));
    if only_back { at } else { at.max(now) }
}

/// The events in the order they arrive, when each is held up by so many 256ths of `most`.
pub(crate) fn held_up(events: &[Event], by: &[u8], most: u64) -> Vec<Event> {
    let arrival = |(event, by): (&Event, &u8)| {
        let late = u128::from(most) * u128::from(*by) / 256;
        (u128::from(event.at) + late, *event)
    };
    let mut arrivals: Vec<_> = events.iter().zip(by.iter().cycle()).map(arrival).collect();
    arrivals.sort_by_key(|(arrival, _)| *arrival);
    arrivals.into_iter().map(|(_, event)| event).collect()
}
