#!/bin/bash
# Builds the recorder's libraries and the programs for x86-64 Linux: the same bytes wherever it is done.
#
#   scripts/cross-build.sh [--libraries] [--out DIR] [--twice | --record]
#
#   --libraries  only the libraries that are loaded into other people's processes
#   --out DIR    where the results go, made anew; default target/cross/out
#   --twice      builds again: from a copy of the checkout in another folder, with another home, cargo home and
#                toolchain folder, and as another user if run by root; then compares. Exit status 3: not the same
#   --record     writes the digests of the libraries to recorder/digests.txt
#
# What decides about a byte is pinned here, in rust-toolchain.toml and in Cargo.lock. To build with something else,
# with another result, set KERNREC_TOOLCHAIN, KERNREC_ZIG, KERNREC_ZIGBUILD or KERNREC_GLIBC. The tools are kept in
# KERNREC_BUILD_TOOLS, by default .build-tools of the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
checkout=$(pwd -P)

toolchain=${KERNREC_TOOLCHAIN:-$(sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml)}
zig=${KERNREC_ZIG:-0.14.1}
zigbuild=${KERNREC_ZIGBUILD:-0.24.1}
glibc=${KERNREC_GLIBC:-2.17}
tools=${KERNREC_BUILD_TOOLS:-$checkout/.build-tools}
triple=x86_64-unknown-linux-gnu
target=$checkout/target/cross
out=$target/out

fail() {
    echo "cross-build: $*" >&2
    exit 1
}

only_libraries='' twice='' record=''
while [ $# -gt 0 ]; do
    case $1 in
    --libraries) only_libraries=--libraries ;;
    --out) out=$(realpath -m "${2:?--out needs a folder}") && shift ;;
    --twice) twice=1 ;;
    --record) record=1 ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
    esac
    shift
done

# It is removed first: a folder of something else was not meant.
[ -z "$(ls -A "$out" 2>/dev/null)" ] || [ -f "$out/libkernrec_cupti.so" ] || fail "$out holds something else"

# The C compiler and linker and what drives them, from PyPI, each of one version and none of the system's.
install_tools() {
    local want="ziglang==$zig cargo-zigbuild==$zigbuild"
    if [ "$(cat "$tools/.installed" 2>/dev/null)" = "$want" ]; then
        return
    fi
    rm -rf "$tools"
    python3 -m venv "$tools"
    # shellcheck disable=SC2086  # two words
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check $want
    echo "$want" >"$tools/.installed"
}

# Runs a command with nothing of the caller's environment but what finds the toolchain and the registry.
cleanly() {
    local kept name=()
    for kept in $(compgen -e); do
        case $kept in
        PATH | HOME | TMPDIR | CARGO_HOME | RUSTUP_* | *_proxy | *_PROXY | SSL_CERT_* | \
            CARGO_HTTP_* | CARGO_NET_* | CARGO_REGISTR* | CARGO_SOURCE_*)
            name+=("$kept=${!kept}") ;;
        esac
    done
    env -i "${name[@]}" LC_ALL=C TZ=UTC RUSTUP_TOOLCHAIN="$toolchain" "$@"
}

# Where this machine keeps things must not be in the results. Of two prefixes that fit, rustc takes the last.
compile() {
    local home=${CARGO_HOME:-$HOME/.cargo} sysroot commit flags=() prefixes joined
    sysroot=$(cleanly rustc --print sysroot)
    commit=$(cleanly rustc -vV | sed -n 's/^commit-hash: //p')
    cleanly rustc -V | grep -qF " $toolchain " || fail "rustc is not $toolchain: $(cleanly rustc -V)"
    prefixes=("$checkout=/kernrec" "$home=/cargo" "$sysroot=/rust"
        "$sysroot/lib/rustlib/src/rust=/rustc/$commit")
    flags=("${prefixes[@]/#/--remap-path-prefix=}" -Clink-arg=-Wl,--build-id=none)
    joined=$(printf '%s\x1f' "${flags[@]}")
    cleanly env \
        CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0 CARGO_ENCODED_RUSTFLAGS="${joined%?}" \
        CFLAGS="${prefixes[*]/#/-ffile-prefix-map=} -g0" SOURCE_DATE_EPOCH=0 ZERO_AR_DATE=1 \
        CARGO_ZIGBUILD_ZIG_PATH="$(echo "$tools"/lib/python3*/site-packages/ziglang/zig)" \
        CARGO_ZIGBUILD_CACHE_DIR="$target/zigbuild" \
        ZIG_GLOBAL_CACHE_DIR="$target/zig" ZIG_LOCAL_CACHE_DIR="$target/zig" \
        "$tools/bin/cargo-zigbuild" "$@" --locked --quiet --target "$triple.$glibc"
}

build() {
    local name
    rm -rf "$out"
    mkdir -p "$out"
    for name in kernrec-cupti kernrec-cupti-forwarders kernrec-rocprofiler kernrec-python-extension; do
        compile rustc --profile recorder -p "$name" --lib --crate-type cdylib
        cp "$target/$triple/recorder/lib${name//-/_}.so" "$out/"
    done
    [ -z "$only_libraries" ] || return 0
    compile zigbuild --release -p kernrec-cli --bins
    for name in kernrec kernrec-publish ci-fetch-kernel-record; do
        cp "$target/$triple/release/$name" "$out/"
    done
}

# `kernrec verify build`, of what was just built if it can be run, else of a debug build.
verify() {
    if [ -x "$out/kernrec" ]; then
        "$out/kernrec" verify build "$@"
    else
        cargo run --locked --quiet -p kernrec-cli --bin kernrec -- verify build "$@"
    fi
}

# Everything that may differ between two machines does: the folders, the user, what is in the homes.
build_elsewhere() { # build_elsewhere FOLDER
    local as=() sysroot
    mkdir -p "$1/elsewhere/kernrec" "$1/home" "$1/cargo/registry"
    git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -C "$1/elsewhere/kernrec" -x
    sysroot=$(cleanly rustc --print sysroot)
    cp -al "$sysroot" "$1/rust" 2>/dev/null || cp -a "$sysroot" "$1/rust"
    cp -al "$tools" "$1/tools" 2>/dev/null || cp -a "$tools" "$1/tools"
    # Spares the network; the sources are unpacked anew.
    cp -R "${CARGO_HOME:-$HOME/.cargo}"/registry/{cache,index} "$1/cargo/registry/"
    if [ "$(id -u)" = 0 ]; then
        chmod 0755 "$1"
        chown -R nobody: "$1/elsewhere" "$1/home" "$1/cargo"
        as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
    fi
    (
        cd /
        umask 027
        "${as[@]}" env HOME="$1/home" CARGO_HOME="$1/cargo" PATH="$1/rust/bin:$PATH" \
            KERNREC_BUILD_TOOLS="$1/tools" "$1/elsewhere/kernrec/scripts/cross-build.sh" $only_libraries
    )
}

install_tools
build
if [ -n "$record" ]; then
    verify "$out" --record recorder/digests.txt
fi
if [ -n "$twice" ]; then
    second=$(mktemp -d)
    trap 'rm -rf "$second"' EXIT
    build_elsewhere "$second"
    verify "$out" "$second/elsewhere/kernrec/target/cross/out"
fi
