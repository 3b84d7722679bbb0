//! Children, and children of children.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, assert_success};

#[test]
fn a_forked_child_that_launches_nothing_leaves_no_trace() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "fork=3", "launch=_Z1bv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.names, ["_Z1av", "_Z1bv"]);
}

#[test]
fn a_thousand_short_lived_children_cost_the_parent_nothing() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z1av", "fork=1000", "launch=_Z1bv"]));
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    assert_eq!(left.records, Some(2));
}

fn assert_child_is_marked(acts: &[&str]) {
    let bench = Bench::new();
    assert_success(&bench.run(acts));
    let left = bench.left();
    let (children, parents): (Vec<_>, Vec<_>) = left
        .into_iter()
        .partition(|recording| recording.text.contains(" forked=1"));
    assert_eq!((children.len(), parents.len()), (1, 1));
    assert!(children[0].has_error("fork-after-init"));
    assert!(!children[0].text.contains(" exe="));
    assert_eq!(parents[0].state, ProcessState::Clean, "{}", parents[0].text);
}

#[test]
fn a_forked_child_that_cupti_reaches_is_marked() {
    // No launch on the parent's first thread: the child then needs a buffer, and CUPTI asks us for it.
    assert_child_is_marked(&["threads=2,1", "fork-launch"]);
}

#[test]
fn a_forked_child_that_starts_cuda_again_is_marked() {
    assert_child_is_marked(&["launch=_Z1av", "fork-init"]);
}

#[test]
fn a_child_that_executes_a_program_has_its_own_recording() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let spawn = format!("spawn={cupti};init;launch=_Z5childv");
    assert_success(&bench.run(&["launch=_Z6parentv", &spawn]));
    let mut left = bench.left();
    left.sort_by(|a, b| a.names.cmp(&b.names));
    let names: Vec<_> = left
        .iter()
        .map(|recording| recording.names.clone())
        .collect();
    assert_eq!(names, [["_Z5childv"], ["_Z6parentv"]]);
    assert!(
        left.iter()
            .all(|recording| recording.state == ProcessState::Clean)
    );
}

#[test]
fn processes_of_one_step_share_the_folder() {
    let bench = Bench::new();
    let cupti = bench.cupti();
    let children: Vec<_> = (0..8)
        .map(|i| {
            let launch = format!("launch=_Z6kernelILi{i}EEvv");
            bench.command(&[&cupti, "init", &launch]).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let left = bench.left();
    assert_eq!(left.len(), 8);
    assert!(
        left.iter()
            .all(|recording| recording.state == ProcessState::Clean)
    );
}
