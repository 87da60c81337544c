//! What is compressed gives what it gives unpacked.

use crate::common::{Folder, SAMPLE, combined, data, jsonl, piped, run, sample};
use flate2::write::GzEncoder;
use std::io::Write;

const HOT: [&str; 5] = ["hot", "--mark", "100/5s", "--top", "5"];
const KINDS: [&str; 4] = ["gzip", "zstd", "bzip2", "xz"];

fn pack(kind: &str, plain: &[u8]) -> Vec<u8> {
    match kind {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "zstd" => ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest),
        "bzip2" => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        _ => {
            let options = lzma_rust2::XzOptions::with_preset(0);
            let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn lines() -> Vec<Vec<u8>> {
    sample().split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect()
}

#[track_caller]
fn check(files: &[&str]) {
    let whole = jsonl(&[&HOT[..], &[SAMPLE]].concat());
    assert!(!whole.records("hot").is_empty());
    assert_eq!(jsonl(&[&HOT[..], files].concat()).stdout, whole.stdout);
}

#[test]
fn every_compression_gives_what_the_log_gives_whatever_its_name() {
    let folder = Folder::new();
    for kind in KINDS {
        check(&[&folder.file("a.log", pack(kind, &sample()))]);
    }
}

#[test]
fn a_compressed_pipe_gives_what_the_log_gives() {
    let whole = jsonl(&[&HOT[..], &[SAMPLE]].concat());
    for kind in KINDS {
        let of_pipe = piped(&[&HOT[..], &["--output", "jsonl", "-"]].concat(), pack(kind, &sample())).quiet();
        for record in ["hot", "cooled", "top", "summary"] {
            assert_eq!(of_pipe.records(record), whole.records(record), "{kind}: {record}");
        }
    }
}

#[test]
fn members_may_end_in_the_middle_of_a_line() {
    let (folder, sample) = (Folder::new(), sample());
    let members: Vec<u8> = sample.chunks(100_001).flat_map(|part| pack("gzip", part)).collect();
    check(&[&folder.file("a.log.gz", members)]);
}

#[test]
fn compressed_and_plain_files_are_merged_by_time() {
    let (folder, lines) = (Folder::new(), lines());
    let deal = |n: usize| lines.iter().skip(n).step_by(3).flatten().copied().collect::<Vec<u8>>();
    let plain = folder.file("0.log", deal(0));
    let gzip = folder.file("1.log.gz", pack("gzip", &deal(1)));
    let zstd = folder.file("2.log.zst", pack("zstd", &deal(2)));
    check(&[&zstd, &plain, &gzip]);
}

#[test]
fn compressed_lines_that_are_out_of_order_are_sorted() {
    let folder = Folder::new();
    for kind in KINDS {
        let mut lines = lines();
        let length = lines.len();
        lines.rotate_left(length / 3);
        check(&[&folder.file("a.log", pack(kind, &lines.concat()))]);
    }
}

#[test]
fn what_comes_before_a_cut_counts_and_the_cut_is_told() {
    let folder = Folder::new();
    let packed = pack("gzip", &sample());
    let cut = &packed[..packed.len() / 2];
    let file = folder.file("cut.log.gz", cut);
    let good = folder.file("good.log", combined("192.0.2.1", 1));
    let alone = run(&["hot", "--output", "jsonl", &file]);
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
    let lines = alone.summary()["lines"].as_u64().unwrap();
    assert!((500..4_000).contains(&lines), "{lines}");
    let shown =
        if lines < 1000 { lines.to_string() } else { format!("{},{:03}", lines / 1000, lines % 1000) };
    let said = format!("is cut: its gzip data ends early after {shown} lines; what came before counts");
    assert!(alone.stderr.contains(&said), "{}", alone.stderr);
    let among = run(&["hot", "--output", "jsonl", &good, &file]);
    assert_eq!((among.code, among.summary()["lines"].as_u64()), (Some(2), Some(lines + 1)));
    let of_pipe = piped(&["hot", "--output", "jsonl", "-"], cut);
    assert_eq!((of_pipe.code, of_pipe.summary()["lines"].as_u64()), (Some(2), Some(lines)));
    assert!(of_pipe.stderr.contains(&format!("standard input {said}")), "{}", of_pipe.stderr);
}

#[test]
fn a_cut_before_the_first_whole_line_is_told_as_such() {
    let folder = Folder::new();
    for kind in KINDS {
        let packed = pack(kind, combined("192.0.2.1", 1).as_bytes());
        let file = folder.file("cut.log", &packed[..14]);
        for run in [run(&["hot", &file]), piped(&["hot", "-"], &packed[..14])] {
            assert_eq!(run.code, Some(2), "{}", run.stderr);
            let said = format!("is cut: its {kind} data ends early before there is a line that can be read");
            assert!(run.stderr.contains(&said), "{kind}: {}", run.stderr);
        }
    }
}

#[test]
fn something_else_behind_compressed_data_is_told_and_left_out() {
    let folder = Folder::new();
    let packed = [pack("gzip", combined("192.0.2.1", 1).as_bytes()), b"something else".to_vec()].concat();
    let file = folder.file("a.log.gz", &packed);
    for run in [run(&["hot", "--output", "jsonl", &file]), piped(&["hot", "--output", "jsonl", "-"], packed)]
    {
        assert_eq!((run.code, run.summary()["lines"].as_u64()), (Some(0), Some(1)), "{}", run.stderr);
        assert!(run.stderr.contains("goes on behind its gzip data with something else"), "{}", run.stderr);
    }
}

#[test]
fn a_compressed_file_with_nothing_in_it_is_empty() {
    let folder = Folder::new();
    for kind in KINDS {
        let file = folder.file("a.log", pack(kind, b""));
        let run = run(&["hot", &file]);
        assert!(run.stderr.contains("a.log is empty"), "{kind}: {}", run.stderr);
    }
}

#[test]
fn what_is_compressed_twice_is_told() {
    let folder = Folder::new();
    let twice = pack("gzip", &pack("xz", combined("192.0.2.1", 1).as_bytes()));
    let run = run(&["hot", &folder.file("a.gz", twice)]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("a.gz is compressed twice (xz inside)"), "{}", run.stderr);
}

#[test]
fn real_compressed_logs_are_read() {
    for name in ["access/odd/matomo_common.log.gz", "access/odd/matomo_common.log.bz2"] {
        let Some(path) = data(name) else { continue };
        let run = jsonl(&["hot", path.to_str().unwrap()]);
        assert_eq!((run.summary()["lines"].as_u64(), run.summary()["events"].as_u64()), (Some(1), Some(1)));
    }
}
