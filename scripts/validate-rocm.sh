#!/bin/bash
# Confirms on a machine with an AMD GPU what no other machine can show, in one go, and prints a table of verdicts.
#
#   scripts/validate-rocm.sh DIST OUT
#
# DIST is what `scripts/cross-build.sh --out DIST` made: the programs and the recorder's libraries, in one folder. OUT, a
# new folder, receives the verdicts and the recordings. Needs python3 and at least one of hipcc (in PATH or in
# $ROCM_PATH/bin) and PyTorch for ROCm; what the other would have shown is named as not asked. Triton is used where it is
# there. Exit status 0: everything asked is as expected; 1: something is not; 2: wrong arguments; 3: no AMD GPU, nothing
# that could use it, or no ROCProfiler SDK that can be recorded with.
#
# To try the script itself: BACKEND=cuda asks an NVIDIA machine, with nvcc; KFD names another file in the place of
# /dev/kfd.
set -euo pipefail

fail() {
    echo "validate-rocm: $2" >&2
    exit "$1"
}

[ $# = 2 ] || fail 2 'usage: scripts/validate-rocm.sh DIST OUT'
[ -x "$1/kernrec" ] || fail 2 "no kernrec in $1: make it with scripts/cross-build.sh --out $1"
[ ! -e "$2" ] || fail 2 "$2 is there already: OUT must be new"
dist=$(realpath "$1")
mkdir -p "$(dirname "$2")"
OUT=$(realpath "$(dirname "$2")")/$(basename "$2")
cd "$(dirname "$0")/.."
export BACKEND=${BACKEND:-rocm} PATH="$dist:$PATH" PYTHONUNBUFFERED=1
unset "${!BUILDKITE_@}" "${!GITHUB_@}" "${!KERNREC_@}"

if [ "$BACKEND" = rocm ]; then
    [ -e "${KFD:-/dev/kfd}" ] || fail 3 "no AMD GPU here: there is no ${KFD:-/dev/kfd}"
    PATH="$PATH:${ROCM_PATH:-/opt/rocm}/bin"
    compiler=hipcc is_ours='torch.version.hip'
else
    compiler=nvcc is_ours='torch.version.cuda'
fi
COMPILER=$(command -v "$compiler" || true)
TORCH=''
python3 -c "import torch; assert torch.cuda.is_available() and $is_ours" 2>/dev/null && TORCH=yes
[ -n "$COMPILER$TORCH" ] || fail 3 "neither $compiler nor a PyTorch that sees the GPU: nothing here can use it"

mkdir "$OUT"
export OUT COMPILER TORCH
# What set-up says of this machine decides whether there is anything to validate.
mkdir "$OUT/probe"
(cd "$OUT/probe" && kernrec run --step probe --backend "$BACKEND" -- true 2>why) || true
if ! grep -q '"collection_available": true' "$OUT/probe/.kernrec/local/kernrec.json"; then
    fail 3 "nothing can be recorded here: $(head -1 "$OUT/probe/why")"
fi
python3 recorder/gpu-tests/first_run.py | tee "$OUT/verdicts.txt"
