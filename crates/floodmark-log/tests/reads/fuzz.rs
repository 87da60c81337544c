//! The fuzzer's functions on its corpus and on damaged copies of it: a short run, which needs no fuzzer.

#[expect(unreachable_pub, reason = "in the fuzzer's own crate these are public")]
#[path = "../../../../fuzz/src/lib.rs"]
mod bodies;

use crate::damage::Random;
use std::path::Path;

/// So many damaged copies of each sample are tried.
const COPIES: usize = 10;

#[track_caller]
fn check(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut random = Random(target.len() as u64);
    let mut samples: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.sort();
    assert!(!samples.is_empty());
    for sample in samples {
        let bytes = std::fs::read(&sample).unwrap();
        body(&bytes);
        for _ in 0..COPIES {
            body(&random.damage(&bytes));
        }
    }
}

#[test]
fn access_logs_of_any_bytes_are_read_or_skipped() {
    check("access", bodies::access);
}

#[test]
fn tables_of_any_bytes_are_read_or_skipped() {
    check("table", bodies::table);
}

#[test]
fn keys_of_any_bytes_are_read_or_skipped() {
    check("keys", bodies::keys);
}

#[test]
fn commands_of_any_bytes_are_read_or_skipped() {
    check("monitor", bodies::monitor);
}

#[test]
fn messages_of_any_bytes_are_read_or_skipped() {
    check("sshd", bodies::sshd);
}

#[test]
fn json_of_any_bytes_is_read_or_skipped() {
    check("json", bodies::json);
}

#[test]
fn patterns_on_any_bytes_read_or_skip() {
    check("pattern", bodies::pattern);
}

#[test]
fn compressed_bytes_of_any_kind_are_unpacked_or_refused() {
    check("packed", bodies::packed);
}

#[test]
fn lines_of_any_kind_tell_their_format_or_none() {
    check("told", bodies::told);
}

#[test]
fn keys_conditions_and_moments_of_any_text_mean_what_they_say_or_are_refused() {
    check("template", bodies::template);
}
