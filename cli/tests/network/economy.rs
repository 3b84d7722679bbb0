//! What a fetch costs: requests, bytes, round trips.

use crate::scene::{Scene, run};
use kernrec_faulty_server::{Fault, Rule, Seen};
use std::process::Stdio;

fn objects(seen: &[Seen]) -> Vec<&Seen> {
    seen.iter()
        .filter(|seen| seen.path.contains("/objects/"))
        .collect()
}

#[test]
fn a_cold_fetch_is_three_round_trips_and_both_files_come_at_once() {
    let scene = Scene::new();
    scene.publish(1);
    // The pointer and the manifest come alone; each file is held back until the other one is asked for too.
    scene
        .server
        .set([Rule::every(Fault::Together(2)).at("/objects/").after(1)]);
    scene.fetch(1);
    let seen = scene.server.take_seen();
    let beside: Vec<usize> = seen.iter().map(|seen| seen.beside).collect();
    assert_eq!(beside, [0, 0, 0, 1], "{seen:?}");
    assert!(seen[0].path.ends_with("/pointers/ci/cuda.json"), "{seen:?}");
    assert_eq!(objects(&seen).len(), 3, "{seen:?}");
    assert!(seen.iter().all(|seen| seen.status == 200), "{seen:?}");
}

#[test]
fn an_unchanged_pointer_is_one_request_without_bytes() {
    let scene = Scene::new();
    scene.publish(1);
    scene.fetch(1);
    scene.server.take_seen();
    let ended = scene.fetch(1);
    let report = &ended.document["backends"][0];
    assert_eq!(report["outcome"], "unchanged");
    assert_eq!(report["bytes_received"], 0);
    let seen = scene.server.take_seen();
    assert_eq!(
        (seen.len(), seen[0].status, seen[0].bytes),
        (1, 304, 0),
        "{seen:?}"
    );
}

#[test]
fn fetchers_of_one_folder_download_once() {
    let scene = Scene::new();
    scene.publish(1);
    // Each pointer is held back until all of them have asked for it, so that they really race.
    scene
        .server
        .set([Rule::every(Fault::Together(4)).at("/pointers/").times(4)]);
    let fetchers: Vec<_> = (0..4)
        .map(|_| scene.fetcher().stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for mut fetcher in fetchers {
        assert!(fetcher.wait().unwrap().success());
    }
    assert_eq!(scene.installed(), Some(1));
    let seen = scene.server.take_seen();
    assert_eq!(objects(&seen).len(), 3, "{seen:?}");
}

#[test]
fn a_file_that_was_cut_is_not_fetched_twice() {
    let scene = Scene::new();
    scene.publish(1);
    scene
        .server
        .set([Rule::every(Fault::Cut(100)).at("/objects/").after(1)]);
    scene.fetch(1);
    let seen = scene.server.take_seen();
    let rest: Vec<_> = seen.iter().filter(|seen| seen.status == 206).collect();
    assert!(rest.len() >= 2, "both files were cut: {seen:?}");
    let whole = objects(&seen)
        .iter()
        .filter(|seen| seen.status == 200)
        .count();
    assert_eq!(whole, 3, "{seen:?}");
}

#[test]
fn offline_asks_nobody_and_says_how_old_it_is() {
    let scene = Scene::new();
    scene.publish(1);
    scene.fetch(1);
    scene.server.take_seen();
    let ended = run(scene.fetcher().arg("--offline"));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.document["backends"][0]["pair"]["age_seconds"].is_u64());
    let text = crate::inputs::fetcher(scene.folder.path(), &scene.out())
        .arg("--offline")
        .output()
        .unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("age"), "{text}");
    assert_eq!(scene.server.take_seen(), []);
}
