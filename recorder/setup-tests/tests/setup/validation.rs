//! `scripts/validate-rocm.sh`: where there is nothing to validate it says so and leaves nothing; its verdicts are tried
//! against an imitation of the SDK, with a compiler that makes programs for that.

use crate::bench::{Bench, HOST, library, shell_status, text};
use crate::rocm::with_rocm;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HIP: &str = env!("CARGO_BIN_EXE_setup-fake-hip");

/// What the compiler makes of `known.cu`: the same acts and the same facts, done by the program that plays HIP.
const KNOWN: &str = r#"#!/bin/bash
names=(known_plain _Z11known_shapeILi2EEvPi _Z11known_shapeILi3EEvPi)
told=(0 0 0)
count() { for k in 0 1 2; do told[k]=$((told[k] + ($1 + 2 - k) / 3 * $2)); done; }
kernels='0 1 2' last=2
[ -z "$LOSES" ] || [ -z "$KERNREC_DIR" ] || { kernels='0 1' last=1; }
launches() { for k in $kernels; do echo "launch=${names[k]}*$((($1 + 2 - k) / 3 * $2))"; done; }
tell() {
    between='{' text=''
    for k in 0 1 2; do
        [ "${told[k]}" = 0 ] || { text+="$between\"${names[k]}\": ${told[k]}"; between=', '; }
    done
    echo "${text:-$between}}"
}
acts=(init)
for act; do
    IFS=, read -r first second <<<"${act#*=}"
    case "$act" in
    eager=*) acts+=($(launches "$first" 1)); count "$first" 1 ;;
    graph=* | threads=*)
        [[ $act = graph=* ]] || { n=$first first=$second second=$n; }
        acts+=($(launches "$first" "$second")); count "$first" "$second" ;;
    fork=*) for ((n = 0; n < first; n++)); do acts+=(fork-do=chdir=.); done ;;
    fork-gpu=*)
        for ((n = 0; n < first; n++)); do acts+=("fork-do=$(launches 30 1 | paste -sd ';');end=exit"); done
        count 30 "$first" ;;
    spawn=*)
        for ((n = 0; n < first; n++)); do acts+=("spawn=init;$(launches 30 1 | paste -sd ';')"); done
        count 30 "$first" ;;
    kill)
        tell
        [ -z "$KERNREC_DIR" ] || [ "${told[2]}" = 0 ] || acts+=("await=${names[last]}")
        exec "$FAKE_HIP" "${acts[@]}" end=kill ;;
    esac
done
tell
exec "$FAKE_HIP" "${acts[@]}"
"#;

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/validate-rocm.sh")
}

/// A folder as `scripts/cross-build.sh` makes it, as far as it is used.
fn dist(bench: &Bench) {
    let dist = bench.path("dist");
    fs_err::create_dir(&dist).unwrap();
    let program = dist.join("kernrec");
    if fs_err::hard_link(HOST, &program).is_err() {
        fs_err::copy(HOST, &program).unwrap();
    }
    let recorder = "libkernrec_rocprofiler.so";
    fs_err::copy(library(recorder), dist.join(recorder)).unwrap();
}

/// `hipcc`, which writes the program above where it is told to.
fn compiler(bench: &Bench) {
    let bin = bench.path("rocm/bin");
    fs_err::create_dir(&bin).unwrap();
    fs_err::write(bench.path("known"), KNOWN).unwrap();
    let script = "#!/bin/bash\n[ \"$1 $2\" = '-x hip' ] && grep -q '_Z11known_shapeILi3EEvPi' \"$5\" &&\n\
                  install \"$KNOWN\" \"$7\"\n";
    let path = bin.join("hipcc");
    fs_err::write(&path, script).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Started in the test's folder, where the one of the programs is.
fn validate(bench: &Bench) -> Command {
    let mut command = bench.command(script());
    command
        .args(["dist", "out"])
        .env("ROCM_PATH", bench.path("rocm"))
        .env_remove("KERNREC_LIB_DIR")
        .env_remove("BACKEND")
        // Some file that is there, so that it runs on every machine.
        .env("KFD", "/dev/null")
        .env("FAKE_HIP", HIP)
        .env("KNOWN", bench.path("known"));
    command
}

fn verdicts(output: &Output) -> String {
    let verdicts = text(&output.stdout);
    assert!(
        output.stderr.is_empty(),
        "{verdicts}{}",
        text(&output.stderr)
    );
    verdicts
}

#[test]
fn everything_as_expected() {
    let bench = with_rocm("librocprofiler-sdk.so");
    compiler(&bench);
    dist(&bench);
    let output = validate(&bench).output().unwrap();
    let verdicts = verdicts(&output);
    assert_eq!(shell_status(&output), 0, "{verdicts}");
    assert!(!verdicts.contains("NOT AS EXPECTED"), "{verdicts}");
    for question in [
        "its kernels by name and number",
        "every node of every graph replay",
        "16 threads at once",
        "forked children",
        "processes that it starts",
        "killed by SIGKILL",
        "... is idle",
        "not asked: programs of PyTorch",
        "12 questions, 0 not as expected",
    ] {
        assert!(verdicts.contains(question), "{question}\n{verdicts}");
    }
    let kept = fs_err::read_to_string(bench.path("out/verdicts.txt")).unwrap();
    assert_eq!(kept, verdicts);
}

/// One fault each, and the question that has to find it.
#[test]
fn what_is_not_as_expected_is_said() {
    for (name, value, question, problem) in [
        (
            "FAKE_ROCPROFILER",
            "no-finalize=1",
            "its kernels by name and number",
            "recordings ['no footer'], expected ['clean']",
        ),
        // A third of the kernels passes the recorder by.
        (
            "LOSES",
            "1",
            "16 threads at once",
            "missing: ['_Z11known_shapeILi3EEvPi']",
        ),
        (
            "LOSES",
            "1",
            "every node of every graph replay",
            "7000 records, 10000 launches",
        ),
    ] {
        let bench = with_rocm("librocprofiler-sdk.so");
        compiler(&bench);
        dist(&bench);
        let mut command = validate(&bench);
        let output = command.env(name, value).output().unwrap();
        let verdicts = verdicts(&output);
        assert_eq!(shell_status(&output), 1, "{verdicts}");
        let mut lines = verdicts.lines();
        let line = lines.find(|line| line.starts_with(question)).unwrap();
        assert!(line.contains("NOT AS EXPECTED"), "{verdicts}");
        let mut problems = lines.take_while(|line| line.starts_with("    "));
        assert!(problems.any(|line| line.contains(problem)), "{verdicts}");
    }
}

#[test]
fn where_there_is_nothing_to_validate_it_says_why() {
    let nothing = |command: &mut Command, why: &str| {
        let output = command.output().unwrap();
        assert_eq!(shell_status(&output), 3, "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(why), "{output:?}");
        assert!(output.stdout.is_empty());
    };
    let bench = with_rocm("librocprofiler-sdk.so");
    dist(&bench);
    let out = bench.path("out");
    let mut command = validate(&bench);
    nothing(
        command.env("KFD", bench.path("no-device")),
        "no AMD GPU here",
    );
    assert!(!out.exists());
    if !has_hip(&bench) {
        let mut command = validate(&bench);
        nothing(&mut command, "neither hipcc nor a PyTorch");
        assert!(!out.exists());
    }
    compiler(&bench);
    let mut command = validate(&bench);
    nothing(
        command.env("FAKE_ROCPROFILER", "version=10303"),
        "nothing can be recorded here: kernrec: rocprofiler-sdk-version: ",
    );
}

/// Whether this machine can use an AMD GPU by itself.
fn has_hip(bench: &Bench) -> bool {
    let script = "command -v hipcc || python3 -c 'import torch; assert torch.version.hip'";
    let mut command = bench.command("sh");
    let output = command.args(["-c", script]).output().unwrap();
    output.status.success()
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
