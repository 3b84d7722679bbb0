//! kernrec-cli.
