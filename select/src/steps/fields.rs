//! The fields of a step, with what it merges in from elsewhere.

use super::yaml::{Node, Value};
use std::collections::HashMap;
use std::rc::Rc;

/// How deep `<<` may lead from one mapping to the next, and how many fields it may bring in all.
const MAX_MERGES: usize = 16;
const MAX_FIELDS: usize = 1000;

/// A mapping's fields by name, and whether anything about them is doubtful.
#[derive(Debug, Default)]
pub(super) struct Fields<'n> {
    values: HashMap<&'n str, &'n Node>,
    /// Why the fields do not say what they seem to.
    pub(super) doubts: Vec<String>,
    read: usize,
}

impl<'n> Fields<'n> {
    pub(super) fn of(node: &'n Node) -> Self {
        let mut fields = Self::default();
        fields.add(node.entries().unwrap_or_default(), 0);
        fields
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of a field that is there and not null.
    pub(super) fn value(&self, name: &str) -> Option<&'n Node> {
        let value = self.values.get(name).copied();
        value.filter(|value| !matches!(value.text(), Some("" | "~" | "null")))
    }

    pub(super) fn text(&self, name: &str) -> Option<&'n str> {
        self.value(name).and_then(Node::text)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'n str> {
        self.values.keys().copied()
    }

    fn add(&mut self, entries: &'n [(Rc<Node>, Rc<Node>)], depth: usize) {
        let mut own: HashMap<&str, &Node> = HashMap::new();
        let mut merged: Vec<&Node> = Vec::new();
        self.read += entries.len();
        if depth > MAX_MERGES || self.read > MAX_FIELDS {
            self.doubts.push("it merges too much".to_owned());
            return;
        }
        for (key, value) in entries {
            match key.text() {
                Some("<<") => merged.push(value),
                Some(key) => {
                    if own.insert(key, value).is_some() {
                        self.doubts.push(format!("it has `{key}` twice"));
                    }
                }
                None => self.doubts.push("a field has no name".to_owned()),
            }
        }
        // What stands nearer wins.
        for (key, value) in own {
            self.values.entry(key).or_insert(value);
        }
        for node in merged {
            self.merge(node, depth + 1);
        }
    }

    fn merge(&mut self, node: &'n Node, depth: usize) {
        match &node.value {
            Value::Mapping(entries) => self.add(entries, depth),
            Value::Sequence(items) => {
                for item in items {
                    match item.entries() {
                        Some(entries) => self.add(entries, depth),
                        None => self.doubts.push("it merges what is no mapping".to_owned()),
                    }
                }
            }
            Value::Scalar(_) => self.doubts.push("it merges what is no mapping".to_owned()),
        }
    }
}
