//! What the callbacks keep: against a model, and at its limits.

use std::collections::{BTreeMap, BTreeSet};

use kernrec_schemas::recording::{ProcessState, Recording};
use kernrec_trace_writer::{Backend, Header, Trace};
use proptest::prelude::*;

use crate::ffi::records::{Dispatch, Symbol};
use crate::kernels::{Kernels, MAX_KERNELS};

fn dispatched(kernels: &mut Kernels, kernel_id: u64, dispatch_id: u64) {
    kernels.dispatched(Dispatch {
        kernel_id,
        dispatch_id,
    });
}

/// Numbers that no symbol was registered for are kernels, too, as long as there is room.
#[test]
fn more_kernels_than_there_is_room_for_are_an_error() {
    let mut kernels = Kernels::default();
    let most = MAX_KERNELS as u64;
    for number in 1..=most {
        dispatched(&mut kernels, number, number);
    }
    assert!(!kernels.is_urgent());
    dispatched(&mut kernels, most + 1, most + 1);
    // Its error word waits to be written, and it is counted like the others.
    assert!(kernels.is_urgent());
    assert_eq!(kernels.unresolved(), most + 1);
    // Known ones still get their names.
    kernels.register(Symbol {
        kernel_id: 7,
        name: b"_Z1av.kd",
    });
    assert_eq!(kernels.unresolved(), most);
    assert_eq!(kernels.ids().missing(), 0);
}

#[test]
fn a_million_errors_take_no_room() {
    let mut kernels = Kernels::default();
    for _ in 0..1_000_000 {
        dispatched(&mut kernels, 1, 0);
    }
    assert_eq!(kernels.take().words().count(), 1_000);
    assert!(!kernels.is_urgent());
}

/// What can happen, in any order.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A kernel number gets its name. Two of a number are a conflict, so the name follows from the number.
    Register(u64),
    Dispatch(u64),
    /// The writer looks in.
    Write,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (1_u64..12).prop_map(Event::Register),
        (1_u64..12).prop_map(Event::Dispatch),
        Just(Event::Write),
    ]
}

/// Numbers of two devices share a name.
fn name(kernel: u64) -> String {
    format!("_Z{}v", kernel / 2)
}

proptest! {
    /// However names, records and writes interleave, the recording has the names of what ran, and counts it all.
    #[test]
    fn the_order_of_names_and_records_does_not_matter(events in prop::collection::vec(event(), 0..120)) {
        let folder = tempfile::tempdir().unwrap();
        let header = Header { backend: Backend::Rocm, forked: false, fields: &[] };
        let mut trace = Trace::create(folder.path(), &header).unwrap();
        let mut kernels = Kernels::default();
        let (mut named, mut ran) = (BTreeSet::new(), BTreeMap::<u64, u64>::new());
        let mut dispatches = 0;
        for event in events {
            match event {
                Event::Register(kernel) => {
                    named.insert(kernel);
                    let name = name(kernel) + ".kd";
                    kernels.register(Symbol { kernel_id: kernel, name: name.as_bytes() });
                }
                Event::Dispatch(kernel) => {
                    *ran.entry(kernel).or_default() += 1;
                    dispatches += 1;
                    dispatched(&mut kernels, kernel, dispatches);
                }
                Event::Write => kernels.take().write_to(&mut trace),
            }
        }
        kernels.take().write_to(&mut trace);
        trace.count(0, kernels.unresolved());
        trace.finish();

        let bytes = fs_err::read(trace.path()).unwrap();
        let recording = Recording::read(&bytes);
        let names: BTreeSet<String> = recording.names.iter().map(ToString::to_string).collect();
        let known = ran.keys().filter(|kernel| named.contains(kernel));
        prop_assert_eq!(names, known.map(|kernel| name(*kernel)).collect());
        let footer = recording.footer.unwrap();
        prop_assert_eq!(footer.records, dispatches);
        let nameless = ran.iter().filter(|(kernel, _)| !named.contains(kernel));
        let unresolved: u64 = nameless.map(|(_, count)| count).sum();
        prop_assert_eq!(footer.unresolved, Some(unresolved));
        prop_assert_eq!(recording.state == ProcessState::Clean, unresolved == 0);
        prop_assert_eq!(kernels.ids().missing(), 0);
    }
}
