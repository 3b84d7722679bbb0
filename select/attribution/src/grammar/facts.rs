//! What one item is.

use super::Marks;
use super::declarator::{Declared, content, declared, is_plain_function, plain_name};
use crate::interner::{Interner, NameId};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// The kinds of items that changes are placed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A `__global__` function.
    Kernel,
    /// A function for the device alone.
    Device,
    /// A function for both sides, `constexpr` ones included.
    HostDevice,
    /// A function for the host.
    Host,
    /// A class, structure, union or enumeration with its body.
    Type,
    /// A variable.
    Variable,
    /// A `using x =`, a typedef, a namespace alias, a concept.
    Alias,
    /// A declaration without a body.
    Declaration,
    /// `template void f<int>();`
    Instantiation,
    /// `using x::y;`: it changes what names mean.
    Import,
    /// Nothing that runs: a lone semicolon, a `static_assert`.
    Inert,
    /// Whatever the grammar cannot name.
    Opaque,
}

/// A function in a class.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) names: Vec<NameId>,
    /// By its own words; set by whoever knows what macros among them mean.
    pub(crate) kind: Kind,
    /// Where its head is in the item's text.
    pub(crate) head: Range<usize>,
    /// Where its body is in the item's text.
    pub(crate) body: Range<usize>,
    /// The grammar could not read all of it.
    pub(crate) is_broken: bool,
}

/// What one item is.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties of one definition, each asked by its own rule"
)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    /// The names that it declares.
    pub(crate) names: Vec<NameId>,
    /// A compiler reads its body to know a type or value.
    pub(crate) deduced: bool,
    /// It returns a value.
    pub(crate) returns: bool,
    /// It may hand what it knows to code that its caller passed.
    pub(crate) generic: bool,
    /// Code uses it without naming it: an operator, a range's `begin`.
    pub(crate) unnameable: bool,
    /// A variable whose initialiser runs when the program starts.
    pub(crate) runs_at_start: bool,
    /// Somebody derives from it, or it from somebody: what runs is known only then.
    pub(crate) is_virtual: bool,
    pub(crate) members: Vec<Member>,
}

impl Facts {
    pub(crate) fn opaque() -> Self {
        Self::of(Kind::Opaque)
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            names: Vec::new(),
            deduced: false,
            returns: true,
            generic: true,
            unnameable: false,
            runs_at_start: false,
            is_virtual: false,
            members: Vec::new(),
        }
    }
}

/// Reads facts from trees.
pub(crate) struct Reader<'r> {
    pub(crate) text: &'r [u8],
    /// What the words of the item's head mean.
    pub(crate) marks: Marks,
}

/// Names that a compiler looks up by itself.
const IMPLICIT: [&[u8]; 8] = [
    b"begin",
    b"end",
    b"get",
    b"tuple_size",
    b"tuple_element",
    b"await_transform",
    b"swap",
    b"hash",
];

impl<'r> Reader<'r> {
    pub(crate) fn facts(&self, tree: &Tree, names: &mut Interner) -> Facts {
        let root = tree.root_node();
        let mut cursor = root.walk();
        let parts: Vec<Node<'_>> = root
            .children(&mut cursor)
            .filter(|node| !matches!(node.kind(), ";" | "comment") && !is_empty_statement(*node))
            .collect();
        match parts[..] {
            [] => Facts::of(Kind::Inert),
            [only] => self.facts_of(only, names).unwrap_or_else(Facts::opaque),
            _ => Facts::opaque(),
        }
    }

    fn facts_of(&self, outer: Node<'r>, names: &mut Interner) -> Option<Facts> {
        let (node, is_template) = unwrapped(outer)?;
        let facts = match node.kind() {
            "function_definition" => self.function(node, is_template, names),
            "declaration" => self.declaration(node, names),
            "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier" => {
                self.class(node, names)
            }
            "type_definition"
            | "alias_declaration"
            | "concept_definition"
            | "namespace_alias_definition" => self.alias(node, names),
            "template_instantiation" => self.instantiation(node, names),
            "using_declaration" => Some(Facts::of(Kind::Import)),
            "static_assert_declaration" => Some(Facts::of(Kind::Inert)),
            _ => None,
        }?;
        Some(facts)
    }

    fn function(&self, node: Node<'r>, is_template: bool, names: &mut Interner) -> Option<Facts> {
        let body = node.child_by_field_name("body");
        let mut cursor = node.walk();
        if node
            .children(&mut cursor)
            .any(|child| Some(child) != body && (child.has_error() || child.is_missing()))
        {
            return None;
        }
        let declarator = node.child_by_field_name("declarator")?;
        let kind = kind_of_function(self.marks)?;
        let mut facts = Facts::of(kind);
        let returned = node.child_by_field_name("type");
        let name = declared(declarator, self.text)?;
        // Without a type it is a constructor, a conversion, or a macro with a block behind it.
        if returned.is_none() && !is_qualified(declarator) && matches!(name, Declared::Name(_)) {
            return None;
        }
        set_name(&mut facts, name, names);
        let returned = returned.map(|node| content(node, self.text));
        facts.deduced = self.marks.constant
            || matches!(returned, Some(text) if text.starts_with(b"auto") || text.starts_with(b"decltype"));
        facts.returns = returned != Some(b"void") || !is_plain_function(declarator);
        facts.generic = takes_code(declarator, is_template, self.text);
        facts.is_virtual =
            self.contains_word(node, b"virtual") || self.contains_word(node, b"override");
        Some(facts)
    }

    fn declaration(&self, node: Node<'r>, names: &mut Interner) -> Option<Facts> {
        if node.has_error() {
            return None;
        }
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let is_function = |node: &Node<'_>| makes_function(*node);
        let kind = if declarators.iter().all(is_function) {
            Kind::Declaration
        } else {
            Kind::Variable
        };
        let mut facts = Facts::of(kind);
        for declarator in &declarators {
            set_name(&mut facts, declared(*declarator, self.text)?, names);
        }
        let of_type = node.child_by_field_name("type")?;
        if of_type.child_by_field_name("body").is_some() {
            let class = self.class(of_type, names)?;
            facts.names.extend(class.names);
            facts.members = class.members;
        }
        facts.deduced = self.marks.constant || self.marks.global;
        facts.runs_at_start = kind == Kind::Variable
            && !(self.marks.device || self.marks.constant || self.is_device_memory(node))
            && may_run(of_type, &declarators);
        Some(facts)
    }

    fn is_device_memory(&self, node: Node<'_>) -> bool {
        let words: [&[u8]; 4] = [b"__constant__", b"__shared__", b"__managed__", b"extern"];
        words.iter().any(|word| self.contains_word(node, word))
    }

    fn class(&self, node: Node<'r>, names: &mut Interner) -> Option<Facts> {
        let Some(body) = node.child_by_field_name("body") else {
            let mut facts = Facts::of(Kind::Declaration);
            let name = plain_name(node.child_by_field_name("name")?, self.text)?;
            facts.names.push(names.intern(name));
            return Some(facts);
        };
        let mut facts = Facts::of(Kind::Type);
        facts.is_virtual = self.contains_word(node, b"virtual");
        match node
            .child_by_field_name("name")
            .and_then(|name| plain_name(name, self.text))
        {
            Some(name) => facts.names.push(names.intern(name)),
            None => facts.names.extend(all_names(body, self.text, names)),
        }
        let mut enumerators = Vec::new();
        collect(node, "enumerator", &mut enumerators);
        facts
            .names
            .extend(enumerators.iter().filter_map(|enumerator| {
                let name = enumerator.child_by_field_name("name")?;
                Some(names.intern(content(name, self.text)))
            }));
        self.members(body, &mut facts, names);
        Some(facts)
    }

    fn members(&self, body: Node<'r>, facts: &mut Facts, names: &mut Interner) {
        let mut found = Vec::new();
        collect(body, "function_definition", &mut found);
        for node in found {
            let Some(inner) = node.child_by_field_name("body") else {
                continue;
            };
            let mut member = Facts::of(Kind::HostDevice);
            let name = node
                .child_by_field_name("declarator")
                .and_then(|node| declared(node, self.text));
            if let Some(name) = name {
                set_name(&mut member, name, names);
            }
            facts.members.push(Member {
                names: member.names,
                kind: Kind::HostDevice,
                head: node.start_byte()..inner.start_byte(),
                body: inner.byte_range(),
                is_broken: node.has_error(),
            });
        }
    }

    fn alias(&self, node: Node<'r>, names: &mut Interner) -> Option<Facts> {
        if node.has_error() {
            return None;
        }
        let mut facts = Facts::of(Kind::Alias);
        if let Some(name) = node
            .child_by_field_name("name")
            .and_then(|name| plain_name(name, self.text))
        {
            facts.names.push(names.intern(name));
        }
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            set_name(&mut facts, declared(declarator, self.text)?, names);
        }
        if let Some(class) = node
            .child_by_field_name("type")
            .filter(|class| class.child_by_field_name("body").is_some())
        {
            let class = self.class(class, names)?;
            facts.kind = Kind::Type;
            facts.names.extend(class.names);
            facts.members = class.members;
        }
        (!facts.names.is_empty()).then_some(facts)
    }

    fn instantiation(&self, node: Node<'r>, names: &mut Interner) -> Option<Facts> {
        if node.has_error() {
            return None;
        }
        let mut facts = Facts::of(Kind::Instantiation);
        match node.child_by_field_name("declarator") {
            Some(declarator) => set_name(&mut facts, declared(declarator, self.text)?, names),
            None => facts.names.extend(all_names(node, self.text, names)),
        }
        Some(facts)
    }

    /// Whether the word stands among the direct parts of a node.
    fn contains_word(&self, node: Node<'_>, word: &[u8]) -> bool {
        memchr::memmem::find(content(node, self.text), word).is_some()
    }
}

/// Whether initialising the variables may run code.
fn may_run(of_type: Node<'_>, declarators: &[Node<'_>]) -> bool {
    declarators.iter().any(|declarator| {
        let value = declarator.child_by_field_name("value");
        match value.map(|value| value.kind()) {
            Some("argument_list") => true,
            Some(_) => value.is_some_and(|value| {
                contains(
                    value,
                    &["call_expression", "lambda_expression", "new_expression"],
                )
            }),
            None => of_type.kind() != "primitive_type" && declarator.kind() != "pointer_declarator",
        }
    })
}

/// Where a function runs; `None` when its words do not say.
pub(crate) fn kind_of_function(marks: Marks) -> Option<Kind> {
    if marks.doubtful {
        return None;
    }
    Some(match marks {
        Marks { global: true, .. } => Kind::Kernel,
        Marks {
            device: true,
            host: false,
            constant: false,
            ..
        } => Kind::Device,
        Marks { device: true, .. } | Marks { constant: true, .. } => Kind::HostDevice,
        Marks { .. } => Kind::Host,
    })
}

/// `template <...>`, `extern "C"` and `friend` taken off, and whether there was a template.
fn unwrapped(outer: Node<'_>) -> Option<(Node<'_>, bool)> {
    let (mut node, mut is_template) = (outer, false);
    for _ in 0..16 {
        match node.kind() {
            "template_declaration" => {
                is_template = true;
                if node
                    .child_by_field_name("parameters")
                    .is_none_or(|header| header.has_error())
                {
                    return None;
                }
                let mut cursor = node.walk();
                let inner = node.named_children(&mut cursor).last()?;
                node = inner;
            }
            "linkage_specification" => node = node.child_by_field_name("body")?,
            "template_parameter_list" | "ERROR" | "MISSING" => return None,
            _ => return Some((node, is_template)),
        }
    }
    None
}

fn is_empty_statement(node: Node<'_>) -> bool {
    node.kind() == "expression_statement" && node.named_child_count() == 0
}

fn set_name(facts: &mut Facts, name: Declared<'_>, names: &mut Interner) {
    match name {
        Declared::Name(name) => {
            facts.unnameable |= IMPLICIT.contains(&name);
            facts.names.push(names.intern(name));
        }
        Declared::Operator(Some(class)) => facts.names.push(names.intern(class)),
        Declared::Operator(None) => facts.unnameable = true,
    }
}

fn is_qualified(declarator: Node<'_>) -> bool {
    let name = declarator
        .child_by_field_name("declarator")
        .unwrap_or(declarator);
    name.kind() == "qualified_identifier"
}

/// Whether a declarator declares a function, whatever that returns.
fn makes_function(declarator: Node<'_>) -> bool {
    let mut node = declarator;
    for _ in 0..64 {
        match node.kind() {
            "function_declarator" => {
                // `void (*pointer)(int)` is a variable.
                return node
                    .child_by_field_name("declarator")
                    .is_some_and(|inner| inner.kind() != "parenthesized_declarator");
            }
            "pointer_declarator" | "reference_declarator" => {
                let Some(inner) = node
                    .child_by_field_name("declarator")
                    .or_else(|| node.named_child(0))
                else {
                    return false;
                };
                node = inner;
            }
            _ => return false,
        }
    }
    false
}

/// Whether a function may be given code to call: a parameter of a template's own type, or a pointer to a function.
fn takes_code(declarator: Node<'_>, is_template: bool, text: &[u8]) -> bool {
    let mut lists = Vec::new();
    collect(declarator, "parameter_list", &mut lists);
    let Some(parameters) = lists.first() else {
        return true;
    };
    let written = content(*parameters, text);
    if memchr::memmem::find(written, b"function").is_some()
        || memchr::memmem::find(written, b"(*").is_some()
    {
        return true;
    }
    let mut cursor = parameters.walk();
    parameters.named_children(&mut cursor).any(|parameter| {
        let of_type = parameter
            .child_by_field_name("type")
            .map(|node| node.kind());
        let by_pointer = parameter
            .child_by_field_name("declarator")
            .is_some_and(|declarator| declarator.kind().contains("pointer_declarator"));
        match of_type {
            Some("placeholder_type_specifier") => true,
            Some("primitive_type" | "sized_type_specifier") => false,
            _ => is_template && !by_pointer,
        }
    })
}

/// Every node of a kind below one, without recursion.
pub(super) fn collect<'t>(node: Node<'t>, kind: &str, found: &mut Vec<Node<'t>>) {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.kind() == kind {
            found.push(node);
        }
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
}

/// Whether a node of one of the kinds stands below.
pub(super) fn contains(node: Node<'_>, kinds: &[&str]) -> bool {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if kinds.contains(&node.kind()) {
            return true;
        }
        let mut cursor = node.walk();
        pending.extend(node.children(&mut cursor));
    }
    false
}

fn all_names(node: Node<'_>, text: &[u8], names: &mut Interner) -> Vec<NameId> {
    let mut found = Vec::new();
    for kind in ["identifier", "field_identifier", "type_identifier"] {
        collect(node, kind, &mut found);
    }
    found
        .iter()
        .map(|node| names.intern(content(*node, text)))
        .collect()
}
