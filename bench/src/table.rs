//! Numbers of several rounds, and a Markdown table.

use std::fmt::Write;

/// The middle of some measurements, and how far they lie apart.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The middle one; the mean of the middle two if their number is even.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// The spread of some numbers; `None` if there are none.
    #[must_use]
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (min, max) = (*numbers.first()?, *numbers.last()?);
        let (below, above) = (numbers[(numbers.len() - 1) / 2], numbers[numbers.len() / 2]);
        Some(Self { median: (below + above) / 2.0, min, max })
    }
}

/// A table in Markdown, padded so that it also reads well as text.
#[must_use]
pub fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|title| title.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        for (cell, &width) in cells.zip(&widths) {
            // Writing to a string cannot fail.
            _ = write!(text, "| {cell:width$} ");
        }
        text.push_str("|\n");
    };
    line(&mut head.iter().copied());
    let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    line(&mut rules.iter().map(String::as_str));
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let spread = Spread::of(vec![4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max), (3.0, 1.0, 9.0));
        assert!(Spread::of(Vec::new()).is_none());
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = markdown(&["a", "speed"], &[vec!["grep".into(), "1".into()]]);
        assert_eq!(text, "| a    | speed |\n| ---- | ----- |\n| grep | 1     |\n");
    }
}
