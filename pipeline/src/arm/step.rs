//! What a step says, found in its map.

use super::container::Plugin;
use crate::error::PipelineError;
use crate::yaml::{Document, Node};

/// A step of a pipeline, as it stands there.
#[derive(Debug)]
pub(super) struct Step<'d> {
    pub(super) node: &'d Node<'d>,
    pub(super) key: Option<&'d str>,
    pub(super) label: Option<&'d str>,
    pub(super) queues: Vec<&'d str>,
    pub(super) commands: Commands<'d>,
    pub(super) env: Option<&'d Node<'d>>,
    pub(super) plugins: Vec<Plugin<'d>>,
}

/// Its own commands.
#[derive(Debug)]
pub(super) enum Commands<'d> {
    None,
    /// One text, under a key.
    Text(&'static str, &'d Node<'d>),
    /// A list of texts, run one after the other by one shell.
    List(&'d Node<'d>),
}

/// What makes a step anything but a command step.
const OTHER_KINDS: [&str; 7] = [
    "wait", "waiter", "block", "manual", "input", "trigger", "group",
];

impl<'d> Step<'d> {
    pub(super) fn read(
        node: &'d Node<'d>,
        document: &Document<'_>,
        default_queue: Option<&'d str>,
    ) -> Result<Self, PipelineError> {
        let named = |names: [&str; 3]| names.iter().find_map(|name| node.get(name)?.text());
        let wrong = |node: &Node<'_>, problem: &str| {
            Err(document.error(node.start, "unknown-shape", problem))
        };
        let env = node.get("env").filter(|env| !env.is_null());
        if let Some(env) = env.filter(|env| env.entries().is_none()) {
            return wrong(env, "expected a map of environment variables");
        }
        let commands = match commands(node) {
            Ok(commands) => commands,
            Err(at) => return wrong(at, "expected commands as text"),
        };
        let plugins = match Plugin::all(node.get("plugins")) {
            Ok(plugins) => plugins,
            Err(at) => return wrong(at, "expected plugins as a list"),
        };
        let mut queues = queues(node.get("agents"));
        if queues.is_empty() {
            queues.extend(default_queue);
        }
        Ok(Self {
            node,
            key: named(["key", "id", "identifier"]),
            label: named(["label", "name", "label"]),
            queues,
            commands,
            env,
            plugins,
        })
    }

    pub(super) fn is_command(&self) -> bool {
        !OTHER_KINDS.iter().any(|kind| self.node.get(kind).is_some())
    }

    /// Whether a value is there and is not false.
    pub(super) fn has(&self, name: &str) -> bool {
        is_set(self.node, name)
    }

    /// How many jobs it has.
    pub(super) fn jobs(&self) -> u64 {
        let parallelism = self.node.get("parallelism").and_then(Node::text);
        // One that a variable gives is known to the upload alone; its recordings say how many they are.
        parallelism.and_then(|text| text.parse().ok()).unwrap_or(1)
    }

    /// The commands as the one text that a shell gets.
    pub(super) fn script(&self) -> String {
        match &self.commands {
            Commands::None => String::new(),
            Commands::Text(_, node) => node.text().unwrap_or_default().to_owned(),
            Commands::List(list) => {
                let items = list.items().unwrap_or_default().iter();
                let lines: Vec<&str> = items.map(|item| item.text().unwrap_or_default()).collect();
                lines.join("\n")
            }
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&'d Node<'d>> {
        self.env.filter(|_| !name.is_empty())?.get(name)
    }
}

/// Whether a value is there and is not false.
pub(super) fn is_set(node: &Node<'_>, name: &str) -> bool {
    let value = node.get(name).and_then(Node::scalar);
    let is_off = |text: &str| text.is_empty() || text == "false";
    node.get(name).is_some_and(|node| !node.is_null()) && !value.is_some_and(is_off)
}

fn commands<'d>(node: &'d Node<'d>) -> Result<Commands<'d>, &'d Node<'d>> {
    for name in ["commands", "command"] {
        let Some(value) = node.get(name).filter(|value| !value.is_null()) else {
            continue;
        };
        return match value.items() {
            Some([]) => Ok(Commands::None),
            Some(items) => match items.iter().find(|item| item.scalar().is_none()) {
                Some(item) => Err(item),
                None => Ok(Commands::List(value)),
            },
            None if value.text().is_some_and(|text| text.trim().is_empty()) => Ok(Commands::None),
            None if value.scalar().is_some() => Ok(Commands::Text(name, value)),
            None => Err(value),
        };
    }
    Ok(Commands::None)
}

/// `queue: x`, or `- queue=x`.
fn queues<'d>(agents: Option<&'d Node<'d>>) -> Vec<&'d str> {
    let Some(agents) = agents else {
        return Vec::new();
    };
    if let Some(queue) = agents.get("queue") {
        return queue.text().into_iter().collect();
    }
    let items = agents.items().unwrap_or_default().iter();
    items
        .filter_map(|item| item.text()?.strip_prefix("queue="))
        .collect()
}
