//! Whatever fails, the workload goes on and the recording says so.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, Left, assert_success};

fn with_knobs(knobs: &'static str, acts: &[&str]) -> Left {
    let bench = Bench::with(knobs);
    assert_success(&bench.run(acts));
    bench.one()
}

#[test]
fn only_validated_versions_are_recorded() {
    for knobs in [
        "version=10000",
        "version=10301",
        "version=10303",
        "version=10400",
        // The copy that called is not the one that is bound.
        "other-version=10303",
    ] {
        let left = with_knobs(knobs, &["launch=_Z1av*3"]);
        assert_eq!(left.state, ProcessState::Error, "{knobs}: {}", left.text);
        assert!(left.has_error("unsupported_sdk_version"), "{}", left.text);
        assert!(!left.text.contains("# sdk_version="), "{}", left.text);
        assert!(left.names.is_empty());
    }
}
