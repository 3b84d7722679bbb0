//! The umbrella program: every sub-command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernrec_cli::kernrec()
}
