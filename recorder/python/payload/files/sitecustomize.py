"""Arms the Python recorder from a folder on PYTHONPATH, then gives way to the `sitecustomize` it stands before."""

import os
import sys


def _give_way():
    here = os.path.dirname(os.path.abspath(__file__))
    others = [folder for folder in sys.path if os.path.abspath(folder) != here]
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
