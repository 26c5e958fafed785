#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A back-fill: `afterglow ingest --from-stdin` makes databases that the worker of a store adopts.

    backfill.py CASE        the functions below named case_…
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import cases
import runs
import serving
import tree
from cases import expect

BINARY = tree.binary()
SAMPLES = tree.ROOT / "tests/data/logs"
SPARK = "4.3.0"
LOGS_OF_SPARK = 300          # as a test; docker/README.md has the figures of 3000


def back_fill(store, lines, *arguments, **popen):
    """The finished process and its answers, in the order in which they came."""
    done = subprocess.run([BINARY, "ingest", "--store", str(store), "--from-stdin", *arguments], input="".join(f"{line}\n" for line in lines), capture_output=True, text=True,
                          errors="replace", timeout=3600, **popen)
    done.rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done


def sample_logs(folder):
    """Paths of all logs below a folder, as a load of it names them."""
    with tempfile.TemporaryDirectory() as scratch:
        return sorted(row["path"] for row in runs.ingest(BINARY, f"{scratch}/store", folder).rows if row["key"])


def dumps(store):
    return {log["appKey"]: runs.dump(BINARY, store, log["appKey"]) for log in runs.listed(BINARY, store) if log["state"] in ("loaded", "partial")}


TIMES = ("logId", "placeId", "generation", "firstSeenMs", "changedMs", "grownMs", "loadMs")


def list_of(store):
    """The list without what differs from one load to the next, and without the remark on a log that is whole, which is not in a run's file."""
    return sorted((json.dumps({k: v for k, v in log.items() if k not in TIMES and not (k == "reason" and log["state"] == "loaded")}, sort_keys=True) for log in runs.listed(BINARY, store)))


def arrivals(store):
    return sorted(path.name for path in pathlib.Path(store, "arrivals").iterdir())


def case_same(scratch):
    """A store that was back-filled is the store that a load makes: rows, judgements, list. Once adopted, nothing is read again."""
    logs = sample_logs(SAMPLES)
    loaded, filled = scratch / "loaded", scratch / "filled"
    expect(runs.ingest(BINARY, loaded, SAMPLES).returncode == 0, "the load failed")
    done = back_fill(filled, logs)
    expect(done.returncode == 0 and sorted(row["path"] for row in done.rows) == logs, f"exit {done.returncode}, {len(done.rows)} answers: {done.stderr}")
    expect(sorted(p.name for p in filled.iterdir()) == ["arrivals"], "more than arrivals/ was written")
    expect(arrivals(filled) == sorted(row["key"] + ".db" for row in done.rows), "databases and answers differ")
    told = {row["path"]: row for row in done.rows}
    for row in runs.ingest(BINARY, scratch / "answers", SAMPLES).rows:
        if row["key"]:
            expect({**told[row["path"]], "seconds": 0} == {**row, "seconds": 0}, f"the answer {told[row['path']]} is not {row}")
    again = back_fill(filled, logs[:5])
    expect([row["message"] for row in again.rows] == ["it is in the store already"] * 5, "a database was made twice")
    took = runs.ingest(BINARY, filled, SAMPLES)
    expect(took.returncode == 0 and sorted(row["path"] for row in took.rows if row["key"]) == logs, "a log is told twice, or not")
    expect(arrivals(filled) == [], f"not adopted: {arrivals(filled)}")
    expect(list_of(filled) == list_of(loaded), "the lists differ:\n" + "\n".join(sorted(set(list_of(filled)) ^ set(list_of(loaded)))[:6]))
    left, right = dumps(filled), dumps(loaded)
    expect(left.keys() == right.keys() and len(left) == len(logs), "the runs differ")
    expect(left == right, f"the dumps of {[key for key in left if left[key] != right[key]][:5]} differ")
    generations = {log["appKey"]: log["generation"] for log in runs.listed(BINARY, filled)}
    runs.ingest(BINARY, filled, SAMPLES)
    expect(generations == {log["appKey"]: log["generation"] for log in runs.listed(BINARY, filled)}, "a run was loaded again")
    expect([row["message"] for row in back_fill(filled, logs[:5]).rows] == ["it is in the store already"] * 5, "a database was made again")


def case_shares(scratch):
    """Each path falls to one share, whatever process gets the list."""
    lines = [f"/nowhere/app-{i:04}" for i in range(300)]
    parts = [[row["path"] for row in back_fill(scratch / "store", lines, "--share", f"{i}/4").rows] for i in range(4)]
    expect(sorted(path for part in parts for path in part) == lines, "the shares are not the list")
    expect(all(45 < len(part) < 110 for part in parts), f"shares of {[len(part) for part in parts]}")
    for wrong in ("4/4", "-1/4", "1", "a/b", "1/0", "1/4/2"):
        expect(back_fill(scratch / "store", [], "--share", wrong).returncode == 2, f"--share {wrong} was taken")
    expect(back_fill(scratch / "store", [], "--watch").returncode == 2 and back_fill(scratch / "store", [], "/tmp").returncode == 2, "other sources of logs were taken")


def case_answers(scratch):
    """One answer a line, whatever the line says; faults of logs are no fault of the work. What cannot be stored is."""
    good = str(SAMPLES / "tiny_app/local-1795989117127")
    folder = scratch / "logs"
    folder.mkdir()
    (folder / "no-log").write_text("nothing\n")
    (folder / "empty").touch()
    (folder / "app-1-cut").write_bytes(pathlib.Path(good).read_bytes()[:60000])
    os.mkfifo(folder / "pipe")
    lines = [f"{folder}/missing", f"{folder}/no-log", f"{folder}/empty", f"{folder}/pipe", str(SAMPLES), "x" * 9000, "ftp://host/log", f"{folder}/app-1-cut", "", f"{good}\r", "../../../etc/passwd"]
    done = back_fill(scratch / "store", lines, "--jobs", "3")
    states = {row["path"]: row["state"] for row in done.rows}
    expect(done.returncode == 0 and len(done.rows) == 10, f"exit {done.returncode}, {len(done.rows)} answers")
    expect(states.pop(good) == "loaded" and states.pop(f"{folder}/app-1-cut") == "partial", "the readable ones")
    expect(set(states.values()) == {"failed"} and all(row["message"] for row in done.rows if row["state"] == "failed"), f"{states}")
    last = subprocess.run([BINARY, "ingest", "--store", scratch / "store", "--from-stdin"], input=good, capture_output=True, text=True, timeout=300)
    expect(last.stdout.count("\n") == 1 and last.returncode == 0, "a last line without its end was lost")
    (scratch / "file").touch()
    expect(back_fill(scratch / "file", [good]).returncode == 1, "a store that is a file")
    denied = back_fill(scratch / "store", [f"{folder}/app-1-cut", good], env={**os.environ, "TMPDIR": "/nowhere"})
    expect(denied.returncode == 1 and "temporary" in denied.stderr, denied.stderr)


def case_confined(scratch):
    """The process that reads a log sees that log and no other; a link that somebody names is the log it leads to, one inside a log leads nowhere."""
    good = (SAMPLES / "tiny_app/local-1795989117127").read_text().splitlines(keepends=True)
    elsewhere, logs = scratch / "elsewhere", scratch / "logs"
    rolled = logs / "eventlog_v2_local-1795989117127"
    elsewhere.mkdir()
    rolled.mkdir(parents=True)
    (elsewhere / "local-1795989117127").write_text("".join(good))
    (elsewhere / "rest").write_text("".join(good[20:]))
    (logs / "app-link").symlink_to(elsewhere / "local-1795989117127")
    (rolled / "events_1_local-1795989117127").write_text("".join(good[:20]))
    (rolled / "events_2_local-1795989117127").symlink_to(elsewhere / "rest")
    (rolled / "appstatus_local-1795989117127").touch()
    done = back_fill(scratch / "store", [str(logs / "app-link"), str(rolled)])
    if "not confined" in done.stderr:
        tree.skip("this kernel has no Landlock")
    rows = {pathlib.Path(row["path"]).name: row for row in done.rows}
    expect(rows["app-link"]["state"] == "loaded", f"a link that was named: {rows['app-link']}")
    inner = rows[rolled.name]
    expect(inner["state"] != "loaded" and "ermission denied" in inner["message"], f"a link inside a log: {inner}")


def case_killed(scratch):
    """A log that ends the process that reads it costs its own line. A back-fill that is stopped leaves nothing behind."""
    logs, temporary = [str(SAMPLES / "big_stage/eventlog_v2_local-1795989991379"), str(SAMPLES / "tiny_app/local-1795989117127")], scratch / "tmp"
    temporary.mkdir()
    command = [BINARY, "ingest", "--store", scratch / "store", "--from-stdin", "--jobs", "1"]
    for number, ends in ((signal.SIGKILL, "child"), (signal.SIGTERM, "parent")):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)})
        process.stdin.write("\n".join(logs) + "\n")
        process.stdin.close()
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (found := children.read_text().split()):
            time.sleep(0.001)
        os.kill(int(found[0]) if ends == "child" else process.pid, number)
        rows = [json.loads(line) for line in process.stdout]
        status = process.wait(60)
        if ends == "child":
            expect([row["state"] for row in rows] == ["failed", "loaded"] and "signal 9" in rows[0]["message"] and status == 0, f"{status} {rows}")
        else:
            expect(status == 1 and not rows, f"{status} {rows}")
        expect(not list(temporary.iterdir()), f"left behind: {list(temporary.iterdir())}")
    expect([name[:20] for name in arrivals(scratch / "store")] == ["local-1795989117127-"], f"{arrivals(scratch / 'store')}")


def wait_for(what, text, seconds=300):  # a limit is for what hangs
    until = time.monotonic() + seconds
    while not what():
        expect(time.monotonic() < until, text() if callable(text) else text)
        time.sleep(0.1)


def states_of(store):
    try:
        return sorted(log["state"] for log in runs.listed(BINARY, store))
    except RuntimeError:         # the catalogue is not there, or just being made
        return []


def copies_of_samples(folder):
    """A few small logs in a directory of their own."""
    folder.mkdir()
    for name in ("healthy_rdd/app-20261129215136-0000.zstd", "failures/app-20261129213331-0000.zstd", "gc_pressure/app-20261129212445-0000.zstd"):
        shutil.copy(SAMPLES / name, folder)
    return sorted(map(str, folder.iterdir()))


def settings_file(scratch, **more):
    path = scratch / "afterglow.conf"
    path.write_text("spark.history.fs.update.interval 1s\n" + "".join(f"{key.replace('_', '.')} {value}\n" for key, value in more.items()))
    return path


def case_served(scratch):
    """A server that loads only what somebody opens shows, within its scan interval, what a back-fill made, and answers from it. A log that grew since is not set back."""
    logs = copies_of_samples(scratch / "logs")
    with serving.Server(BINARY, [], ["--logs", scratch / "logs", "--properties-file", settings_file(scratch, afterglow_load="opened")]) as server:
        store = pathlib.Path(server.folder.name, "store")
        state = lambda: states_of(store)
        wait_for(lambda: state() == ["listed"] * 3, "the logs are not listed")
        expect(back_fill(store, logs).returncode == 0, "the back-fill failed")
        wait_for(lambda: state() == ["loaded"] * 3, lambda: f"not adopted: {state()}, {arrivals(store)}")
        status, _, body = server.get("/api/v1/applications/app-20261129213331-0000/stages")
        expect(status == 200 and len(json.loads(body)) > 0, f"/stages answers {status}")
        wait_for(lambda: arrivals(store) == [], "the arrivals stay")
        keys = sorted(log["appKey"] for log in runs.listed(BINARY, store))
        # A database of the log as it was, when the log has changed since.
        old = shutil.copy(store / "apps" / f"{keys[0]}.db", scratch / "old.db")
        changed = next(pathlib.Path(log["path"]) for log in runs.listed(BINARY, store) if log["appKey"] == keys[0])
        before = {log["appKey"]: log["generation"] for log in runs.listed(BINARY, store)}
        os.utime(changed, (time.time() + 5, time.time() + 5))
        wait_for(lambda: {log["appKey"]: log["generation"] for log in runs.listed(BINARY, store)}[keys[0]] > before[keys[0]] and state() == ["loaded"] * 3, "the changed log is not read anew")
        after = {log["appKey"]: log["generation"] for log in runs.listed(BINARY, store)}
        shutil.copy(old, store / "arrivals" / f"{keys[0]}.db")
        wait_for(lambda: arrivals(store) == [], "what is older than the log is not dropped")
        expect(after == {log["appKey"]: log["generation"] for log in runs.listed(BINARY, store)}, "an older database took the place of a newer one")


def case_hostile(scratch):
    """What is no database of ours, or says that its log is any file of this machine, never becomes a run."""
    logs = copies_of_samples(scratch / "logs")
    good = back_fill(scratch / "made", logs).rows[0]
    made = scratch / "made/arrivals" / f"{good['key']}.db"

    def changed(*statements):
        def change(path):
            shutil.copy(made, path)
            with sqlite3.connect(path) as db:
                for statement in statements:
                    db.execute(statement)
            db.close()
        return change

    def bytes_at(offset, new):
        def change(path):
            shutil.copy(made, path)
            with open(path, "r+b") as file:
                file.seek(offset)
                file.write(new)
        return change

    def cut(path):
        path.write_bytes(made.read_bytes()[: made.stat().st_size // 2])

    cases = {
        "text": (lambda path: path.write_text("x" * 5000), "no database"),
        "empty": (lambda path: path.touch(), "no database"),
        "link": (lambda path: path.symlink_to("/etc/passwd"), "a link"),
        "pipe": (os.mkfifo, "no file"),
        "folder": (lambda path: path.mkdir(), "no file"),
        "kind": (changed("PRAGMA application_id = 1"), "not a database of this kind"),
        "version": (changed("PRAGMA user_version = 99"), "version 99"),
        "cut": (cut, "malformed"),
        "page": (bytes_at(made.stat().st_size - 3000, b"\xff" * 2000), ""),
        "wal": (bytes_at(18, b"\x02\x02"), "not closed"),
        "trigger": (changed("CREATE TRIGGER t AFTER INSERT ON text BEGIN DELETE FROM text; END"), "tables"),
        "view": (changed("DROP TABLE stage", "CREATE VIEW stage AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"), "tables"),
        "more": (changed("CREATE TABLE more (x)"), "tables"),
        "unfinished": (changed("UPDATE load SET state = 'loading'", "UPDATE load SET app_key = 'unfinished'"), "not filled"),
        "other": (changed(), "another run"),
        "passwd": (changed("UPDATE load SET app_key = 'passwd', log_path = '/etc/passwd'"), "none of the places"),
        "outside": (changed(f"UPDATE load SET app_key = 'outside', log_path = '{scratch}/logs/../made/x'"), "none of the places"),
        "beside": (changed(f"UPDATE load SET app_key = 'beside', log_path = '{scratch}/logsx'"), "none of the places"),
        "~added": (changed("UPDATE load SET app_key = '~added'"), "in the browser"),
        "long": (changed(f"UPDATE application SET app_id = '{'y' * 3000000}'", "UPDATE load SET app_key = 'long'"), "longer"),
    }
    with serving.Server(BINARY, [], ["--logs", scratch / "logs", "--properties-file", settings_file(scratch, afterglow_load="opened")]) as server:
        store, said = pathlib.Path(server.folder.name, "store"), pathlib.Path(server.folder.name, "said")
        wait_for(lambda: states_of(store) == ["listed"] * 3, "the logs are not listed")
        (store / "arrivals").mkdir()
        for name, (make, _) in cases.items():
            make(scratch / "one.db")
            (scratch / "one.db").rename(store / "arrivals" / f"{name}.db")
        shutil.copy(made, store / "arrivals" / made.name)
        wait_for(lambda: made.name not in arrivals(store) and all(name.endswith(".refused") for name in arrivals(store)), lambda: f"left: {arrivals(store)}")
        expect(arrivals(store) == sorted(f"{name}.db.refused" for name in cases if name not in ("link", "pipe")), f"{arrivals(store)}")
        text = said.read_text()
        for name, (_, why) in cases.items():
            line = next((line for line in text.splitlines() if f"/{name}.db is not taken" in line), "")
            expect(line and why in line, f"{name}: {line!r} does not say {why!r}")
        listed = runs.listed(BINARY, store)
        expect(sorted(log["state"] for log in listed) == ["listed", "listed", "loaded"] and {log["path"] for log in listed} == set(logs), f"{listed}")
        expect(server.process.poll() is None and server.get("/readyz")[0] == 200, "the server does not live on")


SPARK_JOB = """
import json, sys, time
from pyspark.sql import SparkSession
workers, store, program, paths = int(sys.argv[1]), sys.argv[2], sys.argv[3], open(sys.argv[4]).read().split("\\n")
spark = (SparkSession.builder.master(f"local-cluster[{workers},1,1024]").config("spark.ui.enabled", "false").config("spark.executor.memory", "512m")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
spark.sparkContext.parallelize(range(workers * 8), workers * 8).map(lambda x: x).count()
began = time.time()
answers = spark.sparkContext.parallelize(paths, workers * 8).pipe(f"{program} ingest --store {store} --from-stdin --jobs 1", checkCode=True).collect()
print(json.dumps({"seconds": time.time() - began, "version": spark.version, "states": [json.loads(line)["state"] for line in answers]}))
spark.stop()
"""


def on_spark(python, scratch, store, paths, workers):
    (scratch / "job.py").write_text(SPARK_JOB)
    (scratch / "paths").write_text("\n".join(paths))
    done = subprocess.run([python, scratch / "job.py", str(workers), store, BINARY, scratch / "paths"], capture_output=True, text=True, timeout=3600,
                          env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)})
    expect(done.returncode == 0, f"Spark ended with {done.returncode}: {done.stderr[-1500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def timed(what):
    """Seconds, and processor seconds of the processes that it waited for."""
    before, began = os.times(), time.monotonic()
    what()
    after = os.times()
    return time.monotonic() - began, after.children_user + after.children_system - before.children_user - before.children_system


def case_spark(scratch):
    """`backfill.py spark [COUNT]`: so many small logs (LOGS_OF_SPARK) on a local Spark cluster, against one process, and their adoption by a store's worker: a table for docker/README.md. The
    generator is that of ../shared; Spark is AFTERGLOW_SPARK (a python with pyspark). Skipped without either."""
    python, generator = os.environ.get("AFTERGLOW_SPARK"), tree.SHARED / "tools/make_big_log.py"
    if not python or not generator.exists():
        tree.skip("AFTERGLOW_SPARK, a python with pyspark, is not set" if not python else f"{generator} is not there")
    logs, rows = scratch / "logs", []
    subprocess.run([sys.executable, generator, "--apps", sys.argv[2] if len(sys.argv) > 2 else str(LOGS_OF_SPARK), "-o", logs, "--codec", "zstd"], check=True, stdout=subprocess.DEVNULL)
    paths = sorted(map(str, logs.iterdir()))
    some = paths[:len(paths) // 10]

    def row(name, count, seconds, processor=None):
        rows.append(f"| {name} | {count} | {seconds:.1f} | {count / seconds:.0f} | {'–' if processor is None else f'{processor / count * 1000:.0f} ms'} |")
        print(rows[-1], flush=True)

    for workers, part in ((1, some), (2, some), (2, paths)):
        store = scratch / f"spark{workers}-{len(part)}"
        done = on_spark(python, scratch, store, [*part, "/nowhere/app-missing"], workers)
        expect(done["version"] == SPARK, f"Spark {done['version']}")
        expect(sorted(done["states"]) == ["failed"] + ["loaded"] * len(part), f"states {set(done['states'])}, {len(done['states'])} answers")
        expect(len(arrivals(store)) == len(part), f"{len(arrivals(store))} databases")
        row(f"Spark {SPARK}, workers of one core: {workers}", len(part), done["seconds"])
    filled, direct, process = store, scratch / "direct", scratch / "process"
    row("one process, `--from-stdin --jobs 2`", len(some), *timed(lambda: back_fill(process, some, "--jobs", "2")))
    expect(set(arrivals(process)) <= set(arrivals(filled)) and len(arrivals(process)) == len(some), "Spark made other databases")
    row("`afterglow ingest DIR --jobs 2`", len(paths), *timed(lambda: runs.ingest(BINARY, direct, logs, arguments=("--jobs", "2"), timeout=3600)))
    row("adoption by the store's worker", len(paths), *timed(lambda: runs.ingest(BINARY, filled, logs, timeout=3600)))
    expect(arrivals(filled) == [], "not all were adopted")
    expect(list_of(filled) == list_of(direct), "the list is not that of a load")


if __name__ == "__main__":
    cases.run(globals())
