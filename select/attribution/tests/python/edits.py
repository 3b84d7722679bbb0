"""Edits files at random, and says by their code which code objects each edit changed.

Arguments: seed, number of edits of each file, files. Prints one JSON line an edit: file, head, changed. `changed` names
the code objects that are on both sides and differ in anything but their lines and docstrings.
"""
import ast
import dis
import inspect
import json
import random
import re
import sys
import warnings

warnings.simplefilter("ignore")


class OnlyWhatRuns(ast.NodeTransformer):
    def strip(self, node):
        self.generic_visit(node)
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
            node.body = node.body or [ast.copy_location(ast.Pass(), node)]
        return node

    def visit_If(self, node):
        self.generic_visit(node)
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.copy_location(ast.Pass(), node)]
        return node

    visit_Module = visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = strip


def compiled(source):
    tree = OnlyWhatRuns().visit(ast.parse(source))
    return compile(ast.fix_missing_locations(tree), "f", "exec", dont_inherit=True)


def is_code(constant):
    return hasattr(constant, "co_qualname")


# What they do depends on where else a name is bound, which is a change there.
PASSED_ON = {"MAKE_CELL", "COPY_FREE_VARS", "LOAD_CLOSURE", "BUILD_TUPLE", "PUSH_NULL", "EXTENDED_ARG", "NOP"}
NAMED = re.compile("_(FAST|FAST_CHECK|FAST_AND_CLEAR|DEREF|GLOBAL|NAME|CLASSDEREF|FROM_DICT_OR_(DEREF|GLOBALS))$")


def instruction(each):
    what = each.argval
    if is_code(what):
        what = "<code>"
    elif each.opcode in dis.hasjrel or each.opname == "MAKE_FUNCTION":
        what = None
    return NAMED.sub("", each.opname), repr(what)


def own(code):
    flags = code.co_flags & ~(inspect.CO_NESTED | inspect.CO_NEWLOCALS | inspect.CO_OPTIMIZED)
    arguments = code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount
    run = dis.get_instructions(code)
    return flags, arguments, [instruction(i) for i in run if i.opname not in PASSED_ON]


def by_name(code, found):
    found.setdefault(code.co_qualname, []).append(own(code))
    for constant in code.co_consts:
        if is_code(constant):
            by_name(constant, found)
    return found


WORDS = ["self", "None", "True", "0", "'text'", "yield", "lambda: 0", "[i for i in x]", "(i for i in x)", "@property"]


def futures(lines):
    """They change how every code object of a file is compiled, and are a change of importing it."""
    return [line for line in lines if "__future__" in line]


def edited(lines, pick):
    lines = list(lines)
    at = pick.randrange(len(lines))
    how = pick.randrange(7)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(at, lines[pick.randrange(len(lines))])
    elif how == 2:
        other = pick.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        indent = re.match(r"\s*", lines[at]).group()
        lines.insert(at, indent + pick.choice(WORDS) + "\n")
    elif how == 4:
        lines[at] = lines[at].replace("    ", "", 1)
    else:
        tokens = re.findall(r"\w+|\W", lines[at])
        if tokens:
            tokens[pick.randrange(len(tokens))] = pick.choice(WORDS)
        lines[at] = "".join(tokens)
    return lines


pick = random.Random(int(sys.argv[1]))
for path in sys.argv[3:]:
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.readlines()
    try:
        before = by_name(compiled("".join(lines)), {})
    except (SyntaxError, ValueError):
        continue
    left = int(sys.argv[2])
    for _ in range(40 * left):
        if not left or not lines:
            break
        head = edited(lines, pick)
        for _ in range(pick.randrange(2)):
            head = edited(head, pick)
        if futures(head) != futures(lines):
            continue
        try:
            after = by_name(compiled("".join(head)), {})
        except (SyntaxError, ValueError, RecursionError):
            continue
        left -= 1
        changed = [n for n in before if n in after and before[n] != after[n]]
        print(json.dumps({"file": path, "head": "".join(head), "changed": changed}))
