//! From the text of a step file to its steps.

use super::fields::Fields;
use super::known::{GATE_TYPES, GATES, KEYS, PATHS, TRIGGER, is_known};
use super::pattern::{PatternError, Patterns};
use super::yaml::{self, Node};
use super::{Gate, MAX_STEPS, Paths, Place, Step, Steps, StepsError};
use crate::note::NoteReason;
use kernrec_schemas::StepKey;
use kernrec_schemas::shown::printable;
use std::rc::Rc;

/// How deep groups may lie in one another. Buildkite knows one level, a list of test areas one more.
const MAX_GROUPS: usize = 4;

/// The fields of a document that name the files for which everything runs, and those of them that are left out.
const RUN_ALL: [&str; 2] = ["run_all_patterns", "run_all_exclude_patterns"];

/// Reads a step file.
pub(super) fn read(name: &str, text: &str) -> Result<Steps, StepsError> {
    let root = yaml::parse(text).map_err(|error| StepsError::malformed(name, &error))?;
    let mut reader = Reader {
        name,
        steps: Steps::default(),
    };
    let outermost = Group::default();
    match (root.items(), root.entries()) {
        (Some(items), _) => reader.list(items, &outermost)?,
        (None, Some(_)) => reader.document(&root, &outermost)?,
        (None, None) => return Err(reader.no_steps()),
    }
    Ok(reader.steps)
}

/// Adds a pattern for which everything runs.
pub(super) fn run_all(steps: &mut Steps, patterns: &mut Patterns, pattern: &str) {
    if let Err(error) = patterns.include(pattern) {
        steps.is_run_all_unknown = true;
        let message = format!("of the files for which everything runs: {error}");
        steps.notes.add(NoteReason::UnreadablePattern, message);
    }
}

/// What a group says about the steps in it.
#[derive(Default)]
struct Group {
    depth: usize,
    /// Its lists of files, and those of the groups around it.
    paths: Vec<Rc<Patterns>>,
    /// Some such list cannot be relied on.
    is_doubtful: bool,
    needs: Vec<String>,
    keys: Vec<String>,
    is_anchored: bool,
}

struct Reader<'n> {
    name: &'n str,
    steps: Steps,
}

impl Reader<'_> {
    fn document(&mut self, root: &Node, around: &Group) -> Result<(), StepsError> {
        let fields = Fields::of(root);
        if let Some(doubt) = fields.doubts.first() {
            return Err(StepsError::Malformed {
                name: self.name.to_owned(),
                problem: doubt.clone(),
            });
        }
        let mut patterns = Patterns::default();
        for pattern in self.texts(&fields, RUN_ALL[0]) {
            run_all(&mut self.steps, &mut patterns, &pattern);
        }
        for pattern in self.texts(&fields, RUN_ALL[1]) {
            // What is not left out runs everything.
            if let Err(error) = patterns.exclude(&pattern) {
                self.note(NoteReason::UnreadablePattern, error.to_string());
            }
        }
        self.steps.run_all.push(patterns);
        let is_misspelt = |name: &&str| name.starts_with("run_all") && !RUN_ALL.contains(name);
        for name in fields.names().filter(is_misspelt) {
            self.steps.is_run_all_unknown = true;
            let message = format!("`{}` is no field that is known", printable(name));
            self.note(NoteReason::UnreadablePattern, message);
        }
        let Some(items) = fields.value("steps").and_then(Node::items) else {
            return Err(self.no_steps());
        };
        let group = self.group(root, &fields, around);
        self.list(items, &group)
    }

    fn no_steps(&self) -> StepsError {
        StepsError::NoSteps {
            name: self.name.to_owned(),
        }
    }

    fn list(&mut self, items: &[Rc<Node>], around: &Group) -> Result<(), StepsError> {
        for item in items {
            match (item.text(), item.entries()) {
                (Some(word), _) if GATE_TYPES.contains(&word) => {}
                (None, Some(_)) => self.item(item, around)?,
                _ => {
                    let message = "something in the list of steps is no step";
                    self.note(NoteReason::MalformedStep, message);
                }
            }
        }
        Ok(())
    }

    fn item(&mut self, node: &Node, around: &Group) -> Result<(), StepsError> {
        let fields = Fields::of(node);
        if let Some(items) = fields.value("steps").and_then(Node::items) {
            if around.depth >= MAX_GROUPS {
                return Err(StepsError::Malformed {
                    name: self.name.to_owned(),
                    problem: "groups lie too deep in one another".to_owned(),
                });
            }
            let mut group = self.group(node, &fields, around);
            let name = fields.text("group").unwrap_or("a group");
            group.is_doubtful |= self.is_doubtful(&fields, name);
            return self.list(items, &group);
        }
        let is_gate = GATES.iter().any(|gate| fields.has(gate))
            || fields
                .text("type")
                .is_some_and(|kind| GATE_TYPES.contains(&kind));
        if is_gate {
            self.gate(&fields, around);
            return Ok(());
        }
        if self.steps.len() >= MAX_STEPS {
            return Err(StepsError::TooManySteps {
                name: self.name.to_owned(),
                limit: MAX_STEPS,
            });
        }
        self.step(node, &fields, around);
        Ok(())
    }

    fn gate(&mut self, fields: &Fields<'_>, around: &Group) {
        let own = KEYS.iter().filter_map(|key| fields.text(key));
        let keys = own.map(str::to_owned).chain(around.keys.iter().cloned());
        let needs = Self::needs(fields).into_iter();
        self.steps.gates.push(Gate {
            keys: keys.collect(),
            needs: needs.chain(around.needs.iter().cloned()).collect(),
            is_trigger: fields.has(TRIGGER) || fields.text("type") == Some(TRIGGER),
        });
    }

    fn group(&mut self, node: &Node, fields: &Fields<'_>, around: &Group) -> Group {
        let name = fields.text("group").unwrap_or("a group");
        let own = self.paths(fields, name);
        let mut paths = around.paths.clone();
        if let Some(own) = &own
            && !own.is_empty()
        {
            paths.push(Rc::clone(own));
        }
        let keys = KEYS.iter().filter_map(|key| fields.text(key));
        let keys = keys.map(str::to_owned).chain(around.keys.iter().cloned());
        let needs = Self::needs(fields).into_iter();
        Group {
            depth: around.depth + 1,
            paths,
            is_doubtful: around.is_doubtful || own.is_none(),
            needs: needs.chain(around.needs.iter().cloned()).collect(),
            keys: keys.collect(),
            is_anchored: around.is_anchored || node.is_anchored,
        }
    }

    fn step(&mut self, node: &Node, fields: &Fields<'_>, around: &Group) {
        let number = self.steps.len() + 1;
        let written = KEYS.iter().find_map(|key| fields.text(key));
        let label = ["label", "name"].iter().find_map(|name| fields.text(name));
        let name = written.or(label).map_or_else(
            || format!("step {number} of `{}`", self.name),
            |name| printable(name).into_owned(),
        );
        let own = self.own_paths(fields, &name);
        // What is filled in later is not known now.
        let key = written
            .filter(|key| !key.contains('$') && !key.contains("{{"))
            .and_then(|key| StepKey::new(key).ok());
        if key.is_none() {
            self.note(
                NoteReason::StepWithoutKey,
                format!("{name}: no row can be its"),
            );
        }
        let mut needs = Self::needs(fields);
        needs.extend(around.needs.iter().cloned());
        let step = Step {
            key,
            name,
            paths: united(own.as_ref(), around),
            needs,
            groups: around.keys.clone(),
            place: (!around.is_anchored && !has_twins(fields))
                .then(|| place(node, fields))
                .flatten(),
        };
        self.mirrors(fields, &step, around);
        self.steps.list.push(step);
    }

    /// A step may have a twin on other machines, whose row is its own: `amd-<key>`.
    fn mirrors(&mut self, fields: &Fields<'_>, step: &Step, around: &Group) {
        let mirrors = fields.value("mirror").and_then(Node::entries);
        for (machine, settings) in mirrors.unwrap_or_default() {
            let (Some(machine), Some(key)) = (machine.text(), &step.key) else {
                continue;
            };
            let name = format!("{machine}-{key}");
            let fields = Fields::of(settings);
            let own = self.own_paths(&fields, &name);
            let paths = match &own {
                Some(own) if own.is_empty() => step.paths.clone(),
                own => united(own.as_ref(), around),
            };
            let mut needs = Self::needs(&fields);
            needs.extend(step.needs.iter().cloned());
            self.steps.list.push(Step {
                key: StepKey::new(&name).ok(),
                name,
                paths,
                needs,
                groups: step.groups.clone(),
                place: None,
            });
        }
    }

    /// The files that a step or group names itself, empty when it names none; `None` when that is not certain.
    fn paths(&mut self, fields: &Fields<'_>, name: &str) -> Option<Rc<Patterns>> {
        let mut is_certain = true;
        let mut patterns = Patterns::default();
        for node in PATHS.iter().filter_map(|field| fields.value(field)) {
            let Some(listed) = listed(node) else {
                is_certain = false;
                let message = format!("{name}: its files are no list of patterns");
                self.note(NoteReason::MalformedStep, message);
                continue;
            };
            for error in listed.add_to(&mut patterns) {
                is_certain = false;
                self.note(NoteReason::UnreadablePattern, format!("{name}: {error}"));
            }
        }
        is_certain.then(|| Rc::new(patterns))
    }

    /// The same of a step; also not certain when something else about it is not.
    fn own_paths(&mut self, fields: &Fields<'_>, name: &str) -> Option<Rc<Patterns>> {
        let is_doubtful = self.is_doubtful(fields, name);
        self.paths(fields, name).filter(|_| !is_doubtful)
    }

    /// Whether anything about the fields of a step or group is doubtful: one of them may be a misspelt list of files.
    fn is_doubtful(&mut self, fields: &Fields<'_>, name: &str) -> bool {
        let unknown = fields.names().filter(|field| !is_known(field));
        let mut doubts: Vec<String> = unknown
            .map(|field| format!("`{}` is no field that a step has", printable(field)))
            .chain(fields.doubts.iter().cloned())
            .collect();
        doubts.sort_unstable();
        for doubt in &doubts {
            self.note(NoteReason::MalformedStep, format!("{name}: {doubt}"));
        }
        !doubts.is_empty()
    }

    /// The keys that `depends_on` names.
    fn needs(fields: &Fields<'_>) -> Vec<String> {
        let Some(node) = fields.value("depends_on") else {
            return Vec::new();
        };
        let items: Vec<&Node> = match node.items() {
            Some(items) => items.iter().map(Rc::as_ref).collect(),
            None => vec![node],
        };
        let key = |item: &Node| match item.text() {
            Some(key) => Some(key.to_owned()),
            None => Fields::of(item).text("step").map(str::to_owned),
        };
        items.into_iter().filter_map(key).collect()
    }

    /// The patterns of a field of the document, for which everything runs.
    fn texts(&mut self, fields: &Fields<'_>, name: &str) -> Vec<String> {
        let Some(node) = fields.value(name) else {
            return Vec::new();
        };
        plain_list(node).unwrap_or_else(|| {
            self.steps.is_run_all_unknown = true;
            let message = format!("`{name}` is no list of patterns");
            self.note(NoteReason::UnreadablePattern, message);
            Vec::new()
        })
    }

    fn note(&mut self, reason: NoteReason, message: impl Into<String>) {
        self.steps.notes.add(reason, message);
    }
}

/// Patterns as they are written.
#[derive(Default)]
struct Listed {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Listed {
    fn add_to(&self, patterns: &mut Patterns) -> Vec<PatternError> {
        let mut errors = Vec::new();
        for pattern in &self.include {
            errors.extend(patterns.include(pattern).err());
        }
        for pattern in &self.exclude {
            errors.extend(patterns.exclude(pattern).err());
        }
        errors
    }
}

/// One pattern, a list, or `include` and `exclude`; `None` when it is neither.
fn listed(node: &Node) -> Option<Listed> {
    if node.entries().is_none() {
        let include = plain_list(node)?;
        return Some(Listed {
            include,
            ..Listed::default()
        });
    }
    let fields = Fields::of(node);
    let is_understood = |name: &str| matches!(name, "include" | "exclude");
    if !fields.doubts.is_empty() || !fields.names().all(is_understood) {
        return None;
    }
    let exclude = fields.value("exclude");
    Some(Listed {
        include: plain_list(fields.value("include")?)?,
        exclude: exclude.map_or(Some(Vec::new()), plain_list)?,
    })
}

fn plain_list(node: &Node) -> Option<Vec<String>> {
    if let Some(text) = node.text() {
        return Some(vec![text.to_owned()]);
    }
    let texts = node
        .items()?
        .iter()
        .map(|item| item.text().map(str::to_owned));
    texts.collect()
}

/// A step in a group is proposed by its own files and by the group's: fewer would rely on both being right.
fn united(own: Option<&Rc<Patterns>>, around: &Group) -> Paths {
    let Some(own) = own else {
        return Paths::EveryChange;
    };
    let mut lists = around.paths.clone();
    if !own.is_empty() {
        lists.push(Rc::clone(own));
    }
    if around.is_doubtful || lists.is_empty() {
        return Paths::EveryChange;
    }
    Paths::Listed(lists)
}

/// Whether other steps are made of this one: what skips it would skip them.
fn has_twins(fields: &Fields<'_>) -> bool {
    let made_by = ["mirror", "mirror_hardwares", "amd_experimental"];
    made_by.iter().any(|name| fields.value(name).is_some())
}

fn place(node: &Node, fields: &Fields<'_>) -> Option<Place> {
    let (first, _) = node.entries()?.first()?;
    (!node.is_anchored).then(|| Place {
        mapping: node.place.start,
        first_field: first.place.start,
        column: first.column,
        has_skip: fields.has("skip"),
    })
}
