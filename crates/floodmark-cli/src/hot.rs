//! `floodmark hot`: which keys reached the mark, when, and how hard?

use crate::Verdict;
use crate::args::HotArgs;
use crate::report::{Column, HOT_COLUMNS, Key, Record, Report, Shares, Summary, Table, millis};
use crate::session::Session;
use crate::text::{counted, grouped, safe, tell_healed};
use crate::why::{self, Why};
use anyhow::Result;
use floodmark::{
    Batch, Change, Cooled, Count, Detector, Form, KeyPeak, Placed, Step, Timestamp, format_duration,
};
use floodmark_log::{Consumer, Event, Tally};

pub(crate) fn run(args: &HotArgs) -> Result<Verdict> {
    let detector = build(args)?;
    let session = Session::open("hot", &args.input, &args.output, args.why.as_deref())?;
    if session.is_faulty_throughout() {
        return Ok(Verdict::Faulty);
    }
    session.check_tick(detector.window(), args.form.slices())?;
    let report =
        Report::new(&args.output, HOT_COLUMNS, session.bar(), session.digits(), session.has_streams())?;
    let (batch, changes, newest) = Default::default();
    let why = args.why.is_some().then(|| Why::new(detector.window()));
    let mut hot = Hot { detector, args, report, episodes: 0, batch, changes, newest, why };
    hot.begin()?;
    let (tally, verdict) = session.read(&mut hot)?;
    let was_hot = hot.episodes > 0;
    hot.finish(&tally)?;
    Ok(if verdict == Verdict::Done && was_hot && args.fail_if_hot { Verdict::Hot } else { verdict })
}

fn build(args: &HotArgs) -> Result<Detector> {
    let mut detector = Detector::builder(args.mark).form(args.form.form());
    if let Some(cool) = args.cool {
        detector = detector.cool(cool);
    }
    if let Some(late) = args.late {
        detector = detector.late(late);
    }
    Ok(detector.build()?)
}

struct Hot<'a> {
    detector: Detector,
    args: &'a HotArgs,
    report: Report,
    episodes: u64,
    /// Events that are still to be counted.
    batch: Batch,
    changes: Vec<Change>,
    /// The newest time of the batch before.
    newest: Timestamp,
    why: Option<Why>,
}

/// As many events are counted together.
const BATCH: usize = 64;

/// Episodes as they end; of a stream, also as they begin.
const EPISODES: Table = Table(&[
    Column::Time("HOT FROM"),
    Column::Right("FOR", 8),
    Column::Right("PEAK", 9),
    Column::Right("PEAK AT", 9),
    Column::Right("TOTAL", 11),
    Column::Left("KEY", 0),
]);

const TOP: Table = Table(&[Column::Right("HIGHEST", 15), Column::Time("REACHED AT"), Column::Left("KEY", 0)]);

impl Consumer for Hot<'_> {
    type Error = anyhow::Error;

    #[inline(always)]
    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if self.why.is_some() {
            return self.explained(event);
        }
        self.batch.push(event.key, event.n, event.at);
        self.report.note_digits(event.digits);
        if self.batch.len() < BATCH { Ok(()) } else { self.pause() }
    }

    fn pause(&mut self) -> Result<()> {
        let mut changes = std::mem::take(&mut self.changes);
        let newest = self.batch.newest();
        let is_due = self.detector.hit_many(&self.batch, &mut changes);
        for change in &changes {
            self.change(change)?;
        }
        self.changes = changes;
        self.batch.clear();
        // One event that is ahead of all others must not end their episodes: two batches in a row have to be there.
        let now = newest.min(std::mem::replace(&mut self.newest, newest));
        if is_due { self.idle(now) } else { Ok(()) }
    }

    fn idle(&mut self, now: Timestamp) -> Result<()> {
        self.detector.poll(now).iter().try_for_each(|(key, cooled)| self.cooled(key, cooled))
    }

    fn restart(&mut self) -> Result<()> {
        self.detector = build(self.args)?;
        self.episodes = 0;
        self.why = self.args.why.is_some().then(|| Why::new(self.detector.window()));
        self.batch.clear();
        self.newest = Timestamp::EPOCH;
        self.report.take_back();
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        self.report.release()
    }

    fn held(&self) -> usize {
        self.report.held()
    }
}

impl Hot<'_> {
    fn begin(&mut self) -> Result<()> {
        let mark = self.detector.mark();
        let window = format_duration(self.detector.window());
        let how = match self.args.form.form() {
            Form::Slices(n) => format!("{n} slices: at least LO, at most HI; the numbers are HI"),
            _ => "exact".into(),
        };
        self.report.line(&format!("Keys with {} or more in any {window} ({how})", grouped(mark.limit())))?;
        if self.detector.window() != mark.window() {
            self.report.line(&format!("The window is rounded up to {window}, a multiple of its slices."))?;
        }
        if self.why.is_some() {
            let from = "from a window before the mark was reached until the key had cooled";
            self.report.line(&format!("Under each key: who is behind it, {from}"))?;
        }
        self.report.line("")?;
        self.report.head(&EPISODES)?;
        self.report.keep();
        Ok(())
    }

    /// Counts an event by itself, so that it is known which episode it is part of.
    #[inline(never)]
    fn explained(&mut self, event: &Event<'_>) -> Result<()> {
        let Some(why) = &mut self.why else { return Ok(()) };
        self.report.note_digits(event.digits);
        let hit = self.detector.hit_at(event.key, event.n, event.at);
        if hit.placed != Placed::TooLate {
            why.push(event);
            if hit.step == Step::Still {
                why.add(event);
            }
        }
        if !matches!(hit.step, Step::Cold | Step::Still) {
            self.change(&Change { key: event.key.into(), at: event.at, hit })?;
        }
        let now = event.at.min(std::mem::replace(&mut self.newest, event.at));
        if hit.is_due { self.idle(now) } else { Ok(()) }
    }

    fn change(&mut self, change: &Change) -> Result<()> {
        match change.hit.step {
            Step::Hot { count, at, cooled } => {
                if let Some(cooled) = cooled {
                    self.cooled(&change.key, &cooled)?;
                }
                self.hot(&change.key, at, count)
            }
            Step::Cooled(cooled) => self.cooled(&change.key, &cooled),
            _ => Ok(()),
        }
    }

    fn hot(&mut self, key: &[u8], at: Timestamp, count: Count) -> Result<()> {
        self.episodes += 1;
        let why = self.why.as_mut().map(|why| {
            why.begin(key, at);
            why.of(key)
        });
        let why = why.unwrap_or_default();
        let at = self.report.time(at);
        if self.report.is_table() {
            if self.report.is_live() {
                let row = [at, "now".into(), grouped(count.hi), String::new(), String::new(), safe(key)];
                self.report.row(&EPISODES, &row)?;
                self.why_rows(&why)?;
            }
            return Ok(());
        }
        let (key, mark) = (Key::new(key), self.detector.mark().to_string());
        self.report.record(&Record::Hot { key, mark, at, lo: count.lo, hi: count.hi, why })
    }

    fn cooled(&mut self, key: &[u8], cooled: &Cooled) -> Result<()> {
        let &Cooled { from, until, peak, peak_at, total } = cooled;
        let why = self.why.as_mut().map(|why| why.end(key)).unwrap_or_default();
        if self.report.is_table() {
            let row = [
                self.report.time(from),
                format_duration(until.saturating_since(from)),
                grouped(peak),
                format!("+{}", format_duration(peak_at.saturating_since(from))),
                grouped(total),
                safe(key),
            ];
            self.report.row(&EPISODES, &row)?;
            return self.why_rows(&why);
        }
        let (from, until) = (self.report.time(from), self.report.time(until));
        let (peak_at, mark) = (self.report.time(peak_at), self.detector.mark().to_string());
        self.report.record(&Record::Cooled {
            key: Key::new(key),
            mark,
            from,
            until,
            peak,
            peak_at,
            total,
            why,
        })
    }

    /// Who is behind an episode, in rows under its own: a field, and a value with its units.
    fn why_rows(&mut self, why: &[Shares]) -> Result<()> {
        let blank = String::new;
        why::rows(why).into_iter().try_for_each(|[field, units, value]| {
            self.report.row(&EPISODES, &[blank(), blank(), blank(), field, units, value])
        })
    }

    fn finish(mut self, tally: &Tally) -> Result<()> {
        for (key, cooled) in self.detector.finish() {
            self.cooled(&key, &cooled)?;
        }
        if self.episodes == 0 && self.report.is_table() {
            self.report.line("none")?;
        }
        self.top()?;
        self.report.line("")?;
        let stats = self.detector.stats();
        let summary = Summary {
            tally,
            late_counted: stats.late_counted,
            too_late: stats.too_late,
            keys: self.detector.len() as u64,
        };
        summary.write(&mut self.report)?;
        tell_healed(stats.healed);
        self.report.finish()
    }

    fn top(&mut self) -> Result<()> {
        let window = format_duration(self.detector.window());
        let Some(k) = self.args.top else {
            if self.episodes == 0
                && let Some(KeyPeak { key, peak }) = self.detector.top(1).first()
            {
                let (key, at) = (safe(key), self.report.time(peak.at));
                let highest = grouped(peak.hi);
                self.report.line(&format!(
                    "The highest count was {highest}, of {key} at {at}; --top 10 shows more."
                ))?;
            }
            return Ok(());
        };
        self.report.line("")?;
        let keys = counted(k as u64, "key");
        self.report.line(&format!("The {keys} with the highest count in any {window}"))?;
        self.report.line("")?;
        self.report.head(&TOP)?;
        for KeyPeak { key, peak } in self.detector.top(k) {
            let at = self.report.time(peak.at);
            if self.report.is_table() {
                let (lo, hi) = (grouped(peak.lo), grouped(peak.hi));
                let highest = if peak.lo == peak.hi { hi } else { format!("{lo} to {hi}") };
                self.report.row(&TOP, &[highest, at, safe(&key)])?;
            } else {
                let window_ms = millis(self.detector.window());
                let (max, max_lo, max_hi) = (peak.hi, peak.lo, peak.hi);
                self.report.record(&Record::Top {
                    key: Key::new(&key),
                    window_ms,
                    max,
                    max_lo,
                    max_hi,
                    at,
                })?;
            }
        }
        Ok(())
    }
}
