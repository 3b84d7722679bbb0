//! The versions of the SDK that this recorder was validated with, and how each lays out what it hands over.
//!
//! Any other version is refused: its records may be laid out differently, and a kernel read from a wrong
//! place is worse than none. A new version is a row here once its layout was checked.

use std::mem::offset_of;

use crate::ffi::abi::{DispatchRecord, SymbolPayload};

/// One validated version.
#[derive(Debug)]
pub(crate) struct Validated {
    /// `10000 * major + 100 * minor + patch`, as the SDK passes it.
    pub(crate) version: u32,
    pub(crate) layout: Layout,
}

/// Sizes and offsets in bytes. Structures only ever grow at their end, so a longer one is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) dispatch_bytes: u64,
    pub(crate) dispatch_kernel_id: usize,
    pub(crate) dispatch_id: usize,
    pub(crate) symbol_bytes: u64,
    pub(crate) symbol_kernel_id: usize,
    pub(crate) symbol_name: usize,
}

/// Of every header from 1.0.0 to the newest seen; the newest appends a field to the dispatch record.
const SINCE_1_0: Layout = Layout {
    dispatch_bytes: size_of::<DispatchRecord>() as u64,
    dispatch_kernel_id: offset_of!(DispatchRecord, kernel_id),
    dispatch_id: offset_of!(DispatchRecord, dispatch_id),
    symbol_bytes: size_of::<SymbolPayload>() as u64,
    symbol_kernel_id: offset_of!(SymbolPayload, kernel_id),
    symbol_name: offset_of!(SymbolPayload, kernel_name),
};

const VALIDATED: [Validated; 1] = [Validated {
    version: 10_302,
    layout: SINCE_1_0,
}];

/// The row of a version.
pub(crate) fn validated(version: u32) -> Option<&'static Validated> {
    VALIDATED.iter().find(|row| row.version == version)
}
