//! The collector's program: the same as `kernrec publish`.

use mimalloc::MiMalloc;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    kernrec_cli::kernrec_publish()
}
