//! The forwarded functions, and which of their calls matter.

use std::ffi::CStr;

use kernrec_cupti_watch::Event;

/// Activity kinds (CUPTI's `CUpti_ActivityKind`).
const KERNEL: u32 = 3;
const CONCURRENT_KERNEL: u32 = 10;
const GRAPH_TRACE: u32 = 51;
const DEVICE_GRAPH_TRACE: u32 = 53;

/// Attributes (`CUpti_ActivityAttribute`) that change how records are made for every client.
const USER_DEFINED_RECORDS: u32 = 11;
const MULTIPLE_SUBSCRIBER_STATE: u32 = 12;
const ENABLE_HES: u32 = 13;
const GRAPH_TRACE_LEVEL: u32 = 20;

/// How to tell from its arguments whether a call matters.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// Always.
    Always(Event),
    /// The activity kind is the argument of this number, enabled.
    Enables(usize),
    /// The activity kind is the argument of this number, disabled.
    Disables(usize),
    /// The attribute is the argument of this number.
    SetsAttribute(usize),
}

/// One forwarded function.
pub(crate) struct Call {
    pub(crate) name: &'static CStr,
    pub(crate) rule: Rule,
}

impl Call {
    /// What this call does to a recording, if anything.
    pub(crate) fn event(&self, arguments: [usize; 4]) -> Option<Event> {
        match self.rule {
            Rule::Always(event) => Some(event),
            Rule::Enables(at) => match low_half(arguments[at]) {
                GRAPH_TRACE | DEVICE_GRAPH_TRACE => Some(Event::GraphLevel),
                _ => None,
            },
            Rule::Disables(at) => match low_half(arguments[at]) {
                KERNEL | CONCURRENT_KERNEL => Some(Event::KernelsDisabled),
                _ => None,
            },
            Rule::SetsAttribute(at) => match low_half(arguments[at]) {
                USER_DEFINED_RECORDS
                | MULTIPLE_SUBSCRIBER_STATE
                | ENABLE_HES
                | GRAPH_TRACE_LEVEL => Some(Event::ModeChanged),
                _ => None,
            },
        }
    }
}

/// A 32-bit argument: the calling convention leaves the register's upper half undefined.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half is undefined"
)]
fn low_half(register: usize) -> u32 {
    register as u32
}
