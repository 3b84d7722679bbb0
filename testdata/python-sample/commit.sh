#!/usr/bin/env bash
# Prints the commit that the recordings name: that of the files of project/, with a fixed author and date, so that it is
# the same everywhere. With a folder as its argument, the repository with that commit is made there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(mktemp -d)}
[ -n "${1:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
cp -r "$here/project/." "$work"
cd "$work"
export GIT_AUTHOR_NAME=sample GIT_AUTHOR_EMAIL=sample@example.org GIT_COMMITTER_NAME=sample GIT_COMMITTER_EMAIL=sample@example.org
export GIT_AUTHOR_DATE=2030-01-01T00:00:00Z GIT_COMMITTER_DATE=2030-01-01T00:00:00Z GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init --quiet --initial-branch main
git -c core.autocrlf=false add --all
git -c commit.gpgsign=false commit --quiet --message "The sample"
git rev-parse HEAD
