//! Set-up in real processes: the launcher as users have it, workloads that do their worst, shells, and the
//! recorder against a fake CUPTI.
#![cfg(test)]

mod actions;
mod armed;
mod bench;
mod both_backends;
mod child;
mod images;
mod impossible;
mod jobs;
mod pipeline_demo;
mod python;
mod recorded;
mod rocm;
mod shells;
mod signals;
mod transparent;
mod validation;

// The Pythons of this machine and the packages that are run in them are those of the recorder's own tests.
#[path = "../../../python/process-tests/tests/python/pythons.rs"]
mod pythons;
#[path = "../../../python/process-tests/tests/python/tree.rs"]
mod tree;
