//! Fuzz-style tests: each target is a plain function over bytes that fails by panicking, so that any fuzzer
//! can drive it. Here the kept corpus is replayed, and proptest drives it with damaged corpus files.
//!
//! An input that once failed belongs in `tests/corpus/<target>/`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
mod mutate;
mod order;
mod recordings;
mod rows;
mod stable_names;
mod targets;

use corpus::Target;
use proptest::prelude::*;

/// Replays the corpus of a target and drives it with damaged members, in bytes and in JSON values.
macro_rules! fuzz {
    ($($name:ident: $folder:literal, $target:path;)+) => {
        $(mod $name {
            use super::*;

            const TARGET: Target = Target { folder: $folder, run: $target };

            #[test]
            fn corpus() {
                TARGET.replay();
            }

            proptest! {
                #[test]
                fn damaged_bytes(input in mutate::bytes(TARGET.corpus())) {
                    (TARGET.run)(&input);
                }

                #[test]
                fn damaged_values(input in mutate::values(TARGET.corpus())) {
                    (TARGET.run)(&input);
                }

                #[test]
                fn any_bytes(input in proptest::collection::vec(any::<u8>(), 0..200)) {
                    (TARGET.run)(&input);
                }
            }
        })+
    };
}

fuzz! {
    recording: "recording", targets::fuzz_recording;
    function_recording: "function_recording", targets::fuzz_function_recording;
    session_notes: "session_notes", targets::fuzz_session_notes;
    sidecar: "sidecar", targets::fuzz_sidecar;
    table: "table", targets::fuzz_table;
    function_table: "function_table", targets::fuzz_function_table;
    symbol_map: "symbol_map", targets::fuzz_symbol_map;
    manifest: "manifest", targets::fuzz_manifest;
    installed: "installed", targets::fuzz_installed;
    pointer: "pointer", targets::fuzz_pointer;
    upstream_pointer: "upstream_pointer", targets::fuzz_upstream_pointer;
    jobs: "jobs", targets::fuzz_jobs;
    stable_form: "stable_form", targets::fuzz_stable_form;
}
