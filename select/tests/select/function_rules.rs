//! Changed Python functions and libraries: what the function record adds, what it lets go, and what holds against it.

use crate::common::functions::{functions, record};
use crate::common::{kept, ready, reason, unavailable};
use crate::function_world::{Asked, ask, both, edited, kernels, python, reasons};
use kernrec_schemas::Backend;
use kernrec_schemas::function_table::{FunctionRow, LibraryName};
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::table::RowReason;
use kernrec_select::{
    Cause, Change, FileClass, FunctionRecord, Lineage, Moved, Reason, Report, explain, render,
};

use std::os::unix::fs::PermissionsExt;

use Reason::{
    FileMayOnlySelect as OnlySelect, FunctionNeverObserved as Never, HeldByThePythonRecord as Held,
    NoFileOfTheStepChanged as Unproposed, NoRowForAChangedFile as NoRow,
    RowEnteredAChangedFunction as Entered, RowEnteredNoneOfItsFunctions as Silent,
    RowLaunchedAKernelFromAChangedFile as Launched, RowLaunchedNoneOfItsKernels as NoLaunch,
    RowUsedAChangedLibrary as Used, SelectedByAFileOutsideTheMap as OutsideMap,
    SelectedByAFileOutsideTheRecord as Outside,
};

fn answer(edits: &[(&str, &str, &str)]) -> [Reason; 3] {
    reasons(&ask(&edited(edits), &both(), &Asked::default()))
}

const CORE: &str = "pkg/core.py";
const RUN: (&str, &str, &str) = (CORE, "helper(self.size)", "helper(self.size + 1)");

/// What changed, and what becomes of a step that ran it, one that imported it, and one that did neither.
#[test]
fn each_kind_of_change_reaches_whom_it_must() {
    for (edit, expected) in [
        (RUN, [Entered, Silent, Silent]),
        ((CORE, "x + LIMIT", "x - LIMIT"), [Entered, Silent, Silent]),
        ((CORE, "size = 2", "size = 3"), [Entered, Entered, Silent]),
        ((CORE, "LIMIT = 1", "LIMIT = 2"), [Entered, Entered, Silent]),
        (
            (CORE, "def helper(x)", "def helper(x, y=1)"),
            [Entered, Entered, Silent],
        ),
        (
            (CORE, "def never(x):\n    return x\n", ""),
            [Entered, Entered, Silent],
        ),
        ((CORE, "What it does.", "What it did."), [Silent; 3]),
        // Nobody was seen to enter it, so nobody's silence is news.
        (
            (
                CORE,
                "def never(x):\n    return x",
                "def never(x):\n    return -x",
            ),
            [Never; 3],
        ),
        // It may be read by another compiler.
        (
            (
                CORE,
                "def kernel(x):\n    return x",
                "def kernel(x):\n    return -x",
            ),
            [OnlySelect; 3],
        ),
        (
            (CORE, "import torch", "import ("),
            [Entered, Entered, Silent],
        ),
        (
            ("tests/test_core.py", "assert 1", "assert 2"),
            [Entered, Silent, Silent],
        ),
        (
            ("pkg/other.py", "return 1", "return 2"),
            [Silent, Silent, Entered],
        ),
        // What functions cannot tell.
        (
            ("pkg/__init__.py", "VERSION = 1", "VERSION = 2"),
            [Entered; 3],
        ),
        (
            ("tests/conftest.py", "return 1", "return 2"),
            [Entered, OnlySelect, OnlySelect],
        ),
        (("pkg/unseen.py", "return 1", "return 2"), [Outside; 3]),
        (("pkg/new.py", "", "x = 1\n"), [Outside; 3]),
        (("pkg/core.pyi", "", "x: int\n"), [OutsideMap; 3]),
        (("data.json", "{}", "[]"), [OutsideMap; 3]),
    ] {
        assert_eq!(answer(&[edit]), expected, "{edit:?}");
    }
}

#[test]
fn a_removed_file_reaches_who_entered_it_and_a_renamed_one_everybody() {
    let world = crate::function_world::world();
    world.git(&["rm", "-q", CORE]);
    world.commit();
    let report = ask(&world, &both(), &Asked::default());
    assert_eq!(reasons(&report), [Entered, Entered, Silent]);
    let world = crate::function_world::world();
    world.git(&["mv", CORE, "pkg/renamed.py"]);
    world.commit();
    let report = ask(&world, &both(), &Asked::default());
    assert_eq!(reasons(&report), [Entered, Entered, Outside]);
}

#[test]
fn a_step_goes_only_if_each_file_has_a_record_that_lets_it_go() {
    let kernel = ("a.cu", "*p = 1;", "*p = 3;");
    for (edits, expected) in [
        (vec![kernel], [Launched, NoLaunch, NoLaunch]),
        (vec![kernel, RUN], [Launched, NoLaunch, NoLaunch]),
        // A call holds against the silence of kernels, and a launch against that of functions.
        (
            vec![("a.cu", "*p = 2;", "*p = 3;"), RUN],
            [Held, Launched, NoLaunch],
        ),
        (
            vec![kernel, ("data.json", "{}", "[]")],
            [Launched, OutsideMap, OutsideMap],
        ),
        (
            vec![RUN, ("data.json", "{}", "[]")],
            [Entered, OutsideMap, OutsideMap],
        ),
        (
            vec![kernel, ("pkg/unseen.py", "return 1", "return 2")],
            [Launched, Outside, Outside],
        ),
    ] {
        assert_eq!(answer(&edits), expected, "{edits:?}");
    }
}

fn with(change: impl FnOnce(&mut FunctionRecord)) -> Report {
    let mut python = python();
    change(&mut python);
    let records = [ready(kernels(Backend::Cuda)), functions(python)];
    ask(&edited(&[RUN]), &records, &Asked::default())
}

fn row<'a>(record: &'a mut FunctionRecord, key: &str) -> &'a mut FunctionRow {
    record.table.rows.get_mut(key).unwrap()
}

type Damage = fn(&mut FunctionRow);

/// Whatever is wrong with a row: it never lets its step go, and what it entered still selects.
#[test]
fn a_row_that_is_not_healthy_never_lets_its_step_go() {
    let damages: [(&str, Damage); 7] = [
        ("failed", |row| row.passed = false),
        ("no tests", |row| row.tests.executed = 0),
        ("killed", |row| row.clean_exits = 0),
        ("lossy", |row| row.lost_lines = 1),
        ("incomplete", |row| row.complete = false),
        ("foreign", |row| {
            _ = row.commits.insert("beef".parse().unwrap());
        }),
        ("stated", |row| {
            _ = row.reasons.insert(RowReason::SummaryUnparsed);
        }),
    ];
    for (name, damage) in damages {
        let report = with(|record| {
            for key in ["calls", "imports"] {
                damage(row(record, key));
            }
        });
        assert_eq!(
            reasons(&report),
            [Entered, Reason::RowNotUsable, Silent],
            "{name}"
        );
        assert_eq!(
            kept(&report, "imports").verdicts[1].row_reasons.len(),
            1,
            "{name}"
        );
    }
    let report = with(|record| row(record, "imports").functions.push(99));
    assert_eq!(reason(&report, "imports"), Reason::RowNotUsable);
}

const TEST: (&str, &str, &str) = ("tests/test_core.py", "assert 1", "assert 2");

/// A step whose checkout lies where nobody looked, or that ran the test as part of an installed package.
#[test]
fn a_step_whose_tests_nobody_watched_keeps_for_every_test() {
    let ask = |change: &dyn Fn(&mut FunctionRecord), edit| {
        let mut record = python();
        change(&mut record);
        let records = [ready(kernels(Backend::Cuda)), functions(record)];
        ask(&edited(&[edit]), &records, &Asked::default())
    };
    let unwatched = |record: &mut FunctionRecord| {
        let in_tests = record.table.functions.iter();
        let in_tests: Vec<bool> = in_tests
            .map(|function| function.file.as_str().starts_with("tests/"))
            .collect();
        let imports = row(record, "imports");
        imports
            .functions
            .retain(|&number| !in_tests[number as usize]);
    };
    let report = ask(&unwatched, TEST);
    assert_eq!(reasons(&report), [Entered, Reason::RowNotUsable, Silent]);
    let verdict = &kept(&report, "imports").verdicts[1];
    assert_eq!(verdict.row_reasons, [RowReason::TestsNotWatched]);
    // Of all else its silence counts.
    assert_eq!(
        reasons(&ask(&unwatched, ("pkg/other.py", "return 1", "return 2"))),
        [Silent, Silent, Entered]
    );
    let installed = |record: &mut FunctionRecord| {
        let libraries = &mut record.table.libraries;
        libraries.push(LibraryName::new("test_core").unwrap());
        let number = u32::try_from(libraries.len() - 1).unwrap();
        row(record, "elsewhere").libraries.push(number);
    };
    let report = ask(&installed, TEST);
    assert_eq!(reasons(&report), [Entered, Silent, Reason::RowNotUsable]);
}

#[test]
fn a_row_of_another_commit_than_its_record_never_lets_its_step_go() {
    let report = with(|record| {
        row(record, "imports").commits = ["beef".parse().unwrap()].into();
    });
    assert_eq!(reasons(&report), [Entered, Reason::RowNotUsable, Silent]);
}

/// The file is what steps start, perhaps, and can no longer.
#[test]
fn a_change_of_mode_is_one_of_the_whole_file() {
    let world = crate::function_world::world();
    let make_executable = |name| {
        let mode = PermissionsExt::from_mode(0o755);
        fs_err::set_permissions(world.path(name), mode).unwrap();
        world.commit();
    };
    make_executable(CORE);
    let report = ask(&world, &both(), &Asked::default());
    assert_eq!(reasons(&report), [Entered, Entered, Silent]);
    make_executable("requirements.txt");
    let report = ask(&world, &both(), &Asked::default());
    assert_eq!(reasons(&report), [OutsideMap; 3]);
}

#[test]
fn a_record_that_is_not_to_be_trusted_only_adds() {
    let lineages = [
        Lineage::Broken {
            reason: "record-not-an-ancestor".to_owned(),
            problem: "it is none".to_owned(),
        },
        Lineage::Ancestor(Moved::of_files([CORE])),
    ];
    for lineage in lineages {
        let report = with(|record| record.lineage = lineage);
        assert_eq!(
            reasons(&report),
            [Entered, Reason::RecordStale, Reason::RecordStale]
        );
    }
    let report =
        with(|record| record.lineage = Lineage::Ancestor(Moved::of_files(["pkg/other.py"])));
    assert_eq!(reasons(&report), [Entered, Silent, Silent]);
    for (report, expected) in [
        (
            with(|record| record.published_at = None),
            Reason::RecordStale,
        ),
        (with(|record| record.revoked = true), Reason::RecordRevoked),
        (
            with(|record| record.unverified = Some("nobody signed".to_owned())),
            Reason::RecordUnverified,
        ),
    ] {
        assert_eq!(reasons(&report), [Entered, expected, expected]);
    }
}

/// A function record that ought to be there and is not blocks every skip, of kernels too.
#[test]
fn a_function_record_that_is_not_there_blocks_every_skip() {
    let records = [ready(kernels(Backend::Cuda)), unavailable(Backend::Python)];
    let report = ask(
        &edited(&[("a.cu", "*p = 1;", "*p = 3;")]),
        &records,
        &Asked::default(),
    );
    let gone = Reason::PairUnavailable;
    assert_eq!(reasons(&report), [Launched, gone, gone]);
    let records = [unavailable(Backend::Cuda), functions(python())];
    let report = ask(&edited(&[RUN]), &records, &Asked::default());
    assert_eq!(reasons(&report), [Entered, gone, gone]);
}

#[test]
fn a_step_that_one_record_does_not_know_keeps_for_the_files_of_that_record() {
    let few = record(&[("calls", &["pkg/core.py:<module>", "pkg/core.py:Model.run"])]);
    let records = [ready(kernels(Backend::Cuda)), functions(few)];
    let report = ask(&edited(&[RUN]), &records, &Asked::default());
    assert_eq!(reasons(&report), [Entered, NoRow, NoRow]);
    // Its kernels are another matter.
    let kernel = edited(&[("a.cu", "*p = 1;", "*p = 3;")]);
    let report = ask(&kernel, &records, &Asked::default());
    assert_eq!(reasons(&report), [Launched, NoLaunch, NoLaunch]);
    // Recorded by functions only.
    let more = record(&[("cpu", &["pkg/core.py:<module>", "pkg/core.py:Model.run"])]);
    let records = [ready(kernels(Backend::Cuda)), functions(more)];
    let report = ask(&kernel, &records, &Asked::default());
    assert_eq!(reason(&report, "cpu"), NoRow);
}

#[test]
fn functions_alone_speak_for_python_files_only() {
    let records = [functions(python())];
    let report = ask(&edited(&[RUN]), &records, &Asked::default());
    assert_eq!(reasons(&report), [Entered, Silent, Silent]);
    let edits = [RUN, ("a.cu", "*p = 1;", "*p = 3;")];
    let report = ask(&edited(&edits), &records, &Asked::default());
    assert_eq!(reasons(&report), [Entered, Outside, Outside]);
}

#[test]
fn two_records_of_kernels_and_one_of_functions_in_any_order() {
    let world = edited(&[RUN, ("a.cu", "*p = 2;", "*p = 3;")]);
    let mut amd = kernels(Backend::Rocm);
    amd.table.rows.remove("calls");
    amd.revoked = true;
    let mut records = [
        ready(amd),
        functions(python()),
        ready(kernels(Backend::Cuda)),
    ];
    let report = ask(&world, &records, &Asked::default());
    assert_eq!(reasons(&report), [Held, Launched, Reason::RecordRevoked]);
    for _ in 0..3 {
        records.rotate_left(1);
        assert_eq!(ask(&world, &records, &Asked::default()), report);
    }
}

const STEP_FILE: &str = r#"{"steps": [
    {"key": "calls", "paths": ["docs/"]},
    {"key": "imports", "paths": ["pkg/"]},
    {"key": "elsewhere", "paths": ["docs/"]}
]}"#;

/// The step file proposes, the record adds and removes.
#[test]
fn with_a_step_file_the_record_adds_what_entered_a_changed_function() {
    let asked = Asked {
        steps: Some(STEP_FILE),
        ..Asked::default()
    };
    let report = ask(&edited(&[RUN]), &both(), &asked);
    assert_eq!(reasons(&report), [Entered, Silent, Unproposed]);
    // A record of functions alone cannot add what launches a changed kernel.
    let world = edited(&[("a.cu", "*p = 1;", "*p = 3;")]);
    let report = ask(&world, &[functions(python())], &asked);
    let gone = Reason::PairUnavailable;
    assert_eq!(reasons(&report), [gone, gone, gone]);
}

#[test]
fn a_pin_reaches_who_used_the_library() {
    let pin = |from, to| edited(&[("requirements.txt", from, to)]);
    let torch = pin("torch==2.9.0", "torch==2.9.1");
    // Nobody said which packages it brings.
    let report = ask(&torch, &both(), &Asked::default());
    assert_eq!(reasons(&report), [Used, Used, OnlySelect]);
    let seen = report.files[0].functions.as_ref().unwrap();
    assert_eq!(seen.class, FileClass::FileMayOnlySelect);
    assert_eq!(seen.causes, [Cause::UndeclaredLibrary]);
    assert_eq!(seen.changed, ["torch"]);
    let declared = Asked {
        libraries: &[
            "torch=torch,functorch",
            "flash-attn=flash_attn",
            "other=other",
        ],
        ..Asked::default()
    };
    let report = ask(&torch, &both(), &declared);
    assert_eq!(reasons(&report), [Used, Used, Silent]);
    let flash = pin("flash-attn==1.0", "flash-attn==1.1");
    assert_eq!(
        reasons(&ask(&flash, &both(), &declared)),
        [Used, Silent, Silent]
    );
    // What a killed process loaded of compiled code is not known.
    let mut killed = python();
    row(&mut killed, "elsewhere")
        .health
        .add(ProcessState::NoFooter);
    let records = [ready(kernels(Backend::Cuda)), functions(killed)];
    assert_eq!(
        reasons(&ask(&torch, &records, &declared)),
        [Used, Used, Reason::RowNotUsable]
    );
    let ran = ask(&edited(&[RUN]), &records, &Asked::default());
    assert_eq!(reasons(&ran), [Entered, Silent, Silent]);
    let both_pins = pin("torch==2.9.0\nnumpy==2.0", "torch==2.9.1\nnumpy==2.1");
    assert_eq!(
        reasons(&ask(&both_pins, &both(), &declared)),
        [Used, Used, Used]
    );
    // Nobody used it, or it is no pin.
    let added = pin("numpy==2.0", "numpy==2.0\nother==1");
    assert_eq!(reasons(&ask(&added, &both(), &declared)), [Never; 3]);
    for other in [
        pin("torch==2.9.0", "torch>=2.9.0"),
        pin("-r more.txt", "-r others.txt"),
    ] {
        assert_eq!(reasons(&ask(&other, &both(), &declared)), [OutsideMap; 3]);
    }
    let watched = Asked {
        libraries: &["flash-attn=pkg"],
        ..Asked::default()
    };
    assert_eq!(reasons(&ask(&flash, &both(), &watched)), [Used; 3]);
}

#[test]
fn a_file_known_by_its_name_only_counts_whole() {
    let change = Change::of_files([CORE]).unwrap();
    let report = crate::common::ask_about(&both(), &change, crate::common::policy());
    assert_eq!(reasons(&report), [Entered, Entered, Silent]);
    assert_eq!(
        report.files[0].functions.as_ref().unwrap().word,
        "whole-file"
    );
}

#[test]
fn an_explanation_names_the_functions_that_a_step_entered() {
    let records = both();
    let of = |step: &str, file: &str| {
        explain(
            &records,
            &crate::common::step(step),
            file,
            &crate::common::policy(),
        )
        .unwrap()
    };
    let explained = of("calls", CORE);
    assert_eq!(explained.reason, Some(Entered));
    let functions = explained.functions.unwrap();
    assert_eq!(functions.class, FileClass::FileMayDrop);
    let found: Vec<(&str, bool, u64)> = functions
        .functions
        .iter()
        .map(|function| (function.name.as_str(), function.entered, function.steps))
        .collect();
    let expected = [
        ("<module>", true, 2),
        ("Model", true, 2),
        ("Model.run", true, 1),
        ("helper", true, 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(functions.row.unwrap().1, Entered);
    let explained = of("elsewhere", CORE);
    assert_eq!(explained.reason, Some(Silent));
    assert!(
        explained
            .functions
            .unwrap()
            .functions
            .iter()
            .all(|it| !it.entered)
    );
    assert!(of("calls", "a.cu").functions.is_none());
}

/// What people read of a change of a kernel, a function and a pin.
#[test]
fn a_kernel_a_function_and_a_pin_in_one_report() {
    let world = edited(&[
        RUN,
        ("a.cu", "*p = 2;", "*p = 3;"),
        ("requirements.txt", "numpy==2.0", "numpy==2.1"),
        ("tests/conftest.py", "return 1", "return 2"),
        ("pkg/new.py", "", "x = 1\n"),
    ]);
    let report = ask(&world, &both(), &Asked::default());
    // The commits are made now.
    let report = Report {
        change: None,
        ..report
    };
    insta::assert_snapshot!("report_text", render::text(&report));
    insta::assert_snapshot!("report_markdown", render::markdown(&report));
    let json = kernrec_schemas::json::pretty(&report.files[3]);
    insta::assert_snapshot!("report_file", String::from_utf8(json).unwrap());
}
