//! A past record becomes current again, and what was newer never comes back.

use crate::support::{
    Fixture, bundle_key, ci, damage, map_key, publish_build, published, table_key,
};
use crate::wrapped::Wrapped;
use kernrec_admin::Standing;
use kernrec_admin::history::history;
use kernrec_admin::rollback::{Outcome, Rollback, RollbackError, RollbackRequest, rollback};
use kernrec_fetch::installed;
use kernrec_publish::Outcome as Published;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::pointer::RecordRef;
use kernrec_schemas::{Backend, BuildNumber, Digest, Pipeline};
use kernrec_store::{Store, pointers};
use std::sync::atomic::{AtomicBool, Ordering};

/// Does some harm to a store.
type Break = fn(&Fixture);

fn request<'a>(pipeline: &'a Pipeline, to: &'a str) -> RollbackRequest<'a> {
    RollbackRequest {
        pipeline,
        backend: Backend::Cuda,
        to,
        reason: Some("it skipped a test"),
        bundles: true,
        signing: kernrec_store::signing::Signing::default(),
        dry_run: false,
    }
}

fn back(fixture: &Fixture, to: &str) -> Result<Rollback, RollbackError> {
    rollback(&fixture.store, &request(&ci(), to))
}

fn builds(records: &[RecordRef]) -> Vec<u64> {
    records.iter().map(|record| record.build.0).collect()
}

fn installed_build(fixture: &Fixture) -> u64 {
    let pair = installed::open(&fixture.folder.path().join("out"), Backend::Cuda).unwrap();
    pair.record.build.0
}

#[test]
fn publish_and_fetch_refuse_what_was_revoked_and_the_next_build_works() {
    let fixture = published(&[1, 2, 3]);
    assert_eq!(fixture.fetch().exit, Exit::Done);
    assert_eq!(installed_build(&fixture), 3);
    let first = fixture.record(1);

    let done = back(&fixture, "1").unwrap();
    assert!(matches!(done.outcome, Outcome::RolledBack));
    assert_eq!(done.target, first, "its published_at is kept");
    assert_eq!(done.generation.unwrap().0, 4);
    assert_eq!(builds(&done.revoked), [3, 2]);

    assert_eq!(fixture.fetch().exit, Exit::Done);
    assert_eq!(installed_build(&fixture), 1);

    for build in [2, 3] {
        let report = publish_build(&fixture.store, build);
        assert_eq!(report.outcome, Published::Refused, "build {build}");
        assert!(
            report
                .refusals
                .iter()
                .any(|refusal| refusal.word() == "revoked")
        );
    }
    assert_eq!(
        publish_build(&fixture.store, 4).outcome,
        Published::Published
    );
    assert_eq!(fixture.fetch().exit, Exit::Done);
    assert_eq!(installed_build(&fixture), 4);
    // Still revoked, though a newer build came since.
    assert!(matches!(
        back(&fixture, "3"),
        Err(RollbackError::Revoked { .. })
    ));
}

#[test]
fn the_history_says_what_was_revoked_when_and_why() {
    let fixture = published(&[1, 2, 3]);
    back(&fixture, "2").unwrap();
    publish_build(&fixture.store, 4);
    let found = history(&fixture.store, &ci(), Backend::Cuda, 100)
        .unwrap()
        .unwrap();
    assert_eq!((found.generation.0, found.records), (5, 4));
    let shown: Vec<(u64, &str)> = found
        .entries
        .iter()
        .map(|entry| {
            let standing = match &entry.named.standing {
                Standing::Current => "current",
                Standing::Past => "past",
                Standing::Revoked { reason, .. } => reason.as_deref().unwrap(),
            };
            (entry.named.record.build.0, standing)
        })
        .collect();
    let expected = [
        (4, "current"),
        (2, "past"),
        (3, "it skipped a test"),
        (1, "past"),
    ];
    assert_eq!(shown, expected);
    assert!(
        found
            .entries
            .iter()
            .all(|entry| entry.counts.unwrap().rows == 1)
    );
    let none = history(&fixture.store, &ci(), Backend::Rocm, 100).unwrap();
    assert!(none.is_none());
}

#[test]
fn the_target_is_named_by_build_manifest_or_commit_and_only_one_record_may_be_meant() {
    let fixture = published(&[1, 2, 3]);
    let manifest = fixture.record(2).manifest.to_string();
    let dry = |to: &str| {
        let pipeline = ci();
        let request = RollbackRequest {
            dry_run: true,
            ..request(&pipeline, to)
        };
        rollback(&fixture.store, &request)
    };
    assert_eq!(dry("2").unwrap().target.build, BuildNumber(2));
    assert_eq!(dry(&manifest).unwrap().target.build, BuildNumber(2));
    // Every build here is of one commit.
    let error = dry("c0de").unwrap_err();
    assert!(matches!(error, RollbackError::Ambiguous { .. }), "{error}");
    for to in ["4", "beef", "", "0002", &manifest[..20]] {
        let error = dry(to).unwrap_err();
        assert!(
            matches!(error, RollbackError::NotInHistory { .. }),
            "{to}: {error}"
        );
    }
    assert_eq!(fixture.pointer().generation.0, 3, "a dry run moves nothing");
}

#[test]
fn the_current_record_is_not_gone_back_to() {
    let fixture = published(&[1, 2]);
    let done = back(&fixture, "2").unwrap();
    assert!(matches!(done.outcome, Outcome::Unchanged));
    assert_eq!((done.generation, builds(&done.revoked)), (None, vec![]));
    assert_eq!(fixture.pointer().generation.0, 2);
    // Nobody is told that all is well when it is not.
    damage(&fixture, &table_key(&fixture, 2));
    let error = back(&fixture, "2").unwrap_err();
    assert!(error.is_refusal(), "{error}");
    assert_eq!(error.reason(), "object-damaged");
    assert!(error.to_string().contains("build 2 (current)"), "{error}");
}

#[test]
fn a_target_that_is_not_whole_is_refused() {
    let breaks: [(&str, Break); 4] = [
        ("object-damaged", |fixture| {
            damage(fixture, &table_key(fixture, 1));
        }),
        ("not-found", |fixture| {
            fixture.store.delete(&map_key(fixture, 1)).unwrap();
        }),
        ("not-found", |fixture| {
            fixture.store.delete(&bundle_key(fixture, 1)).unwrap();
        }),
        ("object-damaged", |fixture| {
            let manifest = fixture.record(1).manifest;
            damage(fixture, &kernrec_store::Key::object(&manifest));
        }),
    ];
    for (reason, break_it) in breaks {
        let fixture = published(&[1, 2]);
        break_it(&fixture);
        let error = back(&fixture, "1").unwrap_err();
        assert!(
            matches!(error, RollbackError::Broken { told: true, .. }),
            "{error}"
        );
        assert_eq!(error.reason(), reason);
        assert_eq!(
            fixture.pointer().generation.0,
            2,
            "the pointer did not move"
        );
    }
    // Bundles may have been left to a lifecycle rule.
    let fixture = published(&[1, 2]);
    fixture.store.delete(&bundle_key(&fixture, 1)).unwrap();
    let pipeline = ci();
    let request = RollbackRequest {
        bundles: false,
        ..request(&pipeline, "1")
    };
    assert!(rollback(&fixture.store, &request).is_ok());
    assert_eq!(fixture.fetch().exit, Exit::Done);
}

#[test]
fn a_record_whose_documents_do_not_agree_is_refused() {
    let fixture = published(&[1, 2]);
    // A whole record that no publisher made: its manifest counts something else than its documents hold.
    let mut manifest = fixture.manifest(1);
    manifest.counts.kernels += 1;
    let digest = kernrec_store::objects::put(&fixture.store, &manifest.to_canonical()).unwrap();
    fixture.move_pointer(|pointer, nonce| {
        let mut next = pointer.advanced(pointer.current.clone(), nonce).unwrap();
        next.history.last_mut().unwrap().record.manifest = digest;
        next
    });
    let error = back(&fixture, "1").unwrap_err();
    assert_eq!(error.reason(), "counts-mismatch");
}

#[test]
fn a_lost_race_is_decided_again_and_revokes_what_came_meanwhile() {
    let fixture = published(&[1, 2]);
    let first = AtomicBool::new(true);
    let store = Wrapped::new(&fixture.store, |operation, _| {
        if operation == "swap_pointer" && first.swap(false, Ordering::SeqCst) {
            publish_build(&fixture.store, 3);
        }
    });
    let done = rollback(&store, &request(&ci(), "1")).unwrap();
    assert_eq!(builds(&done.revoked), [3, 2]);
    assert_eq!(fixture.pointer().current.build.0, 1);
}

#[test]
fn a_target_that_another_operator_revokes_meanwhile_is_refused() {
    let fixture = published(&[1, 2, 3]);
    let first = AtomicBool::new(true);
    let store = Wrapped::new(&fixture.store, |operation, _| {
        if operation == "swap_pointer" && first.swap(false, Ordering::SeqCst) {
            back(&fixture, "1").unwrap();
        }
    });
    let error = rollback(&store, &request(&ci(), "2")).unwrap_err();
    assert!(matches!(error, RollbackError::Revoked { .. }), "{error}");
    assert_eq!(fixture.pointer().current.build.0, 1);
}

#[test]
fn a_full_history_still_forgets_nothing_that_was_revoked() {
    let fixture = published(&[1]);
    // 256 past records, as many as a pointer holds, all naming build 1's objects.
    fixture.move_pointer(|mut pointer, _| {
        for build in 2..=257 {
            let nonce = pointers::fresh_nonce().unwrap();
            let record = RecordRef {
                manifest: Digest::of(&[
                    u8::try_from(build % 251).unwrap(),
                    1,
                    u8::try_from(build / 251).unwrap(),
                ]),
                build: BuildNumber(build),
                ..pointer.current.clone()
            };
            pointer = pointer.advanced(record, nonce).unwrap();
        }
        pointer
    });
    assert_eq!(fixture.pointer().history.len(), 256);
    let done = back(&fixture, "1").unwrap();
    assert_eq!(done.revoked.len(), 256);
    let pointer = fixture.pointer();
    assert_eq!((pointer.current.build.0, pointer.history.len()), (1, 256));
    let revoked = |build| {
        pointer
            .revocation(&Digest::of(b"another"), BuildNumber(build))
            .is_some()
    };
    assert!((2..=257).all(revoked));
    assert_eq!(
        publish_build(&fixture.store, 200).outcome,
        Published::Refused
    );
}

#[test]
fn nothing_published_and_a_reason_too_long() {
    let fixture = published(&[1]);
    let pipeline: Pipeline = "other".parse().unwrap();
    let error = rollback(&fixture.store, &request(&pipeline, "1")).unwrap_err();
    assert_eq!(error.reason(), "not-published");
    let (pipeline, long) = (ci(), "x".repeat(501));
    let request = RollbackRequest {
        reason: Some(&long),
        ..request(&pipeline, "1")
    };
    let error = rollback(&fixture.store, &request).unwrap_err();
    assert_eq!(error.reason(), "reason-too-long");
}
