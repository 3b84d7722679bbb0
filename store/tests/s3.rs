//! The bucket backend against a real S3 server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod support;

use kernrec_store::conformance::{self, Prefix};
use kernrec_store::remote::{Credentials, RemoteOptions, open_remote};
use kernrec_store::{Key, Store, StoreError, objects};
use support::seaweed::{BUCKET, READER, Seaweed, WRITER};

fn open(server: &Seaweed, url: &str, (key, secret): (&str, &str)) -> Box<dyn Store> {
    let options = RemoteOptions {
        endpoint: Some(server.endpoint.clone()),
        credentials: Some(Credentials {
            key_id: key.into(),
            secret: secret.into(),
        }),
        ..RemoteOptions::default()
    };
    open_remote(url, &options).unwrap()
}

#[test]
fn the_bucket_keeps_every_promise_and_refuses_who_may_not_write() {
    let server = Seaweed::start();
    let url = format!("s3://{BUCKET}/a/prefix");
    let store = open(&server, &url, WRITER);
    conformance::run_all(&*store, &Prefix::new(Key::new("suite").unwrap()));
    an_upload_is_proven_by_the_servers_md5(&*store);

    let key = Key::new("objects/value").unwrap();
    store.put_new(&key, b"stays").unwrap();
    let reader = open(&server, &url, READER);
    let thief = open(&server, &url, (WRITER.0, "wrong-secret"));
    for other in [&reader, &thief] {
        let error = other.put(&key, b"changed").unwrap_err();
        assert!(matches!(error, StoreError::Denied { .. }), "{error}");
        assert!(matches!(
            other.swap_pointer(&key, None, b"x"),
            Err(StoreError::Denied { .. })
        ));
    }
    assert_eq!(reader.stat(&key).unwrap().unwrap().size, 5);
    let nowhere = open(&server, "s3://no-such-bucket/x", WRITER);
    assert!(nowhere.put(&key, b"x").is_err());
}

fn an_upload_is_proven_by_the_servers_md5(store: &dyn Store) {
    let digest = objects::put(store, b"content").unwrap();
    let stat = store.stat(&Key::object(&digest)).unwrap().unwrap();
    assert!(stat.md5.is_some(), "a single upload's ETag is its MD5");
    assert_eq!(objects::read(store, &digest, 7).unwrap(), b"content");
}
