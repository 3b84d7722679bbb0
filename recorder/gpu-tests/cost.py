"""What recording costs. Three copies of each program run side by side: plain, with a CUPTI consumer that
does nothing, and recorded. They take turns, one working while the others wait, so that the machine's moods
fall on all alike. Times are medians over the turns; ratios are medians of each round's own ratio."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import BUILD, HERE, recorded_environment, recordings, run

ROUNDS = int(os.environ.get("ROUNDS", "15"))
MODES = ("plain", "consumer", "recorded")


def found_cupti():
    """The CUPTI that the recorder finds for a program without a framework."""
    folder = tempfile.mkdtemp()
    run([BUILD / "launch", "start"], recorded_environment(folder))
    text = recordings(folder)[0].path.read_text()
    return next(line.split("=", 1)[1] for line in text.splitlines() if line.startswith("# cupti_path="))


def environment(mode, folder, cupti):
    if mode == "recorded":
        return recorded_environment(folder)
    if mode == "consumer":
        return {"CUDA_INJECTION64_PATH": str(BUILD / "null_consumer.so"), "NULL_CONSUMER_CUPTI": cupti}
    return {}


def in_turns(arguments, cupti, rounds):
    """([{mode: printed number}] a round, {mode: last line})."""
    folder = Path(tempfile.mkdtemp())
    programs = {
        mode: subprocess.Popen(
            [str(argument) for argument in arguments],
            env={**os.environ, **environment(mode, folder, cupti)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for mode in MODES
    }
    samples = []
    # The first turn warms up, and waits for the slowest to start.
    for number in range(rounds + 1):
        sample = {}
        order = MODES if number % 2 else MODES[::-1]
        for mode in order:
            programs[mode].stdin.write("\n")
            programs[mode].stdin.flush()
            sample[mode] = float(programs[mode].stdout.readline())
        if number:
            samples.append(sample)
    last = {mode: program.communicate()[0] for mode, program in programs.items()}
    (recording,) = recordings(folder)
    assert recording.clean, recording.state
    shutil.rmtree(folder)
    return samples, last


def starts(cupti, rounds):
    """The same for processes that only start, launch 1,100 kernels and end: (first call, whole) in ms."""
    first, whole = [], []
    for number in range(rounds):
        first.append({})
        whole.append({})
        for mode in MODES if number % 2 else MODES[::-1]:
            folder = Path(tempfile.mkdtemp())
            start = time.monotonic()
            result = run([BUILD / "launch", "start"], environment(mode, folder, cupti))
            whole[-1][mode] = (time.monotonic() - start) * 1e3
            first[-1][mode] = float(result.stdout.split()[0]) / 1e3
            shutil.rmtree(folder)
    return first, whole


def line(label, samples, unit, scale=1.0):
    plain, consumer, recorded = (statistics.median(s[mode] for s in samples) * scale for mode in MODES)
    over_consumer = sorted(s["recorded"] / s["consumer"] for s in samples)
    over_plain = sorted(s["recorded"] / s["plain"] for s in samples)
    middle = len(samples) // 2
    print(
        f"{label:34} {plain:9.2f} {consumer:9.2f} {recorded:9.2f} {unit:4}"
        f" {over_consumer[middle]:7.3f} ({over_consumer[len(samples) // 4]:.3f}-{over_consumer[-1 - len(samples) // 4]:.3f})"
        f" {over_plain[middle]:7.3f}"
    )


def main():
    cupti = found_cupti()
    print(f"CUPTI {cupti}, {ROUNDS} rounds")
    print(f"{'':34} {'plain':>9} {'consumer':>9} {'recorded':>9} {'':4} rec./consumer (quartiles) rec./plain")
    launch = BUILD / "launch"
    eager, last = in_turns([launch, "eager", 80_000], cupti, ROUNDS)
    line("eager, empty kernels", eager, "ns")
    memory = [{mode: float(last[mode].split()[1]) for mode in MODES}]
    threads, last = in_turns([launch, "threads", 10_000], cupti, ROUNDS)
    line("8 threads, empty kernels", threads, "ns")
    many = [{mode: float(last[mode].split()[1]) for mode in MODES}]
    graph, _ = in_turns([launch, "graph", 2_000], cupti, ROUNDS)
    line("graph of 100 empty kernels, a node", graph, "ns")
    first, whole = starts(cupti, ROUNDS)
    line("first CUDA call", first, "ms")
    line("process with 1,100 kernels", whole, "ms")
    line("peak host memory, eager", memory, "MiB", 1 / 1024)
    line("peak host memory, 8 threads", many, "MiB", 1 / 1024)
    for name, batch in (("training_loop", 96), ("training_loop", 16), ("decode_loop", 16)):
        command = [sys.executable, HERE / "workloads.py", name, batch]
        samples, _ = in_turns(command, cupti, max(5, ROUNDS // 2))
        line(f"{name.replace('_', ' ')}, batch {batch}", samples, "ms", 1e3)


if __name__ == "__main__":
    main()
