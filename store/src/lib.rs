//! kernrec-store.
