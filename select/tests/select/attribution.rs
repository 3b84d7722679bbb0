//! What changed inside a file, from a repository to the decision.

use crate::common::git::World;
use crate::common::{DAY, ago, ask_about, kept, map, object, policy, ready, reason, table};
use kernrec_schemas::Backend;
use kernrec_select::{
    Assumes, Cause, Change, FileClass, GitSources, HostCode, Lineage, Moved, Pair, Placing,
    Question, Reason, Report, SharedSources, select,
};

const SOURCE: &str = "#include \"a.cuh\"\n\
    __global__ void one(float *p) { *p = helper(*p); }\n\
    __global__ void two(float *p) { *p = 2; }\n\
    __global__ void never(float *p) { *p = 3; }\n\
    void launch(float *p, int n) { if (n > 0) two<<<1, 1>>>(p); }\n\
    void away(float *p) { far_launch(p); }\n";

const HEADER: &str =
    "__device__ inline float helper(float v) { return v; }\nvoid far_launch(float *p);\n";

const FAR: &str = "#include \"a.cuh\"\n\
    __global__ void far(float *p) { *p = 4; }\n\
    void far_launch(float *p) { far<<<1, 1>>>(p); }\n";

const ROWS: [(&str, &[&str]); 4] = [
    ("runs-one", &["_Z3onePf"]),
    ("runs-two", &["_Z3twoPf"]),
    ("runs-far", &["_Z3farPf"]),
    ("idle", &[]),
];

fn pair() -> Pair {
    let objects = vec![
        object(
            "a.cu",
            &["_Z3onePf", "_Z3twoPf", "_Z5neverPf"],
            &["a.cuh", "/usr/include/math.h"],
        ),
        object("far.cu", &["_Z3farPf"], &["a.cuh"]),
    ];
    Pair {
        backend: Backend::Cuda,
        table: table(Backend::Cuda, &ROWS),
        maps: vec![map(Backend::Cuda, objects)],
        published_at: ago(DAY),
        revoked: false,
        unverified: None,
        lineage: Lineage::default(),
    }
}

fn world() -> World {
    World::of(&[
        ("a.cu", SOURCE.as_bytes()),
        ("a.cuh", HEADER.as_bytes()),
        ("far.cu", FAR.as_bytes()),
    ])
}

/// A world in which a text of a file was replaced.
fn edited(file: &str, from: &str, to: &str) -> World {
    let world = world();
    let text = fs_err::read_to_string(world.path(file)).unwrap();
    assert_eq!(text.matches(from).count(), 1);
    world.write(file, text.replace(from, to).as_bytes());
    world.commit();
    world
}

fn ask(world: &World, pair: Pair, host_code: HostCode) -> Report {
    let repo = world.repo();
    let diff = repo.diff(&"HEAD~1...HEAD".parse().unwrap()).unwrap();
    let sources = SharedSources::new(GitSources::open(&repo, &diff).unwrap());
    let question = Question {
        change: &Change::of_diff(&diff).unwrap(),
        steps: None,
        policy: policy(),
        placing: Placing::Kernel {
            sources: &sources,
            host_code,
        },
        libraries: None,
    };
    select(&[ready(pair)], &question).unwrap()
}

fn certain(world: &World) -> Report {
    ask(world, pair(), HostCode::Certain)
}

fn reasons(report: &Report) -> [Reason; 4] {
    ["runs-one", "runs-two", "runs-far", "idle"].map(|step| reason(report, step))
}

const LAUNCHED: Reason = Reason::RowLaunchedAKernelFromAChangedFile;
const SILENT: Reason = Reason::RowLaunchedNoneOfItsKernels;

#[test]
fn an_edited_kernel_selects_who_launched_it_and_lets_the_file_s_other_steps_go() {
    let report = certain(&edited("a.cu", "*p = 2;", "*p = 5;"));
    assert_eq!(reasons(&report), [SILENT, LAUNCHED, SILENT, SILENT]);
    assert_eq!(report.assumes, []);
    let seen = &report.files[0].seen[0];
    assert_eq!((seen.class, seen.kernels), (FileClass::FileMayDrop, 1));
    let attribution = seen.attribution.as_ref().unwrap();
    assert_eq!(attribution.word, "narrowed-to-changed-kernels");
    assert_eq!(attribution.unit_count, 2);
    assert_eq!(attribution.units[0].names, ["two"]);
    assert_eq!(
        (
            attribution.units[0].place.as_str(),
            attribution.units[1].place.as_str()
        ),
        ("base:3", "head:3")
    );
}

#[test]
fn a_header_s_helper_selects_who_launched_a_kernel_that_uses_it() {
    let report = certain(&edited("a.cuh", "return v;", "return -v;"));
    assert_eq!(reasons(&report), [LAUNCHED, SILENT, SILENT, SILENT]);
}

#[test]
fn host_code_that_may_not_launch_lets_nobody_go_unless_that_is_accepted() {
    let world = edited("a.cu", "n > 0", "n > 1");
    let report = certain(&world);
    let doubt = Reason::FileMayOnlySelect;
    assert_eq!(reasons(&report), [doubt, LAUNCHED, doubt, doubt]);
    let seen = &report.files[0].seen[0];
    assert_eq!(seen.causes, [Cause::HostCodeChanged]);
    assert_eq!(
        seen.attribution.as_ref().unwrap().doubts,
        ["may-return-without-launching"]
    );
    let report = ask(&world, pair(), HostCode::Reach);
    assert_eq!(reasons(&report), [SILENT, LAUNCHED, SILENT, SILENT]);
}

#[test]
fn host_code_selects_who_launched_another_file_s_kernel_through_it() {
    let report = certain(&edited(
        "a.cu",
        "{ far_launch(p); }",
        "{ far_launch(p + 1); }",
    ));
    assert_eq!(reasons(&report), [SILENT, SILENT, LAUNCHED, SILENT]);
}

#[test]
fn a_moved_file_on_the_way_to_another_file_s_kernel_lets_nobody_go() {
    let world = edited("a.cu", "{ far_launch(p); }", "{ far_launch(p + 1); }");
    let repo = world.repo();
    world.write("far.cu", b"int moved;\n");
    world.commit();
    let moved = repo
        .changed_files(&world.id("HEAD~1"), &world.id("HEAD"))
        .unwrap();
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let record = Pair {
        lineage: Lineage::Ancestor(Moved::of(&moved)),
        ..pair()
    };
    let report = ask(&world, record, HostCode::Certain);
    let stale = Reason::RecordStale;
    // All that could be meant still selects.
    assert_eq!(reasons(&report), [LAUNCHED, LAUNCHED, LAUNCHED, stale]);
}

#[test]
fn a_kernel_that_nobody_launched_lets_nobody_go() {
    let report = certain(&edited("a.cu", "*p = 3;", "*p = 6;"));
    assert_eq!(reasons(&report), [Reason::FileNeverObserved; 4]);
}

#[test]
fn what_cannot_be_placed_counts_for_the_whole_file_and_what_it_launches() {
    let report = certain(&edited(
        "a.cu",
        "#include \"a.cuh\"\n",
        "#include \"a.cuh\"\n#include <math.h>\n",
    ));
    assert_eq!(
        reasons(&report),
        [LAUNCHED, LAUNCHED, LAUNCHED, Reason::FileMayOnlySelect]
    );
    let attribution = report.files[0].seen[0].attribution.as_ref().unwrap();
    assert_eq!(attribution.word, "widened:preprocessor-line");
    assert_eq!(attribution.place.as_deref(), Some("head:2"));
}

#[test]
fn as_a_whole_the_answer_is_about_device_code() {
    let world = edited("a.cu", "n > 0", "n > 1");
    let report = ask_about(&[ready(pair())], &world.change().unwrap(), policy());
    assert_eq!(report.assumes, [Assumes::DeviceCode]);
    assert_eq!(reasons(&report), [LAUNCHED, LAUNCHED, SILENT, SILENT]);
}

#[test]
fn a_deleted_file_counts_whole_and_its_host_code_with_it() {
    let world = world();
    world.remove("a.cu");
    world.commit();
    let report = certain(&world);
    assert_eq!(kept(&report, "idle").reason, Reason::FileMayOnlySelect);
    assert_eq!(reasons(&report)[..3], [LAUNCHED; 3]);
}

#[test]
fn a_link_is_no_source() {
    let world = world();
    world.remove("a.cuh");
    std::os::unix::fs::symlink("other.cuh", world.path("a.cuh")).unwrap();
    world.commit();
    world.write(
        "a.cu",
        SOURCE
            .replace("*p = helper(*p);", "*p = helper(-*p);")
            .as_bytes(),
    );
    world.write(
        "far.cu",
        FAR.replace("{ far<<<1, 1>>>(p); }", "{ far<<<1, 2>>>(p); }")
            .as_bytes(),
    );
    world.commit();
    // A kernel's body needs nothing of the header.
    let report = certain(&world);
    assert_eq!(reason(&report, "runs-one"), LAUNCHED);
    assert_eq!(reason(&report, "runs-far"), LAUNCHED);
}
