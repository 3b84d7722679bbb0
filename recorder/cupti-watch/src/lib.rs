//! What the forwarders tell the recorder: acts of other CUPTI clients that end or bend a recording.
//!
//! The forwarders are preloaded into the process, the recorder is loaded by the CUDA driver; they meet
//! through the one C symbol [`ATTACH_SYMBOL`], whose type is [`Attach`]. Both are built from the same
//! sources; [`PROTOCOL`] guards against a mixed installation.
#![warn(missing_docs)]

use std::ffi::CStr;

/// Version of this interface.
pub const PROTOCOL: u32 = 1;

/// The forwarders' C symbol the recorder looks for.
pub const ATTACH_SYMBOL: &CStr = c"kernrec_cupti_forwarders_attach";

/// The recorder's side: `(event, phase, status)`. `status` is the other client's `CUptiResult`, 0 before.
pub type Hook = unsafe extern "C" fn(event: u32, phase: u32, status: i32);

/// The forwarders' side: takes the protocol version and the hook, and returns a bit per [`Event`] that
/// happened before; [`REFUSED`] when the versions differ.
pub type Attach = unsafe extern "C" fn(protocol: u32, hook: Hook) -> u64;

/// The answer of forwarders that speak another protocol.
pub const REFUSED: u64 = u64::MAX;

/// [`Hook`] event that is no [`Event`]: the process is about to end through `_exit`, which runs no exit
/// handler. Reported before the call only.
pub const EXITING: u32 = u32::MAX;

/// [`Hook`] phase: the call is about to be forwarded.
pub const BEFORE: u32 = 0;
/// [`Hook`] phase: the call returned.
pub const AFTER: u32 = 1;

/// An act of another client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Event {
    /// It registered its own buffer callbacks: ours receive nothing from then on.
    CallbacksTaken = 0,
    /// It disabled the kernel activity.
    KernelsDisabled = 1,
    /// It enabled one record per graph: records of graph nodes stop for the whole process.
    GraphLevel = 2,
    /// It finalised CUPTI.
    Finalized = 3,
    /// It read the drop counter, which resets it.
    DropsRead = 4,
    /// It subscribed through the newer interface, or changed how records are made for everyone.
    ModeChanged = 5,
    /// It subscribed to API callbacks: harmless to a recording, noted for people.
    Subscribed = 6,
}

impl Event {
    /// Every event, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::CallbacksTaken,
        Self::KernelsDisabled,
        Self::GraphLevel,
        Self::Finalized,
        Self::DropsRead,
        Self::ModeChanged,
        Self::Subscribed,
    ];

    /// Its bit in the mask of events that happened.
    pub fn bit(self) -> u64 {
        1 << (self as u32)
    }

    /// The event of a number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|event| *event as u32 == number)
    }

    /// The error word it puts into a recording; `None` where it does no harm.
    pub fn error_word(self) -> Option<&'static str> {
        match self {
            Self::CallbacksTaken => Some("another-client-took-callbacks"),
            Self::KernelsDisabled => Some("another-client-disabled-kernels"),
            Self::GraphLevel => Some("another-client-enabled-graph-level"),
            Self::Finalized => Some("another-client-finalized"),
            Self::DropsRead => Some("another-client-read-drop-count"),
            Self::ModeChanged => Some("another-client-changed-mode"),
            Self::Subscribed => None,
        }
    }

    /// Whether records stop reaching our callbacks with it, so that CUPTI's buffers must come back to us
    /// before, and are not ours to ask for after.
    pub fn takes_the_stream(self) -> bool {
        match self {
            Self::CallbacksTaken | Self::Finalized => true,
            Self::KernelsDisabled
            | Self::GraphLevel
            | Self::DropsRead
            | Self::ModeChanged
            | Self::Subscribed => false,
        }
    }
}
