//! The facts of testdata/ggml-h200/README.md, and the whole map against an independent join.

use crate::common::ggml::{Oracle, keys, pair, record};
use crate::common::{ask, kept, reason};
use kernrec_schemas::KernelName;
use kernrec_schemas::table::RowReason;
use kernrec_select::{
    Assumes, Cause, Change, FileClass, FileSeen, Index, PairEvidence, Reason, Report, render,
};
use std::collections::{BTreeMap, BTreeSet};

fn seen(report: &Report) -> &FileSeen {
    &report.files[0].seen[0]
}

/// File, its kernels, and the steps that launched one.
fn fact(file: &str) -> (Report, u64, BTreeSet<String>) {
    let report = ask(&[record()], &[file]);
    let seen = seen(&report);
    let steps = seen
        .steps
        .iter()
        .map(|count| count.step.to_string())
        .collect();
    let kernels = seen.kernels;
    (report, kernels, steps)
}

fn named(steps: &[&str]) -> BTreeSet<String> {
    steps.iter().map(|&step| step.to_owned()).collect()
}

#[test]
fn rope_has_48_kernels_and_reaches_two_steps() {
    let (report, kernels, steps) = fact("src/ggml-cuda/rope.cu");
    assert_eq!(kernels, 48);
    assert_eq!(steps, named(&["op-rope", "op-rope-back"]));
    assert_eq!(
        keys(report.selected.iter().map(|step| &step.step)),
        BTreeSet::from(["op-rope", "op-rope-back"])
    );
    assert_eq!(
        keys(report.kept.iter().map(|step| &step.step)),
        BTreeSet::from(["op-flash-attn-ext", "torch-killed"])
    );
    assert_eq!(report.counts.skipped, 125);
    assert_eq!(report.assumes, [Assumes::DeviceCode]);
}

#[test]
fn the_two_killed_steps_are_kept_because_of_their_recordings() {
    let (report, ..) = fact("src/ggml-cuda/rope.cu");
    for step in ["op-flash-attn-ext", "torch-killed"] {
        assert_eq!(reason(&report, step), Reason::RowNotUsable);
        let verdict = &kept(&report, step).verdicts[0];
        assert_eq!(
            verdict.row_reasons,
            [RowReason::NotPassed, RowReason::NoFooter]
        );
    }
}

#[test]
fn a_killed_step_is_still_selected_by_what_it_launched() {
    let (report, ..) = fact("src/ggml-cuda/fattn.cu");
    assert_eq!(
        reason(&report, "op-flash-attn-ext"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
}

#[test]
fn pad_has_1_kernel_and_reaches_one_step() {
    let (report, kernels, steps) = fact("src/ggml-cuda/pad.cu");
    assert_eq!(kernels, 1);
    assert_eq!(steps, named(&["op-pad"]));
    assert_eq!(
        reason(&report, "op-pad-reflect-1d"),
        Reason::RowLaunchedNoneOfItsKernels
    );
}

#[test]
fn softmax_has_22_kernels_and_reaches_four_steps() {
    let (_, kernels, steps) = fact("src/ggml-cuda/softmax.cu");
    assert_eq!(kernels, 22);
    let expected = [
        "op-soft-max",
        "op-soft-max-back",
        "op-cross-entropy-loss",
        "op-cross-entropy-loss-back",
    ];
    assert_eq!(steps, named(&expected));
}

#[test]
fn unary_has_75_kernels_and_reaches_35_steps() {
    let (_, kernels, steps) = fact("src/ggml-cuda/unary.cu");
    assert_eq!((kernels, steps.len()), (75, 35));
}

#[test]
fn mmq_compiles_to_host_code_only_and_is_never_clearable() {
    let (report, kernels, steps) = fact("src/ggml-cuda/mmq.cu");
    assert_eq!((kernels, steps.len()), (0, 0));
    assert_eq!(seen(&report).class, FileClass::FileMayOnlySelect);
    assert_eq!(seen(&report).causes, [Cause::HostCode, Cause::NoKernel]);
    assert!(report.everything_must_run);
    assert_eq!(report.counts.kept, 129);
    assert!(
        report
            .kept
            .iter()
            .all(|step| step.reason == Reason::FileMayOnlySelect)
    );
    assert_eq!(render::keys(&report), None);
}

#[test]
fn common_header_reaches_106_steps_and_host_objects() {
    let (report, kernels, steps) = fact("src/ggml-cuda/common.cuh");
    assert_eq!((kernels, steps.len()), (6201, 106));
    assert_eq!(seen(&report).class, FileClass::FileMayOnlySelect);
    assert_eq!(seen(&report).causes, [Cause::HostCode]);
    assert_eq!(
        (
            report.counts.selected,
            report.counts.kept,
            report.counts.skipped
        ),
        (106, 23, 0)
    );
    assert!(report.everything_must_run);
}

#[test]
fn a_clean_step_that_launched_nothing_may_be_skipped() {
    let (report, ..) = fact("src/ggml-cuda/rope.cu");
    assert_eq!(
        reason(&report, "op-add1"),
        Reason::RowLaunchedNoneOfItsKernels
    );
}

#[test]
fn a_kernel_that_no_step_launched_lets_nobody_go() {
    let (report, kernels, steps) = fact("src/ggml-cuda/softcap.cu");
    assert_eq!((kernels, steps.len()), (1, 0));
    assert_eq!(seen(&report).class, FileClass::FileNeverObserved);
    assert!(report.everything_must_run);
}

#[test]
fn the_keys_name_what_must_run_and_nothing_else() {
    let (report, ..) = fact("src/ggml-cuda/rope.cu");
    assert_eq!(
        render::keys(&report).unwrap(),
        "[\"op-flash-attn-ext\",\"op-rope\",\"op-rope-back\",\"torch-killed\"]\n"
    );
}

#[test]
fn the_files_of_the_map_agree_with_an_independent_join() {
    let oracle = Oracle::read();
    let pair = pair();
    let index = Index::build(&pair).unwrap();
    let change = Change::of_files(oracle.kernels.keys()).unwrap();
    let evidence = PairEvidence::gather(&index, &change);
    assert_eq!(evidence.files.len(), oracle.kernels.len());
    for (file, (path, kernels)) in evidence.files.iter().zip(&oracle.kernels) {
        assert_eq!(file.path.as_str(), path);
        assert_eq!(file.kernels.len(), kernels.len(), "kernels of {path}");
        let launches = oracle.launches(path);
        let expected = match (
            kernels.is_empty() || oracle.host.contains(path),
            launches.is_empty(),
        ) {
            (true, _) => FileClass::FileMayOnlySelect,
            (false, true) => FileClass::FileNeverObserved,
            (false, false) => FileClass::FileMayDrop,
        };
        assert_eq!(file.class, expected, "class of {path}");
        assert_eq!(file.steps, launches.len(), "steps of {path}");
        let numbers = |names: &mut dyn Iterator<Item = &KernelName>| -> BTreeSet<u32> {
            names.map(|name| oracle.number(name)).collect()
        };
        let found = numbers(&mut file.kernels.iter().map(|&kernel| index.name(kernel)));
        assert_eq!(&found, kernels, "kernels of {path}");
        let found: BTreeMap<&str, BTreeSet<u32>> = evidence
            .launches(file)
            .into_iter()
            .map(|(step, names)| (step.as_str(), numbers(&mut names.into_iter())))
            .collect();
        assert_eq!(found, launches, "launches of {path}");
    }
}
