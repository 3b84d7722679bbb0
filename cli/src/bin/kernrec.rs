//! Placeholder replaced by the command-line crate.

fn main() {}
