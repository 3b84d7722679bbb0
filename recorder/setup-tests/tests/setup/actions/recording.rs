//! `actions/record`: the command is what counts, and recording is beside it.

use super::runner::{Ended, Runner};
use crate::bench::{Bundle, read_bundle, text};
use kernrec_schemas::sidecar::Sidecar;

/// Runs commands, recorded.
fn record(runner: &Runner, commands: &str, more: &[(&str, &str)]) -> Ended {
    let mut with = vec![("run", commands), ("backend", "cuda")];
    with.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    with.extend(more);
    runner.uses("record", &with)
}

fn bundle(ended: &Ended) -> Bundle {
    let uploaded = ended.uploaded();
    let [path] = &uploaded[..] else {
        panic!("{uploaded:?}: {ended:?}");
    };
    read_bundle(path)
}

fn key(sidecar: &Sidecar) -> &str {
    sidecar.step_key.as_ref().unwrap().as_str()
}

fn job(sidecar: &Sidecar) -> &str {
    sidecar.job_id.as_ref().unwrap().as_str()
}

#[test]
fn commands_are_recorded_under_the_jobs_name() {
    let runner = Runner::new();
    let ended = record(&runner, "echo first\ngpu\n", &[]);
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "first\n"),
        "{ended:?}"
    );
    assert_eq!(ended.outputs["recorded"], "true", "{ended:?}");
    assert_eq!(ended.summary, "**kernrec:** `kernels` recorded\n");
    let bundle = bundle(&ended);
    assert!(
        bundle.sidecar.faults.is_empty(),
        "{:?}",
        bundle.sidecar.faults
    );
    assert_eq!(
        (key(&bundle.sidecar), job(&bundle.sidecar)),
        ("kernels", "77-1-kernels")
    );
    assert_eq!(bundle.sidecar.commit.as_ref().unwrap().as_str(), "c0ffee");
    assert_eq!(bundle.sidecar.build.as_deref(), Some("41"));
    assert_eq!(bundle.sidecar.exit_status, Some(0));
    assert_eq!(bundle.sidecar.retry_count, Some(0));
    assert_eq!(bundle.recordings[0].names, ["_Z1av"]);
    // The checkout is as the commands left it.
    assert_eq!(
        fs_err::read_dir(runner.bench.path("work")).unwrap().count(),
        0
    );
}

/// A step's file of outputs is its commands' as well, and the later of two of one name counts.
#[test]
fn outputs_of_the_commands_change_nothing() {
    let runner = Runner::new();
    runner.program("evil", "touch pwned");
    let commands = "gpu\nfor name in folder program step bundles job recorded; do echo \"$name=evil\" >>\"$GITHUB_OUTPUT\"; done\nkill -KILL $PPID";
    let ended = record(&runner, commands, &[]);
    assert_eq!(ended.uploaded().len(), 1, "packed all the same: {ended:?}");
    assert!(ended.summary.contains("`kernels`"), "{ended:?}");
    assert!(!runner.bench.path("work/pwned").exists());
}

#[test]
fn jobs_of_a_matrix_are_shards_unless_they_have_keys() {
    let ended = |runner: &Runner, more: &[(&str, &str)]| {
        let ended = record(runner, "gpu", more);
        bundle(&ended).sidecar
    };
    let shard = ended(&Runner::new().matrix(2, 3), &[]);
    assert_eq!((key(&shard), job(&shard)), ("kernels", "77-1-kernels-2"));
    assert_eq!((shard.shard, shard.shard_count), (Some(2), Some(3)));
    let step = ended(&Runner::new().matrix(2, 3), &[("step", "attention")]);
    assert_eq!((key(&step), job(&step)), ("attention", "77-1-attention"));
    assert_eq!((step.shard, step.shard_count), (None, None));
    let both = [("step", "attention"), ("shard", "0"), ("shards", "2")];
    let both = ended(&Runner::new().matrix(2, 4), &both);
    assert_eq!((both.shard, both.shard_count), (Some(0), Some(2)));
}

#[test]
fn two_steps_of_one_job_leave_a_bundle_each() {
    let runner = Runner::new();
    for step in ["attention", "rope"] {
        let ended = record(&runner, "gpu", &[("step", step)]);
        assert_eq!(
            (ended.status, ended.outputs["recorded"].as_str()),
            (0, "true"),
            "{ended:?}"
        );
    }
    let ended = record(&runner, "gpu", &[("step", "rope")]);
    let mut found: Vec<_> = ended
        .uploaded()
        .iter()
        .map(|path| read_bundle(path))
        .map(|bundle| (key(&bundle.sidecar).to_owned(), bundle.recordings.len()))
        .collect();
    found.sort();
    assert_eq!(found, [("attention".to_owned(), 1), ("rope".to_owned(), 2)]);
}

/// Commands and what they end with, as a step of a workflow has it.
const ENDS: [(&str, i32); 9] = [
    ("gpu; exit 7", 7),
    ("false\necho not reached", 1),
    ("exit 3 | cat", 3),
    ("if [", 2),
    ("kill -KILL $$", 137),
    ("kill -TERM $$", 143),
    ("no-such-program-anywhere", 127),
    ("", 0),
    ("trap 'exit 9' EXIT", 9),
];

#[test]
fn a_failing_command_keeps_its_status_recorded_or_not() {
    for (commands, status) in ENDS {
        let runner = Runner::new();
        let ended = record(&runner, commands, &[]);
        assert_eq!(ended.status, status, "{commands}: {ended:?}");
        assert_eq!(ended.outputs["recorded"], "true", "{commands}: {ended:?}");
        let bundle = bundle(&ended);
        assert_eq!(
            bundle.sidecar.exit_status,
            Some(status.into()),
            "{commands}"
        );
        fs_err::remove_file(runner.bench.path("bin/kernrec")).unwrap();
        let ended = record(&runner, commands, &[]);
        assert_eq!(ended.status, status, "{commands}: {ended:?}");
        assert_eq!(ended.outputs["recorded"], "false", "{commands}: {ended:?}");
    }
}

#[test]
fn the_commands_are_run_to_the_letter() {
    let commands = "echo \"a 'b' $(echo c) `echo d` \\\\ $0\"\ncat <<'END'\n$(touch pwned) ${{ x }} %0A\nEND\n\
        echo '::set-output name=x::y' # not ours to change\nprintf '%s\\n' \"$@\" é";
    let runner = Runner::new();
    let mut plain = runner.command("bash");
    plain.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", commands]);
    let expected = text(&plain.output().unwrap().stdout);
    assert!(expected.contains("$(touch pwned)"), "{expected}");
    let ended = record(&runner, commands, &[]);
    assert_eq!((ended.status, ended.stdout), (0, expected));
}

#[test]
fn the_commands_have_the_environment_that_they_would_have() {
    let mut runner = Runner::new();
    // Names that a script might take for its own.
    for name in [
        "step",
        "job",
        "shard",
        "shards",
        "folder",
        "program",
        "problem",
        "commands",
        "recorder",
        "text",
        "found",
        "sha256",
        "archive",
        "cached",
        "new",
        "RELEASE_URL",
        "MATRIX_INDEX",
        "KEY",
    ] {
        runner
            .environment
            .insert(name.to_owned(), format!("the job's {name}"));
    }
    let all = "env | sort";
    let mut plain = runner.command("bash");
    plain.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", all]);
    let plain = text(&plain.output().unwrap().stdout);
    // What the recorder sets, what the runner says of an action, and what each shell counts.
    let documented = kernrec_setup::variables::SET.map(|variable| variable.name);
    let lines = |text: &str| -> Vec<String> {
        let is_kept = |line: &&str| {
            let name = line.split('=').next().unwrap();
            !documented.contains(&name)
                && !["GITHUB_ACTION_PATH", "SHLVL", "_", "OLDPWD"].contains(&name)
        };
        text.lines().filter(is_kept).map(str::to_owned).collect()
    };
    assert_eq!(lines(&record(&runner, all, &[]).stdout), lines(&plain));
    fs_err::remove_file(runner.bench.path("bin/kernrec")).unwrap();
    assert_eq!(lines(&record(&runner, all, &[]).stdout), lines(&plain));
}

/// What is no name, number or backend.
const HOSTILE: [&str; 11] = [
    "$(touch pwned)",
    "\"; touch pwned; \"",
    "a\ntouch pwned",
    "-x",
    "`touch pwned`",
    "'; touch pwned; '",
    "a b",
    "a\rb::error::c",
    "../../pwned",
    "--",
    "é",
];

#[test]
fn inputs_that_are_no_names_run_nothing_and_cost_the_recording_only() {
    for (input, values) in [
        ("step", &HOSTILE[..]),
        ("backend", &HOSTILE[..4]),
        ("shard", &HOSTILE[..4]),
        ("shards", &HOSTILE[..4]),
        ("variant", &HOSTILE[..4]),
        ("commit", &HOSTILE[..4]),
    ] {
        for value in values {
            let runner = Runner::new();
            let ended = record(&runner, "gpu; echo ran; exit 5", &[(input, value)]);
            let said = (ended.status, ended.outputs["recorded"].as_str());
            assert_eq!(said, (5, "false"), "{input} {value}: {ended:?}");
            assert_eq!(ended.stdout, "ran\n", "{input} {value}: {ended:?}");
            let warned = ended.log.contains("::warning title=kernrec::");
            assert!(warned, "{input} {value}: {ended:?}");
            let work = fs_err::read_dir(runner.bench.path("work")).unwrap();
            assert_eq!(work.count(), 0, "{input} {value}");
        }
    }
}

#[test]
fn a_program_that_does_not_start_costs_the_recording_only() {
    let runner = Runner::new();
    for script in ["exit 1", "kill -SEGV $$", "exec /nowhere"] {
        runner.program("kernrec", script);
        let ended = record(&runner, "echo ran; exit 5", &[]);
        assert_eq!(
            (ended.status, ended.outputs["recorded"].as_str()),
            (5, "false"),
            "{ended:?}"
        );
        assert!(
            ended
                .log
                .contains("does not start: the commands run unrecorded"),
            "{ended:?}"
        );
        assert!(ended.summary.contains("not recorded"), "{ended:?}");
    }
}

#[test]
fn what_keeps_a_job_from_recording_is_named() {
    let mut runner = Runner::new();
    let nowhere = runner.bench.path("nowhere").display().to_string();
    runner
        .environment
        .insert("KERNREC_LIB_DIR".to_owned(), nowhere);
    let ended = record(&runner, "echo ran", &[]);
    assert_eq!((ended.status, ended.stdout.as_str()), (0, "ran\n"));
    assert_eq!(ended.outputs["recorded"], "false");
    assert_eq!(
        ended.summary,
        "**kernrec:** `kernels` not recorded: recorder-missing\n"
    );
    assert!(
        ended
            .log
            .contains("::warning title=kernrec::kernels was not recorded: recorder-missing")
    );
}

#[test]
fn a_killed_recorder_leaves_what_was_seen() {
    let runner = Runner::new();
    // The parent of the commands' shell.
    let ended = record(&runner, "gpu; kill -KILL $PPID", &[]);
    assert_eq!(ended.status, 137, "{ended:?}");
    let bundle = bundle(&ended);
    assert_eq!(bundle.sidecar.exit_status, None);
    assert_eq!(bundle.recordings[0].names, ["_Z1av"]);
}

#[test]
fn commands_run_in_the_folder_that_is_asked_for() {
    let runner = Runner::new();
    fs_err::create_dir(runner.bench.path("work/sub dir")).unwrap();
    let ended = record(
        &runner,
        "basename \"$PWD\"; gpu",
        &[("working-directory", "sub dir")],
    );
    assert_eq!((ended.status, ended.stdout.as_str()), (0, "sub dir\n"));
    assert_eq!(bundle(&ended).recordings.len(), 1);
}
