//! Writes `samples/flash-sale.log` to standard output:
//! `cargo run -p floodmark-testkit --bin make-sample > samples/flash-sale.log`

use std::io::{self, BufWriter};

use floodmark_testkit::traffic::flash_sale_log;

fn main() -> io::Result<()> {
    flash_sale_log(BufWriter::new(io::stdout().lock()))
}
