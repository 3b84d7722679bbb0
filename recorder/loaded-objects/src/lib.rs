//! What the dynamic loader has mapped into this process.
//!
//! The injection libraries need three facts that `dlsym(RTLD_NEXT)` cannot give, since Python loads its
//! extensions with local scope: is a library mapped and from where, who else is linked against it, and
//! which object an address belongs to. All three come from the loader's own list.
#![warn(missing_docs)]

mod ffi;
mod object;

pub use ffi::for_each;
pub use object::Object;
