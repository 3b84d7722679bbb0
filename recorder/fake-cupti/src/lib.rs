//! A CUPTI for tests: the activity functions the recorder uses, over launches that a test asks for.
//!
//! Built as a shared library and mapped under CUPTI's name; the recorder cannot tell the difference. It
//! keeps CUPTI's contracts (one pair of callbacks per process, a buffer per launching thread, no notice
//! of a takeover) and breaks others when told to. It is also the driver, as far as the recorder calls it.
//! Real CUPTI cannot be used on a machine without a driver: some versions crash.
#![warn(missing_docs)]

mod activity;
mod ffi;
mod knobs;
