//! A backend that was to be fetched and never was.

use crate::scene::{Ended, Scene, run};
use kernrec_faulty_server::{Fault, Rule};
use std::process::Command;

fn select(scene: &Scene) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
    command.args(["select", "--changed-file", "src/alpha.cu", "--data"]);
    run(command.arg(scene.out()))
}

#[test]
fn a_backend_whose_first_fetch_failed_keeps_every_step() {
    let scene = Scene::new();
    scene.publish(1);
    scene.fetch(1);
    let before = select(&scene);
    assert_eq!(before.status, 0, "{}", before.stderr);

    scene
        .server
        .set([Rule::every(Fault::Status(500)).at("rocm")]);
    let failed = run(scene.fetcher_of("rocm").args(["--retries", "0"]));
    assert_eq!((failed.status, failed.reason()), (1, "store-unavailable"));
    let after = select(&scene);
    assert_eq!(after.status, 6, "{}", after.stderr);
    assert!(
        after.stderr.contains("pair-unavailable"),
        "{}",
        after.stderr
    );

    // Asked for everything there is, the store says that there is no such record: nothing is missing.
    scene.server.set([]);
    let all = run(&mut scene.fetcher_of("all"));
    assert_eq!(all.status, 0, "{}", all.stderr);
    let settled = select(&scene);
    assert_eq!(settled.status, 0, "{}", settled.stderr);
}

#[test]
fn with_all_backends_too_a_failure_is_remembered() {
    let scene = Scene::new();
    scene.publish(1);
    scene.server.set([Rule::every(Fault::HangUp).at("rocm")]);
    let half = run(scene.fetcher_of("all").args(["--retries", "0"]));
    assert_eq!(half.status, 1, "{}", half.stderr);
    assert_eq!(scene.installed(), Some(1), "the other backend is there");
    assert_eq!(select(&scene).status, 6);
}
