//! A real Redis server, watched by `redis-cli monitor` piped into the command.
//!
//! Without a `redis-server` it says so, and passes: `./test` installs one where it may.

use crate::common::{Run, command};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Nobody waits this long for a server on the same machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server on a free port of this machine that keeps nothing; it ends with its test.
struct Redis {
    server: Child,
    port: u16,
    _folder: TempDir,
}

impl Redis {
    #[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
    fn start() -> Option<Self> {
        // Free now: another program may take it before the server does, and then the next one is tried.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let folder = tempfile::tempdir().unwrap();
            let mut redis = Command::new("redis-server");
            redis.args([
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--port",
                &port.to_string(),
            ]);
            redis
                .arg("--dir")
                .arg(folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let Ok(mut server) = redis.spawn() else {
                eprintln!("skipped: there is no redis-server (./test installs it)");
                return None;
            };
            let mut log = BufReader::new(server.stdout.take().unwrap());
            let mut line = String::new();
            while log.read_line(&mut line).unwrap() > 0 && !line.contains("Ready to accept connections") {
                line.clear();
            }
            if !line.is_empty() {
                // What it writes later must not stop it.
                std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                return Some(Self { server, port, _folder: folder });
            }
            let _ = server.wait();
        }
        panic!("redis-server did not start");
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(BufReader::new(stream))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A connection that speaks as much of the protocol as the tests need.
struct Client(BufReader<TcpStream>);

impl Client {
    /// Sends a command and gives its reply.
    fn call(&mut self, words: &[&str]) -> Value {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
        }
        self.0.get_mut().write_all(&request).unwrap();
        self.reply()
    }

    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let line = line.trim_end();
        let number = || line[1..].parse::<i64>().unwrap();
        match line.as_bytes()[0] {
            b':' => number().into(),
            b'$' if number() < 0 => Value::Null,
            b'$' => {
                let mut bytes = vec![0; number() as usize + 2];
                self.0.read_exact(&mut bytes).unwrap();
                String::from_utf8_lossy(&bytes[..bytes.len() - 2]).into_owned().into()
            }
            b'*' => (0..number().max(0)).map(|_| self.reply()).collect::<Vec<_>>().into(),
            b'+' => line[1..].into(),
            _ => Value::Object([("error".to_string(), line.into())].into_iter().collect()),
        }
    }
}

/// `redis-cli monitor | floodmark ...`
struct Pipe {
    monitor: Child,
    floodmark: Child,
}

impl Pipe {
    /// Starts both, and waits until the server sends its commands to the first.
    fn start(redis: &Redis, args: &[&str]) -> Self {
        let mut monitor = Command::new("redis-cli");
        monitor.args(["-p", &redis.port.to_string(), "monitor"]).stdin(Stdio::null()).stdout(Stdio::piped());
        // It complains when the server ends it.
        monitor.stderr(Stdio::null());
        let mut monitor = monitor.spawn().unwrap();
        let mut floodmark = command(args);
        floodmark.stdin(monitor.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let floodmark = floodmark.spawn().unwrap();
        let mut client = redis.connect();
        let begun = std::time::Instant::now();
        while !client.call(&["CLIENT", "LIST"]).as_str().unwrap().contains("cmd=monitor") {
            assert!(begun.elapsed() < PATIENCE, "redis-cli monitor has not connected");
            std::thread::yield_now();
        }
        Self { monitor, floodmark }
    }

    /// Ends the first when the server has sent all, and gives what the second says.
    fn finish(mut self, redis: &Redis) -> Run {
        // The server closes the connection when it has written what was to be written.
        let mut client = redis.connect();
        let list = client.call(&["CLIENT", "LIST"]).as_str().unwrap().to_string();
        let monitor = list.lines().find(|line| line.contains("cmd=monitor")).unwrap();
        let id = monitor.split_whitespace().next().unwrap().strip_prefix("id=").unwrap();
        assert_eq!(client.call(&["CLIENT", "KILL", "ID", id]), 1);
        let _ = self.monitor.wait();
        Run::from(self.floodmark.wait_with_output().unwrap())
    }
}

/// 1 000 commands of five clients: what is counted is what was sent.
#[test]
fn the_keys_of_a_live_server_are_counted_exactly() {
    let Some(redis) = Redis::start() else { return };
    let args = ["hot", "--mark", "100/1h", "--top", "100", "--why=command", "--output", "jsonl", "-"];
    let pipe = Pipe::start(&redis, &args);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    let mut clients: Vec<Client> = (0..5).map(|_| redis.connect()).collect();
    for i in 0..1_000usize {
        let client = &mut clients[i % 5];
        let (a, b) = (format!("user:{}", i % 7), format!("odd \"key\" \\ {}\r\n", i % 3));
        let keys: Vec<&str> = match i % 10 {
            0..=3 => {
                client.call(&["GET", &a]);
                vec![&a]
            }
            4 | 5 => {
                client.call(&["mset", &a, "1", &b, "2"]);
                vec![&a, &b]
            }
            6 => {
                client.call(&["EVAL", "return redis.call('GET', KEYS[1])", "1", &a]);
                vec![&a]
            }
            7 => {
                client.call(&["XREAD", "COUNT", "1", "STREAMS", "stream", &b, "0", "0"]);
                vec!["stream", &b]
            }
            8 => {
                client.call(&["SORT", "list", "LIMIT", "0", "5", "STORE", &b]);
                vec!["list", &b]
            }
            _ => {
                client.call(&["PING"]);
                vec![]
            }
        };
        keys.iter().for_each(|key| *expected.entry((*key).to_string()).or_insert(0) += 1);
    }
    drop(clients);
    let run = pipe.finish(&redis).quiet();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let found: BTreeMap<String, u64> =
        run.records("top").iter().map(|top| (text(&top["key"]), top["max"].as_u64().unwrap())).collect();
    assert_eq!(found, expected);
    let summary = run.summary();
    assert_eq!(summary["events"], expected.values().sum::<u64>());
    // The pings, the lists of clients that were waited for, and the end of the monitor.
    assert!(summary["skipped"]["keyless"].as_u64().unwrap() >= 100, "{summary}");
    assert_eq!((&summary["skipped"]["lua"], &summary["damaged"]), (&100.into(), &0.into()));
    let hot: Vec<String> = run.records("hot").iter().map(|hot| text(&hot["key"])).collect();
    let mut at_the_mark: Vec<&String> =
        expected.iter().filter(|(_, n)| **n >= 100).map(|(key, _)| key).collect();
    at_the_mark.sort_unstable();
    let mut hot: Vec<&String> = hot.iter().collect();
    hot.sort_unstable();
    assert_eq!(hot, at_the_mark);
}

/// A hot key is told while the server goes on, not when the input ends.
#[test]
fn a_hot_key_of_a_live_server_is_reported_at_once() {
    let Some(redis) = Redis::start() else { return };
    let mut pipe = Pipe::start(&redis, &["hot", "--mark", "50/1m", "--output", "jsonl", "-"]);
    let mut lines = BufReader::new(pipe.floodmark.stdout.take().unwrap());
    let mut client = redis.connect();
    (0..50).for_each(|_| drop(client.call(&["INCR", "hot"])));
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"type\":\"hot\",\"key\":\"hot\""), "{line}");
    pipe.finish(&redis);
}

/// For every command of the server that has keys at fixed places, the keys that the server itself finds in a call.
#[test]
fn the_keys_of_every_command_are_those_that_the_server_finds() {
    let Some(redis) = Redis::start() else { return };
    let mut client = redis.connect();
    let commands = client.call(&["COMMAND"]);
    let mut expected: Vec<(String, Vec<String>)> = Vec::new();
    for command in commands.as_array().unwrap() {
        let names = [&Value::Array(vec![command.clone()]), &command[9]];
        for entry in names.iter().filter_map(|list| list.as_array()).flatten() {
            let words: Vec<String> = entry[0].as_str().unwrap().split('|').map(String::from).collect();
            // Enough arguments for every command; numbers, so that whoever wants a number of keys finds one.
            for arguments in [3usize, 6] {
                let mut call = words.clone();
                call.extend(
                    (call.len()..=arguments).map(|i| if i == 2 { "2".into() } else { i.to_string() }),
                );
                let ask: Vec<&str> =
                    ["COMMAND", "GETKEYS"].into_iter().chain(call.iter().map(String::as_str)).collect();
                let Some(keys) = client.call(&ask).as_array().cloned() else { continue };
                let keys = keys.iter().map(|key| key.as_str().unwrap().to_string()).collect();
                expected.push((call.join(" "), keys));
            }
        }
    }
    assert!(expected.len() > 200, "{} calls with keys", expected.len());
    check_keys(&expected);
}

/// Calls whose keys follow a word or a number, some of them with arguments that are called like the word.
/// (Of STORE and STOREDIST in one call, Redis 7 names both keys and writes to the last: that is left to the unit tests.)
#[test]
fn keys_after_words_and_numbers_are_those_that_the_server_finds() {
    let Some(redis) = Redis::start() else { return };
    let mut client = redis.connect();
    let calls = [
        "GEORADIUS k 1 2 3 km COUNT 5 ANY STOREDIST d",
        "GEORADIUSBYMEMBER k STORE 5 km",
        "GEORADIUSBYMEMBER k STORE 5 km store d",
        "MIGRATE keys 6379 k 0 5",
        "MIGRATE h 1 k 0 5 COPY REPLACE",
        "MIGRATE h 1  0 5 COPY REPLACE AUTH2 u p keys a b",
        "SORT a BY store GET # LIMIT 0 5 ALPHA STORE d",
        "SORT a STORE d STORE e",
        "SORT store",
        "SORT_RO a GET x",
        "XREAD COUNT 2 BLOCK 0 streams a b 0 0",
        "XREAD STREAMS streams 0",
        "XREADGROUP GROUP streams streams COUNT 1 NOACK STREAMS a b > >",
        "ZUNIONSTORE d 2 a b WEIGHTS 1 2",
        "ZDIFF 2 a b WITHSCORES",
        "SINTERCARD 2 a b LIMIT 5",
        "LMPOP 2 a b LEFT COUNT 5",
        "BZMPOP 0 1 a MIN",
        "EVAL script 2 a b c",
        "FCALL f 1 a b",
        "BITOP AND d a b c",
        "OBJECT ENCODING a",
        "MEMORY USAGE a SAMPLES 5",
        "XGROUP CREATE a g $ MKSTREAM",
        "LCS a b LEN",
        "BLPOP a b c 5",
        "MSETNX a 1 b 2",
    ];
    let mut expected: Vec<(String, Vec<String>)> = Vec::new();
    for call in calls {
        let ask: Vec<&str> = ["COMMAND", "GETKEYS"].into_iter().chain(call.split(' ')).collect();
        // What an older server does not know, it cannot tell.
        let Some(keys) = client.call(&ask).as_array().cloned() else { continue };
        let keys = keys.iter().map(|key| key.as_str().unwrap().to_string()).collect();
        expected.push((call.to_string(), keys));
    }
    assert!(expected.len() > 20, "{} calls with keys", expected.len());
    check_keys(&expected);
}

/// The keys that are found in calls, whose words have a blank between, against those that are expected.
#[track_caller]
fn check_keys(expected: &[(String, Vec<String>)]) {
    let mut lines = String::new();
    for (number, (call, _)) in expected.iter().enumerate() {
        let quoted: Vec<String> = call.split(' ').map(|word| format!("\"{word}\"")).collect();
        lines += &format!("{number}.5 [0 127.0.0.1:1] {}\n", quoted.join(" "));
    }
    let folder = crate::common::Folder::new();
    let path = folder.file("monitor.txt", &lines);
    // A key of its own for each call: its time, in seconds, is its number.
    let run = crate::common::jsonl(&[
        "hot", "--format", "monitor", "--key", "key", "--mark", "1/100ms", "--cool", "1ms", &path,
    ]);
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for hot in run.records("hot") {
        let at = hot["at"].as_str().unwrap();
        let at: jiff::Timestamp = at.parse().unwrap();
        found.entry(at.as_second() as usize).or_default().push(hot["key"].as_str().unwrap().to_string());
    }
    for (number, (call, keys)) in expected.iter().enumerate() {
        let mut keys = keys.clone();
        keys.sort_unstable();
        keys.dedup();
        let mut found = found.remove(&number).unwrap_or_default();
        found.sort_unstable();
        assert_eq!(found, keys, "{call}");
    }
}
