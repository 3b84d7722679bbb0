//! Whom the fetcher believes.

use crate::scene::{Scene, run};
use kernrec_faulty_server::Certificate;

#[test]
fn a_server_that_cannot_prove_its_name_gives_nothing() {
    let good = Certificate::good();
    for (certificate, trusted, expected) in [
        (&good, true, (0, "none")),
        (&good, false, (1, "store-untrusted")),
        (
            &Certificate::of_another_name(),
            true,
            (1, "store-untrusted"),
        ),
        (&Certificate::expired(), true, (1, "store-untrusted")),
    ] {
        let scene = Scene::with_tls(certificate);
        scene.publish(1);
        let mut command = scene.fetcher();
        if trusted {
            command.arg("--ca-file").arg(scene.path("ca.pem"));
        }
        let ended = run(&mut command);
        assert_eq!((ended.status, ended.reason()), expected, "{}", ended.stderr);
        assert_eq!(scene.installed().is_some(), expected.0 == 0);
        let asked = scene.server.take_seen().len();
        assert_eq!(asked, if expected.0 == 0 { 4 } else { 0 });
    }
}
