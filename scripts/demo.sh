#!/bin/bash
# The whole job on real recordings: pack, fold, publish, fetch, select; and how a step is recorded, with a fake
# GPU. Prints every command it runs, works in a temporary folder, and needs nothing but the Rust toolchain; its last part
# also needs Python 3.12 or later with pytest, and says so where there is none.
set -euo pipefail
cd "$(dirname "$0")/.."

packages='-p kernrec-cli -p kernrec-cupti -p kernrec-cupti-forwarders -p kernrec-fake-cupti -p kernrec-rocprofiler
    -p kernrec-fake-rocprofiler -p kernrec-python-extension'
echo "$ cargo build $packages"
# shellcheck disable=SC2086  # several words
cargo build --quiet --locked $packages
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
export PATH="$target/debug:$PATH"

data="$PWD/testdata/ggml-h200"
pythons=("$PWD"/.python-tests/venv-*/bin/python python3.13 python3.12 python3)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$data" ggml-h200

commit=d99724f2b141fed9e1a9f402213506c081433465
changed=src/ggml-cuda/rope.cu

run() {
    printf '\n$'
    printf ' %s' "$@"
    printf '\n'
    "$@"
}

run kernrec pack ggml-h200/recordings --out bundles
run kernrec fold --recordings bundles --backend cuda --commit "$commit" --build 1001 \
    --recorded-at 2026-11-30T00:00:00Z --out kernel_table.json.zst
run kernrec audit bundles
run kernrec-publish --store store --commit "$commit" --build 1001 \
    --recordings bundles --symbol-map ggml-h200/kernel_symbol_map.json.gz
run ci-fetch-kernel-record --url store --backend cuda --out coverage-data
run kernrec verify record --store store
run kernrec select --data coverage-data --changed-file "$changed" | tee answer
run kernrec select --data coverage-data --changed-file "$changed" --format keys

# The names of the steps in the section of this title, joined by "and".
steps_in() {
    awk -v title="$1" 'index($0, title) == 1 { on = 1; next } /^$/ { on = 0 } on && /cuda:/ { print $1 }' answer |
        paste -sd ' ' | sed 's/ / and /g'
}
selected=$(steps_in 'Selected:')
skipped=$(sed -n 's/.* \([0-9]*\) may be skipped\.$/\1/p' answer)

printf '\nA change to %s needs %s.\n' "$changed" "$selected"
printf '%s of the 129 steps may be skipped.\n' "$skipped"
printf 'The remaining ones may not, because their recordings are not complete and healthy:\n'
awk '/^Kept:/ { on = 1; next } /^$/ { on = 0 } on && /cuda:/ { sub(/ +cuda: /, " ("); print $0 ")" }' answer

if [ "$selected" != 'op-rope and op-rope-back' ] || [ "$skipped" != 125 ]; then
    echo 'demo: this is not the expected answer' >&2
    exit 1
fi

# A second record: a small CUDA project that scripts/install-compilers.sh can build, recorded on a GPU. Its map was made
# by `kernrec symbol-map`.
ln -s "$data/../sample-cuda" sample-cuda
commit=6f8c3cd29165f29ab89dba1d67f07440ec5fb936
run kernrec show sample-cuda/kernel_symbol_map.json.gz --rows 3
run kernrec-publish --store store --pipeline sample --commit "$commit" --build 1 --bundles none \
    --recordings sample-cuda/recordings --symbol-map sample-cuda/kernel_symbol_map.json.gz
run ci-fetch-kernel-record --url store --pipeline sample --backend cuda --out sample-data
run kernrec select --data sample-data --changed-file src/field.cu --format keys | tee answer
if [ "$(tail -n 1 answer)" != '["particles","waves"]' ]; then
    echo 'demo: this is not the expected answer' >&2
    exit 1
fi

# Where such a map comes from: the kernels of an object, read without NVIDIA's tools. Made from an object alone the map
# names no sources, and says so.
ln -s "$data/../../symbols/tests/objects/cuda-12.4" objects
run kernrec symbol-map --backend cuda --objects objects/several-architectures.o --out shown.json
run kernrec show shown.json

cat <<'END'

How a step is recorded. THE GPU IS A FAKE: `fake-driver` plays a CUDA program with its driver, and NVIDIA's library
CUPTI is a stand-in that comes with the tests, so that this works on any machine. The launcher, the recorder's two
libraries and the bundle are the real ones.
END
# The job is none of a CI system's.
unset "${!BUILDKITE_@}" "${!GITHUB_@}" "${!KERNREC_@}"
mkdir fake
ln -s "$target/debug/libkernrec_fake_cupti.so" fake/libcupti.so.13
ln -s "$target/debug/libkernrec_fake_cupti.so" fake/libcuda.so.1
run env "LD_LIBRARY_PATH=$work/fake" kernrec run --step demo --commit "$commit" --backend cuda -- \
    fake-driver "load=$work/fake/libcupti.so.13" init 'launch=_Z9demoScalePfi*3'
run cat .kernrec/local/kern.*.txt
run kernrec show .kernrec/*.tar.zst | tee bundle
if ! grep -Eq '^ +kern\..*  clean +1$' bundle; then
    echo 'demo: this is not a bundle with one clean recording of one kernel' >&2
    exit 1
fi

cat <<'END'

The same for an AMD step. THE GPU AND THE ROCPROFILER SDK ARE FAKES TOO: `fake-hip` plays a HIP program with its runtime.
The step replays a graph of ten kernels a thousand times. Then both jobs are published at once, each backend under a
pointer of its own; the AMD map is broken first, and only the AMD record is refused.
END
mkdir -p rocm/lib
ln -s "$target/debug/libkernrec_fake_rocprofiler.so" rocm/lib/librocprofiler-sdk.so
run env "ROCM_PATH=$work/rocm" kernrec run --step demo --commit "$commit" --job-id amd --backend rocm -- \
    fake-hip init 'launch=_Z9demoScalePfi*3' graph=10,10000
run cat .kernrec/amd/kern.*.txt
run kernrec audit .kernrec
map() {
    printf '{"version":2,"backend":"%s","commit":"%s","generated_at":"2026-11-30T00:00:00+00:00","incomplete":false,' "$1" "$commit"
    printf '"errors":[],"build_dirs":["build"],%s"objects":[{"source":"src/scale.cu","target":"demo","object":"scale.o",' "$2"
    printf '"device":true,"symbols":["_Z9demoScalePfi"],"deps":["src/scale.cu"]}]}\n'
}
map cuda '' >map.cuda.json
map rocm '"reason":"an object could not be read",' >map.rocm.json
both=(kernrec-publish --store store --pipeline both --commit "$commit" --recordings .kernrec
    --symbol-map map.cuda.json --symbol-map map.rocm.json)
run "${both[@]}" --build 1 && status=0 || status=$?
if [ "$status" != 3 ] || [ ! -f store/pointers/both/cuda.json ] || [ -e store/pointers/both/rocm.json ]; then
    echo "demo: exit status $status; expected the CUDA record published and the AMD one refused" >&2
    exit 1
fi
map rocm '' >map.rocm.json
run "${both[@]}" --build 2
run ci-fetch-kernel-record --url store --pipeline both --out both-data
if [ ! -e both-data/cuda/record.json ] || [ ! -e both-data/rocm/record.json ]; then
    echo 'demo: both backends should be installed' >&2
    exit 1
fi

cat <<'END'

Python beside the kernels. A small project of two Python packages and two kernels: each of four steps runs a kernel of the
fake GPU and tests of real Python. What both recorders saw is published and fetched together, and one answer is given for
a change of a kernel, of a Python function and of a library's pin.
END
python=
for candidate in "${pythons[@]}"; do
    if "$candidate" -c 'import sys, pytest, packaging; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
        python=$(command -v "$candidate")
    fi
done
if [ -z "$python" ]; then
    printf '\nThere is no Python 3.12 or later with pytest here (scripts/install-python-tests.sh installs them): left out.\n'
    exit 0
fi
cp -r "$data/../python-sample/project" mixed
cd mixed
echo 'aiter==1.0' >>requirements.txt
mkdir csrc steps
echo '__global__ void demoScale(float *p, int n) { p[n] *= 2; }' >csrc/scale.cu
echo '__global__ void demoFill(float *p, int n) { p[n] = 0; }' >csrc/fill.cu
# step NAME KERNEL TESTS
step() {
    printf 'fake-driver load=%s init "launch=%s*3" && "%s" -m pytest -q -p no:cacheprovider %s\n' \
        "$work/fake/libcupti.so.13" "$2" "$python" "$3" >"steps/$1.sh"
}
step scale _Z9demoScalePfi 'tests/test_engine.py -k config'
step attention _Z8demoFillPfi tests/test_attention.py
step models _Z8demoFillPfi tests/models
step engine _Z8demoFillPfi 'tests/test_engine.py -k "test_run and not worker"'
git init -q -b main
git config user.name demo
git config user.email demo@localhost
echo .kernrec >.gitignore
git add -A
git commit -qm 'the project'
commit=$(git rev-parse HEAD)
object() {
    printf '{"source":"csrc/%s.cu","target":"demo","object":"%s.o","device":true,"symbols":["%s"],"deps":["csrc/%s.cu"]}' \
        "$1" "$1" "$2" "$1"
}
printf '{"version":2,"backend":"cuda","commit":"%s","generated_at":"2026-11-30T00:00:00+00:00","incomplete":false,' \
    "$commit" >"$work/mixed.json"
printf '"errors":[],"build_dirs":["build"],"objects":[%s,%s]}\n' \
    "$(object scale _Z9demoScalePfi)" "$(object fill _Z8demoFillPfi)" >>"$work/mixed.json"

for name in scale attention models engine; do
    run env "LD_LIBRARY_PATH=$work/fake" kernrec run --step "$name" --job-id "$name" --commit "$commit" --backend cuda \
        --python host --python-exe "$python" --python-checkout . -- sh "steps/$name.sh"
done
run kernrec-publish --store ../store --pipeline mixed --commit "$commit" --build 1 --repo . --recordings .kernrec \
    --symbol-map "$work/mixed.json"
run ci-fetch-kernel-record --url ../store --pipeline mixed --out ../mixed-data

sed -i 's/\*= 2/*= 3/' csrc/scale.cu
sed -i 's/\[:k\]/[: k or None]/' vllm/sampling.py
sed -i 's/aiter==1.0/aiter==1.1/' requirements.txt
git commit -qam 'a kernel, a function, a library'
run git show --format=%s --unified=0
run kernrec select --data ../mixed-data --diff HEAD~1...HEAD --library aiter=aiter
run kernrec select --data ../mixed-data --diff HEAD~1...HEAD --library aiter=aiter --format keys | tee ../answer
run kernrec explain --data ../mixed-data --step models --file vllm/sampling.py
if [ "$(tail -n 1 ../answer)" != '["attention","models","scale"]' ]; then
    echo 'demo: this is not the expected answer' >&2
    exit 1
fi
printf '\n"scale" launched the changed kernel, "models" entered the changed function, "attention" used the changed library;\n'
printf '"engine" did none of it and may be skipped.\n'
