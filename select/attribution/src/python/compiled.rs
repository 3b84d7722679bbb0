//! Functions whose source another compiler may read: Triton's, Numba's.
//!
//! Such a function can run without being entered, in one step, and be entered in another, so what a step did not enter
//! says nothing about it.

use tree_sitter::Node;

/// Parts of a decorator's last name that say so: `triton.jit`, `njit`, `cuda.jit`, `torch.jit.script`, `jitclass`,
/// `script_method`, `cute.kernel`, `T.prim_func`.
const PARTS: [&str; 3] = ["jit", "script", "kernel"];
const NAMES: [&str; 7] = [
    "autotune",
    "heuristics",
    "prim_func",
    "vectorize",
    "guvectorize",
    "cfunc",
    "stencil",
];

/// Whether a decorator may hand the function's source to a compiler.
pub(super) fn is_compiler(decorator: Node<'_>, text: &str) -> bool {
    let Some(mut node) = decorator.named_child(0) else {
        return false;
    };
    while node.kind() == "call" {
        let Some(function) = node.child_by_field_name("function") else {
            return false;
        };
        node = function;
    }
    let spelled = text.get(node.byte_range()).unwrap_or_default();
    // `torch.jit.ignore` says the opposite, and a wrong guess only keeps a step.
    let mut names = spelled
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map(str::to_ascii_lowercase);
    names.any(|name| NAMES.contains(&name.as_str()) || PARTS.iter().any(|part| name.contains(part)))
}
