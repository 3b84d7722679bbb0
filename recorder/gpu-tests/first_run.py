"""What a first run on AMD hardware must confirm. Each program is run plainly, which says what it launches, and under
`kernrec run`, which must not change it; then its recordings are compared with that. One line per question; exit status 1
if any answer is not the expected one. scripts/validate-rocm.sh is how it is started."""

import json
import os
import subprocess
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path

from common import HERE, OUT, demangled, recordings

BACKEND = os.environ.get("BACKEND", "rocm")
COMPILER = os.environ.get("COMPILER")
KNOWN = OUT / "known"
WORKLOADS = [sys.executable, HERE / "workloads.py"]
# Kernels that AMD's runtime launches on its own.
RUNTIMES_OWN = "__amd_rocclr_"
VERDICTS = []


def verdict(question, problems, detail=""):
    VERDICTS.append((question, problems))
    print(f"{question:62} {'as expected' if not problems else 'NOT AS EXPECTED'}  {detail}", flush=True)
    for problem in problems:
        print(f"{'':4}{problem[:1000]}", flush=True)


def run(command, folder):
    """Status as a shell has it, stdout and stderr."""
    result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=600)
    status = result.returncode if result.returncode >= 0 else 128 - result.returncode
    return status, result.stdout, result.stderr


def recorded(name, command):
    """What a command printed under the launcher, its sidecar and its recordings."""
    folder = OUT / "jobs" / name
    folder.mkdir(parents=True)
    words = ["kernrec", "run", "--step", name, "--job-id", name, "--backend", BACKEND, "--", *command]
    ran = run(words, folder)
    job = folder / ".kernrec" / name
    return ran, json.loads((job / "kernrec.json").read_text()), recordings(job)


def ended(recording):
    """The recording's state; on AMD by the reader's rule for a process that was killed before it used the GPU."""
    lines = recording.path.read_text().splitlines()
    metadata = len(lines) == 2 and lines[1].startswith("# sdk_version=")
    return "idle" if BACKEND == "rocm" and recording.state == "no footer" and metadata else recording.state


def expect(question, name, command, states, theirs=None, counts=False, status=0, plain=None, spell=set):
    """The processes that did something end in these states, `None`: in any. Together they launched `theirs`, a number for
    each name, spelt as `spell` spells recorded names."""
    ran, sidecar, left = recorded(name, command)
    problems = []
    if not sidecar["collection_available"] or sidecar["exit_status"] != status:
        problems.append(f"sidecar: status {sidecar['exit_status']}, {sidecar['collection_error']}")
    if sidecar.get("unrecorded_processes", 0):
        problems.append(f"{sidecar['unrecorded_processes']} processes were not recorded")
    if ran[0] != status or plain and ran[:2] != plain[:2]:
        problems.append(f"recorded it ended with {ran[0]}, printed {ran[1][-300:]!r} and said {ran[2][-500:]!r}")
    found = sorted(ended(one) for one in left if one.names or ended(one) not in ("clean", "idle"))
    if states is not None and found != sorted(states):
        problems.append(f"recordings {found}, expected {sorted(states)}")
    records = sum(one.footer.get("records", 0) for one in left)
    if theirs is not None:
        names = set().union(*(spell(one.names) for one in left))
        ours = {name for name in names if not name.startswith(RUNTIMES_OWN)}
        for what, some in (("missing", set(theirs) - ours), ("invented", ours - set(theirs))):
            if some:
                problems.append(f"{what}: {sorted(some)[:5]}")
        launches = sum(theirs.values())
        if counts and (records < launches or records > launches and ours == names):
            problems.append(f"{records} records, {launches} launches")
    verdict(question, problems, f"{len(left)} processes, {records} records")
    return left


def compiled():
    source = HERE / "known.cu"
    words = [COMPILER, "-x", "hip"] if BACKEND == "rocm" else [COMPILER]
    status, _, said = run([*words, "-O1", "-std=c++17", source, "-o", KNOWN], OUT)
    verdict("a small program compiles", [said[-1000:]] if status else [], COMPILER)
    return status == 0


def known(question, name, acts, states, status=0):
    """One run of the program that knows what it launches."""
    command = [KNOWN, *acts]
    plain = run(command, OUT)
    theirs = json.loads(plain[1] or "{}")
    problems = [f"plainly it ended with {plain[0]}: {plain[2][-500:]}"] if plain[0] != status else []
    if problems:
        return verdict(question, problems)
    ends = status == 0 and states is not None
    return expect(question, name, command, states, theirs, ends, status, plain)


def small_program():
    left = known("its kernels by name and number", "eager", ["eager=999"], ["clean"])
    if BACKEND == "rocm":
        lines = [line for one in left or [] for line in one.path.read_text().splitlines() if line.startswith("# sdk_version=")]
        is_it = bool(lines) and all("=10302 " in line for line in lines)
        verdict("the SDK says that it is 1.3.2", [] if is_it else [str(lines)], " ".join(lines[:1]))
    known("every node of every graph replay", "graph", ["graph=10,1000"], ["clean"])
    known("16 threads at once", "threads", ["threads=16,2000"], ["clean"])
    known("forked children that do nothing spoil nothing", "fork", ["eager=30", "fork=3", "eager=30"], ["clean"])
    left = known("forked children that use the GPU: their names are there", "fork-gpu", ["fork-gpu=2"], None)
    complete = sum(one.footer["records"] for one in left or [] if one.state == "clean")
    hidden = complete < 60 and all(one.state in ("clean", "idle") for one in left or [])
    verdict("... and what is missing of them is marked", ["60 launches, and nothing is marked"] if hidden else [])
    known("processes that it starts", "spawn", ["eager=30", "spawn=3"], ["clean"] * 4)
    known("killed by SIGKILL: names are kept, without an end", "killed", ["eager=300", "kill"], ["no footer"], 137)
    quiet = known("killed before it used the GPU", "idle", ["start", "kill"], [] if BACKEND == "rocm" else None, 137)
    if BACKEND == "rocm":
        states = [ended(one) for one in quiet or []]
        verdict("... is idle", [] if states == ["idle"] else [str(states)])


def facts(name):
    """torch.profiler's view of a program that is run without us."""
    path = OUT / f"facts-{name}.json"
    subprocess.run([*WORKLOADS, name, path], check=True, capture_output=True, timeout=600)
    return json.loads(path.read_text())


def workload(question, name, states, theirs=None, counts=False, status=0):
    return expect(question, f"torch-{name}", [*WORKLOADS, name], states, theirs, counts, status, spell=demangled)


def pytorch():
    tiny = facts("tiny")
    workload("PyTorch: eager kernels as its profiler has them", "tiny", ["clean"], tiny, counts=True)
    workload("a training loop, libraries' kernels included", "train", ["clean"], facts("train"), counts=True)
    workload("every node of a captured graph's replays", "graphs", ["clean"], facts("graphs"), counts=True)
    if find_spec("triton"):
        workload("Triton's kernels", "triton_kernel", ["clean"], facts("triton_kernel"))
    else:
        not_asked("Triton's kernels: no Triton")
    workload("16 Python threads at once", "many_threads", ["clean"], facts("many_threads"), counts=True)
    workload("child processes", "children", ["clean"] * 4, tiny)
    workload("a pool of spawned workers", "spawn_pool", ["clean"] * 4, tiny)
    workload("forked data loaders spoil nothing", "data_loader", ["clean"])
    workload("a killed process keeps its names, without an end", "killed", ["no footer"], tiny, status=137)
    workload("a killed worker beside a program that goes on", "killed_worker", ["clean", "no footer"], tiny)
    workload("a process that launches nothing spoils nothing", "idle", [])
    workload("one that only imports PyTorch, killed, spoils nothing", "import_killed", [], status=137)
    _, _, left = recorded("torch-profiler", [*WORKLOADS, "profiler"])
    marked = [one.state for one in left if one.state.startswith("error:")]
    problems = [] if BACKEND == "rocm" or marked else ["not marked"]
    seen = ", ".join(marked or [one.state for one in left])
    verdict("another profiler in the process: marked, or both complete", problems, seen[:80])


def not_asked(what):
    print(f"not asked: {what}", flush=True)


def main():
    if not COMPILER:
        not_asked("a small program: no compiler")
    elif compiled():
        small_program()
    if os.environ.get("TORCH"):
        pytorch()
    else:
        not_asked("programs of PyTorch: none that sees the GPU")


try:
    main()
except Exception:
    verdict("the script itself", [traceback.format_exc()])
wrong = sum(bool(problems) for _, problems in VERDICTS)
print(f"{len(VERDICTS)} questions, {wrong} not as expected")
sys.exit(1 if wrong else 0)
