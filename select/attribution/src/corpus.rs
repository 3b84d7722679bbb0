//! The sources of a run: read, split and parsed once, whichever pair of kernel table and map asks.

use crate::interner::Interner;
use crate::model::{ChangedFile, Side, Sources};
use crate::parse::BoundedParser;
use crate::source::Source;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// One item of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ItemId {
    pub(crate) source: u32,
    pub(crate) item: u32,
}

/// One file of the build, on both sides.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    /// Its sources: one, or one a side where it changed.
    pub(crate) base: Option<u32>,
    pub(crate) head: Option<u32>,
    /// Some side of it cannot be read or split: anything may stand in it.
    pub(crate) is_dark: bool,
}

impl File {
    pub(crate) fn sources(&self) -> impl Iterator<Item = u32> + use<> {
        let head = self.head.filter(|head| Some(*head) != self.base);
        self.base.into_iter().chain(head)
    }
}

/// Everything that was read.
pub(crate) struct Corpus {
    pub(crate) names: Interner,
    pub(crate) sources: Vec<Source>,
    pub(crate) grammar: Option<BoundedParser>,
    files: HashMap<String, Rc<File>, RandomState>,
    changed: HashMap<String, ChangedFile, RandomState>,
}

impl Corpus {
    pub(crate) fn new(changes: &[ChangedFile]) -> Self {
        let mut by_path = HashMap::default();
        for file in changes {
            for path in file.base.iter().chain(&file.head) {
                by_path.insert(path.clone(), file.clone());
            }
        }
        Self {
            names: Interner::new(),
            sources: Vec::new(),
            grammar: BoundedParser::of(&tree_sitter_cuda::LANGUAGE.into()),
            files: HashMap::default(),
            changed: by_path,
        }
    }

    /// Both sides of a file, read now if they were not.
    pub(crate) fn file(&mut self, path: &str, sources: &mut dyn Sources) -> Rc<File> {
        if let Some(file) = self.files.get(path) {
            return Rc::clone(file);
        }
        let file = Rc::new(self.read(path, sources));
        self.files.insert(path.to_owned(), Rc::clone(&file));
        file
    }

    fn read(&mut self, path: &str, sources: &mut dyn Sources) -> File {
        let mut file = File::default();
        let sides = match self.changed.get(path) {
            None => (Some(path.to_owned()), None),
            Some(change) => (change.base.clone(), change.head.clone()),
        };
        let expected = sides.clone();
        file.base = sides
            .0
            .and_then(|path| self.load(Side::Base, &path, sources));
        file.head = sides
            .1
            .and_then(|path| self.load(Side::Head, &path, sources));
        let missing = (expected.0.is_some() && file.base.is_none())
            || (expected.1.is_some() && file.head.is_none());
        let is_unclear = |source: &u32| {
            let source = &self.sources[*source as usize];
            source.fault.is_some() && source.is_unclear()
        };
        file.is_dark = missing || file.base.iter().chain(&file.head).any(is_unclear);
        file
    }

    fn load(&mut self, side: Side, path: &str, sources: &mut dyn Sources) -> Option<u32> {
        let text = sources.read(side, path).ok()??;
        let source = Source::read(Arc::from(text), &mut self.names);
        self.sources.push(source);
        u32::try_from(self.sources.len() - 1).ok()
    }

    pub(crate) fn source(&self, number: u32) -> &Source {
        &self.sources[number as usize]
    }
}
