//! The report for people and for scripts. JSON needs nothing here: the [`Report`](crate::Report) is the document.

mod keys;
mod text;

pub use keys::{keys, keys_caveats};
pub use text::text;
