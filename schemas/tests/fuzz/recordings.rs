//! Damage to clean recordings: what the format can prove.

use kernrec_schemas::recording::{ProcessState, Recording};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeSet;

/// A clean recording of either backend and the names in it.
fn clean() -> impl Strategy<Value = (String, BTreeSet<String>)> {
    let names = proptest::collection::btree_set("[A-Za-z_][A-Za-z0-9_]{0,12}", 0..12);
    (names, any::<bool>(), 0..1000_usize).prop_map(|(names, rocm, more)| {
        let (backend, recorder) = if rocm {
            ("rocm", "rocprofiler-sdk")
        } else {
            ("cuda", "cupti")
        };
        let mut text = format!(
            "# kernrec v1 backend={backend} recorder={recorder} pid=7 ppid=6 exe=/usr/bin/python3\n"
        );
        if rocm {
            text += "# sdk_version=10302 build_sdk_version=10302\n";
            text += if names.is_empty() {
                ""
            } else {
                "# gpu_active\n"
            };
        }
        for name in &names {
            text += name;
            text.push('\n');
        }
        let unique = names.len();
        let records = unique + more;
        let counts = format!("records={records} unique={unique} dropped=0 errors=0 unresolved=0");
        text += "# end ";
        text += &counts;
        text.push('\n');
        (text, names)
    })
}

fn missing(names: &BTreeSet<String>, recording: &Recording<'_>) -> usize {
    names
        .iter()
        .filter(|name| !recording.names.iter().any(|kept| kept == *name))
        .count()
}

proptest! {
    #[test]
    fn generated_recordings_are_clean((text, names) in clean()) {
        let recording = Recording::read(text.as_bytes());
        prop_assert_eq!(recording.state, ProcessState::Clean);
        prop_assert_eq!(missing(&names, &recording), 0);
        prop_assert_eq!(recording.names.len(), names.len());
    }

    /// The format has no checksum, so a letter of a name that became another letter cannot be noticed.
    /// Everything else can: a recording that still reads as healthy has as many names as before.
    #[test]
    fn one_damaged_byte_never_loses_a_name_unnoticed((text, names) in clean(), at in any::<Index>(), byte in any::<u8>()) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let recording = Recording::read(&bytes);
        if recording.state.is_healthy() {
            prop_assert_eq!(recording.names.len(), names.len());
            prop_assert!(missing(&names, &recording) <= 1);
        } else {
            prop_assert!(missing(&names, &recording) <= 2, "at most the damaged line and its neighbour");
        }
    }

    #[test]
    fn a_recording_cut_anywhere_is_not_healthy_while_it_has_names((text, _) in clean(), at in any::<Index>()) {
        let at = at.index(text.len());
        let recording = Recording::read(&text.as_bytes()[..at]);
        // Cut before any name, a ROCm file may be idle, which is what a killed idle process looks like: the
        // recorder therefore writes `gpu_active` before the first name.
        if recording.state.is_healthy() {
            prop_assert_eq!(recording.state, ProcessState::Idle);
            prop_assert!(recording.names.is_empty());
        }
    }

    #[test]
    fn a_line_lost_from_the_middle_is_noticed((text, names) in clean(), at in any::<Index>()) {
        prop_assume!(!names.is_empty());
        let lost = names.iter().nth(at.index(names.len())).unwrap();
        let damaged = text.replacen(&format!("\n{lost}\n"), "\n", 1);
        prop_assert!(!Recording::read(damaged.as_bytes()).state.is_healthy());
    }
}
