//! The program run before tests: the same as `kernrec fetch`.

use mimalloc::MiMalloc;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    kernrec_cli::ci_fetch_kernel_record()
}
