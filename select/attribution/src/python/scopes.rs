//! The code objects of a file, each with its qualified name and what it holds of its own.
//!
//! What a code object holds is its part of the syntax tree, written down flat: kinds and texts of the leaves, and where
//! each inner node opens and closes, since indentation decides what belongs to what. A nested code object is there as a
//! mark. Comments, blank lines and line numbers are not. So two sides of a code object are equal exactly if nothing of
//! its own changed.
//!
//! A function's head (decorators, parameters, default values, annotations) is run by what surrounds it and also decides
//! what the function does: it is written into both. So is a generator expression, which what surrounds it may start or
//! not. A comprehension has had no code object of its own since Python 3.12.

use super::text::PythonWhy;
use super::{compiled, docs, unreached};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// How deep a tree may be: beyond, its file counts whole. The walk is recursive, and people's code stays below 100.
const MAX_DEPTH: u32 = 400;
/// How much is written down at most for each byte of text, and beyond that: what is written twice can be so at every
/// level.
const MAX_WRITTEN_PER_BYTE: usize = 48;
const MIN_WRITTEN: usize = 1 << 20;

/// What a code object is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeObjectKind {
    /// The file itself: what importing it runs.
    Module,
    /// The body of a class.
    Class,
    /// A function, coroutine or generator.
    Function,
    /// A lambda.
    Lambda,
    /// A generator expression.
    Generator,
    /// Type parameters or the value of a type alias: parts of what surrounds them.
    Annotation,
}

/// A code object of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeObject {
    /// Its qualified name, as `co_qualname` has it.
    pub name: String,
    /// What it is made from.
    pub kind: CodeObjectKind,
    /// Its first line, from 1: that of its first decorator, if it has one.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// Another compiler may read it.
    pub(super) is_compiled: bool,
    /// Only type checkers read it.
    pub(super) is_unreached: bool,
    /// What it holds of its own.
    pub(super) content: Vec<u8>,
    globals: BTreeSet<String>,
    has_yield: bool,
}

/// The code objects of a file, the module first.
pub(super) fn code_objects(
    tree: &Tree,
    text: &str,
    docs_are_read: bool,
) -> Result<Vec<CodeObject>, PythonWhy> {
    let root = tree.root_node();
    if root.has_error() {
        return Err(PythonWhy::SyntaxError);
    }
    let mut walk = Walk {
        text,
        docs_are_read,
        skips_type_checking: unreached::is_trusted(root, text),
        objects: Vec::new(),
        depth: 0,
        unreached: 0,
        left: text.len() * MAX_WRITTEN_PER_BYTE + MIN_WRITTEN,
        failed: None,
    };
    walk.module(root);
    match walk.failed {
        Some(why) => Err(why),
        None => Ok(walk.objects),
    }
}

struct Walk<'s> {
    text: &'s str,
    docs_are_read: bool,
    skips_type_checking: bool,
    objects: Vec<CodeObject>,
    depth: u32,
    /// In how many blocks that only type checkers read.
    unreached: u32,
    /// How many bytes may still be written.
    left: usize,
    failed: Option<PythonWhy>,
}

/// The number of a code object.
type Id = usize;

/// Bytes that no text or kind starts with.
const OPEN: u8 = 1;
const CLOSE: u8 = 2;
const LEAF: u8 = 3;
const MARK: u8 = 4;

impl<'s> Walk<'s> {
    fn module(&mut self, root: Node<'_>) {
        let id = self.add(root, root, "<module>".to_owned(), CodeObjectKind::Module);
        self.objects[id].first_line = 1;
        if self.text.starts_with("#!") {
            // The one comment that decides what runs the file.
            let line = self.text.lines().next().unwrap_or_default();
            self.write(id, LEAF, line.as_bytes());
        }
        self.body(root, id, false);
    }

    /// What a node holds, written down for a code object; nested ones get their own.
    fn node(&mut self, node: Node<'_>, id: Id) {
        if node.is_extra() || self.failed.is_some() {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.failed = Some(PythonWhy::TooLarge);
            return;
        }
        self.depth += 1;
        // Keywords are nodes too, and some are called like what they begin.
        match node.kind() {
            _ if !node.is_named() => self.plain(node, id),
            "decorated_definition" | "function_definition" | "class_definition" => {
                self.definition(node, id);
            }
            "lambda" => self.lambda(node, id),
            "generator_expression" => self.generator(node, id),
            "type_alias_statement" => self.type_alias(node, id),
            "string" => self.string(node, id),
            "if_statement" if self.is_for_type_checkers(node, id) => {
                self.type_checking_block(node, id);
            }
            "yield" => {
                self.objects[id].has_yield = true;
                self.plain(node, id);
            }
            _ => self.plain(node, id),
        }
        self.depth -= 1;
    }

    fn plain(&mut self, node: Node<'_>, id: Id) {
        self.open(node, id);
        if node.child_count() == 0 {
            self.leaf(node.byte_range(), id);
        } else {
            self.children(node, id, |_, _| true);
        }
        self.close(id);
    }

    /// The wanted children of a node, by field, and whatever stands between them that is no white space.
    fn children(
        &mut self,
        node: Node<'_>,
        id: Id,
        wanted: impl Fn(&Node<'_>, Option<&str>) -> bool,
    ) {
        let mut cursor = node.walk();
        let mut at = node.start_byte();
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            let child = cursor.node();
            self.between(at..child.start_byte(), id);
            at = child.end_byte().max(at);
            if wanted(&child, cursor.field_name()) {
                self.node(child, id);
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        self.between(at..node.end_byte(), id);
    }

    fn between(&mut self, range: Range<usize>, id: Id) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        if !text
            .bytes()
            .all(|byte| byte.is_ascii_whitespace() || byte == b'\\')
        {
            self.leaf(range, id);
        }
    }

    fn definition(&mut self, node: Node<'_>, id: Id) {
        let inner = node.child_by_field_name("definition").unwrap_or(node);
        let (Some(name), Some(body)) = (
            inner.child_by_field_name("name"),
            inner.child_by_field_name("body"),
        ) else {
            self.failed = Some(PythonWhy::SyntaxError);
            return;
        };
        let name = self.slice(name);
        if !name.is_ascii() {
            // The interpreter normalises it.
            self.failed = Some(PythonWhy::OddText);
            return;
        }
        let is_class = inner.kind() == "class_definition";
        let kind = if is_class {
            CodeObjectKind::Class
        } else {
            CodeObjectKind::Function
        };
        let is_decorated = inner != node;
        let start = self.objects[id].content.len();
        self.open(inner, id);
        if is_decorated {
            self.children(node, id, |child, _| child.kind() == "decorator");
        }
        self.children(inner, id, |_, field| field != Some("body"));
        let head = self.objects[id].content[start..].to_vec();
        if let Some(parameters) = inner.child_by_field_name("type_parameters") {
            self.type_parameters(node, name, parameters, id);
        }
        let is_compiled = is_decorated && self.has_compiler(node);
        let qualified = self.qualified(id, name, self.objects[id].globals.contains(name));
        let own = self.add(node, body, qualified, kind);
        self.objects[own].is_compiled = is_compiled || self.objects[id].is_compiled;
        self.write_raw(own, &head);
        self.body(body, own, is_decorated);
        self.mark(own, id);
        self.close(id);
    }

    /// A block of statements: of a module, a class or a function.
    fn body(&mut self, body: Node<'_>, id: Id, is_decorated: bool) {
        if self.objects[id].kind != CodeObjectKind::Module {
            self.objects[id].globals = globals(body, self.text);
        }
        // A decorator is given the function, and with it the docstring.
        let skipped = if is_decorated || self.docs_are_read {
            None
        } else {
            docs::docstring(body, self.text)
        };
        self.children(body, id, |child, _| Some(*child) != skipped);
    }

    fn has_compiler(&self, decorated: Node<'_>) -> bool {
        let mut cursor = decorated.walk();
        let mut decorators = decorated.named_children(&mut cursor);
        decorators
            .any(|child| child.kind() == "decorator" && compiled::is_compiler(child, self.text))
    }

    fn lambda(&mut self, node: Node<'_>, id: Id) {
        let start = self.objects[id].content.len();
        self.open(node, id);
        self.children(node, id, |_, field| field != Some("body"));
        let head = self.objects[id].content[start..].to_vec();
        let qualified = self.qualified(id, "<lambda>", false);
        let own = self.add(node, node, qualified, CodeObjectKind::Lambda);
        self.write_raw(own, &head);
        if let Some(body) = node.child_by_field_name("body") {
            self.node(body, own);
        }
        self.mark(own, id);
        self.close(id);
    }

    fn generator(&mut self, node: Node<'_>, id: Id) {
        let qualified = self.qualified(id, "<genexpr>", false);
        let own = self.add(node, node, qualified, CodeObjectKind::Generator);
        self.open(node, id);
        // What it goes over first is evaluated outside of it.
        let mut cursor = node.walk();
        let mut clauses = node.named_children(&mut cursor);
        let first = clauses.find(|child| child.kind() == "for_in_clause");
        if let Some(first) = first {
            self.children(first, id, |_, field| field == Some("right"));
            self.children(first, own, |_, field| field != Some("right"));
        }
        self.children(node, own, |child, _| Some(*child) != first);
        let content = self.objects[own].content.clone();
        self.write_raw(id, &content);
        self.close(id);
    }

    fn type_alias(&mut self, node: Node<'_>, id: Id) {
        self.plain(node, id);
        let left = node.child_by_field_name("left");
        let Some(name) = left.and_then(|left| first_of_kind(left, "identifier")) else {
            return;
        };
        let name = self.slice(name);
        let parameters = left.and_then(|left| first_of_kind(left, "type_parameter"));
        if let Some(parameters) = parameters {
            self.type_parameters(node, name, parameters, id);
        }
        let qualified = self.qualified(id, name, false);
        self.add(node, node, qualified, CodeObjectKind::Annotation);
    }

    /// What the interpreter makes of them; their text is in the head of what they belong to.
    fn type_parameters(&mut self, owner: Node<'_>, name: &str, parameters: Node<'_>, id: Id) {
        let generic = format!("<generic parameters of {name}>");
        let qualified = self.qualified(id, &generic, false);
        self.add(owner, owner, qualified, CodeObjectKind::Annotation);
        let mut cursor = parameters.walk();
        for parameter in parameters.named_children(&mut cursor) {
            let Some(name) = first_of_kind(parameter, "identifier") else {
                continue;
            };
            let qualified = self.qualified(id, self.slice(name), false);
            self.add(parameter, parameter, qualified, CodeObjectKind::Annotation);
        }
    }

    /// A string whole: the white space in it counts, also in an interpolation (`{x = }`).
    fn string(&mut self, node: Node<'_>, id: Id) {
        self.leaf(node.byte_range(), id);
        self.children(node, id, |child, _| child.kind() == "interpolation");
    }

    fn is_for_type_checkers(&self, node: Node<'_>, id: Id) -> bool {
        let condition = node.child_by_field_name("condition");
        // In a function even a name that is bound where nobody comes is a local one.
        self.skips_type_checking
            && self.objects[id].kind == CodeObjectKind::Module
            && condition.is_some_and(|it| unreached::is_type_checking(it, self.text))
    }

    fn type_checking_block(&mut self, node: Node<'_>, id: Id) {
        self.open(node, id);
        self.children(node, id, |_, field| field != Some("consequence"));
        self.close(id);
        if let Some(block) = node.child_by_field_name("consequence") {
            let end = self.objects[id].content.len();
            self.unreached += 1;
            self.node(block, id);
            self.unreached -= 1;
            self.objects[id].content.truncate(end);
        }
    }

    fn add(&mut self, from: Node<'_>, to: Node<'_>, name: String, kind: CodeObjectKind) -> Id {
        self.objects.push(CodeObject {
            name,
            kind,
            first_line: line(from.start_position().row),
            last_line: line(to.end_position().row),
            is_compiled: false,
            is_unreached: self.unreached > 0,
            content: Vec::new(),
            globals: BTreeSet::new(),
            has_yield: false,
        });
        self.objects.len() - 1
    }

    /// The name of a code object that stands in another: the rules of `compiler_set_qualname`.
    fn qualified(&self, parent: Id, name: &str, is_global: bool) -> String {
        let parent = &self.objects[parent];
        match parent.kind {
            CodeObjectKind::Module => name.to_owned(),
            _ if is_global => name.to_owned(),
            CodeObjectKind::Function | CodeObjectKind::Lambda => {
                format!("{}.<locals>.{name}", parent.name)
            }
            CodeObjectKind::Class | CodeObjectKind::Generator | CodeObjectKind::Annotation => {
                format!("{}.{name}", parent.name)
            }
        }
    }

    /// A nested code object in what surrounds it. Whether calling it runs it is part of what it is there.
    fn mark(&mut self, nested: Id, id: Id) {
        let is_generator = self.objects[nested].has_yield;
        self.write(id, MARK, &[u8::from(is_generator)]);
    }

    fn open(&mut self, node: Node<'_>, id: Id) {
        self.write(id, OPEN, &node.kind_id().to_le_bytes());
    }

    fn close(&mut self, id: Id) {
        self.write(id, CLOSE, &[]);
    }

    fn leaf(&mut self, range: Range<usize>, id: Id) {
        let text = self.text;
        self.write(id, LEAF, text.get(range).unwrap_or_default().as_bytes());
    }

    fn write(&mut self, id: Id, what: u8, bytes: &[u8]) {
        // The length is what tells a text from what follows it.
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.write_raw(id, &[what]);
        self.write_raw(id, &length.to_le_bytes());
        self.write_raw(id, bytes);
    }

    fn write_raw(&mut self, id: Id, bytes: &[u8]) {
        match self.left.checked_sub(bytes.len()) {
            Some(left) => {
                self.left = left;
                self.objects[id].content.extend_from_slice(bytes);
            }
            None => self.failed = Some(PythonWhy::TooLarge),
        }
    }

    fn slice(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

fn line(row: usize) -> u32 {
    u32::try_from(row + 1).unwrap_or(u32::MAX)
}

/// The names that a body declares `global`, without those of nested functions and classes.
fn globals(body: Node<'_>, text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![body];
    while let Some(node) = open.pop() {
        let mut cursor = node.walk();
        if node.kind() == "global_statement" {
            let declared = node.named_children(&mut cursor);
            let declared = declared.filter_map(|name| text.get(name.byte_range()));
            names.extend(declared.map(str::to_owned));
            continue;
        }
        let is_nested = |child: &Node<'_>| {
            matches!(
                child.kind(),
                "function_definition" | "class_definition" | "lambda"
            )
        };
        open.extend(
            node.named_children(&mut cursor)
                .filter(|child| !is_nested(child)),
        );
    }
    names
}

/// The first node of a kind, the node itself included, in the order of the text.
fn first_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.kind() == kind {
            return Some(node);
        }
        let mut cursor = node.walk();
        let mut children: Vec<_> = node.named_children(&mut cursor).collect();
        children.reverse();
        open.extend(children);
    }
    None
}
