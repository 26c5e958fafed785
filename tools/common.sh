# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share. Sourced by bash, after `set -u`. Quiet while things go well: the output of every command goes to
# build/log/NAME.log, and its end is shown when the command fails.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$ROOT/build
LOGS=$BUILD/log
mkdir -p "$LOGS" || exit 1

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# logged NAME COMMAND…: runs it with its output in the log file; on failure shows the end of that.
logged() {
    local name=$1 status
    shift
    "$@" >"$LOGS/$name.log" 2>&1 </dev/null
    status=$?
    if [ $status -ne 0 ]; then
        tail -n 25 "$LOGS/$name.log" >&2
        printf '(all of it: %s)\n' "$LOGS/$name.log" >&2
    fi
    return $status
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

# The packages of the named sets that are not installed.
missing_packages() {
    local set name
    for set in "$@"; do
        awk -v set="$set" '$1 == set { print $2 }' "$ROOT/tools/packages.txt"
    done | sort -u | while read -r name; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || printf '%s\n' "$name"
    done
}

# True when node ≥ 18 and npm are on the path, wherever they come from.
have_node() {
    local version
    command -v npm >/dev/null 2>&1 || return 1
    version=$(node --version 2>/dev/null) || return 1
    version=${version#v}
    [ "${version%%.*}" -ge 18 ] 2>/dev/null
}

# install SET…: makes sure of the Debian packages of these sets, and of node and npm.
install() {
    local packages
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
        say "This is no Debian: nothing is installed. tools/packages.txt names what is needed."
        return 0
    fi
    packages=$(missing_packages "$@")
    have_node || packages="$packages nodejs npm"
    packages=$(echo $packages)
    [ -n "$packages" ] || return 0
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        die "these Debian packages are missing, and installing them needs root or sudo without a password: $packages"
    fi
    say "Installing with apt: $packages"
    logged apt-update as_root apt-get update -q || die "apt-get update failed"
    logged apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages || die "apt-get install failed"
    hash -r
    have_node || die "node 18 or newer with npm is needed; found $(node --version 2>/dev/null || echo none)"
}

# npm_install FOLDER: npm ci, unless what is installed there is what the lock file says.
npm_install() {
    local folder=$1 mark=$1/node_modules/.lock-installed
    [ -f "$ROOT/$folder/package-lock.json" ] || return 0
    cmp -s "$ROOT/$folder/package-lock.json" "$ROOT/$mark" && return 0
    say "Installing the npm packages of $folder/"
    (cd "$ROOT/$folder" && logged "npm-${folder//\//-}" npm ci --no-audit --no-fund --loglevel=error) || die "npm ci failed in $folder/"
    mkdir -p "$ROOT/$folder/node_modules"
    cp "$ROOT/$folder/package-lock.json" "$ROOT/$mark"
}

# build PRESET TARGET [CMAKE_OPTION…]: configures build/PRESET and builds the target (all: everything).
build() {
    local preset=$1 target=$2
    shift 2
    say "Building build/$preset"
    (cd "$ROOT" && logged "configure-$preset" cmake --preset "$preset" "$@") || die "cmake --preset $preset failed"
    logged "build-$preset" cmake --build "$BUILD/$preset" --target "$target" || die "the build of build/$preset failed"
}
