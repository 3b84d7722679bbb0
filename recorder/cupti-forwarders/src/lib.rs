//! `libkernrec_cupti_forwarders.so`, named in `LD_PRELOAD`: sees other clients' calls into CUPTI.
//!
//! CUPTI has one pair of buffer callbacks per process and tells nobody when another client replaces it.
//! So this library exports the few CUPTI functions with which a client can take, stop or bend the stream
//! of kernel records, notes the call, tells the recorder if there is one, and passes the call on with its
//! arguments untouched. It does nothing else: no constructor, no thread, no file, no cost in a process
//! that does not use CUPTI and none per kernel in one that does.
//!
//! It sees every client that is *linked* against CUPTI (PyTorch's profiler), since the loader searches
//! preloaded libraries first. It does not see a client that asks `dlsym` on CUPTI's own handle (JAX,
//! Triton's profiler); for those the recorder proves at the end that its callbacks are still its own.
//!
//! It also sees `_exit`, with which Python ends every forked worker: no exit handler runs then, and without
//! notice the recorder could not finish.
#![warn(missing_docs)]

mod calls;
mod exit;
mod ffi;
