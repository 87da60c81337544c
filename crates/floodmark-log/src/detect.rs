//! Which format are these lines? The first few of them tell.

use crate::envelope::Envelope;
use crate::error::Error;
use crate::event::Skip;
use crate::format::{Format, redacted};
use crate::options::Options;
use crate::parser::Parser;
use crate::source::{Guess, Packing};

/// As many lines are asked at most.
const LINES: usize = 64;

/// Picks the parser that reads the most of `sample`, an input's first bytes; or sets up the one that was chosen.
///
/// What a container's runtime put around the lines is looked through, if a format is found inside.
pub(crate) fn detect(sample: &[u8], path: &str, options: &Options) -> Result<Parser, Error> {
    let lines: Vec<&[u8]> =
        sample.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let first = lines.get(..LINES).unwrap_or(&lines);
    if let Some(envelope) = Envelope::of(first) {
        let mut opening = envelope.clone();
        let mut inside = Vec::new();
        for line in &lines {
            if opening.open(line).is_ok() {
                inside.extend_from_slice(opening.line(line));
                inside.push(b'\n');
            }
        }
        return match detect_plain(&inside, path, options) {
            Ok(parser) => Ok(parser.within(envelope)),
            // What looks like something around the lines may be a part of them.
            Err(error) => detect_plain(sample, path, options).map_err(|_| error),
        };
    }
    detect_plain(sample, path, options)
}

fn detect_plain(sample: &[u8], path: &str, options: &Options) -> Result<Parser, Error> {
    let bytes = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    let lines = bytes.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines: Vec<&[u8]> = lines.filter(|line| !line.trim_ascii().is_empty()).take(LINES).collect();
    if options.pattern.is_some() {
        if let Some(format) = options.format.filter(|&format| format != Format::Pattern) {
            let why = format!("the lines cannot be of it and {format} too: leave out --format, or --pattern");
            return Err(Error::BadPattern { why });
        }
        reject_what_is_no_text(sample, path)?;
        return Parser::new(Format::Pattern, &lines, path, options);
    }
    if options.format == Some(Format::Pattern) {
        return Err(Error::NoPattern);
    }
    if let Some(format) = options.format {
        let looks_like = || likeliest(&lines, bytes, path, &Options { format: None, ..options.clone() });
        if format.has_own_lines()
            && score(format, &lines, path, options) == 0
            && let Some(looks_like) = looks_like()
        {
            let (path, line) = (path.into(), shown(&lines));
            return Err(Error::WrongFormat { path, asked: format, looks_like, line });
        }
        return Parser::new(format, &lines, path, options);
    }
    reject_what_is_no_text(sample, path)?;
    match likeliest(&lines, bytes, path, options) {
        Some(Format::Json) if options.key.is_none() => {
            let mut parser = Parser::new(Format::Json, &lines, path, options)?;
            // All of them may be other things: then which member is the key can't be told.
            let has_key = lines.iter().any(|line| parser.parse(line, false).err() != Some(Skip::NoKey));
            if has_key { Ok(parser) } else { Err(parser.without_key(path)) }
        }
        Some(format) => Parser::new(format, &lines, path, options),
        None => Err(unknown(&lines, path, options)),
    }
}

/// The format that reads the most of the lines, if any reads at least half of them.
fn likeliest(lines: &[&[u8]], sample: &[u8], path: &str, options: &Options) -> Option<Format> {
    // Redis answers so before it sends the first command, which tells more.
    if lines.iter().all(|line| matches!(*line, b"OK" | b"+OK")) && !lines.is_empty() {
        return None;
    }
    let mut best: Option<(usize, Format)> = None;
    for format in Format::ALL.into_iter().filter(|&format| format != Format::Pattern) {
        // The lines of other programs do not tell that sshd's are among them.
        if format == Format::Sshd && memchr::memmem::find(sample, b"sshd").is_none() {
            continue;
        }
        let score = score(format, lines, path, options);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, format));
        }
    }
    // A whole line counts two.
    best.filter(|(score, _)| *score >= lines.len().max(1)).map(|(_, format)| format)
}

/// Two for each line that is an event, one for one that is damaged or a header.
fn score(format: Format, lines: &[&[u8]], path: &str, options: &Options) -> usize {
    // What is asked of the lines is another question: a field that a format lacks is told once the format is known.
    let key = options.key.clone().filter(|key| format.is_table() || key == "forwarded");
    let options =
        Options { key, conditions: Vec::new(), details: None, since: None, until: None, ..options.clone() };
    if format == Format::Keys && (options.time.is_some() || options.weight.is_some()) {
        return 0;
    }
    let Ok(mut parser) = Parser::new(format, lines, path, &options) else { return 0 };
    if parser.is_bare() && !lines.iter().all(|line| is_one_word(line)) {
        return 0;
    }
    let worth = |line: &&[u8]| match parser.parse(line, false) {
        Ok(parsed) if parsed.is_damaged => 1,
        Ok(_) => 2,
        // Of the format, if no event.
        Err(Skip::Keyless | Skip::Lua | Skip::Filtered | Skip::UnknownCommand) => 2,
        Err(Skip::Header | Skip::OtherProgram) => 1,
        // Services write other things than requests too.
        Err(Skip::NoKey) if format == Format::Json => 1,
        Err(_) => 0,
    };
    lines.iter().map(worth).sum()
}

/// Keys alone are taken for such only where they can be nothing else.
fn is_one_word(line: &[u8]) -> bool {
    let word = line.trim_ascii();
    !word.iter().any(|b| b.is_ascii_whitespace() || b.is_ascii_control() || matches!(b, b',' | b';'))
        && !matches!(word.first(), Some(b'{' | b'[' | b'<' | b'"' | b'#'))
}

fn reject_what_is_no_text(sample: &[u8], path: &str) -> Result<(), Error> {
    if let Guess::Packed(packing) = Packing::of(sample) {
        return Err(Error::Twice { path: path.into(), kind: packing.name() });
    }
    let others = [
        (&b"PK\x03\x04"[..], "zip", "unzip -p"),
        (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
        (b"LZIP\x01", "lzip", "lzip -dc"),
        (b"\x1f\x9d", "compress", "zcat"),
    ];
    for (magic, kind, tool) in others {
        if sample.starts_with(magic) {
            return Err(Error::Compressed { path: path.into(), kind, tool });
        }
    }
    let head = sample.get(..4096).unwrap_or(sample);
    // A log that was cut by a crash may hold a run of NULs; a binary file has them from the start.
    let first_line = head.split(|&b| b == b'\n').next().unwrap_or_default();
    if first_line.contains(&0) { Err(Error::Binary(path.into())) } else { Ok(()) }
}

/// Whether a line can be the names of columns, and not just a line that has the delimiter in it.
fn are_names(line: &[u8], delimiter: u8) -> bool {
    let is_name = |field: &[u8]| {
        let name = field.trim_ascii();
        name.len() <= 64 && !matches!(name.first(), Some(b'0'..=b'9' | b'{' | b'['))
    };
    line.split(|&b| b == delimiter).all(is_name)
}

/// What to say when nothing fits: where it looks like a table, what the table lacks.
fn unknown(lines: &[&[u8]], path: &str, options: &Options) -> Error {
    let first = lines.first().copied().unwrap_or_default();
    for (format, delimiter) in [(Format::Tsv, b'\t'), (Format::Csv, b',')] {
        let fields = |line: &&[u8]| line.iter().filter(|&&b| b == delimiter).count();
        let is_table =
            fields(&first) > 0 && lines.get(1).is_none_or(|second| fields(second) >= fields(&first));
        if is_table
            && are_names(first, delimiter)
            && let Err(error) = Parser::new(format, lines, path, options)
        {
            return error;
        }
    }
    Error::UnknownFormat { path: path.into(), line: shown(lines) }
}

/// The first line, shortened and safe to show.
fn shown(lines: &[&[u8]]) -> String {
    let first = redacted(lines.first().copied().unwrap_or_default());
    let shown: String = String::from_utf8_lossy(&first).chars().take(80).collect();
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sample: &str, expected: Result<Format, &str>) {
        match (detect(sample.as_bytes(), "x", &Options::default()), expected) {
            (Ok(parser), Ok(format)) => assert_eq!(parser.format(), format, "{sample}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{sample}: {error}"),
            (Ok(parser), Err(_)) => panic!("{sample} was taken for {}", parser.format()),
            (Err(error), Ok(_)) => panic!("{sample}: {error}"),
        }
    }

    const COMMON: &str = "192.0.2.1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 12";

    #[test]
    fn each_format_is_told_from_its_lines() {
        check(COMMON, Ok(Format::Common));
        check(&format!("{COMMON} \"-\" \"agent\"\n"), Ok(Format::Combined));
        check(&format!("example.com:80 {COMMON} \"-\" \"agent\"\n"), Ok(Format::Vhost));
        check("time,key\n5,a\n", Ok(Format::Csv));
        check("host\tlogname\ttime\nh\t-\t5\n", Ok(Format::Tsv));
        check("1700000000.25 a\n", Ok(Format::Keys));
        check("{\"ts\":1,\"remote_ip\":\"192.0.2.1\"}\n", Ok(Format::Json));
        check("OK\n1339518090.420270 [0 127.0.0.1:60866] \"PING\"\n", Ok(Format::Monitor));
        check("OK\n", Err("say --format"));
        check("Dec 10 06:55:46 h CRON[1]: x\nDec 10 06:55:46 h sshd[1]: x\n", Ok(Format::Sshd));
        check("Dec 10 06:55:46 h CRON[1]: x\n", Err("say --format"));
        check("5 a 3\n6 b\n", Ok(Format::Keys));
        check("user:7\nuser:8\n", Ok(Format::Keys));
    }

    #[test]
    fn a_format_is_found_inside_what_is_around_it() {
        check(&format!("2016-10-06T00:17:09Z stdout F {COMMON}\n"), Ok(Format::Common));
        check("web-1  | time,key\nweb-1  | 5,a\n", Ok(Format::Csv));
        check("2016-10-06T00:17:09Z stdout F nonsense is here\n", Err("say --format"));
    }

    #[test]
    fn another_format_than_that_of_the_lines_is_told() {
        for (format, expected) in
            [(Format::Csv, "not csv"), (Format::Json, "not json"), (Format::Monitor, "not monitor")]
        {
            let options = Options { format: Some(format), ..Options::default() };
            let error = detect(COMMON.as_bytes(), "x", &options).unwrap_err().to_string();
            assert!(
                error.contains(expected) && error.contains("say --format common, or leave it out"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_few_damaged_lines_do_not_hide_the_format() {
        check(&format!("garbage\n\n{COMMON}\n{COMMON} \"cut"), Ok(Format::Common));
    }

    #[test]
    fn what_fits_nothing_is_an_error_that_says_what_to_type() {
        check("{\"ts\":1,\"k\":\"a\"}\n", Err("which field is the key? Say --key NAME; it has k, ts"));
        check("<a>1</a>\n", Err("say --format common, combined"));
        check("a b c d\n", Err("say --format"));
        check("2025-01-01 10:22:40,672 WARN a\n2025-01-01 10:22:41,002 WARN b\n", Err("say --format"));
        check("when,key\n5,a\n", Err("which field is the time"));
        check("time,lbn\n5,a\n", Err("which field is the key"));
    }

    #[test]
    fn compressed_and_binary_files_are_named_as_such() {
        let error = |sample| detect(sample, "a", &Options::default()).unwrap_err().to_string();
        assert_eq!(error(b"LZIP\x01\0"), "a is compressed (lzip): pipe it in, lzip -dc a | floodmark ... -");
        // What is unpacked here comes unpacked.
        assert!(error(b"\x1f\x8b\x08\0").starts_with("a is compressed twice (gzip inside)"));
        check("\u{7f}\u{1}\u{2}\n\u{1b}\u{3}\n", Err("say --format"));
        assert!(matches!(detect(b"\x7fELF\0\0", "x", &Options::default()), Err(Error::Binary(_))));
    }
}
