#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian package under a systemd of its own: what docker/README.md says is done in a root that systemd-nspawn boots, without a network.
#   booted.sh PACKAGE NEWER_PACKAGE ROOT
# ROOT as for package.sh, which comes first: what the package needs is installed then. systemd is installed into it. As root. Ends with 77 where nothing can be booted.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
package=$1 newer=$2 root=$3

# ---- inside: a service of that root runs this file again
if [ "$package" = inside ]; then
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C
    same() { [ "$2" = "$3" ] && echo "ok: $1" || echo "FAILED: $1: '$2' instead of '$3'"; }
    # Until a command's last line is what it shall be, or a minute is over; then as `same`.
    becomes() {
        local what=$1 wanted=$2 got=
        shift 2
        for _ in $(seq 300); do
            got=$("$@" 2>/dev/null | tail -n 1)
            [ "$got" = "$wanted" ] && break
            sleep 0.2
        done
        same "$what" "$got" "$wanted"
    }
    said() { journalctl -u afterglow --no-pager -o cat _SYSTEMD_INVOCATION_ID="$(systemctl show -p InvocationID --value afterglow)" | grep -o "$1"; }
    loaded() { afterglow list --store /var/lib/afterglow --json | grep -c '"state":"loaded"'; }
    work() {
        groupadd -f spark && { gpasswd -d afterglow spark >/dev/null 2>&1; chgrp -R spark /var/log/spark && chmod -R o-rwx,g+rX /var/log/spark; } # a user of before stays
        apt-get install -qy /srv/old.deb >/srv/apt.log 2>&1 || { echo "FAILED: the package cannot be installed: $(tail -n 3 /srv/apt.log)"; return; }
        becomes "the package starts the service" active systemctl is-active afterglow
        same "and with the machine" "$(systemctl is-enabled afterglow)" enabled
        becomes "it answers" ok curl -s http://127.0.0.1:18080/healthz
        becomes "the process that reads logs is confined under the unit" confined said confined
        same "as it says itself" "$(said 'not confined')" ""
        becomes "logs that it may not read are told" "Permission denied" said "Permission denied"
        usermod -aG spark afterglow && systemctl restart afterglow
        becomes "with the group it reads them" 2 loaded
        cp /srv/spark-defaults.conf /etc/afterglow/afterglow.conf
        printf 'afterglow.store /var/lib/afterglow\n' >>/etc/afterglow/afterglow.conf
        chgrp afterglow /etc/afterglow/afterglow.conf && chmod 640 /etc/afterglow/afterglow.conf
        chmod g+w /var/log/spark
        systemctl restart afterglow
        becomes "a History Server's file is taken, idle keys are told" "retainedApplications does nothing here" said "retainedApplications does nothing here"
        becomes "its cleaner may not write under the unit" "Read-only file system" said "Read-only file system"
        mkdir -p /etc/systemd/system/afterglow.service.d
        printf '[Service]\nReadWritePaths=/var/log/spark\n' >/etc/systemd/system/afterglow.service.d/override.conf
        systemctl daemon-reload && systemctl restart afterglow
        becomes "and may with the drop-in" 1 sh -c 'ls /var/log/spark | wc -l'
        same "the runs stay" "$(loaded)" 1
        find /var/log/spark -mindepth 1 -maxdepth 1 | runuser -u afterglow -- afterglow ingest --store /var/lib/afterglow --from-stdin >/srv/answers 2>&1
        same "a back-fill by its user" "$?" 0
        apt-get install -qy /srv/new.deb >/dev/null 2>&1
        becomes "it is upgraded and runs" active systemctl is-active afterglow
        becomes "it answers again" ok curl -s http://127.0.0.1:18080/healthz
        kill -9 "$(systemctl show -p MainPID --value afterglow)"
        becomes "killed, it is started again" NRestarts=1 systemctl show -p NRestarts afterglow
        becomes "and answers" ok curl -s http://127.0.0.1:18080/healthz
        apt-get purge -qy afterglow >/dev/null 2>&1
        same "purged; nothing is left" "$(ls -d /etc/afterglow /var/lib/afterglow /var/log/afterglow 2>/dev/null)" ""
        same "but the logs" "$(ls /var/log/spark | wc -l)" 1
        echo end
    }
    work >/srv/said 2>&1
    systemctl poweroff
    exit
fi

# ---- outside
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "no root"
command -v systemd-nspawn >/dev/null || skip "systemd-nspawn is not installed (Debian: systemd-container)"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
inside apt-get install -qy --no-install-recommends systemd systemd-sysv dbus curl >/dev/null 2>&1 || skip "no systemd could be installed in $root"
! mountpoint -q "$root/proc" || umount "$root/proc" || skip "$root/proc is in use"
finish() { rm -rf "$root/srv/"{booted.sh,old.deb,new.deb,said,answers,apt.log,spark-defaults.conf} "$root/etc/systemd/system/"{booted.service,multi-user.target.wants/booted.service,afterglow.service.d} "$root/var/log/spark"; }
trap finish EXIT
finish
mkdir -p "$root/var/log/spark"
cp -r "$here"/tests/data/logs/tiny_app/. "$here"/tests/data/logs/idle_executors/. "$root/var/log/spark/"
touch -d '9 days ago' "$root"/var/log/spark/local-*
cp "$0" "$root/srv/booted.sh" && cp "$package" "$root/srv/old.deb" && cp "$newer" "$root/srv/new.deb"
printf 'spark.master yarn\nspark.history.fs.logDirectory file:/var/log/spark\nspark.history.fs.cleaner.enabled true\nspark.history.retainedApplications 100\n' >"$root/srv/spark-defaults.conf"
printf '[Unit]\nAfter=multi-user.target\n[Service]\nExecStart=/bin/bash /srv/booted.sh inside - -\n[Install]\nWantedBy=multi-user.target\n' >"$root/etc/systemd/system/booted.service"
ln -s /etc/systemd/system/booted.service "$root/etc/systemd/system/multi-user.target.wants/booted.service"
# nspawn's own filter knows no Landlock.
timeout --kill-after=10 900 systemd-nspawn --quiet --register=no --keep-unit --private-network --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" -D "$root" --boot >"$root/srv/boot.log" 2>&1 </dev/null
[ -f "$root/srv/said" ] || { tail -n 5 "$root/srv/boot.log" >&2; skip "nothing boots here"; }
cat "$root/srv/said"
grep -q '^end$' "$root/srv/said" && ! grep -q '^FAILED' "$root/srv/said"
