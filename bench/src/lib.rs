//! What the benches share: inputs made once, children run pinned and measured, tables in Markdown.
//!
//! Each file in `src/bin/` answers one question and says in its header what is measured.

pub mod child;
pub mod contender;
pub mod input;
pub mod table;
