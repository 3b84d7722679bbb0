//! The name in a declarator.

use tree_sitter::Node;

/// What a declarator declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared<'t> {
    /// This name.
    Name(&'t [u8]),
    /// An operator or conversion, of this class if it is a member defined outside of it.
    Operator(Option<&'t [u8]>),
}

/// How deep a declarator is followed: deeper ones are no code that people write.
const MAX_DEPTH: usize = 64;

/// Follows a declarator to its name.
pub(super) fn declared<'t>(declarator: Node<'_>, text: &'t [u8]) -> Option<Declared<'t>> {
    let mut node = declarator;
    let mut class = None;
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "namespace_identifier" => {
                return Some(Declared::Name(content(node, text)));
            }
            "operator_name" | "operator_cast" => return Some(Declared::Operator(class)),
            "destructor_name" => {
                let name = node.named_child(0)?;
                return Some(Declared::Name(content(name, text)));
            }
            "qualified_identifier" => {
                class = node
                    .child_by_field_name("scope")
                    .and_then(|scope| plain_name(scope, text));
                node = node.child_by_field_name("name")?;
            }
            "template_function" | "template_type" | "template_method" => {
                node = node.child_by_field_name("name")?;
            }
            _ => {
                node = node
                    .child_by_field_name("declarator")
                    .or_else(|| node.named_child(0))?;
            }
        }
    }
    None
}

/// Whether the declarator makes a function, and not a pointer or reference that a function returns.
pub(super) fn is_plain_function(declarator: Node<'_>) -> bool {
    declarator.kind() == "function_declarator"
}

/// The name of a type or namespace, without its template arguments.
pub(super) fn plain_name<'t>(node: Node<'_>, text: &'t [u8]) -> Option<&'t [u8]> {
    let mut node = node;
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "identifier" | "type_identifier" | "namespace_identifier" => {
                return Some(content(node, text));
            }
            _ => node = node.child_by_field_name("name")?,
        }
    }
    None
}

/// The text of a node.
pub(super) fn content<'t>(node: Node<'_>, text: &'t [u8]) -> &'t [u8] {
    text.get(node.byte_range()).unwrap_or_default()
}
