//! What holds for any pipeline.

use crate::collectors::STORE;
use crate::{ALL, BOTH, CUDA, NONE, PYTHON, ROCM, armed_with, text};
use kernrec_pipeline::{Armed, Fate, Switches};
use proptest::prelude::*;
use std::fmt::Write as _;

fn armed(pipeline: &str, switches: Switches) -> Armed {
    armed_with(pipeline, STORE, switches)
}

/// A step as text, without the dash, at the left margin.
#[derive(Debug, Clone)]
struct Step(Vec<String>);

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("plain".to_owned()),
        Just("'single ''quoted'''".to_owned()),
        Just("\"double \\\"quoted\\\" \\u00e9\"".to_owned()),
        Just("plain # with a comment".to_owned()),
        Just("|\n  literal: x\n\n  # no comment\n".to_owned()),
        Just("|-\n    deeper\n      still".to_owned()),
        Just(">+\n  folded\n  text\n\n".to_owned()),
        Just("plain over\n  two lines".to_owned()),
    ]
}

fn commands() -> impl Strategy<Value = Vec<String>> {
    let list = |dash: &'static str| {
        prop::collection::vec(scalar(), 1..4).prop_map(move |items| {
            let lines = items.iter().flat_map(|item| {
                let mut lines = item.lines();
                let first = format!("{dash}- {}", lines.next().unwrap());
                let rest = lines.map(move |line| {
                    if line.is_empty() {
                        String::new()
                    } else {
                        format!("{dash}  {line}")
                    }
                });
                std::iter::once(first).chain(rest.collect::<Vec<_>>())
            });
            std::iter::once("commands:".to_owned())
                .chain(lines)
                .collect()
        })
    };
    prop_oneof![
        list(""),
        list("    "),
        scalar().prop_map(|text| format!("command: {text}")
            .lines()
            .map(str::to_owned)
            .collect()),
        Just(vec!["commands: [\"one\", two , 'three']".to_owned()]),
        Just(vec![
            "commands: [".to_owned(),
            "  one,".to_owned(),
            "  two".to_owned(),
            "]".to_owned()
        ]),
    ]
}

fn other_entries() -> impl Strategy<Value = Vec<Vec<String>>> {
    let choices = [
        "timeout_in_minutes: 40",
        "timeout_in_minutes: '17' # quoted",
        "artifact_paths: \"a;b\"",
        "artifact_paths:",
        "artifact_paths:\n- x/**\n\n# a remark\n- y",
        "env:\n  A: b # c\n  VLLM_TEST_COMMANDS: cd x && y",
        "env: {A: b}",
        "env:",
        "plugins:\n- docker#v5.2.0:\n    image: x\n    environment:\n    - A=b\n- junit#v2",
        "plugins: [{docker#v5.2.0: {image: x, volumes: ['/a:/b']}}]",
        "plugins:\n  - kubernetes: {podSpec: {containers: [{image: x}]}}",
        "plugins:\n- docker#v5.2.0:\n    image: x\n    command: [bash, -xc, 'a && b']",
        "parallelism: 3",
        "retry:\n  automatic:\n  - exit_status: -1\n    limit: 2",
        "notify: []",
        "depends_on: s0",
        "depends_on:\n- step: block\n  allow_failure: true",
        "depends_on: []",
        "soft_fail: true",
        "# only a remark",
    ];
    let entry = prop::sample::select(choices.to_vec());
    prop::collection::vec(entry, 0..7).prop_map(|entries| {
        let mut taken = std::collections::BTreeSet::new();
        let fresh = entries
            .into_iter()
            .filter(|entry| taken.insert(entry.split(':').next().unwrap()));
        fresh
            .map(|entry| entry.lines().map(str::to_owned).collect())
            .collect()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let queue = prop::sample::select(vec![
        "agents:\n  queue: gpu_1_queue",
        "agents: {queue: amd_mi325_1}",
        "agents:\n- queue=small_cpu",
        "agents: {}",
    ]);
    (
        queue,
        commands(),
        other_entries(),
        any::<bool>(),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(queue, commands, mut entries, keyed, at)| {
            entries.push(queue.lines().map(str::to_owned).collect());
            if keyed {
                entries.push(vec!["key: \"@\"".to_owned()]);
            }
            entries.insert(at.index(entries.len() + 1), commands);
            // A remark cannot be what a dash is followed by here.
            entries.insert(0, vec!["label: \"Step \u{1f680} @\"".to_owned()]);
            Step(entries.concat())
        })
}

/// A pipeline and the text of each step in it.
fn pipeline() -> impl Strategy<Value = (String, Vec<String>)> {
    (
        prop::collection::vec(step(), 1..6),
        0..3_usize,
        any::<bool>(),
    )
        .prop_map(|(steps, margin, group)| {
            let margin = " ".repeat(margin * 2);
            let mut text = String::from("# generated\nenv: {X: y}\nsteps:\n");
            let mut margin = margin;
            if group {
                let _ = write!(
                    text,
                    "{margin}- wait\n{margin}- {{block: Go?, key: block, depends_on: []}}\n{margin}- group: all\n{margin}  steps:\n"
                );
                margin.push_str("  ");
            }
            let mut chunks = Vec::new();
            for (n, Step(lines)) in steps.iter().enumerate() {
                let mut chunk = String::new();
                for (at, line) in lines.iter().enumerate() {
                    let dash = if at == 0 { "- " } else { "  " };
                    if line.is_empty() {
                        chunk.push('\n');
                    } else {
                        let line = line.replace('@', &format!("s{n}"));
                        let _ = writeln!(chunk, "{margin}{dash}{line}");
                    }
                }
                text.push_str(&chunk);
                chunks.push(chunk);
            }
            text.push_str("# the end\n");
            (text, chunks)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn without_a_switch_nothing_changes((pipeline, _) in pipeline()) {
        let armed = armed(&pipeline, NONE);
        prop_assert_eq!(text(&armed), pipeline.as_str());
    }

    #[test]
    fn arming_twice_is_arming_once((pipeline, _) in pipeline()) {
        for switches in [CUDA, ROCM, BOTH, PYTHON, ALL] {
            let once = armed(&pipeline, switches);
            let twice = armed(text(&once), switches);
            prop_assert_eq!(text(&twice), text(&once));
            prop_assert!(twice.steps.iter().all(|step| step.fate == Fate::NotArmed));
        }
    }

    #[test]
    fn one_switch_after_the_other_is_both((pipeline, _) in pipeline()) {
        let one = armed(&pipeline, CUDA);
        let other = armed(text(&one), ROCM);
        let both = armed(&pipeline, BOTH);
        prop_assert_eq!(text(&other), text(&both));
    }

    #[test]
    fn steps_that_are_not_armed_keep_every_byte((pipeline, chunks) in pipeline()) {
        for switches in [CUDA, ROCM, BOTH, PYTHON, ALL] {
            let armed = armed(&pipeline, switches);
            let mut rest = text(&armed);
            let commands = armed.steps.iter();
            let commands = commands.filter(|step| !["wait", "block"].contains(&step.name.as_str()));
            for (step, chunk) in commands.zip(&chunks) {
                if step.fate != Fate::NotArmed {
                    continue;
                }
                let found = rest.find(chunk.as_str());
                prop_assert!(found.is_some(), "{}\n{}", chunk, rest);
                rest = &rest[found.unwrap() + chunk.len()..];
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-:{}\\[\\], \n\"'a|>#&*!]{0,60}") {
        let _ = kernrec_pipeline::arm(text.as_bytes(), &kernrec_pipeline::Config::built_in(), BOTH, None);
    }
}

#[test]
fn the_pipelines_that_are_generated_are_armed() {
    // Otherwise the properties would say nothing.
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let armed: Vec<Armed> = (0..50)
        .map(|_| {
            let (pipeline, _) = pipeline().new_tree(&mut runner).unwrap().current();
            armed(&pipeline, BOTH)
        })
        .collect();
    let collectors: Vec<_> = armed.iter().flat_map(|armed| &armed.collectors).collect();
    let added = collectors
        .iter()
        .filter(|report| report.not_added.is_none());
    let added = added.count();
    assert!(added > 5, "{added} of {}", collectors.len());
    assert!(
        collectors
            .iter()
            .any(|report| !report.behind_a_block.is_empty())
    );
    let steps = armed.iter().flat_map(|armed| &armed.steps);
    let fates: Vec<Fate> = steps.map(|step| step.fate).collect();
    let count = fates.iter().filter(|fate| **fate != Fate::NotArmed).count();
    assert!(
        count > 10 && count < fates.len(),
        "{count} of {}",
        fates.len()
    );
}
