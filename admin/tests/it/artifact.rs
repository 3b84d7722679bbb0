//! Content by its digest, there and back.

use crate::support::{Fixture, bundle_key, damage, orphan, published};
use kernrec_admin::artifact::{TransferError, get_document, get_to_file, put_bundle, put_document};
use kernrec_schemas::Digest;
use kernrec_store::{Key, Store, artifact};

const CONTENT: &[u8] = b"{\"a\": 1}\n";

#[test]
fn a_document_comes_back_whatever_its_compression() {
    let fixture = published(&[1]);
    let digest = Digest::of(CONTENT);
    for name in ["plain.json", "a.json.gz", "a.json.zst"] {
        let path = fixture.folder.path().join(name);
        artifact::write(&path, CONTENT).unwrap();
        let put = put_document(&fixture.store, &path).unwrap();
        assert_eq!(
            (put.digest, put.size),
            (digest, CONTENT.len() as u64),
            "{name}"
        );
        let out = fixture.folder.path().join(format!("back-{name}"));
        let got = get_to_file(&fixture.store, &digest, &out).unwrap();
        assert_eq!(got, put);
        assert_eq!(fs_err::read(&out).unwrap(), fs_err::read(&path).unwrap());
    }
    assert_eq!(get_document(&fixture.store, &digest).unwrap(), CONTENT);
}

#[test]
fn a_bundle_comes_back_byte_for_byte_and_only_to_a_file() {
    let fixture = published(&[1]);
    let key = bundle_key(&fixture, 1);
    let digest = key.digest().unwrap();
    let out = fixture
        .folder
        .path()
        .join(format!("{}.tar.zst", digest.hex()));
    let got = get_to_file(&fixture.store, &digest, &out).unwrap();
    assert_eq!((got.digest, &got.key), (digest, &key));
    let stored = fs_err::read(fixture.path(&key)).unwrap();
    assert_eq!(fs_err::read(&out).unwrap(), stored);
    let error = get_document(&fixture.store, &digest).unwrap_err();
    assert_eq!(error.reason(), "needs-a-file");

    fixture.store.delete(&key).unwrap();
    assert_eq!(put_bundle(&fixture.store, &out).unwrap(), got);
    assert_eq!(fs_err::read(fixture.path(&key)).unwrap(), stored);
}

#[test]
fn what_is_damaged_or_absent_leaves_no_file() {
    let fixture = published(&[1]);
    let out = fixture.folder.path().join("out.json");
    let absent = Digest::of(b"nobody put this");
    let reason = |fixture: &Fixture, digest: &Digest| {
        let error = get_to_file(&fixture.store, digest, &out).unwrap_err();
        assert!(!out.exists(), "{error}");
        error.reason()
    };
    assert_eq!(reason(&fixture, &absent), "not-found");
    let digest = orphan(
        &fixture.store,
        &b"some content that is long enough ".repeat(20),
    );
    damage(&fixture, &Key::object(&digest));
    assert_eq!(reason(&fixture, &digest), "object-damaged");
    let bundle = bundle_key(&fixture, 1);
    let other = Digest::of(b"another bundle");
    let bytes = fs_err::read(fixture.path(&bundle)).unwrap();
    fixture.store.put_new(&Key::bundle(&other), &bytes).unwrap();
    assert_eq!(reason(&fixture, &other), "object-damaged");
    damage(&fixture, &bundle);
    reason(&fixture, &bundle.digest().unwrap());
}

#[test]
fn a_damaged_bundle_is_not_put() {
    let fixture = published(&[1]);
    let key = bundle_key(&fixture, 1);
    let mut bytes = fs_err::read(fixture.path(&key)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let path = fixture.folder.path().join("bad.tar.zst");
    fs_err::write(&path, bytes).unwrap();
    let error = put_bundle(&fixture.store, &path).unwrap_err();
    assert!(matches!(error, TransferError::Bundle(_)), "{error}");
}
