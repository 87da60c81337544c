//! `log_format` of nginx and `LogFormat` of Apache: text with variables, as it stands in a server's configuration.

use crate::options::TimeUnit;

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Variable(Variable),
}

/// Something that differs from line to line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// As a field is named: nginx's name, or what it is called there of what Apache has a letter for.
    pub(super) name: String,
    /// As it was typed.
    pub(super) typed: String,
    pub(super) time: Option<Written>,
}

/// How a time, or a part of one, is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// `17/May/2015:10:05:03 +0000`, or any way that needs no telling.
    Usual,
    /// A number since the epoch.
    Number(TimeUnit),
    /// In the letters of `strftime`.
    Letters(String),
}

/// Which server's format it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    Nginx,
    Apache,
}

/// Which server's format a text can be.
pub(super) fn server(text: &str) -> Option<Server> {
    let text = text.trim_start();
    if is_directive(text, "log_format") {
        return Some(Server::Nginx);
    }
    if is_directive(text, "LogFormat") {
        return Some(Server::Apache);
    }
    let follows = |mark: char, is_name: fn(char) -> bool| {
        text.match_indices(mark)
            .any(|(at, _)| text.get(at + 1..).is_some_and(|rest| rest.starts_with(is_name)))
    };
    // Apache's own format may hold a dollar in a cookie's name, nginx's a per cent anywhere.
    match (follows('$', |c| c == '{' || c == '_' || c.is_ascii_alphabetic()), follows('%', is_apache)) {
        (true, _) => Some(Server::Nginx),
        (false, true) => Some(Server::Apache),
        (false, false) => None,
    }
}

fn is_apache(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '{' | '<' | '>' | '!' | '^')
}

fn is_directive(text: &str, name: &str) -> bool {
    let head = text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    head && text.get(name.len()..).is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// The parts of a format, literals that touch made one.
pub(super) fn parts(text: &str, server: Server) -> Result<Vec<Part>, String> {
    let text = text.trim();
    let parts = match server {
        Server::Nginx => nginx(&nginx_text(text)?)?,
        Server::Apache => apache(&apache_text(text)?)?,
    };
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (_, Part::Literal(more)) if more.is_empty() => {}
            (Some(Part::Literal(literal)), Part::Literal(more)) => literal.extend(more),
            (_, part) => joined.push(part),
        }
    }
    Ok(joined)
}

/// The format without the directive around it: `log_format NAME [escape=HOW] 'TEXT' 'TEXT';`.
fn nginx_text(text: &str) -> Result<String, String> {
    if !is_directive(text, "log_format") && !text.starts_with('\'') {
        return Ok(unescaped(text));
    }
    let mut words = words(text)?;
    if is_directive(text, "log_format") {
        // The directive and the format's name.
        words.drain(..words.len().min(2));
    }
    let texts = words.into_iter().filter(|(word, is_quoted)| *is_quoted || !word.starts_with("escape="));
    let text: String = texts.map(|(word, _)| word).collect();
    if text.is_empty() {
        Err("the log_format has no text: paste all of it, up to the ;".into())
    } else {
        Ok(text)
    }
}

/// The format without the directive around it: `LogFormat "TEXT" NAME`.
fn apache_text(text: &str) -> Result<String, String> {
    if is_directive(text, "LogFormat") {
        let text = words(text)?.into_iter().nth(1).map(|(word, _)| word);
        return text.ok_or_else(|| "the LogFormat has no text: paste the whole line".into());
    }
    // Pasted with the quotes around it.
    if text.starts_with("\"%") && text.ends_with('"') && text.contains("\\\"") {
        return Ok(words(text)?.into_iter().map(|(word, _)| word).next().unwrap_or_default());
    }
    Ok(unescaped(text))
}

/// The words of a configuration up to its `;`, and which of them were in quotes.
fn words(text: &str) -> Result<Vec<(String, bool)>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            ';' => break,
            '#' => rest = rest.split_once('\n').map_or("", |(_, rest)| rest),
            '"' | '\'' => {
                let inner = rest.get(1..).unwrap_or_default();
                let Some(end) = closing(inner, first) else {
                    return Err(format!("a {first} is not closed: paste the whole directive"));
                };
                words.push((unescaped(inner.get(..end).unwrap_or_default()), true));
                rest = inner.get(end + 1..).unwrap_or_default();
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
                words.push((unescaped(rest.get(..end).unwrap_or_default()), false));
                rest = rest.get(end..).unwrap_or_default();
            }
        }
        rest = rest.trim_start();
    }
    Ok(words)
}

/// Where the quote is that ends a text.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            _ if char == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// `\"`, `\'`, `\\`, `\t`, `\n` and `\r` are what a configuration means by them; other backslashes stand for themselves.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let meant = match (char, chars.peek()) {
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('r')) => Some('\r'),
            ('\\', Some(&same @ ('"' | '\'' | '\\'))) => Some(same),
            _ => None,
        };
        if meant.is_some() {
            chars.next();
        }
        out.push(meant.unwrap_or(char));
    }
    out
}

/// `$name`, `${name}`.
fn nginx(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once('$') {
        parts.push(Part::Literal(literal.into()));
        let (name, left) = match after.strip_prefix('{') {
            Some(braced) => {
                braced.split_once('}').ok_or_else(|| "a ${ has no } behind it: write ${name}".to_string())?
            }
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                after.split_at(end)
            }
        };
        if name.is_empty() {
            parts.push(Part::Literal(b"$".into()));
        } else {
            let time = match name {
                "time_local" | "time_iso8601" => Some(Written::Usual),
                "msec" => Some(Written::Number(TimeUnit::Seconds)),
                _ => None,
            };
            parts.push(Part::Variable(Variable { name: name.into(), typed: format!("${name}"), time }));
        }
        rest = left;
    }
    parts.push(Part::Literal(rest.into()));
    Ok(parts)
}

/// `%h`, `%>s`, `%{Referer}i`, `%!200,304{Referer}i`.
fn apache(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, after)) = rest.split_once('%') {
        parts.push(Part::Literal(literal.into()));
        let (mut argument, mut left) = (None, after);
        let letter = loop {
            let mut chars = left.chars();
            let Some(char) = chars.next() else {
                return Err("it ends with a %: write %% for one that is meant".into());
            };
            left = chars.as_str();
            match char {
                '!' | '<' | '>' | ',' | '0'..='9' => {}
                '{' => {
                    let (text, behind) = left
                        .split_once('}')
                        .ok_or_else(|| "a %{ has no } behind it: write %{Name}i".to_string())?;
                    (argument, left) = (Some(text), behind);
                }
                '^' => {
                    let end = left.char_indices().nth(2).map_or(left.len(), |(end, _)| end);
                    let (letters, behind) = left.split_at(end);
                    left = behind;
                    break format!("^{letters}");
                }
                _ => break char.to_string(),
            }
        };
        let typed = text.get(text.len() - after.len() - 1..text.len() - left.len()).unwrap_or_default();
        match (letter.as_str(), argument) {
            ("%", _) => parts.push(Part::Literal(b"%".into())),
            // Apache puts the usual time in brackets by itself.
            ("t", None) => {
                let time = Some(Written::Usual);
                parts.push(Part::Literal(b"[".into()));
                parts.push(Part::Variable(Variable { name: "time_local".into(), typed: typed.into(), time }));
                parts.push(Part::Literal(b"]".into()));
            }
            ("t", Some(format)) => parts.push(Part::Variable(apache_time(format, typed))),
            (letter, argument) => {
                let name = apache_name(letter, argument).ok_or_else(|| {
                    format!("{typed} is nothing that Apache writes: write %% for a % that is meant")
                })?;
                parts.push(Part::Variable(Variable { name, typed: typed.into(), time: None }));
            }
        }
        rest = left;
    }
    parts.push(Part::Literal(rest.into()));
    Ok(parts)
}

fn apache_time(format: &str, typed: &str) -> Variable {
    // When the request began (the usual) or ended: either is a time.
    let format = format.strip_prefix("begin:").or_else(|| format.strip_prefix("end:")).unwrap_or(format);
    let (name, time) = match format {
        "" => ("time_local", Written::Usual),
        "sec" => ("sec", Written::Number(TimeUnit::Seconds)),
        "msec" => ("msec", Written::Number(TimeUnit::Millis)),
        "usec" => ("usec", Written::Number(TimeUnit::Micros)),
        "msec_frac" | "usec_frac" => (format, Written::Letters("%f".into())),
        _ => ("time_text", Written::Letters(format.into())),
    };
    Variable { name: name.into(), typed: typed.into(), time: Some(time) }
}

/// What nginx calls it, or where that has no name for it, what Apache's manual does.
fn apache_name(letter: &str, argument: Option<&str>) -> Option<String> {
    let of = |prefix: &str| {
        let name = argument.unwrap_or_default().to_ascii_lowercase();
        format!("{prefix}{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
    };
    let name = match letter {
        "a" if argument == Some("c") => "realip_remote_addr",
        "a" => "remote_addr",
        "A" => "server_addr",
        "B" | "b" => "body_bytes_sent",
        "C" => return Some(of("cookie_")),
        "D" => "duration_us",
        "e" => return Some(of("env_")),
        "f" => "request_filename",
        "h" => "remote_host",
        "H" => "server_protocol",
        "i" | "^ti" => return Some(of("http_")),
        "k" => "connection_requests",
        "l" => "remote_logname",
        "L" => "request_id",
        "m" => "request_method",
        "n" => return Some(of("note_")),
        "o" | "^to" => return Some(of("sent_http_")),
        "p" => "server_port",
        "P" => "pid",
        "q" => "query_string",
        "r" => "request",
        "R" => "handler",
        "s" => "status",
        "T" => "request_time",
        "u" => "remote_user",
        "U" => "uri",
        "v" => "server_name",
        "V" => "host",
        "X" => "connection_status",
        "I" => "request_length",
        "O" => "bytes_sent",
        "S" => "bytes_transferred",
        "^FB" => "first_byte_us",
        "c" | "x" | "g" if argument.is_some() => return Some(of(&format!("{letter}_"))),
        _ => return None,
    };
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A format with its variables as `<name>`.
    fn shown(text: &str) -> Result<String, String> {
        let server = server(text).ok_or("neither")?;
        let show = |part| match part {
            Part::Literal(text) => String::from_utf8(text).unwrap(),
            Part::Variable(variable) => format!("<{}>", variable.name),
        };
        Ok(parts(text, server)?.into_iter().map(show).collect())
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
    }

    fn check_error(text: &str, expected: &str) {
        let error = shown(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }

    #[test]
    fn a_format_of_nginx_is_read_bare_or_with_its_directive() {
        check(
            "$remote_addr - ${remote_user} [$time_local] \"$request\"",
            "<remote_addr> - <remote_user> [<time_local>] \"<request>\"",
        );
        let pasted = "log_format  main escape=json '$remote_addr - $remote_user [$time_local] '  # who\n    \
                      \"\\\"$request\\\" $status\"\n '\\t$http_x';\naccess_log x;";
        check(pasted, "<remote_addr> - <remote_user> [<time_local>] \"<request>\" <status>\t<http_x>");
        check("'$remote_addr ' '$status';", "<remote_addr> <status>");
        check("$remote_addr\\t$status costs $", "<remote_addr>\t<status> costs $");
    }

    #[test]
    fn a_format_of_apache_is_read_bare_or_with_its_directive() {
        let expected = "<remote_host> <remote_logname> <remote_user> [<time_local>] \"<request>\" <status> \
                        <body_bytes_sent> \"<http_referer>\" \"<http_user_agent>\"";
        let bare = "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\"";
        check(bare, expected);
        let escaped = bare.replace('"', "\\\"");
        check(&escaped, expected);
        check(&format!("\"{escaped}\""), expected);
        check(&format!("LogFormat \"{escaped}\" combined"), expected);
        check("100%% %200,304{X-A}o %!200{Referer}i %<s %a %{c}a %^FB|%{x}^ti", {
            "100% <sent_http_x_a> <http_referer> <status> <remote_addr> <realip_remote_addr> <first_byte_us>|<http_x>"
        });
    }

    #[test]
    fn what_a_format_cannot_mean_is_told() {
        check_error("%h %y", "%y is nothing that Apache writes");
        check_error("%h %", "ends with a %");
        check_error("%h %{Referer", "no } behind it");
        check_error("${remote_addr", "write ${name}");
        check_error("log_format main '$remote_addr", "not closed");
        check_error("log_format main;", "has no text");
        check_error("LogFormat", "neither");
        check_error("ip time path", "neither");
    }

    #[test]
    fn times_of_apache_are_told_apart() {
        for (format, expected) in [
            ("%{sec}t", Written::Number(TimeUnit::Seconds)),
            ("%{end:usec}t", Written::Number(TimeUnit::Micros)),
            ("%{begin:%Y-%m-%d}t", Written::Letters("%Y-%m-%d".into())),
            ("%{msec_frac}t", Written::Letters("%f".into())),
        ] {
            let [Part::Variable(variable)] = &parts(format, Server::Apache).unwrap()[..] else { panic!() };
            assert_eq!(variable.time.as_ref(), Some(&expected), "{format}");
        }
    }
}
