//! The story of `samples/flash-sale.log`.

use std::{io, io::Write};

use super::{Background, CombinedLog, Crawler, Drip, Eager, EdgeBurst, FlashSale, Traffic};

/// 2026-11-27 09:00:00 UTC.
pub const SALE_OPENS: u64 = 1_795_770_000;

/// Four minutes around the opening of a sale, 08:58:30 to 09:02:30.
///
/// Under `--mark 100/5s` four clients are hot: two eager shoppers at 09:00:00, a crawler at 09:01:05, and a
/// guesser of passwords across the minute edge of 09:02:00. A stock checker that sends 99 in every five
/// seconds from 08:58:40 is not.
#[must_use]
pub fn flash_sale_sample() -> Traffic {
    Traffic::new(2026, SALE_OPENS - 90..SALE_OPENS + 150)
        .with(Background::new(240, 2))
        .with(Drip {
            client: [198, 51, 100, 99].into(),
            at: SALE_OPENS - 80,
            seconds: 15,
            units: 99,
            window_seconds: 5,
        })
        .with(FlashSale {
            at: SALE_OPENS,
            seconds: 6,
            path: "/sale/copper-lantern-half-price",
            shoppers: 120,
            per_second: 25,
            eager: vec![
                Eager { client: [203, 0, 113, 7].into(), per_second: 30 },
                Eager { client: [0x2001, 0xdb8, 0xcafe, 0, 0, 0, 0, 0x24].into(), per_second: 24 },
            ],
        })
        .with(Crawler { client: [192, 0, 2, 44].into(), at: SALE_OPENS + 65, seconds: 14, per_second: 25 })
        .with(EdgeBurst { client: [203, 0, 113, 60].into(), edge: SALE_OPENS + 120, each_side: 60 })
}

/// Writes the sample: the bytes of `samples/flash-sale.log`.
///
/// # Errors
/// Those of the writer.
pub fn flash_sale_log(out: impl Write) -> io::Result<()> {
    let mut log = CombinedLog::new(out);
    for request in flash_sale_sample() {
        log.write(&request)?;
    }
    log.into_inner().flush()
}
