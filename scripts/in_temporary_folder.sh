#!/usr/bin/env bash
# Runs a command with a temporary folder of its own; fails if the command leaves anything there.
#
#   scripts/in_temporary_folder.sh ctest --preset dev
set -uo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0
TMPDIR=$folder "$@" || code=$?
left=$(ls -A "$folder")
[ -n "$left" ] || exit "$code"
# shellcheck disable=SC2086 # one name a word
echo "$0: $1 has left in its temporary folder:" $left >&2
exit $((code == 0 ? 1 : code))
