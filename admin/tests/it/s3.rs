//! The same work on a real S3 server.

use crate::seaweed::{BUCKET, READER, Seaweed, WRITER};
use crate::support::{ci, orphan, publish_build};
use kernrec_admin::artifact::get_document;
use kernrec_admin::check::{Verdict, check};
use kernrec_admin::fsck::{Fsck, FsckOptions, fsck};
use kernrec_admin::gc::{Gc, GcOptions, gc};
use kernrec_admin::history::history;
use kernrec_admin::rollback::{Outcome, RollbackRequest, rollback};
use kernrec_publish::Outcome as Published;
use kernrec_schemas::Backend;
use kernrec_store::remote::{Credentials, RemoteOptions, open_remote};
use kernrec_store::{Key, Store, objects};
use std::time::Duration;

fn open(server: &Seaweed, (key, secret): (&str, &str)) -> Box<dyn Store> {
    let options = RemoteOptions {
        endpoint: Some(server.endpoint.clone()),
        credentials: Some(Credentials {
            key_id: key.into(),
            secret: secret.into(),
        }),
        ..RemoteOptions::default()
    };
    open_remote(&format!("s3://{BUCKET}/some/prefix"), &options).unwrap()
}

fn look(store: &dyn Store, quick: bool) -> Fsck {
    let options = FsckOptions {
        quick,
        bundles: true,
        pipeline: ci(),
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    fsck(store, &options).unwrap()
}

fn remove_everything_unnamed(store: &dyn Store) -> Gc {
    let options = GcOptions {
        grace: Duration::ZERO,
        delete: true,
        quiescent: true,
        accept_broken: false,
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    gc(store, &options).unwrap()
}

#[test]
fn a_bucket_is_proven_checked_cleaned_and_rolled_back() {
    let server = Seaweed::start();
    let store = open(&server, WRITER);
    every_promise_is_kept(&*store);

    for build in 1..=3 {
        assert_eq!(publish_build(&*store, build).outcome, Published::Published);
    }
    assert!(look(&*store, true).findings.is_empty());
    assert!(look(&*store, false).findings.is_empty());
    an_orphan_goes_and_nothing_else(&*store);
    a_rollback_is_a_move_like_any_other(&*store);

    let reader = open(&server, READER);
    assert!(
        look(&*reader, true).findings.is_empty(),
        "checking needs no right to write"
    );
    assert_eq!(
        check(&*reader, &ci()).unwrap_err().reason(),
        "access-denied"
    );
}

fn every_promise_is_kept(store: &dyn Store) {
    let found = check(store, &ci()).unwrap();
    for (promise, verdict) in &found.promises {
        assert!(matches!(verdict, Verdict::Kept), "{promise:?}: {verdict:?}");
    }
    assert!(found.left_behind.is_none());
    assert_eq!(store.list(&Key::new("scratch").unwrap()).unwrap(), []);
}

fn an_orphan_goes_and_nothing_else(store: &dyn Store) {
    let digest = orphan(store, b"nobody names this");
    assert_eq!(get_document(store, &digest).unwrap(), b"nobody names this");
    let orphans: Vec<Key> = look(store, true)
        .orphans
        .unwrap()
        .into_iter()
        .map(|entry| entry.key)
        .collect();
    assert_eq!(orphans, [Key::object(&digest)]);
    let done = remove_everything_unnamed(store);
    assert!(done.failure.is_none(), "{done:?}");
    let removed: Vec<Key> = done.removed.into_iter().map(|entry| entry.key).collect();
    assert_eq!(removed, orphans);
    assert_eq!(
        get_document(store, &digest).unwrap_err().reason(),
        "not-found"
    );
    assert!(look(store, false).findings.is_empty());
}

fn a_rollback_is_a_move_like_any_other(store: &dyn Store) {
    let request = RollbackRequest {
        pipeline: &ci(),
        backend: Backend::Cuda,
        to: "1",
        reason: None,
        bundles: true,
        signing: kernrec_store::signing::Signing::default(),
        dry_run: false,
    };
    let done = rollback(store, &request).unwrap();
    assert!(matches!(done.outcome, Outcome::RolledBack), "{done:?}");
    let found = history(store, &ci(), Backend::Cuda, 10).unwrap().unwrap();
    let builds: Vec<u64> = found
        .entries
        .iter()
        .map(|entry| entry.named.record.build.0)
        .collect();
    assert_eq!((found.generation.0, builds), (4, vec![1, 3, 2]));
    assert_eq!(publish_build(store, 3).outcome, Published::Refused);
    // Revoked records are kept, their objects too.
    assert!(remove_everything_unnamed(store).removed.is_empty());
    let table = objects::read_bounded(store, &found.entries[1].named.record.manifest, 4 << 20);
    assert!(table.is_ok());
}
