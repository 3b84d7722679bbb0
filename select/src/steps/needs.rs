//! What steps need of each other: one that runs needs those that it depends on.

use super::Steps;
use kernrec_schemas::StepKey;
use std::collections::{BTreeSet, HashMap};

/// Dependencies. Nodes are the steps, by number, then the gates, and after them the keys: a key may be that of a whole
/// group.
#[derive(Debug)]
pub(crate) struct Needs {
    of: Vec<Vec<usize>>,
    steps: usize,
    /// The gates that use what they need, whatever else runs.
    triggers: Vec<usize>,
}

impl Needs {
    pub(crate) fn of(steps: &Steps) -> Self {
        let count = steps.list.len();
        let mut keys: HashMap<&str, usize> = HashMap::new();
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); count + steps.gates.len()];
        let mut name = |key, node| {
            let named = *keys.entry(key).or_insert(of.len());
            if named == of.len() {
                of.push(Vec::new());
            }
            of[named].push(node);
        };
        for (number, step) in steps.list.iter().enumerate() {
            let own = step.key.iter().map(StepKey::as_str);
            for key in own.chain(step.groups.iter().map(String::as_str)) {
                name(key, number);
            }
        }
        for (number, gate) in (count..).zip(&steps.gates) {
            for key in &gate.keys {
                name(key, number);
            }
        }
        let of_steps = steps.list.iter().map(|step| &step.needs);
        let of_gates = steps.gates.iter().map(|gate| &gate.needs);
        for (node, needs) in of_steps.chain(of_gates).enumerate() {
            let needed = needs.iter().filter_map(|key| keys.get(key.as_str()));
            of[node].extend(needed);
        }
        let triggers = (count..).zip(&steps.gates);
        let triggers = triggers.filter(|(_, gate)| gate.is_trigger);
        Self {
            of,
            steps: count,
            triggers: triggers.map(|(node, _)| node).collect(),
        }
    }

    /// All steps that these or a trigger need, directly or through others, themselves included.
    pub(crate) fn closure(&self, steps: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut found = vec![false; self.of.len()];
        let mut open: Vec<usize> = steps.into_iter().collect();
        open.extend(&self.triggers);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut found[node], true) {
                open.extend(&self.of[node]);
            }
        }
        (0..self.steps).filter(|&step| found[step]).collect()
    }

    /// Steps that need each other in a circle, and those on the way from one circle to another.
    pub(crate) fn circles(&self) -> BTreeSet<usize> {
        let mut backward = vec![Vec::new(); self.of.len()];
        for (node, needed) in self.of.iter().enumerate() {
            for &other in needed {
                backward[other].push(node);
            }
        }
        let mut left = vec![true; self.of.len()];
        trim(&self.of, &backward, &mut left);
        trim(&backward, &self.of, &mut left);
        (0..self.steps).filter(|&step| left[step]).collect()
    }
}

/// Takes away, again and again, what leads to nothing that is left.
fn trim(forward: &[Vec<usize>], backward: &[Vec<usize>], left: &mut [bool]) {
    let count = |node: &Vec<usize>| node.iter().filter(|&&other| left[other]).count();
    let mut counts: Vec<usize> = forward.iter().map(count).collect();
    let mut free: Vec<usize> = (0..forward.len())
        .filter(|&node| left[node] && counts[node] == 0)
        .collect();
    while let Some(node) = free.pop() {
        left[node] = false;
        for &other in backward[node].iter().filter(|&&other| left[other]) {
            counts[other] -= 1;
            if counts[other] == 0 {
                free.push(other);
            }
        }
    }
}
