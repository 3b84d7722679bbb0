//! The demonstration of the README that goes from a pipeline to a selection, run literally.

use crate::bench::{DRIVER, HOST, libraries, library, text};
use std::path::Path;
use std::process::Command;

const HIP: &str = env!("CARGO_BIN_EXE_setup-fake-hip");
/// Set to write what the demonstration says into the README instead of comparing.
const UPDATE: &str = "KERNREC_UPDATE_DOCS";
const START: &str = "```text\n$ scripts/pipeline-demo.sh\n";

#[test]
fn from_a_pipeline_to_a_selection() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let programs = tempfile::tempdir().unwrap();
    let fakes = ["libkernrec_fake_cupti.so", "libkernrec_fake_rocprofiler.so"];
    let programs_of_users = [
        ("kernrec", HOST.into()),
        ("fake-driver", DRIVER.into()),
        ("fake-hip", HIP.into()),
    ];
    let fakes = fakes.map(|name| (name, library(name)));
    for (name, path) in programs_of_users.into_iter().chain(fakes) {
        fs_err::os::unix::fs::symlink(path, programs.path().join(name)).unwrap();
    }
    let output = Command::new(repository.join("scripts/pipeline-demo.sh"))
        .env("KERNREC_DEMO_PROGRAMS", programs.path())
        .env("KERNREC_LIB_DIR", libraries())
        .output()
        .unwrap();
    let (said, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}\n{stderr}");
    let path = repository.join("README.md");
    let page = fs_err::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).expect("the README has it");
    let (written, after) = rest.split_once("```").unwrap();
    if std::env::var_os(UPDATE).is_some() {
        fs_err::write(&path, format!("{before}{START}{said}```{after}")).unwrap();
        return;
    }
    assert_eq!(written, said, "run with {UPDATE}=1 and read the change");
}
