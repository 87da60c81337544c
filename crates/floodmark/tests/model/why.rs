//! Who is behind a hot key: the largest of many items, and the events of the last window, against plain counts.

use floodmark::{Heavy, Recent, Share, Timestamp};
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::Duration;

/// What a generation of the memory holds at most: events, and bytes of their texts.
const EVENTS: usize = 1 << 16;
const BYTES: usize = 8 << 20;

proptest! {
    #[test]
    fn a_share_is_never_below_the_truth_nor_above_it_by_more_than_its_error(
        hits in proptest::collection::vec((0u8..40, 0u64..5), 0..400),
        counters in 0usize..12,
    ) {
        let (mut heavy, mut exact) = (Heavy::new(counters), HashMap::new());
        for &(item, n) in &hits {
            heavy.add(&[item], n);
            *exact.entry(item).or_insert(0) += n;
        }
        let total: u64 = hits.iter().map(|(_, n)| n).sum();
        let bound = total / counters.max(1) as u64;
        prop_assert_eq!(heavy.total(), total);
        let top = heavy.top(usize::MAX);
        prop_assert!(top.len() <= counters.max(1) && top.is_sorted_by(|a, b| a.count >= b.count));
        for Share { item, count, error } in &top {
            let truth = exact[&item[0]];
            prop_assert!(count - error <= truth && truth <= *count && *error <= bound);
        }
        for (item, &units) in exact.iter().filter(|(_, units)| **units > bound) {
            prop_assert!(top.iter().any(|share| *share.item == [*item]), "{item} has {units}");
        }
    }
}

#[test]
fn counts_saturate() {
    let mut heavy = Heavy::new(1);
    heavy.add(b"a", u64::MAX);
    heavy.add(b"b", 5);
    let top = heavy.top(1);
    assert_eq!((top[0].count, top[0].error, heavy.total()), (u64::MAX, u64::MAX, u64::MAX));
}

fn kept(recent: &Recent, key: &str, at: u64) -> Vec<(u64, Vec<u8>)> {
    let mut kept = Vec::new();
    recent.each(key.as_bytes(), Timestamp::from_secs(at), |n, text| kept.push((n, text.to_vec())));
    kept
}

#[test]
fn a_keys_events_of_the_window_are_told_the_latest_first() {
    let mut recent = Recent::new(Duration::from_secs(5));
    for at in 0..30 {
        recent.push(b"a", at, Timestamp::from_secs(at), at.to_string().as_bytes());
        recent.push(b"b", 1, Timestamp::from_secs(at), b"other");
        let window = (at.saturating_sub(4)..=at).rev();
        let expected: Vec<_> = window.map(|at| (at, at.to_string().into_bytes())).collect();
        assert_eq!(kept(&recent, "a", at), expected, "of ({at} - 5, {at}]");
    }
    assert_eq!(kept(&recent, "c", 11), []);
}

#[test]
fn what_is_kept_is_bounded_in_events_and_in_bytes() {
    let mut recent = Recent::new(Duration::from_secs(5));
    for _ in 0..5 * EVENTS {
        recent.push(b"a", 1, Timestamp::from_secs(1), b"");
    }
    let events = kept(&recent, "a", 1).len();
    assert!((EVENTS..=2 * EVENTS).contains(&events), "{events}");
    let text = vec![b'x'; BYTES / 4];
    for _ in 0..20 {
        recent.push(b"b", 1, Timestamp::from_secs(1), &text);
    }
    assert!((4..=8).contains(&kept(&recent, "b", 1).len()));
    recent.push(b"c", 1, Timestamp::from_secs(1), &vec![b'x'; BYTES + 1]);
    assert_eq!(kept(&recent, "c", 1), [], "too large to be kept");
}

/// A late event that begins a generation does not make it old: the one before is still of the window.
#[test]
fn a_straggler_pushes_nothing_of_the_window_out() {
    let mut recent = Recent::new(Duration::from_secs(5));
    recent.push(b"a", 7, Timestamp::from_secs(100), b"");
    for _ in 1..EVENTS {
        recent.push(b"b", 1, Timestamp::from_secs(100), b"");
    }
    recent.push(b"b", 1, Timestamp::from_secs(1), b"");
    recent.push(b"b", 1, Timestamp::from_secs(101), b"");
    assert_eq!(kept(&recent, "a", 101), [(7, Vec::new())]);
}
