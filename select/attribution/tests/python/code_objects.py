"""Prints the code objects of every file given, one JSON line a file: name, first line, last line."""
import json
import sys
import warnings

warnings.simplefilter("ignore")


def lines(code):
    found = [line for _, _, line in code.co_lines() if line]
    return min(found + [code.co_firstlineno]), max(found + [code.co_firstlineno])


def walk(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_qualname"):
            yield from walk(constant)


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        source = file.read()
    try:
        module = compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        continue
    objects = [
        [code.co_qualname, code.co_firstlineno, *lines(code)] for code in walk(module)
    ]
    print(json.dumps({"file": path, "objects": objects}))
