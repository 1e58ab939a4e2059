#!/usr/bin/env bash
# Installs the Debian packages of the given lists that are not installed yet.
#
#   scripts/install_packages.sh scripts/packages_build.txt [LIST...]
set -euo pipefail

wanted=$(cat "$@" | sed -e 's/#.*//' | xargs -n1 | sort -u)
# A package of several architectures prints a line for each; an unknown package prints none. An installed package may
# provide another one of the list (a Node.js from elsewhere provides npm), which would then conflict with it.
# shellcheck disable=SC2086 # one argument a package
installed=$(dpkg-query -W -f '${Package} ${db:Status-Abbrev} ${Provides}\n' $wanted 2>/dev/null |
    awk '$2 == "ii" { print $1; for (i = 3; i <= NF; ++i) if ($i !~ /[()]/) { sub(/,$/, "", $i); print $i } }' |
    sort -u || true)
missing=$(comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed"))
[ -n "$missing" ] || exit 0

# shellcheck disable=SC2086
echo "Installing:" $missing
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "$0: installing packages needs root, and there is no sudo" >&2
        exit 1
    }
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
# shellcheck disable=SC2086
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
