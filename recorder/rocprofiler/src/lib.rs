//! `libkernrec_rocprofiler.so`: records which kernels a process runs on AMD GPUs.
//!
//! The ROCProfiler SDK loads it through `ROCP_TOOL_LIBRARIES` and calls `rocprofiler_configure`. The
//! recorder then has the SDK record each kernel dispatch, graph replays included, and name each kernel
//! when its code object is loaded; it writes the name of each dispatched kernel once.
//!
//! - **Versions.** Only those in `versions` are accepted, since the records' layout is theirs. Any other: an
//!   error word, and the recorder is out of the way. No header of the SDK is used and no library linked; the
//!   functions come from the copy of the SDK that called.
//! - **Callbacks** look up and count under a lock that is never held across I/O; a thread writes the file,
//!   another has the SDK hand over its records every `KERNREC_FLUSH_MS`. The buffer is the lossless kind: the
//!   SDK waits for room rather than lose a record.
//! - **Activity.** `# gpu_active` is written and checked inside the first call back about loaded code, before the
//!   process can dispatch a kernel of it. So a recording without it, however its process ended, is that of a
//!   process that ran no kernel. If it cannot be written the file is emptied, which no reader takes for idle.
//! - **Completeness.** Dispatches are numbered by the SDK; at the end every number up to the highest must have
//!   come once. Lost records at the very end of the numbers, which the SDK would have had to lose without
//!   counting them, cannot be seen; nor kernels of exit handlers that were registered before the runtime started,
//!   since the SDK has ended by then; nor dispatches that pass the SDK by, or that it misses for a moment while a
//!   further tool attaches to a running process.
//! - **Forked children.** Where the SDK reaches a child (loaded code, records, its exit with records left), the child
//!   gets a recording of its own that says `forked=1` and `fork_after_sdk_init`: its names count, it is never
//!   clean. A child that the SDK does not reach leaves no file, like one that forks after CUDA started. That is
//!   sound because a GPU cannot be used in a child through what its parent started: the driver unmaps it. A
//!   child that starts the GPU itself loads code, and is marked there and then. A child that exits regularly
//!   while records of its parent are in the inherited buffer is marked too; they are not told from its own. The
//!   SDK such a child inherited may hang in a flush; its exit waits five seconds at most.
//! - **Memory.** 34 MiB in the SDK for the buffer (two halves of 1 MiB, 17 bytes for each of theirs). Here at most
//!   41 MiB for 917,504 kernels; 288 MiB for a million names of registered kernels and as much for dispatched ones;
//!   512 KiB for dispatches that wait for an earlier one. What does not fit is an error word. See
//!   `docs/performance.md` for what real numbers of kernels take.
//!
//! # Error words
//!
//! | word | when |
//! | --- | --- |
//! | `unsupported_sdk_version` | the SDK that called is not in `versions` |
//! | `sdk_not_found` | the library that called has not the SDK's functions |
//! | `several_sdk_copies` | a second SDK in the process called too: what runs under it is not seen |
//! | `another_profiler_registered_first` | another tool was there first; both record |
//! | `fork_after_sdk_init` | the recording of a forked child, see above |
//! | `create_context_failed`, `symbol_tracing_failed`, `create_buffer_failed`, `callback_thread_failed`, `dispatch_tracing_failed`, `start_context_failed` | a step of the start failed, and nothing is traced |
//! | `writer_thread_failed`, `periodic_flush_thread_failed` | no thread could be had, or it ended; everything is written at the end |
//! | `periodic_flush_failed`, `final_flush_failed` | the SDK refused to hand records over, or hung in a forked child |
//! | `invalid_kernel_symbol`, `invalid_kernel_name`, `conflicting_kernel_symbol` | a kernel without name or number, with a name that no recording can hold, or with two |
//! | `missing_buffer_headers`, `invalid_dispatch_header`, `short_dispatch_record`, `invalid_dispatch_id` | a record that is not one |
//! | `repeated_dispatch_id`, `dispatch_records_lost` | the numbers of the dispatches are not 1 to the highest, once each; less those that the SDK counts as lost |
//! | `scattered_dispatch_ids`, `set-capacity`, `set-allocation`, `name-allocation` | a limit was reached, or there was no memory |
//! | `drop_counter_regressed` | the SDK's count of lost records fell |
//! | `activity-after-end` | code or kernels came after the footer |
//! | `write-failed` | the disk was full, or the file gone |
//! | `symbol_callback_exception`, `dispatch_callback_exception`, `panic` | the recorder met something it did not foresee |
//!
//! A line `# status …` before a word has the SDK's number, or how many records are missing.
//!
//! Layout: `ffi` holds everything unsafe, `recorder` the behaviour, `kernels` what the callbacks know,
//! `dispatch_ids` the proof of completeness, `versions` the SDKs it works with, `options` the environment.
#![warn(missing_docs)]

mod dispatch_ids;
mod ffi;
mod kernels;
mod options;
mod recorder;
#[cfg(test)]
mod tests;
mod versions;
