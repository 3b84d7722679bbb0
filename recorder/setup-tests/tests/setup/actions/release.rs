//! How the pinned release reaches a job.

use super::runner::{Ended, Runner};
use crate::bench::{HOST, text};

/// The archive of a release that starts the launcher, as URL, and its digest. Nothing else is on the path.
fn release(runner: &Runner, flags: &str, name: &str) -> (String, String) {
    let folder = runner.bench.path("release");
    fs_err::create_dir_all(&folder).unwrap();
    runner.program("kernrec", &format!("exec '{HOST}' \"$@\""));
    fs_err::rename(runner.bench.path("bin/kernrec"), folder.join("kernrec")).unwrap();
    let run = |program: &str, args: &[&str]| {
        let output = runner.bench.command(program).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    run("tar", &[flags, name, "-C", "release", "."]);
    let sha256 = run("sha256sum", &[name])[..64].to_owned();
    (
        format!("file://{}", runner.bench.path(name).display()),
        sha256,
    )
}

fn record(runner: &Runner, url: &str, sha256: &str) -> Ended {
    let ended = runner.uses(
        "record",
        &[
            ("run", "gpu; echo ran; exit 5"),
            ("backend", "cuda"),
            ("release-url", url),
            ("release-sha256", sha256),
        ],
    );
    assert_eq!(ended.status, 5, "{ended:?}");
    assert_eq!(ended.stdout, "ran\n", "{ended:?}");
    ended
}

#[test]
fn a_release_is_fetched_once_and_checked_every_time() {
    let runner = Runner::new();
    let (url, sha256) = release(&runner, "-czf", "release.tar.gz");
    let recorded = |what: &str, sha256: &str| {
        let ended = record(&runner, &url, sha256);
        assert_eq!(ended.outputs["recorded"], "true", "{what}: {ended:?}");
    };
    recorded("fetched", &sha256);
    let cache = runner.bench.path("tools/kernrec");
    assert_eq!(fs_err::read_dir(&cache).unwrap().count(), 1);
    fs_err::write(cache.join(&sha256), "damaged").unwrap();
    recorded("in place of a damaged one", &sha256);
    fs_err::remove_file(runner.bench.path("release.tar.gz")).unwrap();
    recorded("from the cache", &sha256.to_uppercase());
    fs_err::write(cache.join(&sha256), "damaged").unwrap();
    let ended = record(&runner, &url, &sha256);
    assert_eq!(ended.outputs["recorded"], "false", "{ended:?}");
}

#[test]
fn what_was_not_pinned_is_never_started() {
    let runner = Runner::new();
    let (url, sha256) = release(&runner, "-cf", "release.tar");
    let other = "0".repeat(64);
    for (url, sha256, problem) in [
        (
            url.as_str(),
            other.as_str(),
            "the pinned release could not be had",
        ),
        (
            "file:///nowhere/release.tar",
            &sha256,
            "the pinned release could not be had",
        ),
        ("-o/tmp/x", &sha256, "the pinned release could not be had"),
        (&url, "", "not the 64 hexadecimal digits"),
        (&url, &sha256[1..], "not the 64 hexadecimal digits"),
        (&url, "$(touch pwned)", "not the 64 hexadecimal digits"),
        ("", &sha256, "release-url is empty"),
    ] {
        let ended = record(&runner, url, sha256);
        assert_eq!(ended.outputs["recorded"], "false", "{ended:?}");
        assert!(ended.log.contains(problem), "{problem}: {ended:?}");
        assert_eq!(ended.uploaded().len(), 0);
        assert!(!runner.bench.path("tools/kernrec").exists());
    }
    // A program on the path does not stand in for what was pinned.
    runner.program("kernrec", "touch pwned; exec \"$@\"");
    let ended = record(&runner, &url, &other);
    assert!(ended.log.contains("not the pinned release"), "{ended:?}");
    assert_eq!(
        fs_err::read_dir(runner.bench.path("work")).unwrap().count(),
        0
    );
}

#[test]
fn a_cache_that_cannot_be_written_costs_a_download() {
    let mut runner = Runner::new();
    let (url, sha256) = release(&runner, "-cf", "release.tar");
    for cache in ["/dev/null", ""] {
        runner
            .environment
            .insert("RUNNER_TOOL_CACHE".to_owned(), cache.to_owned());
        assert_eq!(record(&runner, &url, &sha256).outputs["recorded"], "true");
    }
}

#[test]
fn an_archive_without_the_program_is_no_release() {
    let runner = Runner::new();
    fs_err::create_dir(runner.bench.path("release")).unwrap();
    fs_err::write(runner.bench.path("release/other"), "x").unwrap();
    let (url, _) = release(&runner, "-cf", "release.tar");
    fs_err::remove_file(runner.bench.path("release/kernrec")).unwrap();
    let tar = runner
        .bench
        .command("tar")
        .args(["-cf", "release.tar", "-C", "release", "."])
        .output();
    assert!(tar.unwrap().status.success());
    let sum = runner
        .bench
        .command("sha256sum")
        .arg("release.tar")
        .output()
        .unwrap();
    let ended = record(&runner, &url, &text(&sum.stdout)[..64]);
    assert_eq!(ended.outputs["recorded"], "false", "{ended:?}");
}
