//! The local folder: where things stand in it, who may work in it, what is removed from it.

pub(crate) mod expected;
pub(crate) mod prune;

mod folder;
mod layout;
mod lock;
mod staging;

pub(crate) use folder::{
    FolderState, inspect, is_stamped, is_untouched, read_file, read_record, stamp,
};
pub(crate) use layout::{HOLD, Layout, LinkState, RECORD, RecordId};
pub(crate) use lock::FolderLock;
pub(crate) use staging::Staging;
