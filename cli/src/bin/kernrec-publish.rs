//! The collector's program: the same as `kernrec publish`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernrec_cli::kernrec_publish()
}
