use super::*;
use crate::format::Format;
use crate::parser::Parser;
use crate::time::format_time;
use crate::{Event, Tally, read_text};

const NGINX: &str =
    r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_user_agent""#;
const LINE: &str = r#"192.0.2.1 - ann [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 200 12 "agent""#;

fn options(pattern: &str, key: &str) -> Options {
    let key = (!key.is_empty()).then(|| key.to_string());
    Options { pattern: Some(pattern.parse().unwrap()), key, ..Options::default() }
}

/// The key of a line, its time, and whether it is damaged.
fn read(options: &Options, line: &str) -> Result<(String, String, bool), Skip> {
    let mut parser = Parser::new(Format::Pattern, &[], "test", options).unwrap();
    let parsed = parser.parse(line.as_bytes(), false)?;
    let key = String::from_utf8_lossy(parser.key(&parsed.key, line.as_bytes())).into_owned();
    Ok((key, format_time(parsed.stamp.at, parsed.stamp.digits), parsed.is_damaged))
}

fn check(pattern: &str, key: &str, line: &str, expected: Result<&str, Skip>) {
    let read = read(&options(pattern, key), line).map(|(key, ..)| key);
    assert_eq!(read, expected.map(String::from), "{pattern} {key}: {line}");
}

fn check_time(pattern: &str, line: &str, expected: &str) {
    let read = read(&options(pattern, ""), line).map(|(_, at, _)| at);
    assert_eq!(read.as_deref(), Ok(expected), "{pattern}: {line}");
}

fn events(text: &str, options: &Options) -> Result<(Vec<(String, u64)>, Tally), Error> {
    let mut events = Vec::new();
    let keep = |event: &Event<'_>| events.push((String::from_utf8_lossy(event.key).into_owned(), event.n));
    let tally = read_text(text.as_bytes(), "a.log", options, keep)?;
    Ok((events, tally))
}

fn error(text: &str, options: &Options) -> String {
    events(text, options).unwrap_err().to_string()
}

#[test]
fn variables_of_nginx_are_fields_by_their_name_and_by_the_usual_one() {
    for (key, expected) in [
        ("", "192.0.2.1"),
        ("ip/24", "192.0.2.0/24"),
        ("remote_addr", "192.0.2.1"),
        ("user", "ann"),
        ("method", "GET"),
        ("path", "/a"),
        ("url", "/a?b=c"),
        ("request", "GET /a?b=c HTTP/1.1"),
        ("status", "200"),
        ("body_bytes_sent", "12"),
        ("agent", "agent"),
        ("{ip} {path}", "192.0.2.1 /a"),
    ] {
        check(NGINX, key, LINE, Ok(expected));
    }
    let pattern =
        "$http_host $request_method $request_uri $uri $time_iso8601 $http_x_forwarded_for|$http_referer";
    let line = "a.example POST /x?y=z /index.php 2015-05-17T10:05:03+02:00 10.0.0.1, 192.0.2.7|-";
    for (key, expected) in
        [("host", "a.example"), ("method", "POST"), ("path", "/x"), ("url", "/x?y=z"), ("uri", "/index.php")]
    {
        check(pattern, key, line, Ok(expected));
    }
    check(pattern, "referer", line, Err(Skip::NoKey));
    check(&format!("$remote_addr {pattern}"), "forwarded", &format!("10.0.0.9 {line}"), Ok("192.0.2.7"));
    check_time(pattern, line, "2015-05-17T08:05:03Z");
    check_time(
        "$remote_addr $msec $time_local",
        "::1 1431857103.250 17/May/2015:10:05:03 +0000",
        "2015-05-17T10:05:03.250Z",
    );
}

#[test]
fn letters_of_apache_are_the_same_fields() {
    let pattern = r#"%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i" %D"#;
    let line = r#"a.example:80 2001:DB8::1 - ann [17/May/2015:10:05:03 +0000] "GET /a?b=c HTTP/1.1" 200 12 "-" "x \"y\"" 5"#;
    for (key, expected) in [
        ("", "2001:db8::1"),
        ("host", "a.example"),
        ("user", "ann"),
        ("path", "/a"),
        ("status", "200"),
        ("agent", "x \\\"y\\\""),
        ("duration_us", "5"),
    ] {
        check(pattern, key, line, Ok(expected));
    }
    check_time(pattern, line, "2015-05-17T10:05:03Z");
    check_time(
        "%h [%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t] %s",
        "::1 [17/May/2015 10:05:03.250 +0200] 1",
        "2015-05-17T08:05:03.250Z",
    );
    check_time("%h %{sec}t.%{usec_frac}t %s", "::1 1431857103.000250 1", "2015-05-17T10:05:03.000250Z");
    check_time("%h %{msec}t %s", "::1 1431857103250 1", "2015-05-17T10:05:03.250Z");
    check_time("%h %{%Y-%m-%d %H:%M:%S}t %s", "::1 2015-05-17 10:05:03 200", "2015-05-17T10:05:03Z");
}

#[test]
fn groups_of_an_expression_are_fields() {
    let pattern = r#"^(?<ip>\S+) .*\[(?P<time>[^\]]+)\] "(?<request>[^"]*)" (?<code>\d+)(?: (?<why>\S+))?"#;
    let line = "::FFFF:192.0.2.1 \u{e9} [17/May/2015:10:05:03 +0000] \"GET /a?b HTTP/1.1\" 200";
    for (key, expected) in [("", "192.0.2.1"), ("path", "/a"), ("code", "200")] {
        check(pattern, key, line, Ok(expected));
    }
    check(pattern, "why", line, Err(Skip::NoKey));
    check(pattern, "", "192.0.2.1 [17/May/2015:10:05:03 +0000]", Err(Skip::Malformed));
    check(pattern, "", &line.replace("May", "Mai"), Err(Skip::BadTime));
    check(r"(?<level>\p{Lu}+) (?<ts>\d+)", "", "\u{c4}RGER 5", Ok("\u{c4}RGER"));
    let mut bytes = line.replace('\u{e9}', "?").into_bytes();
    bytes.iter_mut().filter(|b| **b == b'?').take(1).for_each(|b| *b = 0xff);
    let mut parser = Parser::new(Format::Pattern, &[], "test", &options(pattern, "")).unwrap();
    assert!(parser.parse(&bytes, false).is_ok(), "lines are bytes, not letters");
    assert_eq!(parser.parse(&bytes, true).unwrap_err(), Skip::TooLong);
}

#[test]
fn a_line_that_lacks_something_is_skipped_with_its_reason() {
    check(NGINX, "", "192.0.2.1 - ann", Err(Skip::Malformed));
    check(NGINX, "", "something else", Err(Skip::Malformed));
    check(NGINX, "", &LINE.replace("May", "Mai"), Err(Skip::BadTime));
    check(NGINX, "", &LINE.replace("192.0.2.1", "-"), Err(Skip::NoKey));
    check(NGINX, "user", &LINE.replace("ann", "-"), Err(Skip::NoKey));
    check(NGINX, "path", &LINE.replace("GET /a?b=c HTTP/1.1", ""), Err(Skip::NoKey));
}

#[test]
fn a_cut_line_is_an_event_from_its_time_on() {
    let options = options(NGINX, "");
    let time_ends = LINE.find("] ").unwrap() + 3;
    for cut in 0..LINE.len() {
        let read = read(&options, &LINE[..cut]).map(|(key, _, is_damaged)| (key, is_damaged));
        let expected =
            if cut < time_ends { Err(Skip::Malformed) } else { Ok(("192.0.2.1".to_string(), true)) };
        assert_eq!(read.is_err() || cut == 0, expected.is_err(), "{}", &LINE[..cut]);
        if expected.is_ok() {
            assert_eq!(read, expected);
        }
    }
    assert_eq!(read(&options, LINE).map(|(.., is_damaged)| is_damaged), Ok(false));
    check(NGINX, "agent", &LINE[..LINE.len() - 1], Err(Skip::NoKey));
    check(NGINX, "path", &LINE[..LINE.len() - 1], Ok("/a"));
}

#[test]
fn no_user_name_hides_the_time() {
    for user in ["a [b", "[[[", "a [17/May/2011:10:05:03 +0000] b"] {
        let line = LINE.replace("ann", user);
        let read = read(&options(NGINX, "user"), &line).map(|(key, at, _)| (key, at));
        assert_eq!(read, Ok((user.to_string(), "2015-05-17T10:05:03Z".to_string())));
    }
}

#[test]
fn a_line_wrapped_in_quotes_is_read_as_if_it_were_not() {
    check(NGINX, "", &format!("\"{LINE}\""), Ok("192.0.2.1"));
    check(NGINX, "agent", &format!("\"{LINE}\""), Ok("agent"));
    let quoted = format!("\"$http_x_forwarded_for\" {NGINX}");
    check(&quoted, "http_x_forwarded_for", &format!("\"192.0.2.7\" {LINE}"), Ok("192.0.2.7"));
}

#[test]
fn a_field_can_be_the_weight() {
    let mut options = options("%h %t %b", "");
    options.weight = Some("body_bytes_sent".into());
    let text = "a [17/May/2015:10:05:03 +0000] 7\nb [17/May/2015:10:05:03 +0000] -\nc [17/May/2015:10:05:03 +0000] x\n";
    let (found, tally) = events(text, &options).unwrap();
    assert_eq!(found, [("a".to_string(), 7), ("b".to_string(), 0)]);
    assert_eq!(tally.skipped[&Skip::BadNumber], 1);
    let options = self::options(r"(?<time>\d+) (?<key>\S+) (?<n>\d+)", "");
    assert_eq!(events("5 a 3\n", &options).unwrap().0, [("a".to_string(), 3)]);
}

#[test]
fn a_pattern_that_fits_no_line_says_how_far_it_fits() {
    let options = options(NGINX, "");
    assert_eq!(
        error("192.0.2.1 - - 2015 GET\n", &options),
        "a.log: the pattern fits none of its first lines, such as \"192.0.2.1 - - 2015 GET\": matched up to \
         \"192.0.2.1 - \", then wanted $remote_user and what follows it, and there is \"- 2015 GET\""
    );
    let bad_time = LINE.replace("17/May/2015:10:05:03 +0000", "soon");
    assert!(
        error(&bad_time, &options).contains("such as \"soon\": say how that is written, as --time-format")
    );
    let error = error("no\n", &self::options(r"(?<ip>\d+) (?<time>\d+)", ""));
    assert!(error.contains("fits none of its first lines, such as \"no\""), "{error}");
    let text = format!("# a comment\n{LINE}\n");
    assert_eq!(events(&text, &options).unwrap().1.events, 1, "one line is enough");
}

#[test]
fn what_is_wrong_with_a_pattern_says_what_to_type() {
    for (pattern, expected) in [
        ("ip time", "it has no fields: say a regular expression"),
        ("(?<ip>", "unclosed group"),
        ("(?<ip>a{999}{999}{999})", "size limit"),
        ("$remote_addr$time_local", "nothing stands between"),
    ] {
        let error = pattern.parse::<Pattern>().unwrap_err();
        assert!(error.contains(expected), "{pattern}: {error}");
    }
    assert!(
        error(LINE, &options("$remote_addr $status", "")).starts_with("--pattern: the pattern has no time")
    );
    assert!(
        error(LINE, &options(NGINX, "colour"))
            .contains("a.log (pattern) has no field \"colour\": it has ip, ")
    );
    let other = Options { format: Some(Format::Csv), ..options(NGINX, "") };
    assert!(error(LINE, &other).contains("leave out --format, or --pattern"));
    let none = Options { format: Some(Format::Pattern), ..Options::default() };
    assert!(error(LINE, &none).starts_with("--format pattern needs to be told which: say --pattern"));
}
