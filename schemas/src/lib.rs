//! kernrec-schemas.
