//! What a bucket's versions prove.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use kernrec_faulty_server::{Bucket, Conditions, Fault, Rule, Server};
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, Pipeline, Timestamp};
use kernrec_store::conformance::{self, Prefix};
use kernrec_store::remote::{Credentials, HttpOptions, RemoteOptions, open_remote};
use kernrec_store::{Key, Store, Swap, pointers};
use std::sync::Arc;
use std::time::Duration;

fn open(server: &Server) -> Box<dyn Store> {
    open_remote("s3://records/a/prefix", &options(server)).unwrap()
}

fn options(server: &Server) -> RemoteOptions {
    RemoteOptions {
        endpoint: Some(server.url()),
        credentials: Some(Credentials {
            key_id: "key".into(),
            secret: "secret".into(),
        }),
        retries: 1,
        ..RemoteOptions::default()
    }
}

#[test]
fn the_imitation_keeps_what_a_bucket_promises() {
    let server = Server::http(Bucket::new("records", Conditions::Kept));
    conformance::run_all(&*open(&server), &Prefix::new(Key::new("suite").unwrap()));
}

/// S3 gives equal bytes equal versions, so a pointer that came back to where it was would let a stale writer win.
#[test]
fn a_pointer_that_names_the_same_record_again_is_another_version() {
    let server = Server::http(Bucket::new("records", Conditions::Kept));
    let store = open(&server);
    let record = RecordRef {
        manifest: Digest::of(b"manifest"),
        commit: Commit::new("c0de").unwrap(),
        build: BuildNumber(1),
        published_at: Timestamp::from_unix(1_900_000_000).unwrap(),
    };
    let nonce = || pointers::fresh_nonce().unwrap();
    let first = Pointer::first(Pipeline::new("ci").unwrap(), Backend::Cuda, record, nonce());
    let moved = |expected, next: &Pointer| match pointers::swap(&*store, expected, next).unwrap() {
        Swap::Moved(version) => version,
        other => panic!("nobody else writes: {other:?}"),
    };
    let seen = moved(None, &first);
    let second = first.advanced(first.current.clone(), nonce()).unwrap();
    let next = moved(Some(&seen), &second);
    assert_ne!(seen, next);
    let stale = first.advanced(first.current.clone(), nonce()).unwrap();
    let swap = pointers::swap(&*store, Some(&seen), &stale).unwrap();
    assert!(matches!(swap, Swap::Conflict), "{swap:?}");
}

#[test]
fn a_body_cut_or_stopped_on_the_way_is_no_damage() {
    let server = Server::http(Bucket::new("records", Conditions::Kept));
    let store = open(&server);
    let digest = kernrec_store::objects::put(&*store, &[7; 4000]).unwrap();
    server.set([Rule::every(Fault::Cut(3)).on("GET")]);
    let error = kernrec_store::objects::read(&*store, &digest, 4000).unwrap_err();
    assert_eq!(error.reason(), "store-unavailable", "{error}");
    server.set([Rule::every(Fault::WrongByte).on("GET")]);
    let error = kernrec_store::objects::read(&*store, &digest, 4000).unwrap_err();
    assert_eq!(error.reason(), "object-damaged", "{error}");
}

/// Without a deadline, as when a record is published.
#[test]
fn a_body_that_stops_holds_nobody() {
    let server = Server::http(Bucket::new("records", Conditions::Kept));
    let key = Key::new("pointers/ci/cuda.json").unwrap();
    open(&server)
        .swap_pointer(&key, None, b"a pointer of some length")
        .unwrap();
    let impatient = RemoteOptions {
        http: HttpOptions {
            stall: Duration::from_millis(100),
            ..HttpOptions::default()
        },
        retries: 0,
        ..options(&server)
    };
    let store = open_remote("s3://records/a/prefix", &impatient).unwrap();
    for after in [0, 10] {
        server.set([Rule::every(Fault::Stall(after)).on("GET")]);
        let error = store.read_pointer(&key, None).unwrap_err();
        assert_eq!(error.reason(), "store-timeout", "{error}");
        let error = store.list(&Key::new("pointers").unwrap()).unwrap_err();
        assert_eq!(error.reason(), "store-timeout", "{error}");
    }
}

/// A listing cuts the prefix off what it finds; with another spelling of it, it would name other keys.
#[test]
fn a_prefix_that_a_bucket_spells_otherwise_is_refused() {
    let server = Server::http(Bucket::new("records", Conditions::Kept));
    for path in ["a b", "50%", "a%20b", "a~b", "a/../b%2e", "a//b", "{a}"] {
        let url = format!("s3://records/{path}");
        let opened = open_remote(&url, &options(&server));
        assert!(opened.is_err(), "{url}");
    }
    for path in ["", "/", "/a", "/a/b/", "/a-b_c.d=e+f@g,h"] {
        let url = format!("s3://records{path}");
        open_remote(&url, &options(&server)).unwrap();
    }
}

/// A publisher's rights may end at the names of what it publishes.
#[test]
fn conditions_are_proven_with_what_was_stored_however_large() {
    let bucket = Arc::new(Bucket::new("records", Conditions::Kept));
    let server = Server::http(Arc::clone(&bucket));
    let store = open(&server);
    let large = Key::new("ci/kernrec/c0de/kernel_symbol_map.json.gz").unwrap();
    store.put_new(&large, &vec![7; 300_000]).unwrap();
    let pointer = Key::new("ci/kernrec/latest.json").unwrap();
    let moved = store.swap_pointer(&pointer, None, b"a pointer").unwrap();
    assert!(matches!(moved, Swap::Moved(_)), "{moved:?}");
    let keys = bucket.keys();
    assert_eq!(keys, [large, pointer].map(|key| format!("a/prefix/{key}")));
}
