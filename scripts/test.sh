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
# The crash tests stop a program at each of its system calls; they say so where strace is missing.
if ! command -v strace >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1; then
    step 'install strace'
    if [ "$(id -u)" = 0 ]; then
        apt-get install -y strace || true
    else
        sudo -n apt-get install -y strace || true
    fi
fi

step 'cargo fmt --all --check'
cargo fmt --all --check

step 'cargo clippy --workspace --all-targets -- -D warnings'
cargo clippy --locked --workspace --all-targets -- -D warnings

step 'cargo test --doc --workspace'
cargo test --locked --doc --workspace --quiet

step 'scripts/demo.sh'
scripts/demo.sh

# Last, so that the summary line ends the log.
step 'cargo nextest run --workspace'
cargo nextest run --locked --workspace --no-fail-fast
