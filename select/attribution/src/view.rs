//! The sources as one build sees them: which files its objects were compiled from, what its macros mean, what each
//! item is.

use crate::corpus::{Corpus, File, ItemId};
use crate::diff::diff;
use crate::grammar::{Facts, Kind, Marks, Reader, idents, kind_of_function, readable_text};
use crate::interner::NameId;
use crate::known;
use crate::mangled::Joined;
use crate::model::{Build, Sources};
use crate::segment::Shape;
use crate::source::{Macro, Piece, Source};
use foldhash::fast::RandomState;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use tree_sitter::Tree;

/// How many macros deep a word's meaning is followed.
const MAX_MACRO_DEPTH: usize = 16;

/// An item's tree and the text that it was made from.
pub(crate) type Parsed = Rc<(Tree, Vec<u8>)>;

/// One build's view.
pub(crate) struct View<'v> {
    pub(crate) corpus: &'v mut Corpus,
    pub(crate) build: &'v Build<'v>,
    pub(crate) joined: Joined<'v>,
    files: Vec<Rc<File>>,
    numbers: HashMap<&'v str, u32, RandomState>,
    paths: Vec<&'v str>,
    by_source: HashMap<u32, u32, RandomState>,
    /// By object, its files in the source root.
    files_of: Vec<Vec<u32>>,
    /// By file, its objects.
    objects_of: Vec<Vec<u32>>,
    macros: HashMap<NameId, Vec<(u32, u32)>, RandomState>,
    pasting: Vec<(u32, u32)>,
    declaring: HashMap<NameId, Vec<ItemId>, RandomState>,
    facts: HashMap<ItemId, Rc<Facts>, RandomState>,
    trees: HashMap<ItemId, Option<Parsed>, RandomState>,
    /// Unchanged items of a head side, as they stand on the base side.
    twins: HashMap<ItemId, ItemId, RandomState>,
    marks: HashMap<NameId, Marks, RandomState>,
    /// The items that some line includes another file into, with the end of that file's path.
    inside: Vec<(Vec<u8>, ItemId)>,
}

impl<'v> View<'v> {
    /// Reads every file of the build that lies in the source root.
    pub(crate) fn new(
        corpus: &'v mut Corpus,
        build: &'v Build<'v>,
        sources: &mut dyn Sources,
    ) -> Self {
        let mut view = Self {
            joined: Joined::of(&build.symbols),
            corpus,
            build,
            files: Vec::new(),
            numbers: HashMap::default(),
            paths: Vec::new(),
            by_source: HashMap::default(),
            files_of: Vec::new(),
            objects_of: Vec::new(),
            macros: HashMap::default(),
            pasting: Vec::new(),
            declaring: HashMap::default(),
            facts: HashMap::default(),
            trees: HashMap::default(),
            twins: HashMap::default(),
            marks: HashMap::default(),
            inside: Vec::new(),
        };
        for object in &build.objects {
            let in_root = object.files.iter().filter(|path| !path.starts_with('/'));
            let mut files: Vec<u32> = in_root.map(|path| view.number(path, sources)).collect();
            files.sort_unstable();
            files.dedup();
            view.files_of.push(files);
        }
        view.objects_of = vec![Vec::new(); view.files.len()];
        for (object, files) in (0_u32..).zip(&view.files_of) {
            for &file in files {
                view.objects_of[file as usize].push(object);
            }
        }
        view.index();
        view.find_twins();
        view
    }

    fn number(&mut self, path: &'v str, sources: &mut dyn Sources) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let file = self.corpus.file(path, sources);
        self.by_source
            .extend(file.sources().map(|source| (source, number)));
        self.files.push(file);
        self.paths.push(path);
        self.numbers.insert(path, number);
        number
    }

    fn find_twins(&mut self) {
        for file in &self.files {
            let (Some(base), Some(head)) = (file.base, file.head) else {
                continue;
            };
            let same = diff(self.corpus.source(base), self.corpus.source(head)).same;
            let id = |source, item| ItemId { source, item };
            let twins = same
                .iter()
                .map(|&(one, other)| (id(head, other), id(base, one)));
            self.twins.extend(twins);
        }
    }

    /// An unchanged item is the same on both sides, and is read once.
    fn canonical(&self, id: ItemId) -> ItemId {
        self.twins.get(&id).copied().unwrap_or(id)
    }

    /// Whether an item is one that the base side has too, unchanged.
    pub(crate) fn is_twin(&self, id: ItemId) -> bool {
        self.twins.contains_key(&id)
    }

    fn index(&mut self) {
        let mut seen = BTreeSet::new();
        for number in self.files.iter().flat_map(|file| file.sources()) {
            if !seen.insert(number) {
                continue;
            }
            let source = self.corpus.source(number);
            for (index, defined) in (0_u32..).zip(&source.macros) {
                self.macros
                    .entry(defined.name)
                    .or_default()
                    .push((number, index));
                if !defined.pastes.is_empty() {
                    self.pasting.push((number, index));
                }
            }
            let inside = source.included_inside(&self.corpus.names);
            self.inside.extend(inside.map(|(path, item)| {
                let end = path
                    .rsplit(|byte| matches!(byte, b'/' | b'"' | b'<'))
                    .next();
                (
                    end.unwrap_or(path).to_vec(),
                    ItemId {
                        source: number,
                        item,
                    },
                )
            }));
            for (name, items) in source.declarations() {
                let found = items.iter().map(|&item| ItemId {
                    source: number,
                    item,
                });
                self.declaring.entry(name).or_default().extend(found);
            }
        }
    }

    /// The items that include the file into their middle.
    pub(crate) fn includes_inside(&self, file: u32) -> Vec<ItemId> {
        if self.inside.is_empty() {
            return Vec::new();
        }
        let path = self.path(file).as_bytes();
        let inside = self.inside.iter().filter(|(end, _)| path.ends_with(end));
        inside.map(|(_, item)| *item).collect()
    }

    /// The number of a file that some object was compiled from.
    pub(crate) fn file(&self, path: &str) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    pub(crate) fn path(&self, number: u32) -> &'v str {
        self.paths.get(number as usize).copied().unwrap_or_default()
    }

    /// The file that a source is a side of.
    pub(crate) fn file_of(&self, source: u32) -> Option<u32> {
        self.by_source.get(&source).copied()
    }

    pub(crate) fn file_at(&self, number: u32) -> &Rc<File> {
        &self.files[number as usize]
    }

    pub(crate) fn objects_of(&self, file: u32) -> &[u32] {
        &self.objects_of[file as usize]
    }

    pub(crate) fn files_of(&self, object: u32) -> &[u32] {
        &self.files_of[object as usize]
    }

    pub(crate) fn source(&self, id: ItemId) -> &Source {
        self.corpus.source(id.source)
    }

    /// Every item of the build that may declare the name.
    pub(crate) fn declaring(&self, name: NameId) -> &[ItemId] {
        self.declaring.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Every macro of this name.
    pub(crate) fn macros(&self, name: NameId) -> impl Iterator<Item = (&Source, &Macro)> {
        let found = self.macros.get(&name).into_iter().flatten();
        found.map(|&(source, index)| {
            let source = self.corpus.source(source);
            (source, &source.macros[index as usize])
        })
    }

    pub(crate) fn is_macro(&self, name: NameId) -> bool {
        self.macros.contains_key(&name)
    }

    /// The macros that may paste this name together.
    pub(crate) fn pasted_by(&self, name: NameId) -> Vec<ItemId> {
        let word = self.corpus.names.word(name);
        let mut found = Vec::new();
        for &(source, index) in &self.pasting {
            let defined = &self.corpus.source(source).macros[index as usize];
            if defined
                .pastes
                .iter()
                .any(|pieces| self.may_spell(pieces, word))
            {
                found.push(ItemId {
                    source,
                    item: defined.item,
                });
            }
        }
        found
    }

    fn may_spell(&self, pieces: &[Piece], word: &[u8]) -> bool {
        let text = |piece: Option<&Piece>| match piece {
            Some(&Piece::Text(name)) => self.corpus.names.word(name),
            Some(Piece::Any) | None => b"",
        };
        word.starts_with(text(pieces.first())) && word.ends_with(text(pieces.last()))
    }

    /// Every declared name that the pieces may spell.
    pub(crate) fn spelled_by(&self, pieces: &[Piece]) -> Vec<NameId> {
        let names = self.declaring.keys().copied();
        names
            .filter(|name| self.may_spell(pieces, self.corpus.names.word(*name)))
            .collect()
    }

    /// The symbols that a kernel of this name may have.
    pub(crate) fn symbols_named(&self, name: NameId) -> Vec<u32> {
        std::str::from_utf8(self.corpus.names.word(name))
            .map_or_else(|_| Vec::new(), |word| self.joined.symbols(word).to_vec())
    }

    /// Whether the map has a kernel of this name.
    pub(crate) fn kernel_named(&self, name: NameId) -> bool {
        std::str::from_utf8(self.corpus.names.word(name))
            .is_ok_and(|word| self.joined.is_kernel(word))
    }

    /// What the words of a head mean, macros among them followed.
    pub(crate) fn marks(&mut self, words: impl Iterator<Item = NameId>) -> Marks {
        words.fold(Marks::default(), |marks, word| {
            marks.and(self.marks_of(word, 0))
        })
    }

    fn marks_of(&mut self, word: NameId, depth: usize) -> Marks {
        let own = Marks::of_word(word, &self.corpus.names);
        if !self.is_macro(word) {
            return own;
        }
        if let Some(&marks) = self.marks.get(&word) {
            return marks;
        }
        if depth == MAX_MACRO_DEPTH {
            return Marks {
                doubtful: true,
                ..own
            };
        }
        // A macro that names itself is not replaced again.
        self.marks.insert(word, own);
        let bodies: Vec<Vec<NameId>> = self
            .macros(word)
            .map(|(source, defined)| idents(source.tokens(&defined.body)).collect())
            .collect();
        let meanings: Vec<Marks> = bodies
            .into_iter()
            .map(|body| {
                body.into_iter().fold(Marks::default(), |marks, word| {
                    marks.and(self.marks_of(word, depth + 1))
                })
            })
            .collect();
        let marks = meanings.into_iter().reduce(Marks::or).unwrap_or(own);
        self.marks.insert(word, marks);
        marks
    }

    /// What an item is.
    pub(crate) fn facts(&mut self, id: ItemId) -> Rc<Facts> {
        let id = self.canonical(id);
        if let Some(facts) = self.facts.get(&id) {
            return Rc::clone(facts);
        }
        let facts = Rc::new(self.read_facts(id).unwrap_or_else(Facts::opaque));
        self.facts.insert(id, Rc::clone(&facts));
        facts
    }

    fn read_facts(&mut self, id: ItemId) -> Option<Facts> {
        let parsed = self.parsed(id)?;
        let (tree, text) = &*parsed;
        let head = self.head_words(id);
        let marks = self.marks(head.into_iter());
        let reader = Reader { text, marks };
        let mut facts = reader.facts(tree, &mut self.corpus.names);
        for member in 0..facts.members.len() {
            let head = facts.members[member].head.clone();
            let source = self.source(id);
            let item = source.item(id.item);
            let words: Vec<NameId> = idents(source.tokens_between(item, &head)).collect();
            let marks = self.marks(words.into_iter());
            let member = &mut facts.members[member];
            if !member.is_broken {
                member.kind = kind_of_function(marks).unwrap_or(Kind::HostDevice);
            }
        }
        Some(facts)
    }

    /// Whether an item may be a type with a body.
    pub(crate) fn is_type(&self, id: ItemId) -> bool {
        let known = &self.corpus.names.known;
        let types = [known.r#struct, known.class, known.r#union];
        let source = self.corpus.source(id.source);
        let head = source.head(source.item(id.item));
        head.iter().any(|(token, depth)| {
            *depth == 0 && token.ident().is_some_and(|word| types.contains(&word))
        })
    }

    /// Whether an item is a kernel or device function and nothing else, by the words of its head: those of the
    /// language, the attributes, a type behind the mark and one name with its parameters.
    pub(crate) fn is_plain_device_code(&mut self, id: ItemId) -> bool {
        let Some((own, words)) = self.plain_words(id) else {
            return false;
        };
        if own.iter().any(|word| self.is_macro(*word)) {
            return false;
        }
        let marks = self.marks(words.into_iter());
        !(marks.host || marks.constant || marks.doubtful)
    }

    /// The program's own words in a plain head, and all words; `None` for any other head.
    fn plain_words(&self, id: ItemId) -> Option<(Vec<NameId>, Vec<NameId>)> {
        let source = self.corpus.source(id.source);
        let item = source.item(id.item);
        let head = source.plain_head(item);
        let names = &self.corpus.names;
        let (mut marked, mut calls) = (false, 0);
        let (mut own, mut words) = (Vec::new(), Vec::new());
        for (at, token) in head.iter().enumerate() {
            let Some(word) = token.ident() else {
                continue;
            };
            let is_attribute = known::ATTRIBUTES.contains(&names.word(word));
            let called = head.get(at + 1).is_some_and(|next| next.is(b'('));
            marked |= word == names.known.global || word == names.known.device;
            calls += usize::from(called && !is_attribute);
            if !(is_attribute || names.is_keyword(word)) {
                own.push(word);
                // A word before the mark may be a macro, and that a definition.
                if !marked {
                    return None;
                }
            }
            words.push(word);
        }
        let is_plain = marked && calls == 1 && matches!(own.len(), 1 | 2);
        (is_plain && item.body < item.tokens.end).then_some((own, words))
    }

    /// The identifiers of an item's head.
    pub(crate) fn head_words(&self, id: ItemId) -> Vec<NameId> {
        let source = self.source(id);
        let head = source.head(source.item(id.item));
        head.iter().filter_map(|(token, _)| token.ident()).collect()
    }

    /// The tree of an item of code.
    pub(crate) fn parsed(&mut self, id: ItemId) -> Option<Parsed> {
        let id = self.canonical(id);
        if let Some(parsed) = self.trees.get(&id) {
            return parsed.clone();
        }
        let parsed = self.parse(id).map(Rc::new);
        self.trees.insert(id, parsed.clone());
        parsed
    }

    fn parse(&mut self, id: ItemId) -> Option<(Tree, Vec<u8>)> {
        let source = self.corpus.source(id.source);
        let item = source.item(id.item);
        if item.shape != Shape::Code {
            return None;
        }
        let is_type = self.is_type(id);
        let text = readable_text(source, item, &self.corpus.names, is_type);
        let tree = self.corpus.grammar.as_mut()?.parse(&text)?;
        Some((tree, text))
    }
}
