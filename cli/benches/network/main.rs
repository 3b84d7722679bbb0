//! What the network costs, as ratios to curl doing the same transfers in the same run.
//!
//! Run with `cargo bench -p kernrec-cli --bench network`. Needs curl and, for publishing, the S3 server that
//! scripts/test.sh installs, or the one that `KERNREC_TEST_WEED` names. On another machine the benchmark's program needs
//! `kernrec-publish` and `ci-fetch-kernel-record` beside it, and nothing of the checkout. Every figure is a median, and what is compared runs in turns.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and fails by panicking"
)]

mod build;
mod fetching;
mod publishing;
#[path = "../../../store/tests/support/seaweed.rs"]
mod server;
mod turns;

/// The programs' own, so that the bare work is done as they do it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // A name chooses one of the two.
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |name: &str| {
        !chosen.iter().any(|c| !c.starts_with('-')) || chosen.iter().any(|c| c == name)
    };
    if is_chosen("fetch") {
        fetching::measure();
    }
    if is_chosen("publish") {
        publishing::measure();
    }
}
