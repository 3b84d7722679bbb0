//! Signed pointers: what verifies, and that nothing else does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_schemas::pointer::{Pointer, PointerSignature, RecordRef, UpstreamPointer};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Generation, Pipeline, Timestamp};
use kernrec_store::signing::{Seal, SignatureProblem, Signing, SigningKey, TrustedKeys};
use kernrec_store::upstream::{self, Half, Place, file_name};
use kernrec_store::{Key, LocalStore, StoreError, Swap, pointers};
use proptest::prelude::*;
use std::path::PathBuf;

/// The key of `one.pem`: `openssl pkey -pubin -in one.pub.pem -outform DER | tail -c 32 | b3sum`, 16 digits of it.
const ONE: &str = "1047d49f8e0a0f2a";

fn file(name: &str) -> PathBuf {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/signing-keys");
    PathBuf::from(keys).join(name)
}

fn key(name: &str) -> SigningKey {
    SigningKey::load(&file(&format!("{name}.pem"))).unwrap()
}

fn trusted(names: &[&str]) -> TrustedKeys {
    TrustedKeys::load(names.iter().map(|name| file(&format!("{name}.pub.pem")))).unwrap()
}

fn pipeline(name: &str) -> Pipeline {
    Pipeline::new(name).unwrap()
}

fn record(build: u64) -> RecordRef {
    RecordRef {
        manifest: Digest::of(&build.to_le_bytes()),
        commit: Commit::new("c0de").unwrap(),
        build: BuildNumber(build),
        published_at: Timestamp::from_unix(1_900_000_000).unwrap(),
    }
}

/// A pointer with a past record and a revoked one.
fn pointer(of: &str, backend: Backend) -> Pointer {
    let nonce = || pointers::fresh_nonce().unwrap();
    let at = Timestamp::from_unix(1_900_000_001).unwrap();
    let mut pointer = Pointer::first(pipeline(of), backend, record(1), nonce())
        .advanced(record(2), nonce())
        .and_then(|pointer| pointer.rolled_back(&record(1).manifest, nonce(), at))
        .and_then(|pointer| pointer.advanced(record(3), nonce()))
        .unwrap();
    pointer.history[1].reason = Some("it skipped a test".to_owned());
    pointer
}

fn signed(of: &str, backend: Backend) -> Pointer {
    let mut pointer = pointer(of, backend);
    key("one").sign(&mut pointer);
    pointer
}

fn upstream_pointer() -> UpstreamPointer {
    let files = Half::ALL.map(|half| file_name(half, Backend::Cuda));
    let digest = |name: &String| (name.clone(), Digest::of(name.as_bytes()));
    let mut pointer = UpstreamPointer {
        backend: Some(Backend::Cuda),
        commit: Commit::new("c0de").unwrap(),
        build: Some(BuildNumber(7)),
        pipeline: Some(pipeline("ci")),
        published_at: Some(Timestamp::from_unix(1_900_000_000).unwrap()),
        digests: files.iter().map(digest).collect(),
        files: files.to_vec(),
        generation: Some(Generation(2)),
        nonce: Some(pointers::fresh_nonce().unwrap()),
        signature: None,
    };
    key("one").sign(&mut pointer);
    pointer
}

/// A store in which an attacker may write any file.
struct Bucket {
    folder: tempfile::TempDir,
    store: LocalStore,
}

#[derive(Debug)]
enum Refused {
    Document(StoreError),
    Signature(SignatureProblem),
}

impl Refused {
    fn word(&self) -> &'static str {
        match self {
            Self::Document(error) => error.reason(),
            Self::Signature(problem) => problem.reason(),
        }
    }
}

impl Bucket {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::create(folder.path()).unwrap();
        Self { folder, store }
    }

    fn put(&self, key: &Key, bytes: &[u8]) {
        let path = self.folder.path().join(key.as_str());
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }

    /// What who trusts these keys makes of a native pointer of `ci`.
    fn believe(&self, backend: Backend, names: &[&str], bytes: &[u8]) -> Result<String, Refused> {
        self.put(&Key::pointer(&pipeline("ci"), backend), bytes);
        let found = pointers::read(&self.store, &pipeline("ci"), backend);
        let found = found.map_err(Refused::Document)?.unwrap();
        let key = found.seal.verify(&trusted(names));
        key.map(|key| key.to_string()).map_err(Refused::Signature)
    }

    /// As [`Self::believe`], of `latest.json`.
    fn believe_upstream(&self, bytes: &[u8]) -> Result<String, Refused> {
        let place = Place::of_pipeline(pipeline("ci"));
        self.put(&place.pointer(Backend::Cuda).unwrap(), bytes);
        let read =
            upstream::read_pointer(&self.store, &place, &pipeline("ci"), Backend::Cuda, None);
        let upstream::Seen::Found(found) = read.map_err(Refused::Document)? else {
            panic!("it was put there");
        };
        let key = found.verify(&trusted(&["one"]), Backend::Cuda);
        key.map(|key| key.to_string()).map_err(Refused::Signature)
    }
}

fn word(result: Result<String, Refused>) -> &'static str {
    result.unwrap_err().word()
}

#[test]
fn a_signed_pointer_is_believed_by_who_trusts_its_key_and_by_nobody_else() {
    let bucket = Bucket::new();
    let pointer = signed("ci", Backend::Cuda);
    let moved = pointers::swap(&bucket.store, None, &pointer).unwrap();
    assert!(matches!(moved, Swap::Moved(_)), "{moved:?}");
    let bytes = pointer.to_bytes();
    for names in [&["one"][..], &["two", "one"], &["one", "one"]] {
        let key = bucket.believe(Backend::Cuda, names, &bytes).unwrap();
        assert_eq!(key, ONE, "{names:?}");
    }
    let refused = bucket.believe(Backend::Cuda, &["two"], &bytes);
    assert_eq!(word(refused), "signature-unknown-key");
    let unsigned = self::pointer("ci", Backend::Cuda).to_bytes();
    let refused = bucket.believe(Backend::Cuda, &["one"], &unsigned);
    assert_eq!(word(refused), "signature-missing");
    assert_eq!(
        bucket
            .believe_upstream(&upstream_pointer().to_bytes())
            .unwrap(),
        ONE
    );
}

/// Kept from the day the format was made, and checked with OpenSSL then: see the README beside it.
#[test]
fn a_pointer_that_was_signed_long_ago_is_still_believed() {
    let bytes = fs_err::read(file("pointer.json")).unwrap();
    let key = Bucket::new().believe(Backend::Cuda, &["one"], &bytes);
    assert_eq!(key.unwrap(), ONE);
}

#[test]
fn no_byte_of_a_signed_pointer_can_be_changed() {
    let bucket = Bucket::new();
    let native = signed("ci", Backend::Cuda).to_bytes();
    let upstream = upstream_pointer().to_bytes();
    for at in 0..native.len().max(upstream.len()) {
        for change in [0x01, 0x20, 0x2a] {
            if let Some(bad) = changed(&native, at, change) {
                assert!(
                    bucket.believe(Backend::Cuda, &["one"], &bad).is_err(),
                    "{at}"
                );
            }
            if let Some(bad) = changed(&upstream, at, change) {
                assert!(bucket.believe_upstream(&bad).is_err(), "{at}");
            }
        }
    }
}

fn changed(bytes: &[u8], at: usize, change: u8) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    *bytes.get_mut(at)? ^= change;
    Some(bytes)
}

proptest! {
    #[test]
    fn nothing_can_be_put_in_taken_out_or_moved(
        from in any::<prop::sample::Index>(),
        length in 0_usize..200,
        to in any::<prop::sample::Index>(),
        instead in prop_oneof![Just(String::new()), "[ \n\t]{1,3}", "[0-9a-f]{1,4}", "[ -~]{1,12}"],
    ) {
        let good = signed("ci", Backend::Cuda).to_bytes();
        let from = from.index(good.len());
        let mut bad = good.clone();
        let cut: Vec<u8> = bad.drain(from..(from + length).min(good.len())).collect();
        let at = to.index(bad.len() + 1);
        bad.splice(at..at, instead.bytes());
        prop_assume!(bad != good);
        let bucket = Bucket::new();
        prop_assert!(bucket.believe(Backend::Cuda, &["one"], &bad).is_err());
        // What was cut out stands at another place.
        let mut moved = bad;
        moved.splice(at..at, cut);
        prop_assume!(moved != good);
        prop_assert!(bucket.believe(Backend::Cuda, &["one"], &moved).is_err());
    }
}

#[test]
fn a_signature_is_of_one_pipeline_one_backend_and_one_kind_of_pointer() {
    let bucket = Bucket::new();
    let rocm = signed("ci", Backend::Rocm);
    let nightly = signed("nightly", Backend::Cuda);
    for other in [&rocm, &nightly] {
        // As it is, at another's place: it says itself whose it is.
        let refused = bucket.believe(Backend::Cuda, &["one"], &other.to_bytes());
        assert_eq!(word(refused), "document-refused");
        // Relabelled.
        let mut relabelled = other.clone();
        relabelled.backend = Backend::Cuda;
        relabelled.pipeline = pipeline("ci");
        let refused = bucket.believe(Backend::Cuda, &["one"], &relabelled.to_bytes());
        assert_eq!(word(refused), "signature-invalid");
        // Its signature under the right document.
        let mut swapped = signed("ci", Backend::Cuda);
        swapped.signature.clone_from(&other.signature);
        let refused = bucket.believe(Backend::Cuda, &["one"], &swapped.to_bytes());
        assert_eq!(word(refused), "signature-invalid");
    }
    let mut swapped = upstream_pointer();
    swapped.signature = signed("ci", Backend::Cuda).signature;
    let refused = bucket.believe_upstream(&swapped.to_bytes());
    assert_eq!(word(refused), "signature-invalid");
}

#[test]
fn an_attacker_who_knows_the_rules_still_has_no_key() {
    let bucket = Bucket::new();
    let believe = |pointer: &Pointer| bucket.believe(Backend::Cuda, &["one"], &pointer.to_bytes());
    let good = signed("ci", Backend::Cuda);
    // Signed again with a key of theirs, which they give the name of the right one.
    let mut forged = good.clone();
    forged.current = record(9);
    key("two").sign(&mut forged);
    assert_eq!(word(believe(&forged)), "signature-unknown-key");
    let signature = forged.signature.clone().unwrap();
    forged.signature = Some(PointerSignature {
        key: ONE.to_owned(),
        ..signature
    });
    assert_eq!(word(believe(&forged)), "signature-invalid");
    // No longer revoked.
    let mut unrevoked = good.clone();
    let past = unrevoked
        .history
        .iter_mut()
        .find(|past| past.revoked.is_some());
    past.unwrap().revoked = None;
    assert_eq!(word(believe(&unrevoked)), "signature-invalid");
    // A field that this program does not know counts too.
    let text = String::from_utf8(good.to_bytes()).unwrap();
    let more = text.replacen('{', "{\"future\": 1,", 1);
    let refused = bucket.believe(Backend::Cuda, &["one"], more.as_bytes());
    assert_eq!(word(refused), "signature-invalid");
    // The digits stand elsewhere, or twice, and a key is there twice.
    let digits = &good.signature.as_ref().unwrap().value;
    let elsewhere = text.replace(digits, "").replace("skipped", digits);
    let twice = text.replace("skipped", digits);
    let two = text.replacen("\"generation\"", "\"generation\": 9, \"generation\"", 1);
    for (bad, expected) in [
        (elsewhere, "signature-invalid"),
        (twice, "signature-invalid"),
        (two, "document-malformed"),
    ] {
        let refused = bucket.believe(Backend::Cuda, &["one"], bad.as_bytes());
        assert_eq!(word(refused), expected, "{bad}");
    }
}

#[test]
fn an_upstream_pointer_must_cover_both_files_and_say_whose_it_is() {
    let breaks: [fn(&mut UpstreamPointer); 4] = [
        |pointer| drop(pointer.digests.pop_first()),
        |pointer| pointer.digests.clear(),
        |pointer| pointer.backend = None,
        |pointer| pointer.pipeline = None,
    ];
    for harm in breaks {
        let mut pointer = upstream_pointer();
        harm(&mut pointer);
        key("one").sign(&mut pointer);
        let refused = Bucket::new().believe_upstream(&pointer.to_bytes());
        assert_eq!(word(refused), "signature-invalid");
    }
}

#[test]
fn a_writer_takes_over_what_it_believes_and_no_more() {
    let seal = |bytes: &[u8]| -> Seal {
        let bucket = Bucket::new();
        bucket.put(&Key::pointer(&pipeline("ci"), Backend::Cuda), bytes);
        let found = pointers::read(&bucket.store, &pipeline("ci"), Backend::Cuda);
        found.unwrap().unwrap().seal
    };
    let unsigned = seal(&pointer("ci", Backend::Cuda).to_bytes());
    let by_one = seal(&signed("ci", Backend::Cuda).to_bytes());
    let mut forged = signed("ci", Backend::Cuda);
    forged.current = record(9);
    let forged = seal(&forged.to_bytes());
    let writer = |own: Option<&str>, also: &[&str], adopt_unsigned| Signing {
        key: own.map(key),
        trusted: trusted(also),
        adopt_unsigned,
    };
    let (none, one, two) = (None, Some("one"), Some("two"));
    let missing = Err("signature-missing");
    let unknown = Err("signature-unknown-key");
    for (writer, standing, expected) in [
        (writer(none, &[], false), &unsigned, Ok(false)),
        (
            writer(none, &[], false),
            &by_one,
            Err("signing-key-missing"),
        ),
        (writer(one, &[], false), &by_one, Ok(false)),
        (writer(one, &[], false), &unsigned, missing),
        (writer(one, &[], true), &unsigned, Ok(true)),
        // Adopting is for what nobody signed, not for what somebody else signed.
        (writer(two, &[], true), &by_one, unknown),
        (writer(two, &[], false), &by_one, unknown),
        (writer(two, &["one"], false), &by_one, Ok(true)),
        (
            writer(one, &["two"], true),
            &forged,
            Err("signature-invalid"),
        ),
    ] {
        let checked = writer.check(standing).map_err(|problem| problem.reason());
        let found = checked.map(|()| writer.is_due(standing));
        assert_eq!(found, expected, "{writer:?} on {standing:?}");
    }
}

#[test]
fn a_file_that_holds_no_such_key_is_refused_and_its_content_is_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let private = fs_err::read_to_string(file("one.pem")).unwrap();
    let public = fs_err::read_to_string(file("one.pub.pem")).unwrap();
    // A point of small order: whoever knows nothing can make signatures that it accepts.
    let weak = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END PUBLIC KEY-----\n";
    let two = format!("{public}{public}");
    let cut = &private[..private.len() - 40];
    for (text, told) in [
        ("", "there is no `-----BEGIN`"),
        ("hello\n", "there is no `-----BEGIN`"),
        (&private, "it is a private key"),
        (weak, "it accepts signatures that nobody made"),
        (&two, ""),
    ] {
        fs_err::write(&path, text).unwrap();
        let error = TrustedKeys::load([&path]).unwrap_err();
        assert_eq!(error.reason(), "key-refused");
        assert!(error.to_string().contains(told), "{error}");
        assert!(!error.to_string().contains(&private[30..60]), "{error}");
    }
    for (text, told) in [(public.as_str(), "it is a public key"), (cut, ""), ("", "")] {
        fs_err::write(&path, text).unwrap();
        let error = SigningKey::load(&path).unwrap_err();
        assert_eq!(error.reason(), "key-refused");
        assert!(error.to_string().contains(told), "{error}");
    }
    fs_err::write(&path, vec![b' '; 100_000]).unwrap();
    assert_eq!(
        SigningKey::load(&path).unwrap_err().reason(),
        "document-too-large"
    );
    fs_err::remove_file(&path).unwrap();
    assert_eq!(
        TrustedKeys::load([&path]).unwrap_err().reason(),
        "file-error"
    );
}

#[test]
fn a_key_that_others_can_read_is_told_from_one_that_they_cannot() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    fs_err::copy(file("one.pem"), &path).unwrap();
    for (mode, exposed) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs_err::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let key = SigningKey::load(&path).unwrap();
        assert_eq!(key.is_exposed(), exposed, "{mode:o}");
        assert!(!format!("{key:?}").contains("secret"), "{key:?}");
    }
}
