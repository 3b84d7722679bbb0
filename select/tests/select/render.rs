//! What people and scripts read.

use crate::common::ggml::record;
use crate::common::{ask, cuda, object, pair, ready, row_of, unavailable};
use kernrec_schemas::Backend;
use kernrec_schemas::table::RowReason;
use kernrec_select::{Pair, Report, render};

#[test]
fn text_of_a_real_kernel_file() {
    insta::assert_snapshot!(render::text(&ask(&[record()], &["src/ggml-cuda/rope.cu"])));
}

#[test]
fn text_of_a_real_host_only_file() {
    insta::assert_snapshot!(render::text(&ask(&[record()], &["src/ggml-cuda/mmq.cu"])));
}

#[test]
fn text_of_a_real_file_that_reaches_many_steps() {
    insta::assert_snapshot!(render::text(&ask(
        &[record()],
        &["src/ggml-cuda/unary.cu", "src/ggml-cuda/sum.cu"]
    )));
}

#[test]
fn text_of_two_backends_that_disagree() {
    let mut amd = pair(Backend::Rocm);
    row_of(&mut amd, "runs-b").reasons = [RowReason::JobMissing, RowReason::NoFooter].into();
    let report = ask(&[ready(cuda()), ready(amd)], &["a.cu"]);
    insta::assert_snapshot!(render::text(&report));
}

#[test]
fn text_of_a_backend_that_cannot_be_had() {
    let mut stale = Pair {
        published_at: None,
        revoked: true,
        ..cuda()
    };
    stale.maps[0]
        .objects
        .push(object("main.cpp", &[], &["a.cuh"]));
    let report = ask(
        &[ready(stale), unavailable(Backend::Rocm)],
        &["a.cuh", "README.md"],
    );
    insta::assert_snapshot!(render::text(&report));
}

#[test]
fn long_lists_are_counted() {
    let files: Vec<String> = (0..20)
        .map(|number| format!("docs/{number:02}.md"))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    insta::assert_snapshot!(render::text(&ask(&[ready(cuda())], &files)));
}

#[test]
fn names_from_recordings_cannot_steer_a_terminal() {
    let mut pair = cuda();
    pair.maps[0]
        .objects
        .push(object("c\u{1b}[2J.cu", &["kc"], &[]));
    let text = render::text(&ask(&[ready(pair)], &["c\u{1b}[2J.cu"]));
    assert!(text.contains("c\\u{1b}[2J.cu"));
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn json_of_two_backends() {
    let mut amd = pair(Backend::Rocm);
    row_of(&mut amd, "runs-b").passed = false;
    let report = ask(&[ready(cuda()), ready(amd)], &["a.cu", "b.cuh"]);
    insta::assert_json_snapshot!(report);
}

#[test]
fn json_of_a_backend_that_cannot_be_had() {
    insta::assert_json_snapshot!(ask(&[ready(cuda()), unavailable(Backend::Rocm)], &["a.cu"]));
}

#[test]
fn json_reads_back() {
    let report = ask(&[record()], &["src/ggml-cuda/rope.cu"]);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn every_report_fits_its_schema_and_a_changed_one_does_not() {
    let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let gone = ask(&[ready(cuda()), unavailable(Backend::Rocm)], &["a.cu"]);
    for report in [ask(&[record()], &["src/ggml-cuda/rope.cu"]), gone] {
        let mut document = serde_json::to_value(&report).unwrap();
        let errors: Vec<_> = validator.iter_errors(&document).collect();
        assert!(errors.is_empty(), "{errors:?}");
        document["files"][0]["seen"][0]["class"] = "file-may-vanish".into();
        assert!(!validator.is_valid(&document));
    }
}
