//! What a record with a partial symbol map answers: the files behind an unreadable object may only select.

use crate::context::Context;
use crate::toolchain::{nvcc, run, tool};

/// Two kernels, one of whose objects is damaged after the build; the other's still holds.
fn damaged_build() -> Context {
    let context = Context::new();
    context.write("src/common.cuh", "#define N 2\n");
    context.write(
        "src/scale.cu",
        "#include \"common.cuh\"\n#include \"scale.cuh\"\n__global__ void scale(int *p) { *p = N * M; }\n",
    );
    context.write("src/scale.cuh", "#define M 2\n");
    context.write(
        "src/shift.cu",
        "#include \"common.cuh\"\n__global__ void shift(int *p) { *p = N; }\n",
    );
    context.write(
        "src/build/build.ninja",
        format!(
            "rule cuda\n  command = {} -arch=sm_80 -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n\
             build scale.o: cuda ../scale.cu\nbuild shift.o: cuda ../shift.cu\n",
            nvcc().display()
        ),
    );
    run(tool("ninja").arg("-C").arg(context.path("src/build")));
    let object = context.path("src/build/scale.o");
    let time = fs_err::metadata(&object).unwrap().modified().unwrap();
    fs_err::write(&object, "garbage").unwrap();
    let file = fs_err::OpenOptions::new()
        .append(true)
        .open(&object)
        .unwrap();
    file.file().set_modified(time).unwrap();
    context
}

fn record(context: &Context, job: &str, kernel: &str) {
    let sidecar = format!(
        r#"{{"step_key":"{job}","label":"","job_id":"{job}","build":"1","commit":"c0de","parallel_job":"",
 "parallel_job_count":"","exit_status":0,"host":"n1","backend":"cuda","recorder":"cupti",
 "collection_available":true,"collection_error":null}}"#
    );
    context.write(&format!("jobs/{job}/kernrec.json"), sidecar);
    let recording = format!(
        "# kernrec v1 backend=cuda recorder=cupti pid=1 ppid=0 exe=/bin/t\n{kernel}\n\
         # end records=1 unique=1 dropped=0 errors=0 unresolved=0\n"
    );
    context.write(&format!("jobs/{job}/kern.1.txt"), recording);
}

#[test]
fn files_behind_an_unreadable_object_keep_every_step() {
    let context = damaged_build();
    let mut command = context.command();
    command.args(["symbol-map", "--backend", "cuda", "--partial"]);
    command.args(["--build-root", "src/build", "--source-root", "src"]);
    command.args(["--commit", "c0de", "--out", "map.json"]);
    let ran = context.run(command.args(["--recorded-at", "2030-01-01T00:00:00Z"]));
    assert_eq!(ran.status, 0, "{ran}");
    record(&context, "scales", "_Z5scalePi");
    record(&context, "shifts", "_Z5shiftPi");
    let mut command = context.command();
    command.args([
        "publish", "--store", "store", "--commit", "c0de", "--build", "1",
    ]);
    let ran = context.run(command.args(["--recordings", "jobs", "--symbol-map", "map.json"]));
    assert_eq!(ran.status, 0, "{ran}");
    let ran = context.kernrec(["fetch", "--url", "store", "--backend", "cuda"]);
    assert_eq!(ran.status, 0, "{ran}");

    let select = |file| {
        let data = ["select", "--data", "coverage-data", "--format", "keys"];
        context.run(context.command().args(data).args(["--changed-file", file]))
    };
    // Read whole: it alone decides.
    let ran = select("shift.cu");
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, "[\"shifts\"]\n"),
        "{ran}"
    );
    for file in ["scale.cu", "scale.cuh", "common.cuh"] {
        let ran = select(file);
        assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{file}: {ran}");
    }
}
