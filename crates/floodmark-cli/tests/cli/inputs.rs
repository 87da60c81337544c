//! What cannot be read gets one line and does not keep the rest from being read; every line is accounted for.

use crate::common::{Folder, Run, SAMPLE, combined, data, jsonl, piped, run, sample};
use floodmark_testkit::traffic::Chance;
use std::fmt::Write;
use std::io::Read;

/// An input that cannot be read, alone and between two good ones: one line with all these parts, and exit code 2.
#[track_caller]
fn check(path: &str, parts: &[&str]) {
    let folder = Folder::new();
    let good = folder.file("good.log", combined("192.0.2.1", 1));
    let better = folder.file("better.log", combined("192.0.2.1", 2));
    let alone = run(&["hot", "--output", "jsonl", path]);
    assert_eq!((alone.code, alone.stdout.as_str()), (Some(2), ""), "{}", alone.stderr);
    let among = run(&["hot", "--output", "jsonl", &good, path, &better]);
    assert_eq!(among.code, Some(2), "{}", among.stderr);
    assert_eq!(among.summary()["events"], 2);
    let replayed = run(&["replay", "--limit", "1/1s", "--output", "jsonl", &good, path, &better]);
    assert_eq!(replayed.code, Some(2), "{}", replayed.stderr);
    assert_eq!(replayed.record("replay_total")["asked"], 2);
    for stderr in [alone.stderr, among.stderr, replayed.stderr] {
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.starts_with("floodmark: "), "{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{part:?} is not in {stderr}");
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    check("/no/such.log", &["/no/such.log", "no such file", "check the name"]);
}

#[test]
fn a_directory_is_named_with_what_to_type() {
    let folder = Folder::new();
    check(folder.path(), &[folder.path(), "is a directory", "name the files in it, such as", "/*.log"]);
}

#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.file("secret.log", combined("192.0.2.1", 1));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&file).is_ok() {
        eprintln!("skipped: this user may read every file, so none can be without permission");
        return;
    }
    check(&file, &["secret.log", "not allowed to read it", "check its permissions"]);
}

#[test]
fn compressed_files_that_cannot_be_unpacked_are_named_with_the_command_to_type() {
    let folder = Folder::new();
    for (name, magic, tool) in
        [("a.zip", &b"PK\x03\x04\x14\0"[..], "unzip -p"), ("a.lz4", b"\x04\x22\x4d\x18\x64", "lz4 -dc")]
    {
        let file = folder.file(name, magic);
        check(&file, &["is compressed", &format!("{tool} {file} | floodmark ... -")]);
    }
    let file = folder.file("a.zst", b"\x28\xb5\x2f\xfd\0\xa8\x01\0\0aaaaaaaaaaaaaaaaaaa");
    check(&file, &["more than 128 MiB", &format!("zstd -dc --long=31 {file} | floodmark ... -")]);
}

#[test]
fn a_binary_file_is_named() {
    let folder = Folder::new();
    check(&folder.file("a.out", b"\x7fELF\x02\x01\x01\0\0\0\0\0"), &["a.out is not text"]);
    // No NUL and no blank, and no text either.
    let mut chance = Chance::new(1);
    let noise =
        std::iter::repeat_with(|| chance.bits() as u8).filter(|&b| b != 0 && !b.is_ascii_whitespace());
    let file = folder.file("noise", noise.take(4_000).collect::<Vec<u8>>());
    check(&file, &["noise: can't tell the format", "--format common, combined, vhost"]);
}

#[test]
fn lines_of_no_format_are_named_with_the_option_to_say() {
    let folder = Folder::new();
    for (name, lines) in [
        ("prose.txt", "Once upon a time there was a log.\nIt had no times in it.\n"),
        ("markup.log", "<e>1</e>\n<e>2</e>\n"),
        ("commas.log", "2025-01-01 10:22:40,672:DEBUG:foo bar\n2025-01-01 10:22:41,002:WARN:foo\n"),
    ] {
        let file = folder.file(name, lines);
        check(
            &file,
            &[
                &format!("{name}: can't tell the format"),
                "--format common, combined, vhost, monitor, sshd, json, csv, tsv or keys",
            ],
        );
    }
}

#[test]
fn json_whose_key_cannot_be_told_is_named_with_its_members() {
    let folder = Folder::new();
    let file = folder.file("app.log", "{\"ts\":1,\"tenant\":\"a\"}\n{\"ts\":2,\"tenant\":\"b\"}\n");
    check(&file, &["which field is the key?", "--key NAME", "it has tenant, ts"]);
    assert_eq!(jsonl(&["hot", "--key", "tenant", &file]).summary()["keys"], 2);
    let run = piped(&["hot", "--key", "tenat", "-"], "{\"ts\":1,\"tenant\":\"a\"}\n");
    assert!(
        run.code == Some(2) && run.stderr.contains("has no field \"tenat\": it has tenant, ts"),
        "{run:?}"
    );
}

/// A log that was rotated a moment ago is empty, and nothing is wrong with that: it is said, and no error.
#[test]
fn an_empty_file_is_named_and_is_no_error() {
    let folder = Folder::new();
    let empty = folder.file("empty.log", "");
    let alone = run(&["hot", "--output", "jsonl", &empty]);
    assert_eq!((alone.code, &alone.summary()["lines"]), (Some(0), &0.into()));
    let among = run(&["hot", "--output", "jsonl", &empty, SAMPLE]);
    assert_eq!((among.code, among.stdout), (Some(0), jsonl(&["hot", SAMPLE]).stdout));
    for stderr in [alone.stderr, among.stderr] {
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains("empty.log is empty: there is nothing to count in it"), "{stderr}");
    }
    assert_eq!(piped(&["hot", "--output", "jsonl"], "").quiet().summary()["lines"], 0);
}

#[test]
fn a_stream_of_no_format_is_named() {
    let Run { code, stderr, .. } = piped(&["hot", "-"], "a b c d\n".repeat(20_000));
    assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.contains("standard input: can't tell the format"), "{stderr}");
}

const LONG: usize = 10 << 20;

/// Both as a file and as a pipe.
#[track_caller]
fn check_long(lines: String, expected: &str) {
    let folder = Folder::new();
    let of_file = jsonl_of(run(&["hot", "--output", "jsonl", &folder.file("long", &lines)]));
    assert!(of_file.contains(expected), "{of_file}");
    assert_eq!(of_file, jsonl_of(piped(&["hot", "--output", "jsonl"], lines)));
}

#[track_caller]
fn jsonl_of(run: Run) -> String {
    run.summary();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stdout
}

#[test]
fn a_line_of_ten_megabytes_in_an_access_log_is_an_event_and_damaged() {
    let long = combined("192.0.2.1", 2).replace("/a", &"/a".repeat(LONG / 2));
    let lines = combined("192.0.2.1", 1) + &long + &combined("192.0.2.1", 3);
    check_long(lines, "\"lines\":3,\"matched\":3,\"events\":3,\"units\":3,\"skipped\":{},\"damaged\":1,");
    check_long(long, "\"lines\":1,\"matched\":1,\"events\":1,\"units\":1,\"skipped\":{},\"damaged\":1,");
}

#[test]
fn a_line_of_ten_megabytes_among_keys_is_skipped() {
    let lines = format!("1700000000 a\n1700000001 {}\n1700000002 a\n", "k".repeat(LONG));
    check_long(
        lines,
        "\"lines\":3,\"matched\":2,\"events\":2,\"units\":2,\"skipped\":{\"too_long\":1},\"damaged\":0,",
    );
    let lines = format!("time,key\n1700000000,a\n1700000001,{}\n1700000002,a\n", "k".repeat(LONG));
    check_long(lines, "\"events\":2,\"units\":2,\"skipped\":{\"header\":1,\"too_long\":1},\"damaged\":0,");
}

#[test]
fn skipped_lines_are_shown_where_that_is_asked() {
    let folder = Folder::new();
    let mut lines = combined("192.0.2.1", 1).repeat(22);
    for i in 0..9 {
        writeln!(lines, "nonsense \x1b{i}\n").unwrap();
    }
    lines += &combined("192.0.2.1", 2).replace("Jan", "Jam");
    let file = folder.file("odd.log", lines);
    let told = run(&["hot", "--output", "jsonl", &file]);
    assert_eq!(told.code, Some(0));
    assert_eq!(
        told.stderr.trim_end(),
        "floodmark: skipped 10 of 41 lines; --show-skipped 5 prints some of them"
    );
    assert_eq!(told.summary()["skipped"].to_string(), "{\"bad_time\":1,\"blank\":9,\"malformed\":9}");
    let shown = run(&["hot", "--output", "jsonl", "--show-skipped", "5", &file]);
    let expected =
        |i| format!("floodmark: skipped {file} line {} (malformed): nonsense \\u{{1b}}{i}", 23 + 2 * i);
    assert_eq!(shown.stderr.lines().collect::<Vec<_>>(), (0..5).map(expected).collect::<Vec<_>>());
    assert_eq!((shown.code, shown.stdout), (Some(0), told.stdout));
}

#[test]
fn skipped_lines_are_an_error_only_where_that_is_asked() {
    let folder = Folder::new();
    let good = combined("192.0.2.1", 1);
    let check = |lines: &str, expected: i32| {
        let file = folder.file("x", lines);
        let found = run(&["hot", "--strict", "--output", "jsonl", &file]);
        assert_eq!(found.code, Some(expected), "{}", found.stderr);
        assert_eq!(run(&["replay", "--strict", "--limit", "5/1s", &file]).code, Some(expected));
        assert_eq!(run(&["hot", "--output", "jsonl", &file]).code, Some(0));
        found.summary();
    };
    check(&good, 0);
    check(&format!("{good}\n  \n{good}"), 0);
    check(&good[..60], 0);
    check(&format!("{good}nonsense\n{good}"), 2);
    check("time,key\n1700000000,a\ntime,key\n1700000001,a\n", 0);
    check("time,key\n1700000000,a\n1700000001,\n", 2);
    check("1700000000 a\n1700000001 a many\n", 2);
}

/// A file's bytes, unpacked.
fn plain(path: &str) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap();
    let mut reader: Box<dyn Read> = match path.rsplit('.').next() {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("bz2") => Box::new(bzip2::read::MultiBzDecoder::new(file)),
        _ => Box::new(file),
    };
    let mut plain = Vec::new();
    reader.read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn the_numbers_of_lines_add_up_on_every_real_file() {
    let (Some(folder), Some(odd)) = (data("access"), data("access/odd")) else { return };
    let mut read = 0;
    for entry in [folder, odd].iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let path = path.to_str().unwrap();
        let detected: &[&str] = &[];
        for format in [detected, &["--format", "common"], &["--format", "vhost"], &["--format", "keys"]] {
            let run = run(&[&["hot", "--output", "jsonl", path], format].concat());
            // What cannot be told must be said; what can be read must add up.
            if run.code == Some(2) {
                assert_eq!(
                    (run.stderr.lines().count(), run.stdout.as_str()),
                    (1, ""),
                    "{path}: {}",
                    run.stderr
                );
            } else {
                assert_eq!(run.code, Some(0), "{path}: {}", run.stderr);
                let lines = plain(path).split_inclusive(|&b| b == b'\n').count();
                assert_eq!(run.summary()["lines"], lines, "{path}");
                read += 1;
            }
        }
    }
    assert!(read > 30, "only {read} could be read");
}

#[test]
fn the_sample_has_no_line_that_is_skipped() {
    let lines = sample().split_inclusive(|&b| b == b'\n').count();
    assert_eq!(jsonl(&["hot", "--strict", SAMPLE]).summary()["events"], lines);
}
