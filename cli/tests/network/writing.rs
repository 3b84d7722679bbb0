//! Every fault of a bucket that is written to.

use crate::bucket::{Bucket, end};
use crate::inputs::Build;
use kernrec_faulty_server::{Bucket as Service, Conditions, Fault, Rule, Server};
use std::sync::Arc;

struct Scene {
    folder: tempfile::TempDir,
    service: Arc<Service>,
    server: Server,
}

impl Scene {
    fn new(conditions: Conditions) -> Self {
        let service = Arc::new(Service::new("records", conditions));
        Self {
            folder: tempfile::tempdir().unwrap(),
            server: Server::http(Arc::clone(&service)),
            service,
        }
    }

    fn build(&self, number: u64) -> Build {
        Build::write(self.folder.path(), number)
    }

    fn bucket(&self) -> Bucket<'static> {
        Bucket {
            endpoint: self.server.url(),
            name: "records",
            identity: ("key", "secret"),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&Bucket<'static>) -> T) -> T {
        act(&self.bucket())
    }

    /// What the pointer says once nothing goes wrong any more.
    fn pointer(&self) -> Option<(u64, u64, usize)> {
        self.server.set([]);
        self.bucket().pointer()
    }
}

fn moving(fault: Fault) -> Rule {
    Rule::every(fault).on("PUT").at("/pointers/")
}

#[test]
fn a_move_that_is_answered_badly_is_made_once() {
    for (fault, what) in [
        (Fault::Status(409), "another write was in flight"),
        (Fault::Status(503), "nothing happened"),
        (Fault::HangUp, "nothing happened, nothing said"),
        (Fault::DoneAndLost, "the answer is lost"),
        (
            Fault::DoneBut(503),
            "our own success would look like a conflict",
        ),
        (
            Fault::DoneBut(409),
            "our own success is said to be in flight",
        ),
        (Fault::DoneBut(412), "our own success is called a conflict"),
    ] {
        let scene = Scene::new(Conditions::Kept);
        for number in [1, 2] {
            scene.server.set([moving(fault.clone()).times(1)]);
            let ended = scene.with(|bucket| bucket.publish(&scene.build(number)));
            let found = end(&ended);
            assert_eq!(found, (0, "published", "none"), "{what}: {}", ended.stderr);
            let past = usize::try_from(number).unwrap() - 1;
            assert_eq!(scene.pointer(), Some((number, number, past)), "{what}");
        }
    }
}

#[test]
fn a_move_that_never_succeeds_leaves_the_old_pointer() {
    for (fault, status, outcome, reason) in [
        (Fault::Status(409), 1, "failed", "store-unavailable"),
        (Fault::Status(503), 1, "failed", "store-unavailable"),
        (Fault::HangUp, 1, "failed", "store-unavailable"),
        (Fault::Status(403), 1, "failed", "access-denied"),
        // It may still be carried out.
        (Fault::Silence, 5, "unknown", "store-timeout"),
    ] {
        let scene = Scene::new(Conditions::Kept);
        scene.with(|bucket| bucket.publish(&scene.build(1)));
        scene.server.set([moving(fault.clone())]);
        let second = scene.build(2);
        let ended = scene.with(|bucket| {
            let mut command = bucket.publisher(&second);
            if matches!(fault, Fault::Silence) {
                command.args(["--stall-timeout", "300ms"]);
            }
            crate::scene::run(command.args(["--retries", "1"]))
        });
        let found = end(&ended);
        assert_eq!(
            found,
            (status, outcome, reason),
            "{fault:?}: {}",
            ended.stderr
        );
        assert_eq!(scene.pointer(), Some((1, 1, 0)), "{fault:?}");
    }
}

#[test]
fn a_bucket_that_trickles_holds_no_publisher() {
    let scene = Scene::new(Conditions::Kept);
    scene.with(|bucket| bucket.publish(&scene.build(1)));
    let second = scene.build(2);
    // Each byte ends a stall. The pointer is read first, then the current record, for the gates.
    for part in ["/pointers/", "/objects/"] {
        scene
            .server
            .set([Rule::every(Fault::Trickle(20)).on("GET").at(part)]);
        let ended = scene.with(|bucket| {
            let mut command = bucket.publisher(&second);
            crate::scene::run(command.args(["--retries", "0", "--stall-timeout", "300ms"]))
        });
        let found = end(&ended);
        assert_eq!(found, (1, "failed", "store-timeout"), "{}", ended.stderr);
        assert!(ended.stderr.contains("slower than"), "{}", ended.stderr);
        assert_eq!(scene.pointer(), Some((1, 1, 0)));
    }
}

#[test]
fn a_lost_answer_that_cannot_be_settled_is_unknown_and_deletes_nothing() {
    let scene = Scene::new(Conditions::Kept);
    scene.server.set([
        moving(Fault::DoneAndLost),
        Rule::every(Fault::Status(503))
            .on("GET")
            .at("/pointers/")
            .after(1),
    ]);
    let build = scene.build(1);
    let ended =
        scene.with(|bucket| crate::scene::run(bucket.publisher(&build).args(["--retries", "0"])));
    assert_eq!(end(&ended).0, 5, "{}", ended.stderr);
    assert_eq!(end(&ended).1, "unknown");
    let deleted = scene.server.take_seen();
    assert!(
        deleted.iter().all(|seen| seen.method != "DELETE"),
        "{deleted:?}"
    );
    assert_eq!(scene.pointer(), Some((1, 1, 0)));
    // What the message advises.
    let again = scene.with(|bucket| bucket.publish(&build));
    assert_eq!(end(&again), (0, "unchanged", "none"), "{}", again.stderr);
}

#[test]
fn objects_survive_every_passing_fault() {
    for fault in [
        Fault::Status(409),
        Fault::Status(500),
        Fault::RetryAfter(503, 0),
        Fault::HangUp,
        Fault::DoneAndLost,
        Fault::DoneBut(503),
    ] {
        let scene = Scene::new(Conditions::Kept);
        scene.server.set([Rule::every(fault.clone())
            .on("PUT")
            .at("/objects/")
            .times(1)]);
        let ended = scene.with(|bucket| bucket.publish(&scene.build(1)));
        assert_eq!(
            end(&ended),
            (0, "published", "none"),
            "{fault:?}: {}",
            ended.stderr
        );
        scene.server.set([]);
        let out = scene.folder.path().join("out");
        let fetched = scene.with(|bucket| crate::scene::run(&mut bucket.fetcher(&out)));
        assert_eq!(fetched.status, 0, "{fault:?}: {}", fetched.stderr);
    }
}

#[test]
fn a_store_without_conditional_writes_is_refused_unless_the_risk_is_taken() {
    for conditions in [
        Conditions::Ignored,
        Conditions::OnlyAbsence,
        Conditions::NotImplemented,
    ] {
        let scene = Scene::new(conditions);
        let first = scene.build(1);
        let args = ["--retries", "0"];
        let refused = scene.with(|bucket| crate::scene::run(bucket.publisher(&first).args(args)));
        let expected = (1, "failed", "no-conditional-writes");
        assert_eq!(
            end(&refused),
            expected,
            "{conditions:?}: {}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains("--unsafe-no-cas"),
            "{}",
            refused.stderr
        );
        assert_eq!(scene.pointer(), None, "{conditions:?}");
        for number in [1, 2] {
            let build = scene.build(number);
            let taken = scene
                .with(|bucket| crate::scene::run(bucket.publisher(&build).arg("--unsafe-no-cas")));
            assert_eq!(end(&taken).0, 0, "{conditions:?}: {}", taken.stderr);
        }
        assert_eq!(scene.pointer(), Some((2, 2, 1)), "{conditions:?}");
    }
}

#[test]
fn a_store_that_is_doubted_is_asked_with_what_it_has() {
    let scene = Scene::new(Conditions::Kept);
    let ended = scene.with(|bucket| bucket.publish(&scene.build(1)));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let strange: Vec<String> = scene
        .service
        .keys()
        .into_iter()
        .filter(|key| {
            !["objects/", "bundles/", "pointers/"]
                .iter()
                .any(|known| key.contains(known))
        })
        .collect();
    assert_eq!(
        strange,
        Vec::<String>::new(),
        "no traces of the test for conditional writes"
    );
}
