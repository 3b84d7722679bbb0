"""Arms an interpreter: waits for the first import of a watched package, and then loads what records.

Nothing here may be felt by the program: no output, no exception, no descriptor, no wait. It runs before the program
does and in every process of an armed job, so it is small, and imports nothing but what the interpreter has loaded by
then.

PYTEST_DONT_REWRITE: there are no assertions, and it is loaded before pytest.
"""

import os
import sys

_DEFAULT_ROOTS = "vllm,aiter"


class _Finder:
    """Finds nothing, ever: it only learns which modules are asked for."""

    def __init__(self, folder):
        self.folder = folder
        roots = os.environ.get("KERNREC_PYTHON_ROOTS") or _DEFAULT_ROOTS
        self.roots = [name for name in (name.strip() for name in roots.split(",")) if name]
        self.checkout = os.environ.get("KERNREC_PYTHON_CHECKOUT") or None
        self.begun = False
        self.settled = False
        self.watch = None

    def find_spec(self, name, path=None, target=None):
        if self.settled:
            return None
        try:
            top = name.partition(".")[0]
            if top in self.roots:
                self.begin(name)
            elif top == "tests" and self.checkout:
                self.begin()
            elif not self.begun and sys.meta_path[0] is not self:
                # Another finder came before: it would find a watched package unseen.
                sys.meta_path.remove(self)
                sys.meta_path.insert(0, self)
        except Exception:
            pass
        return None

    def begin(self, package=None):
        """Starts watching. Without a package, whose import is under way, nothing is written yet, and what goes
        wrong is tried again when there is one."""
        if self.begun:
            self.settled = self.settled or package is not None
            return
        self.begun = True
        from _kernrec_python._watch import Watch

        if self.watch is None:
            self.watch = Watch(self)
        trouble = self.watch.start()
        self.begun = trouble is None
        self.settled = package is not None and (trouble is None or self.is_there(package))
        if trouble is not None and self.settled:
            self.watch.report(trouble)

    def is_there(self, package):
        """Whether a package that is asked for can be found at all. Only asked where it would be recorded that
        it could not be watched: a program may look for what is not installed."""
        if "." in package or package in sys.modules:
            return True
        others = [finder for finder in sys.meta_path if finder is not self]
        return any(finder.find_spec(package, None) is not None for finder in others)

    def finish(self):
        """The interpreter ends by itself."""
        try:
            if not self.begun:
                loaded = [name for name in self.roots if name in sys.modules]
                if loaded and not self.settled:
                    # Found by a finder that let nobody else see.
                    self.begin(loaded[0])
            if self.watch is not None:
                self.watch.finish()
        except Exception:
            pass


_finder = None


def install():
    """Called while an armed interpreter starts. Does nothing below Python 3.12, which cannot be recorded."""
    global _finder
    folder = os.environ.get("KERNREC_PYTHON_DIR")
    if _finder is not None or not folder or not is_supported():
        return
    try:
        import atexit

        finder = _Finder(os.path.abspath(folder))
        atexit.register(finder.finish)
        sys.meta_path.insert(0, finder)
        _finder = finder
        loaded = [name for name in finder.roots if name in sys.modules]
        if loaded:
            finder.begin(loaded[0])
        elif finder.checkout and _is_test_script(finder.checkout):
            finder.begin()
    except Exception:
        # A program never fails for its recorder.
        pass


def watch_tests():
    """The tests of the checkout may be about to be imported, by means that no finder sees."""
    if _finder is not None:
        try:
            _finder.begin()
        except Exception:
            pass


def is_supported():
    """Whether this interpreter can be recorded."""
    return sys.version_info >= (3, 12) and sys.implementation.name == "cpython"


def _is_test_script(checkout):
    script = (getattr(sys, "argv", None) or [""])[0]
    tests = os.path.join(os.path.realpath(checkout), "tests", "")
    return os.path.isabs(os.path.realpath(script)) and os.path.realpath(script).startswith(tests)
