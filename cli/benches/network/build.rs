//! A record whose table and map are each about 5 MiB when compressed.

use kernrec_bench::Random;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Random names, which hardly compress: 100 hex digits each are 50 bytes.
const NAMES: usize = 100_000;

/// Writes recordings of one step and a map of one object; the same kernels in both.
pub(crate) fn write(root: &Path, number: u64) -> PathBuf {
    let folder = root.join(format!("build-{number}"));
    let job = folder.join("recordings/job");
    fs_err::create_dir_all(&job).unwrap();
    let mut random = Random::new(number);
    let mut names: Vec<String> = (0..NAMES).map(|_| name(&mut random)).collect();
    names.sort_unstable();
    let recording = format!(
        "# kernrec v1 backend=cuda recorder=cupti pid=7 ppid=1 exe=/bin/test\n{}\n\
         # end records={NAMES} unique={NAMES} dropped=0 errors=0 unresolved=0\n",
        names.join("\n")
    );
    fs_err::write(job.join("kern.7.txt"), recording).unwrap();
    let commit = commit(number);
    let sidecar = format!(
        r#"{{"step_key":"s","label":"s","job_id":"job","build":"{number}","commit":"{commit}","parallel_job":"",
            "parallel_job_count":"","exit_status":0,"host":"h","backend":"cuda","recorder":"cupti",
            "collection_available":true,"collection_error":null}}"#
    );
    fs_err::write(job.join("kernrec.json"), sidecar).unwrap();
    let map = format!(
        r#"{{"version":2,"backend":"cuda","commit":"{commit}","generated_at":"2030-01-01T00:00:00+00:00",
            "incomplete":false,"errors":[],"build_dirs":["build"],"objects":[{{"source":"src/a.cu","target":"t",
            "object":"a.o","device":true,"symbols":["{}"],"deps":["src/a.cu"]}}]}}"#,
        names.join("\",\"")
    );
    fs_err::write(folder.join("map.json"), map).unwrap();
    folder
}

/// `kernrec-publish` of a build that was written.
pub(crate) fn publisher(folder: &Path, number: u64, store: &str) -> Command {
    let mut command = Command::new(program(env!("CARGO_BIN_EXE_kernrec-publish")));
    command
        .args([
            "--store",
            store,
            "--bundles",
            "none",
            "--commit",
            &commit(number),
        ])
        .args(["--build", &number.to_string()])
        .arg("--recordings")
        .arg(folder.join("recordings"))
        .arg("--symbol-map")
        .arg(folder.join("map.json"));
    command
}

/// A program as it was built, or the one beside this benchmark, if both were carried to another machine.
pub(crate) fn program(built: &str) -> PathBuf {
    let built = PathBuf::from(built);
    let own = std::env::current_exe().unwrap();
    let beside = own.with_file_name(built.file_name().unwrap());
    if beside.is_file() { beside } else { built }
}

fn commit(number: u64) -> String {
    format!("{number:040x}")
}

fn name(random: &mut Random) -> String {
    let mut name = String::from("_Z");
    for _ in 0..13 {
        let _ = write!(name, "{:08x}", random.below(usize::MAX) & 0xffff_ffff);
    }
    name
}
