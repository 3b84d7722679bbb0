//! Edits, and the functions that each reaches.

use kernrec_attribution::{ChangedFunctions, PythonAttribution, PythonReader, PythonWhy};

/// The functions that an edit reaches, in order, with `!` before those that another compiler may read.
fn changed(base: &str, head: &str) -> String {
    match PythonReader::default().compare(base.as_bytes(), head.as_bytes()) {
        PythonAttribution::Functions(ChangedFunctions { names, compiled }) => {
            let marked = names.iter().map(|name| {
                let mark = if compiled.contains(name) { "!" } else { "" };
                format!("{mark}{name}")
            });
            marked.collect::<Vec<_>>().join(" ")
        }
        PythonAttribution::Whole(why) => format!("whole: {why}"),
    }
}

/// Replaces one text, and says what that reaches.
fn edit(base: &str, from: &str, to: &str) -> String {
    assert_eq!(base.matches(from).count(), 1, "`{from}`");
    changed(base, &base.replacen(from, to, 1))
}

const FILE: &str = r#""""About this file."""
import os

LIMIT = 10


def free(a, b=LIMIT, *, c: int = 0):
    """What it does."""
    total = a + b

    def nested(x):
        return x + total

    # A remark.
    return [nested(i) for i in range(c)]


class Model:
    """A model."""

    size = 4

    def __init__(self, size=4):
        self.size = size
        self.key = lambda item: item.name

    @property
    def area(self):
        return self.size * self.size

    @area.setter
    def area(self, new):
        self.size = new

    async def fetch(self):
        return sum(item for item in await self.all())

    class Inner:
        flag = False

        def on(self):
            self.flag = True
"#;

#[test]
fn the_body_of_a_function_is_that_function() {
    for (from, to, expected) in [
        ("a + b", "a - b", "free"),
        ("x + total", "x - total", "free.<locals>.nested"),
        ("range(c)", "range(c + 1)", "free"),
        (
            "self.size = size\n",
            "self.size = size + 1\n",
            "Model.__init__",
        ),
        ("item.name", "item.id", "Model.__init__.<locals>.<lambda>"),
        ("self.size * self.size", "self.size ** 2", "Model.area"),
        ("self.size = new", "self.size = -new", "Model.area"),
        ("self.flag = True", "self.flag = None", "Model.Inner.on"),
        (
            "item for item in",
            "-item for item in",
            "Model.fetch Model.fetch.<locals>.<genexpr>",
        ),
        ("await self.all()", "await self.some()", "Model.fetch"),
    ] {
        assert_eq!(edit(FILE, from, to), expected, "{from} -> {to}");
    }
}

#[test]
fn what_runs_at_import_is_the_module_or_the_class() {
    for (from, to, expected) in [
        ("LIMIT = 10", "LIMIT = 11", "<module>"),
        ("import os", "import sys", "<module>"),
        ("size = 4\n", "size = 5\n", "Model"),
        ("flag = False", "flag = 0", "Model.Inner"),
        ("class Model:", "class Model(dict):", "<module> Model"),
    ] {
        assert_eq!(edit(FILE, from, to), expected, "{from} -> {to}");
    }
}

/// Decorators, parameters, defaults and annotations run where the function is defined, and change what it does.
#[test]
fn the_head_of_a_function_is_both() {
    for (from, to, expected) in [
        ("b=LIMIT", "b=LIMIT + 1", "<module> free"),
        ("c: int", "c: float", "<module> free"),
        ("def free(a,", "async def free(a,", "<module> free"),
        ("@property", "@cached_property", "Model Model.area"),
        ("size=4)", "size=5)", "Model Model.__init__"),
        (
            "def nested(x)",
            "def nested(x, y)",
            "free free.<locals>.nested",
        ),
        (
            "lambda item:",
            "lambda item=1:",
            "Model.__init__ Model.__init__.<locals>.<lambda>",
        ),
    ] {
        assert_eq!(edit(FILE, from, to), expected, "{from} -> {to}");
    }
}

#[test]
fn what_nobody_runs_is_nothing() {
    for (from, to) in [
        ("About this file.", "About another file."),
        ("What it does.", "What it did."),
        ("A model.", "A moddle."),
        ("    \"\"\"A model.\"\"\"\n", ""),
        ("# A remark.", "# Another."),
        ("import os\n", "import os  # noqa\n"),
        ("LIMIT = 10\n", "LIMIT = 10\n\n\n\n"),
        ("a + b", "a + \\\n        b"),
        ("free(a, b=LIMIT,", "free(a,\n         b=LIMIT,"),
    ] {
        assert_eq!(edit(FILE, from, to), "", "{from} -> {to}");
    }
}

#[test]
fn a_docstring_counts_where_the_program_reads_docstrings() {
    let reads = FILE.replace("import os", "print(__doc__)");
    assert_eq!(edit(&reads, "About this", "About that"), "<module>");
    assert_eq!(edit(&reads, "What it does", "What it did"), "free");
    let decorated = FILE.replace("def free", "@click.command()\ndef free");
    assert_eq!(edit(&decorated, "What it does", "What it did"), "free");
    assert_eq!(edit(&decorated, "A model.", "A moddle."), "");
    // Not a docstring: nobody calls it one, or it runs code.
    assert_eq!(
        changed("def f():\n    f'{x}'\n", "def f():\n    f'{y}'\n"),
        "f"
    );
    assert_eq!(changed("def f():\n    b'x'\n", "def f():\n    b'y'\n"), "f");
    assert_eq!(
        changed("def f():\n    'x'.y\n", "def f():\n    'y'.y\n"),
        "f"
    );
    assert_eq!(
        changed("x: int\n'doc of x'\n", "x: int\n'about x'\n"),
        "<module>"
    );
}

#[test]
fn a_function_of_one_side_is_a_change_of_what_surrounds_it() {
    let more = FILE.replace(
        "    class Inner:",
        "    def fresh(self):\n        return 1\n\n    class Inner:",
    );
    assert_eq!(changed(FILE, &more), "Model");
    assert_eq!(changed(&more, FILE), "Model");
    assert_eq!(edit(FILE, "def free(", "def renamed("), "<module>");
    assert_eq!(
        edit(FILE, "    def nested(x):\n        return x + total\n", ""),
        "free"
    );
    assert_eq!(
        changed(FILE, &format!("{FILE}\ndef last(): pass\n")),
        "<module>"
    );
}

#[test]
fn one_name_may_stand_for_several_functions() {
    let base = "if x:\n    def f(): return 1\nelse:\n    def f(): return 2\n";
    assert_eq!(edit(base, "return 2", "return 3"), "f");
    assert_eq!(edit(base, "if x", "if y"), "<module>");
    let base = "x = [lambda: 1, lambda: 2]\n";
    assert_eq!(edit(base, "lambda: 2", "lambda: 3"), "<lambda>");
    assert_eq!(edit(base, ", lambda: 2", ""), "<lambda> <module>");
    let base = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): return x\n";
    assert_eq!(edit(base, "x: str", "x: bytes"), "<module> f");
}

/// Indentation decides what belongs to what.
#[test]
fn moving_a_line_in_or_out_is_a_change() {
    let base = "def f():\n    if x:\n        a()\n        b()\n";
    assert_eq!(edit(base, "        b()", "    b()"), "f");
    let base = "def f():\n    a()\nb()\n";
    assert_eq!(edit(base, "\nb()", "\n    b()"), "<module> f");
    // Definitions run in their order.
    assert_eq!(
        changed(
            "def f(): pass\ndef g(): pass\n",
            "def g(): pass\ndef f(): pass\n"
        ),
        "<module>"
    );
    assert_eq!(changed("x = 'a  b'\n", "x = 'a b'\n"), "<module>");
    assert_eq!(changed("x = f'{y = }'\n", "x = f'{y=}'\n"), "<module>");
    assert_eq!(
        changed("x = f'{y:>{w}} {z}'\n", "x = f'{y:<{w}} {z}'\n"),
        "<module>"
    );
}

/// Calling a generator does not enter it.
#[test]
fn becoming_a_generator_is_a_change_of_what_surrounds_it() {
    let base = "def f():\n    a()\n    return 1\n";
    assert_eq!(edit(base, "return 1", "yield 1"), "<module> f");
    assert_eq!(edit("def f():\n    yield 1\n", "yield 1", "yield 2"), "f");
}

#[test]
fn a_global_function_has_its_own_name() {
    let base = "def f():\n    global g\n    def g():\n        return 1\n";
    assert_eq!(edit(base, "return 1", "return 2"), "g");
}

#[test]
fn a_block_for_type_checkers_is_nothing() {
    let base =
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\nelse:\n    import b\n";
    assert_eq!(edit(base, "import a", "import c"), "");
    assert_eq!(edit(base, "import b", "import c"), "<module>");
    assert_eq!(edit(base, "if TYPE_CHECKING", "if True"), "<module>");
    let attribute = base
        .replace("if TYPE_CHECKING", "if typing.TYPE_CHECKING")
        .replace("from typing", "import typing\nfrom typing");
    assert_eq!(edit(&attribute, "import a", "import c"), "");
    // What the name means is not certain, or being bound matters.
    for other in [
        base.replace("from typing", "from mine"),
        base.replace("if TYPE", "TYPE_CHECKING = True\nif TYPE"),
        base.replace("if TYPE", "globals()['TYPE_CHECKING'] = True\nif TYPE"),
        base.replace("if TYPE", "from a import *\nif TYPE"),
        base.replace("import TYPE_CHECKING", "import x as TYPE_CHECKING"),
        base.replace("if TYPE", "for TYPE_CHECKING in x: pass\nif TYPE"),
        base.replace("if TYPE", "typing.TYPE_CHECKING = 1\nif TYPE"),
        attribute.replace("import typing\n", ""),
        attribute.replace("import typing\n", "import mine as typing\n"),
        attribute.replace("import typing\n", "import typing\ntyping = mine\n"),
        attribute.replace("import typing\n", "# typing.TYPE_CHECKING\n"),
    ] {
        assert_eq!(edit(&other, "import a", "import c"), "<module>", "{other}");
    }
    let local = "from typing import TYPE_CHECKING\ndef f():\n    if TYPE_CHECKING:\n        import a\n    return a\n";
    assert_eq!(edit(local, "import a", "import b"), "f");
    let defined = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    def f(): return 1\n";
    assert_eq!(edit(defined, "return 1", "return 2"), "");
}

#[test]
fn what_another_compiler_may_read_is_marked() {
    for decorator in [
        "triton.jit",
        "triton.jit(debug=True)",
        "njit",
        "torch.jit.script",
        "cute.kernel",
    ] {
        let base = format!("@{decorator}\ndef f():\n    def g(): return 1\n    return g\n");
        assert_eq!(
            edit(&base, "return 1", "return 2"),
            "!f.<locals>.g",
            "{decorator}"
        );
        assert_eq!(edit(&base, "return g", "return -g"), "!f");
    }
    let base = "@functools.cache\ndef f(): return 1\n";
    assert_eq!(edit(base, "return 1", "return 2"), "f");
}

#[test]
fn the_line_that_runs_the_file_counts() {
    assert_eq!(changed("#!/bin/a\nx\n", "#!/bin/b\nx\n"), "<module>");
    assert_eq!(changed("# a\nx\n", "# b\nx\n"), "");
}

#[test]
fn what_cannot_be_read_counts_whole() {
    for (base, head, why) in [
        ("x = 1\n", "x = (\n", PythonWhy::SyntaxError),
        ("x = 1\n", "# coding: latin-1\nx = 1\n", PythonWhy::OddText),
        ("x = 1\n", "x = '\0'\n", PythonWhy::OddText),
        ("def ﬁ(): pass\n", "def ﬁ(): return\n", PythonWhy::OddText),
        ("x = 1\n", "x = 1\rimport y\n", PythonWhy::OddText),
    ] {
        assert_eq!(changed(base, head), format!("whole: {why}"), "{head}");
        assert_eq!(changed(head, base), format!("whole: {why}"), "{head}");
    }
    let long = format!("x = '{}'\n", "a".repeat(5 << 20));
    assert_eq!(changed("x = 1\n", &long), "whole: too-large");
}
