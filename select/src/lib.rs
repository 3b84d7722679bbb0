//! kernrec-select.
