//! The existing system's layout: one folder per commit with a gzip file for each half, and `latest[.rocm].json`.
//!
//! ```text
//! <pipeline>/kernrec/<commit>/kernel_table[.rocm].json.gz
//! <pipeline>/kernrec/<commit>/kernel_symbol_map[.rocm].json.gz
//! <pipeline>/kernrec/latest[.rocm].json
//! ```
//!
//! Its pointer names a commit and vouches for nothing, so a record found here is given the manifest it lacks:
//! [`Pair::manifest`] is made from what the two files hold, and the same files always give the same one. What we
//! publish in this layout has digests in its pointer, and is moved by compare-and-swap like the native one.

mod names;
mod pair;
mod pointer;
mod put;
mod served;

pub use names::{Half, Place, file_name, pointer_name};
pub use pair::{Names, Pair, manifest, read_pair};
pub use pointer::{Seen, VersionedUpstream, read_pointer, swap_pointer};
pub use put::{PutPair, put_pair, remove_pair, taken};
pub use served::ServedPair;
