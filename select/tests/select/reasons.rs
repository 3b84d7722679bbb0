//! Each reason with the nearest case in which it does not hold. In every record `runs-a` launched the kernel of
//! `a.cu`, `runs-b` that of `b.cu`, and without the change under test `runs-b` may be skipped for `a.cu`.

use crate::common::{
    DAY, ago, ask, ask_about, ask_one, cuda, kept, kernel, now, pair, ready, reason, row_of, step,
    table, unavailable,
};
use kernrec_schemas::table::{RowFault, RowReason};
use kernrec_schemas::{Backend, RowBackend, Variant};
use kernrec_select::{Cause, Change, Fate, Pair, Policy, Question, Reason, Report, render, select};
use std::time::Duration;

fn reason_b(pair: Pair) -> Reason {
    reason(&ask_one(pair, &["a.cu"]), "runs-b")
}

#[test]
fn a_healthy_row_that_launched_none_of_the_kernels_may_be_skipped() {
    let report = ask_one(cuda(), &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    assert_eq!(reason(&report, "idle"), Reason::RowLaunchedNoneOfItsKernels);
    assert_eq!(render::keys(&report).unwrap(), "[\"runs-a\"]\n");
}

#[test]
fn every_changed_file_proposes_every_step() {
    let report = ask_one(cuda(), &["a.cu", "b.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(reason(&report, "idle"), Reason::RowLaunchedNoneOfItsKernels);
}

#[test]
fn a_row_of_another_backend_is_kept_and_not_joined() {
    let mut pair = cuda();
    for key in ["runs-a", "runs-b"] {
        row_of(&mut pair, key).backend = RowBackend::Known(Backend::Rocm);
    }
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowAndMapFromDifferentBackends
    );
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowAndMapFromDifferentBackends
    );
    assert!(report.selected.is_empty());
}

#[test]
fn a_row_of_no_known_backend_is_kept_and_still_selects() {
    let mut pair = cuda();
    for key in ["runs-a", "runs-b"] {
        row_of(&mut pair, key).backend = RowBackend::Unknown;
    }
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowAndMapFromDifferentBackends
    );
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
}

#[test]
fn a_launch_selects_before_any_doubt_is_asked() {
    let mut pair = cuda();
    let row = row_of(&mut pair, "runs-a");
    row.passed = false;
    row.reasons.insert(RowReason::NoFooter);
    pair.published_at = None;
    pair.revoked = true;
    pair.maps[0].incomplete = true;
    let report = ask(
        &[ready(pair), unavailable(Backend::Rocm)],
        &["a.cu", "outside.cu"],
    );
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
}

#[test]
fn one_file_outside_the_map_keeps_every_step_but_the_selected() {
    let report = ask_one(cuda(), &["a.cu", "outside.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::SelectedByAFileOutsideTheMap
    );
    assert_eq!(kept(&report, "runs-b").verdicts[0].files, ["outside.cu"]);
    assert!(report.everything_must_run);
}

#[test]
fn a_file_that_may_only_select_keeps_every_step_but_the_selected() {
    let mut pair = cuda();
    pair.maps[0]
        .objects
        .push(crate::common::object("main.cpp", &[], &["a.cuh"]));
    let report = ask_one(pair.clone(), &["a.cuh"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(reason(&report, "runs-b"), Reason::FileMayOnlySelect);
    assert_eq!(reason_b(pair), Reason::RowLaunchedNoneOfItsKernels);
}

#[test]
fn a_file_never_observed_keeps_every_step() {
    let mut pair = cuda();
    pair.maps[0]
        .objects
        .push(crate::common::object("c.cu", &["kc"], &[]));
    let report = ask_one(pair.clone(), &["c.cu"]);
    assert!(
        report
            .kept
            .iter()
            .all(|step| step.reason == Reason::FileNeverObserved)
    );
    assert_eq!(report.counts.kept, 3);
    let report = ask_one(pair, &["a.cu", "c.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::FileNeverObserved,
        "an observed file beside it changes nothing"
    );
}

#[test]
fn each_fault_of_a_row_keeps_its_step_and_no_other() {
    type Spoil = fn(&mut kernrec_schemas::table::Row);
    let faults: [(RowReason, Spoil); 6] = [
        (RowReason::NotPassed, |row| row.passed = false),
        (RowReason::ShardsIncomplete, |row| row.complete = false),
        (RowReason::Dropped, |row| row.dropped = 1),
        (RowReason::TraceIncomplete, |row| row.trace_complete = false),
        (RowReason::IdleOnly, |row| {
            row.reasons = [RowReason::IdleOnly].into();
        }),
        (RowReason::MalformedRow, |row| row.kernels = vec![1, 99]),
    ];
    for (word, spoil) in faults {
        let mut pair = cuda();
        spoil(row_of(&mut pair, "runs-b"));
        let report = ask_one(pair, &["a.cu"]);
        assert_eq!(reason(&report, "runs-b"), Reason::RowNotUsable, "{word}");
        assert_eq!(kept(&report, "runs-b").verdicts[0].row_reasons, [word]);
        assert_eq!(reason(&report, "idle"), Reason::RowLaunchedNoneOfItsKernels);
    }
}

#[test]
fn a_row_needs_a_map_of_each_variant_it_ran_in() {
    let variant = |name: &str| Variant::new(name).unwrap();
    let mut pair = cuda();
    row_of(&mut pair, "runs-b").variants = [variant("cu12")].into();
    assert_eq!(reason_b(pair.clone()), Reason::RowNotUsable);
    let mut second = pair.maps[0].clone();
    second.variant = variant("cu12");
    pair.maps.push(second);
    assert_eq!(reason_b(pair.clone()), Reason::RowLaunchedNoneOfItsKernels);
    pair.maps.remove(0);
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "idle"),
        Reason::RowNotUsable,
        "it ran in the default variant"
    );
    assert_eq!(
        kept(&report, "idle").verdicts[0].row_reasons,
        [RowReason::VariantWithoutMap]
    );
}

#[test]
fn the_objects_of_all_variants_are_united() {
    let mut pair = cuda();
    let mut second = pair.maps[0].clone();
    second.variant = Variant::new("cu12").unwrap();
    second.objects = vec![crate::common::object("a.cu", &["kb"], &[])];
    pair.maps.push(second);
    assert_eq!(reason_b(pair), Reason::RowLaunchedAKernelFromAChangedFile);
}

#[test]
fn a_version_2_table_selects_and_never_drops() {
    let document = br#"{"version":2,"source":{"build":1,"commit":"c0de","recorded_at":"2030-01-01T00:00:00Z"},
        "names":["ka","kb"],"rows":{
        "runs-a":{"jobs":1,"passed":true,"complete":true,"processes":1,"dropped":0,"kernels":[0]},
        "runs-b":{"jobs":1,"passed":true,"complete":true,"processes":1,"dropped":0,"kernels":[1]}}}"#;
    let mut pair = cuda();
    pair.table = kernrec_schemas::table::KernelTable::parse(document).unwrap();
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        kept(&report, "runs-b").verdicts[0].row_reasons,
        [RowReason::LegacyTable]
    );
}

#[test]
fn a_row_set_aside_while_loading_can_only_select() {
    let document =
        br#"{"version":3,"source":{"build":1,"commit":"c0de","recorded_at":"2030-01-01T00:00:00Z"},
        "names":["ka","kb"],"rows":{
        "runs-a":{"kernels":[0],"passed":"yes"},
        "runs-b":{"kernels":[1,7]},
        "idle":{"jobs":1,"passed":true,"complete":true,"processes":1,"dropped":0,"kernels":[],
                "backend":"cuda","trace_complete":true}}}"#;
    let mut pair = cuda();
    pair.table = kernrec_schemas::table::KernelTable::parse(document).unwrap();
    assert_eq!(pair.table.faults.len(), 2);
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(reason(&report, "runs-b").fate(), Fate::Kept);
    assert_eq!(reason(&report, "idle"), Reason::RowLaunchedNoneOfItsKernels);
}

#[test]
fn a_row_that_is_nowhere_else_is_still_reported() {
    let mut pair = cuda();
    pair.table.faults.push(RowFault {
        key: "bad\u{7}key".to_owned(),
        problem: "is no step key".to_owned(),
    });
    let text = render::text(&ask_one(pair, &["a.cu"]));
    assert!(
        text.contains("cuda: row set aside: bad\\u{7}key: is no step key"),
        "{text}"
    );
}

const OLD: &str = "_ZN12_GLOBAL__N__a58b5648_4_a_cu_0f32c6d1_3fooEv";
const NEW: &str = "_ZN12_GLOBAL__N__11111111_4_a_cu_22222222_3fooEv";
const OTHER: &str = "_ZN12_GLOBAL__N__11111111_4_b_cu_22222222_3fooEv";

#[test]
fn different_commits_add_by_stable_names_and_let_nobody_go() {
    let mut pair = cuda();
    pair.table = table(Backend::Cuda, &[("runs-a", &[OLD]), ("runs-b", &[OTHER])]);
    pair.maps[0].objects = vec![crate::common::object("a.cu", &[NEW], &[])];
    pair.table.source.commit = Some(crate::common::commit("0ther"));
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::TableAndMapFromDifferentCommits
    );
}

#[test]
fn of_one_commit_but_not_of_one_build_a_launch_still_selects_and_silence_says_nothing() {
    let mut pair = cuda();
    pair.table = table(
        Backend::Cuda,
        &[
            ("runs-ka", &["ka"]),
            ("runs-old", &[OLD]),
            ("runs-b", &[OTHER]),
        ],
    );
    pair.maps[0].objects = vec![
        crate::common::object("a.cu", &["ka", NEW], &[]),
        crate::common::object("c.cu", &["ka"], &[]),
    ];
    let report = ask_one(pair.clone(), &["a.cu"]);
    for key in ["runs-ka", "runs-old"] {
        assert_eq!(
            reason(&report, key),
            Reason::RowLaunchedAKernelFromAChangedFile
        );
    }
    assert_eq!(reason(&report, "runs-b"), Reason::FileMayOnlySelect);
    assert_eq!(report.files[0].seen[0].causes, [Cause::AnotherBuild]);
    let other_file = ask_one(pair.clone(), &["c.cu"]);
    assert_eq!(
        reason(&other_file, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    pair.maps[0].objects[0].symbols.push(kernel(OLD));
    let report = ask_one(pair, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels,
        "a name the map has is that kernel and no other"
    );
}

#[test]
fn a_commit_that_is_missing_matches_nothing() {
    let mut neither = cuda();
    neither.table.source.commit = None;
    neither.maps[0].commit = None;
    assert_eq!(reason_b(neither), Reason::TableAndMapFromDifferentCommits);
    let mut second_map = cuda();
    let mut other = second_map.maps[0].clone();
    other.commit = Some(crate::common::commit("0ther"));
    second_map.maps.push(other);
    assert_eq!(
        reason_b(second_map),
        Reason::TableAndMapFromDifferentCommits
    );
}

#[test]
fn a_record_older_than_allowed_or_of_unknown_age_lets_nobody_go() {
    let aged = |published_at| {
        reason_b(Pair {
            published_at,
            ..cuda()
        })
    };
    assert_eq!(aged(ago(14 * DAY)), Reason::RowLaunchedNoneOfItsKernels);
    assert_eq!(aged(ago(14 * DAY + 1)), Reason::RecordStale);
    assert_eq!(aged(None), Reason::RecordStale);
    assert_eq!(
        aged(ago(-3600)),
        Reason::RowLaunchedNoneOfItsKernels,
        "clocks differ a little"
    );
    assert_eq!(
        aged(ago(-3601)),
        Reason::RecordStale,
        "a time far ahead says nothing about the age"
    );
}

#[test]
fn the_age_limit_is_the_callers() {
    let policy = Policy {
        now: now(),
        max_age: Duration::from_hours(1),
    };
    let change = Change::of_files(["a.cu"]).unwrap();
    let report = ask_about(&[ready(cuda())], &change, policy);
    assert_eq!(reason(&report, "runs-b"), Reason::RecordStale);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
}

/// It is how people turn skipping off, whatever the clocks say.
#[test]
fn with_an_age_limit_of_zero_no_record_lets_a_step_go() {
    let policy = Policy {
        now: now(),
        max_age: Duration::ZERO,
    };
    let change = Change::of_files(["a.cu"]).unwrap();
    for published_at in [ago(0), ago(-3600), ago(1)] {
        let pair = Pair {
            published_at,
            ..cuda()
        };
        let report = ask_about(&[ready(pair)], &change, policy);
        assert_eq!(reason(&report, "runs-b"), Reason::RecordStale);
    }
}

#[test]
fn a_revoked_record_only_adds() {
    let report = ask_one(
        Pair {
            revoked: true,
            ..cuda()
        },
        &["a.cu"],
    );
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(reason(&report, "runs-b"), Reason::RecordRevoked);
}

#[test]
fn an_unavailable_backend_blocks_every_drop_and_no_selection() {
    let report = ask(&[ready(cuda()), unavailable(Backend::Rocm)], &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(reason(&report, "runs-b"), Reason::PairUnavailable);
    assert!(report.everything_must_run);
}

#[test]
fn a_pair_whose_maps_cannot_be_used_counts_as_unavailable() {
    let no_map = Pair {
        maps: Vec::new(),
        ..pair(Backend::Rocm)
    };
    let foreign_map = Pair {
        maps: cuda().maps,
        ..pair(Backend::Rocm)
    };
    let mut refused_map = pair(Backend::Rocm);
    refused_map.maps[0].reason = Some("the build failed".to_owned());
    for broken in [no_map, foreign_map, refused_map] {
        let report = ask(&[ready(cuda()), ready(broken)], &["a.cu"]);
        assert_eq!(reason(&report, "runs-b"), Reason::PairUnavailable);
    }
}

#[test]
fn without_any_record_everything_must_run() {
    for records in [
        vec![],
        vec![unavailable(Backend::Cuda), unavailable(Backend::Rocm)],
    ] {
        let report = ask(&records, &["a.cu"]);
        assert!(report.everything_must_run);
        assert_eq!(render::keys(&report), None);
    }
}

#[test]
fn a_backend_given_twice_is_refused() {
    let change = Change::of_files(["a.cu"]).unwrap();
    let question = Question {
        change: &change,
        steps: None,
        policy: crate::common::policy(),
        placing: kernrec_select::Placing::File,
        libraries: None,
    };
    let error = select(&[ready(cuda()), unavailable(Backend::Cuda)], &question).unwrap_err();
    assert_eq!(error.reason(), "backend-given-twice");
}

#[test]
fn of_several_doubts_the_first_in_order_is_named() {
    let mut pair = cuda();
    pair.maps[0]
        .objects
        .push(crate::common::object("c.cu", &["kc"], &[]));
    pair.maps[0]
        .objects
        .push(crate::common::object("main.cpp", &[], &[]));
    row_of(&mut pair, "runs-b").passed = false;
    pair.table.source.commit = None;
    pair.published_at = None;
    pair.revoked = true;
    let with = |files: &[&str], pair: &Pair| -> Report {
        ask(&[ready(pair.clone()), unavailable(Backend::Rocm)], files)
    };
    let word = |files: &[&str], pair: &Pair| reason(&with(files, pair), "runs-b");
    assert_eq!(
        word(&["a.cu", "c.cu", "main.cpp", "outside.cu"], &pair),
        Reason::SelectedByAFileOutsideTheMap
    );
    assert_eq!(
        word(&["a.cu", "c.cu", "main.cpp"], &pair),
        Reason::FileMayOnlySelect
    );
    assert_eq!(word(&["a.cu", "c.cu"], &pair), Reason::FileNeverObserved);
    assert_eq!(word(&["a.cu"], &pair), Reason::RowNotUsable);
    row_of(&mut pair, "runs-b").passed = true;
    assert_eq!(
        word(&["a.cu"], &pair),
        Reason::TableAndMapFromDifferentCommits
    );
    pair.table.source.commit = Some(crate::common::commit("c0de"));
    assert_eq!(word(&["a.cu"], &pair), Reason::RecordStale);
    pair.published_at = ago(DAY);
    assert_eq!(word(&["a.cu"], &pair), Reason::RecordRevoked);
    pair.revoked = false;
    assert_eq!(word(&["a.cu"], &pair), Reason::PairUnavailable);
}

#[test]
fn the_words_are_stable_and_in_the_documents_spelling() {
    for reason in Reason::ALL {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.word());
    }
    assert!(Reason::ALL.is_sorted(), "declared in the order asked");
    let report = ask_one(cuda(), &["a.cu"]);
    assert_eq!(report.skipped[0].step, step("idle"));
}
