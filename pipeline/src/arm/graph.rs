//! Which steps wait for somebody to press a button.
//!
//! As Buildkite has it: a step without `depends_on` waits for the `wait` or `block` before it in its list, which waits
//! for all steps before that. One with `depends_on` waits for what it names, whatever stands before it. A group's
//! list is one of its own; a group's key stands for all of its steps. An `input` keeps back only what names it.

use crate::yaml::Node;
use std::collections::HashMap;

/// The steps of a pipeline, by number, and what waits for each.
#[derive(Debug, Default)]
pub(super) struct Graph<'d> {
    waiting: Vec<Vec<usize>>,
    people: Vec<usize>,
    keys: HashMap<&'d str, Vec<usize>>,
    named: Vec<(usize, &'d str)>,
}

/// A list of steps on the way through it.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// What a step that names nothing waits for.
    barrier: Option<usize>,
    /// What the next barrier waits for.
    since: Vec<usize>,
    /// What every step waits for: a group that names something.
    always: Option<usize>,
}

/// What a step is to those around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Step,
    Wait,
    Block,
    Input,
}

impl<'d> Graph<'d> {
    /// Takes the next step of a list.
    pub(super) fn step(&mut self, node: &'d Node<'d>, scope: &mut Scope) -> usize {
        let kind = kind(node);
        let number = self.vertex();
        if let Some(names) = depends_on(node) {
            self.named
                .extend(names.into_iter().map(|name| (number, name)));
            self.edge(scope.always, number);
        } else {
            self.edge(scope.barrier, number);
            if is_barrier(kind) {
                for before in std::mem::take(&mut scope.since) {
                    self.edge(Some(before), number);
                }
            }
        }
        if matches!(kind, Kind::Block | Kind::Input) {
            self.people.push(number);
        }
        if is_barrier(kind) {
            // One that names something does not undo the one before.
            self.edge(scope.barrier, number);
            scope.barrier = Some(number);
            scope.since.clear();
        } else {
            scope.since.push(number);
        }
        self.key(node, number);
        number
    }

    /// The list of a group, and what its end waits for.
    pub(super) fn group(&mut self, node: &'d Node<'d>, outer: &Scope) -> Scope {
        let start = self.vertex();
        let mut always = None;
        if let Some(names) = depends_on(node) {
            self.named
                .extend(names.into_iter().map(|name| (start, name)));
            always = Some(start);
        } else {
            self.edge(outer.barrier, start);
        }
        Scope {
            barrier: Some(start),
            since: Vec::new(),
            always,
        }
    }

    /// After the last step of a group: what names it, or comes after it, waits for all of `members`.
    pub(super) fn end_of_group(
        &mut self,
        node: &'d Node<'d>,
        members: &[usize],
        outer: &mut Scope,
    ) {
        let end = self.vertex();
        for member in members {
            self.edge(Some(*member), end);
        }
        outer.since.push(end);
        self.key(node, end);
    }

    /// For each step whether it runs only after somebody unblocked something.
    pub(super) fn behind_a_block(mut self) -> Vec<bool> {
        for (waits, name) in std::mem::take(&mut self.named) {
            for number in self.keys.get(name).into_iter().flatten() {
                self.waiting[*number].push(waits);
            }
        }
        let mut behind = vec![false; self.waiting.len()];
        let mut next = self.people;
        while let Some(number) = next.pop() {
            for waits in &self.waiting[number] {
                if !std::mem::replace(&mut behind[*waits], true) {
                    next.push(*waits);
                }
            }
        }
        behind
    }

    fn vertex(&mut self) -> usize {
        self.waiting.push(Vec::new());
        self.waiting.len() - 1
    }

    fn edge(&mut self, before: Option<usize>, waits: usize) {
        if let Some(before) = before {
            self.waiting[before].push(waits);
        }
    }

    fn key(&mut self, node: &'d Node<'d>, number: usize) {
        let names = ["key", "id", "identifier"];
        if let Some(key) = names.iter().find_map(|name| node.get(name)?.text()) {
            self.keys.entry(key).or_default().push(number);
        }
    }
}

fn kind(node: &Node<'_>) -> Kind {
    let is = |word: &str| {
        node.get(word).is_some()
            || [node.text(), node.get("type").and_then(Node::text)].contains(&Some(word))
    };
    if is("wait") || is("waiter") {
        Kind::Wait
    } else if is("block") || is("manual") {
        Kind::Block
    } else if is("input") {
        Kind::Input
    } else {
        Kind::Step
    }
}

const fn is_barrier(kind: Kind) -> bool {
    matches!(kind, Kind::Wait | Kind::Block)
}

/// The keys that a step names; one that says it depends on nothing names none.
fn depends_on<'d>(node: &'d Node<'d>) -> Option<Vec<&'d str>> {
    let named = node.get("depends_on")?;
    let one = |node: &'d Node<'d>| node.text().or_else(|| node.get("step")?.text());
    Some(match named.items() {
        Some(items) => items.iter().filter_map(one).collect(),
        None => one(named).into_iter().collect(),
    })
}
