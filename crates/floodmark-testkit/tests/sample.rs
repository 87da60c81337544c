//! The committed sample is what its README says, checked by counting every window the slow way.

use std::{collections::BTreeMap, fs, net::IpAddr, path::PathBuf};

use floodmark_testkit::traffic::{SALE_OPENS, flash_sale_log, flash_sale_sample};

const WINDOW: u64 = 5;
const MARK: usize = 100;

fn sample_file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "samples", name].iter().collect()
}

/// The most of `times` in any `(t - length, t]`. A window's count can only peak where an event ends it.
fn most_in_a_window(times: &[u64], length: u64) -> usize {
    let within = |end: u64| times.iter().filter(|&&time| time > end - length && time <= end).count();
    times.iter().map(|&end| within(end)).max().unwrap_or(0)
}

fn peaks<K: Ord>(key: impl Fn(&floodmark_testkit::traffic::Request) -> K) -> BTreeMap<K, usize> {
    let mut times = BTreeMap::<K, Vec<u64>>::new();
    for request in flash_sale_sample() {
        times.entry(key(&request)).or_default().push(request.time);
    }
    times.into_iter().map(|(key, times)| (key, most_in_a_window(&times, WINDOW))).collect()
}

fn peak_of(client: &str) -> usize {
    peaks(|request| request.client.to_string())[client]
}

#[test]
fn the_committed_sample_is_what_the_generator_writes() {
    let mut written = Vec::new();
    flash_sale_log(&mut written).unwrap();
    let committed = fs::read(sample_file("flash-sale.log")).unwrap();
    assert!(committed == written, "make it again: see the first lines of src/bin/make-sample.rs");
    assert!((200_000..350_000).contains(&committed.len()), "{} bytes", committed.len());
}

#[test]
fn the_drip_stays_one_below_the_mark_in_every_window() {
    assert_eq!(peak_of("198.51.100.99"), MARK - 1);
}

#[test]
fn the_crawler_and_the_eager_shoppers_reach_the_mark() {
    for client in ["192.0.2.44", "203.0.113.7", "2001:db8:cafe::24"] {
        assert!(peak_of(client) >= MARK, "{client}");
    }
}

#[test]
fn fixed_windows_miss_the_burst_across_the_minute_edge() {
    let guesser: IpAddr = "203.0.113.60".parse().unwrap();
    assert_eq!(peak_of("203.0.113.60"), 120);
    assert_eq!((SALE_OPENS + 120) % 60, 0);
    for fixed in [WINDOW, 60] {
        let mut counts = BTreeMap::<u64, usize>::new();
        for request in flash_sale_sample().filter(|request| request.client == guesser) {
            *counts.entry(request.time / fixed).or_default() += 1;
        }
        assert_eq!(counts.into_values().collect::<Vec<_>>(), [60, 60], "in fixed windows of {fixed} s");
    }
}

#[test]
fn the_readme_names_every_hot_client_and_path_with_its_peak_and_no_other() {
    let readme = fs::read_to_string(sample_file("README.md")).unwrap();
    let clients = peaks(|request| request.client.to_string());
    let paths = peaks(|request| request.path.clone());
    let mut rows: Vec<_> = clients
        .into_iter()
        .chain(paths)
        .filter(|&(_, peak)| peak >= MARK)
        .map(|(key, peak)| format!("| `{key}` | {peak} |"))
        .collect();
    let mut said: Vec<_> = readme
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.splitn(4, '|').take(3).collect::<Vec<_>>().join("|") + "|")
        .collect();
    rows.sort();
    said.sort();
    assert_eq!(said, rows);

    let lines = flash_sale_sample().count();
    let clients = peaks(|request| request.client).len();
    let totals = format!("{lines} lines from {clients} clients");
    assert!(readme.contains(&totals), "the README should say: {totals}");
}
