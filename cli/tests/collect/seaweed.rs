//! The same against a real S3 server.

use crate::buildkite::Scene;
use crate::server::{BUCKET, READER, Seaweed, WRITER};

#[test]
fn builds_are_collected_into_a_real_bucket() {
    let server = Seaweed::start();
    let url = format!("s3://{BUCKET}/records");
    let collect = |scene: &Scene, (key, secret): (&str, &str)| {
        let mut command = scene.collector();
        command
            .env("AWS_ACCESS_KEY_ID", key)
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("AWS_REGION", "us-east-1")
            .args(["--endpoint", &server.endpoint, "--store", &url]);
        scene.run(&mut command)
    };
    let scene = Scene::new();
    let ended = collect(&scene, WRITER);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    let again = collect(&scene, WRITER);
    assert_eq!(again.end(), (0, "unchanged"), "{}", again.stderr);
    let scene = scene.next();
    let denied = collect(&scene, READER);
    assert_eq!(denied.end(), (1, "failed"), "{}", denied.stderr);
    assert!(
        denied.annotation.contains("access-denied"),
        "{}",
        denied.annotation
    );
    let next = collect(&scene, WRITER);
    assert_eq!(next.end(), (0, "published"), "{}", next.stderr);
    assert_eq!(next.result["changes"]["kernels_gained"], 3);
    assert_eq!(next.result["publish"]["generation"], 2);
}
