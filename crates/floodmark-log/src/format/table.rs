//! CSV and TSV: a first line of names, then a line per event.

use super::{Field, Format, Found, Lines, Place};
use crate::address;
use crate::error::Error;
use crate::event::Skip;
use crate::options::{Options, TimeUnit};
use crate::time::{self, Stamp};
use csv_core::ReadRecordResult;
use memchr::memchr;
use std::ops::Range;

/// The usual names of a time column, the likeliest first.
const TIMES: [&str; 12] = [
    "time",
    "timestamp",
    "ts",
    "@timestamp",
    "datetime",
    "date_time",
    "event_time",
    "op_time",
    "epoch",
    "time_local",
    "time_iso8601",
    "start_time",
];
/// The usual names of a column that is not an address and yet the key.
const KEYS: [&str; 1] = ["key"];
/// The usual names of a client's address, the likeliest first.
const ADDRESSES: [&str; 12] = [
    "ip",
    "client_ip",
    "clientip",
    "client",
    "remote_addr",
    "remote_ip",
    "c-ip",
    "src_ip",
    "source_ip",
    "remote_host",
    "address",
    "host",
];

#[derive(Clone, Debug)]
pub(crate) struct Table {
    delimiter: u8,
    header: Vec<u8>,
    names: Vec<String>,
    time: usize,
    weight: Option<usize>,
    /// The last of the columns that were asked for: a line without it is no line of this table.
    last: usize,
    unit: TimeUnit,
    fields: Fields,
    scratch: Vec<u8>,
}

impl Table {
    pub(crate) fn new(delimiter: u8, header: &[u8], path: &str, options: &Options) -> Result<Self, Error> {
        let mut fields = Fields::default();
        fields.split(header, delimiter);
        let names: Vec<String> = (0..fields.len())
            .map(|i| String::from_utf8_lossy(fields.get(i, header).unwrap_or_default()).trim().to_string())
            .collect();
        let named = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let known = || known(&names);
        let asked = |name: &String| {
            named(name).ok_or_else(|| Error::UnknownField {
                path: path.into(),
                name: name.clone(),
                known: known(),
            })
        };
        let time = match &options.time {
            Some(name) => asked(name)?,
            None => TIMES.iter().find_map(|name| named(name)).ok_or_else(|| Error::NoColumn {
                path: path.into(),
                what: "time",
                known: known(),
            })?,
        };
        let weight = options.weight.as_ref().map(asked).transpose()?;
        Ok(Self {
            delimiter,
            header: header.to_vec(),
            names,
            last: time.max(weight.unwrap_or(0)),
            time,
            weight,
            unit: options.time_unit,
            fields,
            scratch: Vec::new(),
        })
    }

    pub(crate) fn format(&self) -> Format {
        if self.delimiter == b'\t' { Format::Tsv } else { Format::Csv }
    }

    /// The column of that name.
    fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.eq_ignore_ascii_case(name))
    }

    fn is_address(&self, column: usize) -> bool {
        self.names
            .get(column)
            .is_some_and(|name| ADDRESSES.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }
}

fn known(names: &[String]) -> String {
    names.iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}

impl Lines for Table {
    fn field(&mut self, name: &str) -> Option<Field> {
        let usual = || ADDRESSES.iter().find_map(|name| self.named(name)).filter(|_| name == "ip");
        let column = self.named(name).or_else(usual)?;
        self.last = self.last.max(column);
        Some(Field(column))
    }

    fn known(&self) -> String {
        known(&self.names)
    }

    fn usual_key(&self) -> &str {
        let usual = KEYS.iter().chain(&ADDRESSES).find_map(|name| self.named(name));
        usual.and_then(|column| self.names.get(column)).map_or("", String::as_str)
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &["ip", "path", "method", "status"]
    }

    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        if is_cut {
            return Err(Skip::TooLong);
        }
        if line == self.header {
            return Err(Skip::Header);
        }
        if !self.fields.split(line, self.delimiter) || self.fields.len() <= self.last {
            return Err(Skip::Malformed);
        }
        let field = |column| self.fields.get(column, line).unwrap_or_default().trim_ascii();
        let stamp: Stamp = time::read_any(field(self.time), self.unit).ok_or(Skip::BadTime)?;
        let n = match self.weight {
            None => 1,
            Some(column) => {
                let text = field(column);
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Skip::BadNumber)?
            }
        };
        Ok(Found { n, stamp, is_damaged: self.fields.len() < self.names.len(), more: 0 })
    }

    fn place(&mut self, column: Field, line: &[u8]) -> Option<Place> {
        let text = self.fields.get(column.0, line)?.trim_ascii();
        if matches!(text, b"" | b"-") {
            return None;
        }
        if !(self.is_address(column.0) && address::normalize(text, &mut self.scratch)) {
            self.scratch.clear();
            self.scratch.extend_from_slice(text);
        }
        Some(Place::Scratch)
    }

    fn scratch(&self) -> &[u8] {
        &self.scratch
    }
}

/// The fields of one line.
#[derive(Clone, Debug, Default)]
struct Fields {
    places: Vec<Range<usize>>,
    /// The fields of a line with quotes, without them, and where they end.
    unquoted: Vec<u8>,
    ends: Vec<usize>,
    has_quotes: bool,
    /// Made for the first line with quotes: that takes longer than a line.
    reader: Option<Box<csv_core::Reader>>,
}

impl Fields {
    /// Finds the fields of a line; `false` where a quote is not closed.
    fn split(&mut self, line: &[u8], delimiter: u8) -> bool {
        self.places.clear();
        self.has_quotes = delimiter == b',' && memchr(b'"', line).is_some();
        if self.has_quotes {
            return self.split_quoted(line, delimiter);
        }
        let mut start = 0;
        for end in memchr::memchr_iter(delimiter, line).chain([line.len()]) {
            self.places.push(start..end);
            start = end + 1;
        }
        true
    }

    fn split_quoted(&mut self, line: &[u8], delimiter: u8) -> bool {
        self.unquoted.clear();
        self.unquoted.resize(line.len() + 1, 0);
        self.ends.clear();
        self.ends.resize(line.len() + 2, 0);
        let new = || Box::new(csv_core::ReaderBuilder::new().delimiter(delimiter).build());
        let reader = self.reader.get_or_insert_with(new);
        reader.reset();
        let (mut read, mut wrote, mut fields) = (0, 0, 0);
        loop {
            // An empty input tells the reader that this was the end.
            let input = line.get(read..).unwrap_or_default();
            let (output, places) = (self.unquoted.get_mut(wrote..), self.ends.get_mut(fields..));
            let (Some(output), Some(places)) = (output, places) else { return false };
            let (result, r, w, f) = reader.read_record(input, output, places);
            (read, wrote, fields) = (read + r, wrote + w, fields + f);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => return false,
            }
        }
        let mut start = 0;
        for &end in self.ends.iter().take(fields) {
            self.places.push(start..end);
            start = end;
        }
        memchr::memchr_iter(b'"', line).count().is_multiple_of(2)
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn get<'a>(&'a self, field: usize, line: &'a [u8]) -> Option<&'a [u8]> {
        let place = self.places.get(field)?.clone();
        if self.has_quotes { self.unquoted.get(place) } else { line.get(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::Parser;

    fn parser(header: &str, options: &Options) -> Result<Parser, Error> {
        let format = if header.contains('\t') { Format::Tsv } else { Format::Csv };
        Parser::new(format, &[header.as_bytes()], "t.csv", options)
    }

    fn check(header: &str, line: &str, expected: Result<(&str, u64, u64), Skip>) {
        let options = Options { weight: header.contains(",n").then(|| "n".into()), ..Options::default() };
        let mut table = parser(header, &options).unwrap();
        let read = table.parse(line.as_bytes(), false).map(|parsed| {
            let secs = parsed.stamp.at.as_nanos() / 1_000_000_000;
            (String::from_utf8_lossy(table.key(&parsed.key, line.as_bytes())).into_owned(), parsed.n, secs)
        });
        assert_eq!(read, expected.map(|(key, n, secs)| (key.to_string(), n, secs)), "{line}");
    }

    #[test]
    fn columns_are_found_by_their_usual_names_in_any_order() {
        check("time,key", "5,a", Ok(("a", 1, 5)));
        check("Key,size,TIME", "a,9,5", Ok(("a", 1, 5)));
        check(
            "host\tlogname\ttime",
            "h.example.com\t-\t804571201\t\t",
            Ok(("h.example.com", 1, 804_571_201)),
        );
        check("client_ip,timestamp", "::FFFF:1.2.3.4,1970-01-01T00:00:05Z", Ok(("1.2.3.4", 1, 5)));
    }

    #[test]
    fn quoted_fields_may_hold_commas_and_quotes() {
        check("time,key,n", "\"5\",\"a,\"\"b\"\"\",3", Ok(("a,\"b\"", 3, 5)));
        check("\"time\",\"key\"", "5,\"a\"", Ok(("a", 1, 5)));
        check("time,key", "5,\"a", Err(Skip::Malformed));
    }

    #[test]
    fn a_line_that_lacks_something_is_skipped_with_its_reason() {
        check("time,key", "time,key", Err(Skip::Header));
        check("time,key", "5", Err(Skip::Malformed));
        check("time,key", "soon,a", Err(Skip::BadTime));
        check("time,key", "5,", Err(Skip::NoKey));
        check("time,key", "5,-", Err(Skip::NoKey));
        check("time,key,n", "5,a,-1", Err(Skip::BadNumber));
        check("time,key,n", "5,a,18446744073709551615", Ok(("a", u64::MAX, 5)));
    }

    #[test]
    fn a_table_whose_columns_cannot_be_told_says_what_to_type() {
        let error = parser("when,key", &Options::default()).unwrap_err().to_string();
        assert_eq!(error, "t.csv: which field is the time? Say --time NAME; it has when, key");
        let options = Options { key: Some("lba".into()), ..Options::default() };
        let error = parser("time,lbn", &options).unwrap_err().to_string();
        assert_eq!(error, "t.csv has no field \"lba\": it has time, lbn");
    }
}
