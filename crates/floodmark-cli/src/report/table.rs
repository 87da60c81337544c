//! Tables for people. The key comes last, so that no column's width depends on what is still to come.

use anstyle::Style;

const HEAD: Style = Style::new().bold();

/// A column: its name and width. Numbers stand to the right. A time is as wide as its digits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    Left(&'static str, usize),
    Right(&'static str, usize),
    Time(&'static str),
}

/// How wide a time is with so many digits of a second.
fn time_width(digits: u8) -> usize {
    "2026-11-27T09:00:00Z".len() + if digits > 0 { 1 + usize::from(digits) } else { 0 }
}

/// The shape of a table.
#[derive(Debug)]
pub(crate) struct Table(pub(crate) &'static [Column]);

impl Table {
    /// `digits`: of a second, as many as times have.
    pub(crate) fn head(&self, digits: u8) -> String {
        let name = |&(Column::Left(name, _) | Column::Right(name, _) | Column::Time(name)): &Column| {
            name.to_string()
        };
        let names = self.0.iter().map(name);
        let line = self.row(&names.collect::<Vec<_>>(), digits);
        format!("{HEAD}{}{HEAD:#}", line.trim_end())
    }

    pub(crate) fn row(&self, cells: &[String], digits: u8) -> String {
        let cells = self.0.iter().zip(cells).map(|(column, cell)| match *column {
            Column::Left(_, width) => format!("{cell:<width$}"),
            Column::Right(_, width) => format!("{cell:>width$}"),
            Column::Time(_) => format!("{cell:<width$}", width = time_width(digits)),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    }
}
