//! What of a message is its user, its peer and its outcome, whatever its sender wrote into it.

use super::*;
use crate::format::Format;
use crate::parser::Parser;

const HEAD: &str = "Dec 10 06:55:46 LabSZ sshd[24200]: ";

/// The fields of a line: `outcome user@ip` and its units.
fn read(line: &str) -> Result<String, Skip> {
    let key = "{outcome} {ip}".to_string();
    let options = Options {
        key: Some(key),
        year: Some(2023),
        details: Some(vec!["user".into(), "port".into()]),
        conditions: vec!["outcome=*".parse().unwrap()],
        ..Options::default()
    };
    let mut parser = Parser::new(Format::Sshd, &[], "test", &options).unwrap();
    let mut parsed = parser.parse(line.as_bytes(), false)?;
    let mut n = parsed.n;
    while parsed.has_more {
        parsed = parser.parse_next(line.as_bytes())?;
        n += parsed.n;
    }
    let key = String::from_utf8_lossy(parser.key(&parsed.key, line.as_bytes())).into_owned();
    let details: Vec<String> = parser
        .details()
        .map(|(name, value)| format!("{}={}", name.escape_ascii(), value.escape_ascii()))
        .collect();
    Ok(format!("{key} {n} {}", details.join(" ")).trim_end().to_string())
}

fn check(message: &str, expected: &str) {
    let line = format!("{HEAD}{message}");
    assert_eq!(read(&line).unwrap_or_else(|skip| skip.to_string()), expected, "{message}");
}

#[test]
fn each_message_has_its_outcome_and_its_peer() {
    check(
        "Failed password for root from 192.0.2.1 port 38926 ssh2",
        "failed 192.0.2.1 1 user=root port=38926",
    );
    check(
        "Failed none for invalid user a from ::ffff:192.0.2.1 port 5 ssh2",
        "failed 192.0.2.1 1 user=a port=5",
    );
    check(
        "Failed publickey for git from 192.0.2.1 port 5 ssh2: RSA SHA256:x",
        "other 192.0.2.1 1 user=git port=5",
    );
    check("Invalid user webmaster from 192.0.2.1", "invalid_user 192.0.2.1 1 user=webmaster");
    check("Invalid user  from 192.0.2.1 port 7", "invalid_user 192.0.2.1 1 port=7");
    check(
        "User root from host.example.com not allowed because not listed in AllowUsers",
        "refused host.example.com 1 user=root",
    );
    check("ROOT LOGIN REFUSED FROM 192.0.2.1 port 7 [preauth]", "refused 192.0.2.1 1 port=7");
    check("refused connect from _U2=_@::ffff:192.0.2.1 (::ffff:192.0.2.1)", "refused 192.0.2.1 1");
    check(
        "error: PAM: Authentication failure for ann from 192.0.2.1 via 198.51.100.1",
        "pam 192.0.2.1 1 user=ann",
    );
    check(
        "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=192.0.2.1  user=root",
        "pam 192.0.2.1 1 user=root",
    );
    check(
        "PAM 5 more authentication failures; logname= uid=0 euid=0 tty=ssh ruser= rhost=192.0.2.1",
        "pam 192.0.2.1 5",
    );
    check("Accepted password for ann from 192.0.2.1 port 9 ssh2", "other 192.0.2.1 1 port=9");
    check(
        "reverse mapping checking getaddrinfo for x.example.com [192.0.2.1] failed - POSSIBLE BREAK-IN ATTEMPT!",
        "other 192.0.2.1 1",
    );
    check("Received disconnect from 192.0.2.1: 11: Bye Bye [preauth]", "other 192.0.2.1 1");
    check("Connection closed by 2001:db8::1 [preauth]", "other 2001:db8::1 1");
    check("input_userauth_request: invalid user webmaster [preauth]", "keyless");
    check("pam_unix(sshd:auth): check pass; user unknown", "keyless");
    check("Server listening on 0.0.0.0 port 22.", "keyless");
}

#[test]
fn a_repeated_message_counts_as_often_as_it_says() {
    check(
        "message repeated 5 times: [ Failed password for root from 192.0.2.1 port 38836 ssh2]",
        "failed 192.0.2.1 5 user=root port=38836",
    );
    check(
        "message repeated 99999999999999999999 times: [ Failed password for root from 192.0.2.1 port 1 ssh2]",
        "keyless",
    );
}

#[test]
fn a_user_name_is_not_taken_for_an_address() {
    check(
        "Failed password for invalid user from 192.0.2.9 from 192.0.2.1 port 5 ssh2",
        "failed 192.0.2.1 1 user=from 192.0.2.9 port=5",
    );
    check(
        "Failed password for invalid user a from 192.0.2.9 port 1 ssh2 from 192.0.2.1 port 5 ssh2",
        "failed 192.0.2.1 1 user=a from 192.0.2.9 port 1 ssh2 port=5",
    );
    check(
        "Invalid user a from 192.0.2.9 from 192.0.2.1 port 5",
        "invalid_user 192.0.2.1 1 user=a from 192.0.2.9 port=5",
    );
    check(
        "Connection closed by authenticating user a 192.0.2.9 port 1 192.0.2.1 port 5 [preauth]",
        "other 192.0.2.1 1 port=5",
    );
    check("Received disconnect from 192.0.2.1 port 5:11: from 192.0.2.9 port 7", "other 192.0.2.1 1 port=5");
}

/// What follows looks whole where a hasty reader stops, and all of it but the end is a user's name.
#[test]
fn a_user_name_that_ends_like_a_line_is_not_its_end() {
    for user in [
        "x from 192.0.2.9:",
        "x from 192.0.2.9 port 7:",
        "x from 192.0.2.9 [preauth]",
        "x from 192.0.2.9 port 7 [preauth]",
        "x from 192.0.2.9 ssh2:",
        "x from 192.0.2.9 port 7 ssh3: y",
        "x y from 192.0.2.9 port 7 ssh2",
        "authentication failure rhost=192.0.2.9",
        "message repeated 5 times: [ Failed password for x from 192.0.2.9 port 7 ssh2]",
    ] {
        let name = user.trim_end();
        check(
            &format!("Failed password for invalid user {user} from 192.0.2.1 port 5 ssh2"),
            &format!("failed 192.0.2.1 1 user={name} port=5"),
        );
        check(
            &format!("Invalid user {user} from 192.0.2.1 port 5"),
            &format!("invalid_user 192.0.2.1 1 user={name} port=5"),
        );
        check(
            &format!("error: PAM: Authentication failure for illegal user {user} from 192.0.2.1"),
            &format!("pam 192.0.2.1 1 user={name}"),
        );
        check(
            &format!("Connection closed by invalid user {user} 192.0.2.1 port 5 [preauth]"),
            "other 192.0.2.1 1 port=5",
        );
    }
    check(
        "error: PAM: Authentication failure for illegal user x from 192.0.2.9 via y from 192.0.2.1",
        "pam 192.0.2.1 1 user=x from 192.0.2.9 via y",
    );
    check(
        "error: PAM: Authentication failure for illegal user x from 192.0.2.9 via y from 192.0.2.1 via 198.51.100.1",
        "pam 192.0.2.1 1 user=x from 192.0.2.9 via y",
    );
    check("input_userauth_request: invalid user authentication failure rhost=192.0.2.9", "keyless");
}

#[test]
fn what_a_client_says_of_itself_is_not_its_address() {
    check(
        "Failed hostbased for invalid user a b from 192.0.2.1 port 5 ssh2: RSA x, client user \"c from 192.0.2.9 port 7\", client host \"d\"",
        "other 192.0.2.1 1 user=a b port=5",
    );
    check(
        "Bad protocol version identification 'GET / from 192.0.2.9 port 7' from 192.0.2.1",
        "other 192.0.2.1 1",
    );
    check(
        "Bad protocol version identification 'from 192.0.2.9 port 7 ' from 192.0.2.1 port 5",
        "other 192.0.2.1 1 port=5",
    );
}

#[test]
fn a_message_within_messages_is_no_way_to_exhaust_the_stack() {
    let nested = "message repeated 2 times: [ ".repeat(30_000);
    check(&format!("{nested}Failed password for a from 192.0.2.1 port 5 ssh2"), "keyless");
}

#[test]
fn a_host_may_be_called_sshd() {
    let message = "Failed password for a from 192.0.2.1 port 5 ssh2";
    for head in [
        "Dec 10 06:55:46 sshd sshd[1]:",
        "Dec 10 06:55:46 sshd-gateway sshd[1]:",
        "Dec 10 06:55:46 sshd01 sshd:",
        "Dec 10 06:55:46 sshd [sshd]",
        "2024-05-01T10:00:00+02:00 sshd sshd-session[1]:",
        "<38>1 2019-07-08T17:40:16-04:00 sshd sshd 1 - -",
        "<38>1 2019-07-08T17:40:16-04:00 - sshd 1 - -",
    ] {
        let line = format!("{head} {message}");
        assert_eq!(read(&line).as_deref(), Ok("failed 192.0.2.1 1 user=a port=5"), "{line}");
    }
    for head in [
        "Dec 10 06:55:46 sshd01 CRON[1]:",
        "Dec 10 06:55:46 sshd su:",
        "Dec 10 06:55:46 host sshdump[1]:",
        "Dec 10 06:55:46 host app[1]: sshd[1]:",
        "<38>1 2019-07-08T17:40:16-04:00 sshd CRON 1 - -",
    ] {
        let line = format!("{head} {message}");
        assert_eq!(read(&line), Err(Skip::OtherProgram), "{line}");
    }
}

#[test]
fn heads_of_every_kind_are_read() {
    let message = "Invalid user a from 192.0.2.1";
    for head in [
        "Dec 10 06:55:46 host sshd[24200]:",
        "Dec  1 06:55:46 host sshd:",
        "Dec 1 06:55:46 host sshd-session[1]:",
        "Dec 01 06:55:46 sshd[24200]:",
        "Dec 01 06:55:46 [sshd]:",
        "Dec 01 06:55:46 [sshd]",
        "Dec 01 06:55:46 host sshd(pam_unix)[24200]:",
        "Dec 01 06:55:46 host sshd[24200]: [ID 800047 auth.info]",
        "<38>Dec 01 06:55:46 host sshd[24200]:",
        "2024-05-01T10:00:00.123456+02:00 host sshd[1]:",
        "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - -",
        "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd-auth 57915 - -",
        "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - [a b=\"]\"][c d=\"\\\"\"]",
    ] {
        let line = format!("{head} {message}");
        assert_eq!(read(&line).as_deref(), Ok("invalid_user 192.0.2.1 1 user=a"), "{line}");
    }
    let marked =
        "<38>1 2019-07-08T17:40:16.954167-04:00 host sshd 57915 - - \u{feff}Invalid user a from 192.0.2.1";
    assert_eq!(read(marked).as_deref(), Ok("invalid_user 192.0.2.1 1 user=a"));
    for (line, skip) in [
        ("Dec 10 06:55:46 host CRON[1]: Invalid user a from 192.0.2.1", Skip::OtherProgram),
        (
            "Dec 10 06:55:46 host su: pam_unix(su:auth): authentication failure; rhost=192.0.2.1",
            Skip::OtherProgram,
        ),
        ("Foo 10 06:55:46 host sshd[1]: Invalid user a from 192.0.2.1", Skip::BadTime),
        ("Dec 10 06:55", Skip::Malformed),
        ("nonsense", Skip::Malformed),
    ] {
        assert_eq!(read(line), Err(skip), "{line}");
    }
}

#[test]
fn only_failed_passwords_count_unless_more_is_asked() {
    let mut parser = Parser::new(Format::Sshd, &[], "test", &Options::default()).unwrap();
    let mut skip = |message: &str| parser.parse(format!("{HEAD}{message}").as_bytes(), false).err();
    assert_eq!(skip("Failed password for root from 192.0.2.1 port 38926 ssh2"), None);
    assert_eq!(skip("Invalid user a from 192.0.2.1"), Some(Skip::Filtered));
    assert_eq!(skip("Failed publickey for a from 192.0.2.1 port 5 ssh2"), Some(Skip::Filtered));
}
