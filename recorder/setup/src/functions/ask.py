"""Says what an interpreter is, and whether it can load the recorder. Runs under any Python, so that it can say that."""

import sys

# The current folder may hold modules of any name.
sys.path[:] = [folder for folder in sys.path if folder]

import json
import site
import sysconfig


def say(word, **what):
    sys.stdout.write("\n%s %s\n" % (word, json.dumps(what)))
    sys.stdout.flush()


def site_packages():
    """Where `pip` installs to, if files that arm interpreters are looked for there."""
    pure = sysconfig.get_path("purelib")
    looked_at = getattr(site, "getsitepackages", list)()
    return pure if pure in looked_at or not looked_at else looked_at[0]


def load(path):
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    loader = ExtensionFileLoader("_recorder", path)
    loader.exec_module(module_from_spec(spec_from_loader("_recorder", loader)))


say(
    "kernrec-python",
    version=list(sys.version_info[:3]),
    implementation=getattr(getattr(sys, "implementation", None), "name", "cpython"),
    free_threaded="t" in getattr(sys, "abiflags", ""),
    site_packages=site_packages(),
)
if len(sys.argv) > 1 and sys.version_info >= (3, 12):
    try:
        load(sys.argv[1])
        say("kernrec-loaded", problem=None)
    except Exception as problem:
        say("kernrec-loaded", problem=str(problem))
