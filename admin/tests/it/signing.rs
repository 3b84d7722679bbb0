//! A rollback moves a signed pointer only with a key, and what it revokes is signed too.

use crate::gc::options;
use crate::support::{Fixture, ci, days, orphan, published};
use kernrec_admin::fsck::{Finding, FsckOptions, fsck};
use kernrec_admin::gc::{GcOptions, gc};
use kernrec_admin::history::history;
use kernrec_admin::rollback::{Outcome, Rollback, RollbackError, RollbackRequest, rollback};
use kernrec_fetch::{Backends, FetchOptions, Silent, Source, Status, fetch};
use kernrec_schemas::Backend;
use kernrec_store::pointers;
use kernrec_store::signing::{Signing, SigningKey, TrustedKeys};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/signing-keys");
    PathBuf::from(keys).join(name)
}

fn signs(name: &str, adopt_unsigned: bool) -> Signing {
    Signing {
        key: Some(SigningKey::load(&file(&format!("{name}.pem"))).unwrap()),
        adopt_unsigned,
        ..Signing::default()
    }
}

fn back(fixture: &Fixture, to: &str, signing: Signing) -> Result<Rollback, RollbackError> {
    let request = RollbackRequest {
        pipeline: &ci(),
        backend: Backend::Cuda,
        to,
        reason: None,
        bundles: true,
        signing,
        dry_run: false,
    };
    rollback(&fixture.store, &request)
}

fn refused(result: Result<Rollback, RollbackError>) -> &'static str {
    let error = result.unwrap_err();
    assert!(error.is_refusal(), "{error}");
    error.reason()
}

#[test]
fn it_needs_the_key_of_a_signed_pointer_and_signs_what_it_revokes() {
    let fixture = published(&[1, 2, 3]);
    assert_eq!(
        refused(back(&fixture, "2", signs("one", false))),
        "signature-missing"
    );
    let done = back(&fixture, "2", signs("one", true)).unwrap();
    assert!(matches!(done.outcome, Outcome::RolledBack), "{done:?}");
    assert_eq!(
        refused(back(&fixture, "1", Signing::default())),
        "signing-key-missing"
    );
    assert_eq!(
        refused(back(&fixture, "1", signs("two", true))),
        "signature-unknown-key"
    );
    let keys = TrustedKeys::load([file("one.pub.pem")]).unwrap();
    let found = pointers::read(&fixture.store, &ci(), Backend::Cuda)
        .unwrap()
        .unwrap();
    found.seal.verify(&keys).unwrap();

    // Nobody else can take the revocation back.
    let options = FetchOptions {
        backends: Backends::Listed(vec![Backend::Cuda]),
        require_keys: keys,
        ..FetchOptions::new(fixture.folder.path().join("out"))
    };
    let fetched = || fetch(Source::Store(&fixture.store), &options, &Silent).backends[0].clone();
    let good = fetched();
    assert_eq!(good.status, Status::Installed, "{good:?}");
    fixture.move_pointer(|mut pointer, _| {
        pointer.history[0].revoked = None;
        pointer.current = pointer.history[0].record.clone();
        pointer
    });
    let bad = fetched();
    assert_eq!(bad.status, Status::Refused, "{bad:?}");
    assert_eq!(bad.failure.unwrap().reason, "signature-invalid");
    assert_eq!(bad.pair.unwrap().build.0, 2);
}

#[test]
fn a_pointer_that_nobody_vouches_for_is_a_finding_and_removes_nothing() {
    let fixture = published(&[1, 2]);
    orphan(&fixture.store, b"nobody names this");
    fixture.age(days(30));
    let keys = TrustedKeys::load([file("one.pub.pem")]).unwrap();
    let look = || {
        let options = FsckOptions {
            quick: false,
            bundles: true,
            pipeline: ci(),
            require_keys: keys.clone(),
        };
        let found = fsck(&fixture.store, &options).unwrap();
        let of = |finding: &Finding| {
            assert!(finding.unsigned && finding.told, "{finding:?}");
            (finding.key.to_string(), finding.reason)
        };
        found.findings.iter().map(of).collect::<Vec<_>>()
    };
    let collect = || {
        let options = GcOptions {
            require_keys: keys.clone(),
            ..options(true)
        };
        let done = gc(&fixture.store, &options);
        done.map(|done| done.removed.len())
            .map_err(|error| error.reason())
    };
    let pointer = "pointers/ci/cuda.json".to_owned();
    assert_eq!(look(), [(pointer.clone(), "signature-missing")]);
    assert_eq!(collect(), Err("signature-missing"));
    back(&fixture, "1", signs("two", true)).unwrap();
    assert_eq!(look(), [(pointer, "signature-unknown-key")]);
    assert_eq!(collect(), Err("signature-unknown-key"));

    let own = published(&[1, 2]);
    back(&own, "1", signs("one", true)).unwrap();
    let log = history(&own.store, &ci(), Backend::Cuda, 1).unwrap();
    log.unwrap().seal.verify(&keys).unwrap();
    let signed = fs_err::read(own.root().join("pointers/ci/cuda.json")).unwrap();
    fs_err::write(fixture.root().join("pointers/ci/cuda.json"), signed).unwrap();
    assert_eq!(look(), []);
    assert_eq!(collect(), Ok(1));
}
