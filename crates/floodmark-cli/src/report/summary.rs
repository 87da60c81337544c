//! The line at the end that adds up: `lines = events + skipped by reason`.

use super::{Record, Report};
use crate::text::{counted, grouped};
use anyhow::Result;
use floodmark_log::Tally;

/// The account of all lines, and what became of the events.
pub(crate) struct Summary<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) late_counted: u64,
    pub(crate) too_late: u64,
    pub(crate) keys: u64,
}

impl Summary<'_> {
    pub(crate) fn write(&self, report: &mut Report) -> Result<()> {
        let Self { tally, late_counted, too_late, keys } = *self;
        let (first, last) = (tally.first.map(|at| report.time(at)), tally.last.map(|at| report.time(at)));
        if report.is_table() {
            let line = self.line(first.as_deref().zip(last.as_deref()));
            return report.line(&line);
        }
        report.record(&Record::Summary {
            lines: tally.lines,
            matched: tally.matched,
            events: tally.events,
            units: tally.units,
            skipped: tally.skipped.iter().map(|(skip, n)| (skip.name(), *n)).collect(),
            damaged: tally.damaged,
            late_counted,
            too_late,
            keys,
            first,
            last,
        })
    }

    fn line(&self, span: Option<(&str, &str)>) -> String {
        let tally = self.tally;
        let skipped: u64 = tally.skipped.values().sum();
        let matched = match tally.events == tally.matched {
            true => counted(tally.events, "event"),
            false => format!("{} with {}", grouped(tally.matched), counted(tally.events, "event")),
        };
        let mut line = format!("{} = {matched} + {} skipped", counted(tally.lines, "line"), grouped(skipped));
        if skipped > 0 {
            let reasons = tally.skipped.iter().map(|(skip, n)| format!("{skip} {}", grouped(*n)));
            line += &format!(" ({})", reasons.collect::<Vec<_>>().join(", "));
        }
        if tally.damaged > 0 {
            line += &format!("; {} damaged", grouped(tally.damaged));
        }
        if tally.units != tally.events {
            line += &format!("; {}", counted(tally.units, "unit"));
        }
        if self.late_counted > 0 {
            line += &format!("; {} late", grouped(self.late_counted));
        }
        line += &format!("; {} too late; {}", grouped(self.too_late), counted(self.keys, "key"));
        if let Some((first, last)) = span {
            line += &format!("; {first} to {last}");
        }
        line
    }
}
