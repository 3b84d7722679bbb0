//! Two backends: every pair is read by itself, and the answers are joined without letting one pair's silence
//! speak for another.

use crate::common::{ask, cuda, kept, pair, ready, reason, row_of, table};
use kernrec_schemas::{Backend, RowBackend};
use kernrec_select::{Pair, Reason, Record};

fn rocm() -> Pair {
    pair(Backend::Rocm)
}

fn both(cuda: Pair, rocm: Pair) -> [Record; 2] {
    [ready(cuda), ready(rocm)]
}

#[test]
fn a_launch_on_either_backend_selects() {
    let mut amd = rocm();
    amd.table = table(Backend::Rocm, &[("idle", &["ka"]), ("runs-b", &["kb"])]);
    let report = ask(&both(cuda(), amd), &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "idle"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    let idle = report
        .selected
        .iter()
        .find(|step| step.step.as_str() == "idle")
        .unwrap();
    assert_eq!(
        idle.launched
            .iter()
            .map(|launch| launch.backend)
            .collect::<Vec<_>>(),
        [Backend::Rocm]
    );
}

#[test]
fn a_step_is_skipped_only_if_every_pair_with_a_row_lets_it_go() {
    let mut amd = rocm();
    row_of(&mut amd, "runs-b").passed = false;
    let report = ask(&both(cuda(), amd), &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::RowNotUsable);
    let verdicts: Vec<_> = kept(&report, "runs-b")
        .verdicts
        .iter()
        .map(|verdict| (verdict.backend, verdict.reason))
        .collect();
    assert_eq!(
        verdicts,
        [
            (Backend::Cuda, Reason::RowLaunchedNoneOfItsKernels),
            (Backend::Rocm, Reason::RowNotUsable)
        ]
    );
}

#[test]
fn a_pair_without_a_row_for_the_step_has_no_say() {
    let mut amd = rocm();
    amd.table = table(Backend::Rocm, &[("amd-only", &["ka"])]);
    amd.revoked = true;
    let report = ask(&both(cuda(), amd), &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    assert_eq!(
        report
            .skipped
            .iter()
            .find(|step| step.step.as_str() == "runs-b")
            .unwrap()
            .backends,
        [Backend::Cuda]
    );
}

#[test]
fn a_row_in_one_pair_only_is_judged_by_it_alone() {
    let mut amd = rocm();
    amd.table = table(Backend::Rocm, &[("amd-a", &["ka"]), ("amd-b", &["kb"])]);
    let report = ask(
        &both(
            Pair {
                revoked: true,
                ..cuda()
            },
            amd,
        ),
        &["a.cu"],
    );
    assert_eq!(
        reason(&report, "amd-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    assert_eq!(reason(&report, "runs-b"), Reason::RecordRevoked);
}

#[test]
fn a_row_of_no_known_backend_vetoes_and_one_of_the_other_backend_does_not() {
    let mut amd = rocm();
    row_of(&mut amd, "runs-b").backend = RowBackend::Unknown;
    let report = ask(&both(cuda(), amd.clone()), &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowAndMapFromDifferentBackends
    );
    row_of(&mut amd, "runs-b").backend = RowBackend::Known(Backend::Cuda);
    let report = ask(&both(cuda(), amd), &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
}

#[test]
fn pairs_are_never_joined_across_backends() {
    let mut amd = rocm();
    amd.maps[0].objects = vec![crate::common::object("b.cu", &["kb"], &[])];
    let report = ask(&both(cuda(), amd), &["a.cu"]);
    let classes: Vec<String> = report.files[0]
        .seen
        .iter()
        .map(|seen| seen.class.to_string())
        .collect();
    assert_eq!(classes, ["file-may-drop", "file-not-in-map"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::SelectedByAFileOutsideTheMap
    );
}

#[test]
fn the_first_doubt_of_all_pairs_is_named() {
    let stale = Pair {
        published_at: None,
        ..cuda()
    };
    let mut spoilt = rocm();
    row_of(&mut spoilt, "runs-b").passed = false;
    let report = ask(&both(stale, spoilt), &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::RowNotUsable);
}
