//! `--why`: who is behind a hot key?
//!
//! The last events of all keys are remembered, in bounded memory. When a key turns hot, those of its window are
//! counted by the fields that tell who sent them; from then on its further events are, until it has cooled.

use crate::report::{Key, Shares};
use crate::text::{grouped, safe};
use floodmark::{Heavy, Recent, Share, Timestamp};
use floodmark_log::{Details, Event};
use std::collections::HashMap;
use std::time::Duration;

/// So many hot keys are explained at a time.
const KEYS: usize = 4096;
/// So many values of a field are counted.
const COUNTERS: usize = 64;
/// So many values are in a record.
const LARGEST: usize = 5;
/// So many values are shown to people.
const SHOWN: usize = 3;

pub(crate) struct Why {
    recent: Recent,
    hot: HashMap<Box<[u8]>, Fields>,
}

/// The values of each field of one hot key.
#[derive(Default)]
struct Fields(Vec<(String, Heavy)>);

impl Why {
    pub(crate) fn new(window: Duration) -> Self {
        Self { recent: Recent::new(window), hot: HashMap::new() }
    }

    /// Remembers an event, which may turn out to be the one that makes its key hot.
    pub(crate) fn push(&mut self, event: &Event<'_>) {
        self.recent.push(event.key, event.n, event.at, event.details.text());
    }

    /// The key has turned hot at that time.
    pub(crate) fn begin(&mut self, key: &[u8], at: Timestamp) {
        if self.hot.len() >= KEYS {
            return;
        }
        let mut fields = Fields::default();
        self.recent.each(key, at, |n, text| fields.add(Details::new(text), n));
        self.hot.insert(key.into(), fields);
    }

    /// A further event of a hot key.
    pub(crate) fn add(&mut self, event: &Event<'_>) {
        if let Some(fields) = self.hot.get_mut(event.key) {
            fields.add(event.details, event.n);
        }
    }

    /// What is known of a key's episode so far.
    pub(crate) fn of(&self, key: &[u8]) -> Vec<Shares> {
        self.hot.get(key).map(Fields::shares).unwrap_or_default()
    }

    /// What is known of a key's episode, which is over.
    pub(crate) fn end(&mut self, key: &[u8]) -> Vec<Shares> {
        self.hot.remove(key).map(|fields| fields.shares()).unwrap_or_default()
    }
}

impl Fields {
    fn add(&mut self, details: Details<'_>, n: u64) {
        for (name, value) in details {
            let known = self.0.iter_mut().find(|(known, _)| known.as_bytes() == name);
            match known {
                Some((_, heavy)) => heavy.add(value, n),
                None => {
                    let mut heavy = Heavy::new(COUNTERS);
                    heavy.add(value, n);
                    self.0.push((String::from_utf8_lossy(name).into_owned(), heavy));
                }
            }
        }
    }

    fn shares(&self) -> Vec<Shares> {
        let shares = |(field, heavy): &(String, Heavy)| Shares {
            field: field.clone(),
            of: heavy.total(),
            largest: heavy.top(LARGEST).into_iter().map(share).collect(),
        };
        self.0.iter().map(shares).collect()
    }
}

fn share(Share { item, count, error }: Share) -> crate::report::Share {
    crate::report::Share { value: Key::new(&item).into(), count, error }
}

/// What is shown of one value, or of all that are not shown: the field, the units, the value.
pub(crate) type Row = [String; 3];

/// The rows under an episode: for each field its largest values.
pub(crate) fn rows(why: &[Shares]) -> Vec<Row> {
    why.iter().flat_map(rows_of).collect()
}

fn rows_of(Shares { field, of, largest }: &Shares) -> Vec<Row> {
    let sure = |share: &crate::report::Share| share.count - share.error;
    let most = largest.first().map_or(0, |share| share.count);
    if largest.iter().all(|share| sure(share) < of.div_ceil(10)) {
        let many = format!("(many, none with more than {})", grouped(most));
        return vec![[field.clone(), grouped(*of), many]];
    }
    let shown: Vec<_> = largest.iter().take(SHOWN).filter(|share| sure(share) > 0).collect();
    let rest = shown.iter().fold(*of, |rest, share| rest.saturating_sub(sure(share)));
    let row = |share: &&crate::report::Share| {
        let units = match share.error {
            0 => grouped(share.count),
            _ => format!("{}-{}", grouped(sure(share)), grouped(share.count)),
        };
        [field.clone(), units, safe(share.value.text().as_bytes())]
    };
    let mut rows: Vec<Row> = shown.iter().map(row).collect();
    if rest > 0 {
        rows.push([field.clone(), grouped(rest), "(others)".into()]);
    }
    rows
}
