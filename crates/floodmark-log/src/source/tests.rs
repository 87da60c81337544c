use super::*;
use proptest::prelude::*;
use std::io::Write;
use std::sync::LazyLock;

const PACKINGS: [Packing; 4] = [Packing::Gzip, Packing::Zstd, Packing::Bzip2, Packing::Xz];

fn pack(packing: Packing, plain: &[u8]) -> Vec<u8> {
    match packing {
        Packing::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Packing::Zstd => {
            ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
        }
        Packing::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Packing::Xz => {
            let options = lzma_rust2::XzOptions::with_preset(1);
            let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
    }
}

/// Lines that are not alike.
fn lines(n: u64) -> Vec<u8> {
    (0..n).flat_map(|i| format!("{i} {:x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()).collect()
}

/// Gives at most so many bytes at once.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = out.len().min(self.1);
        self.0.read(&mut out[..n])
    }
}

/// All plain bytes, and the fault at their end.
fn unpack(packed: &[u8], step: usize) -> (Vec<u8>, Option<Fault>) {
    let mut source = Source::of_stream(Slow(packed, step)).unwrap();
    let mut plain = Vec::new();
    source.read_to_end(&mut plain).unwrap();
    (plain, source.fault().map(|(fault, _)| fault))
}

#[test]
fn members_are_unpacked_one_after_another_however_the_bytes_come() {
    let (first, second) = (lines(1_000), lines(100));
    for packing in PACKINGS {
        let packed = [pack(packing, &first), pack(packing, b""), pack(packing, &second)].concat();
        let plain = [&first[..], &second].concat();
        for step in [1, 7, 4096, 1 << 20] {
            assert!(unpack(&packed, step) == (plain.clone(), None), "{packing:?}, {step}");
        }
    }
}

#[test]
fn members_need_not_be_of_one_compression() {
    let packed: Vec<u8> = PACKINGS.iter().flat_map(|&packing| pack(packing, &lines(9))).collect();
    assert_eq!(unpack(&packed, 100), (lines(9).repeat(4), None));
}

#[test]
fn what_was_cut_anywhere_gives_what_came_before() {
    let plain = lines(60);
    for packing in PACKINGS {
        let member = pack(packing, &plain);
        let packed = [&member[..], &member].concat();
        for length in 10..packed.len() {
            let (given, fault) = unpack(&packed[..length], 64);
            assert!(plain.repeat(2).starts_with(&given), "{packing:?}, {length}");
            let expected = (length != member.len()).then_some(Fault::Cut);
            assert_eq!(fault, expected, "{packing:?}, {length}");
            assert!(length < member.len() || given.len() >= plain.len(), "{packing:?}, {length}");
        }
    }
}

#[test]
fn a_long_file_that_was_cut_gives_nearly_all_that_came_before() {
    let plain = lines(25_000);
    for packing in PACKINGS {
        let packed = pack(packing, &plain);
        let (given, fault) = unpack(&packed[..packed.len() / 2], 1 << 20);
        assert_eq!(fault, Some(Fault::Cut), "{packing:?}");
        assert!(plain.starts_with(&given), "{packing:?}");
        // A block of bzip2 is 100 kB here, one of zstd 128 KiB.
        assert!(given.len() > plain.len() / 2 - 140_000, "{packing:?}: {}", given.len());
    }
}

#[test]
fn what_is_corrupt_is_told_and_never_panics() {
    let plain = lines(60);
    for packing in PACKINGS {
        let packed = pack(packing, &plain);
        for at in 10..packed.len() {
            let mut corrupt = packed.clone();
            corrupt[at] ^= 0x55;
            let (_, fault) = unpack(&corrupt, 64);
            // Some bytes say nothing of the content: a time, a system.
            let says_much = at >= packed.len() / 3 && at < packed.len() * 2 / 3;
            // The encoder for zstd that is at hand may write no checksum.
            assert!(!says_much || fault.is_some() || packing == Packing::Zstd, "{packing:?}, {at}");
        }
    }
}

#[test]
fn corrupt_data_does_not_take_back_what_came_before() {
    let plain = lines(25_000);
    for packing in PACKINGS {
        let mut packed = pack(packing, &plain);
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        let (given, fault) = unpack(&packed, 1 << 20);
        assert!(matches!(fault, Some(Fault::Corrupt | Fault::Cut)), "{packing:?}: {fault:?}");
        let same = given.iter().zip(&plain).take_while(|(a, b)| a == b).count();
        assert!(same > plain.len() / 2 - 140_000, "{packing:?}: {same}");
    }
}

#[test]
fn zeros_at_the_end_are_padding_and_anything_else_is_told() {
    for packing in PACKINGS {
        let packed = pack(packing, &lines(9));
        assert_eq!(unpack(&[&packed[..], &[0; 700]].concat(), 64), (lines(9), None));
        assert_eq!(unpack(&[&packed[..], &[0; 4], &packed].concat(), 64), (lines(9).repeat(2), None));
        let garbage = [&packed[..], &[0; 4], b"garbage"].concat();
        assert_eq!(unpack(&garbage, 64), (lines(9), Some(Fault::Trailing)), "{packing:?}");
    }
}

#[test]
fn frames_to_be_skipped_are_skipped() {
    let skipped = [&b"\x5a\x2a\x4d\x18\x05\0\0\0"[..], b"a\nb\nc"].concat();
    let frame = pack(Packing::Zstd, &lines(9));
    let packed = [&skipped[..], &frame, &skipped, &skipped, &frame, b"\x50\x2a\x4d\x18\0\0\0\0"].concat();
    for step in [1, 64, 1 << 20] {
        assert_eq!(unpack(&packed, step), (lines(9).repeat(2), None));
    }
    assert_eq!(unpack(&packed[..10], 64), (Vec::new(), Some(Fault::Cut)));
}

#[test]
fn a_window_that_takes_too_much_memory_is_refused() {
    // 2 GiB, as `zstd --long=31` has it.
    let frame = b"\x28\xb5\x2f\xfd\0\xa8\x01\0\0aaaaaaaaaaaaaaaaaaa";
    assert_eq!(unpack(frame, 64), (Vec::new(), Some(Fault::Window)));
    let mut options = lzma_rust2::XzOptions::with_preset(6);
    options.lzma_options.dict_size = 256 << 20;
    let mut header = pack_header(&options);
    header.truncate(64);
    assert_eq!(unpack(&header, 64), (Vec::new(), Some(Fault::Window)));
}

/// An xz file that says in its header how far it refers back, and hardly uses it.
fn pack_header(options: &lzma_rust2::XzOptions) -> Vec<u8> {
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options.clone()).unwrap();
    encoder.write_all(&lines(9)).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn text_is_not_taken_for_compressed() {
    for text in ["", "B", "BZh9", "BZh9 is a key\n", "P", "_", "7", "(", "time,key\n"] {
        assert_eq!(unpack(text.as_bytes(), 1), (text.as_bytes().to_vec(), None), "{text}");
    }
    assert_eq!(Packing::of(b"BZh9 is"), Guess::Plain);
}

static PACKED: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| PACKINGS.iter().map(|&packing| pack(packing, &lines(200)).repeat(2)).collect());

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_makes_it_panic(
        which in 0..PACKINGS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        length in any::<prop::sample::Index>(),
        step in 1..5_000_usize,
    ) {
        let mut packed = PACKED[which].clone();
        packed.truncate(length.index(packed.len() * 2).max(20));
        for (at, byte) in changes {
            let at = at.index(packed.len());
            packed[at] = byte;
        }
        let (given, _) = unpack(&packed, step);
        // Nothing is made of so little that would not fit in memory.
        prop_assert!(given.len() < 64 << 20);
    }
}
