//! Tables and CSV: whatever the input holds is shown safely, and a row has the cells its head says.

use crate::common::{Run, SAMPLE, command, piped, run};

/// Keys that a terminal or a spreadsheet would act on, and how they are shown.
const ODD: [(&[u8], &str); 6] = [
    (b"\x1b[2J", "\\u{1b}[2J"),
    (b"a\rb", "a\\rb"),
    (b"a\0b\x7f", "a\\u{0}b\\u{7f}"),
    (b"k\xff", "k\\xff"),
    ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
    ("\u{202e}gpj".as_bytes(), "\\u{202e}gpj"),
];

/// A stream in which each key is hot once.
fn stream(keys: &[&[u8]]) -> Vec<u8> {
    keys.iter().flat_map(|key| [b"1700000000 ", *key, b"\n"].concat()).collect()
}

const HOT: [&str; 5] = ["hot", "--mark", "1/1s", "--top", "9"];
const REPLAY: [&str; 4] = ["replay", "--limit", "1/1s", "--all"];

fn output(args: &[&str], output: &str, input: impl Into<Vec<u8>>) -> String {
    piped(&[args, &["--output", output]].concat(), input).quiet().stdout
}

fn rows(text: &str) -> Vec<Vec<String>> {
    // Rows of another length than the head are an error of the reader.
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(Into::into).collect()).collect()
}

fn column(rows: &[Vec<String>], kind: &str, name: &str) -> Vec<String> {
    let place = rows[0].iter().position(|head| head == name).unwrap();
    rows.iter().filter(|row| row[0] == kind).map(|row| row[place].clone()).collect()
}

#[test]
fn what_a_terminal_would_act_on_is_escaped_in_tables_and_csv() {
    let input = stream(&ODD.map(|(key, _)| key));
    for args in [&HOT[..], &REPLAY] {
        for kind in ["table", "csv"] {
            let text = output(args, kind, input.clone());
            assert!(text.bytes().all(|b| b == b'\n' || (b' '..0x7f).contains(&b)), "{text:?}");
            for (key, shown) in ODD {
                // In CSV, a key that is no text stands in its own column.
                let shown = if kind == "csv" && key == b"k\xff" { "6bff" } else { shown };
                assert!(text.contains(shown), "{shown} is not in {text}");
            }
        }
    }
}

#[test]
fn a_key_is_no_formula_in_csv() {
    let keys: [&[u8]; 6] = [b"=1+1", b"-x", b"+x", b"@x", b"=a,b\"c", b"x=1"];
    let rows = rows(&output(&HOT, "csv", stream(&keys)));
    let mut shown = column(&rows, "hot", "key");
    shown.sort_unstable();
    assert_eq!(shown, ["'+x", "'-x", "'=1+1", "'=a,b\"c", "'@x", "x=1"]);
}

#[test]
fn csv_has_the_documented_head_and_all_rows_have_its_cells() {
    let hot = "type,key,key_hex,mark,at,lo,hi,from,until,peak,peak_at,total,window_ms,max,max_lo,max_hi,\
               lines,matched,events,units,skipped,damaged,late_counted,too_late,keys,first,last,why";
    let replay = "type,key,key_hex,limit,asked,admitted,rejected,first_rejected,last_rejected,worst,worst_asked,\
                  keys,keys_rejected,lines,matched,events,units,skipped,damaged,late_counted,too_late,first,last";
    let input = [stream(&[b"a", b"a", b"b", b"k\xff"]), b"\nnonsense\n".to_vec()].concat();
    for (args, head, kinds) in [
        (&HOT[..], hot, &["type", "hot", "cooled", "top", "summary"][..]),
        (&REPLAY, replay, &["type", "replay", "replay_total", "summary"]),
    ] {
        let run = piped(&[args, &["--output", "csv"]].concat(), input.clone());
        assert_eq!(run.stdout.lines().next(), Some(head));
        let rows = rows(&run.stdout);
        let mut found: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        found.dedup();
        found.retain(|kind| kinds.contains(kind));
        for kind in kinds {
            assert!(found.contains(kind), "no {kind} in {found:?}");
        }
        assert_eq!(column(&rows, "summary", "skipped"), ["blank=1;malformed=1"]);
    }
}

/// CSV and JSON lines say the same.
#[test]
fn csv_has_what_the_json_lines_have() {
    for args in
        [&["hot", "--mark", "100/5s", "--top", "3", SAMPLE][..], &["replay", "--limit", "20/5s", SAMPLE]]
    {
        let (csv, json) =
            (run(&[args, &["--output", "csv"]].concat()), run(&[args, &["--output", "jsonl"]].concat()));
        let rows = rows(&csv.stdout);
        assert_eq!(rows.len(), json.stdout.lines().count() + 1);
        for (row, line) in rows[1..].iter().zip(json.stdout.lines()) {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            for (head, cell) in rows[0].iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                let value = record[head.as_str()].to_string();
                assert_eq!(value.trim_matches('"'), cell, "{head} of {line}");
            }
        }
    }
}

#[test]
fn a_table_shows_the_samples_hot_keys_and_a_line_that_adds_up() {
    let text = run(&["hot", "--mark", "100/5s", SAMPLE]).quiet().stdout;
    for key in ["203.0.113.7", "2001:db8:cafe::24", "192.0.2.44", "203.0.113.60"] {
        assert!(text.lines().any(|line| line.ends_with(&format!("  {key}"))), "{text}");
    }
    assert!(!text.contains("198.51.100.99"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with("1,772 lines = 1,772 events + 0 skipped; 0 too late; 163 keys; 2026-11-27T"),
        "{last}"
    );
}

#[test]
fn a_table_without_hot_keys_says_so_and_how_high_it_got() {
    let text = run(&["hot", "--mark", "10000/5s", SAMPLE]).quiet().stdout;
    assert!(text.contains("\nnone\n"), "{text}");
    assert!(text.contains("The highest count was 150, of 203.0.113.7 at 2026-11-27T"), "{text}");
}

fn with(variables: &[(&str, &str)], args: &[&str]) -> String {
    let mut command = command(args);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
        command.env_remove(name);
    }
    Run::from(command.envs(variables.iter().copied()).output().unwrap()).quiet().stdout
}

#[test]
fn a_table_in_a_pipe_has_no_colour() {
    for args in
        [&["hot", SAMPLE][..], &["hot", "--color", "never", SAMPLE], &["replay", "--limit", "9/1s", SAMPLE]]
    {
        let text = with(&[("TERM", "xterm-256color")], args);
        assert!(!text.contains('\x1b'), "{text}");
    }
}

#[test]
fn a_table_has_colour_where_that_is_asked() {
    for args in [["hot", "--color", "always", SAMPLE], ["hot", "--color=always", "--top=3", SAMPLE]] {
        let text = with(&[], &args);
        assert!(text.contains("\x1b["), "{text}");
        assert_eq!(with(&[("NO_COLOR", "1")], &args), text, "what was asked for in so many words wins");
    }
}

#[test]
fn no_color_is_honoured() {
    let args = ["hot", SAMPLE];
    assert!(with(&[("CLICOLOR_FORCE", "1")], &args).contains('\x1b'));
    assert!(!with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &args).contains('\x1b'));
}

#[test]
fn json_lines_and_csv_have_no_colour_even_where_that_is_asked() {
    for output in ["jsonl", "csv"] {
        assert!(!with(&[], &["hot", "--color", "always", "--output", output, SAMPLE]).contains('\x1b'));
    }
}
