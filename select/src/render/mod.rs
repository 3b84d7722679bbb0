//! The report for people and for scripts. JSON needs nothing here: the [`Report`](crate::Report) is the document.

mod keys;
mod text;

pub use keys::keys;
pub use text::text;
