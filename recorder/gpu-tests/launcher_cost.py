"""What the launcher adds: times in milliseconds, medians of the rounds; ratios are medians of each round's own."""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from common import BUILD, recorded_environment
from cost import environment, found_cupti

ROUNDS = int(os.environ.get("ROUNDS", "21"))
LAUNCH = str(BUILD / "launch")
RUN = ["kernrec", "run", "--step", "cost", "--"]
MANY = 100


def timed(command, folder, variables=()):
    """(milliseconds from start to end, what it printed)"""
    start = time.monotonic()
    result = subprocess.run(command, cwd=folder, env={**os.environ, **dict(variables)}, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=300, check=True)
    return (time.monotonic() - start) * 1e3, result.stdout


def rounds(ways):
    """[{way: ms}], the ways in turns; `ways` gives each a function of an empty folder."""
    samples = []
    # The first round warms the caches.
    for number in range(ROUNDS + 1):
        sample = {}
        for way in list(ways) if number % 2 else list(ways)[::-1]:
            folder = Path(tempfile.mkdtemp())
            sample[way] = ways[way](folder)
            shutil.rmtree(folder)
        if number:
            samples.append(sample)
    return samples


def show(label, samples):
    ways = list(samples[0])
    print(label)
    for way in ways:
        ratio = statistics.median(sample[way] / sample[ways[0]] for sample in samples)
        more = statistics.median(sample[way] - sample[ways[0]] for sample in samples)
        times = sorted(sample[way] for sample in samples)
        middle = times[len(times) // 2]
        quartiles = f"{times[len(times) // 4]:.2f}-{times[-1 - len(times) // 4]:.2f}"
        print(f"    {way:36} {middle:9.2f} ms ({quartiles:>15})  x {ratio:6.3f}  {more:+8.2f} ms")


def first_call(command, variables=()):
    def way(folder):
        return float(timed(command, folder, variables(folder) if variables else ())[1].split()[0]) / 1e3
    return way


def whole(command, variables=()):
    return lambda folder: timed(command, folder, variables(folder) if variables else ())[0]


def finish(recordings):
    """How long `kernrec finish` takes over so many recordings."""
    def way(folder):
        _, lines = timed(["kernrec", "env", "--step", "cost"], folder)
        variables = dict(
            line.removeprefix("export ").split("=", 1) for line in lines.splitlines() if line.startswith("export ")
        )
        variables = {name: value.strip("'") for name, value in variables.items()}
        timed([LAUNCH, "start"], folder, variables)
        (recording,) = Path(variables["KERNREC_DIR"]).glob("kern.*.txt")
        for number in range(recordings - 1):
            shutil.copy(recording, recording.with_name(f"kern.{number + 1}.{number:016x}.txt"))
        return timed(["kernrec", "finish", "--status", "0"], folder, variables)[0]
    return way


def main():
    cupti = found_cupti()
    modes = {
        "plain": None,
        "consumer that does nothing": lambda folder: environment("consumer", folder, cupti),
        "recorder, variables set by hand": recorded_environment,
    }
    start = [LAUNCH, "start"]
    print(f"{ROUNDS} rounds; x: times the first line's, then what is added to it")
    show("first CUDA call of a process", rounds({
        **{name: first_call(start, mode) for name, mode in modes.items()},
        "kernrec run": first_call([*RUN, *start]),
    }))
    show("process with 1,100 kernels, start to end", rounds({
        **{name: whole(start, mode) for name, mode in modes.items()},
        "kernrec run": whole([*RUN, *start]),
    }))
    show("a command without a GPU process, start to end", rounds({
        "/bin/true": whole(["/bin/true"]),
        "kernrec run -- /bin/true": whole([*RUN, "/bin/true"]),
        "kernrec --version": whole(["kernrec", "--version"]),
    }))
    loop = ["sh", "-c", f"for n in $(seq {MANY}); do /bin/true; done"]
    show(f"{MANY} processes without a GPU, one after the other", rounds({
        "plain": whole(loop),
        "kernrec run": whole([*RUN, *loop]),
    }))
    show("kernrec finish", rounds({
        "1 recording": finish(1),
        f"{MANY} recordings": finish(MANY),
        "kernrec --version": whole(["kernrec", "--version"]),
    }))


if __name__ == "__main__":
    main()
