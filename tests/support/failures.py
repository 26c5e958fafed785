#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must hold when the machine fails under a load: no signal, a clear message, nothing finished lost, and a clean run afterwards that ends as if nothing had been.

    failures.py CASE        the functions below named case_…

Reference in each case: an undisturbed load of the same logs into a store of its own; afterwards the dumps of all applications must be equal.
"""
import contextlib
import difflib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import cases
import mixed_load
import runs
import serving
import tree
from cases import expect

SAMPLES = tree.ROOT / "tests/data/logs"
BINARY = tree.binary()
KILLS = 5 if tree.sanitized(BINARY) else 15
LOGS_TO_CLEAN = 150


@contextlib.contextmanager
def mounted(folder, *options):
    """A tmpfs on `folder`; the test is skipped where mounting is not allowed (no root, a container without the right)."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", folder], capture_output=True, text=True)
    if done.returncode:
        tree.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def loaded_keys(store):
    return {log["appKey"] for log in runs.listed(BINARY, store) if log["state"] in ("loaded", "partial")}


def dumps(store):
    """Application key: its dump, for every attempt that is loaded."""
    return {key: runs.dump(BINARY, store, key) for key in loaded_keys(store)}


def reference(work, logs):
    done = runs.ingest(BINARY, work / "reference", logs)
    expect(done.returncode in (0, 3), f"the undisturbed load ended with {done.returncode}: {done.stderr[-300:]}")
    found = dumps(work / "reference")
    expect(found, "the undisturbed load stored nothing")
    return found


def expect_clean_load(store, logs, wanted, what):
    done = runs.ingest(BINARY, store, logs)
    expect(done.returncode in (0, 3), f"the load after {what} ended with {done.returncode}: {done.stderr[-300:]}")
    found = dumps(store)
    expect(found.keys() == wanted.keys(), f"after {what}: {sorted(wanted.keys() ^ found.keys())} differ between the stores")
    for key, text in wanted.items():
        expect(found[key] == text, f"after {what}: the dump of {key} is not what an undisturbed load gives")
    left = [p.name for p in (store / "apps").iterdir() if not p.name.endswith(".db") or p.name.endswith(".loading.db")]
    expect(not left, f"after {what}: left over in apps/: {left}")


def expect_refusal(done, pattern, what):
    """Ended by itself with status 1 and a message that says why."""
    expect(done.returncode == 1, f"{what}: exit status {done.returncode}, not 1: {done.stderr[-300:]}")
    said = done.stderr + " ".join(str(row.get("message")) for row in done.rows)
    expect(re.search(pattern, said, re.I), f"{what}: the message does not say why: {said.strip()[-300:]!r}")


def case_disk_full(work):
    log = next((SAMPLES / "big_stage").iterdir())
    wanted = reference(work, log)
    store = work / "small"
    with mounted(store, "size=400k"):
        expect_refusal(runs.ingest(BINARY, store, log), r"space|full|quota", "a full disk")
        subprocess.run(["mount", "-o", "remount,size=100m", store], check=True)
        expect_clean_load(store, log, wanted, "a full disk")


def case_file_size_limit(work):
    log = next((SAMPLES / "big_stage").iterdir())
    wanted = reference(work, log)
    store = work / "store"
    for kib in (16, 150, 400):
        done = runs.ingest(BINARY, store, log, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10)))
        expect_refusal(done, r"space|full|too large|limit|write|I/O", f"a limit of {kib} KiB a file")
    expect_clean_load(store, log, wanted, "file size limits")


def case_read_only_store(work):
    log = SAMPLES / "tiny_app"
    wanted = reference(work, log)
    if os.getuid() == 0:
        empty, full = work / "empty", work / "full"
        with mounted(empty, "size=10m"), mounted(full, "size=10m"):
            expect(runs.ingest(BINARY, full, log).returncode == 0, "the load before the store became read-only failed")
            for folder in (empty, full):
                subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
            expect_refusal(runs.ingest(BINARY, empty, log), r"read-?only|permission|denied", "an empty read-only store")
            expect_refusal(runs.ingest(BINARY, full, SAMPLES / "failures"), r"read-?only|permission|denied", "a read-only store")
            expect(dumps(full) == wanted, "a read-only store cannot be listed and dumped")
    else:
        empty = work / "empty"
        empty.mkdir(mode=0o555)
        expect_refusal(runs.ingest(BINARY, empty, log), r"read-?only|permission|denied", "a store without write permission")


def case_no_store(work):
    """A store that cannot be made, or written, ends the server at once; what is not there is made."""
    (work / "file").touch()
    for store, why in ((work / "file/store", "Not a directory"), (work / "file", "not a directory"), (pathlib.Path("/proc/afterglow/store"), "cannot make")):
        done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:0", "--store", store, "--logs", SAMPLES / "tiny_app"], capture_output=True, text=True, timeout=300)
        expect(done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1, f"{store}: {done.returncode} {done.stderr}")
    clean = lambda *arguments: subprocess.run([BINARY, "clean", "--store", work / "store", *arguments], capture_output=True, text=True, timeout=300).stdout.splitlines()
    runs.ingest(BINARY, work / "store", SAMPLES / "tiny_app")
    expect(clean()[0].startswith("No logs were looked at") and clean()[1].startswith("0 loaded runs would go"), f"clean without places: {clean()}")
    expect(clean("--logs", SAMPLES / "tiny_app")[0].startswith("0 of 1 logs and 0 loaded runs would go"), f"clean: {clean('--logs', SAMPLES / 'tiny_app')}")


def case_other_version(work):
    """Databases of another version are made anew from their logs. Where the log is gone the row stays, and the answer says that nothing more will come: also when the catalogue is of another version."""
    logs = work / "logs"
    logs.mkdir()
    there, gone = "healthy_rdd/app-20261129215136-0000.zstd", "failures/app-20261129213331-0000.zstd"
    for log in (there, gone):
        shutil.copy(SAMPLES / log, logs)
    with serving.Server(BINARY, [logs]) as server:
        store = pathlib.Path(server.folder.name, "store")
        wanted = dumps(store)
        rows = {log["appId"]: log for log in runs.listed(BINARY, store)}
        (logs / pathlib.Path(gone).name).unlink()
        runs.ingest(BINARY, store, logs)

        def set_version(path, version):
            with sqlite3.connect(path) as db:
                db.execute(f"PRAGMA user_version = {version}")
            db.close()

        def expect_lost(when):
            status, _, body = server.get("/api/afterglow/v1/apps/app-20261129213331-0000")
            expect(status == 409 and "another version" in json.loads(body)["detail"], f"{when}: {status} {body}")
            status, _, body = server.get("/api/v1/applications/app-20261129213331-0000/jobs")
            expect(status == 404, f"{when}: /api/v1 answers {status}")
            row = next(log for log in runs.listed(BINARY, store) if log["appId"] == "app-20261129213331-0000")
            expect((row["state"], row["name"], row["taskCount"]) == ("gone", rows[row["appId"]]["name"], 20), f"{when}: {row}")

        for key in wanted:
            set_version(store / f"apps/{key}.db", 1)
        expect_lost("after the update")
        set_version(store / "catalog.db", 1)
        done = runs.ingest(BINARY, store, logs)
        expect("0 runs read back from apps/, 2 others" in done.stderr, done.stderr)
        expect_lost("after a new catalogue")
        expect(dumps(store) == {key: dump for key, dump in wanted.items() if "215136" in key}, "the run whose log is there is not as it was")


def case_killed_at_random(work):
    begun = time.monotonic()
    wanted = reference(work, SAMPLES)
    whole = time.monotonic() - begun
    store = work / "store"
    chance = random.Random(3)
    finished = set()
    for kill in range(KILLS):
        process = subprocess.Popen([BINARY, "ingest", "--store", str(store), str(SAMPLES)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, whole / 3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if not (store / "catalog.db").exists():
            continue
        loaded = loaded_keys(store)
        expect(finished <= loaded, f"kill {kill}: {sorted(finished - loaded)} had been finished and are gone")
        finished = loaded
        for key in chance.sample(sorted(loaded), min(2, len(loaded))):
            expect(runs.dump(BINARY, store, key) == wanted[key], f"kill {kill}: {key} is listed as loaded and is not whole")
    print(f"{KILLS} kills, {len(finished)} of {len(wanted)} finished before the clean run")
    expect_clean_load(store, SAMPLES, wanted, f"{KILLS} kills")


def rolled_logs(folder, count):
    """Rolling logs of five files each, eight days old."""
    old = time.time() - 8 * 86400
    head = ['{"Event":"SparkListenerLogStart","Spark Version":"3.5.7"}', '{"Event":"SparkListenerApplicationStart","App Name":"n","App ID":"APP","Timestamp":1700000000000,"User":"u"}']
    executors = ['{"Event":"SparkListenerExecutorAdded","Timestamp":1700000001000,"Executor ID":"N","Executor Info":{"Host":"h","Total Cores":1,"Log Urls":{}}}'.replace("N", str(n)) for n in range(4)]
    lines = [*head, *executors, '{"Event":"SparkListenerApplicationEnd","Timestamp":1700000009000}']
    files = [lines[:2], lines[2:3], lines[3:4], lines[4:5], lines[5:]]
    for i in range(count):
        log = folder / f"eventlog_v2_app-{i}"
        log.mkdir(parents=True)
        for n, part in enumerate(files, 1):
            (log / f"events_{n}_app-{i}").write_text("".join(line.replace("APP", f"app-{i}") + "\n" for line in part))
        (log / f"appstatus_app-{i}").touch()
        for file in log.iterdir():
            os.utime(file, (old, old))


def watch_and_kill(store, logs, settings, done, chance):
    """Starts `ingest --watch` again and again and kills it, until `done`; yields after each kill. Returns when a run that was not killed had its time, too."""
    conf = store.parent / "policy.conf"
    conf.write_text("\n".join([f"{key}={value}" for key, value in {"spark.history.fs.update.interval": "100ms", "spark.history.fs.cleaner.interval": "100ms", **settings}.items()]))
    for patience in [*[None] * 200, 300]:
        process = subprocess.Popen([BINARY, "ingest", "--watch", "--properties-file", conf, "--store", store, logs], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        if patience is None:
            time.sleep(chance.uniform(0.02, 0.15))
        for _ in range((patience or 0) * 10):
            if done():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield
        if done():
            return


def case_killed_while_cleaning(work):
    """Logs that are deleted and runs that are put away, by workers that are killed all the time: no run is lost or read anew from half a log, no file is left."""
    store, logs, chance = work / "store", work / "logs", random.Random(5)
    rolled_logs(logs, LOGS_TO_CLEAN)
    read = runs.ingest(BINARY, store, logs)
    expect(read.returncode == 0, f"first load: {read.stderr[-300:]}")
    before = {log["appKey"]: log["generation"] for log in runs.listed(BINARY, store)}
    wanted = {key: runs.dump(BINARY, store, key) for key in chance.sample(sorted(before), 5)}
    kills = halves = 0
    for _ in watch_and_kill(store, logs, {"spark.history.fs.cleaner.enabled": "true"}, lambda: not any(logs.iterdir()), chance):
        kills += 1
        rows = runs.listed(BINARY, store)
        expect({row["appKey"]: row["generation"] for row in rows} == before, f"kill {kills}: a run is lost, or was read anew")
        for row in rows:
            files = len(list(pathlib.Path(row["path"]).glob("*")))
            halves += row["state"] == "gone" and files > 0
            expect(row["state"] in ("gone", "loaded") and row["loaded"], f"kill {kills}: {row['path']} is {row['state']}")
            expect(row["state"] == "gone" or files == 6, f"kill {kills}: {row['path']} is listed and has {files} files")
    expect(not any(logs.iterdir()), "not all was deleted")
    expect({key: runs.dump(BINARY, store, key) for key in wanted} == wanted, "a run is not what it was")
    print(f"{LOGS_TO_CLEAN} logs deleted through {kills} kills, {halves} of them met half deleted")

    def put_away():
        return len(list((store / "apps").glob("*.db"))) == 0

    kills = 0
    for _ in watch_and_kill(store, logs, {"afterglow.store.maxBytes": "1"}, put_away, chance):
        kills += 1
        rows = {row["appKey"]: row for row in runs.listed(BINARY, store)}
        expect(rows.keys() == before.keys(), f"kill {kills}: a row is lost")
        missing = [key for key, row in rows.items() if row["loaded"] and not (store / f"apps/{key}.db").exists()]
        expect(not missing, f"kill {kills}: listed as loaded and without a file: {missing}")
    runs.ingest(BINARY, store, logs)  # sweeps
    expect(put_away() and not list((store / "apps").iterdir()), f"left: {[file.name for file in (store / 'apps').iterdir()][:5]}")
    print(f"{LOGS_TO_CLEAN} runs put away through {kills} kills")


def serve_until_killed(command, address_file, use, chance, longest):
    """Starts a server, lets `use(address)` have it, and kills it and its ingest process, at the same moment, after a while; at times only the ingest process, and the server a while later."""
    with open(address_file, "w") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
    until = time.monotonic() + chance.uniform(0, longest)
    address = None
    while time.monotonic() < until:
        found = re.search(r"listening on http://([^/\s]+)/", pathlib.Path(address_file).read_text(errors="replace"))
        if found and address is None:
            use(address := found[1])
        expect(process.poll() is None, f"the server ended by itself with {process.returncode}: {pathlib.Path(address_file).read_text(errors='replace')[-600:]}")
        time.sleep(0.02)
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout.split()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    if chance.random() < 0.3:  # the server sees it die, and may start the next
        time.sleep(chance.uniform(0, 1.5))
    process.kill()
    process.wait()


def shown(rows):
    """What the list says of each log, without what depends on when it was loaded and how often."""
    passing = {"logId", "firstSeenMs", "changedMs", "loadMs", "generation", "wantedMs", "placeId", "tries", "openedMs", "readBytes", "path"}
    return {row["path"]: {key: value for key, value in row.items() if key not in passing} for row in rows if row["state"] != "gone"}


def unchunked(dump):
    """A dump without where the columns of tasks were cut: a log that is followed is written in more chunks than one that is read at once. Left of them is how many values each column of a stage has."""
    counts, others = {}, []
    for line in dump.splitlines():
        chunk = re.match(r"task_column\|(stage_ref=\d+\|column_id=\d+)\|chunk=\d+\|packed=(\d+):", line)
        if chunk:
            counts[chunk[1]] = counts.get(chunk[1], 0) + int(chunk[2])
        else:
            others.append(line)
    return others + [f"{column}: {count} values" for column, count in sorted(counts.items())]


def case_killed_under_load(work):
    """AFTERGLOW_KILLS times (12) a server is killed while logs arrive, grow and get their last name, somebody asks and somebody adds logs; then store and list are those of a fresh load."""
    kills, chance = int(os.environ.get("AFTERGLOW_KILLS", 12)), random.Random(7)
    logs, store, added = work / "logs", work / "store", work / "added"
    logs.mkdir()
    conf = work / "conf"
    conf.write_text(f"spark.history.fs.update.interval 200ms\nafterglow.uploads.dir {added}\nafterglow.uploads.perMinute 10000\n")
    command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--store", store, "--logs", logs, "--properties-file", conf]
    arrivals = mixed_load.Arrivals(logs, 0.08)
    askers = [mixed_load.Requests(None, 0.02, random.Random(8)), mixed_load.Uploads(None, 0.4, random.Random(9))]

    def use(address):
        for asker in askers:
            asker.address = address
        askers[0].learn(arrivals.done)

    arrivals.start()
    for asker in askers:
        asker.address = "127.0.0.1:1"  # nobody, until there is a server
        asker.start()
    for kill in range(kills):
        serve_until_killed(command, work / "errors", use, chance, 4)
        expect(not askers[0].wrong, f"kill {kill}: {askers[0].wrong[:3]}")
    for task in [arrivals, *askers]:
        task.stop()
    broken = [file for file in added.rglob("*") if file.name.endswith(".inprogress") or file.name.startswith(".receiving")] if added.exists() else []
    everything = [logs, *([added] if added.exists() else [])]
    arguments = ["--properties-file", str(conf)]  # which logs were added
    done = runs.ingest(BINARY, store, *everything, arguments=arguments, timeout=600)
    expect(done.returncode in (0, 3), f"the load after the kills ended with {done.returncode}: {done.stderr[-300:]}")
    fresh = work / "fresh"
    done = runs.ingest(BINARY, fresh, *everything, arguments=arguments, timeout=600)
    expect(done.returncode in (0, 3), f"the fresh load ended with {done.returncode}: {done.stderr[-300:]}")
    mine, theirs = shown(runs.listed(BINARY, store)), shown(runs.listed(BINARY, fresh))
    expect(mine.keys() == theirs.keys(), f"other logs are listed: {sorted(mine.keys() ^ theirs.keys())[:5]}")
    for path, row in theirs.items():
        expect(mine[path] == row, f"{path}: {dict(mine[path].items() ^ row.items())}")
    found, wanted = dumps(store), dumps(fresh)
    expect(found.keys() == wanted.keys(), f"runs differ: {sorted(found.keys() ^ wanted.keys())[:5]}")
    for key, text in wanted.items():
        differs = "\n".join(list(difflib.unified_diff(unchunked(text), unchunked(found[key]), "fresh", "killed", n=0, lineterm=""))[:20])
        expect(not differs, f"the dump of {key} is not what a fresh load gives:\n{differs}")
    left = [file.name for file in (store / "apps").iterdir() if not file.name.endswith(".db") or file.name.endswith(".loading.db")]
    left += [file.name for file in store.iterdir() if file.name.startswith("worker-")]
    expect(not left, f"left over in the store: {left}")
    expect(not (store / "damaged").exists() and not list(store.glob("catalog.db.old-*")), "something was set aside as damaged")
    print(f"{kills} kills, {arrivals.count} logs and {askers[1].taken} added ones ({len(broken)} broke off), {sum(askers[0].statuses.values())} answers, {len(wanted)} runs as in a fresh load")


def case_memory_limit(work):
    if tree.sanitized(BINARY):
        tree.skip("the address sanitizer needs the whole address space")
    log = next((SAMPLES / "big_stage").iterdir())
    wanted = reference(work, log)
    store = work / "store"
    refused = 0
    for mib in range(40, 400, 20):
        done = runs.ingest(BINARY, store, log, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)))
        if done.returncode in (0, 3):
            break
        refused += 1
        if done.returncode == 127:  # not even the libraries fit
            continue
        expect_refusal(done, r"memory|thread|resource", f"{mib} MiB of address space")
    print(f"{refused} limits refused, loads with {mib} MiB of address space")
    shutil.rmtree(store / "apps", ignore_errors=True)
    expect_clean_load(store, log, wanted, "memory limits")


def case_two_at_once(work):
    wanted = reference(work, SAMPLES)
    store = work / "store"
    command = [BINARY, "ingest", "--store", str(store), str(SAMPLES)]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) for _ in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=900)
        expect(process.returncode in (0, 3), f"one of three at once ended with {process.returncode}: {errors[-300:]}")
    expect(dumps(store) == wanted, "three at once stored something else than one")
    expect_clean_load(store, SAMPLES, wanted, "three at once")


def case_foreign_store(work):
    log = SAMPLES / "tiny_app"
    wanted = reference(work, log)
    store = work / "text"
    store.mkdir()
    (store / "catalog.db").write_text("not a database, " * 500)
    done = runs.ingest(BINARY, store, log)
    expect(done.returncode in (0, 1), f"a catalogue that is text: exit status {done.returncode}: {done.stderr[-300:]}")
    expect(done.returncode == 0 or "catalog" in done.stderr, f"a catalogue that is text: the message does not name it: {done.stderr[-300:]!r}")

    store = work / "other-version"
    runs.ingest(BINARY, store, log)
    with open(store / "catalog.db", "r+b") as catalog:
        catalog.seek(60)  # user_version in SQLite's header
        catalog.write(b"\0\0\x7f\xff")
    expect_clean_load_anew(store, log, wanted)

    store = work / "damaged-app"
    runs.ingest(BINARY, store, log)
    for app in (store / "apps").glob("*.db"):
        app.write_bytes(os.urandom(50000))
    for part in store.glob("catalog.db*"):
        part.unlink()
    expect_clean_load(store, log, wanted, "noise in place of an application's file and a lost catalogue")


def expect_clean_load_anew(store, log, wanted):
    done = runs.ingest(BINARY, store, log)
    expect(done.returncode in (0, 3), f"a catalogue of another version: exit status {done.returncode}: {done.stderr[-300:]}")
    expect(dumps(store) == wanted, "a catalogue of another version: not all is there afterwards")


def case_arrivals_read_only(work):
    """Databases of a back-fill that cannot be removed (somebody else's directory) are left, which is said, and hold up no log."""
    logs, store = work / "logs", work / "store"
    logs.mkdir()
    for name in ("app-made", "app-other"):
        (logs / name).write_bytes(mixed_load.renamed(mixed_load.templates()[0], name))
    store.mkdir()
    with mounted(store / "arrivals"):
        made = subprocess.run([BINARY, "ingest", "--store", store, "--from-stdin"], input=f"{logs / 'app-made'}\n", capture_output=True, text=True, timeout=900)
        expect(made.returncode == 0, f"the back-fill ended with {made.returncode}: {made.stderr[-300:]}")
        subprocess.run(["mount", "-o", "remount,ro", store / "arrivals"], check=True)
        done = runs.ingest(BINARY, store, logs)
        expect(done.returncode == 0 and len(loaded_keys(store)) == 2, f"exit status {done.returncode}: {done.stderr[-300:]}")
        expect("arrivals cannot be written" in done.stderr, f"nothing is said: {done.stderr[-300:]!r}")
        subprocess.run(["mount", "-o", "remount,rw", store / "arrivals"], check=True)
        expect(runs.ingest(BINARY, store, logs).returncode == 0 and not list((store / "arrivals").iterdir()), "not taken when it could be")


def faketime():
    """The library of Debian's faketime; $AFTERGLOW_FAKETIME names another."""
    found = [os.environ["AFTERGLOW_FAKETIME"]] if "AFTERGLOW_FAKETIME" in os.environ else [str(p) for p in pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")]
    if not found:
        tree.skip("faketime is not installed")
    if tree.sanitized(BINARY):
        tree.skip("the address sanitizer wants to be loaded first, and so does libfaketime")
    return found[0]


def eventually(check, what):
    until = time.monotonic() + 300
    while not (found := check()):
        expect(time.monotonic() < until, f"not in 300 s: {what}")
        time.sleep(0.1)
    return found


def case_clock_jumps(work):
    """The wall clock of a server and its ingest process is set by 30 hours, there and back: logs that arrive, grow, go and come back are noticed as before, and none is deleted for an age that it got in a moment."""
    library, logs, clock, conf = faketime(), work / "logs", work / "logs/.clock", work / "conf"
    logs.mkdir()
    clock.write_text("+0")
    conf.write_text("spark.history.fs.update.interval 200ms\nspark.history.fs.cleaner.enabled true\nspark.history.fs.cleaner.interval 1h\nspark.history.fs.cleaner.maxAge 7d\n")
    fake = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    template = mixed_load.templates()[0]
    lines = mixed_load.renamed(template, "app-grows").splitlines(keepends=True)
    piece = len(lines) // 5

    def put(name):
        (logs / f".{name}").write_bytes(mixed_load.renamed(template, name))
        (logs / f".{name}").rename(logs / name)

    put("app-old")
    put("app-returns")
    six_days_ago = time.time() - 6 * 86400
    os.utime(logs / "app-old", (six_days_ago, six_days_ago))
    with serving.Server(BINARY, [], ["--properties-file", conf, "--logs", logs], env={**os.environ, **fake}) as server:
        def ask(address):
            status, _, body = server.get(f"/api/afterglow/v1/{address}")
            expect(status == 200, f"{address}: status {status}")
            return json.loads(body)

        def row(app):
            return next((item for item in ask(f"apps?q={app}")["items"] if item["appId"] == app), {})

        def listed(app):
            return next((log for log in runs.listed(BINARY, f"{server.folder.name}/store") if log["appId"] == app), {})

        def becomes(app, state):
            eventually(lambda: row(app).get("state") == state, f"{app} is {state} at {clock.read_text()}")

        for step, hours in enumerate((0, 30, -30, 0)):
            clock.write_text(f"{hours:+}h")
            wanted = (time.time() + hours * 3600) * 1000
            eventually(lambda: abs(ask("status")["nowMs"] - wanted) < 3600_000, f"the server's clock is set by {hours} h")
            put(f"app-new-{step}")
            becomes(f"app-new-{step}", "loaded")
            expect(abs(listed(f"app-new-{step}")["changedMs"] - wanted) < 3600_000, "the ingest process has another clock")
            if step:
                (work / "aside").rename(logs / "app-returns")  # it went by the clock before
            becomes("app-returns", "loaded")
            (logs / "app-returns").rename(work / "aside")
            becomes("app-returns", "gone")
            with open(logs / "app-grows.inprogress", "ab") as log:
                log.writelines(lines[step * piece : (step + 1) * piece])
            size = (logs / "app-grows.inprogress").stat().st_size
            eventually(lambda: listed("app-grows").get("bytes") == size, f"app-grows grows at {hours} h")
            expect(server.get("/readyz")[0] == 200, f"it is not ready at {hours} h")
            expect(not ask("status")["places"][0]["failingSinceMs"], f"its place fails at {hours} h")
        expect((logs / "app-old").exists(), "a log was deleted that is six days old")


if __name__ == "__main__":
    cases.run(globals())
