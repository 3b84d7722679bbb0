//! The programs against a real S3 server.

use crate::bucket::{Bucket, end};
use crate::inputs::Build;
use crate::scene::run;
use crate::server::{BUCKET, READER, Seaweed, WRITER};
use kernrec_fetch::installed;
use kernrec_schemas::Backend;
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
