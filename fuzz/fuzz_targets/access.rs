#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| floodmark_fuzz::access(bytes));
