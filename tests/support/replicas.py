#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several servers of one machine on one store: one writes, all answer, and another one writes when that dies.

    replicas.py CASE        the functions below named case_…
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

import cases
import runs
import tree
from cases import expect

BINARY = tree.binary()
SAMPLES = tree.ROOT / "tests/data/logs"
LOGS = ("healthy_rdd/app-20261129215136-0000.zstd", "failures/app-20261129213331-0000.zstd", "gc_pressure/app-20261129212445-0000.zstd", "tiny_app/local-1795989117127")


def wait_for(what, text, seconds=300):  # a limit is for what hangs
    until = time.monotonic() + seconds
    while not what():
        expect(time.monotonic() < until, text() if callable(text) else text)
        time.sleep(0.1)


class Server:
    def __init__(self, scratch, name):
        self.said = scratch / f"{name}.said"
        conf = scratch / "conf"
        conf.write_text("spark.history.fs.update.interval 1s\nafterglow.load opened\n")
        with self.said.open("w") as errors:
            self.process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0", "--store", scratch / "store", "--logs", scratch / "logs", "--properties-file", conf],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        wait_for(lambda: self.base() or self.process.poll() is not None, f"{name} does not listen")

    def base(self):
        found = re.search(r"listening on (http://[^/\s]+)/", self.said.read_text(errors="replace"))
        return found and found[1]

    def get(self, address):
        try:
            with urllib.request.urlopen(self.base() + address, timeout=300) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read()

    def ingest(self):
        return json.loads(self.get("/api/afterglow/v1/server")[1])["ingest"]

    def apps(self):
        return sorted(app["id"] for app in json.loads(self.get("/api/v1/applications")[1]))

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait()


@contextlib.contextmanager
def two(scratch):
    (scratch / "logs").mkdir()
    for log in LOGS[:3]:
        shutil.copy(SAMPLES / log, scratch / "logs")
    first = Server(scratch, "first")
    wait_for(lambda: first.ingest()["running"] and len(first.apps()) == 3, "the first server lists nothing")
    second = Server(scratch, "second")
    try:
        wait_for(lambda: second.ingest()["standby"], lambda: f"the second server does not stand by: {second.ingest()}")
        yield first, second
    finally:
        for server in (first, second):
            if server.process.poll() is None:
                server.end()


def case_roles(scratch):
    """The second is ready, shows what the first finds, and has loaded what is opened in it. When the first dies it writes; a third then stands by."""
    store = scratch / "store"
    with two(scratch) as (first, second):
        expect(not first.ingest()["standby"], "nobody writes")
        expect(second.get("/readyz")[0] == 200, f"the second is not ready: {second.get('/readyz')}")
        expect(first.apps() == second.apps() and len(second.apps()) == 3, f"{first.apps()} {second.apps()}")
        expect(second.get("/api/afterglow/v1/apps/app-20261129213331-0000")[0] == 409, "a run that is listed only was there")
        wait_for(lambda: second.get("/api/afterglow/v1/apps/app-20261129213331-0000")[0] == 200, "what was opened in the second is not loaded")
        jobs = "/api/v1/applications/app-20261129213331-0000/jobs"
        wait_for(lambda: first.get(jobs)[0] == 200, "the first does not show what it has loaded")
        expect(first.get(jobs) == second.get(jobs), "they answer differently")
        (store / "wishes" / "nonsense").write_text("rm -rf")
        (store / "wishes" / "noise").write_bytes(bytes(range(256)) * 100)
        os.mkfifo(store / "wishes" / "pipe")
        wait_for(lambda: not list((store / "wishes").iterdir()), "wishes that are none stay")
        lock = store.joinpath("writer.lock").read_text()
        expect(re.fullmatch(r"\S+ \d+\n", lock) and lock.strip() in second.said.read_text(), f"who writes: {lock!r}")

        first.end(signal.SIGKILL)
        wait_for(lambda: not second.ingest()["standby"], "the second does not take over")
        shutil.copy(SAMPLES / LOGS[3], scratch / "logs")
        wait_for(lambda: "local-1795989117127" in second.apps(), "the second does not scan")
        expect(second.get("/api/afterglow/v1/apps/app-20261129213331-0000")[0] == 200, "what was loaded is lost")
        third = Server(scratch, "third")
        wait_for(lambda: third.ingest()["standby"] and third.apps() == second.apps(), "the third does not stand by")
        third.end()
        expect(third.process.returncode == 0, "one that stands by does not end in order")
        keys = [log["appKey"] for log in runs.listed(BINARY, store) if log["state"] == "loaded"]
        expect(len(keys) == 1 and runs.dump(BINARY, store, keys[0]), f"{keys}")


def case_worker_killed(scratch):
    """The process that writes is killed, not its server: one of the two is the next to write, whichever is first."""
    with two(scratch) as (first, second):
        pid = int((scratch / "store/writer.lock").read_text().split()[1])
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: [first.ingest()["running"] and not first.ingest()["standby"], second.ingest()["running"] and not second.ingest()["standby"]].count(True) == 1 and
                 int((scratch / "store/writer.lock").read_text().split()[1]) != pid, lambda: f"{first.ingest()} {second.ingest()}")
        shutil.copy(SAMPLES / LOGS[3], scratch / "logs")
        for server in (first, second):
            wait_for(lambda: "local-1795989117127" in server.apps(), "a new log is not seen")


if __name__ == "__main__":
    cases.run(globals())
