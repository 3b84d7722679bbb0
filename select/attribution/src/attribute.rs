//! From a changed file to its attribution.

use crate::corpus::{Corpus, ItemId};
use crate::diff::{diff, same_head};
use crate::grammar::{Facts, Kind};
use crate::lex::LexFault;
use crate::model::{Attribution, Build, ChangedFile, ChangedUnit, HostCode, Side, Sources, Why};
use crate::segment::Shape;
use crate::source::MAX_TEXT;
use crate::taint::{Extent, Taint};
use crate::view::View;
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::rc::Rc;

/// The sources of a run, read and parsed once whichever build asks.
pub struct Library<'s> {
    corpus: Corpus,
    sources: &'s mut dyn Sources,
}

impl<'s> Library<'s> {
    /// The sources on both sides of these changes: all files of the change, so that what one of them says about
    /// another is known on both sides.
    pub fn new(changes: &[ChangedFile], sources: &'s mut dyn Sources) -> Self {
        Self {
            corpus: Corpus::new(changes),
            sources,
        }
    }

    /// Places every change that the build knows: in the order of `changes`, `None` for a file that no object was
    /// compiled from. Reads all of the build's files that lie in the source root, if there is anything to place.
    pub fn attribute(
        &mut self,
        build: &Build<'_>,
        changes: &[ChangedFile],
        policy: HostCode,
    ) -> Vec<Option<Attribution>> {
        let paths: HashSet<&str, RandomState> = changes
            .iter()
            .flat_map(|change| change.base.iter().chain(&change.head))
            .map(String::as_str)
            .collect();
        let files = build.objects.iter().flat_map(|object| &object.files);
        let of_build: HashSet<&str, RandomState> =
            files.copied().filter(|path| paths.contains(path)).collect();
        let known: Vec<bool> = changes
            .iter()
            .map(|change| {
                change
                    .base
                    .iter()
                    .chain(&change.head)
                    .any(|path| of_build.contains(path.as_str()))
            })
            .collect();
        if !known.contains(&true) {
            return changes.iter().map(|_| None).collect();
        }
        let mut view = View::new(&mut self.corpus, build, self.sources);
        changes
            .iter()
            .zip(known)
            .map(|(change, known)| known.then(|| Placing::of(&mut view, change, policy)))
            .collect()
    }
}

/// One file's way.
struct Placing<'p, 'v> {
    taint: Taint<'p, 'v>,
    units: Vec<ChangedUnit>,
}

impl Placing<'_, '_> {
    fn of(view: &mut View<'_>, change: &ChangedFile, policy: HostCode) -> Attribution {
        let mut files: Vec<u32> = change
            .base
            .iter()
            .chain(&change.head)
            .filter_map(|path| view.file(path))
            .collect();
        files.dedup();
        let mut placing = Placing {
            taint: Taint::new(view, files.clone(), policy),
            units: Vec::new(),
        };
        match placing.whole(&files, change) {
            Some(why) => placing.taint.widen(why, None),
            None => placing.narrow(files[0]),
        }
        placing.taint.finish();
        let Placing { taint, units } = placing;
        Attribution {
            consulted: taint.consulted(),
            kernels: taint.kernels.into_iter().collect(),
            widened: taint.widened,
            doubts: taint.doubts,
            units,
        }
    }

    /// Why the file cannot be compared item by item.
    fn whole(&self, files: &[u32], change: &ChangedFile) -> Option<Why> {
        if change.base != change.head || files.len() != 1 {
            return Some(Why::NotOnBothSides);
        }
        let path = change.head.as_deref().unwrap_or_default();
        if !is_source(path) {
            return Some(Why::NotASource);
        }
        let file = self.taint.view().file_at(files[0]);
        let (Some(base), Some(head)) = (file.base, file.head) else {
            return Some(Why::UnreadableSide);
        };
        [base, head].into_iter().find_map(|number| {
            let source = self.taint.view().corpus.source(number);
            match source.fault {
                _ if source.text.len() > MAX_TEXT => Some(Why::TooLarge),
                Some(LexFault::Unterminated) => Some(Why::UnclearStructure),
                Some(_) => Some(Why::OddText),
                None if source.is_unclear() => Some(Why::UnclearStructure),
                None => None,
            }
        })
    }

    fn narrow(&mut self, file: u32) {
        if !self.taint.view().includes_inside(file).is_empty() {
            self.taint.widen(Why::UnclearStructure, None);
        }
        let file = Rc::clone(self.taint.view().file_at(file));
        let (Some(base), Some(head)) = (file.base, file.head) else {
            return;
        };
        let changed = {
            let corpus = &self.taint.view().corpus;
            diff(corpus.source(base), corpus.source(head))
        };
        if changed.base.is_empty() && changed.head.is_empty() {
            self.taint.widen(Why::NoCodeChanged, None);
            return;
        }
        let on = |source: u32, items: &[u32]| -> Vec<ItemId> {
            items.iter().map(|&item| ItemId { source, item }).collect()
        };
        let (before, after) = (on(base, &changed.base), on(head, &changed.head));
        for (ids, others, side) in [(&before, &after, Side::Base), (&after, &before, Side::Head)] {
            for &id in ids {
                let extent = self.extent(id, ids, others);
                let line = {
                    let source = self.taint.view().source(id);
                    source.line_of(source.item(id.item))
                };
                let unit = self.unit(id, side, line);
                self.units.push(unit);
                self.taint.change(id, &extent, (side, line));
            }
        }
    }

    /// How much of an item changed, if exactly one changed item of the other side is the same thing.
    fn extent(&mut self, id: ItemId, own: &[ItemId], others: &[ItemId]) -> Extent {
        let facts = self.taint.facts(id);
        let twins = |placing: &mut Self, ids: &[ItemId]| -> Vec<ItemId> {
            ids.iter()
                .copied()
                .filter(|other| is_twin(&facts, &placing.taint.facts(*other)))
                .collect()
        };
        let (alike, twins) = (twins(self, own), twins(self, others));
        let (&[_], &[twin]) = (&alike[..], &twins[..]) else {
            return Extent::Whole;
        };
        let view = self.taint.view();
        let (source, other) = (view.source(id), view.source(twin));
        if facts.kind == Kind::Type {
            let theirs = self.taint.facts(twin);
            return self.members(id, &facts, twin, &theirs);
        }
        if same_head(source, id.item, other, twin.item) {
            Extent::Body
        } else {
            Extent::Whole
        }
    }

    /// Which members' bodies are all that changed in a type.
    fn members(&self, id: ItemId, facts: &Facts, twin: ItemId, theirs: &Facts) -> Extent {
        let view = self.taint.view();
        let outline = |id: ItemId, facts: &Facts| {
            let source = view.source(id);
            let item = source.item(id.item);
            let base = source
                .tokens(&item.tokens)
                .first()
                .map_or(0, |token| token.start as usize);
            let own = source.tokens(&item.tokens).iter().filter(|token| {
                let at = token.start as usize - base;
                !facts.members.iter().any(|member| member.body.contains(&at))
            });
            own.map(|token| (token.kind, token.glued))
                .collect::<Vec<_>>()
        };
        if facts.members.len() != theirs.members.len()
            || outline(id, facts) != outline(twin, theirs)
        {
            return Extent::Whole;
        }
        let body = |id: ItemId, facts: &Facts, member: usize| {
            let source = view.source(id);
            let tokens = source.tokens_between(source.item(id.item), &facts.members[member].body);
            tokens
                .iter()
                .map(|token| (token.kind, token.glued))
                .collect::<Vec<_>>()
        };
        let differs = |member: &usize| body(id, facts, *member) != body(twin, theirs, *member);
        let members: Vec<usize> = (0..facts.members.len()).filter(differs).collect();
        if members.is_empty() {
            Extent::Whole
        } else {
            Extent::Members(members)
        }
    }

    fn unit(&mut self, id: ItemId, side: Side, line: u32) -> ChangedUnit {
        let facts = self.taint.facts(id);
        let view = self.taint.view();
        let shape = view.source(id).item(id.item).shape;
        let names = match shape {
            Shape::Define => self.taint.macro_names_of(id),
            _ => facts.names.clone(),
        };
        let word = |name| String::from_utf8_lossy(view.corpus.names.word(name)).into_owned();
        ChangedUnit {
            kind: kind_word(shape, facts.kind),
            names: names.into_iter().map(word).collect(),
            side,
            line,
        }
    }
}

fn is_twin(one: &Facts, other: &Facts) -> bool {
    one.kind == other.kind
        && one.kind != Kind::Opaque
        && (!one.names.is_empty() || one.unnameable)
        && one.names == other.names
}

fn kind_word(shape: Shape, kind: Kind) -> &'static str {
    match (shape, kind) {
        (Shape::Define, _) => "macro",
        (Shape::Conditional | Shape::Directive, _) => "preprocessor line",
        (Shape::Scope, _) => "scope",
        (Shape::Unclear, _) => "file",
        (Shape::Code, Kind::Kernel) => "kernel",
        (Shape::Code, Kind::Device) => "device function",
        (Shape::Code, Kind::HostDevice) => "host and device function",
        (Shape::Code, Kind::Host) => "host function",
        (Shape::Code, Kind::Type) => "type",
        (Shape::Code, Kind::Variable) => "variable",
        (Shape::Code, Kind::Alias) => "alias",
        (Shape::Code, Kind::Declaration) => "declaration",
        (Shape::Code, Kind::Instantiation) => "instantiation",
        (Shape::Code, Kind::Import) => "using",
        (Shape::Code, Kind::Inert) => "assertion",
        (Shape::Code, Kind::Opaque) => "unknown definition",
    }
}

/// What compilers are given as C++, CUDA or HIP.
fn is_source(path: &str) -> bool {
    const EXTENSIONS: [&str; 18] = [
        "cu", "cuh", "hip", "h", "hh", "hpp", "hxx", "hcu", "c", "cc", "cpp", "cxx", "inl", "inc",
        "ipp", "tpp", "tcc", "cui",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.')
        .is_some_and(|(_, extension)| EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()))
}
