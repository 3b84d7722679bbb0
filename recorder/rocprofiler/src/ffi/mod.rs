//! Everything unsafe: the C entry points, the SDK's functions, structures and records, the loader.
#![expect(
    unsafe_code,
    reason = "an injection library is C on both sides; each block says why it holds"
)]

pub(crate) mod abi;
mod entry;
mod loader;
pub(crate) mod records;
pub(crate) mod sdk;
pub(crate) mod thread;

pub(crate) use loader::pin;

/// The reference behind a pointer to something that is never freed; `None` for null.
pub(crate) fn shared_reference<T>(pointer: *mut T) -> Option<&'static T> {
    // SAFETY: null or from a leaked box, as the name of this function asks.
    unsafe { pointer.as_ref() }
}
