//! Step files: what is read of each kind, which steps a change proposes, and what is doubtful runs.

use crate::common::{cuda, policy, ready, reason, step, unavailable};
use kernrec_schemas::Backend;
use kernrec_select::{
    Change, NoteReason, Pair, Question, Reason, Record, Report, Steps, render, select,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn parse(text: &str) -> Steps {
    Steps::parse("steps.yml", text).unwrap()
}

fn ask_records(records: &[Record], steps: &Steps, files: &[&str]) -> Report {
    let change = Change::of_files(files).unwrap();
    let question = Question {
        change: &change,
        steps: Some(steps),
        policy: policy(),
        placing: kernrec_select::Placing::File,
        libraries: None,
    };
    select(records, &question).unwrap()
}

fn ask(text: &str, files: &[&str]) -> Report {
    ask_records(&[ready(cuda())], &parse(text), files)
}

fn note_words(report: &Report) -> Vec<NoteReason> {
    let mut words: Vec<NoteReason> = report.notes.iter().map(|note| note.reason).collect();
    words.dedup();
    words
}

/// Whether a change of the file proposes the only step of a list of fields, which has no row: then it is kept as
/// `no-row`, and skipped otherwise.
fn proposes(fields: &str, file: &str) -> bool {
    let text = format!("steps:\n  - key: s\n    command: test\n    {fields}\n");
    match reason(&ask(&text, &[file]), "s") {
        Reason::NoRow => true,
        Reason::NoFileOfTheStepChanged => false,
        other => panic!("{other}"),
    }
}

#[test]
fn the_file_proposes_and_the_record_adds_and_removes() {
    let text = "
steps:
  - {key: runs-a, command: t, if_changed: docs/}
  - {key: runs-b, command: t, if_changed: a.cu}
  - {key: idle, command: t, if_changed: b.cu}
  - {key: new, command: t, if_changed: a.cu}
  - {key: always, command: t}
";
    let report = ask(text, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    assert_eq!(reason(&report, "idle"), Reason::NoFileOfTheStepChanged);
    assert_eq!(reason(&report, "new"), Reason::NoRow);
    assert_eq!(reason(&report, "always"), Reason::NoRow);
    assert_eq!(report.counts.steps, 5);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    assert_eq!(
        render::keys(&report).unwrap(),
        "[\"always\",\"new\",\"runs-a\"]\n"
    );
}

#[test]
fn only_the_files_that_propose_a_step_can_hold_it() {
    let text = "[{key: runs-b, paths: [a.cu]}, {key: idle, paths: [README.md, a.cu]}, {key: runs-a, paths: x}]";
    let report = ask(text, &["a.cu", "README.md"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    assert_eq!(
        reason(&report, "idle"),
        Reason::SelectedByAFileOutsideTheMap
    );
}

#[test]
fn a_list_may_be_empty_with_a_step_file() {
    let report = ask("[{key: runs-b, paths: b.cu}]", &["docs/x.md"]);
    assert_eq!(render::keys(&report).unwrap(), "[]\n");
}

#[test]
fn patterns_never_match_less_than_they_mean() {
    for (pattern, file) in [
        ("a.cu", "a.cu"),
        ("./a.cu", "a.cu"),
        ("/a.cu", "a.cu"),
        ("src", "src/x/a.cu"),
        ("src/", "src/x/a.cu"),
        ("src/at", "src/attention.cu"),
        ("src/*", "src/x/a.cu"),
        ("**.cu", "src/x/a.cu"),
        ("**/*.cu", "a.cu"),
        ("*.cu", "src/a.cu"),
        ("src/{a,b}.cu", "src/b.cu"),
        ("{**.go,go.{mod,sum}}", "go.sum"),
        ("**.go,go.mod,src/**", "go.mod"),
        ("**.go, src/**", "src/a.cu"),
        ("docs/{a,b},src/a", "src/a.cu"),
        ("a,b.cu", "a,b.cu"),
        ("src/a{,.cu}", "src/a"),
        ("src/*/", "src/x/a.cu"),
        ("{lib,src}/", "src/x/a.cu"),
        ("src/**/", "src/x/a.cu"),
        ("s?c", "src/a.cu"),
        ("pages/[id].ts", "pages/[id].ts"),
        ("pages/[id].ts", "pages/i.ts"),
        (".", "a.cu"),
        ("", "a.cu"),
        ("x", "/usr/include/x.h"),
    ] {
        assert!(
            proposes(&format!("if_changed: \"{pattern}\""), file),
            "{pattern} {file}"
        );
    }
    for (pattern, file) in [
        ("src/", "source/a.cu"),
        ("**.cu", "a.cuh"),
        ("a.cuh", "a.cu"),
        ("**.go,go.mod", "a.cu"),
        ("src/{a,b}.cu", "b.cu"),
    ] {
        assert!(
            !proposes(&format!("if_changed: \"{pattern}\""), file),
            "{pattern} {file}"
        );
    }
}

#[test]
fn what_is_left_out_is_left_out_exactly() {
    let fields = "if_changed: {include: [src/, docs], exclude: ['src/gen/', 'docs/*.md', src/a]}";
    for (file, expected) in [
        ("src/x.cu", true),
        ("src/gen/x.cu", false),
        ("src/gen", true),
        ("src/generic.cu", true),
        ("docs/x.md", false),
        ("docs/in/x.md", true),
        ("src/a", false),
        ("src/a/x", true),
        ("src/ab", true),
    ] {
        assert_eq!(proposes(fields, file), expected, "{file}");
    }
}

#[test]
fn what_cannot_be_relied_on_proposes_every_change() {
    for (fields, note) in [
        ("if_changed: [a, '{b']", NoteReason::UnreadablePattern),
        ("if_changed: ['!a']", NoteReason::UnreadablePattern),
        ("if_changed: a/${X}", NoteReason::UnreadablePattern),
        ("if_changed: 'b,!a'", NoteReason::UnreadablePattern),
        ("if_changed: 'a/{{matrix}}/'", NoteReason::UnreadablePattern),
        ("if_changed: true", NoteReason::UnreadablePattern),
        ("if_changed: [12]", NoteReason::UnreadablePattern),
        ("paths: [null]", NoteReason::UnreadablePattern),
        ("paths: ['a//b']", NoteReason::UnreadablePattern),
        ("paths: ['x/../a']", NoteReason::UnreadablePattern),
        ("paths: ['../a']", NoteReason::UnreadablePattern),
        ("if_changed: [a, [b]]", NoteReason::MalformedStep),
        (
            "if_changed: {include: a, except: b}",
            NoteReason::MalformedStep,
        ),
        ("if_changed: {exclude: b}", NoteReason::MalformedStep),
        (
            "if_changed: a\n    if_changed: b",
            NoteReason::MalformedStep,
        ),
        (
            "if_changed: a\n    if_chnaged: b",
            NoteReason::MalformedStep,
        ),
    ] {
        assert!(proposes(fields, "far/away"), "{fields}");
        let text = format!("- key: s\n  {}\n", fields.replace("\n    ", "\n  "));
        assert!(note_words(&ask(&text, &["x"])).contains(&note), "{fields}");
    }
    // Null is no list.
    assert!(proposes("if_changed:", "far/away"));
    assert!(proposes("if_changed: []", "far/away"));
}

#[test]
fn groups_share_their_files_and_needs() {
    let text = "
steps:
  - group: g
    key: the-group
    if_changed: in/
    steps:
      - {key: own, command: t, if_changed: own/}
      - {key: inherits, command: t}
  - wait
  - block: sure?
  - {trigger: other}
  - {key: later, command: t, if_changed: later/, depends_on: [{step: the-group}]}
";
    let said = |file: &str, key: &str| reason(&ask(text, &[file]), key);
    assert_eq!(said("in/x", "own"), Reason::NoRow);
    assert_eq!(said("in/x", "inherits"), Reason::NoRow);
    assert_eq!(said("own/x", "inherits"), Reason::NoFileOfTheStepChanged);
    assert_eq!(said("other/x", "own"), Reason::NoFileOfTheStepChanged);
    assert_eq!(said("later/x", "later"), Reason::NoRow);
    assert_eq!(said("later/x", "own"), Reason::NeededByAStepThatRuns);
    assert_eq!(ask(text, &["x"]).step_file.unwrap().steps, 3);
}

#[test]
fn test_areas_are_read_with_their_mirrors() {
    let text = "
group: Kernels
depends_on: [image-build]
run_all_patterns: [docker/]
run_all_exclude_patterns: [docker/notes.md]
steps:
  - label: Kernels
    key: runs-b
    timeout_in_minutes: 30
    num_gpus: 2
    source_file_dependencies: [a.cu, csrc/]
    commands: [pytest kernels]
    parallelism: 4
    mirror: {amd: {device: mi300, depends_on: [image-build-amd]}}
  - {label: Build, key: image-build, commands: [make]}
";
    let report = ask(text, &["a.cu"]);
    assert_eq!(
        reason(&report, "runs-b"),
        Reason::RowLaunchedNoneOfItsKernels
    );
    assert_eq!(
        reason(&report, "amd-runs-b"),
        Reason::NoRow,
        "its own row, never its parent's"
    );
    assert_eq!(
        reason(&ask(text, &["x"]), "amd-runs-b"),
        Reason::NoFileOfTheStepChanged
    );
    let report = ask(text, &["a.cu", "docker/Dockerfile"]);
    assert!(report.everything_must_run);
    assert_eq!(reason(&report, "runs-b"), Reason::SelectedWithoutAFile);
    assert!(note_words(&report).contains(&NoteReason::RunAllPattern));
    assert!(!ask(text, &["a.cu", "docker/notes.md"]).everything_must_run);
    let written = parse(text).with_skips(text, &skips(&["runs-b"])).unwrap();
    assert_eq!(
        (written.text.as_str(), written.left),
        (text, vec![step("runs-b")]),
        "a skip would be the mirror's too"
    );
}

#[test]
fn a_misspelt_list_of_files_for_which_everything_runs_is_not_lost() {
    for text in [
        "run_all_patern: [docker/]\nsteps:\n- {key: runs-b, paths: a.cu}\n",
        "steps:\n- {group: g, run_all_patterns: [docker/], steps: [{key: runs-b, paths: a.cu}]}\n",
    ] {
        assert!(
            ask(text, &["docker/x", "a.cu"]).everything_must_run,
            "{text}"
        );
    }
}

#[test]
fn a_pattern_for_everything_may_come_from_elsewhere() {
    let mut steps = parse("[{key: runs-b, paths: a.cu}]");
    steps.run_all_for("*.lock");
    let ask = |steps: &Steps, file| ask_records(&[ready(cuda())], steps, &["a.cu", file]);
    assert!(!ask(&steps, "x").everything_must_run);
    assert!(ask(&steps, "in/x.lock").everything_must_run);
    steps.run_all_for("[");
    assert!(
        ask(&steps, "x").everything_must_run,
        "nobody knows what it matches"
    );
}

#[test]
fn steps_that_no_row_can_be_of_run() {
    let text = "
- {label: no key, commands: [t], depends_on: needed}
- {key: 'k-${N}', command: t}
- {key: 'm-{{matrix}}', command: t, paths: x, matrix: [a]}
- {key: runs-b, paths: a.cu}
- {key: runs-b, paths: a.cu}
- {key: needed, paths: nothing}
- {key: idle, paths: a.cu}
";
    let report = ask(text, &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::UnmappableStepId);
    assert_eq!(reason(&report, "needed"), Reason::NeededByAStepThatRuns);
    assert_eq!(reason(&report, "idle"), Reason::RowLaunchedNoneOfItsKernels);
    assert_eq!(
        report.step_file.as_ref().unwrap().without_key,
        ["k-${N}", "m-{{matrix}}", "no key"]
    );
    assert_eq!(
        note_words(&report),
        [
            NoteReason::StepWithoutKey,
            NoteReason::DuplicateStepKey,
            NoteReason::RowsWithoutStep
        ]
    );
    assert!(render::text(&report).contains("3 steps of the step file have no key: they must run."));
}

#[test]
fn a_need_reaches_through_what_is_never_skipped() {
    let text = "
- {key: build, paths: x}
- {key: image, paths: x}
- {key: far, paths: x}
- {key: asked, paths: x}
- {block: sure?, key: block, depends_on: build}
- group: more
  key: group
  depends_on: image
  steps: [{input: name, key: input}]
- {block: later, depends_on: far}
- {type: trigger, trigger: other, depends_on: asked}
- {key: runs-a, paths: a.cu, depends_on: [block, group]}
";
    let report = ask(text, &["a.cu"]);
    for key in ["build", "image", "asked"] {
        assert_eq!(reason(&report, key), Reason::NeededByAStepThatRuns, "{key}");
    }
    assert_eq!(reason(&report, "far"), Reason::NoFileOfTheStepChanged);
}

#[test]
fn steps_in_a_circle_run() {
    let text = "
- {key: one, paths: x, depends_on: two}
- {key: two, paths: x, depends_on: [one, far]}
- {key: far, paths: x}
- {key: out, paths: x, depends_on: nowhere}
- {key: self, paths: x, depends_on: self}
";
    let report = ask(text, &["a.cu"]);
    for key in ["one", "two", "self"] {
        assert_eq!(reason(&report, key), Reason::InADependencyCycle, "{key}");
    }
    assert_eq!(reason(&report, "far"), Reason::NeededByAStepThatRuns);
    assert_eq!(reason(&report, "out"), Reason::NoFileOfTheStepChanged);
    assert!(note_words(&report).contains(&NoteReason::DependencyCycle));
}

#[test]
fn rows_without_a_step_are_counted_and_not_run() {
    let report = ask("[{key: runs-b, paths: a.cu}]", &["a.cu"]);
    assert_eq!(report.step_file.as_ref().unwrap().rows_without_step, 2);
    assert_eq!(report.counts.steps, 1);
    let messages: Vec<&str> = report
        .notes
        .iter()
        .map(|note| note.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "idle: no step of the step file has this key",
            "runs-a: no step of the step file has this key"
        ]
    );
}

#[test]
fn a_backend_that_cannot_be_had_might_have_added_any_step() {
    let steps = parse("[{key: runs-b, paths: nothing}, {key: new, paths: nothing}]");
    let records = [ready(cuda()), unavailable(Backend::Rocm)];
    let report = ask_records(&records, &steps, &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::PairUnavailable);
    assert_eq!(reason(&report, "new"), Reason::PairUnavailable);
}

#[test]
fn a_map_with_gaps_might_have_added_a_step_that_has_a_row() {
    let steps = parse("[{key: runs-b, paths: nothing}, {key: new, paths: nothing}]");
    let mut pair: Pair = cuda();
    pair.maps[0].incomplete = true;
    let report = ask_records(&[ready(pair)], &steps, &["a.cu"]);
    assert_eq!(reason(&report, "runs-b"), Reason::FileMayOnlySelect);
    assert_eq!(reason(&report, "new"), Reason::NoFileOfTheStepChanged);
}

#[test]
fn files_that_are_no_step_files_are_refused() {
    let laughs = "a: &a [x]\nb: &b [*a,*a]\nsteps: [{key: s, env: *b}]\n";
    parse(laughs);
    for (text, word) in [
        ("", "step-file-malformed"),
        ("a: [", "step-file-malformed"),
        ("a: 1\n---\nb: 1\n", "step-file-malformed"),
        ("steps: 1\nsteps: 2\n", "step-file-malformed"),
        ("a: &a [*a]\n", "step-file-malformed"),
        ("just text", "step-file-without-steps"),
        ("env: {}", "step-file-without-steps"),
        ("steps: text", "step-file-without-steps"),
        (&"[".repeat(100_000), "step-file-malformed"),
        (
            &format!("[{}]", "{key: s},".repeat(10_001)),
            "too-many-steps",
        ),
        (&"#".repeat((4 << 20) + 1), "step-file-malformed"),
    ] {
        let shown: String = text.chars().take(40).collect();
        assert_eq!(
            Steps::parse("f", text).unwrap_err().reason(),
            word,
            "{shown}"
        );
    }
}

#[test]
fn merges_are_followed_within_bounds() {
    let text = "
common: &common {command: t, if_changed: a.cu}
steps:
  - {<<: *common, key: inherits}
  - {<<: *common, key: overrides, if_changed: other}
  - {<<: [*common, {if_changed: late}], key: first-wins}
";
    let report = ask(text, &["other"]);
    assert_eq!(reason(&report, "inherits"), Reason::NoFileOfTheStepChanged);
    assert_eq!(reason(&report, "overrides"), Reason::NoRow);
    let mut bomb = "m0: &m0 {a: 1}\n".to_owned();
    bomb.extend((1..30).map(|n| format!("m{n}: &m{n} {{<<: [*m{p}, *m{p}]}}\n", p = n - 1)));
    bomb += "steps: [{<<: *m29, key: s, if_changed: x}]\n";
    let report = ask(&bomb, &["far"]);
    assert_eq!(
        reason(&report, "s"),
        Reason::NoRow,
        "too much to follow: proposed by every change"
    );
}

fn skips(keys: &[&str]) -> BTreeMap<kernrec_schemas::StepKey, String> {
    keys.iter()
        .map(|key| (step(key), format!("none of \"{key}\"")))
        .collect()
}

/// Steps in every way of writing them.
const MANY_WAYS: &str = "# the pipeline
env: &env {X: \"1\"}
steps:
  - label: \"é: one\"   # first
    key: one
    env: *env
  - {label: two, key: two}
  - group: g
    steps:
    -   key: three
        command: |
          steps:
            - key: one
  - key: four
    skip: false
  - &anchor
    key: five
  - <<: *env
    key: six
  - wait
";

#[test]
fn a_pipeline_is_written_back_as_it_was_but_for_the_skips() {
    let text = MANY_WAYS;
    let steps = parse(text);
    let written = steps
        .with_skips(
            text,
            &skips(&["one", "two", "three", "four", "five", "six", "absent"]),
        )
        .unwrap();
    insta::assert_snapshot!("pipeline_with_skips", written.text);
    assert_eq!(written.left, [step("four"), step("five")]);
    let nothing = steps.with_skips(text, &BTreeMap::new()).unwrap();
    assert_eq!(nothing.text, text);
}

#[test]
fn a_pipeline_in_json_stays_json() {
    let text = "{\"steps\": [{\"key\": \"one\", \"command\": \"t\"}, \"wait\"]}\n";
    let written = parse(text).with_skips(text, &skips(&["one"])).unwrap();
    let read: serde_json::Value = serde_json::from_str(&written.text).unwrap();
    assert_eq!(read["steps"][0]["skip"], "none of \"one\"");
}

#[test]
fn a_way_of_writing_that_cannot_be_added_to_is_refused() {
    let text = "steps:\n  - ? key\n    : one\n";
    let error = parse(text).with_skips(text, &skips(&["one"])).unwrap_err();
    assert_eq!(error.reason(), "pipeline-not-writable");
}

/// What a slip of the hand, or of a program that writes pipelines, may leave in one.
const SLIPS: [&str; 16] = [
    "", " ", "\n", "\t", "{", "}", "[", "]", "&a ", "*a", "? ", ": ", "- ", "|", "<<: *a",
    "\u{feff}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A pipeline with slips is refused, or read; and what is written back has the same steps, or is refused.
    #[test]
    fn no_slip_in_a_pipeline_gets_through_unseen(
        slips in prop::collection::vec((any::<prop::sample::Index>(), 0..SLIPS.len(), 0..3_usize), 1..4),
    ) {
        let mut text: Vec<char> = MANY_WAYS.chars().collect();
        for (at, slip, taken) in slips {
            let at = at.index(text.len());
            let end = (at + taken).min(text.len());
            text.splice(at..end, SLIPS[slip].chars());
        }
        let text: String = text.into_iter().collect();
        let Ok(steps) = Steps::parse("p", &text) else {
            return Ok(());
        };
        let keys = ["one", "two", "three", "four", "five", "six"];
        let Ok(written) = steps.with_skips(&text, &skips(&keys)) else {
            return Ok(());
        };
        let again = Steps::parse("p", &written.text).unwrap();
        prop_assert_eq!(again.len(), steps.len());
        let said = |steps: &Steps| {
            let report = ask_records(&[ready(cuda())], steps, &["a.cu"]);
            let kept: Vec<_> = report.kept.iter().map(|step| (step.step.clone(), step.reason)).collect();
            (report.counts, kept, report.step_file)
        };
        prop_assert_eq!(said(&again), said(&steps));
    }
}
