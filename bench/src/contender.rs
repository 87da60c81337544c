//! The programs that are compared on a log, and what they answered.

use std::{collections::BTreeSet, path::Path, process::Command};

use anyhow::{Context, Result};
use serde_json::Value;

/// The mark in use, as floodmark reads it.
pub const MARK: &str = "100/5s";

/// A program with its arguments, and how to read its answer.
#[derive(Debug)]
pub struct Contender {
    /// Its name in the table.
    pub name: &'static str,
    /// Builds the command that reads this log.
    pub command: fn(program: &Path, log: &Path) -> Command,
    /// Reads what it printed.
    pub answer: fn(output: &[u8]) -> Result<Answer>,
}

/// What a contender found out about a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Only how many lines there are.
    Lines(u64),
    /// Only how many distinct keys there are, with their totals.
    Totals(u64),
    /// The keys that reached the mark.
    Hot {
        /// Each once.
        hot: BTreeSet<String>,
        /// All keys seen, where the contender says so.
        distinct: Option<u64>,
    },
    /// What a limit would have turned away.
    Rejected {
        /// Requests turned away.
        units: u64,
        /// All requests.
        asked: u64,
    },
}

/// The floor of reading: every byte is looked at for a newline, and nothing more.
pub const GREP: Contender = Contender {
    name: "grep -c ''",
    command: |program, log| {
        let mut command = Command::new(program);
        command.env("LC_ALL", "C").args(["-c", ""]).arg(log);
        command
    },
    answer: |output| Ok(Answer::Lines(text(output)?.trim().parse()?)),
};

/// Counts per key over the whole file: what people type today. It knows no window.
pub const COUNTING_MAWK: Contender = Contender {
    name: "mawk, counts only",
    command: |program, log| mawk(program, "{ c[$1]++ } END { for (k in c) print c[k], k }", log),
    answer: |output| Ok(Answer::Totals(text(output)?.lines().count() as u64)),
};

/// The exact window with a ring of times per key.
pub const EXACT_MAWK: Contender = Contender {
    name: "mawk, exact, ring per key",
    command: |program, log| mawk(program, include_str!("../awk/exact_per_key.awk"), log),
    answer: keys_of_lines,
};

/// The exact window with one queue for all keys, which only input in time order allows.
pub const EXACT_MAWK_ONE_QUEUE: Contender = Contender {
    name: "mawk, exact, one queue",
    command: |program, log| mawk(program, include_str!("../awk/exact_one_queue.awk"), log),
    answer: keys_of_lines,
};

/// Every hot key with its episodes.
pub const FLOODMARK_HOT: Contender = Contender {
    name: "floodmark hot",
    command: |program, log| floodmark(program, &["hot", "--exact", "--mark", MARK], log),
    answer: |output| {
        let (mut hot, mut distinct) = (BTreeSet::new(), None);
        for object in objects(output) {
            let object = object?;
            match kind(&object) {
                "hot" => drop(hot.insert(key(&object)?)),
                "summary" => distinct = object["keys"].as_u64(),
                _ => (),
            }
        }
        Ok(Answer::Hot { hot, distinct })
    },
};

/// What the limit would have turned away.
pub const FLOODMARK_REPLAY: Contender = Contender {
    name: "floodmark replay",
    command: |program, log| floodmark(program, &["replay", "--exact", "--limit", MARK], log),
    answer: |output| {
        let mut total = None;
        for object in objects(output) {
            let object = object?;
            if kind(&object) == "replay_total" {
                total = object["rejected"].as_u64().zip(object["asked"].as_u64());
            }
        }
        let (units, asked) = total.context("no replay_total with `rejected` and `asked` in the output")?;
        Ok(Answer::Rejected { units, asked })
    },
};

fn mawk(program: &Path, script: &str, log: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").args(["-v", "WINDOW=5", "-v", "MARK=100", script]).arg(log);
    command
}

fn floodmark(program: &Path, words: &[&str], log: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(words).args(["--output", "jsonl"]).arg(log);
    command
}

fn text(output: &[u8]) -> Result<&str> {
    std::str::from_utf8(output).context("the output is not text")
}

fn keys_of_lines(output: &[u8]) -> Result<Answer> {
    Ok(Answer::Hot { hot: text(output)?.lines().map(str::to_owned).collect(), distinct: None })
}

fn objects(output: &[u8]) -> impl Iterator<Item = Result<Value, serde_json::Error>> {
    serde_json::Deserializer::from_slice(output).into_iter()
}

fn kind(object: &Value) -> &str {
    object["type"].as_str().unwrap_or("")
}

fn key(object: &Value) -> Result<String> {
    let key = object["key"].as_str().or(object["key_hex"].as_str());
    Ok(key.with_context(|| format!("no key in {object}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_two_episodes_is_one_hot_key() {
        let output = br#"{"type":"hot","key":"a","mark":"100/5s"}
            {"type":"cooled","key":"a"}
            {"type":"hot","key":"a","mark":"100/5s"}
            {"type":"summary","keys":7}"#;
        let hot = BTreeSet::from(["a".to_owned()]);
        assert_eq!((FLOODMARK_HOT.answer)(output).unwrap(), Answer::Hot { hot, distinct: Some(7) });
    }
}
