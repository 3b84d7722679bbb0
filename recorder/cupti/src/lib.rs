//! `libkernrec_cupti.so`: records which CUDA kernels a process launches.
//!
//! The CUDA driver loads it through `CUDA_INJECTION64_PATH` while it initialises, and calls
//! `InitializeInjection`. The recorder then asks CUPTI for one record per kernel, graph nodes included,
//! keeps the set of names, and writes each the first time it is seen.
//!
//! It binds the copy of CUPTI that the process has mapped, whatever its version, and never maps a second
//! one. What it cannot see it must not hide: every failing call, every sign of another CUPTI client and
//! every lost record becomes an error word or a count in the recording. And it must not be felt: it holds
//! no lock while calling CUPTI, steps aside when another client takes the stream of records, keeps quiet
//! in forked children, and lets no panic out.
//!
//! Layout: `ffi` holds everything unsafe, `recorder` the behaviour, `locate` which CUPTI to take,
//! `buffers` the memory lent to CUPTI, `options` the environment.
#![warn(missing_docs)]

mod buffers;
mod ffi;
mod locate;
mod options;
mod recorder;
#[cfg(test)]
mod tests;
