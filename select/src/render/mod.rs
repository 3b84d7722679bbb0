//! The report for people and for scripts. JSON needs nothing here: the [`Report`](crate::Report) is the document.

mod demangle;
mod github;
mod keys;
mod markdown;
mod pipeline;
mod text;
mod words;

pub use demangle::demangled;
pub use github::github_outputs;
pub use keys::{keys, keys_caveats};
pub use markdown::{MAX_MARKDOWN_BYTES, markdown};
pub use pipeline::{MAX_SKIP_CHARACTERS, skip_reasons};
pub use text::text;
