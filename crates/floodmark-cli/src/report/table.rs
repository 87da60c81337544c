//! Tables for people. The key comes last, so that no column's width depends on what is still to come.

use anstyle::Style;

const HEAD: Style = Style::new().bold();

/// A column: its name and width. Numbers stand to the right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    Left(&'static str, usize),
    Right(&'static str, usize),
}

/// The shape of a table.
#[derive(Debug)]
pub(crate) struct Table(pub(crate) &'static [Column]);

impl Table {
    pub(crate) fn head(&self) -> String {
        let names = self.0.iter().map(|&(Column::Left(name, _) | Column::Right(name, _))| name.to_string());
        let line = self.row(&names.collect::<Vec<_>>());
        format!("{HEAD}{}{HEAD:#}", line.trim_end())
    }

    pub(crate) fn row(&self, cells: &[String]) -> String {
        let cells = self.0.iter().zip(cells).map(|(column, cell)| match *column {
            Column::Left(_, width) => format!("{cell:<width$}"),
            Column::Right(_, width) => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    }
}
