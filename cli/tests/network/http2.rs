//! Fetching over TLS in the protocol that the server speaks: what it costs, and what a broken connection costs.

use crate::scene::{Ended, Scene, run};
use kernrec_faulty_server::{Certificate, Fault, Protocol, Rule, Seen};

fn scene(protocol: Protocol) -> Scene {
    let scene = Scene::speaking(&Certificate::good(), protocol);
    scene.publish(1);
    scene
}

/// Fetches and expects that the build is in place; what the server saw of it.
fn fetch(scene: &Scene) -> (Ended, Vec<Seen>) {
    let mut command = scene.fetcher();
    command.arg("--ca-file").arg(scene.path("ca.pem"));
    let ended = run(&mut command);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(scene.installed(), Some(1));
    (ended, scene.server.take_seen())
}

fn is_over(seen: &[Seen], version: &str) -> bool {
    seen.iter().all(|seen| seen.version == version)
}

#[test]
fn a_pair_comes_over_one_connection_and_unchanged_is_one_request() {
    let scene = scene(Protocol::Http2);
    // Each file is held back until the other one is asked for too.
    let held = Rule::every(Fault::Together(2)).at("/objects/").after(1);
    scene.server.set([held]);
    let (_, seen) = fetch(&scene);
    assert!(is_over(&seen, "HTTP/2.0"), "{seen:?}");
    let came: Vec<_> = seen
        .iter()
        .map(|seen| (seen.status, seen.beside, seen.connection))
        .collect();
    assert_eq!(
        came,
        [(200, 0, 0), (200, 0, 0), (200, 0, 0), (200, 1, 0)],
        "{seen:?}"
    );
    let (ended, seen) = fetch(&scene);
    assert_eq!(ended.document["backends"][0]["outcome"], "unchanged");
    assert!(is_over(&seen, "HTTP/2.0"), "{seen:?}");
    assert_eq!((seen.len(), seen[0].status, seen[0].bytes), (1, 304, 0));
}

#[test]
fn a_server_of_the_old_protocol_only_is_fetched_from_too() {
    for protocol in [Protocol::Unsaid, Protocol::Http1] {
        let (_, seen) = fetch(&scene(protocol));
        assert!(is_over(&seen, "HTTP/1.1"), "{protocol:?}: {seen:?}");
    }
}

#[test]
fn what_breaks_in_the_middle_of_a_pair_is_not_fetched_twice() {
    // Each stream is reset, or the connection goes away under both files.
    for (fault, is_one_connection) in [(Fault::Cut(100), true), (Fault::CutAll(100), false)] {
        let scene = scene(Protocol::Http2);
        let files = Rule::every(fault.clone()).at("/objects/").after(1);
        scene.server.set([files.times(2)]);
        let (_, seen) = fetch(&scene);
        assert!(is_over(&seen, "HTTP/2.0"), "{fault:?}: {seen:?}");
        let rest = seen.iter().filter(|seen| seen.status == 206);
        assert!(rest.count() > 0, "{fault:?}: {seen:?}");
        let is_one = seen.iter().all(|seen| seen.connection == 0);
        assert_eq!(is_one, is_one_connection, "{fault:?}: {seen:?}");
    }
}

#[test]
fn a_connection_that_takes_no_more_requests_is_replaced() {
    let scene = scene(Protocol::Http2);
    let manifest = Rule::every(Fault::Last).at("/objects/").times(1);
    scene.server.set([manifest]);
    let (_, seen) = fetch(&scene);
    assert!(is_over(&seen, "HTTP/2.0"), "{seen:?}");
    let of_each = seen.iter().map(|seen| (seen.status, seen.connection == 0));
    let expected = [(200, true), (200, true), (200, false), (200, false)];
    assert_eq!(of_each.collect::<Vec<_>>(), expected, "{seen:?}");
}
