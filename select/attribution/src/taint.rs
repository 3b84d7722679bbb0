//! Backward: from what changed to the kernels and the host code that use it.
//!
//! A changed name taints everything that mentions it, through every file that some object of the changed file was
//! compiled from, until kernels are reached. Two levels are told apart: what can only change the code of kernels, and
//! what can also change what the host does. Names are compared, never meanings: two things of one name are one, which
//! can only add.

mod place;
mod spread;

use crate::corpus::ItemId;
use crate::grammar::Facts;
use crate::interner::NameId;
use crate::model::{HostCode, HostDoubt, Side, Why, Widening};
use crate::reach::{Reach, doubts, reach};
use crate::segment::Shape;
use crate::view::View;
use foldhash::fast::RandomState;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// How much a change can alter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    /// The code of kernels only.
    Device,
    /// What the host does too.
    Both,
}

/// How much of an item changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Any part of it.
    Whole,
    /// Nothing but a function's body.
    Body,
    /// Nothing but the bodies of these members.
    Members(Vec<usize>),
}

/// A change on its way to kernels.
pub(crate) struct Taint<'t, 'v> {
    view: &'t mut View<'v>,
    policy: HostCode,
    /// The changed file's numbers.
    files: Vec<u32>,
    /// The files where uses are looked for.
    scope: BTreeSet<u32>,
    /// The objects whose code can change.
    objects: BTreeSet<u32>,
    /// Their kernels.
    symbols: BTreeSet<u32>,
    names: HashMap<NameId, Level, RandomState>,
    pending: Vec<NameId>,
    visited: HashSet<(ItemId, Level, bool), RandomState>,
    /// Changed host code.
    host: BTreeSet<ItemId>,
    /// Host code that only chooses what device code is made.
    chooses: BTreeSet<ItemId>,
    pub(crate) kernels: BTreeSet<u32>,
    /// Files that were read beyond the first scope.
    consulted: BTreeSet<u32>,
    pub(crate) doubts: BTreeSet<HostDoubt>,
    pub(crate) widened: Option<Widening>,
    /// Some changed kernel has a name that the map does not know.
    is_unjoined: bool,
}

impl<'t, 'v> Taint<'t, 'v> {
    pub(crate) fn new(view: &'t mut View<'v>, files: Vec<u32>, policy: HostCode) -> Self {
        let mut taint = Self {
            policy,
            scope: BTreeSet::new(),
            objects: BTreeSet::new(),
            symbols: BTreeSet::new(),
            names: HashMap::default(),
            pending: Vec::new(),
            visited: HashSet::default(),
            host: BTreeSet::new(),
            chooses: BTreeSet::new(),
            kernels: BTreeSet::new(),
            consulted: BTreeSet::new(),
            doubts: BTreeSet::new(),
            widened: None,
            is_unjoined: false,
            files,
            view,
        };
        for object in taint
            .files
            .iter()
            .flat_map(|file| taint.view.objects_of(*file).to_vec())
            .collect::<Vec<_>>()
        {
            taint.add_object(object);
        }
        taint
    }

    pub(crate) fn view(&self) -> &View<'v> {
        self.view
    }

    pub(crate) fn facts(&mut self, id: ItemId) -> Rc<Facts> {
        self.view.facts(id)
    }

    pub(crate) fn macro_names_of(&self, id: ItemId) -> Vec<NameId> {
        self.macro_names(id)
    }

    fn add_object(&mut self, object: u32) {
        if self.objects.insert(object) {
            self.scope.extend(self.view.files_of(object));
            self.symbols
                .extend(&self.view.build.objects[object as usize].symbols);
        }
    }

    /// Follows every tainted name, then the host code, and settles what the change counts for.
    pub(crate) fn finish(&mut self) {
        self.run();
        let host: Vec<ItemId> = self.host.iter().copied().collect();
        if !host.is_empty() {
            let reach = reach(self.view, &host);
            self.consult(&reach);
            self.kernels.extend(reach.kernels);
        }
        for id in host {
            let found = doubts(self.view, id, self.policy);
            self.doubts.extend(found);
        }
        self.settle_choices();
        self.settle_dark_files();
        if self.kernels.is_empty() {
            let why = if self.is_unjoined {
                Why::KernelsNotInMap
            } else {
                Why::ReachesNoKernel
            };
            self.widen(why, None);
        }
    }

    /// The kernels that host code makes with a changed piece of device code in them.
    fn settle_choices(&mut self) {
        let chooses: Vec<ItemId> = self.chooses.iter().copied().collect();
        if chooses.is_empty() {
            return;
        }
        let reach = reach(self.view, &chooses);
        self.consult(&reach);
        self.kernels
            .extend(reach.kernels.intersection(&self.symbols));
        if reach.reads_symbols {
            self.unknown_use(Level::Device);
        } else if reach.is_open {
            self.unexplained();
        }
    }

    /// What stands in a file that cannot be read may use anything.
    fn settle_dark_files(&mut self) {
        let Some(level) = self.names.values().max().copied() else {
            return;
        };
        let dark: Vec<u32> = self
            .scope
            .iter()
            .copied()
            .filter(|file| self.view.file_at(*file).is_dark)
            .collect();
        for file in dark {
            for object in self.view.objects_of(file) {
                if self.objects.contains(object) {
                    self.kernels
                        .extend(&self.view.build.objects[*object as usize].symbols);
                }
            }
            self.note(Why::UsedByUnknownCode, None);
            if level == Level::Both {
                self.doubts.insert(HostDoubt::Unplaced);
            }
        }
    }

    /// The kernels of the map that no definition explains: a library's, or a macro's.
    fn unexplained(&mut self) {
        let symbols: Vec<u32> = self.symbols.difference(&self.kernels).copied().collect();
        for symbol in symbols {
            if !self.is_explained(symbol) {
                self.kernels.insert(symbol);
            }
        }
    }

    fn is_explained(&mut self, symbol: u32) -> bool {
        let own = self.view.joined.own_name(symbol);
        let Some(name) = own.and_then(|own| self.view.corpus.names.find(own.as_bytes())) else {
            return false;
        };
        let declaring = self.view.declaring(name).to_vec();
        declaring.into_iter().any(|id| {
            let is_definition = {
                let item = self.view.source(id).item(id.item);
                item.shape == Shape::Code && item.body < item.tokens.end
            };
            let words = self.view.head_words(id);
            is_definition && self.view.marks(words.into_iter()).global
        })
    }

    /// All kernels of the changed file's objects, and all that its host code can launch.
    pub(crate) fn widen(&mut self, why: Why, place: Option<(Side, u32)>) {
        self.note(why, place);
        self.kernels.extend(&self.symbols);
        let items = self.items_of_file();
        let reach = reach(self.view, &items);
        self.consult(&reach);
        self.kernels.extend(reach.kernels);
        if self.doubts.is_empty() {
            let found = self.doubts_of_file(&items);
            self.doubts.extend(found);
        }
    }

    fn consult(&mut self, reach: &Reach) {
        let files = reach
            .sources
            .iter()
            .filter_map(|source| self.view.file_of(*source));
        self.consulted.extend(files);
    }

    /// The files beyond those of the changed file's own objects whose content this rests on.
    pub(crate) fn consulted(&self) -> Vec<String> {
        let own: BTreeSet<u32> = self
            .files
            .iter()
            .flat_map(|file| self.view.objects_of(*file))
            .flat_map(|object| self.view.files_of(*object))
            .copied()
            .collect();
        let mut paths: Vec<String> = self
            .consulted
            .difference(&own)
            .map(|file| self.view.path(*file).to_owned())
            .collect();
        paths.sort_unstable();
        paths
    }

    fn note(&mut self, why: Why, place: Option<(Side, u32)>) {
        self.widened.get_or_insert(Widening { why, place });
    }

    /// Some use that is not known: any kernel compiled with the change may have it.
    fn unknown_use(&mut self, level: Level) {
        self.note(Why::UsedByUnknownCode, None);
        self.kernels.extend(&self.symbols);
        if level == Level::Both {
            self.doubts.insert(HostDoubt::Unplaced);
        }
    }

    fn items_of_file(&self) -> Vec<ItemId> {
        let sources = self
            .files
            .iter()
            .flat_map(|file| self.view.file_at(*file).sources().collect::<Vec<_>>());
        sources
            .flat_map(|source| {
                let items = self.view.corpus.source(source).items();
                items
                    .filter(|(_, item)| {
                        matches!(item.shape, Shape::Code | Shape::Define | Shape::Unclear)
                    })
                    .map(|(item, _)| ItemId { source, item })
                    .collect::<Vec<_>>()
            })
            .filter(|id| !self.view.is_twin(*id))
            .collect()
    }
}
