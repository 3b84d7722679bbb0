//! The steps that collect, run as an agent runs them, with a `kernrec` that says what it is asked for.

use super::agent::{Agent, Ended, script};
use super::release::release;
use serde_json::{Value, json};

/// Prints its arguments one by one, and ends as `ENDS` says.
const SAYS: &str = "for argument; do echo \"[$argument]\"; done\nexit \"${ENDS:-0}\"";

fn collector(agent: &Agent, config: &str) -> Value {
    let build = json!({"key": "image-build", "command": "build"});
    let many = json!({
        "key": "many", "agents": {"queue": "gpu_1"}, "commands": ["step 1"], "parallelism": 3,
        "depends_on": "image-build",
    });
    let one = json!({"key": "a:b.c", "agents": {"queue": "gpu_1"}, "commands": ["step 1"]});
    let amd = json!({"key": "amd", "agents": {"queue": "amd_1"}, "commands": ["step 1"]});
    let config = format!("host-steps = true\n{config}");
    let mut armed = agent.arm_all(&[&build, &many, &one, &amd], &config);
    let group = armed[4].take();
    assert_eq!(group["steps"].as_array().unwrap().len(), 2);
    group["steps"][0].clone()
}

fn run(agent: &Agent, step: &Value, ends: &str) -> Ended {
    fs_err::create_dir_all(agent.bench.path("tmp")).unwrap();
    let mut command = agent.command(&["bash", "-e", "-c"], &script(step));
    command
        .env("ENDS", ends)
        .env("TMPDIR", agent.bench.path("tmp"));
    let ended = Ended::of(&command.output().unwrap());
    assert_eq!(
        fs_err::read_dir(agent.bench.path("tmp")).unwrap().count(),
        0
    );
    ended
}

const ASKED: &str = "collect --backend cuda --store s3://records/it --pipeline ci --deadline 180m --only-branch main \
    --allow-shrink --map-step image-build --step many=3 --step a:b.c";

fn asked(ended: &Ended) -> String {
    let words = ended
        .stdout
        .lines()
        .map(|line| line.trim_matches(['[', ']']));
    words.collect::<Vec<_>>().join(" ")
}

const STORE: &str = "[collect]\nstore = \"s3://records/it\"\narguments = [\"--allow-shrink\"]\n";

#[test]
fn it_asks_for_exactly_its_backends_steps_and_ends_as_kernrec_does() {
    let agent = Agent::new();
    let step = collector(&agent, STORE);
    agent.program("kernrec", SAYS);
    for (ends, status) in [("0", 0), ("3", 3), ("5", 5)] {
        let ended = run(&agent, &step, ends);
        assert_eq!((ended.status, asked(&ended).as_str()), (status, ASKED));
        assert_eq!((ended.stderr.as_str(), ended.said.len()), ("", 0));
    }
}

#[test]
fn without_the_program_it_fails_and_says_so() {
    let agent = Agent::new();
    let step = collector(&agent, STORE);
    fs_err::remove_file(agent.bench.path("bin/kernrec")).unwrap();
    let ended = run(&agent, &step, "0");
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""));
    assert_eq!(ended.said, ["kernrec: not on PATH: nothing is collected"]);
}

#[test]
fn it_runs_the_pinned_release_and_no_other() {
    let agent = Agent::new();
    agent.program("says", SAYS);
    let says = agent.bench.path("bin/says");
    let (archive, sha256) = release(&agent, &says, "-czf", "release.tar.gz");
    let config = |sha256: &str| {
        let cache = agent.bench.path("cache");
        format!(
            "{STORE}[release]\nurl = \"file://{archive}\"\nsha256 = \"{sha256}\"\ncache = \"{}\"\n",
            cache.display()
        )
    };
    let step = collector(&agent, &config(&sha256));
    let other = collector(&agent, &config(&"0".repeat(64)));
    // The one on the path is another.
    let ended = run(&agent, &step, "4");
    assert_eq!((ended.status, asked(&ended).as_str()), (4, ASKED));
    let ended = run(&agent, &other, "0");
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""));
    assert!(
        ended.said.join("\n").contains("nothing is collected"),
        "{ended:?}"
    );
}
