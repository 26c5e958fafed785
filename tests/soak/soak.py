#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server under mixed load for MINUTES: memory and open files of both its processes must not grow, no answer may be a 500, the ingest process may not end.

    soak.py MINUTES [--requests PER_SECOND]

A line a minute. The first third is for caches to fill (64 open databases with their statements, 16 MiB of answers), so ten times as much is asked then; the medians of the second and the last are compared. Memory is RssAnon: pages of database files that are mapped belong to the kernel, which takes them back.
Logs that arrive are deleted again beyond KEEP, and runs are put away beyond a budget, so that what is held has an end too.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mixed_load
import serving
import tree

KEEP = 150
BUDGET = "12m"
GROWTH = {"server": (0.03, 2), "worker": (0.10, 6)}  # share and MiB of what a heap breathes, the larger counts; the server's is still, the other's has loads in it
GROWTH_FILES = 8
WARM = 10


def child_of(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return int(done.stdout.split()[0]) if done.stdout.split() else None


def sample(pid):
    """(RssAnon in MiB, open files)"""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))
    return kib / 1024, len(os.listdir(f"/proc/{pid}/fd"))


def grew(values, allowed):
    """How the median of the last third lies above that of the second, and whether that is too much."""
    third = len(values) // 3
    before, after = statistics.median(values[third : 2 * third]), statistics.median(values[2 * third :])
    return before, after, after - before > allowed(before)


def main():
    wish = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wish.add_argument("minutes", type=float)
    wish.add_argument("--requests", type=float, default=5)
    wish = wish.parse_args()
    every = min(60.0, wish.minutes * 60 / 12)  # short runs are for trying the script
    with tempfile.TemporaryDirectory(prefix="afterglow-soak-") as work:
        logs, added, conf = pathlib.Path(work, "logs"), pathlib.Path(work, "added"), pathlib.Path(work, "conf")
        logs.mkdir()
        conf.write_text(f"spark.history.fs.update.interval 1s\nafterglow.uploads.dir {added}\nafterglow.uploads.maxTotalBytes 20m\nafterglow.store.maxBytes {BUDGET}\n")
        with serving.Server(tree.binary(), [], ["--properties-file", conf, "--logs", logs]) as server:
            address = server.base.removeprefix("http://")
            arrivals, uploads = mixed_load.Arrivals(logs, 0.7, KEEP), mixed_load.Uploads(address, 10)
            asking = [mixed_load.Requests(address, 2 / wish.requests, mixed_load.random.Random(seed)) for seed in (4, 5)]
            tasks = [arrivals, uploads, *asking]
            for task in tasks:
                task.start()
            worker, series = child_of(server.pid), {"server": [], "worker": []}
            print("minute  server MiB files   worker MiB files   logs   answers")
            begun = time.monotonic()
            for asker in asking:
                asker.pause /= WARM
            while time.monotonic() - begun < wish.minutes * 60:
                time.sleep(every)
                for asker in asking:
                    asker.learn(arrivals.done)
                    asker.pause = 2 / wish.requests / (WARM if time.monotonic() - begun < wish.minutes * 20 else 1)
                now = {"server": sample(server.pid), "worker": sample(worker)}
                for name, values in now.items():
                    series[name].append(values)
                answers = sum(sum(asker.statuses.values()) for asker in asking)
                print(f"{(time.monotonic() - begun) / 60:6.1f} {now['server'][0]:11.1f} {now['server'][1]:5} {now['worker'][0]:12.1f} {now['worker'][1]:5} {len(arrivals.done):6} {answers:9}", flush=True)
            for task in tasks:
                task.stop()
            complaints = [text for asker in asking for text in asker.wrong]
            if child_of(server.pid) != worker:
                complaints.append("the ingest process ended and was started again")
    for name, values in series.items():
        share, most = GROWTH[name]
        before, after, bad = grew([mib for mib, _ in values], lambda mib: max(mib * share, most))
        print(f"{name}: {before:.1f} MiB, then {after:.1f} MiB")
        complaints += [f"the memory of the {name} grew"] * bad
        before, after, bad = grew([files for _, files in values], lambda _: GROWTH_FILES)
        print(f"{name}: {before:g} files, then {after:g} files")
        complaints += [f"the open files of the {name} grew"] * bad
    statuses = {}
    for asker in asking:
        for status, count in asker.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    print(f"{arrivals.count} logs arrived, {uploads.taken} of {uploads.count} uploads taken, answers by status {dict(sorted(statuses.items()))}, {sum(asker.away for asker in asking)} broke off")
    for complaint in complaints[:20]:
        print(complaint)
    sys.exit(1 if complaints else 0)


main()
