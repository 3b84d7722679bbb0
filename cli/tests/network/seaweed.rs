//! The programs against a real S3 server.

use crate::bucket::{Bucket, end};
use crate::inputs::Build;
use crate::scene::{Ended, run};
use crate::server::{BUCKET, READER, Seaweed, WRITER};
use kernrec_fetch::installed;
use kernrec_schemas::Backend;
use kernrec_store::{Key, Swap, pointers};
use std::path::PathBuf;
use std::process::{Output, Stdio};

/// As many collectors as a busy pipeline could have at once.
const PUBLISHERS: u64 = 16;

#[test]
fn racing_publishers_lose_nothing_and_strangers_change_nothing() {
    let server = Seaweed::start();
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket {
        endpoint: server.endpoint.clone(),
        name: BUCKET,
        identity: WRITER,
    };
    let builds: Vec<Build> = (1..=PUBLISHERS)
        .map(|n| Build::write(folder.path(), n))
        .collect();
    race(&bucket, &builds);
    strangers(&server, &builds[0]);
    assert_eq!(bucket.pointer().unwrap().0, PUBLISHERS);

    let out = folder.path().join("out");
    let fetched = run(&mut bucket.fetcher(&out));
    assert_eq!(fetched.status, 0, "{}", fetched.stderr);
    let pair = installed::open(&out, Backend::Cuda).unwrap();
    assert_eq!(pair.record.build.0, PUBLISHERS);
    let reader = Bucket {
        identity: READER,
        ..bucket
    };
    let again = run(&mut reader.fetcher(&out));
    assert_eq!(
        again.document["backends"][0]["outcome"], "unchanged",
        "{}",
        again.stderr
    );
}

#[test]
fn signed_publishers_race_and_strangers_with_the_bucket_are_not_believed() {
    let server = Seaweed::start();
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket {
        endpoint: server.endpoint.clone(),
        name: BUCKET,
        identity: WRITER,
    };
    let builds: Vec<Build> = (1..=4).map(|n| Build::write(folder.path(), n)).collect();
    let signed = |build: &Build, key: &str| {
        let mut command = bucket.publisher(build);
        command.arg("--sign-key").arg(signing_key(key));
        command
    };
    let running: Vec<_> = builds[..3]
        .iter()
        .map(|build| signed(build, "one.pem").stdout(Stdio::null()).spawn())
        .collect();
    for child in running {
        let status = child.unwrap().wait().unwrap().code().unwrap();
        assert!([0, 4].contains(&status), "{status}");
    }
    assert_eq!(bucket.pointer().unwrap().0, 3);
    for (mut stranger, reason) in [
        (bucket.publisher(&builds[3]), "signing-key-missing"),
        (signed(&builds[3], "two.pem"), "signature-unknown-key"),
    ] {
        refused_for(&run(&mut stranger), reason);
    }
    let out = folder.path().join("out");
    let fetch = || {
        let mut command = bucket.fetcher(&out);
        command.arg("--require-key").arg(signing_key("one.pub.pem"));
        run(&mut command)
    };
    let fetched = fetch();
    assert_eq!(fetched.status, 0, "{}", fetched.stderr);

    // Who goes around the programs can leave anything there.
    let store = bucket.open();
    let (pipeline, backend) = ("ci".parse().unwrap(), Backend::Cuda);
    let mut found = pointers::read(&*store, &pipeline, backend)
        .unwrap()
        .unwrap();
    found.pointer.signature = None;
    let forged = found.pointer.to_bytes();
    let key = Key::pointer(&pipeline, backend);
    let swapped = store.swap_pointer(&key, Some(&found.version), &forged);
    assert!(matches!(swapped, Ok(Swap::Moved(_))), "{swapped:?}");
    let refused = fetch();
    assert_eq!((refused.status, refused.reason()), (3, "signature-missing"));
    let pair = installed::open(&out, backend).unwrap();
    assert_eq!(pair.record.build.0, 3, "what was installed stays");
    let mut adopting = signed(&builds[3], "one.pem");
    refused_for(&run(&mut adopting), "signature-missing");
    let ended = run(adopting.arg("--adopt-unsigned"));
    assert_eq!(end(&ended), (0, "published", "none"), "{}", ended.stderr);
    assert_eq!(fetch().status, 0);
}

fn refused_for(ended: &Ended, reason: &str) {
    assert_eq!(end(ended).0, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
}

/// A key of the tests. Its file may be readable by others, which is only warned of.
fn signing_key(name: &str) -> PathBuf {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/signing-keys");
    PathBuf::from(keys).join(name)
}

/// All at once: each is published or superseded by a newer one, and the pointer remembers every one that was.
fn race(bucket: &Bucket<'_>, builds: &[Build]) {
    let running: Vec<_> = builds
        .iter()
        .map(|build| {
            let mut command = bucket.publisher(build);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let ended: Vec<Output> = running
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    let status = |output: &Output| output.status.code().unwrap();
    for output in &ended {
        assert!(
            [0, 4].contains(&status(output)),
            "published or superseded: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let published = ended.iter().filter(|output| status(output) == 0).count();
    let (build, generation, past) = bucket.pointer().unwrap();
    assert_eq!(build, PUBLISHERS, "the newest build wins");
    assert_eq!(
        generation, published as u64,
        "every acknowledged move is a generation"
    );
    assert_eq!(past + 1, published, "and none is lost");
}

/// Who may not write, or writes to where nothing is, is told why and changes nothing.
fn strangers(server: &Seaweed, build: &Build) {
    for (name, identity, reason) in [
        (BUCKET, READER, "access-denied"),
        (BUCKET, (WRITER.0, "wrong-secret"), "access-denied"),
        (BUCKET, ("nobody", "nothing"), "access-denied"),
        ("no-such-bucket", WRITER, "no-store"),
    ] {
        let bucket = Bucket {
            endpoint: server.endpoint.clone(),
            name,
            identity,
        };
        let mut command = bucket.publisher(build);
        command.args(["--pipeline", "other"]);
        let ended = run(&mut command);
        let found = end(&ended);
        assert_eq!(
            found,
            (1, "failed", reason),
            "{identity:?}: {}",
            ended.stderr
        );
    }
    let out = tempfile::tempdir().unwrap();
    let nowhere = Bucket {
        endpoint: server.endpoint.clone(),
        name: "no-such-bucket",
        identity: READER,
    };
    let fetched = run(&mut nowhere.fetcher(out.path()));
    assert_eq!(
        (fetched.status, fetched.reason()),
        (1, "no-store"),
        "{}",
        fetched.stderr
    );
}
