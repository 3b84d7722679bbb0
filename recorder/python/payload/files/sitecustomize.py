"""Arms the Python recorder from a folder on PYTHONPATH, then gives way to the `sitecustomize` it stands before."""

import os
import sys


def _give_way():
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.abspath(folder) for folder in sys.path]
    # Only what comes after: another one of these before it has given way already.
    others = sys.path[folders.index(here) + 1 :] if here in folders else list(sys.path)
    others = [folder for folder in others if os.path.abspath(folder) != here]
    try:
        from importlib.machinery import PathFinder
        from importlib.util import module_from_spec
    except ImportError:
        # Python 2, which a job may still start beside what is recorded.
        import imp

        try:
            found = imp.find_module("sitecustomize", others)
        except ImportError:
            return
        imp.load_module("sitecustomize", *found)
        return
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("KERNREC_PYTHON_DIR"):
    try:
        import _kernrec_python

        _kernrec_python.install()
    except Exception:
        # Without the recorder there is no recording; the program must not notice.
        pass
_give_way()
