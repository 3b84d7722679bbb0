//! What a changed item means.

use super::{Extent, Level, Taint};
use crate::corpus::ItemId;
use crate::grammar::{Facts, Kind};
use crate::model::{HostDoubt, Side, Why};
use crate::reach::doubts;
use crate::segment::Shape;
use std::collections::BTreeSet;

impl Taint<'_, '_> {
    /// Takes in a changed item.
    pub(crate) fn change(&mut self, id: ItemId, extent: &Extent, place: (Side, u32)) {
        let shape = self.view.source(id).item(id.item).shape;
        match shape {
            Shape::Define => {
                let names = self.macro_names(id);
                if names.is_empty() {
                    self.widen(Why::PreprocessorLine, Some(place));
                }
                self.taint_all(&names, Level::Both);
            }
            Shape::Conditional | Shape::Directive => self.widen(Why::PreprocessorLine, Some(place)),
            Shape::Scope => self.widen(Why::ScopeLine, Some(place)),
            Shape::Unclear => self.widen(Why::UnclearStructure, Some(place)),
            Shape::Code => self.change_code(id, extent, place),
        }
    }

    /// An item that a tainted condition makes appear or vanish.
    pub(super) fn appears(&mut self, id: ItemId, shape: Shape) {
        let source = self.view.source(id);
        let line = source.line_of(source.item(id.item));
        match shape {
            // Of another file, perhaps: what it holds may use anything.
            Shape::Directive | Shape::Scope | Shape::Unclear => self.unknown_use(Level::Both),
            Shape::Conditional => {}
            Shape::Define | Shape::Code => self.change(id, &Extent::Whole, (Side::Base, line)),
        }
    }

    fn change_code(&mut self, id: ItemId, extent: &Extent, place: (Side, u32)) {
        let facts = self.view.facts(id);
        let is_kernel_name = || {
            let words = self.view.head_words(id);
            words.contains(&self.view.corpus.names.known.global)
        };
        match facts.kind {
            Kind::Kernel => self.kernel(&facts),
            Kind::Declaration | Kind::Instantiation if is_kernel_name() => self.kernel(&facts),
            Kind::Device => {
                let body_only = *extent == Extent::Body && !facts.deduced;
                self.spread(
                    id,
                    &facts,
                    if body_only {
                        Level::Device
                    } else {
                        Level::Both
                    },
                );
            }
            Kind::HostDevice => {
                self.spread(id, &facts, Level::Both);
                self.host.insert(id);
            }
            Kind::Host => self.changed_host(id, &facts),
            Kind::Type => self.changed_type(id, &facts, extent),
            Kind::Variable => {
                self.spread(id, &facts, Level::Both);
                self.starts(&facts, Level::Both);
            }
            Kind::Alias | Kind::Declaration | Kind::Instantiation => {
                self.spread(id, &facts, Level::Both);
            }
            Kind::Import => self.widen(Why::ScopeLine, Some(place)),
            Kind::Inert => {}
            Kind::Opaque => self.widen(Why::UnknownDefinition, Some(place)),
        }
    }

    /// Calls may come to mean another function of the same name.
    fn changed_host(&mut self, id: ItemId, facts: &Facts) {
        self.host.insert(id);
        for &name in &facts.names {
            if self.view.kernel_named(name) {
                self.kernels.extend(self.view.symbols_named(name));
            }
            for other in self.view.declaring(name).to_vec() {
                let others = self.view.facts(other);
                if matches!(others.kind, Kind::Host | Kind::HostDevice)
                    && others.names.contains(&name)
                {
                    self.host.insert(other);
                }
            }
        }
    }

    fn changed_type(&mut self, id: ItemId, facts: &Facts, extent: &Extent) {
        let Extent::Members(members) = extent else {
            self.spread(id, facts, Level::Both);
            if facts
                .members
                .iter()
                .any(|member| member.kind != Kind::Device)
            {
                self.host.insert(id);
            }
            return;
        };
        for member in members
            .iter()
            .filter_map(|member| facts.members.get(*member))
        {
            let level = match member.kind {
                Kind::Device if !member.is_broken => Level::Device,
                _ => Level::Both,
            };
            self.spread(id, facts, level);
            self.taint_all(&member.names, level);
            if level == Level::Both {
                self.host.insert(id);
            }
        }
    }

    /// Why silence about a file proves nothing, whatever in it changed.
    pub(super) fn doubts_of_file(&mut self, items: &[ItemId]) -> BTreeSet<HostDoubt> {
        if self.is_included()
            || self
                .files
                .iter()
                .any(|file| self.view.file_at(*file).is_dark)
        {
            return BTreeSet::from([HostDoubt::Unplaced]);
        }
        for &id in items {
            let found = self.doubts_of_item(id);
            // One is enough, and the others cost time.
            if !found.is_empty() {
                return found;
            }
        }
        BTreeSet::new()
    }

    fn doubts_of_item(&mut self, id: ItemId) -> BTreeSet<HostDoubt> {
        let shape = self.view.source(id).item(id.item).shape;
        match shape {
            Shape::Unclear => return BTreeSet::from([HostDoubt::Unplaced]),
            // Nothing of it runs on the host, and that is seen without the grammar.
            Shape::Code if self.view.is_plain_device_code(id) => return BTreeSet::new(),
            Shape::Code => {}
            Shape::Define | Shape::Conditional | Shape::Directive | Shape::Scope => {
                return BTreeSet::new();
            }
        }
        let facts = self.view.facts(id);
        match facts.kind {
            Kind::Opaque => BTreeSet::from([HostDoubt::Unplaced]),
            Kind::Host | Kind::HostDevice => doubts(self.view, id, self.policy),
            Kind::Type
                if facts
                    .members
                    .iter()
                    .any(|member| member.kind != Kind::Device) =>
            {
                BTreeSet::from([HostDoubt::Unplaced])
            }
            Kind::Variable if facts.runs_at_start => BTreeSet::from([HostDoubt::LaunchesNothing]),
            _ => BTreeSet::new(),
        }
    }

    /// Whether other files include the changed one: then what cannot be placed in it may act in them.
    fn is_included(&self) -> bool {
        let names: Vec<&str> = self
            .files
            .iter()
            .map(|file| self.view.path(*file))
            .map(|path| path.rsplit('/').next().unwrap_or(path))
            .collect();
        self.scope.iter().any(|file| {
            self.view.file_at(*file).sources().any(|source| {
                let source = self.view.corpus.source(source);
                source.included(&self.view.corpus.names).any(|line| {
                    // A file named by a macro may be any.
                    let is_plain = line.starts_with(b"\"") || line.starts_with(b"<");
                    !is_plain || names.iter().any(|name| line.ends_with(name.as_bytes()))
                })
            })
        })
    }
}
