#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Large logs (pain.md P001 and P004), made by make_big_log.py of ../shared (or $AFTERGLOW_SHARED). Skipped where that is not, and in sanitizer builds, whose memory and speed say nothing.

    big_logs.py bigblocks    small logs are listed within five seconds while a big one loads, which tells how far it is
    big_logs.py oom          six runs one after another under a memory limit: no failed request, and later ones need what the first did

Scale: 240,000 tasks (1.1 GB) for P001, which asks for 600,000; 100,000 tasks each (0.4 GB) for P004, which asks for 1,000,000. The limits are those of the cases.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import serving
import tree

MAKER = tree.SHARED / "tools/make_big_log.py"
HEAD_BYTES = 1 << 20  # the id of a run stands in the first lines of its log
CHUNK_BYTES = 1 << 24
LISTED_SECONDS = 5
LOAD_SECONDS = 300
LIMIT_BYTES = 512 << 20
GROWTH = 1.1
KEPT_CONNECTIONS = 64  # DB_POOL_MAX_IDLE in server/db_pool.h: each to a run, with its statements
SAMPLE_SECONDS = 0.02
CGROUPS = pathlib.Path("/sys/fs/cgroup/memory")
FIRST = "app-20260101000000-0001"


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def make(path, tasks, stages):
    """A log of the id FIRST, and what is in it."""
    labels = path.with_suffix(".labels")
    subprocess.run([sys.executable, "-B", MAKER, "-o", path, "--tasks", str(tasks), "--stages", str(stages), "--app-id", FIRST, "--labels", labels], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads(labels.read_text())


def copy(source, target, app):
    """The same log of another id."""
    with source.open("rb") as read, target.open("wb") as write:
        write.write(read.read(HEAD_BYTES).replace(FIRST.encode(), app.encode()))
        while piece := read.read(CHUNK_BYTES):
            write.write(piece)


def get(server, address):
    status, _, body = server.get(address)
    expect(status == 200, f"{address} answered {status}: {body[:200]}")
    return json.loads(body)


def apps(server):
    return {app["appId"]: app for app in get(server, "/api/afterglow/v1/apps?limit=100")["items"] if app["appId"]}


def wait_loaded(server, app):
    end = time.monotonic() + LOAD_SECONDS
    while True:
        row = apps(server).get(app)
        if row and row["loaded"] and row["complete"]:
            return row
        expect(time.monotonic() < end, f"{app} was not loaded in {LOAD_SECONDS} s: {row}")
        time.sleep(0.1)


def check_totals(server, app, labels):
    row = apps(server)[app]
    told = [row["taskCount"], row["stageCount"], row["jobCount"], row["failedTaskCount"]]
    expect(told == [labels["tasks"], labels["stages"], labels["jobs"], labels["failed_tasks"]], f"{app}: tasks, stages, jobs, failed are {told}, not {labels}")
    run_ms = sum(stage["executorRunTime"] for stage in get(server, f"/api/v1/applications/{app}/stages"))
    expect(run_ms == labels["run_ms"], f"{app}: run time {run_ms}, not {labels['run_ms']}")


def bigblocks(work):
    ready, logs = work / "ready", work / "logs"
    ready.mkdir()
    logs.mkdir()
    big = make(ready / "big1", 240000, 40)
    copy(ready / "big1", ready / "big2", "app-20260101000000-0002")
    small = make(ready / "small", 6, 1)
    for n in (3, 4):
        copy(ready / "small", ready / f"small{n}", f"app-20260101000000-000{n}")
    settings = work / "settings.conf"
    settings.write_text("spark.history.fs.update.interval 1s\n")  # the five seconds are for being held up, not for the next look at the folder
    with serving.Server(tree.binary(), [], ["--logs", logs, "--properties-file", settings]) as server:
        for name in ("big1", "small3", "small4", "big2"):
            (ready / name).rename(logs / name)
        start, listed, progress = time.monotonic(), {}, set()
        while len(listed) < 2 or not all(apps(server).get(f"app-20260101000000-000{n}", {}).get("loaded") for n in (1, 2)):
            expect(time.monotonic() - start < LOAD_SECONDS, f"not loaded in {LOAD_SECONDS} s: {apps(server)}")
            for app, row in apps(server).items():
                if row["loaded"] and app[-1] in "34":
                    listed.setdefault(app, time.monotonic() - start)
                if app == FIRST and not row["loaded"] and row["readBytes"] and row["totalBytes"]:
                    progress.add(row["readBytes"] / row["totalBytes"])
            time.sleep(0.05)
        took = time.monotonic() - start
        print(f"small ones after {sorted(round(each, 2) for each in listed.values())} s, all after {took:.1f} s, {len(progress)} figures of progress")
        expect(max(listed.values()) <= LISTED_SECONDS, f"a small log was listed after {max(listed.values()):.1f} s")
        expect(len(progress) >= 2 and all(0 < each <= 1 for each in progress), f"the progress of the big one was {sorted(progress)}")
        for n, labels in ((1, big), (2, big), (3, small), (4, small)):
            wait_loaded(server, f"app-20260101000000-000{n}")
            check_totals(server, f"app-20260101000000-000{n}", labels)


class Limit:
    """A memory limit on the server and what it starts, where this machine lets us have one (control groups, version 1)."""

    def __enter__(self):
        self.group = CGROUPS / f"afterglow-test-{os.getpid()}"
        try:
            self.group.mkdir()
            (self.group / "memory.limit_in_bytes").write_text(str(LIMIT_BYTES))
        except OSError as error:
            print(f"without a hard limit, measured only: {error}")
            self.group = None
        return self

    def join(self):
        if self.group:
            (self.group / "cgroup.procs").write_text(str(os.getpid()))

    def kills(self):
        words = (self.group / "memory.oom_control").read_text().split() if self.group else []
        return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0

    def __exit__(self, *_):
        if self.group:
            self.group.rmdir()


def family(pid):
    """A process and its children."""
    found = [pid]
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == pid:
            found.append(int(stat.parent.name))
    return found


class Peak:
    """The most memory of their own that the server and its children had at once while the block ran. Pages of the databases that they map are the kernel's to take back; the hard limit counts them too."""

    def __init__(self, pid):
        self.pid, self.bytes, self.over = pid, 0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.over.wait(SAMPLE_SECONDS):
            self.bytes = max(self.bytes, sum(map(own_bytes, family(self.pid))))

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def own_bytes(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("RssAnon")), 0)


def open_run(server, app, labels):
    """What somebody looks at: the run, its stage and tasks, in our interface and in the History Server's."""
    check_totals(server, app, labels)
    for stage in get(server, f"/api/v1/applications/{app}/stages"):
        number, tasks = stage["stageId"], stage["numTasks"]
        get(server, f"/api/afterglow/v1/apps/{app}/stages/{number}.0")
        page = get(server, f"/api/afterglow/v1/apps/{app}/stages/{number}.0/tasks?sort=-durationMs&limit=1000")
        expect(page["total"] == tasks, f"{app} stage {number}: {page['total']} tasks, not {tasks}")
        get(server, f"/api/v1/applications/{app}/stages/{number}/0/taskSummary")
    listed = get(server, f"/api/v1/applications/{app}/stages/{number}/0/taskList?length={tasks + 1}&sortBy=-runtime")
    expect(len({task["taskId"] for task in listed}) == tasks, f"{app} stage {number}: {len(listed)} tasks listed, not {tasks}")


def oom(work):
    ready, logs = work / "ready", work / "logs"
    ready.mkdir()
    logs.mkdir()
    names = [f"app-20260101000000-000{n}" for n in range(1, 7)]
    small, smalls = make(ready / "small", 60, 5), [f"app-20260101000000-1{n:03}" for n in range(KEPT_CONNECTIONS)]
    for name in smalls:
        copy(ready / "small", ready / name, name)
    labels = make(ready / names[0], 100000, 5)
    for name in names[1:]:
        copy(ready / names[0], ready / name, name)
    peaks = []
    with Limit() as limit:
        with serving.Server(tree.binary(), [], ["--logs", logs], preexec_fn=limit.join) as server:
            # What every process needs once (threads), and connections up to as many as are kept, are no part of a run.
            for name in smalls:
                (ready / name).rename(logs / name)
            for name in smalls:
                wait_loaded(server, name)
                open_run(server, name, small)
            idle = sum(map(own_bytes, family(server.pid)))
            for name in names:
                with Peak(server.pid) as peak:
                    (ready / name).rename(logs / name)
                    wait_loaded(server, name)
                    open_run(server, name, labels)
                peaks.append(peak.bytes)
            members = family(server.pid)
            with Peak(server.pid) as peak:
                for name in names:
                    open_run(server, name, labels)
            expect(members == family(server.pid), "a process was replaced")
            last = peak.bytes
        expect(limit.kills() == 0, f"{limit.kills()} processes were killed")
    print(f"idle {idle >> 20} MiB, peaks {[each >> 20 for each in peaks]} MiB, all again {last >> 20} MiB")
    expect(max(*peaks, last) <= LIMIT_BYTES, f"a peak is beyond {LIMIT_BYTES >> 20} MiB")
    # How far two threads are apart at the moment of a peak makes some MiB of it, which is much of a run this small: what a run cannot do without is the least of three.
    first, second = min(peaks[:3]) - idle, min(peaks[3:]) - idle
    expect(second <= GROWTH * first, f"the second three runs needed {second / first:.2f} times what the first three did")


def main():
    kinds = {"bigblocks": bigblocks, "oom": oom}
    if len(sys.argv) != 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    if not MAKER.exists():
        tree.skip("make_big_log.py is not there (AFTERGLOW_SHARED)")
    if tree.sanitized(tree.binary()):
        tree.skip("memory and speed of a sanitizer build say nothing")
    with tempfile.TemporaryDirectory(prefix="afterglow-big-") as work:
        try:
            kinds[sys.argv[1]](pathlib.Path(work))
        except Failure as failure:
            print(failure)
            return 1
    return 0


sys.exit(main())
