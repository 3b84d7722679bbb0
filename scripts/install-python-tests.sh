#!/usr/bin/env bash
# Installs what the tests of recorder/python run: a virtual environment with pytest and coverage for each supported
# Python, and the source of a large package with its own tests. Safe to run again: what is there is left alone.
#
#   scripts/install-python-tests.sh               into .python-tests/ of this checkout
#   KERNREC_PYTHON_TESTS=DIR scripts/...          into DIR (the tests read the same variable)
#
# The Pythons are found as the tests find them: on PATH, then among pyenv's versions.
set -euo pipefail
cd "$(dirname "$0")/.."

dir="${KERNREC_PYTHON_TESTS:-$PWD/.python-tests}"
packages=(pytest==9.2.0 pytest-xdist==3.8.0 coverage==7.17.5)
source_of=docutils==0.23
mkdir -p "$dir"

find_python() { # find_python 3.12
  local candidate
  for candidate in $(type -ap "python$1" python3) "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$1" ]; then
      echo "$candidate"
      return
    fi
  done
  echo "install-python-tests: no Python $1 on PATH or among pyenv's versions" >&2
  return 1
}

for version in 3.12 3.13; do
  venv="$dir/venv-$version"
  want="${packages[*]}"
  if [ "$(cat "$venv/.installed" 2>/dev/null || true)" = "$want" ]; then
    continue
  fi
  python=$(find_python "$version")
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
  echo "$want" >"$venv/.installed"
done

if [ "$(cat "$dir/source/.installed" 2>/dev/null || true)" != "$source_of" ]; then
  rm -rf "$dir/source" "$dir/source.new"
  mkdir -p "$dir/source.new"
  "$dir/venv-3.12/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
    --dest "$dir/source.new" "$source_of"
  tar -xf "$dir"/source.new/*.tar.gz -C "$dir/source.new" --strip-components 1
  echo "$source_of" >"$dir/source.new/.installed"
  mv "$dir/source.new" "$dir/source"
fi

echo "Python's test environments are in $dir"
