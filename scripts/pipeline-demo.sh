#!/bin/bash
# A pipeline from end to end: armed, its jobs run, collected, published to a real S3 server, fetched and used for a selection.
# The GPUs and Buildkite are played, the rest is real; see testdata/pipeline. Works in a temporary folder and on loopback.
# It builds the programs, unless $KERNREC_DEMO_PROGRAMS is a folder that has them.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${KERNREC_DEMO_PROGRAMS-}" ]; then
    cargo build --quiet --locked -p kernrec-cli -p kernrec-cupti -p kernrec-cupti-forwarders -p kernrec-fake-cupti \
        -p kernrec-rocprofiler -p kernrec-fake-rocprofiler
    KERNREC_DEMO_PROGRAMS=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug
fi
data=$PWD/testdata/pipeline
agent=$PWD/cli/tests/collect
player=$PWD/scripts/pipeline-agent.py
weed=${KERNREC_TEST_WEED:-$PWD/.venv/bin/weed}
work=$(mktemp -d)
server=''
finish() {
    status=$?
    if [ "$status" != 0 ]; then tail -n 50 "$work"/build/*.log "$work/log" >&2 2>/dev/null || true; fi
    # Nothing of its data is wanted.
    if [ -n "$server" ]; then kill -KILL "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; fi
    rm -rf "$work"
    exit "$status"
}
trap finish EXIT

# No job of a real CI system, no recorder of this process, no store of somebody's.
unset "${!BUILDKITE@}" "${!GITHUB_@}" "${!AWS_@}" CI_SELECTOR_KERNEL_RECORD_URL KERNREC_DIR VLLM_KERNEL_SYMBOL_MAP
export PATH="$data/bin:$agent:$KERNREC_DEMO_PROGRAMS:$PATH"

# The S3 server: the first of some ports on which all of it starts.
cat >"$work/s3.json" <<'END'
{"identities":[{"name":"writer","credentials":[{"accessKey":"writer-key","secretKey":"writer-secret"}],
"actions":["Admin","Read","Write","List","Tagging"]}]}
END
is_up() {
    curl --silent --fail --max-time 10 -X PUT --aws-sigv4 aws:amz:us-east-1:s3 --user writer-key:writer-secret \
        --output /dev/null "$1/records"
}
for attempt in 0 1 2 3; do
    port=$((20000 + ($$ + attempt * 477) % 1900 * 10))
    mkdir "$work/s3.$attempt"
    (
        cd "$work/s3.$attempt"
        exec "$weed" server -ip=127.0.0.1 -ip.bind=127.0.0.1 -dir="$PWD" -s3 -s3.config="$work/s3.json" -s3.port=$port \
            -s3.port.iceberg=0 -s3.port.lance=0 -s3.iam=false -s3.autoCreateBucket=false -master.telemetry=false \
            -master.port=$((port + 1)) -volume.port=$((port + 2)) -filer.port=$((port + 3)) -volume.max=8
    ) </dev/null >"$work/s3.log" 2>&1 &
    server=$!
    tries=0
    until is_up "http://127.0.0.1:$port"; do
        tries=$((tries + 1))
        if ! kill -0 "$server" 2>/dev/null || [ "$tries" -gt 450 ]; then
            kill -KILL "$server" 2>/dev/null || true
            server=''
            break
        fi
        sleep 0.1
    done
    [ -z "$server" ] || break
done
if [ -z "$server" ]; then
    tail -n 20 "$work/s3.log" >&2
    echo 'pipeline-demo: the S3 server did not start' >&2
    exit 1
fi
export AWS_ENDPOINT_URL_S3="http://127.0.0.1:$port" AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=writer-key AWS_SECRET_ACCESS_KEY=writer-secret

# The fake GPUs of both vendors.
export FAKE_GPU="$work/cuda" FAKE_ROCM="$work/rocm" FAKE_BUILDKITE="$work/build"
mkdir -p "$FAKE_GPU" "$FAKE_ROCM/lib"
ln -s "$KERNREC_DEMO_PROGRAMS/libkernrec_fake_cupti.so" "$FAKE_GPU/libcupti.so.13"
ln -s "$KERNREC_DEMO_PROGRAMS/libkernrec_fake_cupti.so" "$FAKE_GPU/libcuda.so.1"
ln -s "$KERNREC_DEMO_PROGRAMS/libkernrec_fake_rocprofiler.so" "$FAKE_ROCM/lib/librocprofiler-sdk.so"
export LD_LIBRARY_PATH="$FAKE_GPU"

export BUILDKITE_COMMIT=6f8c3cd29165f29ab89dba1d67f07440ec5fb936 BUILDKITE_BUILD_NUMBER=41 BUILDKITE_BRANCH=main
export VLLM_CI_KERNREC=1 VLLM_CI_KERNREC_AMD=1
cd "$work"
kernrec arm --config "$data/kernrec.toml" --explain "$data/pipeline.json"
echo
kernrec arm --config "$data/kernrec.toml" "$data/pipeline.json" | python3 "$player"
echo
for collector in kernrec-collect kernrec-collect-rocm; do
    python3 - "$collector" "$FAKE_BUILDKITE/checkouts/job-$collector-0/.kernrec-collect/result.json" <<'END'
import json, sys
result = json.load(open(sys.argv[2], encoding="utf-8"))
folded = result["folded"]
print(f"{sys.argv[1]}: {result['outcome']}, {folded['rows']} rows, {folded['usable_rows']} usable")
END
done
kernrec fetch --url s3://records/kernrec --backend all --out coverage-data >>log 2>&1
echo
# What it needs, as the selection ends with 6 where that is everything.
needs() {
    local selected status=0
    selected=$(kernrec select --data coverage-data --changed-file "$1" --format keys 2>>log) || status=$?
    [ "$status" != 6 ] || selected=everything
    [ "$status" = 0 ] || [ "$status" = 6 ] || exit "$status"
    echo "a change to $1 needs $selected"
}
needs src/scale.cu | tee answers
needs src/add.cu | tee -a answers

# `kernels` never launched `add`, and only its recordings are whole: `sampling` failed, and the AMD step launched both.
cat >expected <<'END'
a change to src/scale.cu needs everything
a change to src/add.cu needs ["amd-kernels","sampling"]
END
diff expected answers >&2 || { echo 'pipeline-demo: these are not the expected answers' >&2; exit 1; }
