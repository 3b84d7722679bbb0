//! The pointer: moves, history, rollbacks.

use kernrec_schemas::pointer::{HISTORY_LIMIT, Pointer, RecordRef};
use kernrec_schemas::{
    Backend, BuildNumber, Commit, Digest, Generation, Nonce, Pipeline, Timestamp,
};

fn record(name: &str, build: u64) -> RecordRef {
    RecordRef {
        manifest: Digest::of(name.as_bytes()),
        commit: Commit::new(name).unwrap(),
        build: BuildNumber(build),
        published_at: time(1_000_000 + i64::try_from(build).unwrap()),
    }
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_unix(seconds).unwrap()
}

fn nonce(n: u64) -> Nonce {
    Nonce::new(format!("{n:032x}")).unwrap()
}

fn first() -> Pointer {
    Pointer::first(
        Pipeline::new("ci").unwrap(),
        Backend::Cuda,
        record("r1", 1),
        nonce(1),
    )
}

/// A pointer that has named r1, r2, … r`n`, of the builds 1 to n.
fn moved_to(n: u64) -> Pointer {
    (2..=n).fold(first(), |pointer, n| {
        pointer
            .advanced(record(&format!("r{n}"), n), nonce(n))
            .unwrap()
    })
}

fn digest(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

fn good(pointer: &Pointer) -> Vec<&str> {
    pointer
        .good_records()
        .map(|record| record.commit.as_str())
        .collect()
}

fn revoked(pointer: &Pointer, name: &str, build: u64) -> bool {
    pointer
        .revocation(&digest(name), BuildNumber(build))
        .is_some()
}

#[test]
fn every_move_counts_and_remembers() {
    let pointer = moved_to(3);
    assert_eq!(pointer.generation, Generation(3));
    assert_eq!(pointer.current, record("r3", 3));
    assert_eq!(good(&pointer), ["r3", "r2", "r1"]);
    assert_eq!(pointer.nonce, nonce(3));
}

#[test]
fn no_two_versions_are_byte_equal() {
    let pointer = moved_to(2);
    let again = pointer.advanced(record("r2", 2), nonce(3)).unwrap();
    let other_writer = pointer.advanced(record("r2", 2), nonce(4)).unwrap();
    assert_ne!(pointer.to_bytes(), again.to_bytes());
    assert_ne!(again.to_bytes(), other_writer.to_bytes());
}

#[test]
fn the_history_is_bounded_and_keeps_the_newest() {
    let limit = HISTORY_LIMIT as u64;
    let pointer = moved_to(limit + 10);
    assert_eq!(pointer.history.len(), HISTORY_LIMIT);
    assert_eq!(pointer.history[0].record.build, BuildNumber(limit + 9));
    assert_eq!(
        pointer.history[HISTORY_LIMIT - 1].record.build,
        BuildNumber(10)
    );
    Pointer::parse(&pointer.to_bytes()).unwrap();
}

#[test]
fn a_rollback_is_a_forward_move_that_revokes_everything_newer() {
    let now = time(5_000_000);
    let back = moved_to(4)
        .rolled_back(&digest("r2"), nonce(9), now)
        .unwrap();
    assert_eq!(back.generation, Generation(5));
    assert_eq!(
        back.current,
        record("r2", 2),
        "the target, with the time it was first published"
    );
    assert_eq!(good(&back), ["r2", "r1"]);
    for (name, build) in [("r3", 3), ("r4", 4)] {
        assert_eq!(
            back.revocation(&digest(name), BuildNumber(build)),
            Some(now),
            "{name}"
        );
        assert!(
            revoked(&back, "made anew", build),
            "another record of build {build}"
        );
    }
    assert!(!revoked(&back, "r2", 2));
    assert!(!revoked(&back, "r1", 1));
    assert!(!revoked(&back, "r5", 5));
    let twice = back
        .history
        .iter()
        .filter(|past| past.record == back.current)
        .count();
    assert_eq!(twice, 0, "the target is no longer past");
}

#[test]
fn after_a_rollback_the_pointer_moves_on() {
    let back = moved_to(4)
        .rolled_back(&digest("r2"), nonce(9), time(5_000_000))
        .unwrap();
    let next = back.advanced(record("r5", 5), nonce(10)).unwrap();
    assert_eq!(good(&next), ["r5", "r2", "r1"]);
    assert!(revoked(&next, "r3", 3) && revoked(&next, "r4", 4));
    assert_eq!(
        next.rolled_back(&digest("r3"), nonce(11), time(6_000_000)),
        None,
        "revoked for good"
    );
}

#[test]
fn a_second_rollback_keeps_the_time_of_the_first() {
    let (first, second) = (time(5_000_000), time(6_000_000));
    let back = moved_to(4)
        .rolled_back(&digest("r3"), nonce(9), first)
        .unwrap();
    let further = back.rolled_back(&digest("r1"), nonce(10), second).unwrap();
    assert_eq!(good(&further), ["r1"]);
    assert_eq!(
        further.revocation(&digest("r4"), BuildNumber(4)),
        Some(first)
    );
    assert_eq!(
        further.revocation(&digest("r3"), BuildNumber(3)),
        Some(second)
    );
}

#[test]
fn rolling_back_within_one_build_keeps_the_target_good() {
    // The same build published twice, the second time badly.
    let pointer = moved_to(2)
        .advanced(record("r2-again", 2), nonce(3))
        .unwrap();
    let back = pointer
        .rolled_back(&digest("r2"), nonce(4), time(5_000_000))
        .unwrap();
    assert_eq!(good(&back), ["r2", "r1"]);
    assert!(!revoked(&back, "r2", 2), "current");
    assert!(revoked(&back, "r2-again", 2));
    assert!(
        revoked(&back, "r2-third", 2),
        "the build is revoked for records yet unknown"
    );
    let next = back.advanced(record("r3", 3), nonce(5)).unwrap();
    assert!(!revoked(&next, "r2", 2), "and stays good when it is past");
    assert_eq!(good(&next), ["r3", "r2", "r1"]);
    assert!(
        next.rolled_back(&digest("r2"), nonce(6), time(6_000_000))
            .is_some()
    );
}

#[test]
fn only_a_good_past_record_can_be_the_target() {
    let pointer = moved_to(3);
    assert_eq!(
        pointer.rolled_back(&digest("r3"), nonce(9), time(0)),
        None,
        "current"
    );
    assert_eq!(
        pointer.rolled_back(&digest("other"), nonce(9), time(0)),
        None,
        "never named"
    );
    let mut exhausted = pointer;
    exhausted.generation = Generation(u64::MAX);
    assert_eq!(
        exhausted.rolled_back(&digest("r1"), nonce(9), time(0)),
        None
    );
    assert_eq!(exhausted.advanced(record("r4", 4), nonce(9)), None);
}

#[test]
fn rolling_back_to_the_oldest_of_a_full_history() {
    let pointer = moved_to(HISTORY_LIMIT as u64 + 1);
    assert_eq!(pointer.history.len(), HISTORY_LIMIT);
    let back = pointer
        .rolled_back(&digest("r1"), nonce(9), time(5_000_000))
        .unwrap();
    assert_eq!(good(&back), ["r1"]);
    assert_eq!(back.history.len(), HISTORY_LIMIT);
    assert!(back.history.iter().all(|past| past.revoked.is_some()));
    Pointer::parse(&back.to_bytes()).unwrap();
}

#[test]
fn a_revoked_build_is_remembered_for_as_long_as_ordering_would_let_it_in() {
    let back = moved_to(4)
        .rolled_back(&digest("r2"), nonce(9), time(5_000_000))
        .unwrap();
    // The good build is published again and again, each time with another record.
    let limit = HISTORY_LIMIT as u64;
    let full = (0..limit + 9).fold(back, |pointer, n| {
        pointer
            .advanced(record(&format!("again{n}"), 2), nonce(100 + n))
            .unwrap()
    });
    assert_eq!(full.history.len(), HISTORY_LIMIT);
    assert!(revoked(&full, "r3", 3) && revoked(&full, "made anew", 4));
    Pointer::parse(&full.to_bytes()).unwrap();
    // Once later builds are current, ordering keeps the revoked ones out, and they may be forgotten.
    let later = (0..=limit).fold(full, |pointer, n| {
        pointer
            .advanced(record(&format!("later{n}"), 5), nonce(1000 + n))
            .unwrap()
    });
    assert_eq!(later.history.len(), HISTORY_LIMIT);
    assert!(later.history.iter().all(|past| past.revoked.is_none()));
}

#[test]
fn the_current_record_is_no_target_even_when_it_was_current_before() {
    let again = moved_to(2).advanced(record("r1", 1), nonce(3)).unwrap();
    assert_eq!(again.rolled_back(&digest("r1"), nonce(9), time(0)), None);
}

#[test]
fn it_reads_back_byte_for_byte() {
    let pointer = moved_to(4)
        .rolled_back(&digest("r2"), nonce(9), time(5_000_000))
        .unwrap();
    let read = Pointer::parse(&pointer.to_bytes()).unwrap();
    assert_eq!(read, pointer);
    assert_eq!(read.to_bytes(), pointer.to_bytes());
}

#[test]
fn refusals() {
    let text = String::from_utf8(moved_to(2).to_bytes()).unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Pointer::parse(text.replacen(from, to, 1).as_bytes())
            .unwrap_err()
            .reason()
    };
    assert_eq!(refusal("pointer/1", "pointer/2"), "document-version");
    assert_eq!(
        refusal("\"generation\": 2", "\"generation\": 0"),
        "document-refused"
    );
    assert_eq!(
        refusal("\"generation\": 2", "\"generation\": -1"),
        "document-malformed"
    );
    assert_eq!(
        refusal("\"generation\": 2", "\"generation\": 2, \"generation\": 3"),
        "document-malformed"
    );
    assert_eq!(
        refusal("\"backend\": \"cuda\"", "\"backend\": \"unknown\""),
        "document-malformed"
    );
    assert_eq!(
        refusal("\"pipeline\": \"ci\"", "\"pipeline\": \"../ci\""),
        "document-malformed"
    );
    assert_eq!(refusal("b3:", "b4:"), "document-malformed");
    assert_eq!(
        Pointer::parse(b"").unwrap_err().reason(),
        "document-malformed"
    );
    let mut long = moved_to(2);
    long.history = vec![long.history[0].clone(); HISTORY_LIMIT + 1];
    assert_eq!(
        Pointer::parse(&long.to_bytes()).unwrap_err().reason(),
        "document-refused"
    );
}
