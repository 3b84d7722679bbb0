//! Children, and children of children.

use kernrec_schemas::recording::ProcessState;

use crate::bench::{Bench, Left, assert_success};

/// The parent's recording and the forked children's.
fn family(bench: &Bench) -> (Left, Vec<Left>) {
    let all = bench.left();
    let (children, mut parents): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|left| left.text.contains(" forked=1"));
    assert_eq!(parents.len(), 1, "{parents:#?}");
    for child in &children {
        assert_eq!(child.state, ProcessState::Error, "{}", child.text);
        assert!(child.has_error("fork_after_sdk_init"), "{}", child.text);
        assert!(!child.text.contains(" exe="), "{}", child.text);
    }
    (parents.remove(0), children)
}

fn run(flush_ms: &'static str, acts: &[&str]) -> (Left, Vec<Left>) {
    let mut bench = Bench::new();
    bench.flush_ms = flush_ms;
    assert_success(&bench.run(acts));
    let (parent, children) = family(&bench);
    assert_eq!(parent.state, ProcessState::Clean, "{}", parent.text);
    (parent, children)
}

#[test]
fn children_that_do_nothing_leave_nothing() {
    // By their exit handlers, the SDK's included.
    let (parent, children) = run("0", &["fork=3", "launch=_Z1av"]);
    assert!(children.is_empty(), "{children:#?}");
    assert_eq!(parent.names, ["_Z1av"]);
    // At once, with records of the parent in their buffers.
    let (parent, children) = run("0", &["launch=_Z1av", "fork-do=print=", "launch=_Z1bv"]);
    assert!(children.is_empty(), "{children:#?}");
    assert_eq!(parent.names, ["_Z1av", "_Z1bv"]);
}

/// The parent's records were delivered before, so the child's exit meets none.
#[test]
fn a_child_of_a_parent_that_uses_the_gpu_leaves_nothing() {
    let acts = ["launch=_Z1av", "await=_Z1av", "fork=3", "launch=_Z1bv"];
    let (parent, children) = run("1", &acts);
    assert!(children.is_empty(), "{children:#?}");
    assert_eq!(parent.names, ["_Z1av", "_Z1bv"]);
}

/// The SDK gives the child the parent's records once more. They could be the child's own.
#[test]
fn a_child_that_gets_its_parents_records_is_marked() {
    let acts = ["launch=_Z1av*3", "fork=1", "launch=_Z1bv"];
    let (parent, children) = run("0", &acts);
    assert_eq!(children.len(), 1);
    assert!(children[0].names.is_empty(), "{}", children[0].text);
    assert_eq!(children[0].unresolved, Some(3), "{}", children[0].text);
    assert_eq!(parent.records, Some(4));
}

#[test]
fn a_child_that_uses_the_gpu_has_a_recording_of_its_own() {
    let child = "fork-do=launch=_Z5childv*2;end=exit";
    let (parent, children) = run("0", &[child, "launch=_Z6parentv"]);
    assert_eq!(parent.names, ["_Z6parentv"]);
    assert_eq!(children.len(), 1);
    assert_eq!(children[0].names, ["_Z5childv"]);
    assert_eq!(children[0].records, Some(2));
}

#[test]
fn a_child_that_is_killed_leaves_its_names() {
    let child = "fork-do=launch=_Z5childv;await=_Z5childv;end=kill";
    let (parent, children) = run("1", &[child, "launch=_Z6parentv"]);
    assert_eq!(parent.names, ["_Z6parentv"]);
    assert_eq!(children.len(), 1);
    assert_eq!(children[0].names, ["_Z5childv"]);
}

/// Before any record is flushed: loading code is enough to be seen.
#[test]
fn a_child_that_ends_at_once_is_marked() {
    let (_, children) = run("0", &["fork-do=launch=_Z5childv"]);
    assert_eq!(children.len(), 1);
    assert!(children[0].text.contains("# gpu_active\n"));
}

#[test]
fn a_child_of_many_threads_has_one_recording() {
    let (_, children) = run("1", &["fork-do=threads=32,20;end=exit"]);
    assert_eq!(children.len(), 1);
    assert_eq!(children[0].names.len(), 320);
}

#[test]
fn a_grandchild_is_its_own() {
    let (parent, children) = run(
        "0",
        &["launch=_Z1av", "fork-do=fork-do=launch=_Z10grandchildv"],
    );
    assert_eq!(parent.records, Some(1));
    // It loads its kernel; the code object itself was loaded before.
    assert_eq!(children.len(), 1);
    // A child that uses the GPU, and its child.
    let (_, children) = run(
        "0",
        &["fork-do=launch=_Z5childv;fork-do=launch=_Z10grandchildv;end=exit"],
    );
    assert_eq!(children.len(), 2, "{children:#?}");
}

/// A child can inherit an SDK that waits for a thread of its parent's. Its end does not wait with it.
#[test]
fn a_child_in_which_the_sdk_hangs() {
    let bench = Bench::with("child-hangs=1");
    assert_success(&bench.run(&["load-code", "fork=1", "launch=_Z1av"]));
    let (parent, children) = family(&bench);
    assert_eq!(parent.state, ProcessState::Clean, "{}", parent.text);
    assert_eq!(children.len(), 1);
    assert!(children[0].has_error("final_flush_failed"));
}

/// The recorder is asked again, by a child that starts the runtime.
#[test]
fn a_child_that_starts_the_runtime_first() {
    let bench = Bench::new();
    let output = bench
        .command(&[
            "fork-do=init;launch=_Z5childv;end=exit",
            "init",
            "launch=_Z1av",
        ])
        .output();
    assert_success(&output.unwrap());
    let mut names: Vec<_> = bench
        .left()
        .into_iter()
        .map(|left| (left.state, left.names))
        .collect();
    names.sort_by(|a, b| a.1.cmp(&b.1));
    let expected = ["_Z1av", "_Z5childv"].map(|name| (ProcessState::Clean, vec![name.to_owned()]));
    assert_eq!(names, expected);
}

#[test]
fn a_thousand_short_lived_children_cost_the_parent_nothing() {
    let (parent, children) = run(
        "1",
        &["launch=_Z1av", "await=_Z1av", "fork=1000", "launch=_Z1bv"],
    );
    assert!(children.is_empty(), "{} children", children.len());
    assert_eq!(parent.records, Some(2));
}

#[test]
fn a_child_that_executes_a_program_has_its_own_recording() {
    let bench = Bench::new();
    assert_success(&bench.run(&["launch=_Z6parentv", "spawn=init;launch=_Z5childv"]));
    let mut left = bench.left();
    left.sort_by(|a, b| a.names.cmp(&b.names));
    let names: Vec<_> = left.iter().map(|left| left.names.clone()).collect();
    assert_eq!(names, [["_Z5childv"], ["_Z6parentv"]]);
    assert!(left.iter().all(|left| left.state == ProcessState::Clean));
}

#[test]
fn processes_of_one_step_share_the_folder() {
    let bench = Bench::new();
    let children: Vec<_> = (0..8)
        .map(|i| {
            let launch = format!("launch=_Z6kernelILi{i}EEvv");
            bench.command(&["init", &launch]).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let left = bench.left();
    assert_eq!(left.len(), 8);
    assert!(left.iter().all(|left| left.state == ProcessState::Clean));
}
