"""What a first run on AMD hardware must confirm: each workload is run under `kernrec run` and its recordings are compared
with torch.profiler's view of the same program, run without us. One line per question; exit status 1 if any answer is
not the expected one. BACKEND=cuda asks the same of an NVIDIA machine, to try the script itself."""

import json
import os
import subprocess
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path

from common import HERE, OUT, demangled, recordings

BACKEND = os.environ.get("BACKEND", "rocm")
PYTHON = sys.executable
VERDICTS = []


def verdict(question, problems, detail):
    VERDICTS.append((question, problems))
    print(f"{question:58} {'as expected' if not problems else 'NOT AS EXPECTED'}  {detail}", flush=True)
    for problem in problems:
        print(f"{'':4}{problem[:1000]}")


def facts(name):
    path = OUT / f"facts-{name}.json"
    subprocess.run([PYTHON, HERE / "workloads.py", name, path], check=True, capture_output=True, timeout=600)
    return json.loads(path.read_text())


def recorded(name):
    """Exit status, recordings and sidecar of a workload under the launcher."""
    folder = OUT / "jobs" / name
    folder.mkdir(parents=True)
    command = ["kernrec", "run", "--step", name, "--job-id", name, "--backend", BACKEND, "--", PYTHON, HERE / "workloads.py", name]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    job = folder / ".kernrec" / name
    sidecar = json.loads((job / "kernrec.json").read_text())
    status = result.returncode if result.returncode >= 0 else 128 - result.returncode
    return status, recordings(job), sidecar, result.stderr


def idle(recording):
    """The reader's rule: no name, no error, no footer, the SDK line and no sign of GPU work."""
    text = recording.path.read_text()
    return "# sdk_version=" in text and "# gpu_active" not in text and not recording.names and not recording.footer


def ended(recording):
    return "idle" if recording.state == "no footer" and BACKEND == "rocm" and idle(recording) else recording.state


def expect(question, name, states, theirs=None, counts=False, status=0):
    """The processes that did something end in these states; together they launched what the profiler saw."""
    got, left, sidecar, stderr = recorded(name)
    problems = []
    if not sidecar["collection_available"]:
        problems.append(f"not recorded: {sidecar['collection_error']}")
    if got != status:
        problems.append(f"status {got}: {stderr[-800:]}")
    busy = [recording for recording in left if recording.names or ended(recording) not in ("clean", "idle")]
    found = sorted(ended(recording) for recording in busy)
    if states is not None and found != sorted(states):
        problems.append(f"recordings {found}, expected {sorted(states)}")
    if theirs is not None:
        ours = set().union(*(demangled(recording.names) for recording in left)) if left else set()
        if set(theirs) - ours:
            problems.append(f"missing: {sorted(set(theirs) - ours)[:5]}")
        if ours - set(theirs):
            problems.append(f"invented: {sorted(ours - set(theirs))[:5]}")
    records = sum(recording.footer.get("records", 0) for recording in left)
    if counts and records != sum(theirs.values()):
        problems.append(f"{records} records, {sum(theirs.values())} launches")
    verdict(question, problems, f"{len(left)} processes, {records} records")
    return left


def headers(left):
    lines = [line for recording in left for line in recording.path.read_text().splitlines() if line.startswith("# sdk_version=")]
    problems = [] if lines and all("=10302 " in line for line in lines) else [f"{lines or 'no line'}"]
    verdict("the SDK says that it is 1.3.2", problems, lines[0] if lines else "")


def main():
    tiny = facts("tiny")
    left = expect("eager kernels have the profiler's names and counts", "tiny", ["clean"], tiny, counts=True)
    if BACKEND == "rocm":
        headers(left)
    train = facts("train")
    expect("a training loop, libraries' kernels included", "train", ["clean"], train, counts=True)
    expect("every node of every graph replay", "graphs", ["clean"], facts("graphs"), counts=True)
    if find_spec("triton"):
        expect("Triton's kernels", "triton_kernel", ["clean"], facts("triton_kernel"))
    expect("32 threads at once", "many_threads", ["clean"], facts("many_threads"), counts=True)
    expect("child processes", "children", ["clean"] * 4, tiny)
    expect("a pool of spawned workers", "spawn_pool", ["clean"] * 4, tiny)
    expect("forked data loaders spoil nothing", "data_loader", ["clean"])
    expect("a killed process keeps its names, without a footer", "killed", ["no footer"], tiny, status=137)
    expect("a killed worker beside a program that goes on", "killed_worker", ["clean", "no footer"], tiny)
    expect("a process that launches nothing spoils nothing", "idle", [])
    left = recorded("profiler")[1]
    marked = [recording.state for recording in left if recording.state.startswith("error:")]
    problems = [] if BACKEND == "rocm" or marked else ["not marked"]
    seen = marked or [recording.state for recording in left]
    verdict("another profiler in the process: marked, or both complete", problems, ", ".join(seen)[:80])


try:
    main()
except Exception:
    verdict("the script itself", [traceback.format_exc()], "")
wrong = sum(bool(problems) for _, problems in VERDICTS)
print(f"{len(VERDICTS)} questions, {wrong} not as expected")
sys.exit(1 if wrong else 0)
