//! What of a pointer is signed.

use kernrec_schemas::pointer::{Pointer, PointerSignature, RecordRef, Signable, UpstreamPointer};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Nonce, Pipeline, Timestamp};

fn pointer() -> Pointer {
    Pointer::first(
        Pipeline::new("ci").unwrap(),
        Backend::Cuda,
        RecordRef {
            manifest: Digest::of(b"m"),
            commit: Commit::new("c0de").unwrap(),
            build: BuildNumber(1),
            published_at: Timestamp::UNIX_EPOCH,
        },
        Nonce::new("0".repeat(32)).unwrap(),
    )
}

fn signature(value: &str) -> PointerSignature {
    PointerSignature {
        key: "0123456789abcdef".to_owned(),
        value: value.to_owned(),
    }
}

#[test]
fn it_is_the_document_without_the_digits() {
    let mut document = pointer();
    document.set_signature(PointerSignature::blank("0123456789abcdef".to_owned()));
    let to_sign = document.written();
    document.set_signature(signature(&"5a".repeat(64)));
    let message = signature(&"5a".repeat(64)).message("p\n", &document.written());
    assert_eq!(message.unwrap(), [b"p\n", to_sign.as_slice()].concat());
    let read = Pointer::parse(&document.written()).unwrap();
    assert_eq!(read, document);
    assert_eq!(read.signature().unwrap().key, "0123456789abcdef");
}

#[test]
fn digits_that_stand_nowhere_or_twice_or_are_none_sign_nothing() {
    let value = "5a".repeat(64);
    let text = format!("{{\"value\":\"{value}\"}}");
    assert!(signature(&value).message("", text.as_bytes()).is_some());
    let twice = format!("{text}{text}");
    for (value, text) in [
        (value.as_str(), "{}"),
        (&value, &twice),
        // One more digit: the same ones stand there at two places that overlap.
        (&value, &format!("5a{value}")),
        (&value[..126], &text),
        ("", &text),
        (&value.to_uppercase(), &text.to_uppercase()),
    ] {
        let message = signature(value).message("", text.as_bytes());
        assert!(message.is_none(), "{value} in {text}");
    }
}

#[test]
fn a_next_version_begins_unsigned_and_a_renewed_one_names_the_same_records() {
    let mut document = pointer();
    document.set_signature(signature(&"5a".repeat(64)));
    let nonce = || Nonce::new("1".repeat(32)).unwrap();
    let next = document
        .advanced(document.current.clone(), nonce())
        .unwrap();
    assert_eq!(next.signature, None);
    let renewed = next.renewed(nonce()).unwrap();
    assert_eq!(renewed.signature, None);
    assert_eq!(renewed.generation.0, 3);
    assert_eq!(
        (renewed.current, renewed.history),
        (next.current, next.history)
    );
}

#[test]
fn a_signature_of_one_kind_of_document_is_none_of_the_other() {
    assert_ne!(Pointer::PREFIX, UpstreamPointer::PREFIX);
    assert!(!Pointer::PREFIX.starts_with(UpstreamPointer::PREFIX));
    assert!(!UpstreamPointer::PREFIX.starts_with(Pointer::PREFIX));
}
