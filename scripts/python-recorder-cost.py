#!/usr/bin/env python3
"""What the Python recorder costs: docutils' own tests with and without it, the start of an interpreter that is not
armed, and memory. Runs take turns, so that a busy machine slows both; medians are compared.

    cargo rustc --profile recorder -p kernrec-python-extension --lib --crate-type cdylib
    scripts/install-python-tests.sh
    scripts/python-recorder-cost.py target/recorder/libkernrec_python_extension.so [--rounds N] [--starts N]
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
FILES = HERE / "recorder/python/payload/files"


def put(folder, extension, bootstrap):
    shutil.copytree(FILES / "_kernrec_python", folder / "_kernrec_python", dirs_exist_ok=True)
    metadata = "kernrec_python-0.1.0.dist-info"
    shutil.copytree(FILES / metadata, folder / metadata, dirs_exist_ok=True)
    shutil.copy(FILES / bootstrap, folder)
    shutil.copy(extension, folder / "_kernrec_python/_recorder.abi3.so")


def run(command, **options):
    """Wall and processor seconds, and the peak of memory in MiB, of a command that must succeed."""
    before = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        raise SystemExit(f"{command} failed: {status}")
    wall = time.perf_counter() - before
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(name, commands, rounds, unit=1.0):
    """The same for two ways of running, in turns; whichever was second goes first next."""
    for way in commands:
        way()
    seen = [[], []]
    for index in range(rounds):
        for which in (0, 1) if index % 2 else (1, 0):
            seen[which].append(commands[which]())
    for column, what in enumerate(("wall", "processor")):
        plain, other = (statistics.median(one[column] for one in side) for side in seen)
        pairs = statistics.median(b[column] / a[column] for a, b in zip(*seen))
        least = [min(one[column] for one in side) for side in seen]
        print(
            f"{name}, {what}: {plain * unit:.3f} -> {other * unit:.3f}, median of pairs x {pairs:.4f}, "
            f"of medians x {other / plain:.4f}, least {least[0] * unit:.3f} -> {least[1] * unit:.3f} "
            f"x {least[1] / least[0]:.4f}"
        )
    memory = [statistics.median(one[2] for one in side) for side in seen]
    print(f"{name}, peak memory: {memory[0]:.1f} -> {memory[1]:.1f} MiB")


def suite(python, work, extension, rounds):
    source = work / "source"
    shutil.copytree(tests() / "source", source)
    host = work / "host"
    host.mkdir()
    put(host, extension, "sitecustomize.py")
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test"]
    plain = {**os.environ, "PYTHONHASHSEED": "0"}
    armed = {**plain, "PYTHONPATH": str(host), "KERNREC_PYTHON_ROOTS": "docutils"}

    def recorded():
        out = work / "out"
        shutil.rmtree(out, ignore_errors=True)
        figures = run(command, cwd=source, env={**armed, "KERNREC_PYTHON_DIR": str(out)})
        if not list(out.glob("fn.*.txt")):
            raise SystemExit("nothing was recorded")
        return figures

    compare("docutils' tests, seconds", [lambda: run(command, cwd=source, env=plain), recorded], rounds)


def starts(python, work, extension, rounds):
    pythons = []
    for name in ("plain", "with"):
        venv = work / name
        subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
        pythons.append(venv / "bin/python")
    site = next((work / "with/lib").glob("python3.*/site-packages"))
    put(site, extension, "kernrec_python.pth")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KERNREC_PYTHON_D")}
    armed = {**environment, "KERNREC_PYTHON_DIR": str(work / "out")}

    def start(python, environment):
        return lambda: run([python, "-c", "pass"], env=environment)

    compare("start, not armed, ms", [start(one, environment) for one in pythons], rounds, 1000)
    compare("start, armed, ms", [start(pythons[0], environment), start(pythons[1], armed)], rounds, 1000)


def tests():
    return pathlib.Path(os.environ.get("KERNREC_PYTHON_TESTS") or HERE / ".python-tests")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("extension", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--starts", type=int, default=200)
    given = arguments.parse_args()
    os.environ.pop("PYTHONPATH", None)
    for version in ("3.12", "3.13"):
        python = tests() / f"venv-{version}/bin/python"
        print(f"Python {version}")
        with tempfile.TemporaryDirectory() as folder:
            starts(python, pathlib.Path(folder), given.extension, given.starts)
            suite(python, pathlib.Path(folder), given.extension, given.rounds)


main()
