//! kernrec-fetch.
