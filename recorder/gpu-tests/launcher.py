"""Runs steps under `kernrec run`, `env` and `finish`, and compares their recordings with the facts: torch.profiler's
view of the same program, or what a program of ours is known to launch. One line per step; then all bundles
are folded, and the table is compared again. Exit status 1 if anything is wrong."""

import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from common import BUILD, HERE, OUT, demangled, recordings

STEPS = Path(os.environ["STEPS"])
COMMIT = "5a0f3c1d9b7e42685a0f3c1d9b7e42685a0f3c1d"
PYTHON = sys.executable
LAUNCH = str(BUILD / "launch")
# What launch.cu launches: to start, with one turn of `eager 1000`, with one of `graph 1000`.
STARTED = {"empty_kernel()": 600, "other_kernel()": 500}
EAGER = {"empty_kernel()": 1100, "other_kernel()": 1000}
GRAPH = {"empty_kernel()": 100_600, "other_kernel()": 500}

failed = []
expected_rows = {}


def workload(name):
    return [PYTHON, str(HERE / "workloads.py"), name]


def shell(command, folder, input=""):
    """What a command does in a folder: (status as a shell has it, stdout, stderr)."""
    result = subprocess.run(command, cwd=folder, input=input, capture_output=True, text=True, timeout=300)
    status = result.returncode if result.returncode >= 0 else 128 - result.returncode
    return status, result.stdout, result.stderr


def facts(name):
    path = STEPS.parent / f"facts-{name}.json"
    subprocess.run([*workload(name), str(path)], check=True, capture_output=True, timeout=300)
    return json.loads(path.read_text())


def report(name, problems, detail):
    failed.extend(problems)
    print(f"{name:20} {'ok' if not problems else 'WRONG'}  {detail}")
    for problem in problems:
        print(f"{'':22}{problem[:1500]}")


def differences(ours, theirs, exact):
    problems = [f"missing: {sorted(theirs - ours)}"] if theirs - ours else []
    return problems + ([f"invented: {sorted(ours - theirs)}"] if exact and ours - theirs else [])


def left_by(folder, job, status, states, facts, exact, counts, unrecorded=0):
    """What is wrong with the job folder, its sidecar and its bundle."""
    problems = []
    bundles = list(folder.glob(".kernrec/*.tar.zst"))
    if len(bundles) != 1:
        problems.append(f"{len(bundles)} bundles")
    sidecar = json.loads((folder / ".kernrec" / job / "kernrec.json").read_text())
    says = {key: sidecar[key] for key in ("backend", "exit_status", "collection_available", "collection_error")}
    if says != {"backend": "cuda", "exit_status": status, "collection_available": True, "collection_error": None}:
        problems.append(f"sidecar: {says}")
    if (sidecar.get("unrecorded_processes", 0) > 0) != (unrecorded > 0):
        problems.append(f"unrecorded_processes {sidecar.get('unrecorded_processes')}")
    left = recordings(folder / ".kernrec" / job)
    found = sorted(recording.state for recording in left)
    if found != sorted(states):
        problems.append(f"recordings {found}, expected {sorted(states)}")
    for recording in left:
        if recording.header.get("forwarders") != "yes":
            problems.append(f"{recording.path.name}: forwarders={recording.header.get('forwarders')}")
        problems += differences(demangled(recording.names), set(facts), exact)
        total = sum(facts.values())
        if counts and recording.footer and recording.footer["records"] != total:
            problems.append(f"{recording.footer['records']} records, {total} launches")
    return problems, left


def step(name, command, facts, status=0, states=("clean",), exact=True, counts=True, input="", script=None,
         reasons=(), unrecorded=0, silent=False):
    """One step; `script` replaces `kernrec run` by shell text in which "$@" is the command."""
    folder = STEPS / name
    folder.mkdir()
    plain = shell(command, tempfile.mkdtemp(), input)
    flags = ["--step", name, "--job-id", name, "--commit", COMMIT]
    words = ["kernrec", "run", *flags, "--", *command]
    if script:
        words = [script[0], "-c", script[1].replace("FLAGS", " ".join(flags)), script[0], *command]
    recorded = shell(words, folder, input)
    problems = []
    if recorded[0] != status:
        problems.append(f"status {recorded[0]}, expected {status}: {recorded[2]}")
    if silent and recorded[:2] != plain[:2]:
        problems.append(f"plain {plain}\nrecorded {recorded}")
    if "kernrec" in recorded[2]:
        problems.append(recorded[2])
    more, left = left_by(folder, name, status, states, facts, exact, counts, unrecorded)
    expected_rows[name] = (set(facts), exact, list(reasons))
    names = len({n for recording in left for n in recording.names})
    report(name, problems + more, f"status {recorded[0]}, {len(left)} recordings, {names} names")


def quick_start():
    """The commands of the README, as they stand there."""
    folder = STEPS / "quick-start"
    folder.mkdir()
    readme = (HERE.parent.parent / "README.md").read_text()
    block = readme.split("<!-- gpu-quick-start -->\n```sh\n")[1].split("```")[0]
    prepare = "git init -q . && git -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m x\n"
    status, out, err = shell(["bash", "-ec", prepare + block], folder)
    print("\n".join("    " + line for line in out.splitlines()))
    problems = [f"status {status}: {err}"] if status else []
    more, left = left_by(folder, "local", 0, ["clean"], {}, False, False)
    if not left or not left[0].names:
        more.append("no kernel was recorded")
    if not re.search(r"^  usable +1$", out, re.MULTILINE):
        more.append("the row is not usable")
    report("quick-start", problems + more, f"{len(left[0].names) if left else 0} names")


def versions():
    """Those in the sidecar are those the packages say of themselves."""
    sidecar = json.loads((STEPS / "torch-tiny/.kernrec/torch-tiny/kernrec.json").read_text())
    expected = {name: metadata.version(name) for name in ("torch", "triton") if find_spec(name)}
    found = sidecar["provenance"]["versions"]
    report("versions", [] if found == expected else [f"{found}, expected {expected}"], str(found))


def table():
    """Every bundle folded; each step's kernels as one set."""
    bundles = [str(path) for name in expected_rows for path in (STEPS / name).glob(".kernrec/*.tar.zst")]
    out = OUT / "kernel_table.json"
    words = ["kernrec", "fold", "--backend", "cuda", "--commit", COMMIT, "--build", "1"]
    words += ["--recorded-at", "2026-11-30T00:00:00Z", "--out", str(out)]
    status, _, err = shell([*words, *(word for path in bundles for word in ("--bundle", path))], STEPS)
    if status:
        return report("fold", [err], "")
    document = json.loads(out.read_text())
    problems = [] if set(document["rows"]) == set(expected_rows) else [f"rows {sorted(document['rows'])}"]
    for name, row in document["rows"].items():
        theirs, exact, reasons = expected_rows[name]
        ours = demangled([document["names"][index] for index in row["kernels"]])
        problems += [f"{name}: {problem}" for problem in differences(ours, theirs, exact)]
        if sorted(row.get("reasons", [])) != sorted(reasons):
            problems.append(f"{name}: {row.get('reasons')}, expected {reasons}")
    report("fold", problems, f"{len(document['rows'])} rows, {len(document['names'])} names")


ENV = 'set -e; eval "$(kernrec env FLAGS)"; "$@"; kernrec finish --status $?'
# The driver may be found through LD_LIBRARY_PATH only. The program waits for its input's end.
OWN = f'sleep 3 | env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" {LAUNCH} start'
TRAP = 'set -e; eval "$(kernrec env FLAGS --trap)"; "$@"; echo not here'


def steps(tiny):
    python = " ".join(f"'{word}'" for word in workload("tiny"))
    yield lambda: step("eager-cuda", [LAUNCH, "eager", "1000"], EAGER, input="\n")
    yield lambda: step("graph-cuda", [LAUNCH, "graph", "1000"], GRAPH, input="\n")
    yield lambda: step("torch-train", workload("train"), facts("train"), silent=True)
    yield lambda: step("torch-tiny", workload("tiny"), tiny, silent=True)
    yield lambda: step("spawn-pool", workload("spawn_pool"), tiny, states=["clean"] * 4, exact=False, counts=False)
    yield lambda: step("fork-worker", workload("fork_worker"), tiny, states=["clean"] * 2)
    yield lambda: step("killed", workload("killed"), tiny, status=137, states=["no footer"],
                       reasons=["not-passed", "no-footer"], silent=True)
    yield lambda: step("killed-worker", workload("killed_worker"), tiny, states=["clean", "no footer"],
                       reasons=["no-footer"], silent=True)
    yield lambda: step("four-at-once", ["sh", "-c", f"for n in 1 2 3 4; do {python} & done; wait"], tiny,
                       states=["clean"] * 4)
    yield lambda: step("status-7", ["sh", "-c", f"{python}; exit 7"], tiny, status=7, reasons=["not-passed"])
    yield lambda: step("no-gpu", ["sh", "-c", "echo hello; echo there >&2"], {}, states=[], silent=True,
                       reasons=["no-recording"])
    yield lambda: step("own-environment", ["sh", "-c", f"{OWN}; {LAUNCH} start"], STARTED,
                       reasons=["unrecorded-processes"], unrecorded=1)
    words = ("another-client-took-callbacks", "another-client-disabled-kernels")
    yield lambda: step("profiler", workload("profiler"), {}, exact=False, counts=False, silent=True,
                       states=["error:" + ",".join(words)], reasons=["error"])
    for name in ("bash", "sh"):
        yield lambda name=name: step(f"env-{name}", workload("tiny"), tiny, script=(name, ENV))
        yield lambda name=name: step(f"env-trap-{name}", ["sh", "-c", f"{python}; exit 7"], tiny, status=7,
                                     script=(name, TRAP), reasons=["not-passed"])
    if find_spec("jax"):
        yield lambda: step("jax", [PYTHON, "-c", JAX], {}, exact=False, counts=False)


JAX = """
import os
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax, jax.numpy as jnp
jax.jit(lambda a: (a @ a).sum())(jnp.ones((256, 256))).block_until_ready()
"""


def main():
    for line in (shell(["kernrec", "--version"], STEPS)[1], shell(["nvidia-smi", "-L"], STEPS)[1]):
        print(line.strip())

    def attempt(job):
        try:
            job()
        except Exception:  # A step that cannot run is a failure to report, not to stop at.
            report("?", [traceback.format_exc()], "")

    tiny = facts("tiny")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(attempt, steps(tiny)))
    attempt(quick_start)
    attempt(versions)
    attempt(table)
    print(f"{len(failed)} problems")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
