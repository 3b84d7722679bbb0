//! kernrec-publish.
