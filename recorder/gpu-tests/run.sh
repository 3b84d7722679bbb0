#!/bin/bash
# Proves the CUDA recorder on a machine with a GPU, and measures its cost.
#
#   recorder/gpu-tests/run.sh LIBRARIES OUT [check|cost]...
#
# LIBRARIES holds libkernrec_cupti.so and libkernrec_cupti_forwarders.so; OUT receives check.txt, cost.txt
# and the recordings. Needs python3 with PyTorch (with Triton), gcc and nvcc; JAX is used where it is there.
# OTHER_CUPTI may name a folder of further releases' copies, RELEASE/libcupti.so.MAJOR: each is tried too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libraries=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
parts=${*:-check cost}

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
gcc -O2 -shared -fPIC -o "$build/null_consumer.so" "$here/null_consumer.c"
nvcc -O2 -arch=native -o "$build/launch" "$here/launch.cu"

export LIBRARIES=$libraries OUT=$out BUILD=$build PYTHONUNBUFFERED=1
for part in $parts; do
    python3 "$here/$part.py" | tee "$out/$part.txt"
done
