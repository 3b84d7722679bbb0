//! The recorder in real processes, against the fake SDK.
//!
//! Each test runs the host program with a list of acts and reads what it left with the product's reader.

#[cfg(test)]
mod bench;

mod endings;
mod failures;
mod faults;
mod forks;
mod launches;
mod sdk;
mod words;
