//! The only file that imports atomics, so that one switch can put a model checker's in their place.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
