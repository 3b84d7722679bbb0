#!/bin/bash
# Proves the launcher on a machine with a GPU, and measures what it adds.
#
#   recorder/gpu-tests/launcher.sh DIST OUT
#
# DIST is what `scripts/cross-build.sh --out DIST` made: the programs and the recorder's libraries, in one
# folder. OUT receives launcher.txt (the comparison), launcher-cost.txt, kernel_table.json and bundles.tar.
# Needs python3 with PyTorch, gcc and nvcc; JAX is used where it is there. Exit status 1 if anything is wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dist=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build" "$work/steps"
gcc -O2 -shared -fPIC -o "$work/build/null_consumer.so" "$here/null_consumer.c"
nvcc -O2 -arch=native -o "$work/build/launch" "$here/launch.cu"

export LIBRARIES=$dist OUT=$out BUILD=$work/build STEPS=$work/steps PYTHONUNBUFFERED=1 PATH="$dist:$PATH"
# A run of a job of no CI system; the steps say what they want to say.
unset "${!BUILDKITE_@}" "${!GITHUB_@}" "${!KERNREC_@}"
status=0
python3 "$here/launcher.py" 2>&1 | tee "$out/launcher.txt" || status=1
python3 "$here/launcher_cost.py" 2>&1 | tee "$out/launcher-cost.txt" || status=1
tar -C "$work/steps" -cf "$out/bundles.tar" .
exit "$status"
