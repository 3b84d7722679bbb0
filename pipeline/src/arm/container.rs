//! Plugins, and what the one that runs the commands in a container does with them.

use crate::yaml::Node;

/// A plugin of a step.
#[derive(Debug)]
pub(super) struct Plugin<'d> {
    /// Its name without owner and version: `docker`.
    pub(super) name: &'d str,
    /// Its options; `None` where it has none.
    pub(super) options: Option<&'d Node<'d>>,
}

/// What runs the commands of a step whose container plugin has commands of its own.
#[derive(Debug)]
pub(super) enum Inner<'d> {
    /// Nothing: the plugin runs the step's commands.
    StepCommands,
    /// The text after `bash -c`, an item of a list.
    Text(&'d Node<'d>, &'d Node<'d>),
    /// The stable word for why it cannot be changed.
    Unclear(&'static str),
}

/// Shells whose language the texts are written in.
const SHELLS: [&str; 4] = ["sh", "bash", "dash", "ksh"];

impl<'d> Plugin<'d> {
    /// The plugins of a step; the node that is no plugin otherwise.
    pub(super) fn all(plugins: Option<&'d Node<'d>>) -> Result<Vec<Self>, &'d Node<'d>> {
        let Some(plugins) = plugins.filter(|plugins| !plugins.is_null()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        match (plugins.items(), plugins.entries()) {
            (Some(items), _) => {
                for item in items {
                    Self::of(item, &mut found)?;
                }
            }
            (None, Some(_)) => Self::of(plugins, &mut found)?,
            (None, None) => return Err(plugins),
        }
        Ok(found)
    }

    fn of(item: &'d Node<'d>, found: &mut Vec<Self>) -> Result<(), &'d Node<'d>> {
        if let Some(entries) = item.entries() {
            found.extend(entries.iter().map(|entry| Self {
                name: short(entry.key.scalar().unwrap_or_default()),
                options: Some(&entry.value).filter(|options| !options.is_null()),
            }));
            return Ok(());
        }
        let name = short(item.text().ok_or(item)?);
        found.push(Self {
            name,
            options: None,
        });
        Ok(())
    }

    /// `name`, and `name.option=value` for every option.
    pub(super) fn facts(&self) -> Vec<String> {
        let mut facts = vec![self.name.to_owned()];
        if let Some(options) = self.options {
            flatten(self.name, options, &mut facts);
        }
        facts
    }

    /// How this plugin runs the step's commands.
    pub(super) fn inner(&self) -> Inner<'d> {
        match self.name {
            "docker" => self.docker(),
            "kubernetes" if self.has_commands_of_its_own() => Inner::Unclear("container-command"),
            _ => Inner::StepCommands,
        }
    }

    fn docker(&self) -> Inner<'d> {
        let option = |name: &str| self.options.and_then(|options| options.get(name));
        let Some(options) = self.options.filter(|options| options.entries().is_some()) else {
            return Inner::Unclear("plugin-shape");
        };
        let is_list_or_absent = |name: &str| {
            options
                .get(name)
                .is_none_or(|node| node.is_null() || node.items().is_some())
        };
        if !is_list_or_absent("environment") || !is_list_or_absent("volumes") {
            return Inner::Unclear("plugin-shape");
        }
        if let Some(command) = option("command") {
            return match command.items() {
                Some([shell, flags, text]) if is_shell(shell) && takes_text(flags) => {
                    Inner::Text(command, text)
                }
                _ => Inner::Unclear("container-command"),
            };
        }
        match option("shell") {
            Some(shell) => match shell.items() {
                Some([shell, .., flags]) if is_shell(shell) && takes_text(flags) => {
                    Inner::StepCommands
                }
                _ => Inner::Unclear("no-shell"),
            },
            // The plugin runs no shell then.
            None if option("entrypoint").is_some() => Inner::Unclear("no-shell"),
            None => Inner::StepCommands,
        }
    }

    /// Whether a container says what it runs, in place of the step.
    fn has_commands_of_its_own(&self) -> bool {
        let containers = self
            .options
            .and_then(|options| options.get("podSpec")?.get("containers")?.items());
        let mut containers = containers.unwrap_or_default().iter();
        containers.any(|container| {
            container
                .get("command")
                .or_else(|| container.get("args"))
                .is_some()
        })
    }
}

/// `docker` of `docker#v5.12.0`, `owner/docker#v1` and `https://host/docker-buildkite-plugin.git#v1`.
fn short(name: &str) -> &str {
    let name = name.split('#').next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".git").unwrap_or(name);
    name.strip_suffix("-buildkite-plugin").unwrap_or(name)
}

fn is_shell(node: &Node<'_>) -> bool {
    let name = node.text().and_then(|path| path.rsplit('/').next());
    name.is_some_and(|name| SHELLS.contains(&name))
}

/// `-c`, `-xc`, `-exc`: the next argument is the text.
fn takes_text(node: &Node<'_>) -> bool {
    let flags = node.text().and_then(|text| text.strip_prefix('-'));
    flags.is_some_and(|flags| // `-o` would take an argument.
        flags.contains('c') && flags.bytes().all(|b| b.is_ascii_lowercase() && b != b'o'))
}

fn flatten(name: &str, node: &Node<'_>, facts: &mut Vec<String>) {
    if let Some(text) = node.text() {
        facts.push(format!("{name}={text}"));
    }
    for item in node.items().unwrap_or_default() {
        flatten(name, item, facts);
    }
    for entry in node.entries().unwrap_or_default() {
        let key = entry.key.scalar().unwrap_or_default();
        flatten(&format!("{name}.{key}"), &entry.value, facts);
    }
}
