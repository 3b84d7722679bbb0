"""Watches: hands every code object that is entered to the extension module, which decides and writes.

Loaded with the first import of a watched package. As little as the rest may it be felt by the program.

PYTEST_DONT_REWRITE
"""

import os
import sys

_NAME = "kernrec"
# `sys.monitoring` has six tools. Debuggers, coverage, profilers and optimizers have an id each by convention, and
# must find it free whenever they start.
_TOOL_IDS = (4, 3)
# After every finalizer of the program's own.
_LAST = -1_000_000


class Watch:
    """The watching of this process."""

    def __init__(self, armed):
        self.folder = armed.folder
        self.roots = armed.roots
        self.checkout = armed.checkout
        self.native = None
        self.tool = None
        self.awaited = False

    def start(self):
        """Starts monitoring; the word for what is in the way, if anything is."""
        try:
            return self.monitor()
        except Exception:
            return "start_failed"

    def monitor(self):
        trouble = _unsupported()
        if trouble is not None:
            return trouble
        if self.native is None:
            try:
                from _kernrec_python import _recorder
            except Exception:
                return "extension_not_loadable"
            self.native = _recorder
        monitoring = sys.monitoring
        tool = _take_tool_id(monitoring)
        if tool is None:
            return "no_tool_id"
        self.tool = tool
        self.native.begin(self.setup())
        event = monitoring.events.PY_START
        monitoring.register_callback(tool, event, self.native.entered)
        monitoring.set_events(tool, event)
        os.register_at_fork(after_in_child=self.in_child)
        self.await_end()
        self.native.started(_running(), _loaded())
        return None

    def setup(self):
        return {
            "folder": self.folder,
            "host": _text(os.uname().nodename),
            "roots": [_text(name) for name in self.roots],
            "checkout": self.checkout and _text(os.path.abspath(self.checkout)),
            "standard_library": _text(os.path.dirname(getattr(os, "__file__", None) or "")),
            "own_folder": _text(os.path.dirname(os.path.abspath(__file__)) + os.sep),
            "tool": "" if self.tool is None else str(self.tool),
            "version": _version(),
            "executable": _text(sys.executable or ""),
            "arguments": [_text(word) for word in getattr(sys, "argv", ()) or () if isinstance(word, str)],
            "variables": [
                (name, _text(os.environ[name])) for name in self.native.allowed() if name in os.environ
            ],
            "standard_names": sorted(sys.stdlib_module_names),
        }

    def report(self, trouble):
        """Leaves a recording that says that it is none."""
        if trouble == "no_tool_id" and self.native is not None:
            self.native.begin(self.setup())
            self.native.no_tool_id()
        else:
            _refuse(self.folder, self.roots, trouble)

    def in_child(self):
        try:
            self.native.forked()
            self.await_end()
        except Exception:
            pass

    def await_end(self):
        """A child of `multiprocessing` ends without the interpreter's exit functions, but runs finalizers. Those
        it inherits are dropped when it starts, so its own is made after that."""
        util = sys.modules.get("multiprocessing.util")
        process = sys.modules.get("multiprocessing.process")
        if util is None or process is None:
            return
        if not self.awaited:
            self.awaited = True
            util.register_after_fork(self, Watch.add_finalizer)
        if process.parent_process() is not None:
            self.add_finalizer()

    def add_finalizer(self):
        sys.modules["multiprocessing.util"].Finalize(None, self.finish, exitpriority=_LAST)

    def finish(self):
        """The interpreter, or a child of `multiprocessing`, ends by itself."""
        try:
            if self.native is None or self.tool is None:
                return
            monitoring = sys.monitoring
            event = monitoring.events.PY_START
            previous = None
            if monitoring.get_tool(self.tool) == _NAME:
                previous = monitoring.register_callback(self.tool, event, self.native.entered)
            if previous is not self.native.entered or not monitoring.get_events(self.tool) & event:
                self.native.tool_taken()
            self.native.finish(_loaded())
        except Exception:
            pass


def _unsupported():
    if "t" in getattr(sys, "abiflags", ""):
        return "free_threaded"
    if not _is_main_interpreter():
        return "subinterpreter"
    if _maps_extension():
        return "second_interpreter"
    return None


def _is_main_interpreter():
    """Monitoring, and the extension module, belong to one interpreter."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            current = __import__(name).get_current()
        except Exception:
            continue
        return int(current[0] if isinstance(current, tuple) else current) == 0
    return True


def _maps_extension():
    """The extension module keeps references into the interpreter that loaded it: a second one, after the first
    was finalized, must not use it."""
    if "_kernrec_python._recorder" in sys.modules:
        return False
    try:
        with open("/proc/self/maps", "rb") as maps:
            return b"/_kernrec_python/_recorder.abi3.so" in maps.read()
    except OSError:
        return False


def _take_tool_id(monitoring):
    for tool in _TOOL_IDS:
        try:
            monitoring.use_tool_id(tool, _NAME)
        except ValueError:
            continue
        return tool
    return None


def _running():
    """The functions that run already and will not be reported as entered."""
    running = []
    for frame in sys._current_frames().values():
        while frame is not None:
            code = frame.f_code
            names = frame.f_globals
            running.append(
                (
                    _text(code.co_filename),
                    _text(code.co_qualname),
                    code.co_firstlineno,
                    _text_or_none(names.get("__name__")),
                    _text_or_none(names.get("__file__")),
                )
            )
            frame = frame.f_back
    return running


def _loaded():
    """The modules that are loaded: name, file, whether none of their functions can have been entered (a body that
    still runs, before the first definition), and whether the body was run at all."""
    untouched = set()
    for frame in sys._current_frames().values():
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<module>":
                starts = [c.co_firstlineno for c in code.co_consts if hasattr(c, "co_firstlineno")]
                if frame.f_lineno is not None and frame.f_lineno < min(starts, default=sys.maxsize):
                    untouched.add(code.co_filename)
            frame = frame.f_back
    loaded = []
    for module in list(sys.modules.values()):
        try:
            # An attribute of a lazy module would load it.
            names = object.__getattribute__(module, "__dict__")
            name, file = names.get("__name__"), names.get("__file__")
        except Exception:
            continue
        if type(file) is str:
            # A lazy module has a class of its own until its body is run.
            executed = type(module) is type(sys)
            loaded.append((_text_or_none(name) or "", _text(file), file in untouched, executed))
    return loaded


def _refuse(folder, roots, trouble):
    """Writes a recording without the extension module: a header, and why there is nothing else."""
    host = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in os.uname().nodename.partition(".")[0])
    host = host[:32] or "host"
    nonce = os.urandom(4).hex()
    pid = os.getpid()
    lines = (
        f"#start\tpid={pid}\tppid={os.getppid()}\thost={host}\tnonce={nonce}\torigin=import\troot="
        f"\troot_env={','.join(roots)}\ttool=\tpy={_version()}\n#error\t{trouble}\n"
    )
    try:
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"fn.{host}.{nonce}.{pid}.txt")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path, flags, 0o666)
        try:
            os.write(file, lines.encode("utf-8", "replace"))
        finally:
            os.close(file)
        os.chmod(path, 0o666)
    except OSError:
        pass


def _version():
    return ".".join(str(part) for part in sys.version_info[:3])


def _text(value):
    """Text without the halves of characters that stand for bytes that are none."""
    return value.encode("utf-8", "replace").decode("utf-8")


def _text_or_none(value):
    return _text(value) if type(value) is str else None
