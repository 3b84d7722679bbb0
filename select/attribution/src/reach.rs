//! Forward: which kernels code can launch, and whether that is all that is known of it.

use crate::corpus::ItemId;
use crate::grammar::launch::{Names, Outcome, Walk};
use crate::grammar::{Kind, idents};
use crate::interner::NameId;
use crate::known;
use crate::lex::{Token, TokenKind};
use crate::model::{HostCode, HostDoubt};
use crate::segment::Shape;
use crate::source::Piece;
use crate::view::View;
use std::collections::BTreeSet;

/// How many functions deep a launch is looked for.
const MAX_CALLS: usize = 8;

/// What code can launch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    /// The kernels, by symbol number.
    pub(crate) kernels: BTreeSet<u32>,
    /// It calls what is not known.
    pub(crate) is_open: bool,
    /// It reads what device code stored.
    pub(crate) reads_symbols: bool,
    /// The sources that were read for it.
    pub(crate) sources: BTreeSet<u32>,
}

/// Everything that some items name, through functions, macros, types and variables.
pub(crate) fn reach(view: &mut View<'_>, starts: &[ItemId]) -> Reach {
    let mut search = Search::default();
    search.pending.extend(starts);
    // Code uses operators without naming them.
    search.names.push(view.corpus.names.known.operator);
    while let Some(id) = search.pending.pop() {
        if search.items.insert(id) {
            search.reach.sources.insert(id.source);
            search.read(view, id);
        }
        while let Some(name) = search.names.pop() {
            if search.seen.insert(name) {
                search.follow(view, name);
            }
        }
    }
    search.reach
}

#[derive(Default)]
struct Search {
    pending: Vec<ItemId>,
    names: Vec<NameId>,
    items: BTreeSet<ItemId>,
    seen: BTreeSet<NameId>,
    reach: Reach,
}

impl Search {
    fn read(&mut self, view: &View<'_>, id: ItemId) {
        let source = view.source(id);
        let item = source.item(id.item);
        let tokens = source.tokens(&item.tokens);
        self.names.extend(idents(tokens));
        if item.shape == Shape::Code {
            self.read_calls(view, source.tokens(&(item.body..item.tokens.end)));
        } else if let Some(defined) = source.macros.iter().find(|defined| defined.item == id.item) {
            self.read_calls(view, source.tokens(&defined.body));
            let free = |pieces: &Vec<Piece>| {
                matches!(
                    (pieces.first(), pieces.last()),
                    (Some(Piece::Any), Some(Piece::Any))
                )
            };
            self.reach.is_open |= !defined.pastes.is_empty() && defined.pastes.iter().any(free);
            let partly: Vec<_> = defined
                .pastes
                .iter()
                .filter(|pieces| !free(pieces))
                .cloned()
                .collect();
            for pieces in partly {
                self.names.extend(view.spelled_by(&pieces));
            }
        } else if item.shape == Shape::Unclear {
            self.reach.is_open = true;
        }
    }

    /// Looks at every `name(` and `name<<<`.
    fn read_calls(&mut self, view: &View<'_>, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let Some(name) = token.ident() else {
                self.reach.is_open |= token.is(b'(') && calls_a_value(tokens, at, view);
                continue;
            };
            let word = view.corpus.names.word(name);
            self.reach.reads_symbols |= known::SYMBOL_READERS.contains(&word);
            if is_called(tokens, at) && !is_declarator(tokens, at, view) {
                let member = at > 0 && (tokens[at - 1].is(b'.') || tokens[at - 1].is(b'>'));
                let standard =
                    is_standard(tokens, at, view) || (member && known::MEMBERS.contains(&word));
                let resolved = !view.declaring(name).is_empty() || is_launcher(word);
                self.reach.is_open |= !(resolved || standard || known::is_quiet(word));
            }
        }
    }

    fn follow(&mut self, view: &mut View<'_>, name: NameId) {
        let declaring: Vec<ItemId> = view.declaring(name).to_vec();
        if declaring.is_empty() {
            return;
        }
        if view.kernel_named(name) {
            self.reach.kernels.extend(view.symbols_named(name));
        }
        for id in declaring {
            let (shape, marks) = {
                let shape = view.source(id).item(id.item).shape;
                let words = view.head_words(id);
                (shape, view.marks(words.into_iter()))
            };
            let device_only = marks.device && !marks.host && !marks.constant && !view.is_type(id);
            match shape {
                Shape::Code if marks.global && !marks.doubtful => {
                    self.reach.sources.insert(id.source);
                    self.reach.kernels.extend(view.symbols_named(name));
                }
                Shape::Code if device_only => {}
                Shape::Code | Shape::Define | Shape::Unclear => self.pending.push(id),
                Shape::Conditional | Shape::Directive | Shape::Scope => {}
            }
        }
    }
}

/// Why silence about an item of host code proves nothing; empty if it always launches.
pub(crate) fn doubts(view: &mut View<'_>, id: ItemId, policy: HostCode) -> BTreeSet<HostDoubt> {
    let facts = view.facts(id);
    let mut doubts = BTreeSet::new();
    if facts.returns && matches!(facts.kind, Kind::Host | Kind::HostDevice) {
        doubts.insert(HostDoubt::ReturnsAValue);
    }
    let outcome = match facts.kind {
        Kind::Host | Kind::HostDevice => Certainty::new(view).of(id),
        _ => Outcome::Escapes,
    };
    if outcome == Outcome::Launches {
        return doubts;
    }
    let reach = reach(view, &[id]);
    if reach.kernels.is_empty() {
        doubts.insert(HostDoubt::LaunchesNothing);
    }
    let is_function = matches!(facts.kind, Kind::Host | Kind::HostDevice) && !facts.is_virtual;
    if reach.is_open || !is_function {
        doubts.insert(HostDoubt::ReachNotClosed);
    } else if policy == HostCode::Certain {
        doubts.insert(HostDoubt::MayReturnWithoutLaunching);
    }
    doubts
}

/// Follows calls from one function into others.
struct Certainty<'c, 'v> {
    view: &'c mut View<'v>,
    calls: Vec<ItemId>,
}

impl<'c, 'v> Certainty<'c, 'v> {
    fn new(view: &'c mut View<'v>) -> Self {
        Self {
            view,
            calls: Vec::new(),
        }
    }

    fn of(&mut self, id: ItemId) -> Outcome {
        if self.calls.len() == MAX_CALLS || self.calls.contains(&id) {
            return Outcome::Escapes;
        }
        let Some(parsed) = self.view.parsed(id) else {
            return Outcome::Escapes;
        };
        let (tree, text) = &*parsed;
        let mut bodies = Vec::new();
        crate::grammar::functions(tree.root_node(), &mut bodies);
        let [body] = bodies[..] else {
            return Outcome::Escapes;
        };
        self.calls.push(id);
        let outcome = Walk { text, names: self }.body(body);
        self.calls.pop();
        outcome
    }

    fn call_macro(&mut self, name: NameId, arguments: &[&[u8]]) -> Outcome {
        let bodies: Vec<Vec<Token>> = self
            .view
            .macros(name)
            .map(|(source, defined)| source.tokens(&defined.body).to_vec())
            .collect();
        let outcomes: Vec<Outcome> = bodies
            .iter()
            .map(|body| self.macro_body(body, arguments))
            .collect();
        combined(&outcomes)
    }

    fn macro_body(&mut self, body: &[Token], arguments: &[&[u8]]) -> Outcome {
        let words: Vec<NameId> = idents(body).collect();
        let has = |words: &[NameId], list: &[&[u8]], view: &View<'_>| {
            words
                .iter()
                .any(|word| list.contains(&view.corpus.names.word(*word)))
        };
        if has(&words, &known::LEAVING, self.view) {
            return Outcome::Escapes;
        }
        for (at, token) in body.iter().enumerate() {
            let Some(name) = token.ident() else { continue };
            if !is_called(body, at) {
                continue;
            }
            let word = self.view.corpus.names.word(name).to_vec();
            if is_launcher(&word) || is_launch_syntax(body, at) {
                continue;
            }
            if self.call(&word, &[]) > Outcome::Passes {
                return Outcome::Escapes;
            }
        }
        let launches = (0..body.len()).any(|at| is_launch_syntax(body, at))
            && !has(&words, &known::BRANCHING, self.view)
            && !body
                .iter()
                .any(|token| token.is(b'?') || token.is(b'&') || token.is(b'|'));
        let mut named: Vec<Vec<u8>> = words
            .iter()
            .map(|word| self.view.corpus.names.word(*word).to_vec())
            .collect();
        named.extend(arguments.iter().map(|word| word.to_vec()));
        if launches && named.iter().any(|word| self.is_kernel(word)) {
            return Outcome::Launches;
        }
        Outcome::Passes
    }
}

impl Names for Certainty<'_, '_> {
    fn is_kernel(&mut self, name: &[u8]) -> bool {
        self.view
            .corpus
            .names
            .find(name)
            .is_some_and(|name| self.view.kernel_named(name))
    }

    fn call(&mut self, name: &[u8], arguments: &[&[u8]]) -> Outcome {
        let id = self.view.corpus.names.intern(name);
        if self.view.is_macro(id) {
            return self.call_macro(id, arguments);
        }
        let declaring: Vec<ItemId> = self.view.declaring(id).to_vec();
        let mut outcomes = Vec::new();
        for item in declaring {
            let facts = self.view.facts(item);
            match facts.kind {
                Kind::Host | Kind::HostDevice if facts.names.contains(&id) => {
                    outcomes.push(self.of(item));
                }
                Kind::Declaration | Kind::Device => {}
                _ if facts.names.contains(&id)
                    || facts.kind == Kind::Opaque
                    || facts.kind == Kind::Type =>
                {
                    return Outcome::Escapes;
                }
                _ => {}
            }
        }
        if outcomes.is_empty() {
            return if known::is_quiet(name) {
                Outcome::Passes
            } else {
                Outcome::Escapes
            };
        }
        match combined(&outcomes) {
            Outcome::Returns => Outcome::Passes,
            outcome => outcome,
        }
    }

    fn construct(&mut self, name: &[u8]) -> Outcome {
        let declared = self
            .view
            .corpus
            .names
            .find(name)
            .is_some_and(|id| !self.view.declaring(id).is_empty());
        if known::is_plain_type(name) && !declared {
            Outcome::Passes
        } else {
            Outcome::Escapes
        }
    }
}

/// Of several definitions of one name: whichever is meant.
fn combined(outcomes: &[Outcome]) -> Outcome {
    let worst = outcomes.iter().max().copied().unwrap_or(Outcome::Escapes);
    let all_launch = outcomes.iter().all(|outcome| *outcome == Outcome::Launches);
    if all_launch {
        worst
    } else {
        worst.max(Outcome::Passes)
    }
}

fn is_launcher(word: &[u8]) -> bool {
    // Of the runtime, those that name their kernel.
    known::is_runtime(word)
        && memchr::memmem::find(word, b"Launch").is_some()
        && [&b"Module"[..], b"HostFunc", b"Graph"]
            .iter()
            .all(|part| memchr::memmem::find(word, part).is_none())
}

fn is_launch_syntax(tokens: &[Token], at: usize) -> bool {
    tokens[at..].len() >= 3 && tokens[at..at + 3].iter().all(|token| token.is(b'<'))
        || (tokens[at..].len() >= 4 && tokens[at + 1..at + 4].iter().all(|token| token.is(b'<')))
}

/// `name(`, `name<...>(`, `name<<<`.
fn is_called(tokens: &[Token], at: usize) -> bool {
    let Some(next) = tokens.get(at + 1) else {
        return false;
    };
    if next.is(b'(') {
        return true;
    }
    if !next.is(b'<') {
        return false;
    }
    if is_launch_syntax(tokens, at) {
        return true;
    }
    let mut depth = 0_i32;
    for (offset, token) in tokens[at + 1..].iter().enumerate().take(256) {
        match token.kind {
            TokenKind::Punct(b'<') => depth += 1,
            TokenKind::Punct(b'>') => depth -= 1,
            TokenKind::Punct(b';' | b'{' | b'}') => return false,
            _ => {}
        }
        if depth == 0 {
            return tokens
                .get(at + 2 + offset)
                .is_some_and(|token| token.is(b'('));
        }
    }
    false
}

/// `table[n](`, `(*pointer)(`, `make()(`: whatever was stored or returned is called.
fn calls_a_value(tokens: &[Token], at: usize, view: &View<'_>) -> bool {
    let Some(close) = at.checked_sub(1) else {
        return false;
    };
    let (opening, closing) = match tokens[close].kind {
        TokenKind::Punct(b']') => (b'[', b']'),
        TokenKind::Punct(b')') => (b'(', b')'),
        _ => return false,
    };
    let mut depth = 0_usize;
    for open in (0..=close).rev() {
        depth += usize::from(tokens[open].is(closing));
        depth -= usize::from(tokens[open].is(opening));
        if depth == 0 {
            let before = open.checked_sub(1).map(|before| &tokens[before]);
            let names_value = before.is_some_and(|token| {
                token
                    .ident()
                    .is_some_and(|name| !view.corpus.names.is_keyword(name))
                    || token.is(b']')
                    || token.is(b')')
            });
            return names_value || tokens[open + 1].is(b'*');
        }
    }
    false
}

/// `dim3 grid(`: a variable, not a call.
fn is_declarator(tokens: &[Token], at: usize, view: &View<'_>) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| tokens[before].ident()) else {
        return false;
    };
    let word = view.corpus.names.word(before);
    known::is_plain_type(word)
}

/// `std::name`.
fn is_standard(tokens: &[Token], at: usize, view: &View<'_>) -> bool {
    at >= 3
        && tokens[at - 1].is(b':')
        && tokens[at - 2].is(b':')
        && tokens[at - 3]
            .ident()
            .is_some_and(|name| view.corpus.names.word(name) == b"std")
}
