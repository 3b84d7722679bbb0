#!/bin/bash
# Confirms on a machine with an AMD GPU what no other machine can show, in one go, and prints a table of verdicts.
#
#   scripts/validate-rocm.sh DIST OUT
#
# DIST is what `scripts/cross-build.sh --out DIST` made: the programs and the recorder's libraries, in one folder. OUT, a
# new folder, receives the verdicts and the recordings. Needs python3 with PyTorch for ROCm; Triton is used where it is
# there. Exit status 0: everything as expected; 1: something is not; 2: wrong arguments; 3: no AMD GPU, no PyTorch that
# sees it, or no ROCProfiler SDK here. BACKEND=cuda tries the script itself on a machine with an NVIDIA GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "validate-rocm: $2" >&2
    exit "$1"
}

[ $# = 2 ] || fail 2 'usage: scripts/validate-rocm.sh DIST OUT'
[ -x "$1/kernrec" ] || fail 2 "no kernrec in $1: make it with scripts/cross-build.sh --out $1"
[ ! -e "$2" ] || fail 2 "$2 is there already: OUT must be new"
dist=$(realpath "$1")
export BACKEND=${BACKEND:-rocm} PATH="$dist:$PATH" PYTHONUNBUFFERED=1
unset "${!BUILDKITE_@}" "${!GITHUB_@}" "${!KERNREC_@}"

if [ "$BACKEND" = rocm ] && [ ! -e /dev/kfd ]; then
    fail 3 'no AMD GPU here: there is no /dev/kfd'
fi
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || fail 3 'no PyTorch that sees a GPU in python3'

mkdir -p "$2"
OUT=$(realpath "$2")
export OUT
# What set-up says of this machine decides whether there is anything to validate.
mkdir "$OUT/probe"
(cd "$OUT/probe" && kernrec run --step probe --backend "$BACKEND" -- true 2>why) || true
if ! grep -q '"collection_available": true' "$OUT/probe/.kernrec/local/kernrec.json"; then
    fail 3 "nothing can be recorded here: $(head -1 "$OUT/probe/why")"
fi
python3 recorder/gpu-tests/first_run.py | tee "$OUT/verdicts.txt"
