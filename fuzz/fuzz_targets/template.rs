#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| floodmark_fuzz::template(bytes));
