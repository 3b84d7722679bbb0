//! The program run before tests: the same as `kernrec fetch`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernrec_cli::ci_fetch_kernel_record()
}
