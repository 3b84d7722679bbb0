//! Does a host function launch a kernel whenever it runs?
//!
//! Statements are followed in order up to the first launch that no branch can avoid. What may leave before it, and
//! what is not known, end the search: a function counts as a launcher only if nothing speaks against it.

use super::declarator::{content, plain_name};
use super::facts::contains;
use tree_sitter::Node;

/// What running a piece of code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It launches a kernel, whatever happens.
    Launches,
    /// It goes on to what follows.
    Passes,
    /// It may return to its caller first.
    Returns,
    /// It may leave otherwise, or nobody knows: an exception, a macro or function that is not known.
    Escapes,
}

impl Outcome {
    /// Of two ways, of which one is taken.
    fn either(self, other: Self) -> Self {
        if self == other {
            self
        } else {
            self.max(other).max(Self::Passes)
        }
    }
}

/// What is known about the names in a function.
pub(crate) trait Names {
    /// Whether launching this name runs a kernel of the map.
    fn is_kernel(&mut self, name: &[u8]) -> bool;
    /// What calling this name does; `arguments` are the names in its arguments.
    fn call(&mut self, name: &[u8], arguments: &[&[u8]]) -> Outcome;
    /// What making a variable of this type does.
    fn construct(&mut self, name: &[u8]) -> Outcome;
}

/// Functions that launch the kernel among their arguments.
const LAUNCHERS: [&[u8]; 10] = [
    b"cudaLaunchKernel",
    b"cudaLaunchKernelEx",
    b"cudaLaunchKernelExC",
    b"cudaLaunchCooperativeKernel",
    b"hipLaunchKernel",
    b"hipLaunchKernelGGL",
    b"hipLaunchKernelExC",
    b"hipLaunchCooperativeKernel",
    b"hipExtLaunchKernel",
    b"hipExtLaunchKernelGGL",
];

/// How deep code may be nested: deeper code is not followed.
const MAX_DEPTH: usize = 100;

/// Follows one function's body.
pub(crate) struct Walk<'w> {
    pub(crate) text: &'w [u8],
    pub(crate) names: &'w mut dyn Names,
}

impl Walk<'_> {
    /// What running a function's body does.
    pub(crate) fn body(&mut self, body: Node<'_>) -> Outcome {
        if body.kind() == "compound_statement" {
            self.run(body, 0)
        } else {
            Outcome::Escapes
        }
    }

    fn run(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        if depth > MAX_DEPTH || node.is_error() || node.is_missing() {
            return Outcome::Escapes;
        }
        let depth = depth + 1;
        match node.kind() {
            "lambda_expression"
            | "comment"
            | "static_assert_declaration"
            | "using_declaration"
            | "alias_declaration"
            | "type_definition"
            | "preproc_call"
            | "preproc_def"
            | "sizeof_expression"
            | "template_argument_list" => Outcome::Passes,
            "return_statement" => match self.in_order(node, depth) {
                Outcome::Passes => Outcome::Returns,
                outcome => outcome,
            },
            "throw_statement"
            | "goto_statement"
            | "labeled_statement"
            | "try_statement"
            | "co_return_statement"
            | "co_await_expression"
            | "co_yield_statement"
            | "new_expression"
            | "preproc_function_def"
            | "seh_try_statement"
            | "gnu_asm_expression"
            | "ERROR" => Outcome::Escapes,
            "if_statement" => self.branch(node, depth),
            "conditional_expression" => self.conditional(node, depth),
            "binary_expression" => self.binary(node, depth),
            "for_statement" | "while_statement" | "for_range_loop" | "switch_statement" => {
                self.repeated(node, depth)
            }
            "do_statement" => self.once_at_least(node, depth),
            "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" => {
                self.optional(node, depth)
            }
            "call_expression" => self.call(node, depth),
            "declaration" => self.declaration(node, depth),
            _ => self.in_order(node, depth),
        }
    }

    /// One part after the other.
    fn in_order(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        self.sequence(&parts, depth)
    }

    fn sequence(&mut self, parts: &[Node<'_>], depth: usize) -> Outcome {
        let mut may_return = false;
        for part in parts {
            match self.run(*part, depth) {
                Outcome::Launches if !may_return => return Outcome::Launches,
                Outcome::Launches | Outcome::Passes => {}
                Outcome::Returns => may_return = true,
                Outcome::Escapes => return Outcome::Escapes,
            }
        }
        if may_return {
            Outcome::Returns
        } else {
            Outcome::Passes
        }
    }

    /// Whatever stands below, none of it for certain.
    fn optional(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        self.in_order(node, depth).either(Outcome::Passes)
    }

    fn then(&mut self, first: Outcome, second: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        match first {
            Outcome::Launches | Outcome::Escapes => first,
            Outcome::Passes => second(self),
            Outcome::Returns => match second(self) {
                Outcome::Escapes => Outcome::Escapes,
                _ => Outcome::Returns,
            },
        }
    }

    fn field(&mut self, node: Node<'_>, field: &str, depth: usize) -> Outcome {
        node.child_by_field_name(field)
            .map_or(Outcome::Passes, |child| self.run(child, depth))
    }

    fn branch(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let condition = self.field(node, "condition", depth);
        self.then(condition, |walk| {
            let yes = walk.field(node, "consequence", depth);
            let no = walk.field(node, "alternative", depth);
            yes.either(no)
        })
    }

    fn conditional(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        self.branch(node, depth)
    }

    fn binary(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let operator = node
            .child_by_field_name("operator")
            .map(|operator| operator.kind());
        if !matches!(operator, Some("&&" | "||" | "and" | "or")) {
            return self.in_order(node, depth);
        }
        let left = self.field(node, "left", depth);
        self.then(left, |walk| {
            walk.field(node, "right", depth).either(Outcome::Passes)
        })
    }

    /// A loop or switch may run none of its body.
    fn repeated(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let mut outcome = Outcome::Passes;
        for field in ["initializer", "right", "condition"] {
            outcome = self.then(outcome, |walk| walk.field(node, field, depth));
        }
        self.then(outcome, |walk| {
            let body = walk.field(node, "body", depth);
            let update = walk.field(node, "update", depth);
            body.either(update).either(Outcome::Passes)
        })
    }

    fn once_at_least(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let may_break = contains(node, &["break_statement", "continue_statement"]);
        match self.in_order(node, depth) {
            Outcome::Launches if may_break => Outcome::Passes,
            outcome => outcome,
        }
    }

    fn declaration(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let values = self.in_order(node, depth);
        let Some(of_type) = node.child_by_field_name("type") else {
            return Outcome::Escapes;
        };
        let makes_object = |declarator: Node<'_>| {
            let inner = declarator
                .child_by_field_name("declarator")
                .unwrap_or(declarator);
            !matches!(inner.kind(), "pointer_declarator" | "reference_declarator")
        };
        let mut cursor = node.walk();
        let objects = node
            .children_by_field_name("declarator", &mut cursor)
            .any(makes_object);
        let constructed = match of_type.kind() {
            "primitive_type" | "sized_type_specifier" | "placeholder_type_specifier" => {
                Outcome::Passes
            }
            _ if !objects => Outcome::Passes,
            _ => match plain_name(of_type, self.text) {
                Some(name) => self.names.construct(name),
                None => Outcome::Escapes,
            },
        };
        match (values, constructed) {
            (Outcome::Launches, _) => Outcome::Launches,
            (values, constructed) => values.max(constructed),
        }
    }

    fn call(&mut self, node: Node<'_>, depth: usize) -> Outcome {
        let arguments = node.child_by_field_name("arguments");
        let Some(function) = node.child_by_field_name("function") else {
            return Outcome::Escapes;
        };
        let mut cursor = node.walk();
        let launch = node
            .named_children(&mut cursor)
            .find(|child| child.kind() == "kernel_call_syntax");
        let mut before: Vec<Node<'_>> = arguments.into_iter().chain(launch).collect();
        before.extend((function.kind() == "field_expression").then_some(function));
        let outcome = self.sequence(&before, depth);
        self.then(outcome, |walk| {
            walk.called(function, arguments, launch.is_some())
        })
    }

    fn called(&mut self, function: Node<'_>, arguments: Option<Node<'_>>, launch: bool) -> Outcome {
        let Some(name) = called_name(function, self.text) else {
            return Outcome::Escapes;
        };
        if launch {
            return if self.names.is_kernel(name) {
                Outcome::Launches
            } else {
                Outcome::Escapes
            };
        }
        let mut words = Vec::new();
        if let Some(arguments) = arguments {
            super::facts::collect(arguments, "identifier", &mut words);
        }
        let words: Vec<&[u8]> = words.iter().map(|word| content(*word, self.text)).collect();
        if LAUNCHERS.contains(&name) {
            let launches = words.iter().any(|word| self.names.is_kernel(word));
            return if launches {
                Outcome::Launches
            } else {
                Outcome::Escapes
            };
        }
        self.names.call(name, &words)
    }
}

/// The last name of what is called; `None` for anything but a name.
fn called_name<'t>(function: Node<'_>, text: &'t [u8]) -> Option<&'t [u8]> {
    let mut node = function;
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "identifier" | "field_identifier" | "primitive_type" | "type_identifier" => {
                return Some(content(node, text));
            }
            "qualified_identifier" | "template_function" | "template_method" | "dependent_name" => {
                node = node
                    .child_by_field_name("name")
                    .or_else(|| node.named_child(0))?;
            }
            "field_expression" => node = node.child_by_field_name("field")?,
            "parenthesized_expression" => node = node.named_child(0)?,
            _ => return None,
        }
    }
    None
}
