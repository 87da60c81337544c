//! Reading, as every command does it: says what is wrong with an input, shows progress, ends on Ctrl-C.

use crate::Verdict;
use crate::args::{InputArgs, OutputArgs};
use crate::text::{complain, counted, grouped, safe};
use anyhow::{Context, Result};
use floodmark::format_duration;
use floodmark_log::{Consumer, Inputs, Phase, Progress, Tally, Watch};
use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Inputs that have been opened.
pub(crate) struct Session {
    inputs: Inputs,
    bar: Bar,
    show_skipped: usize,
    is_strict: bool,
    /// How many of the inputs' problems have been told.
    told: usize,
}

impl Session {
    /// Opens the inputs and says what is wrong with those that can't be read.
    ///
    /// `details`: which fields tell who is behind a key, if that is asked.
    pub(crate) fn open(
        command: &str,
        input: &InputArgs,
        output: &OutputArgs,
        details: Option<&[String]>,
    ) -> Result<Self> {
        input.check_span()?;
        let inputs = Inputs::open(&input.paths(command)?, input.options(details));
        inputs.notes().iter().for_each(|note| complain(note));
        let bar = Bar::new(!output.no_progress)?;
        inputs.problems().iter().for_each(|problem| complain(&problem.to_string()));
        let told = inputs.problems().len();
        Ok(Self { inputs, bar, show_skipped: input.show_skipped, is_strict: input.strict, told })
    }

    /// None of the inputs could be read; it has been said why.
    pub(crate) fn is_faulty_throughout(&self) -> bool {
        self.inputs.names().next().is_none() && !self.inputs.problems().is_empty()
    }

    /// There is an input whose events must be reported as they come.
    pub(crate) fn has_streams(&self) -> bool {
        self.inputs.has_streams()
    }

    /// The most digits of a second that a time has, by the first lines.
    pub(crate) fn digits(&self) -> u8 {
        self.inputs.digits().unwrap_or(0)
    }

    /// The progress bar, to be put aside while something is printed.
    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.bar.clone()
    }

    /// Refuses a window, or slices, that the times of the input are too coarse for.
    pub(crate) fn check_tick(&self, window: Duration, slices: Option<u32>) -> Result<()> {
        let Some(digits) = self.inputs.digits() else { return Ok(()) };
        let tick = Duration::from_nanos(10u64.pow(9 - u32::from(digits.min(9))));
        let (shown, tick_shown) = (format_duration(window), format_duration(tick));
        anyhow::ensure!(
            window >= tick,
            "a window of {shown} is shorter than a tick of these times, which have steps of {tick_shown}: \
             use {tick_shown} or more"
        );
        if let Some(slices) = slices.filter(|&slices| window / slices < tick) {
            let most = window.as_nanos() / tick.as_nanos();
            anyhow::bail!(
                "{slices} slices of {shown} are finer than a tick of these times, which have steps of {tick_shown}: \
                 use --slices {most} or fewer, or --exact"
            );
        }
        Ok(())
    }

    /// Reads everything, tells what was wrong, and returns the account of all lines with what the shell is told.
    pub(crate) fn read<C: Consumer<Error = anyhow::Error>>(
        mut self,
        consumer: &mut C,
    ) -> Result<(Tally, Verdict)> {
        let (tally, problems) = self.inputs.read(consumer, &mut self.bar)?;
        self.bar.bar.finish_and_clear();
        problems.iter().skip(self.told).for_each(|problem| complain(&problem.to_string()));
        tell_skipped(&tally, self.show_skipped);
        let is_faulty =
            problems.iter().any(|problem| !problem.is_harmless()) || (self.is_strict && tally.faulty() > 0);
        Ok((tally, if is_faulty { Verdict::Faulty } else { Verdict::Done }))
    }
}

fn tell_skipped(tally: &Tally, show: usize) {
    for example in &tally.examples {
        let text = safe(&example.text);
        complain(&format!("skipped {} line {} ({}): {text}", example.path, example.line, example.skip));
    }
    let faulty = tally.faulty();
    if faulty > 0 && show == 0 && tally.lines > 0 {
        let lines = counted(tally.lines, "line");
        complain(&format!("skipped {} of {lines}; --show-skipped 5 prints some of them", grouped(faulty)));
    }
}

/// Progress on standard error, for input that takes a while; and the flag that Ctrl-C sets.
struct Bar {
    bar: ProgressBar,
    is_wanted: bool,
    phase: Option<Phase>,
    stop: Arc<AtomicBool>,
}

/// Less is read before anyone looks up.
const LONG: u64 = 64 << 20;

impl Bar {
    fn new(is_wanted: bool) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The first one ends the reading and prints the summary; another one ends the program.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))
                .and_then(|_| flag::register(signal, Arc::clone(&stop)))
                .context("can't wait for Ctrl-C")?;
        }
        let is_wanted = is_wanted && stderr().is_terminal();
        Ok(Self { bar: ProgressBar::hidden(), is_wanted, phase: None, stop })
    }
}

impl Watch for Bar {
    fn progress(&mut self, progress: Progress) {
        if !self.is_wanted || progress.total < LONG {
            return;
        }
        if self.phase != Some(progress.phase) {
            self.phase = Some(progress.phase);
            let what = match progress.phase {
                Phase::Reading => "counting",
                Phase::LookingOver => "looking over",
                Phase::Sorting => "sorting",
            };
            let style = "{msg:12} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            self.bar.reset();
            self.bar.set_length(progress.total);
            self.bar.set_style(ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar()));
            self.bar.set_message(what);
        }
        self.bar.set_position(progress.bytes);
    }

    fn should_stop(&self) -> bool {
        // Relaxed: a flag alone, set by the handler of a signal; nothing else is published with it.
        self.stop.load(Ordering::Relaxed)
    }
}
