//! What is dispatched is what is recorded.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success};

#[test]
fn kernels_are_recorded_once_each_and_in_order() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1bv*500", "launch=_Z1av", "launch=_Z1bv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1bv", "_Z1av"]);
    assert_eq!(left.records, Some(502));
    let lines: Vec<&str> = left.text.lines().collect();
    assert!(lines[0].starts_with("# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid="));
    assert_eq!(
        lines[1..],
        [
            "# sdk_version=10302 build_sdk_version=10302",
            "# gpu_active",
            "_Z1bv",
            "_Z1av",
            "# end records=502 unique=2 dropped=0 errors=0 unresolved=0"
        ]
    );
}
