//! Nothing is allocated per line: a text of many lines takes as many allocations as one of few.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use floodmark_log::{Format, Options, read_text};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator is")]
// SAFETY: all is passed on to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(line: &str, head: &str, lines: usize, options: &Options) -> u64 {
    let text = format!("{head}{}", format!("{line}\n").repeat(lines));
    let before = ALLOCATIONS.get();
    let mut events = 0;
    let tally = read_text(text.as_bytes(), "test", options, |_| events += 1).unwrap();
    let after = ALLOCATIONS.get();
    assert!(events >= lines && tally.faulty() == 0, "{line}: {events} events, {:?}", tally.skipped);
    after - before
}

#[track_caller]
fn check(format: Format, head: &str, line: &str, options: &Options) {
    let options = Options { format: Some(format).filter(|_| options.pattern.is_none()), ..options.clone() };
    // Once for what is made once in the life of a program.
    allocations(line, head, 100, &options);
    let (few, many) = (allocations(line, head, 100, &options), allocations(line, head, 20_000, &options));
    // The buffer grows to hold the whole text, which is handed on at once.
    assert!(many <= few + 20, "{format}: {few} allocations for 100 lines, {many} for 20,000");
}

const REST: &str = "[17/May/2015:10:05:03 +0000] \"GET /a?b=c HTTP/1.1\" 200 12 \"-\" \"agent\"";

#[test]
fn no_line_of_any_format_takes_an_allocation() {
    let usual = Options::default();
    check(Format::Combined, "", &format!("192.0.2.1 - - {REST}"), &usual);
    check(Format::Common, "", &format!("2001:DB8::1 - - {REST}"), &usual);
    check(Format::Vhost, "", &format!("example.com 192.0.2.1 - - {REST}"), &usual);
    check(Format::Csv, "time,client\n", "1431857103,\"192.0.2.1\"", &usual);
    check(Format::Tsv, "time\tclient\n", "1431857103\t192.0.2.1", &usual);
    check(Format::Keys, "", "1431857103 a", &usual);
    check(
        Format::Sshd,
        "",
        "Dec 10 06:55:46 host sshd[1]: Failed none for a from 192.0.2.1 port 5 ssh2",
        &usual,
    );
    let json =
        "{\"ts\":1431857103.25,\"request\":{\"client_ip\":\"192.0.2.1\",\"uri\":\"/a?b\"},\"status\":200}";
    let (few, many) = (allocations(json, "", 100, &usual), allocations(json, "", 20_000, &usual));
    assert!(many <= few + 2 * 20_000, "{few} allocations for 100 lines, {many} for 20,000");
}

/// A command is looked up, its arguments are read, and its keys are told, without one.
#[test]
fn no_command_of_redis_takes_an_allocation() {
    for command in [
        "\"GET\" \"a\"",
        "\"get\" \"a\\\"b\"",
        "\"MSET\" \"a\" \"1\" \"b\" \"2\"",
        "\"OBJECT\" \"ENCODING\" \"a\"",
        "\"EVALSHA\" \"s\" \"2\" \"a\" \"b\" \"c\"",
        "\"ZREVRANGEBYSCORE\" \"a\" \"1\" \"0\"",
        "\"GEORADIUSBYMEMBER_RO\" \"a\" \"m\" \"1\" \"km\"",
        "\"JSON.GET\" \"a\"",
    ] {
        check(
            Format::Monitor,
            "",
            &format!("1339518090.420270 [0 [::1]:6379] {command}"),
            &Options::default(),
        );
    }
}

#[test]
fn no_question_takes_an_allocation_per_line() {
    let asked = Options {
        key: Some("{ip} {path}".into()),
        conditions: vec!["status=200,304".parse().unwrap(), "path=/a*".parse().unwrap()],
        details: Some(Vec::new()),
        ..Options::default()
    };
    check(Format::Combined, "", &format!("192.0.2.1 - - {REST}"), &asked);
    let forwarded = Options { key: Some("forwarded".into()), ..Options::default() };
    check(Format::Combined, "", &format!("10.0.0.1 - - {REST} \"192.0.2.1, 10.0.0.2\""), &forwarded);
    let pattern = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent";
    let pattern = Options { pattern: Some(pattern.parse().unwrap()), ..Options::default() };
    check(Format::Pattern, "", &format!("192.0.2.1 - - {REST}"), &pattern);
}
