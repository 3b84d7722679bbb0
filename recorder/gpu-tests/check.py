"""Runs every workload recorded, and compares each recording with what torch.profiler says of the same
program, or with the same program run plain. One line per workload; exit status 1 if any is wrong."""

import importlib.util
import json
import os
import shutil
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import BUILD, OUT, demangled, recorded_environment, recordings, run, workload

FAILED = []


def report(name, problems, detail):
    FAILED.extend(problems)
    print(f"{name:22} {'ok' if not problems else 'WRONG'}  {detail}")
    for problem in problems:
        print(f"{'':24}{problem[:600]}")


def recorded(name, forwarders=True, extra=()):
    folder = OUT / "recordings" / (name if forwarders else name + "-unwatched")
    shutil.rmtree(folder, ignore_errors=True)
    result = workload(name, {**recorded_environment(folder, forwarders), **dict(extra)})
    return result, recordings(folder)


def facts(name):
    path = OUT / f"facts-{name}.json"
    result = workload(name, {}, path)
    if result.returncode != 0:
        raise RuntimeError(result.stderr[-2000:])
    return json.loads(path.read_text())


def matches(recording, expected, exact=True):
    """What is missing, invented or miscounted."""
    problems = []
    ours, theirs = demangled(recording.names), set(expected)
    if theirs - ours:
        problems.append(f"missing: {sorted(theirs - ours)}")
    if exact and ours - theirs:
        problems.append(f"invented: {sorted(ours - theirs)}")
    total = sum(expected.values())
    if exact and recording.footer and recording.footer["records"] != total:
        problems.append(f"{recording.footer['records']} records, {total} launches")
    return problems


def check_against_profiler(name):
    expected = facts(name)
    result, left = recorded(name)
    problems = [] if result.returncode == 0 else [result.stderr[-1500:]]
    if not left:
        return report(name, [*problems, "no recording"], "")
    # Compilers start helpers; the program itself is the one with most records.
    main = max(left, key=lambda recording: recording.footer.get("records", 0))
    if not main.clean:
        problems.append(main.state)
    problems += matches(main, expected)
    report(name, problems, f"{main.footer.get('records')} records, {len(main.names)} names, {len(left)} processes")


def check_processes(name, processes, expected, state="clean", status=0, exact=True):
    """Every process ran `tiny` and nothing else."""
    result, left = recorded(name)
    problems = []
    if result.returncode != status:
        problems.append(f"status {result.returncode}: {result.stderr[-1500:]}")
    if len(left) != processes:
        problems.append(f"{len(left)} recordings, {processes} expected")
    for recording in left:
        if recording.state != state:
            problems.append(f"{recording.path.name}: {recording.state}")
        problems += matches(recording, expected, exact)
    report(name, problems, f"{len(left)} processes, each {state}")


def check_killed_worker(expected):
    """A worker is killed and the program goes on: the one recording has no end, the other is clean."""
    result, left = recorded("killed_worker")
    problems = [] if result.returncode == 0 else [f"status {result.returncode}: {result.stderr[-1500:]}"]
    states = sorted(recording.state for recording in left)
    if states != ["clean", "no footer"]:
        problems.append(f"recordings {states}")
    for recording in left:
        problems += matches(recording, expected)
    report("killed_worker", problems, f"{len(left)} processes: {', '.join(states)}")


def check_profiler(name, forwarders=True, word="another-client-took-callbacks", extra=()):
    """The other client sees what it sees without us, and the recording is marked."""
    plain = workload(name, extra)
    result, left = recorded(name, forwarders, extra)
    problems = []
    if result.returncode != plain.returncode or result.stdout != plain.stdout:
        problems.append(f"plain {plain.stdout} recorded {result.stdout} {result.stderr[-1500:]}")
    lines = [line for line in result.stderr.splitlines() if "unknown buffer" in line]
    problems += lines
    if not any(word in recording.errors for recording in left):
        problems.append(f"not marked: {[recording.state for recording in left]}")
    names = sum(len(recording.names) for recording in left)
    seen = plain.stdout.splitlines()[-1][:60] if plain.stdout else plain.stderr[-300:]
    label = name if forwarders else f"{name} (no preload)"
    report(label, problems, f"{left[0].state if left else 'none'}; {names} names kept; profiler: {seen}")


def check_proton():
    """Triton's profiler asks a CUPTI of its own for records; given the one PyTorch has mapped, it works.
    Two copies in one process collide: the second client is refused. The recording says so."""
    (torch_cupti,) = {
        line.split("=", 1)[1]
        for path in (OUT / "recordings" / "tiny").glob("kern.*.txt")
        for line in path.read_text().splitlines()
        if line.startswith("# cupti_path=")
    }
    folder = Path(tempfile.mkdtemp())
    (folder / "libcupti.so").symlink_to(torch_cupti)
    check_profiler("proton_profiler", word="outstanding-buffers", extra={"TRITON_CUPTI_LIB_PATH": str(folder)})
    result, left = recorded("proton_profiler")
    marked = any("several-cupti-copies" in recording.errors for recording in left)
    report("proton, own CUPTI", [] if marked else ["not marked"], f"known limit: status {result.returncode}, marked")


def check_concurrent(expected):
    folder = OUT / "recordings" / "concurrent"
    shutil.rmtree(folder, ignore_errors=True)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: workload("tiny", recorded_environment(folder)), range(4)))
    left = recordings(folder)
    problems = [result.stderr[-500:] for result in results if result.returncode != 0]
    if len(left) != 4:
        problems.append(f"{len(left)} recordings")
    for recording in left:
        problems += [] if recording.clean else [recording.state]
        problems += matches(recording, expected)
    report("4 at once", problems, f"{len(left)} processes, each clean")


def check_plain_cuda():
    """A program without any framework: CUPTI is found beside the toolkit."""
    folder = OUT / "recordings" / "plain-cuda"
    shutil.rmtree(folder, ignore_errors=True)
    run([BUILD / "launch", "graph", "1000"], recorded_environment(folder), input="\n")
    (recording,) = recordings(folder)
    problems = [] if recording.clean else [recording.state]
    # 1,000 launches to warm up, then 1,001 replays of 100 nodes.
    if recording.footer.get("records") != 101_100:
        problems.append(str(recording.footer))
    if recording.names != ["_Z12empty_kernelv", "_Z12other_kernelv"]:
        problems.append(str(recording.names))
    report("plain CUDA, graph", problems, f"{recording.footer.get('records')} records")


def check_other_cupti(path):
    """The same program with another release's CUPTI, which the driver supports too."""
    name = f"cupti-{path.parent.name}"
    folder = OUT / "recordings" / name
    shutil.rmtree(folder, ignore_errors=True)
    environment = {**recorded_environment(folder), "KERNREC_CUPTI_PATH": str(path)}
    run([BUILD / "launch", "graph", "1000"], environment, input="\n")
    (recording,) = recordings(folder)
    problems = [] if recording.clean else [recording.state]
    if recording.footer.get("records") != 101_100:
        problems.append(str(recording.footer))
    lines = recording.path.read_text().splitlines()
    if f"# cupti_path={path}" not in lines:
        problems.append("another CUPTI was used")
    version = [line[2:] for line in lines if line.startswith("# cupti_version=")]
    report(name, problems, f"{recording.footer.get('records')} records, {' '.join(version)}")


def main():
    tiny = facts("tiny")
    check_processes("tiny", 1, tiny)
    jobs = [lambda name=name: check_against_profiler(name) for name in
            ("train", "attention", "graphs", "triton_kernel", "compiled", "many_threads")]
    jobs += [
        lambda: check_processes("children", 4, tiny),
        lambda: check_processes("spawn_pool", 4, tiny, exact=False),
        lambda: check_processes("fork_worker", 2, tiny),
        lambda: check_processes("data_loader", 1, tiny, exact=False),
        lambda: check_processes("killed", 1, tiny, state="no footer", status=-9),
        lambda: check_killed_worker(tiny),
        lambda: check_processes("terminated", 1, tiny, state="no footer", status=-15),
        lambda: check_processes("idle", 1, {}),
        lambda: check_profiler("profiler"),
        lambda: check_profiler("profiler_twice"),
        lambda: check_profiler("profiler_first"),
        lambda: check_profiler("profiler_under_load"),
        lambda: check_profiler("profiler", forwarders=False, word="unwatched-cupti-client"),
        check_proton,
        lambda: check_concurrent(tiny),
        check_plain_cuda,
    ]
    others = os.environ.get("OTHER_CUPTI")
    for path in sorted(Path(others).resolve().glob("*/libcupti.so.*")) if others else []:
        jobs.append(lambda path=path: check_other_cupti(path))
    if importlib.util.find_spec("jax"):
        jobs.append(lambda: check_profiler("jax_profiler", word="outstanding-buffers"))

    def attempt(job):
        try:
            job()
        except Exception:  # A workload that cannot run is a failure to report, not to stop at.
            report("?", [traceback.format_exc()], "")

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(attempt, jobs))
    print(f"{len(FAILED)} problems")
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
