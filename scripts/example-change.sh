#!/usr/bin/env bash
# Makes a git repository with a change to a kernel of ggml, for the examples: scripts/example-change.sh DIR
#
# The record of testdata/ggml-h200 was made at a commit of ggml that is not here. A `git replace` puts a commit with
# stand-ins of the changed files in its place, so that git knows it; the branch `topic` holds the change.
set -euo pipefail

recorded=d99724f2b141fed9e1a9f402213506c081433465
dir=${1:?usage: example-change.sh DIR}

# Nobody's own settings, and the same commits wherever and whenever it runs.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=example GIT_AUTHOR_EMAIL=example@localhost GIT_AUTHOR_DATE=2026-11-30T00:00:00Z
export GIT_COMMITTER_NAME=example GIT_COMMITTER_EMAIL=example@localhost GIT_COMMITTER_DATE=2026-11-30T00:00:00Z

git init -q -b main "$dir"
cd "$dir"
mkdir -p src/ggml-cuda docs

kernel() {
    printf '__global__ void rope_neox(const float * x, float * out, const int n) {\n'
    printf '    const int i = blockIdx.x*blockDim.x + threadIdx.x;\n'
    printf '    if (i < n) {\n        out[i] = %s;\n    }\n}\n' "$1"
}

kernel 'x[i]' >src/ggml-cuda/rope.cu
printf 'How to build.\n' >docs/build.md
git add -A
git commit -q -m 'stand-ins for the files of the recorded commit'
git update-ref "refs/replace/$recorded" HEAD

kernel '2.0f*x[i]' >src/ggml-cuda/rope.cu
printf 'How to build, and how to test.\n' >docs/build.md
git add -A
change=$(git commit-tree -p "$recorded" -m 'rope: double the output' "$(git write-tree)")
git update-ref refs/heads/topic "$change"
git checkout -q topic
