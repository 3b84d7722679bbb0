//! The read-only store over TLS, in the protocol that the server speaks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use kernrec_faulty_server::{Certificate, Fault, Files, Protocol, Rule, Seen, Server};
use kernrec_schemas::Digest;
use kernrec_store::remote::{HttpOptions, RemoteOptions, open_remote};
use kernrec_store::{Key, LocalStore, PointerRead, Store, StoreError, objects};
use std::time::Duration;

struct Scene {
    folder: tempfile::TempDir,
    server: Server,
    digest: Digest,
    content: Vec<u8>,
}

impl Scene {
    fn speaking(protocol: Protocol) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        let local = LocalStore::create(&store).unwrap();
        // Does not compress, so that there are bytes to be cut off.
        let content: Vec<u8> = (0..400_u32)
            .flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes())
            .collect();
        let digest = objects::put(&local, &content).unwrap();
        local.swap_pointer(&pointer(), None, b"a pointer").unwrap();
        let certificate = Certificate::good();
        fs_err::write(folder.path().join("ca.pem"), certificate.authority()).unwrap();
        Self {
            server: Server::speaking(Files::below(&store), &certificate, protocol),
            folder,
            digest,
            content,
        }
    }

    /// A store that asks so many times more; the stall time is for tests that wait for it.
    fn open(&self, retries: u32, stall: Duration) -> Box<dyn Store> {
        let options = RemoteOptions {
            retries,
            http: HttpOptions {
                ca_file: Some(self.folder.path().join("ca.pem")),
                stall,
                ..HttpOptions::default()
            },
            ..RemoteOptions::default()
        };
        open_remote(&self.server.url(), &options).unwrap()
    }

    fn read(&self, store: &dyn Store) -> Result<Vec<u8>, StoreError> {
        objects::read(store, &self.digest, self.content.len() as u64)
    }

    fn stored_size(&self) -> usize {
        let path = self.folder.path().join("store");
        let path = path.join(Key::object(&self.digest).as_str());
        usize::try_from(fs_err::metadata(path).unwrap().len()).unwrap()
    }
}

fn pointer() -> Key {
    Key::new("pointers/ci/cuda.json").unwrap()
}

/// Status, bytes and connection of each request, all of which were HTTP/2.
fn sent(seen: &[Seen]) -> Vec<(u16, usize, usize)> {
    assert!(
        seen.iter().all(|seen| seen.version == "HTTP/2.0"),
        "{seen:?}"
    );
    seen.iter()
        .map(|seen| (seen.status, seen.bytes, seen.connection))
        .collect()
}

const PATIENT: Duration = Duration::from_secs(30);

#[test]
fn each_server_is_spoken_to_in_its_protocol() {
    for (protocol, version) in [
        (Protocol::Unsaid, "HTTP/1.1"),
        (Protocol::Http1, "HTTP/1.1"),
        (Protocol::Http2, "HTTP/2.0"),
    ] {
        let scene = Scene::speaking(protocol);
        let store = scene.open(0, PATIENT);
        let PointerRead::Found { version: known, .. } =
            store.read_pointer(&pointer(), None).unwrap()
        else {
            panic!("the pointer is there");
        };
        assert_eq!(scene.read(&*store).unwrap(), scene.content);
        let stat = store.stat(&Key::object(&scene.digest)).unwrap().unwrap();
        assert_eq!(stat.size, scene.stored_size() as u64, "{protocol:?}");
        let again = store.read_pointer(&pointer(), Some(&known)).unwrap();
        assert_eq!(again, PointerRead::Unchanged);
        let seen = scene.server.take_seen();
        let statuses: Vec<u16> = seen.iter().map(|seen| seen.status).collect();
        assert_eq!(statuses, [200, 200, 200, 304], "{protocol:?}");
        for seen in seen {
            assert_eq!(seen.version, version, "{protocol:?}");
            // One connection of HTTP/1.1 may not be free again when the next request is made.
            let is_shared = protocol != Protocol::Http2 || seen.connection == 0;
            assert!(is_shared, "{seen:?}");
        }
    }
}

#[test]
fn a_stream_that_is_reset_is_resumed_on_the_same_connection() {
    let scene = Scene::speaking(Protocol::Http2);
    let store = scene.open(0, PATIENT);
    let size = scene.stored_size();
    for cut in (0..size).step_by(997).chain([size - 1]) {
        scene.server.set([Rule::every(Fault::Cut(cut)).times(1)]);
        assert_eq!(scene.read(&*store).unwrap(), scene.content, "cut at {cut}");
        let rest = if cut == 0 { 200 } else { 206 };
        let seen = scene.server.take_seen();
        let expected = [(200, size, 0), (rest, size - cut, 0)];
        assert_eq!(sent(&seen), expected, "cut at {cut}");
    }
}

#[test]
fn a_connection_that_goes_away_with_a_body_is_replaced() {
    let scene = Scene::speaking(Protocol::Http2);
    // The client may find out that the connection is gone only when it asks for the rest.
    let store = scene.open(3, PATIENT);
    let size = scene.stored_size();
    for (nth, cut) in (1..size).step_by(4_001).enumerate() {
        scene.server.set([Rule::every(Fault::CutAll(cut)).times(1)]);
        assert_eq!(scene.read(&*store).unwrap(), scene.content, "cut at {cut}");
        let seen = scene.server.take_seen();
        let expected = [(200, size, nth), (206, size - cut, nth + 1)];
        assert_eq!(sent(&seen), expected, "cut at {cut}");
    }
}

#[test]
fn a_connection_that_takes_no_more_requests_answers_its_last() {
    let scene = Scene::speaking(Protocol::Http2);
    let store = scene.open(0, PATIENT);
    let size = scene.stored_size();
    scene.server.set([Rule::every(Fault::Last)]);
    for nth in 0..3 {
        assert_eq!(scene.read(&*store).unwrap(), scene.content);
        assert_eq!(sent(&scene.server.take_seen()), [(200, size, nth)]);
    }
}

#[test]
fn what_may_pass_is_tried_again_and_what_lasts_is_told() {
    let scene = Scene::speaking(Protocol::Http2);
    let store = scene.open(3, PATIENT);
    for (fault, passes) in [
        (Fault::HangUp, true),
        (Fault::DoneAndLost, true),
        (Fault::RetryAfter(503, 0), true),
        // What was promised beyond the end cannot be asked for.
        (Fault::Longer(5), false),
    ] {
        scene.server.set([Rule::every(fault.clone()).times(1)]);
        let read = scene.read(&*store);
        let whole = read.is_ok_and(|content| content == scene.content);
        assert_eq!(whole, passes, "{fault:?}");
        scene.server.set([Rule::every(fault.clone())]);
        let error = scene.read(&*store).unwrap_err();
        assert_eq!(error.reason(), "store-unavailable", "{fault:?}: {error}");
    }
    let hurried = scene.open(0, Duration::from_millis(100));
    for fault in [Fault::Silence, Fault::Stall(0), Fault::Stall(30)] {
        scene.server.set([Rule::every(fault.clone())]);
        let error = scene.read(&*hurried).unwrap_err();
        assert_eq!(error.reason(), "store-timeout", "{fault:?}: {error}");
    }
    sent(&scene.server.take_seen());
}
