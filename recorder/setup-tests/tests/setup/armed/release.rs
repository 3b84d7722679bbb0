//! How the pinned release reaches a job.

use super::agent::{Agent, Ended, script};
use crate::bench::{HOST, text};
use serde_json::json;
use std::path::Path;

/// A release that starts a program, its archive and digest.
pub(super) fn release(agent: &Agent, program: &Path, flags: &str, name: &str) -> (String, String) {
    let folder = agent.bench.path("release");
    fs_err::create_dir(&folder).unwrap();
    agent.program("built", &format!("exec '{}' \"$@\"", program.display()));
    fs_err::rename(agent.bench.path("bin/built"), folder.join("kernrec")).unwrap();
    let run = |program: &str, args: &[&str]| {
        let output = agent.bench.command(program).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    run("tar", &[flags, name, "-C", "release", "."]);
    let sha256 = run("sha256sum", &[name]);
    (
        agent.bench.path(name).display().to_string(),
        sha256[..64].to_owned(),
    )
}

fn config(source: &str, sha256: &str, cache: &Path) -> String {
    format!(
        "host-steps = true\n[release]\n{source}\nsha256 = \"{sha256}\"\ncache = \"{}\"\n",
        cache.display()
    )
}

/// Runs an armed step with nothing on the path but what the system has.
fn run(agent: &Agent, config: &str, bootstrap: bool) -> Ended {
    let step =
        json!({"key": "demo", "agents": {"queue": "gpu_1"}, "commands": ["step 1", "step 2"]});
    let armed = agent.arm(&step, config);
    if !bootstrap {
        let _ = fs_err::remove_file(agent.bench.path("bin/kernrec"));
    }
    let _ = fs_err::remove_dir_all(agent.bench.path(".kernrec"));
    fs_err::create_dir_all(agent.bench.path("tmp")).unwrap();
    let mut command = agent.command(&["bash", "-e", "-c"], &script(&armed));
    let ended = Ended::of(
        &command
            .env("TMPDIR", agent.bench.path("tmp"))
            .output()
            .unwrap(),
    );
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "step 1\nstep 2\n"),
        "{ended:?}"
    );
    // Nothing of it stays but the cache.
    assert_eq!(
        fs_err::read_dir(agent.bench.path("tmp")).unwrap().count(),
        0
    );
    ended
}

#[test]
fn a_release_is_fetched_once_and_verified_every_time() {
    let agent = Agent::new();
    let (archive, sha256) = release(&agent, Path::new(HOST), "-czf", "release.tar.gz");
    let cache = agent.bench.path("cache");
    let config = config(&format!("url = \"file://{archive}\""), &sha256, &cache);
    let recorded = |what: &str| {
        let ended = run(&agent, &config, false);
        assert!(ended.said.is_empty(), "{what}: {ended:?}");
        assert_eq!(agent.bench.bundle().recordings.len(), 1, "{what}");
    };
    recorded("fetched");
    let cached = cache.join(&sha256);
    assert_eq!(fs_err::read_dir(&cache).unwrap().count(), 1);
    fs_err::write(&cached, "damaged").unwrap();
    recorded("fetched again in the place of a damaged one");
    fs_err::remove_file(&archive).unwrap();
    recorded("from the cache");
    fs_err::write(&cached, "damaged").unwrap();
    let ended = run(&agent, &config, false);
    assert!(
        ended.said.join("\n").contains("could not be had"),
        "{ended:?}"
    );
    assert!(agent.bench.bundles().is_empty());
}

#[test]
fn what_is_not_the_pinned_release_is_never_run() {
    let agent = Agent::new();
    let (archive, _) = release(&agent, Path::new(HOST), "-czf", "release.tar.gz");
    let config = config(
        &format!("url = \"file://{archive}\""),
        &"0".repeat(64),
        &agent.bench.path("cache"),
    );
    // Not even the one on the path takes its place.
    let ended = run(&agent, &config, true);
    let said = ended.said.join("\n");
    assert!(
        said.contains("is not the pinned release") && said.contains("unrecorded"),
        "{ended:?}"
    );
    assert!(agent.bench.bundles().is_empty());
    assert!(!agent.bench.path("cache").exists());
}

#[test]
fn a_release_comes_from_a_store() {
    let agent = Agent::new();
    let (archive, sha256) = release(&agent, Path::new(HOST), "-cf", "release.tar");
    let store = agent.bench.path("store");
    fs_err::create_dir(&store).unwrap();
    let store = store.to_str().unwrap();
    let mut put = agent.bench.command(HOST);
    let put = put
        .args(["store", "put", "--json", store, &archive])
        .output()
        .unwrap();
    let put: serde_json::Value = serde_json::from_slice(&put.stdout).unwrap();
    let digest = put["digest"].as_str().unwrap_or_else(|| panic!("{put}"));
    let source = format!("store = \"{store}\"\ndigest = \"{digest}\"");
    let config = config(&source, &sha256, Path::new("/proc/no-cache"));
    let ended = run(&agent, &config, true);
    assert!(ended.said.is_empty(), "{ended:?}");
    assert_eq!(agent.bench.bundle().recordings.len(), 1);
}
