//! Everything unsafe: fork and the loader, signals, what the process was started with.
#![expect(
    unsafe_code,
    reason = "a launcher has to leave signals, descriptors and process groups as it found them, for which \
              the standard library has no words; each block says why it holds"
)]

pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod signals;
pub(crate) mod start;
