//! The read-only store behind a web server that fails in every way there is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use kernrec_faulty_server::{Fault, Files, Rule, Server};
use kernrec_schemas::Digest;
use kernrec_store::remote::{HttpOptions, RemoteOptions, open_remote};
use kernrec_store::{Key, LocalStore, PointerRead, Store, StoreError, objects};
use std::io::Read;
use std::time::{Duration, Instant};

struct Scene {
    _folder: tempfile::TempDir,
    server: Server,
    digest: Digest,
    content: Vec<u8>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let local = LocalStore::create(folder.path()).unwrap();
        // Does not compress, so that there are bytes to be cut off.
        let content: Vec<u8> = (0..40_u32)
            .flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes())
            .collect();
        let digest = objects::put(&local, &content).unwrap();
        let key = Key::new("pointers/ci/cuda.json").unwrap();
        local.swap_pointer(&key, None, b"a pointer").unwrap();
        Self {
            server: Server::http(Files::below(folder.path())),
            _folder: folder,
            digest,
            content,
        }
    }

    fn open(&self, options: &RemoteOptions) -> Box<dyn Store> {
        open_remote(&self.server.url(), options).unwrap()
    }

    fn read(&self, store: &dyn Store) -> Result<Vec<u8>, StoreError> {
        objects::read(store, &self.digest, self.content.len() as u64)
    }

    fn stored_size(&self, store: &dyn Store) -> usize {
        let stat = store.stat(&Key::object(&self.digest)).unwrap().unwrap();
        usize::try_from(stat.size).unwrap()
    }
}

fn without_retries() -> RemoteOptions {
    RemoteOptions {
        retries: 0,
        ..RemoteOptions::default()
    }
}

#[test]
fn a_body_cut_anywhere_is_resumed_from_there() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    let size = scene.stored_size(&*store);
    for cut in (0..size).step_by(23).chain([size - 1]) {
        scene.server.take_seen();
        scene.server.set([Rule::every(Fault::Cut(cut)).times(1)]);
        assert_eq!(scene.read(&*store).unwrap(), scene.content, "cut at {cut}");
        let sent: Vec<(u16, usize)> = scene
            .server
            .take_seen()
            .iter()
            .map(|seen| (seen.status, seen.bytes))
            .collect();
        // Nothing is asked for twice.
        let rest = if cut == 0 { 200 } else { 206 };
        assert_eq!(sent, [(200, size), (rest, size - cut)], "cut at {cut}");
    }
}

#[test]
fn a_server_without_ranges_is_read_again_from_the_start() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    let size = scene.stored_size(&*store);
    for cut in (1..size).step_by(101) {
        scene.server.set([
            Rule::every(Fault::Cut(cut)).times(1),
            Rule::every(Fault::NoRanges),
        ]);
        assert_eq!(scene.read(&*store).unwrap(), scene.content, "cut at {cut}");
    }
}

#[test]
fn a_body_that_is_always_cut_is_given_up() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    scene.server.set([Rule::every(Fault::Cut(5))]);
    let error = scene.read(&*store).unwrap_err();
    assert_eq!(error.reason(), "store-unavailable", "{error}");
}

#[test]
fn another_version_is_no_continuation() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    scene.server.set([
        Rule::every(Fault::Cut(50)).times(1),
        Rule::every(Fault::ChangingETag),
    ]);
    let error = scene.read(&*store).unwrap_err();
    assert_eq!(error.reason(), "store-unavailable", "{error}");

    // The rest of a pointer could be that of another one, when nothing says which one it is of.
    let key = Key::new("pointers/ci/cuda.json").unwrap();
    let cut = Rule::every(Fault::Cut(3)).times(1);
    scene.server.set([cut, Rule::every(Fault::NoETag)]);
    let error = store.read_pointer(&key, None).unwrap_err();
    assert_eq!(error.reason(), "store-unavailable", "{error}");
}

#[test]
fn a_server_that_names_no_versions_is_still_told_apart() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    let key = Key::new("pointers/ci/cuda.json").unwrap();
    scene.server.set([Rule::every(Fault::NoETag)]);
    let PointerRead::Found { version, .. } = store.read_pointer(&key, None).unwrap() else {
        panic!("the pointer is there");
    };
    let again = store.read_pointer(&key, Some(&version)).unwrap();
    assert_eq!(again, PointerRead::Unchanged);
}

#[test]
fn a_known_pointer_costs_no_bytes() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    let key = Key::new("pointers/ci/cuda.json").unwrap();
    let PointerRead::Found { version, .. } = store.read_pointer(&key, None).unwrap() else {
        panic!("the pointer is there");
    };
    scene.server.take_seen();
    let again = store.read_pointer(&key, Some(&version)).unwrap();
    assert_eq!(again, PointerRead::Unchanged);
    let seen = scene.server.take_seen();
    assert_eq!((seen.len(), seen[0].status, seen[0].bytes), (1, 304, 0));
}

#[test]
fn what_may_pass_is_tried_again_and_no_more_often_than_said() {
    let scene = Scene::new();
    let store = scene.open(&RemoteOptions {
        retries: 2,
        ..RemoteOptions::default()
    });
    for fault in [
        Fault::Status(500),
        Fault::RetryAfter(503, 0),
        Fault::RetryAfter(429, 0),
        Fault::HangUp,
    ] {
        scene.server.set([Rule::every(fault.clone()).times(2)]);
        assert_eq!(scene.read(&*store).unwrap(), scene.content, "{fault:?}");
        scene.server.set([Rule::every(fault.clone())]);
        scene.server.take_seen();
        let error = scene.read(&*store).unwrap_err();
        assert_eq!(error.reason(), "store-unavailable", "{fault:?}: {error}");
        assert_eq!(scene.server.take_seen().len(), 3, "{fault:?}");
    }
}

#[test]
fn what_will_not_pass_is_asked_once() {
    let scene = Scene::new();
    let store = scene.open(&RemoteOptions::default());
    let elsewhere = Server::http(Files::below(std::path::Path::new("/nonexistent")));
    for (fault, reason) in [
        (Fault::Status(404), "not-found"),
        (Fault::Status(401), "access-denied"),
        (Fault::Status(409), "store-wrong-answer"),
        (Fault::LoginPage, "store-wrong-answer"),
        (Fault::Gzip, "store-wrong-answer"),
        (Fault::Redirect(elsewhere.url()), "store-wrong-answer"),
        (Fault::Shorter(9), "object-damaged"),
        (Fault::WrongByte, "object-damaged"),
    ] {
        scene.server.set([Rule::every(fault.clone())]);
        scene.server.take_seen();
        let error = scene.read(&*store).unwrap_err();
        assert_eq!(error.reason(), reason, "{fault:?}: {error}");
        assert_eq!(scene.server.take_seen().len(), 1, "{fault:?}");
    }
    assert_eq!(elsewhere.take_seen(), [], "nobody follows to another host");
}

#[test]
fn a_redirect_loop_ends() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    scene.server.set([Rule::every(Fault::RedirectLoop)]);
    let error = scene.read(&*store).unwrap_err();
    assert_eq!(error.reason(), "store-wrong-answer", "{error}");
    assert!(scene.server.take_seen().len() < 10);
}

#[test]
fn no_server_holds_its_reader() {
    let scene = Scene::new();
    let stalling = scene.open(&RemoteOptions {
        http: HttpOptions {
            stall: Duration::from_millis(100),
            ..HttpOptions::default()
        },
        ..without_retries()
    });
    for fault in [Fault::Silence, Fault::Stall(0), Fault::Stall(30)] {
        scene.server.set([Rule::every(fault.clone())]);
        let error = scene.read(&*stalling).unwrap_err();
        assert_eq!(error.reason(), "store-timeout", "{fault:?}: {error}");
    }
    // Each byte ends a stall; the deadline ends it all.
    scene.server.set([Rule::every(Fault::Trickle(20))]);
    let hurried = scene.open(&RemoteOptions {
        deadline: Some(Instant::now() + Duration::from_millis(300)),
        ..RemoteOptions::default()
    });
    let error = scene.read(&*hurried).unwrap_err();
    assert_eq!(error.reason(), "store-timeout", "{error}");
    let mut start = Vec::new();
    let late = hurried.read(&Key::object(&scene.digest));
    assert!(
        late.and_then(|mut body| body.read_to_end(&mut start).map_err(|_| lost()))
            .is_err()
    );
}

fn lost() -> StoreError {
    StoreError::NoStore { url: String::new() }
}

#[test]
fn two_threads_read_at_the_same_time() {
    let scene = Scene::new();
    let store = scene.open(&without_retries());
    // The first read leaves a connection behind; the two that follow must not wait for each other.
    scene.read(&*store).unwrap();
    scene.server.take_seen();
    scene.server.set([Rule::every(Fault::Together(2))]);
    std::thread::scope(|scope| {
        let read = || assert_eq!(scene.read(&*store).unwrap(), scene.content);
        scope.spawn(read);
        scope.spawn(read);
    });
    let beside: Vec<usize> = scene
        .server
        .take_seen()
        .iter()
        .map(|seen| seen.beside)
        .collect();
    assert_eq!(beside, [0, 1]);
}

#[test]
fn no_secret_of_a_url_is_taken_or_shown() {
    let options = RemoteOptions {
        endpoint: Some("https://key:s3cr3t@service.example".to_owned()),
        ..RemoteOptions::default()
    };
    for url in [
        "https://user:s3cr3t@127.0.0.1/x",
        "https://s3cr3t@127.0.0.1/x",
        "http://user:s3cr3t@service.example/x",
        "s3://user:s3cr3t@bucket/x",
        "https://user:pass/s3cr3t@127.0.0.1/x",
        "https://user:s3cr3t?@127.0.0.1/x",
        "https://user:s3cr3t@[::1/x",
        "https://127.0.0.1/x?signature=s3cr3t",
        "https://127.0.0.1/x#s3cr3t",
        "ftp://user:s3cr3t@127.0.0.1/x",
        // The endpoint's.
        "s3://bucket/x",
    ] {
        let Err(error) = open_remote(url, &options) else {
            panic!("`{url}` was taken");
        };
        let text = format!("{error} {error:?}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}
