"""Running a workload plain or recorded, and reading what it left."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OUT = Path(os.environ.get("OUT", "."))
LIBRARIES = Path(os.environ.get("LIBRARIES", "."))
BUILD = Path(os.environ.get("BUILD", "."))


def recorded_environment(folder, forwarders=True):
    """What `kernrec run` exports for the CUDA recorder."""
    environment = {
        "CUDA_INJECTION64_PATH": str(LIBRARIES / "libkernrec_cupti.so"),
        "KERNREC_DIR": str(folder),
    }
    if forwarders:
        environment["LD_PRELOAD"] = str(LIBRARIES / "libkernrec_cupti_forwarders.so")
    return environment


def run(arguments, environment=(), input="", timeout=240):
    return subprocess.run(
        [str(argument) for argument in arguments],
        input=input,
        env={**os.environ, **dict(environment)},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def workload(name, environment=(), *arguments):
    return run([sys.executable, HERE / "workloads.py", name, *arguments], environment)


class Recording:
    """One recording, read strictly."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text(errors="replace").splitlines()
        self.header = dict(word.split("=", 1) for word in lines[0].split() if "=" in word)
        self.names = [line for line in lines if line and not line.startswith("#")]
        self.errors = [line[8:] for line in lines if line.startswith("# error=")]
        self.dropped = sum(int(line[10:]) for line in lines if line.startswith("# dropped="))
        end = lines[-1] if lines[-1].startswith("# end ") else ""
        self.footer = {k: int(v) for k, v in (w.split("=") for w in end.split()[2:])}

    @property
    def pid(self):
        return int(self.header["pid"])

    @property
    def clean(self):
        footer = self.footer
        return (
            not self.errors
            and self.dropped == 0
            and footer.get("errors") == 0
            and footer.get("unresolved") == 0
            and footer.get("unique") == len(set(self.names)) == len(self.names)
        )

    @property
    def state(self):
        if self.errors:
            return "error:" + ",".join(self.errors)
        if not self.footer:
            return "no footer"
        return "clean" if self.clean else "dropped"


def recordings(folder):
    return [Recording(path) for path in sorted(Path(folder).glob("kern.*.txt"))]


def demangled(names):
    """The names as torch.profiler prints them."""
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout
    return set(text.splitlines())
