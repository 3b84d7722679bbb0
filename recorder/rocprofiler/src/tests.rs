//! What the callbacks keep, at its limits.

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
