//! Asking for memory before it is needed: the engine's only unsafe code.
//!
//! Without it a batch over 200 000 keys waits for one entry after another; measured with `bench/`'s `logs`, see
//! docs/performance.md.

/// Brings a value's cache lines into the cache, without waiting for them. Changes nothing but the time it takes.
#[inline]
pub(super) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "there is no safe prefetch in the standard library")]
    for line in 0..size_of::<T>().div_ceil(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        // SAFETY: a prefetch has no effect that a program could observe, whatever the address; this one is within
        // a value that is borrowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * 64)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
