//! Every fault of a server that is read from: the reason, the exit status, and the old pair in place.

use crate::scene::{Scene, run};
use kernrec_faulty_server::{Fault, Files, Rule, Server};
use std::path::Path;
use std::process::Command;

struct Case {
    rules: Vec<Rule>,
    /// More arguments; limits are tiny only where reaching them is the point.
    args: &'static [&'static str],
    status: i32,
    reason: &'static str,
}

const POINTER: &str = "pointers/";
const OBJECTS: &str = "objects/";

fn case(rules: impl Into<Vec<Rule>>, reason: &'static str) -> Case {
    Case {
        rules: rules.into(),
        args: &[],
        status: 1,
        reason,
    }
}

fn both(fault: Fault, reason: &'static str) -> Vec<Case> {
    vec![
        case([Rule::every(fault.clone()).at(POINTER)], reason),
        case([Rule::every(fault).at(OBJECTS)], reason),
    ]
}

fn limited(fault: Fault, args: &'static [&'static str]) -> Vec<Case> {
    let mut cases = both(fault, "store-timeout");
    for case in &mut cases {
        case.args = args;
    }
    cases
}

fn cases(elsewhere: &Server) -> Vec<Case> {
    let mut cases = Vec::new();
    for fault in [
        Fault::Status(500),
        Fault::Status(503),
        Fault::RetryAfter(503, 0),
        Fault::RetryAfter(429, 0),
        Fault::HangUp,
        Fault::Cut(0),
        Fault::Cut(30),
        Fault::Longer(10),
    ] {
        cases.extend(both(fault, "store-unavailable"));
    }
    for fault in [
        Fault::Status(409),
        Fault::RedirectLoop,
        Fault::Redirect(elsewhere.url()),
        Fault::Gzip,
        Fault::LoginPage,
    ] {
        cases.extend(both(fault, "store-wrong-answer"));
    }
    cases.extend(both(Fault::Status(401), "access-denied"));
    cases.extend(limited(Fault::Silence, &["--stall-timeout", "100ms"]));
    cases.extend(limited(Fault::Stall(20), &["--stall-timeout", "100ms"]));
    cases.extend(limited(Fault::Trickle(50), &["--timeout", "400ms"]));
    let objects = |fault| Rule::every(fault).at(OBJECTS);
    cases.extend([
        case([objects(Fault::Status(404))], "not-found"),
        case([objects(Fault::Status(304))], "store-wrong-answer"),
        case([objects(Fault::WrongByte)], "object-damaged"),
        case([objects(Fault::Shorter(7))], "object-damaged"),
        case(
            [
                objects(Fault::Cut(40)).times(1),
                objects(Fault::ChangingETag),
            ],
            "store-unavailable",
        ),
        case(
            [Rule::every(Fault::Shorter(7)).at(POINTER)],
            "document-malformed",
        ),
        Case {
            status: 3,
            ..case(
                [Rule::every(Fault::Status(404)).at(POINTER)],
                "not-published",
            )
        },
    ]);
    cases
}

#[test]
fn every_fault_has_its_reason_and_leaves_the_old_pair() {
    let scene = Scene::new();
    scene.publish(1);
    scene.fetch(1);
    scene.publish(2);
    let elsewhere = Server::http(Files::below(Path::new("/nonexistent")));
    for (number, case) in cases(&elsewhere).into_iter().enumerate() {
        let name = format!("case {number}: {:?}", case.rules);
        scene.server.set(case.rules);
        let ended = run(scene.fetcher().args(["--retries", "1"]).args(case.args));
        let found = (ended.status, ended.reason());
        assert_eq!(
            found,
            (case.status, case.reason),
            "{name}: {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains(case.reason),
            "{name}: {}",
            ended.stderr
        );
        assert_eq!(scene.installed(), Some(1), "{name}");
        let pair = &ended.document["backends"][0]["pair"];
        assert_eq!(pair["build"], 1, "{name}: the report says what was kept");
        assert!(pair["age_seconds"].is_u64(), "{name}: and how old it is");
    }
    assert_eq!(elsewhere.take_seen(), [], "nobody follows to another host");
    scene.server.set([]);
    scene.fetch(2);
}

#[test]
fn a_check_that_finds_no_pointer_proves_nothing() {
    let scene = Scene::new();
    let fsck = |pipeline| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernrec"));
        command.args(["store", "fsck", &scene.server.url(), "--json"]);
        command.args(["--pipeline", pipeline]);
        let ended = run(command.env("NO_PROXY", "127.0.0.1"));
        (ended.status, ended.document["whole"].clone())
    };
    assert_eq!(fsck("ci"), (3, false.into()));
    scene.publish(1);
    assert_eq!(fsck("ci"), (0, true.into()));
    assert_eq!(fsck("nightly"), (3, false.into()));
}
