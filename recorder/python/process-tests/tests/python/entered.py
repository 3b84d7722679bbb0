"""Which functions a coverage.py report has executed lines of: a JSON list of `file qualified-name`.

A function's own lines are those of its code but of no function inside it, and below its `def`: that line is executed
when the function is made. A function without any such line cannot be told, and is left out.
"""

import json
import sys
from types import CodeType


def own_lines(code):
    return {line for _, _, line in code.co_lines() if line is not None}


def functions(code):
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from functions(constant)


def entered(path, executed):
    with open(path, encoding="utf-8") as file:
        module = compile(file.read(), path, "exec", dont_inherit=True)
    codes = [module, *functions(module)]
    for code in codes[1:]:
        lines = own_lines(code)
        for other in codes:
            if other is not code:
                # The enclosing code's lines are those of decorators and defaults, an inner one's its own.
                lines -= own_lines(other)
        if lines & executed:
            yield f"{path} {code.co_qualname}"


report = json.load(open(sys.argv[1], encoding="utf-8"))
found = set()
for path, file in report["files"].items():
    found.update(entered(path, set(file["executed_lines"])))
json.dump(sorted(found), sys.stdout)
