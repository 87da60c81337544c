//! The mutants, by what they get wrong.

/// A text, and what takes its place.
pub(crate) type Edit = (&'static str, &'static str);

/// One way to break the engine.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    /// Beneath the engine's `src`.
    pub(crate) file: &'static str,
    /// Each text is there exactly once.
    pub(crate) edits: &'static [Edit],
}

const fn mutant(name: &'static str, file: &'static str, edits: &'static [Edit]) -> Mutant {
    Mutant { name, file, edits }
}

const EXACT: &str = "window/exact.rs";
const SLICES: &str = "window/slices.rs";
const WINDOW: &str = "window/mod.rs";
const LIMIT: &str = "limit/mod.rs";
const HOT: &str = "hot/mod.rs";
const EPISODE: &str = "hot/episode.rs";
const HEAVY: &str = "hot/heavy.rs";
const RECENT: &str = "hot/recent.rs";

pub(crate) const MUTANTS: &[Mutant] = &[
    // Slices.
    mutant("slice_is_not_cleared", SLICES, &[("std::mem::take(word)", "*word")]),
    mutant(
        "one_slice_too_few_is_cleared",
        SLICES,
        &[("from + 1..=to.min(from + shape.slices + 1)", "from + 1..=to.min(from + shape.slices)")],
    ),
    mutant("ring_of_n", SLICES, &[("shape.slices as usize + 1]", "shape.slices as usize]")]),
    mutant(
        "no_oldest_slice",
        SLICES,
        &[(
            "let first = now.saturating_sub(shape.slices);",
            "let first = (now + 1).saturating_sub(shape.slices);",
        )],
    ),
    mutant(
        "decides_on_lo",
        SLICES,
        &[(
            "let mut left = self.upper(shape, now);",
            "let mut left = self.upper(shape, now) - self.leaving(shape, now + 1);",
        )],
    ),
    mutant(
        "late_goes_to_the_newest_slice",
        SLICES,
        &[("saturated: self.add(slice, n)", "saturated: self.add(self.newest_slice(shape), n)")],
    ),
    mutant(
        "late_of_the_oldest_slice_is_lost",
        SLICES,
        &[("saturating_sub(slice) > shape.slices", "saturating_sub(slice) >= shape.slices")],
    ),
    mutant(
        "falls_a_slice_late",
        SLICES,
        &[("fell = Some(slice.saturating_mul(", "fell = Some((slice + 1).saturating_mul(")],
    ),
    mutant("largest_limit_is_none", SLICES, &[("while left > room", "while left.saturating_add(n) > limit")]),
    mutant(
        "slices_wrap",
        SLICES,
        &[
            ("let fits = n.min(u64::MAX - self.sum);", "let fits = n;"),
            ("*word += fits;", "*word = word.wrapping_add(fits);"),
            ("self.sum += fits;", "self.sum = self.sum.wrapping_add(fits);"),
        ],
    ),
    mutant(
        "slices_heal_with_amnesty",
        SLICES,
        &[("*word = self.sum;", "*word = 0;\n            self.sum = 0;")],
    ),
    mutant(
        "slices_take_in_the_past",
        SLICES,
        &[("let now = at.max(self.newest);\n        self.advance", "let now = at;\n        self.advance")],
    ),
    mutant(
        "slices_judge_in_the_past",
        SLICES,
        &[
            (
                "let mut left = self.upper(shape, now);",
                "let past = now.saturating_sub(shape.slices)..=at / shape.slice;
        let mut left: u64 = past.map(|slice| self.word(slice)).sum();",
            ),
            ("left -= self.leaving(shape, next);", "left = left.saturating_sub(self.leaving(shape, next));"),
        ],
    ),
    // Exact.
    mutant(
        "window_is_closed",
        EXACT,
        &[("now.saturating_sub(at) >= shape", "now.saturating_sub(at) > shape")],
    ),
    mutant(
        "exact_takes_in_the_past",
        EXACT,
        &[("let now = at.max(self.newest);\n        self.advance", "let now = at;\n        self.advance")],
    ),
    mutant(
        "exact_judges_in_the_past",
        EXACT,
        &[(
            "(self.sum - units).saturating_sub(",
            "self.live()[gone..].iter().filter(|run| run.at <= at).map(|run| run.n).sum::<u64>().saturating_sub(",
        )],
    ),
    mutant("late_goes_to_the_end", EXACT, &[("self.runs.len() - later;", "self.runs.len() - later / 2;")]),
    mutant(
        "exact_heals_with_amnesty",
        EXACT,
        &[("self.runs.push(Run { at, n: self.sum });", "self.sum = 0;")],
    ),
    mutant(
        "exact_wraps",
        EXACT,
        &[
            ("let fits = n.min(u64::MAX - self.sum);", "let fits = n;"),
            ("run.n += fits,", "run.n = run.n.wrapping_add(fits),"),
            ("self.sum += fits;", "self.sum = self.sum.wrapping_add(fits);"),
        ],
    ),
    // Both.
    mutant("never_heals", WINDOW, &[("if far {", "if far && at == u64::MAX {")]),
    mutant(
        "heals_a_slice_early",
        WINDOW,
        &[(".saturating_add(self.window).saturating_add(self.slice)", ".saturating_add(self.window)")],
    ),
    // Limiter.
    mutant("denied_consumes", LIMIT, &[("if verdict == Verdict::Fits {", "if n > 0 {")]),
    mutant(
        "denied_moves_the_newest_time",
        LIMIT,
        &[(
            "if verdict == Verdict::Fits {",
            "for (window, limit) in windows.iter_mut().zip(limits) {
                    window.take(&limit.shape, at, 0);
                }
                if verdict == Verdict::Fits {",
        )],
    ),
    mutant(
        "limits_take_one_by_one",
        LIMIT,
        &[
            ("if verdict == Verdict::Fits {", "if n > 0 {"),
            (
                "window.take(&limit.shape, at, n);",
                "let most = limit.rate.limit();
                        if n <= most && window.fits_at(&limit.shape, at, n, most).is_none() {
                            window.take(&limit.shape, at, n);
                        }",
            ),
        ],
    ),
    mutant(
        "retry_is_a_tick_late",
        LIMIT,
        &[("fits_at.saturating_sub(at))", "fits_at.saturating_sub(at) + 1)")],
    ),
    mutant(
        "retry_is_a_tick_early",
        LIMIT,
        &[("fits_at.saturating_sub(at))", "fits_at.saturating_sub(at).saturating_sub(1))")],
    ),
    mutant("last_of_equal_waits", LIMIT, &[("longest >= fits_at", "longest > fits_at")]),
    mutant("read_makes_a_key", LIMIT, &[("if n == 0 || (", "if n == u64::MAX || (")]),
    // Detector.
    mutant("one_straggler_heals", HOT, &[("if is_far && state.suspect {", "if is_far {")]),
    mutant("suspicion_stays", HOT, &[("            state.suspect = false;\n", "")]),
    mutant("late_bound_is_open", HOT, &[("|bound| behind <= bound", "|bound| behind < bound")]),
    mutant("poll_in_any_order", HOT, &[("over.sort_by(", "over.clone().sort_by(")]),
    mutant("fires_only_above_the_mark", EPISODE, &[("seen.count.hi >= mark", "seen.count.hi > mark")]),
    mutant("forgets_the_fall", EPISODE, &[("    episode.note_fall(seen.fell);\n", "")]),
    mutant("total_without_its_first", EPISODE, &[("total: seen.units,", "total: 0,")]),
    mutant("heal_leaves_the_future", EPISODE, &[("self.from = self.from.min(at);", "")]),
    // Who is behind a hot key.
    mutant("heavy_hides_its_error", HEAVY, &[("error: share.count };", "error: 0 };")]),
    mutant("heavy_gives_up_the_largest", HEAVY, &[("min_by_key(|(share, _)|", "max_by_key(|(share, _)|")]),
    mutant(
        "heavy_counts_from_nothing",
        HEAVY,
        &[("count: share.count.saturating_add(n), error", "count: n, error")],
    ),
    mutant("recent_ages_by_a_straggler", RECENT, &[("begun_at = self.newest;", "begun_at = at;")]),
    mutant("recent_has_no_window", RECENT, &[("at - event.at < self.window", "event.at <= at")]),
    mutant("recent_forgets_the_older_half", RECENT, &[("[&self.younger, &self.older]", "[&self.younger]")]),
];
