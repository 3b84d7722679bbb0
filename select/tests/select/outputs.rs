//! What pipelines and people get: comments, job outputs, pipelines with skips, the schema.

use crate::common::ggml::record;
use crate::common::{ask, cuda, object, policy, ready, row, step};
use kernrec_schemas::{Backend, KernelName, RowBackend};
use kernrec_select::render::{
    MAX_MARKDOWN_BYTES, MAX_SKIP_CHARACTERS, demangled, github_outputs, markdown, skip_reasons,
};
use kernrec_select::{Change, Pair, Question, Record, Report, Steps, select};
use std::path::Path;

fn with_pipeline(files: &[&str]) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200/pipeline.yml");
    let steps = Steps::parse("pipeline.yml", &fs_err::read_to_string(path).unwrap()).unwrap();
    let change = Change::of_files(files).unwrap();
    let question = Question {
        change: &change,
        steps: Some(&steps),
        policy: policy(),
        placing: kernrec_select::Placing::File,
        libraries: None,
    };
    select(&[record()], &question).unwrap()
}

#[test]
fn the_step_file_of_the_real_data_names_its_129_steps() {
    let report = with_pipeline(&["src/ggml-cuda/rope.cu"]);
    let file = report.step_file.as_ref().unwrap();
    assert_eq!(
        (file.steps, file.rows_without_step),
        (130, 0),
        "the build, and no other"
    );
    assert!(report.notes.is_empty() && file.without_key.is_empty());
}

#[test]
fn a_comment_on_a_real_change() {
    let report = with_pipeline(&["src/ggml-cuda/rope.cu", "docs/build.md"]);
    insta::assert_snapshot!(markdown(&report));
}

#[test]
fn a_comment_when_everything_must_run() {
    insta::assert_snapshot!(markdown(&ask(&[record()], &["src/ggml-cuda/mmq.cu"])));
    let stopped = Report::stopped(
        "revision-unknown",
        "`main` names no commit in `@all`",
        &policy(),
    );
    assert_eq!(
        markdown(&stopped),
        "<!-- kernrec-selection -->\n**kernrec: everything must run.** revision-unknown: <code>&#96;main&#96; names no \
         commit in &#96;&#64;all&#96;</code>\n\n"
    );
}

#[test]
fn a_comment_does_not_change_with_the_time() {
    let report = with_pipeline(&["src/ggml-cuda/rope.cu"]);
    let mut later = report.clone();
    later.decided_at = "2031-01-01T00:00:00Z".parse().unwrap();
    if let kernrec_select::RecordState::Ready { age_seconds, .. } = &mut later.records[0].state {
        *age_seconds = Some(1_000_000);
    }
    assert_eq!(markdown(&report), markdown(&later));
}

/// Names with everything that Markdown, HTML and GitHub read something into.
const HOSTILE: &str = "a|b`c``d\\|e<b>f</b>@everyone #1 ![x](http://x) *g* _h_ | --- |";

fn hostile_record(steps: usize) -> Record {
    let mut pair: Pair = cuda();
    pair.table.rows.clear();
    for number in 0..steps {
        let name = format!("{HOSTILE} {number}");
        let own = RowBackend::Known(Backend::Cuda);
        let mut hostile = row(own, if number % 2 == 0 { vec![0] } else { vec![] });
        hostile.passed = number % 3 != 0;
        pair.table.rows.insert(step(&name), hostile);
    }
    pair.table.names = vec![KernelName::new("k`|\\<b>@all").unwrap()];
    pair.maps[0].objects = vec![object(&format!("{HOSTILE}.cu"), &["k`|\\<b>@all"], &[])];
    ready(pair)
}

#[test]
fn names_of_others_mean_nothing_in_a_comment() {
    let file = format!("{HOSTILE}.cu");
    let text = markdown(&ask(&[hostile_record(12)], &[&file]));
    assert!(text.contains("&#64;everyone"));
    for line in text.lines().filter(|line| line.starts_with('|')) {
        // What is in code is no structure.
        let outside: String = line
            .split("<code>")
            .map(|part| part.split_once("</code>").map_or(part, |(_, rest)| rest))
            .collect();
        let columns = line.matches('|').count() - 1;
        assert!((2..=5).contains(&columns), "{line}");
        assert!(
            !outside.contains(['`', '@', '*', '#', '<', '!']) || outside.contains("<br>"),
            "{outside}"
        );
    }
}

#[test]
fn a_comment_is_never_too_long() {
    let long = "x|".repeat(500);
    for count in [10, 300, 3000] {
        let files: Vec<String> = (0..count).map(|n| format!("{long}{n}.cu")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let text = markdown(&ask(&[hostile_record(count)], &files));
        assert!(text.len() <= MAX_MARKDOWN_BYTES, "{}", text.len());
        assert!(text.contains("everything must run"));
        assert!(
            text.contains("file-not-in-map"),
            "something is left of the tables"
        );
    }
}

#[test]
fn outputs_of_a_job_have_one_line_each() {
    let report = with_pipeline(&["src/ggml-cuda/pad.cu"]);
    let outputs = github_outputs(&report);
    let lines: Vec<&str> = outputs.lines().collect();
    assert_eq!(lines[0], "everything-must-run=false");
    assert_eq!(
        lines[1],
        "keys=[\"build\",\"op-flash-attn-ext\",\"op-pad\"]"
    );
    let skipped: Vec<String> =
        serde_json::from_str(lines[2].strip_prefix("skip=").unwrap()).unwrap();
    assert_eq!(skipped.len() as u64, report.counts.skipped);
    let everything = ask(&[record()], &["src/ggml-cuda/mmq.cu"]);
    assert_eq!(
        github_outputs(&everything),
        "everything-must-run=true\nkeys=\nskip=\n"
    );
}

#[test]
fn the_reason_beside_a_skipped_step_fits() {
    let reasons = skip_reasons(&with_pipeline(&["src/ggml-cuda/pad.cu"]));
    assert_eq!(
        reasons[&step("op-rope")],
        "launched no kernel from a changed file (cuda d99724f2)"
    );
    assert_eq!(reasons[&step("torch-conv")], "no file of the step changed");
    let mut amd = crate::common::pair(Backend::Rocm);
    let digits = kernrec_schemas::Commit::new("0123456789abcdef").unwrap();
    amd.table.source.commit = Some(digits.clone());
    amd.maps[0].commit = Some(digits.clone());
    let mut nvidia = cuda();
    nvidia.table.source.commit = Some(digits.clone());
    nvidia.maps[0].commit = Some(digits);
    let reasons = skip_reasons(&ask(&[ready(nvidia), ready(amd)], &["a.cu"]));
    assert_eq!(
        reasons[&step("idle")],
        "launched no kernel from a changed file (cuda 01234567, rocm 01234567)"
    );
    assert!(
        reasons
            .values()
            .all(|reason| reason.chars().count() <= MAX_SKIP_CHARACTERS)
    );
}

#[test]
fn kernel_names_are_shown_as_they_were_written() {
    for (mangled, shown) in [
        ("_Z9demoScalePfi", "demoScale"),
        ("_Z4ropeILb1EfEvPKT0_", "rope<true, float>"),
        ("_ZN2at6native6kernelEv", "at::native::kernel"),
        ("triton_add", "triton_add"),
        ("_Z", "_Z"),
        ("_Zbroken\u{7}", "_Zbroken\\u{7}"),
    ] {
        assert_eq!(demangled(mangled), shown);
    }
    // Each `S_` stands for all before it.
    let mut bomb = "_Z1fI1aE".to_owned();
    bomb.push_str(&"St4pairIS_S_E".repeat(200));
    assert!(demangled(&bomb).len() <= 5000);
    assert_eq!(demangled(&"_Z".repeat(5000)), "_Z".repeat(5000));
}

#[test]
fn the_checked_in_schema_is_that_of_the_report() {
    let schema = kernrec_schemas::json::pretty(&schemars::schema_for!(Report));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/json/selection.schema.json");
    if std::env::var_os("KERNREC_UPDATE_SCHEMAS").is_some_and(|value| value == "1") {
        kernrec_store::fsio::write_atomic(&path, &schema).unwrap();
    }
    assert!(
        fs_err::read(path).unwrap() == schema,
        "KERNREC_UPDATE_SCHEMAS=1 rewrites it"
    );
}
