//! From a tainted name to those that use it.

use super::{Level, Taint};
use crate::corpus::ItemId;
use crate::grammar::{Facts, Kind};
use crate::interner::NameId;
use crate::model::{HostDoubt, Why};
use crate::segment::Shape;

/// Where an item mentions a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the conditions around it.
    Condition,
    Head,
    Body,
}

impl Taint<'_, '_> {
    pub(super) fn taint(&mut self, name: NameId, level: Level) {
        let known = self.names.get(&name).copied();
        if known.is_none_or(|known| known < level) {
            self.names.insert(name, level);
            self.pending.push(name);
        }
    }

    pub(super) fn taint_all(&mut self, names: &[NameId], level: Level) {
        for &name in names {
            self.taint(name, level);
        }
    }

    pub(super) fn run(&mut self) {
        while let Some(name) = self.pending.pop() {
            let level = self.names.get(&name).copied().unwrap_or(Level::Both);
            let sources: Vec<u32> = self
                .scope
                .iter()
                .flat_map(|file| self.view.file_at(*file).sources().collect::<Vec<_>>())
                .collect();
            self.visit_around(name, level);
            for &source in &sources {
                let items: Vec<u32> = self.view.corpus.source(source).mentioning(name).collect();
                for item in items {
                    let id = ItemId { source, item };
                    let place = self.place(id, name);
                    self.visit(id, name, level, place);
                }
            }
            for id in self.view.pasted_by(name) {
                if sources.contains(&id.source) {
                    self.visit(id, name, level, Place::Body);
                }
            }
        }
    }

    /// Visits the items that include a file with the name into their middle.
    fn visit_around(&mut self, name: NameId, level: Level) {
        for file in self.scope.clone() {
            for id in self.view.includes_inside(file) {
                let mut sources = self.view.file_at(file).sources();
                if sources.any(|source| {
                    self.view
                        .corpus
                        .source(source)
                        .mentioning(name)
                        .next()
                        .is_some()
                }) {
                    self.visit(id, name, level, Place::Body);
                }
            }
        }
    }

    fn place(&self, id: ItemId, name: NameId) -> Place {
        let source = self.view.source(id);
        let item = source.item(id.item);
        let mentions = |range| {
            source
                .tokens(&range)
                .iter()
                .any(|token| token.ident() == Some(name))
        };
        if mentions(item.tokens.start..item.body) {
            Place::Head
        } else if mentions(item.body..item.tokens.end) {
            Place::Body
        } else {
            Place::Condition
        }
    }

    fn visit(&mut self, id: ItemId, name: NameId, level: Level, place: Place) {
        if !self.visited.insert((id, level, place == Place::Body)) {
            return;
        }
        let shape = self.view.source(id).item(id.item).shape;
        match shape {
            // Whether it is there at all depends on the name.
            _ if place == Place::Condition => self.appears(id, shape),
            Shape::Define => {
                let names = self.macro_names(id);
                self.taint_all(&names, level);
            }
            Shape::Conditional => {}
            Shape::Directive | Shape::Scope | Shape::Unclear => self.unknown_use(level),
            Shape::Code => self.visit_code(id, name, level, place),
        }
    }

    fn visit_code(&mut self, id: ItemId, name: NameId, level: Level, place: Place) {
        let facts = self.view.facts(id);
        match facts.kind {
            Kind::Kernel => self.kernel(&facts),
            Kind::Device => {
                let inner = if place == Place::Body && !facts.deduced {
                    Level::Device
                } else {
                    level
                };
                self.spread(id, &facts, inner);
            }
            Kind::HostDevice => {
                self.spread(id, &facts, level);
                self.host_code(id, level);
            }
            Kind::Host => {
                self.host_code(id, level);
                // What it knows of the name may reach those that call it.
                let in_head = place == Place::Head && !facts.names.contains(&name);
                if facts.deduced || facts.generic || in_head {
                    self.taint_all(&facts.names, level);
                }
            }
            Kind::Type => {
                self.spread(id, &facts, level);
                if facts
                    .members
                    .iter()
                    .any(|member| matches!(member.kind, Kind::Host | Kind::HostDevice))
                {
                    self.host_code(id, level);
                }
            }
            Kind::Variable => {
                self.spread(id, &facts, level);
                self.starts(&facts, level);
            }
            Kind::Alias => self.spread(id, &facts, level),
            Kind::Declaration => {
                if self.may_depend(id, name, &facts) {
                    self.spread(id, &facts, level);
                }
            }
            Kind::Instantiation if level == Level::Both => self.taint_all(&facts.names, level),
            Kind::Instantiation => self.host_code(id, level),
            Kind::Import | Kind::Inert => {}
            Kind::Opaque => {
                self.unknown_use(level);
                let names = self.view.head_words(id);
                self.host_code(id, level);
                self.taint_declared(id, &names, level);
            }
        }
    }

    /// What an item that nobody can read may declare.
    fn taint_declared(&mut self, id: ItemId, words: &[NameId], level: Level) {
        for &word in words {
            if self.view.source(id).declaring(word).contains(&id.item) {
                self.taint(word, level);
            }
        }
    }

    pub(super) fn spread(&mut self, id: ItemId, facts: &Facts, level: Level) {
        if facts.unnameable {
            self.note(Why::UnnamedUse, None);
            self.unknown_use(level);
        }
        self.taint_all(&facts.names, level);
        if matches!(facts.kind, Kind::Device | Kind::HostDevice | Kind::Variable)
            && self.is_external(id)
        {
            self.follow_declarations(&facts.names);
        }
    }

    pub(super) fn host_code(&mut self, id: ItemId, level: Level) {
        match level {
            Level::Both => self.host.insert(id),
            Level::Device => self.chooses.insert(id),
        };
    }

    pub(super) fn starts(&mut self, facts: &Facts, level: Level) {
        if facts.runs_at_start && level == Level::Both {
            self.doubts.insert(HostDoubt::LaunchesNothing);
        }
    }

    pub(super) fn kernel(&mut self, facts: &Facts) {
        let mut is_found = false;
        for &name in &facts.names {
            if self.view.is_macro(name) {
                self.unknown_use(Level::Device);
            }
            let symbols = self.view.symbols_named(name);
            let found: Vec<u32> = symbols
                .into_iter()
                .filter(|symbol| self.symbols.contains(symbol))
                .collect();
            is_found |= !found.is_empty();
            self.kernels.extend(found);
        }
        if !is_found {
            self.is_unjoined = true;
            self.unexplained();
        }
    }

    pub(super) fn macro_names(&self, id: ItemId) -> Vec<NameId> {
        let source = self.view.source(id);
        let defined = source
            .macros
            .iter()
            .filter(|defined| defined.item == id.item);
        defined.map(|defined| defined.name).collect()
    }

    /// A prototype alone does nothing; what it supplies for missing arguments does.
    fn may_depend(&self, id: ItemId, name: NameId, facts: &Facts) -> bool {
        let source = self.view.source(id);
        let head = source.head(source.item(id.item));
        let is_function = head
            .iter()
            .any(|(token, depth)| token.is(b'(') && *depth == 0);
        let has_default = head
            .iter()
            .any(|(token, depth)| token.is(b'=') && *depth > 0);
        !facts.names.contains(&name) && (!is_function || has_default)
    }

    /// Whether other objects' code can name it.
    fn is_external(&self, id: ItemId) -> bool {
        let source = self.view.source(id);
        let item = source.item(id.item);
        let is_static = source.head(item).iter().any(|(token, _)| {
            token
                .ident()
                .is_some_and(|word| self.view.corpus.names.word(word) == b"static")
        });
        !is_static && !source.is_internal(item)
    }

    /// Relocatable device code: objects that use the names through declarations of their own.
    fn follow_declarations(&mut self, names: &[NameId]) {
        let others: Vec<u32> = (0..self.view.build.objects.len())
            .filter_map(|object| u32::try_from(object).ok())
            .filter(|object| !self.objects.contains(object))
            .filter(|object| names.iter().any(|name| self.declares(*object, *name)))
            .collect();
        if others.is_empty() {
            return;
        }
        for object in others {
            self.consulted.extend(self.view.files_of(object));
            self.add_object(object);
        }
        self.pending = self.names.keys().copied().collect();
    }

    fn declares(&self, object: u32, name: NameId) -> bool {
        self.view.files_of(object).iter().any(|file| {
            self.view.file_at(*file).sources().any(|source| {
                let source = self.view.corpus.source(source);
                source.declaring(name).iter().any(|item| {
                    let item = source.item(*item);
                    item.shape == Shape::Code && item.body == item.tokens.end
                })
            })
        })
    }
}
