# SPDX-License-Identifier: Apache-2.0
"""Load on a server as a working day makes it: logs arrive, grow, get their final name, are deleted; people and scripts ask; logs are added through the browser. For failures.py and soak.py."""
import http.client
import os
import pathlib
import random
import re
import threading
import time
import urllib.parse
import uuid

import tree

TEMPLATES = ["tiny_app", "idle_executors", "python_udf", "skew_hot_key", "straggler_even_bytes"]  # those that are plain text
PIECES = 6
HEAD = {"X-Afterglow-Upload": "1", "Content-Type": "application/octet-stream"}


def templates():
    """(application id, content) of small logs of the tree, one file each."""
    files = [next((tree.ROOT / "tests/data/logs" / name).iterdir()) for name in TEMPLATES]
    contents = [file.read_bytes() for file in files]
    return [(re.search(rb'"App ID":"([^"]+)"', content)[1], content) for content in contents]


def renamed(template, name):
    old, content = template
    return content.replace(old, name.encode())


class Task(threading.Thread):
    """Does `step()` every `pause` seconds until `stop()`."""

    def __init__(self, pause):
        super().__init__(daemon=True)
        self.pause, self.ended, self.error = pause, threading.Event(), None

    def run(self):
        try:
            while not self.ended.wait(self.pause):
                self.step()
            self.finish()
        except Exception as error:
            self.error = error

    def finish(self):
        pass

    def stop(self):
        self.ended.set()
        self.join()
        if self.error:
            raise self.error


class Arrivals(Task):
    """Every `pause` seconds a piece of a log; three grow at a time. With `keep`, the oldest are deleted beyond so many. What was begun is ended by stop()."""

    def __init__(self, folder, pause, keep=None, chance=None):
        super().__init__(pause)
        self.folder, self.keep, self.chance = pathlib.Path(folder), keep, chance or random.Random(1)
        self.templates, self.growing, self.done, self.count = templates(), [], [], 0

    def step(self):
        if len(self.growing) < 3:
            self.count += 1
            name = f"app-20261130{self.count:06}-0000"
            lines = renamed(self.chance.choice(self.templates), name).splitlines(keepends=True)
            size = -(-len(lines) // PIECES)
            self.growing.append((name, [b"".join(lines[i : i + size]) for i in range(0, len(lines), size)]))
        name, pieces = self.chance.choice(self.growing)
        self.write(name, pieces)
        while self.keep is not None and len(self.done) > self.keep:
            os.unlink(self.folder / self.done.pop(0))

    def write(self, name, pieces):
        with open(self.folder / f"{name}.inprogress", "ab") as log:
            log.write(pieces.pop(0))
        if not pieces:
            os.rename(self.folder / f"{name}.inprogress", self.folder / name)
            self.growing = [item for item in self.growing if item[0] != name]
            self.done.append(name)

    def finish(self):
        while self.growing:
            self.write(*self.growing[0])


class Requests(Task):
    """Every `pause` seconds a request, of all kinds. Counts answers by status in `statuses`, and those that must not be in `wrong`; who is not there is `away`."""

    LISTS = ["/api/afterglow/v1/apps", "/api/afterglow/v1/apps?sort=-duration&limit=100", "/api/afterglow/v1/apps?q=app-2026&state=loaded", "/api/afterglow/v1/facets", "/api/afterglow/v1/status",
             "/api/afterglow/v1/server", "/api/v1/applications?limit=50", "/metrics", "/readyz", "/", "/status", "/api/afterglow/v1/no-such", "/history/no-such/jobs"]
    RUNS = ["", "/health", "/findings", "/account", "/timeline", "/chain", "/what-ifs", "/baseline", "/jobs", "/stages", "/stages/0.0", "/stages/0.0/tasks?sort=-durationMs", "/stages/0.0/analysis",
            "/stages/0.0/timeline", "/sql", "/sql/0", "/executors", "/hosts", "/environment", "/storage", "/streaming", "/search?q=a", "/report?format=html"]
    OLD = ["", "/jobs", "/stages", "/stages?details=true", "/stages/0/0/taskList", "/executors", "/environment", "/sql?details=true", "/storage/rdd", "/logs"]

    def __init__(self, address, pause, chance=None):
        super().__init__(pause)
        self.address, self.chance = address, chance or random.Random(2)
        self.statuses, self.wrong, self.away, self.names = {}, [], 0, []

    def step(self):
        kind = self.chance.random()
        if kind < 0.3 or not self.names:
            path = self.chance.choice(self.LISTS)
        elif kind < 0.4 and len(self.names) > 1:
            path = "/api/afterglow/v1/compare?" + urllib.parse.urlencode(dict(zip(("base", "new"), self.chance.sample(self.names, 2))))
        elif kind < 0.8:
            path = f"/api/afterglow/v1/apps/{self.chance.choice(self.names)}{self.chance.choice(self.RUNS)}"
        else:
            path = f"/api/v1/applications/{self.chance.choice(self.names)}{self.chance.choice(self.OLD)}"
        try:
            self.note(path, *self.ask(path))
        except (OSError, http.client.HTTPException):
            self.away += 1

    def ask(self, path):
        connection = http.client.HTTPConnection(self.address, timeout=300)
        try:
            headers = {"Accept-Encoding": "gzip"} if self.chance.random() < 0.5 else {}
            connection.request("GET", path, headers=headers)
            if self.chance.random() < 0.01:  # somebody who goes away before the answer
                return 0, b""
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def note(self, path, status, body):
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status >= 500 and status != 503:
            self.wrong.append(f"{path}: {status} {body[:200]!r}")

    def learn(self, names):
        """Runs that are asked for from now on."""
        self.names = list(names)[-300:]


class Uploads(Task):
    """Every `pause` seconds a log is added as a browser does it; every fourth breaks off."""

    def __init__(self, address, pause, chance=None):
        super().__init__(pause)
        self.address, self.chance = address, chance or random.Random(3)
        self.templates, self.count, self.taken = templates(), 0, 0

    def step(self):
        self.count += 1
        name = f"app-20261131{self.count:06}-0000"
        body = renamed(self.chance.choice(self.templates[:3]), name)
        connection = http.client.HTTPConnection(self.address, timeout=300)
        try:
            path = f"/api/afterglow/v1/uploads?upload={uuid.UUID(int=self.chance.getrandbits(128)).hex}&name={name}"
            if self.count % 4 == 0:
                connection.putrequest("POST", path)
                for key, value in {**HEAD, "Content-Length": str(len(body))}.items():
                    connection.putheader(key, value)
                connection.endheaders()
                connection.send(body[: len(body) // 2])
                time.sleep(0.2)
            else:
                connection.request("POST", path, body=body, headers=HEAD)
                self.taken += connection.getresponse().status < 300
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
