//! The description of a bundle: one form only, since the bundle's digest covers it.

use kernrec_schemas::bundle::{BundleMeta, OriginLayout};
use kernrec_schemas::{JobId, StepKey};

fn written() -> String {
    let meta = BundleMeta {
        job_id: JobId::new("j-1").unwrap(),
        step_key: Some(StepKey::new("kernels").unwrap()),
        layout: OriginLayout::InBuild,
    };
    String::from_utf8(meta.to_bytes()).unwrap()
}

#[test]
fn what_was_written_is_read() {
    let meta = BundleMeta::parse(written().as_bytes()).unwrap();
    assert_eq!(meta.to_bytes(), written().as_bytes());
}

#[test]
fn a_later_version_and_what_says_more_are_refused() {
    for (from, to, reason) in [
        ("bundle/1", "bundle/2", "document-version"),
        ("{", "{\"of_a_later_version\":1,", "document-malformed"),
        (",", ", ", "document-refused"),
    ] {
        let changed = written().replacen(from, to, 1);
        assert_ne!(changed, written());
        let error = BundleMeta::parse(changed.as_bytes()).unwrap_err();
        assert_eq!(error.reason(), reason, "{changed}: {error}");
    }
}
