#!/usr/bin/env bash
# Installs the compilers that the tests of symbols/ run: nvcc 13.0, ptxas 12.8 and a few
# real libraries (PyPI wheels, into an ignored folder), clang/lld/llvm 19, cmake and ninja (Debian packages).
# Safe to run again: what is there already is left alone.
#
#   scripts/install-compilers.sh            into .compilers/ of this checkout
#   KERNREC_COMPILERS=DIR scripts/...       into DIR (the tests read the same variable)
set -euo pipefail
cd "$(dirname "$0")/.."

dir="${KERNREC_COMPILERS:-$PWD/.compilers}"
mkdir -p "$dir"

# The toolkit under test, whole: driver, front end, assembler, fat binary writer, oracle.
cuda13=(
  nvidia-cuda-nvcc==13.0.88
  nvidia-cuda-crt==13.0.88
  nvidia-cuda-runtime==13.0.96
  nvidia-nvvm==13.0.88
  nvidia-cuda-cuobjdump==13.2.78
)
# The 12.x wheels hold the assembler and the headers but no nvcc; what one made is in symbols/tests/objects.
cuda12=(
  nvidia-cuda-nvcc-cu12==12.8.93
  nvidia-cuda-runtime-cu12==12.8.90
)
# Real libraries built by CUDA 11.8 to 13.2 and ROCm 6.4 to 7.2, all in one small wheel.
libraries=(bitsandbytes==0.50.2)
debian=(clang-19 lld-19 llvm-19 clang-tools-19 cmake ninja-build)

wheels() { # wheels FOLDER PACKAGE...
  local into="$dir/$1" want
  shift
  want="$*"
  if [ "$(cat "$into/.installed" 2>/dev/null || true)" = "$want" ]; then
    return
  fi
  rm -rf "$into" "$into.new"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
    --no-deps --no-compile --target "$into.new" "$@"
  echo "$want" > "$into.new/.installed"
  mv "$into.new" "$into"
}

wheels cuda-13.0 "${cuda13[@]}"
wheels cuda-12.8 "${cuda12[@]}"
wheels libraries "${libraries[@]}"

missing=()
for package in "${debian[@]}"; do
  dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null |
    grep -qx installed || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

echo "compilers are in $dir"
