//! `kernrec` as users have it, in this package so that its tests find it.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernrec_cli::kernrec()
}
