//! YAML and JSON documents that are read with the place of every part, and changed as text: what no edit
//! touches keeps every byte.

mod document;
mod edit;
mod emit;
mod parse;

pub(crate) use document::{Document, Node, place};
pub(crate) use edit::Edits;
pub(crate) use emit::New;

#[cfg(test)]
mod tests;
