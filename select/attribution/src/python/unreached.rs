//! Blocks that only type checkers read: `if TYPE_CHECKING:` in a module.
//!
//! Left out only where the name is certain to be what `typing` says: imported from there, and bound to nothing else in
//! the file.

use tree_sitter::Node;

const NAME: &str = "TYPE_CHECKING";
const MODULE: &str = "typing";
const MODULES: [&str; 2] = ["typing", "typing_extensions"];

/// Whether every `TYPE_CHECKING` of a file is the one of `typing`.
pub(super) fn is_trusted(root: Node<'_>, text: &str) -> bool {
    if !text.contains(NAME) || is_spelled_out(text) {
        return false;
    }
    let (mut is_imported, mut has_module, mut is_rebound) = (false, false, false);
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.kind() == "wildcard_import" {
            return false;
        }
        let spelled = text.get(node.byte_range()).unwrap_or_default();
        if node.kind() == "identifier" && spelled == NAME {
            match use_of(node, text) {
                Use::Import => is_imported = true,
                Use::Read => {}
                Use::Other => return false,
            }
        }
        if node.kind() == "identifier" && spelled == MODULE {
            match use_of_module(node, text) {
                Use::Import => has_module = true,
                Use::Read => {}
                Use::Other => is_rebound = true,
            }
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    let is_of_module = text.contains("typing.TYPE_CHECKING");
    if is_of_module {
        has_module && !is_rebound
    } else {
        is_imported
    }
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

/// What is done with the name of the module: an attribute of it read, or imported as itself.
fn use_of_module(name: Node<'_>, text: &str) -> Use {
    let Some(parent) = name.parent() else {
        return Use::Other;
    };
    match parent.kind() {
        // Of the module, or of something else that has an attribute of that name.
        "attribute" => Use::Read,
        "dotted_name" => import_of_module(parent, text),
        _ => Use::Other,
    }
}

fn import_of_module(dotted: Node<'_>, text: &str) -> Use {
    let Some(statement) = dotted.parent() else {
        return Use::Other;
    };
    let from = statement.child_by_field_name("module_name");
    let is_whole = text.get(dotted.byte_range()) == Some(MODULE);
    match statement.kind() {
        "import_statement" if is_whole => Use::Import,
        "import_from_statement" if from == Some(dotted) => Use::Read,
        // `import typing as t` binds another name.
        "aliased_import" if is_whole => Use::Read,
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
