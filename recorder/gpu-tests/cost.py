"""What recording costs: each program plain, with a CUPTI consumer that does nothing, and recorded, in
turns, so that the machine's moods fall on all three alike. Medians, and ratios within one run."""

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from common import BUILD, recorded_environment, recordings, run

ROUNDS = int(os.environ.get("ROUNDS", "7"))
MODES = ("plain", "null consumer", "recorded")


def cupti():
    """The CUPTI that the recorder itself finds for a program without a framework."""
    folder = tempfile.mkdtemp()
    run([BUILD / "launch", "start"], recorded_environment(folder))
    text = recordings(folder)[0].path.read_text()
    for line in text.splitlines():
        if line.startswith("# cupti_path="):
            return line.split("=", 1)[1]
    raise RuntimeError(text)


def environment(mode, folder, consumer_cupti):
    if mode == "recorded":
        return recorded_environment(folder)
    if mode == "null consumer":
        return {"CUDA_INJECTION64_PATH": str(BUILD / "null_consumer.so"), "NULL_CONSUMER_CUPTI": consumer_cupti}
    return {}


def measure(arguments, consumer_cupti, rounds=ROUNDS):
    """{mode: [(printed numbers..., wall)]}, the modes in turn."""
    samples = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            folder = Path(tempfile.mkdtemp())
            start = time.monotonic()
            result = run(arguments, environment(mode, folder, consumer_cupti))
            wall = time.monotonic() - start
            samples[mode].append([float(x) for x in result.stdout.split()] + [wall])
            if mode == "recorded":
                assert all(recording.clean for recording in recordings(folder)), recordings(folder)[0].state
            shutil.rmtree(folder)
    return samples


def medians(samples, column):
    return {mode: statistics.median(row[column] for row in rows) for mode, rows in samples.items()}


def line(label, values, unit, scale=1.0):
    plain, null, ours = (values[mode] for mode in MODES)
    print(
        f"{label:34} {plain * scale:10.2f} {null * scale:10.2f} {ours * scale:10.2f} {unit:4}"
        f" {ours / null:8.3f} {ours / plain:8.3f}"
    )


def main():
    consumer_cupti = cupti()
    print(f"CUPTI {consumer_cupti}, {ROUNDS} rounds, medians")
    print(f"{'':34} {'plain':>10} {'consumer':>10} {'recorded':>10} {'':4} {'/cons.':>8} {'/plain':>8}")
    launch = BUILD / "launch"
    line("eager, 600,000 empty kernels", medians(measure([launch, "eager", 600_000], consumer_cupti), 0), "ns")
    line("8 threads, 125,000 each", medians(measure([launch, "threads", 125_000], consumer_cupti), 0), "ns")
    line("graph of 100 nodes, 20,000 times", medians(measure([launch, "graph", 20_000], consumer_cupti), 0), "ns")
    start = measure([launch, "start"], consumer_cupti, rounds=3 * ROUNDS)
    line("first CUDA call", medians(start, 1), "ms", 1e-3)
    line("whole process, 1,000 kernels", medians(start, 3), "ms", 1e3)
    line("peak host memory, same", medians(start, 2), "MiB", 1 / 1024)
    peak = measure([launch, "threads", 125_000], consumer_cupti, rounds=1)
    line("peak host memory, 8 threads", medians(peak, 2), "MiB", 1 / 1024)
    for name in ("training_loop", "decode_loop"):
        arguments = ["python3", Path(__file__).parent / "workloads.py", name, "4"]
        line(name.replace("_", " ") + ", a step", medians(measure(arguments, consumer_cupti, rounds=max(3, ROUNDS // 2)), 0), "ms", 1e3)


if __name__ == "__main__":
    main()
