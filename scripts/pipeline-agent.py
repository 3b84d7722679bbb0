"""Plays Buildkite for scripts/pipeline-demo.sh: uploads a pipeline (JSON, from stdin) and runs its jobs one after the other,
each in a checkout of its own below the folder $FAKE_BUILDKITE, where the stand-in for buildkite-agent finds what they
uploaded. What waits for a block step is never run."""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

BUILD = pathlib.Path(os.environ["FAKE_BUILDKITE"])


def uploaded(value):
    """What the upload makes of a text: `$$` is a dollar, and `$NAME` would be replaced."""
    if isinstance(value, dict):
        return {key: uploaded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [uploaded(item) for item in value]
    if not isinstance(value, str):
        return value
    if re.search(r"\$[A-Za-z_{]", value.replace("$$", "")):
        sys.exit(f"the upload would replace a variable in: {value}")
    return value.replace("$$", "$")


def steps(listed):
    for step in listed:
        yield from steps(step["steps"]) if "group" in step else [step]


def needs(step):
    named = step.get("depends_on") or []
    for need in [named] if isinstance(named, str) else named:
        yield need if isinstance(need, str) else need["step"]


def container(step, environment, checkout):
    """The environment and folder of the step's commands: those of a container of the docker plugin, or the job's."""
    docker = next((p["docker#v5.2.0"] for p in step.get("plugins", []) if "docker#v5.2.0" in p), None)
    if docker is None:
        return environment, checkout
    inside = {name: environment[name] for name in ("PATH", "LD_LIBRARY_PATH", "FAKE_GPU", "KERNREC_LIB_DIR") if name in environment}
    for entry in docker.get("environment", []):
        name, given, value = entry.partition("=")
        if given:
            inside[name] = value
        elif name in environment:
            inside[name] = environment[name]
    folder = checkout.with_suffix(".container")
    folder.mkdir()
    for volume in docker.get("volumes", []):
        # Nothing is mounted here: the container's path is that of the host.
        on_host, in_container = volume.split(":")
        (checkout / on_host).mkdir(parents=True, exist_ok=True)
        mount = os.path.dirname(in_container)
        inside = {name: value.replace(mount, str(checkout)) for name, value in inside.items()}
    return inside, folder


def run(step, shard):
    key, shards = step["key"], step.get("parallelism", 1)
    job = f"job-{key}-{shard}"
    checkout = BUILD / "checkouts" / job
    checkout.mkdir(parents=True)
    environment = {
        **os.environ,
        "BUILDKITE": "true",
        "BUILDKITE_JOB_ID": job,
        "BUILDKITE_STEP_KEY": key,
        "BUILDKITE_LABEL": step.get("label", key),
        "BUILDKITE_BUILD_CHECKOUT_PATH": str(checkout),
        "BUILDKITE_RETRY_COUNT": "0",
        **step.get("env", {}),
    }
    if shards > 1:
        environment["BUILDKITE_PARALLEL_JOB"] = str(shard)
        environment["BUILDKITE_PARALLEL_JOB_COUNT"] = str(shards)
    commands = step.get("commands") or step["command"]
    script = commands if isinstance(commands, str) else "\n".join(commands)
    environment, folder = container(step, environment, checkout)
    with open(BUILD / f"{job}.log", "w", encoding="utf-8") as log:
        ended = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, stdout=log, stderr=log, check=False)
    upload(step, job, checkout)
    print(f"{job} ended with {ended.returncode}")
    return ended.returncode


def upload(step, job, checkout):
    place = BUILD / "jobs" / job
    place.mkdir(parents=True)
    (place / "step").write_text(step["key"], encoding="utf-8")
    paths = step.get("artifact_paths", [])
    found = set()
    for pattern in paths.split(";") if isinstance(paths, str) else paths:
        found.update(glob.glob(pattern, root_dir=checkout, recursive=True, include_hidden=True))
    files = sorted(path for path in found if (checkout / path).is_file())
    lines = [f"{path}\t{checkout / path}\n" for path in files]
    (place / "artifacts").write_text("".join(lines), encoding="utf-8")


def main():
    shutil.rmtree(BUILD, ignore_errors=True)
    waiting = set()
    for step in steps(uploaded(json.load(sys.stdin))["steps"]):
        state, outcome = "finished", "passed"
        if "block" in step or waiting.intersection(needs(step)):
            waiting.add(step["key"])
            state, outcome = "blocked" if "block" in step else "waiting", "neutral"
        else:
            statuses = [run(step, shard) for shard in range(step.get("parallelism", 1))]
            outcome = "hard_failed" if any(statuses) else "passed"
        place = BUILD / "steps" / step["key"]
        place.mkdir(parents=True)
        (place / "state").write_text(state + "\n", encoding="utf-8")
        (place / "outcome").write_text(outcome, encoding="utf-8")


main()
