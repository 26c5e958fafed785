#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What becomes of the Debian package in a clean root: installed, started as its unit says, upgraded, removed, purged.
#   package.sh PACKAGE NEWER_PACKAGE ROOT
# ROOT: a folder with a Debian 12 in it (debootstrap --variant=minbase) that has package sources; the package is not in it afterwards. A chroot has no systemd: the unit is checked by
# systemd-analyze where there is one, and what it says is done by hand. As root. Ends with 77 where it cannot run.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
package=$1 newer=$2 root=$3
port=18099
server=

fail() { printf 'package.sh: %s\n' "$*" >&2; exit 1; }
ok() { printf 'ok: %s\n' "$*"; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
quiet() { "$@" >"$root/tmp/said" 2>&1 || { tail -n 20 "$root/tmp/said" >&2; return 1; }; }
same() { [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"; ok "$1"; }

[ "$(id -u)" = 0 ] || { echo "skipped: no root"; exit 77; }
[ -x "$root/usr/bin/apt-get" ] || { echo "skipped: $root is no Debian"; exit 77; }
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" || { echo "skipped: cannot mount"; exit 77; }

finish() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server"; }
    inside dpkg --purge afterglow >/dev/null 2>&1
    rm -rf "$work" "$root/tmp/new.deb" "$root/tmp/old.deb" "$root/tmp/said" "$root/var/log/spark"
}
work=$(mktemp -d)
trap finish EXIT

# As the unit does: its user, its command, without rights to get more.
start() {
    local command
    command=$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/afterglow.service")
    # Not by `inside`: the process that is started has to be the server itself, to be stopped.
    chroot "$root" env -i PATH=/usr/bin:/bin setpriv --reuid=afterglow --regid=afterglow --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs $command >"$root/tmp/said" 2>&1 &
    server=$!
    for _ in $(seq 300); do
        [ "$(curl -s --noproxy '*' "http://127.0.0.1:$port/healthz")" = ok ] && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    cat "$root/tmp/said" >&2
    fail "the service does not answer"
}
stop() {
    kill "$server"
    wait "$server"
    same "it ends in order" $? 0
    server=
}
# How many runs are loaded, once none waits.
runs() {
    local asked="http://127.0.0.1:$port/api/afterglow/v1/apps?limit=1" total
    for _ in $(seq 300); do
        total=$(curl -s --noproxy '*' "$asked" | sed 's/.*"total":\([0-9]*\).*/\1/')
        [ "${total:-0}" -gt 0 ] && curl -s --noproxy '*' "$asked&state=waiting" | grep -q '"total":0[,}]' && curl -s --noproxy '*' "$asked&state=loading" | grep -q '"total":0[,}]' && break
        sleep 0.2
    done
    printf '%s\n' "$total"
}

cp "$package" "$root/tmp/old.deb" && cp "$newer" "$root/tmp/new.deb" || fail "the packages cannot be copied"
quiet inside apt-get update -q || fail "apt-get update"
mkdir -p "$root/var/log/spark"
cp -r "$here"/tests/data/logs/. "$root/var/log/spark/"

quiet inside apt-get install -qy --no-install-recommends /tmp/old.deb || fail "the package cannot be installed"
same "it is installed" "$(inside dpkg-query -W -f '${Status}' afterglow)" "install ok installed"
[ "$(inside stat -c '%U:%G %a' /var/lib/afterglow)" = "afterglow:afterglow 750" ] || fail "the store's folder"
ok "the store belongs to the user afterglow alone"
same "others cannot look into /etc/afterglow" "$(inside stat -c '%U:%G %a' /etc/afterglow)" "root:afterglow 750"
same "the service will start with the machine" "$(inside readlink /etc/systemd/system/multi-user.target.wants/afterglow.service)" /lib/systemd/system/afterglow.service
same "the settings are a conffile" "$(inside dpkg-query -W -f '${Conffiles}' afterglow | awk '{ print $1 }')" /etc/afterglow/afterglow.conf
if command -v systemd-analyze >/dev/null 2>&1; then
    # By the units of this machine, which has the rest of a system; the program is not here.
    sed 's#^ExecStart=/usr/bin/afterglow#ExecStart=/bin/true#' "$root/lib/systemd/system/afterglow.service" >"$work/afterglow.service"
    if said=$(systemd-analyze verify "$work/afterglow.service" 2>&1 | grep afterglow.service); then fail "systemd-analyze verify: $said"; fi
    ok "systemd-analyze verify has nothing to say"
    quiet systemd-analyze security --offline=true --threshold=25 "$root/lib/systemd/system/afterglow.service" || fail "systemd-analyze security"
    ok "systemd-analyze security: at most 2.5 of 10"
fi

printf '\n# mine\nspark.history.ui.port %s\nafterglow.listen 127.0.0.1\n' $port >>"$root/etc/afterglow/afterglow.conf"
start
ok "it starts as the unit says"
count=$(runs)
[ "${count:-0}" -gt 20 ] || fail "only ${count:-0} of the sample logs are in the list"
ok "$count sample logs are in the list"
stop

quiet inside apt-get install -qy --no-install-recommends /tmp/new.deb || fail "the package cannot be upgraded"
same "it is upgraded" "$(inside dpkg-query -W -f '${Version}' afterglow)" "$(dpkg-deb -f "$newer" Version)"
grep -q '^# mine$' "$root/etc/afterglow/afterglow.conf" || fail "the settings were overwritten"
ok "the settings are as they were"
rm -rf "$root/var/log/spark"
start
same "the runs are still there, without their logs" "$(runs)" "$count"
stop

quiet inside apt-get remove -qy afterglow || fail "the package cannot be removed"
[ ! -e "$root/usr/bin/afterglow" ] && [ -f "$root/var/lib/afterglow/catalog.db" ] && [ -f "$root/etc/afterglow/afterglow.conf" ] || fail "removal"
ok "removed; store and settings stay"
quiet inside apt-get purge -qy afterglow || fail "the package cannot be purged"
left=$(cd "$root" && ls -d etc/afterglow var/lib/afterglow var/log/afterglow etc/systemd/system/multi-user.target.wants/afterglow.service etc/systemd/system/afterglow.service 2>/dev/null)
same "purged; nothing is left" "$left" ""
