#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""afterglow.history.exact, with and without: `wait` (requests for a run that is not loaded wait, and hold up nobody), `lists` (lists of /api/v1 ignore the access lists)."""
import concurrent.futures
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import serving
import tree

LOG = tree.ROOT / "tests/data/logs/tiny_app"
MANY = 40  # more than the server has threads
LOOKS_SECONDS = 1  # the server looks so often
AT_ONCE_SECONDS = 30  # not waited for: that would take a minute
PATIENCE_SECONDS = 300


def get(server, path, **headers):
    """(status, headers, body, seconds); status 0: the connection was closed."""
    began = time.monotonic()
    try:
        with urllib.request.urlopen(urllib.request.Request(server.base + path, headers=headers), timeout=300) as answer:
            return answer.status, answer.headers, answer.read(), time.monotonic() - began
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read(), time.monotonic() - began
    except OSError:
        return 0, {}, b"", time.monotonic() - began


def set_state(server, loaded, state):
    with contextlib.closing(sqlite3.connect(f"{server.folder.name}/store/catalog.db", timeout=300)) as catalog, catalog:
        catalog.execute("UPDATE log SET state = ?", (state,))
        catalog.execute("UPDATE app SET loaded = ?", (loaded,))


@contextlib.contextmanager
def serve(settings, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(settings)
        file.flush()
        with serving.Server(tree.binary(), [LOG], ["--properties-file", file.name, *arguments]) as server:
            yield server


def jobs_of(server, **headers):
    return "/api/v1/applications/" + json.loads(get(server, "/api/v1/applications", **headers)[2])[0]["id"] + "/jobs"


def without_wait():
    with serve("") as server:
        jobs = jobs_of(server)
        set_state(server, 0, "waiting")
        status, headers, _, seconds = get(server, jobs)
        assert (status, headers["Retry-After"]) == (503, "2") and seconds < AT_ONCE_SECONDS, (status, seconds)


def with_wait():
    with serve("afterglow.history.exact wait") as server, concurrent.futures.ThreadPoolExecutor(MANY) as pool:
        jobs = jobs_of(server)
        set_state(server, 0, "failed")
        status, _, _, seconds = get(server, jobs)
        assert status == 503 and seconds < AT_ONCE_SECONDS, "what will not be loaded is not waited for"
        set_state(server, 0, "loading")
        waiting = [pool.submit(get, server, jobs) for _ in range(MANY)]
        time.sleep(2.5 * LOOKS_SECONDS)
        assert not any(one.done() for one in waiting)
        assert get(server, "/healthz")[3] < AT_ONCE_SECONDS, "nobody is held up"
        set_state(server, 1, "loaded")
        for one in waiting:
            status, _, body, _ = one.result(PATIENCE_SECONDS)
            assert status == 200 and json.loads(body), status
        set_state(server, 0, "waiting")
        last = pool.submit(get, server, jobs)
        time.sleep(LOOKS_SECONDS)
        server.process.terminate()
        assert last.result(PATIENCE_SECONDS)[0] in (0, 503), "the end of the server is the end of waiting"
        assert server.process.wait(PATIENCE_SECONDS) == 0


def with_wait_for_a_lost_file():
    with serve("afterglow.history.exact wait\nspark.history.fs.update.interval 1s\n", "--logs", LOG) as server:
        jobs = jobs_of(server)
        assert get(server, jobs)[0] == 200
        for file in pathlib.Path(server.folder.name, "store/apps").glob("*.db*"):
            file.unlink()
        status, _, body, _ = get(server, jobs)
        assert status == 200 and json.loads(body), "what was loaded and is not there any more is made anew, and that is waited for"


def lists():
    access = "spark.history.ui.acls.enable true\nafterglow.auth.header X-User\n"
    seen = lambda server, path: (lambda answer: (answer[0], answer[2]))(get(server, path, **{"X-User": "stranger"}))
    with serve(access) as server:
        app = jobs_of(server).removesuffix("/jobs")
        assert seen(server, "/api/v1/applications") == (200, b"[ ]")
        assert seen(server, app)[0] == 403
    with serve(access + "afterglow.history.exact lists") as server:
        app = jobs_of(server).removesuffix("/jobs")
        assert len(json.loads(seen(server, "/api/v1/applications")[1])) == 1
        assert seen(server, app)[0] == 200
        for path in [f"{app}/jobs", f"{app}/logs", app.replace("/api/v1/applications", "/api/afterglow/v1/apps"), app.replace("/api/v1/applications", "/a")]:
            assert seen(server, path)[0] == 403, path
        assert json.loads(seen(server, "/api/afterglow/v1/apps")[1])["total"] == 0


def unknown_word():
    with tempfile.TemporaryDirectory() as folder:
        settings = pathlib.Path(folder, "settings")
        settings.write_text("afterglow.history.exact lists, everything\n")
        done = subprocess.run([tree.binary(), "serve", "--store", f"{folder}/store", "--logs", folder, "--properties-file", settings], capture_output=True, text=True, timeout=300)
        assert done.returncode == 2 and "'everything' is neither lists nor wait" in done.stderr, done.stderr


for test in (without_wait, with_wait, with_wait_for_a_lost_file, lists, unknown_word):
    test()
    print(f"{test.__name__} passed")
