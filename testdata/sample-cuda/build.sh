#!/bin/bash
# Builds the sample project, maps it, and lays out what a machine with a GPU needs to record it.
#
#   testdata/sample-cuda/build.sh [FOLDER]      default: .sample-cuda of this checkout, which git ignores
#
# FOLDER receives project/ (a repository with one commit, and its build), kernel_symbol_map.json.gz, and carry/ for
# record.sh. Needs git, cmake, ninja, a C++ compiler and what scripts/install-compilers.sh installs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/.sample-cuda}
toolkit=$(realpath "${KERNREC_COMPILERS:-$root/.compilers}/cuda-13.0/nvidia/cu13")

cargo build --quiet --locked --manifest-path "$root/Cargo.toml" \
    -p kernrec-cli -p kernrec-cupti -p kernrec-cupti-forwarders
target="${CARGO_TARGET_DIR:-$root/target}/debug"

rm -rf "$out"
mkdir -p "$out/carry/programs" "$out/carry/bin"
cp -r "$here/project" "$out/project"
cd "$out/project"
# The commit of the same files is the same everywhere.
export GIT_AUTHOR_DATE='2026-11-30T00:00:00Z' GIT_COMMITTER_DATE='2026-11-30T00:00:00Z'
export GIT_AUTHOR_NAME=sample GIT_COMMITTER_NAME=sample
export GIT_AUTHOR_EMAIL=sample@example.invalid GIT_COMMITTER_EMAIL=sample@example.invalid
git init --quiet --object-format=sha1 .
git add --all
git -c commit.gpgsign=false commit --quiet --message 'The sample project'
commit=$(git rev-parse HEAD)

LIBRARY_PATH="$toolkit/lib" cmake -G Ninja -S . -B build -DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
LIBRARY_PATH="$toolkit/lib" ninja -C build
"$target/kernrec" symbol-map --strict --backend cuda --build-root build --source-root . --commit "$commit" \
    --repo . --out "$out/kernel_symbol_map.json.gz"

for program in programs/*; do
    name=$(basename "${program%.*}")
    strip -o "$out/carry/programs/$name" "build/$name"
done
for file in kernrec libkernrec_cupti.so libkernrec_cupti_forwarders.so; do
    strip -o "$out/carry/bin/$file" "$target/$file"
done
echo "$commit" > "$out/carry/commit"
du -sh "$out/carry"
