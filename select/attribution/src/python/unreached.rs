//! Blocks that only type checkers read: `if TYPE_CHECKING:` in a module.
//!
//! Left out only where the name is certain to be what `typing` says: imported from there, and bound to nothing else in
//! the file.

use tree_sitter::Node;

const NAME: &str = "TYPE_CHECKING";
const MODULES: [&str; 2] = ["typing", "typing_extensions"];

/// Whether every `TYPE_CHECKING` of a file is the one of `typing`.
pub(super) fn is_trusted(root: Node<'_>, text: &str) -> bool {
    if !text.contains(NAME) || is_spelled_out(text) {
        return false;
    }
    let mut is_imported = false;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.kind() == "wildcard_import" {
            return false;
        }
        if node.kind() == "identifier" && text.get(node.byte_range()) == Some(NAME) {
            match use_of(node, text) {
                Use::Import => is_imported = true,
                Use::Read => {}
                Use::Other => return false,
            }
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    is_imported || text.contains("typing.TYPE_CHECKING")
}

/// Whether the condition of an `if` is nothing but the name.
pub(super) fn is_type_checking(condition: Node<'_>, text: &str) -> bool {
    let spelled = text.get(condition.byte_range()).unwrap_or_default();
    spelled == NAME || spelled == "typing.TYPE_CHECKING"
}

enum Use {
    Import,
    Read,
    Other,
}

fn use_of(name: Node<'_>, text: &str) -> Use {
    let Some(parent) = name.parent() else {
        return Use::Other;
    };
    match parent.kind() {
        "if_statement"
        | "elif_clause"
        | "not_operator"
        | "boolean_operator"
        | "conditional_expression" => Use::Read,
        "attribute" => match parent.child_by_field_name("object") {
            Some(object) if text.get(object.byte_range()) == Some("typing") => {
                match parent.parent().map(|above| above.kind()) {
                    Some("if_statement" | "elif_clause" | "not_operator" | "boolean_operator") => {
                        Use::Read
                    }
                    _ => Use::Other,
                }
            }
            _ => Use::Other,
        },
        "dotted_name" => import(parent, text),
        _ => Use::Other,
    }
}

fn import(dotted: Node<'_>, text: &str) -> Use {
    let Some(statement) = dotted.parent() else {
        return Use::Other;
    };
    let module = statement.child_by_field_name("module_name");
    let from = module.and_then(|module| text.get(module.byte_range()));
    match (statement.kind(), from) {
        ("import_from_statement", Some(from)) if MODULES.contains(&from) => Use::Import,
        _ => Use::Other,
    }
}

/// Something may bind the name by its text.
fn is_spelled_out(text: &str) -> bool {
    ["'TYPE_CHECKING'", "\"TYPE_CHECKING\""]
        .iter()
        .any(|spelled| text.contains(spelled))
}
