//! `scripts/validate-rocm.sh` where there is nothing to validate: it says so, and leaves nothing.

use crate::bench::{Bench, shell_status, text};
use std::path::{Path, PathBuf};

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/validate-rocm.sh")
}

#[test]
fn without_an_amd_gpu_it_is_not_run() {
    if Path::new("/dev/kfd").exists() {
        // Such a machine is what the script is for.
        return;
    }
    let bench = Bench::new();
    let dist = bench.path("dist");
    fs_err::create_dir(&dist).unwrap();
    fs_err::os::unix::fs::symlink(crate::bench::HOST, dist.join("kernrec")).unwrap();
    let out = bench.path("out");
    let output = bench
        .command(script())
        .args([&dist, &out])
        .output()
        .unwrap();
    assert_eq!(shell_status(&output), 3, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("no AMD GPU here"));
    assert!(!out.exists());
}

#[test]
fn wrong_arguments_are_told() {
    let bench = Bench::new();
    let there = bench.path(".");
    for args in [&[][..], &[Path::new("nowhere"), &there]] {
        let output = bench.command(script()).args(args).output().unwrap();
        assert_eq!(shell_status(&output), 2, "{}", text(&output.stderr));
    }
}
