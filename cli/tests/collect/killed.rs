//! A collector that is killed, and run again.

use crate::buildkite::{Scene, complete};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How long a call of the agent is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A collector that has made this call of the agent, and goes on.
fn running_until(scene: &Scene, call: &str) -> Child {
    let child = complete(&mut scene.collector())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !scene.calls().contains(call) {
        assert!(start.elapsed() < PATIENCE, "never called: {call}");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_collector_killed_anywhere_and_run_again_leaves_what_one_would_have() {
    for moment in [
        "step get",
        "artifact search",
        "artifact download",
        "annotate",
    ] {
        let scene = Scene::new();
        // What another collection left must not come in.
        fs_err::create_dir_all(scene.out("bundles/old/.kernrec/job-x")).unwrap();
        let sidecar = scene.build_file("recordings/job-1-beta/kernrec.json");
        fs_err::copy(
            sidecar,
            scene.out("bundles/old/.kernrec/job-x/kernrec.json"),
        )
        .unwrap();
        if moment == "step get" {
            scene.step("beta", &["running"], "neutral");
        }
        let mut child = running_until(&scene, moment);
        child.kill().unwrap();
        child.wait().unwrap();
        scene.step("beta", &["finished"], "passed");
        let ended = scene.collect(&[]);
        let expected = ["published", "unchanged"];
        assert_eq!(ended.status, 0, "{moment}: {}", ended.stderr);
        assert!(
            expected.contains(&ended.end().1),
            "{moment}: {:?}",
            ended.end()
        );
        assert_eq!(
            (ended.count("rows"), ended.count("usable_rows")),
            (3, 3),
            "{moment}"
        );
        assert_eq!(ended.count("delivered_jobs"), 3, "{moment}");
        assert_eq!(scene.published(), Some(1));
    }
}

#[test]
fn two_collections_in_one_folder_are_refused() {
    let scene = Scene::new();
    scene.step("beta", &["running"], "neutral");
    let mut first = running_until(&scene, "step get");
    let second = complete(&mut scene.collector()).output().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&second.stderr);
    assert!(stderr.contains("collection-busy"), "{stderr}");
}
