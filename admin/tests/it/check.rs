//! An honest store passes, and each lie is found under the name of the promise it breaks.

use crate::lying::{Liar, Lie};
use crate::support::{ci, files, published};
use kernrec_admin::check::{Check, Promise, Verdict, check};
use kernrec_faulty_server::{Bucket, Conditions, Server};
use kernrec_store::remote::{Credentials, RemoteOptions, open_remote};
use kernrec_store::{
    Capabilities, Key, Listed, LocalStore, PointerRead, PutNew, Stat, Store, StoreError, Swap,
    Version,
};
use std::io::Read;

fn broken(found: &Check) -> Vec<Promise> {
    let broken = found
        .promises
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Broken { .. }));
    broken.map(|(promise, _)| *promise).collect()
}

#[test]
fn an_honest_store_keeps_every_promise_and_nothing_is_left_behind() {
    let fixture = published(&[1]);
    let before = files(&fixture.root());
    let found = check(&fixture.store, &ci()).unwrap();
    assert!(!found.is_broken() && !found.is_unsettled(), "{found:?}");
    assert!(!found.read_only);
    let untried: Vec<Promise> = found
        .promises
        .iter()
        .filter(|(_, verdict)| !matches!(verdict, Verdict::Kept))
        .map(|(promise, _)| *promise)
        .collect();
    assert_eq!(
        untried,
        [Promise::ChecksumRejection],
        "a folder takes no checksum"
    );
    let mut after = files(&fixture.root());
    // The lock of whoever replaces a value, which every store has once it was used.
    after.retain(|path| !path.ends_with(".replacing.lock"));
    assert_eq!(after, before);
    assert!(!fixture.root().join("scratch").exists());
}

#[test]
fn each_lie_is_found() {
    let cases = [
        (Lie::StaleRead, Promise::ReadAfterWrite),
        (Lie::Ghost, Promise::Absence),
        (Lie::CreateOverwrites, Promise::CreateIfAbsent),
        (Lie::EveryCreatorWins, Promise::CreateIfAbsent),
        (Lie::SwapOverwrites, Promise::CompareAndSwap),
        (Lie::RefusedSwapMoves, Promise::CompareAndSwap),
        (Lie::SwapForgets, Promise::CompareAndSwap),
        (Lie::UnchangedThoughMoved, Promise::ConditionalRead),
        (Lie::ChangedThoughStill, Promise::ConditionalRead),
        (Lie::RangeOff, Promise::Ranges),
        (Lie::ListingMisses, Promise::Listing),
        (Lie::ListingKeeps, Promise::Listing),
        (Lie::DeleteForgets, Promise::Removal),
        (Lie::YoungIsOld, Promise::Removal),
        (Lie::AnyChecksum, Promise::ChecksumRejection),
    ];
    for (lie, promise) in cases {
        let folder = tempfile::tempdir().unwrap();
        let store = Liar::new(LocalStore::create(folder.path()).unwrap(), lie);
        let found = check(&store, &ci()).unwrap();
        let broken = broken(&found);
        assert!(broken.contains(&promise), "{lie:?}: {found:#?}");
        // A lie about one thing is not blamed on many.
        assert!(broken.len() <= 3, "{lie:?}: {broken:?}");
        assert!(found.is_broken());
    }
}

/// Some services imitate S3 as far as "create", and take a move of a pointer for an overwrite.
#[test]
fn a_bucket_that_looks_at_no_version_breaks_its_promise() {
    let server = Server::http(Bucket::new("records", Conditions::OnlyAbsence));
    let options = RemoteOptions {
        endpoint: Some(server.url()),
        credentials: Some(Credentials {
            key_id: "key".into(),
            secret: "secret".into(),
        }),
        ..RemoteOptions::default()
    };
    let store = open_remote("s3://records", &options).unwrap();
    let found = check(&*store, &ci()).unwrap();
    // What cannot be written conditionally cannot be read so either.
    let expected = [Promise::CompareAndSwap, Promise::ConditionalRead];
    assert_eq!(broken(&found), expected, "{found:#?}");
    assert!(!found.is_unsettled(), "{found:#?}");
}

/// A store that can only be read, as one behind a web server.
struct ReadOnly {
    inner: LocalStore,
    ranges: bool,
}

impl ReadOnly {
    fn refuse<T>(&self) -> Result<T, StoreError> {
        Err(StoreError::Unsupported {
            url: self.inner.url().to_owned(),
            action: "be written",
        })
    }
}

impl Store for ReadOnly {
    fn url(&self) -> &str {
        self.inner.url()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            conditional_writes: false,
        }
    }
    fn put_new(&self, _: &Key, _: &[u8]) -> Result<PutNew, StoreError> {
        self.refuse()
    }
    fn put(&self, _: &Key, _: &[u8]) -> Result<(), StoreError> {
        self.refuse()
    }
    fn read(&self, key: &Key) -> Result<Box<dyn Read + Send>, StoreError> {
        self.inner.read(key)
    }
    fn read_from(&self, key: &Key, offset: u64) -> Result<Box<dyn Read + Send>, StoreError> {
        self.inner
            .read_from(key, if self.ranges { offset } else { 0 })
    }
    fn stat(&self, key: &Key) -> Result<Option<Stat>, StoreError> {
        self.inner.stat(key)
    }
    fn read_pointer(&self, key: &Key, known: Option<&Version>) -> Result<PointerRead, StoreError> {
        self.inner.read_pointer(key, known)
    }
    fn swap_pointer(&self, _: &Key, _: Option<&Version>, _: &[u8]) -> Result<Swap, StoreError> {
        self.refuse()
    }
    fn list(&self, _: &Key) -> Result<Vec<Listed>, StoreError> {
        self.refuse()
    }
    fn delete(&self, _: &Key) -> Result<(), StoreError> {
        self.refuse()
    }
}

#[test]
fn a_store_that_can_only_be_read_is_told_apart_and_tried_on_what_is_published() {
    let fixture = published(&[1]);
    let open = |ranges| ReadOnly {
        inner: LocalStore::existing(&fixture.root()).unwrap(),
        ranges,
    };
    let found = check(&open(true), &ci()).unwrap();
    assert!(
        found.read_only && !found.is_broken() && !found.is_unsettled(),
        "{found:?}"
    );
    let kept = |found: &Check| {
        found
            .promises
            .iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Kept))
            .map(|(promise, _)| *promise)
            .collect::<Vec<_>>()
    };
    let readers = [Promise::Absence, Promise::ConditionalRead, Promise::Ranges];
    assert_eq!(kept(&found), readers);
    assert_eq!(
        broken(&check(&open(false), &ci()).unwrap()),
        [Promise::Ranges]
    );
    let nothing = check(&open(true), &"other".parse().unwrap()).unwrap();
    assert_eq!(kept(&nothing), [Promise::Absence]);
    assert!(!nothing.is_broken() && nothing.is_untried() && !found.is_untried());
}

#[test]
fn a_store_that_fails_is_told_neither_to_keep_nor_to_break() {
    let fixture = published(&[1]);
    fs_err::remove_dir_all(fixture.root()).unwrap();
    // A file stands where the store's folder was.
    fs_err::write(fixture.root(), "x").unwrap();
    let error = check(&fixture.store, &ci()).unwrap_err();
    assert_eq!(error.reason(), "file-error");
}
