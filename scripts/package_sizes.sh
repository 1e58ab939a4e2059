#!/usr/bin/env bash
# What the Debian packages of the given lists add to a bare Debian with git and make, by the package index: their
# number, the bytes that apt downloads, and those that they fill. Installs nothing.
#
#   scripts/package_sizes.sh scripts/packages_build.txt [LIST...]
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/nothing_installed"

# Everything that the packages need, themselves included.
needed_by() {
    apt-get -o Dir::State::status="$work/nothing_installed" -o Debug::NoLocking=1 install --simulate \
        --no-install-recommends "$@" | awk '/^Inst/ { print $2 }' | sort -u
}

bare=$(apt-cache dumpavail |
    awk '/^Package:/ { name = $2 } /^Essential: yes/ || /^Priority: required/ { print name }' | sort -u)
# shellcheck disable=SC2086,SC2046 # one argument a package
{
    needed_by $bare apt ca-certificates git make >"$work/bare"
    needed_by $bare apt ca-certificates git make $(cat "$@" | sed -e 's/#.*//') >"$work/all"
}
comm -13 "$work/bare" "$work/all" >"$work/added"
xargs apt-cache show --no-all-versions <"$work/added" |
    awk -v packages="$(wc -l <"$work/added")" '/^Installed-Size:/ { filled += $2 } /^Size:/ { fetched += $2 }
        END { printf "%d packages, %.0f MB to download, %.0f MB in /usr\n", packages, fetched / 1e6, filled * 1024 / 1e6 }'
