"""Notes of pytest's sessions: what was collected, and what came of it.

`pytest.installed` says that the plugin was there, so that a job without notes ran no session; `pytest.<pid>.jsonl`
has one line when a session has collected its tests and one when it ends. Under pytest-xdist the controller alone
writes: every test's report reaches it.

PYTEST_DONT_REWRITE
"""

import json
import os

import pytest

import _kernrec_python

__all__ = [
    "pytest_collection_finish",
    "pytest_configure",
    "pytest_deselected",
    "pytest_runtest_logreport",
    "pytest_sessionfinish",
    "pytest_unconfigure",
    "pytest_xdist_node_collection_finished",
]

_folder = os.path.abspath(os.environ["KERNREC_PYTHON_DIR"])


class _Session:
    """The outermost session of this process; sessions that tests start inside it are part of a test."""

    def __init__(self, config):
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.deselected = 0
        self.selected = None
        self.counts = dict.fromkeys(("passed", "failed", "errors", "skipped", "xfailed", "xpassed"), 0)

    def collected(self, selected):
        if self.selected is None:
            self.selected = selected
            self.write(event="collected", selected=selected, deselected=self.deselected)

    def write(self, **line):
        if not self.is_worker:
            _append(f"pytest.{os.getpid()}.jsonl", json.dumps(line) + "\n")


_session = None
# Sessions that a test of the outermost one runs in this process.
_inner = 0


def _append(name, text):
    """A note that cannot be written is missing, which no reader takes for a session that ran."""
    try:
        os.makedirs(_folder, exist_ok=True)
        path = os.path.join(_folder, name)
        is_new = not os.path.exists(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path, flags, 0o666)
        try:
            if is_new:
                os.fchmod(file, 0o666)
            os.write(file, text.encode())
        finally:
            os.close(file)
    except OSError:
        pass


# The tests are imported by pytest's own loader, which no finder comes before.
_kernrec_python.watch_tests()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    global _session, _inner
    if _session is None:
        _session = _Session(config)
        _append("pytest.installed", "")
    else:
        _inner += 1


def pytest_deselected(items):
    # The configuration of whoever deselects.
    if _session is not None and items and items[0].config is _session.config:
        _session.deselected += len(items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    if _session is not None and session.config is _session.config and not _is_controller(session.config):
        _session.collected(len(session.items))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids):
    if _session is not None and node.config is _session.config:
        _session.collected(len(ids))


def pytest_runtest_logreport(report):
    if _session is None or _inner or hasattr(report, "context"):
        # The report of a subtest: its test has one of its own.
        return
    word = _outcome(report)
    if word is not None:
        _session.counts[word] += 1


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    yield
    if _session is not None and session.config is _session.config:
        _session.write(
            event="session",
            **_session.counts,
            selected=_session.selected or 0,
            deselected=_session.deselected,
            testsfailed=session.testsfailed,
            exitstatus=int(session.exitstatus),
        )


def pytest_unconfigure(config):
    global _session, _inner
    if _session is None:
        return
    if config is _session.config:
        _session = None
        _inner = 0
    else:
        _inner -= 1


def _is_controller(config):
    """Tests are run by pytest-xdist's workers, so the controller collects none."""
    return config.pluginmanager.hasplugin("dsession")


def _outcome(report):
    expected_failure = hasattr(report, "wasxfail")
    if report.when != "call":
        if report.failed:
            return "errors"
        if report.skipped and report.when == "setup":
            return "xfailed" if expected_failure else "skipped"
        return None
    if report.passed:
        return "xpassed" if expected_failure else "passed"
    if report.skipped:
        return "xfailed" if expected_failure else "skipped"
    return "failed" if report.failed else None
