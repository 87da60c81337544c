//! `floodmark replay`: what would a limit have rejected?
//!
//! The live limiter decides on the log's own times. Beside it, two exact detectors per limit measure the most that
//! was asked and the most that was admitted in any window: the second is a check of the first promise on real data.

use crate::Verdict;
use crate::args::ReplayArgs;
use crate::report::{Column, Key, REPLAY_COLUMNS, Record, Report, Summary, Table};
use crate::session::Session;
use crate::text::{counted, grouped, safe, tell_healed};
use anyhow::Result;
use floodmark::{Batch, Change, Decision, Detector, Form, Limiter, Rate, Timestamp};
use floodmark_log::{Consumer, Event, Tally};
use std::collections::HashMap;
use std::time::Duration;

pub(crate) fn run(args: &ReplayArgs) -> Result<Verdict> {
    for rate in &args.limits {
        anyhow::ensure!(rate.limit() > 0, "a limit of 0 rejects everything: use 1 or more");
    }
    let (limiter, limits) = build(args)?;
    let session = Session::open("replay", &args.input, &args.output, None)?;
    if session.is_faulty_throughout() {
        return Ok(Verdict::Faulty);
    }
    limiter.windows().try_for_each(|window| session.check_tick(window, args.form.slices()))?;
    let report = Report::new(&args.output, REPLAY_COLUMNS, session.bar(), session.digits(), false)?;
    let (keys, asked, decisions, changes) = Default::default();
    let mut replay = Replay { limiter, limits, keys, asked, decisions, changes, args, report };
    let (tally, verdict) = session.read(&mut replay)?;
    replay.finish(&tally)?;
    Ok(verdict)
}

fn build(args: &ReplayArgs) -> Result<(Limiter, Vec<Measured>)> {
    let builder =
        args.limits.iter().fold(Limiter::builder().form(args.form.form()), |b, &rate| b.limit(rate));
    // First of all: it refuses what no window can be divided by.
    let limiter = builder.build()?;
    let slices = args.form.slices().unwrap_or(u32::MAX);
    let limits = args.limits.iter().map(|&rate| Measured::new(rate, slices)).collect::<Result<_>>()?;
    Ok((limiter, limits))
}

struct Replay<'a> {
    limiter: Limiter,
    limits: Vec<Measured>,
    keys: HashMap<Vec<u8>, OfKey>,
    /// Requests that are still to be decided.
    asked: Batch,
    decisions: Vec<Decision>,
    changes: Vec<Change>,
    args: &'a ReplayArgs,
    report: Report,
}

/// One limit, and the highest counts under it.
struct Measured {
    rate: Rate,
    asked: Detector,
    admitted: Detector,
    /// What is still to be measured of the admitted.
    batch: Batch,
    /// The limiter takes a time that is further ahead than this for wrong.
    far_ahead: Duration,
}

impl Measured {
    fn new(rate: Rate, slices: u32) -> Result<Self> {
        // They measure: a mark that no key reaches.
        let mark = Rate::new(u64::MAX, rate.window())?;
        let detector = || Detector::builder(mark).form(Form::Exact).build();
        let far_ahead = rate.window() + rate.window() / slices;
        Ok(Self { rate, asked: detector()?, admitted: detector()?, batch: Batch::default(), far_ahead })
    }

    /// The limiter has counted units: at the newest time of the key, or where that was wrong, at this one.
    fn counted(&mut self, key: &[u8], n: u64, at: Timestamp, of_limit: &mut OfLimit) {
        if of_limit.counted_at.saturating_since(at) <= self.far_ahead {
            of_limit.counted_at = of_limit.counted_at.max(at);
        } else {
            of_limit.counted_at = at;
        }
        self.batch.push(key, n, of_limit.counted_at);
    }
}

/// What one key asked for and got, in units.
#[derive(Default)]
struct OfKey {
    asked: u64,
    admitted: u64,
    by_limit: Vec<OfLimit>,
}

impl OfKey {
    fn new(limits: usize) -> Self {
        Self { by_limit: vec![OfLimit::default(); limits], ..Self::default() }
    }

    /// Counts a request that a limit rejected, or none.
    fn note(&mut self, n: u64, at: Timestamp, by: Option<usize>) {
        self.asked = self.asked.saturating_add(n);
        match by.and_then(|by| self.by_limit.get_mut(by)) {
            None => self.admitted = self.admitted.saturating_add(n),
            Some(of_limit) => {
                of_limit.rejected = of_limit.rejected.saturating_add(n);
                of_limit.first = of_limit.first.or(Some(at));
                of_limit.last = Some(at);
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct OfLimit {
    rejected: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The time at which the limiter counted last.
    counted_at: Timestamp,
}

impl Consumer for Replay<'_> {
    type Error = anyhow::Error;

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        self.asked.push(event.key, event.n, event.at);
        self.report.note_digits(event.digits);
        if self.asked.len() < BATCH { Ok(()) } else { self.pause() }
    }

    fn pause(&mut self) -> Result<()> {
        self.limiter.check_many(&self.asked, &mut self.decisions);
        for ((key, n, at), decision) in self.asked.iter().zip(&self.decisions) {
            let of_key = match self.keys.get_mut(key) {
                Some(of_key) => of_key,
                None => self.keys.entry(key.to_vec()).or_insert_with(|| OfKey::new(self.limits.len())),
            };
            of_key.note(n, at, decision.by());
            if decision.is_allowed() {
                for (limit, of_limit) in self.limits.iter_mut().zip(&mut of_key.by_limit) {
                    limit.counted(key, n, at, of_limit);
                }
            }
        }
        for limit in &mut self.limits {
            limit.asked.hit_many(&self.asked, &mut self.changes);
            limit.admitted.hit_many(&limit.batch, &mut self.changes);
            limit.batch.clear();
        }
        self.asked.clear();
        Ok(())
    }

    fn idle(&mut self, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        (self.limiter, self.limits) = build(self.args)?;
        self.keys.clear();
        self.asked.clear();
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        self.report.release()
    }

    fn held(&self) -> usize {
        0
    }
}

/// As many requests are measured together.
const BATCH: usize = 64;

const KEYS: Table = Table(&[
    Column::Right("REJECTED", 9),
    Column::Right("OF ASKED", 9),
    Column::Right("WORST ASKED", 11),
    Column::Time("FIRST REJECTED"),
    Column::Time("LAST REJECTED"),
    Column::Left("KEY", 0),
]);

impl Replay<'_> {
    fn finish(mut self, tally: &Tally) -> Result<()> {
        if self.limits.len() > 1 {
            let limits =
                self.limits.iter().map(|limit| limit.rate.to_string()).collect::<Vec<_>>().join(" and ");
            let [asked, admitted] = [|key: &OfKey| key.asked, |key: &OfKey| key.admitted]
                .map(|units| self.keys.values().fold(0u64, |sum, of_key| sum.saturating_add(units(of_key))));
            let (rejected, asked) = (grouped(asked.saturating_sub(admitted)), counted(asked, "request"));
            self.report.line(&format!("{limits} together would have rejected {rejected} of {asked}"))?;
            self.report.line("")?;
        }
        for index in 0..self.limits.len() {
            self.limit(index)?;
        }
        let keys = self.keys.len() as u64;
        // All are judged, the late ones at a newer time: each was counted as late by whatever measures what was asked.
        let stats = self.limits.first().map(|limit| limit.asked.stats()).unwrap_or_default();
        let late_counted = stats.late_counted.saturating_add(stats.too_late);
        Summary { tally, late_counted, too_late: 0, keys }.write(&mut self.report)?;
        tell_healed(self.limiter.stats().healed);
        self.report.finish()
    }

    /// The keys that a limit rejected requests of, the most first, and their sum.
    fn limit(&mut self, index: usize) -> Result<()> {
        let Some(limit) = self.limits.get(index) else { return Ok(()) };
        let shown = limit.rate.to_string();
        let of = |of_key: &OfKey| of_key.by_limit.get(index).copied().unwrap_or_default();
        let (mut asked, mut admitted, mut rejected, mut keys_rejected) = (0u64, 0u64, 0u64, 0);
        let mut rows = Vec::new();
        for (key, of_key) in &self.keys {
            let units = of(of_key).rejected;
            asked = asked.saturating_add(of_key.asked);
            admitted = admitted.saturating_add(of_key.admitted);
            rejected = rejected.saturating_add(units);
            keys_rejected += u64::from(units > 0);
            if units > 0 || self.args.all {
                rows.push((key, of_key, of(of_key)));
            }
        }
        rows.sort_by(|(a, _, x), (b, _, y)| y.rejected.cmp(&x.rejected).then_with(|| a.cmp(b)));
        let (units, keys) = (grouped(rejected), counted(keys_rejected, "key"));
        let title = if self.limits.len() > 1 {
            format!("Of these {units}, of {keys}, by {shown}, which had the longest wait")
        } else {
            format!("{shown} would have rejected {units} of {}, of {keys}", counted(asked, "request"))
        };
        self.report.line(&title)?;
        self.report.line("")?;
        if !rows.is_empty() {
            self.report.head(&KEYS)?;
        }
        for (key, of_key, OfLimit { rejected: units, first, last, .. }) in rows {
            let most = |detector: &Detector| detector.peak(key).map_or(0, |peak| peak.hi);
            let (worst, worst_asked) = (most(&limit.admitted), most(&limit.asked));
            let (first, last) = (first.map(|at| self.report.time(at)), last.map(|at| self.report.time(at)));
            if self.report.is_table() {
                let time = |time: Option<String>| time.unwrap_or_else(|| "-".into());
                let (units, asked, most) = (grouped(units), grouped(of_key.asked), grouped(worst_asked));
                self.report.row(&KEYS, &[units, asked, most, time(first), time(last), safe(key)])?;
                continue;
            }
            self.report.record(&Record::Replay {
                key: Key::new(key),
                limit: shown.clone(),
                asked: of_key.asked,
                admitted: of_key.admitted,
                rejected: units,
                first_rejected: first,
                last_rejected: last,
                worst,
                worst_asked,
            })?;
        }
        let keys = self.keys.len() as u64;
        let total = Record::ReplayTotal { limit: shown, asked, admitted, rejected, keys, keys_rejected };
        self.report.record(&total)?;
        self.report.line("")
    }
}
