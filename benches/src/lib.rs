//! What the benchmarks of several crates share: made-up builds of real size, and measuring.
//!
//! Nothing here is part of the product.
#![warn(missing_docs)]

mod measure;
mod random;
mod recordings;

pub use measure::{Measured, best_of, peak_resident_bytes, reset_peak};
pub use random::Random;
pub use recordings::{COMMIT, Shape, Written, generate, real_names};
