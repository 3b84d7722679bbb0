#!/bin/bash
# Records every program that build.sh made, on a machine with a GPU and nothing else: no compiler, no network.
#
#   testdata/sample-cuda/record.sh CARRY OUT
#
# OUT receives recordings.tar.gz (a folder for each job), machine.txt and log.txt. The driver must find libcupti: beside
# the CUDA toolkit, or named by KERNREC_CUPTI_PATH.
set -uo pipefail
carry=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
commit=$(cat "$carry/commit")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$carry/programs" "$carry/bin" "$work"
cd "$work" || exit 1
chmod +x programs/* bin/kernrec

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader > "$out/machine.txt"
failed=0
for program in programs/*; do
    name=$(basename "$program")
    echo "== $name"
    bin/kernrec run --step "$name" --backend cuda --job-id "sample-$name" --build 1 --commit "$commit" -- "./$program"
    status=$?
    cat .kernrec/sample-"$name"/kern.*.txt || status=1
    grep --quiet '"collection_available": *true' ".kernrec/sample-$name/kernrec.json" || status=1
    if [ "$status" != 0 ]; then
        echo "$name: status $status"
        cat ".kernrec/sample-$name/kernrec.json"
        failed=1
    fi
done > "$out/log.txt" 2>&1
cat "$out/log.txt"

tar --create --gzip --file "$out/recordings.tar.gz" --directory .kernrec --sort=name --exclude='*.tar.zst' --exclude='.setup*' .
exit "$failed"
