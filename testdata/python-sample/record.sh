#!/usr/bin/env bash
# Records the steps of project/ with the Python recorder. Run as root on any Linux machine: it works in /opt/sample and
# /srv/sample, which must not be there, and calls the machine `n1`, so that nothing of this one gets into the recordings.
#
#   testdata/python-sample/record.sh EXTENSION PYTHON OUT
#
# EXTENSION is libkernrec_python_extension.so, PYTHON a CPython 3.12 or later, OUT a folder that receives recordings/.
set -euo pipefail
if [ "${1:-}" != --inside ]; then
  exec unshare --uts -- "$0" --inside "$(realpath "$1")" "$2" "$(realpath "$3")"
fi
hostname n1
extension=$2 python=$3 out=$4
here=$(cd "$(dirname "$0")" && pwd)
payload=$here/../../recorder/python/payload/files
mkdir /opt/sample /srv/sample
trap 'rm -rf /opt/sample /srv/sample' EXIT

"$python" -m venv /opt/sample
/opt/sample/bin/python -m pip install --quiet --disable-pip-version-check pytest==9.2.0 -r "$here/project/requirements.txt"
site=$(/opt/sample/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
cp -r "$payload"/_kernrec_python "$payload"/kernrec_python-0.1.0.dist-info "$payload"/kernrec_python.pth "$site"
cp "$extension" "$site/_kernrec_python/_recorder.abi3.so"
cp -r "$here/project" /srv/sample/checkout
# The packages are installed, the tests are in the checkout: what is tested is what was installed.
cp -r "$here/project/vllm" "$here/project/aiter" "$site"
rm -r /srv/sample/checkout/vllm /srv/sample/checkout/aiter
commit=$("$here/commit.sh")

# record JOB STEP SHARD COUNT COMMAND...
record() {
  local job=$1 step=$2 shard=$3 count=$4 status=0
  shift 4
  local dir=/srv/sample/checkout/.kernrec/$job
  mkdir -p "$dir"
  (
    cd /srv/sample/checkout
    env -i PATH=/opt/sample/bin:/usr/bin:/bin HOME=/srv/sample PYTHONDONTWRITEBYTECODE=1 \
      KERNREC_PYTHON_DIR="$dir" KERNREC_PYTHON_CHECKOUT=/srv/sample/checkout \
      BUILDKITE_JOB_ID="$job" BUILDKITE_STEP_KEY="$step" BUILDKITE_RETRY_COUNT=0 \
      ${count:+BUILDKITE_PARALLEL_JOB="$shard" BUILDKITE_PARALLEL_JOB_COUNT="$count"} \
      "$@"
  ) || status=$?
  cat >"$dir/fnrec.json" <<JSON
{
  "step_key": "$step",
  "label": "",
  "job_id": "$job",
  "build": "1",
  "commit": "$commit",
  "parallel_job": "$shard",
  "parallel_job_count": "$count",
  "exit_status": $status,
  "host": "n1",
  "backend": "python",
  "recorder": "sys.monitoring",
  "collection_available": true,
  "collection_error": null,
  "retry_count": "0"
}
JSON
}

record sample-engine engine '' '' pytest -p no:cacheprovider tests/test_engine.py
record sample-models-0 models 0 2 pytest -p no:cacheprovider tests/models/test_llama.py
record sample-models-1 models 1 2 pytest -p no:cacheprovider tests/models/test_mixtral.py
record sample-attention attention '' '' pytest -p no:cacheprovider tests/test_attention.py
record sample-latency latency '' '' python benchmarks/latency.py
mkdir -p "$out"
rm -rf "$out/recordings"
cp -r /srv/sample/checkout/.kernrec "$out/recordings"
