//! What moved between the record and the change: whose silence still counts.

use crate::common::git::World;
use crate::common::{ask, commit, cuda, ready, reason};
use kernrec_schemas::Commit;
use kernrec_select::{Lineage, Pair, Reason, RecordState, Report, Steps};

/// The record of `runs-a`, `runs-b` and `idle`, made at the first commit of a repository.
fn world() -> World {
    World::of(&[
        ("a.cu", b"a"),
        ("a.cuh", b"a"),
        ("b.cu", b"b"),
        ("b.cuh", b"b"),
        ("README.md", b"text"),
    ])
}

fn pair_at(world: &World, record: &str, base: &str) -> Pair {
    let mut pair = cuda();
    let recorded = Commit::new(world.id(record).to_string()).unwrap();
    pair.lineage = Lineage::between(&world.repo(), Some(&recorded), &world.id(base));
    pair
}

fn answer(world: &World, files: &[&str]) -> Report {
    ask(&[ready(pair_at(world, "main", "HEAD"))], files)
}

/// After this change since the record, what becomes of a step that launched nothing of `a.cu`?
fn after(name: &str) -> Reason {
    let world = world();
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.write(name, b"moved");
    world.commit();
    reason(&answer(&world, &["a.cu"]), "runs-b")
}

#[test]
fn a_file_that_moved_or_was_compiled_with_one_that_did_holds_its_steps() {
    assert_eq!(after("a.cu"), Reason::RecordStale);
    assert_eq!(after("a.cuh"), Reason::RecordStale);
    assert_eq!(after("b.cu"), Reason::RowLaunchedNoneOfItsKernels);
    assert_eq!(after("README.md"), Reason::RowLaunchedNoneOfItsKernels);
    assert_eq!(after("new.cu"), Reason::RowLaunchedNoneOfItsKernels);
}

#[test]
fn what_moved_still_selects() {
    let world = world();
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.write("a.cu", b"moved");
    world.commit();
    let report = answer(&world, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert!(report.files[0].seen[0].moved);
    assert_eq!(report.kept[0].verdicts[0].files, ["a.cu"]);
}

#[test]
fn only_the_files_that_propose_a_step_can_have_moved_for_it() {
    let world = world();
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.write("a.cu", b"moved");
    world.commit();
    let steps = Steps::parse(
        "s",
        "[{key: idle, paths: b.cu}, {key: runs-b, paths: a.cu}]",
    )
    .unwrap();
    let change = kernrec_select::Change::of_files(["a.cu", "b.cu"]).unwrap();
    let question = kernrec_select::Question {
        change: &change,
        steps: Some(&steps),
        policy: crate::common::policy(),
        placing: kernrec_select::Placing::File,
        libraries: None,
    };
    let records = [ready(pair_at(&world, "main", "HEAD"))];
    let report = kernrec_select::select(&records, &question).unwrap();
    assert_eq!(reason(&report, "idle"), Reason::RowLaunchedNoneOfItsKernels);
}

#[test]
fn a_folder_that_became_another_moves_all_below_it() {
    let world = world();
    world.git(&["checkout", "-q", "-b", "topic"]);
    std::os::unix::fs::symlink("elsewhere", world.path("lib")).unwrap();
    world.commit();
    let mut pair = pair_at(&world, "main", "HEAD");
    pair.maps[0].objects[0].deps.push("./lib/x.h".into());
    let report = ask(&[ready(pair)], &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::RecordStale);
}

#[test]
fn a_record_that_is_no_ancestor_only_adds_and_says_why() {
    let world = world();
    world.git(&["checkout", "-q", "-b", "topic"]);
    world.commit();
    let absent = commit("f00d");
    let lineages = [
        (
            pair_at(&world, "topic", "main").lineage,
            "record-not-an-ancestor",
        ),
        (
            Lineage::between(&world.repo(), Some(&absent), &world.id("main")),
            "revision-unknown",
        ),
        (
            Lineage::between(&world.repo(), None, &world.id("main")),
            "record-without-commit",
        ),
    ];
    for (lineage, word) in lineages {
        let mut pair = cuda();
        pair.lineage = lineage;
        let report = ask(&[ready(pair)], &["a.cu"]);
        assert!(report.everything_must_run);
        assert_eq!(reason(&report, "runs-b"), Reason::RecordStale);
        assert_eq!(
            reason(&report, "runs-a"),
            Reason::RowLaunchedAKernelFromAChangedFile
        );
        let RecordState::Ready {
            limits, problems, ..
        } = &report.records[0].state
        else {
            panic!("it is ready");
        };
        assert_eq!(limits, &[Reason::RecordStale]);
        assert_eq!(problems[0].reason, word);
    }
}

#[test]
fn the_record_may_be_of_the_base_itself() {
    let world = world();
    let report = answer(&world, &["a.cu"]);
    assert_eq!(report.counts.skipped, 2);
    // A record that nobody asked a repository about is judged by its age alone.
    assert_eq!(ask(&[ready(cuda())], &["a.cu"]).counts.skipped, 2);
}

#[test]
fn a_record_without_the_required_signature_only_adds() {
    let mut pair = cuda();
    pair.unverified = Some("it was installed without a verified signature".to_owned());
    let report = ask(&[ready(pair)], &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::RecordUnverified);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
}
