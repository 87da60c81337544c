//! What the tests and benches of floodmark judge it by: the slow [`model`], the first [`seed`]'s own window, and
//! seeded [`traffic`]. It does not depend on the engine, and is not published.

pub mod model;
pub mod seed;
pub mod traffic;
