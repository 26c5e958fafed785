#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the budgets of Afterglow and prints them as a table. Called by tools/bench, which builds the program first.

    bench.py [--tasks N] [--apps N] [--runs N] [--giant-tasks N] [--only WORD[,WORD]]

--tasks  tasks of the log that memory and the stage page are measured with (default 1,000,000, all in one stage); the log for the load time has three tenths of
         them in 100 stages, about 1 GB
--apps   rows of the application list (default 100,000)
--runs   how often each time is taken; medians are shown (default 5)
--giant-tasks  tasks of the log that is loaded while others arrive (default 3,000,000: 10 GB)
--only   parts to run: load memory store simulate open stage api list scan arrivals server script pages

Times are ratios within one run, or answers of a warm server on loopback. Logs are made by ../shared/tools/make_big_log.py ($AFTERGLOW_SHARED) and kept in build/bench.
"""
import argparse
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mixed_load
import tree

WORK = tree.ROOT / "build/bench"
API = "/api/afterglow/v1"
HISTORY_SERVER_BYTES_A_SECOND = 85e6  # raw log, Spark 4.3 on 2 cores, measured once; its 1.2 GB of memory for 900 MB of log aside
MIB = 1 << 20
ARRIVALS = 20
PARTS = "load memory store simulate open stage wide api list scan arrivals server script pages".split()
BINARY = tree.binary()


class Table:
    """The rows as they come: what, measured, must, aim, verdict. A limit is (value, "at most" or "at least")."""

    def __init__(self):
        self.rows, self.missed = [], 0
        print(f"{'what':58} {'measured':>12} {'must':>12} {'aim':>12}  verdict", flush=True)

    def add(self, what, value, unit, must, aim, at_least=False):
        def good(limit):
            return value >= limit if at_least else value <= limit

        def show(number):
            digits = 0 if number == int(number) or number >= 100 else 1 if number >= 10 else 2
            return f"{number:.{digits}f} {unit}"

        verdict = "aim" if good(aim) else "must" if good(must) else "MISSED"
        self.missed += verdict == "MISSED"
        sign = "≥ " if at_least else "≤ "
        print(f"{what:58} {show(value):>12} {sign + show(must):>12} {sign + show(aim):>12}  {verdict}", flush=True)

    @staticmethod
    def note(text):
        print(f"    {text}", flush=True)


def make(*arguments):
    done = subprocess.run([sys.executable, "-B", MAKER, "--codec", "zstd", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"make_big_log.py {arguments}: {done.stderr.strip()}")


def make_log(name, *arguments):
    """A log of make_big_log.py, made once."""
    path, labels = WORK / f"{name}.zstd", WORK / f"{name}.labels"
    if not path.exists() or not labels.exists():
        print(f"making {path.name} …", file=sys.stderr, flush=True)
        part = path.with_suffix(".part")
        make("-o", part, "--labels", labels, *arguments)
        part.rename(path)
    return path


def raw_bytes(log):
    """Decompressed size, counted once."""
    kept = log.with_suffix(".bytes")
    if not kept.exists():
        process = subprocess.Popen(["zstd", "-dcq", log], stdout=subprocess.PIPE)
        total = 0
        while chunk := process.stdout.read(1 << 20):
            total += len(chunk)
        process.wait()
        kept.write_text(str(total))
    return int(kept.read_text())


def load(log, store, *arguments):
    """(seconds, peak resident bytes, row of --json) of one load into a fresh store."""
    shutil.rmtree(store, ignore_errors=True)
    begun = time.monotonic()
    process = subprocess.Popen([BINARY, "ingest", "--store", str(store), "--json", *arguments, str(log)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    rows = [json.loads(line) for line in out.splitlines() if line.startswith(b"{")]
    if process.returncode not in (0, 3) or not rows:
        sys.exit(f"afterglow ingest {log} ended with {process.returncode}")
    return seconds, usage.ru_maxrss << 10, rows[0]


def analysis_seconds(store):
    """How long analysis took at the end of the load, as it says itself."""
    path, = (store / "apps").glob("*.db")
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT duration_ms FROM analysis").fetchone()[0] / 1000


def count_lines(log):
    begun = time.monotonic()
    subprocess.run(f"zstd -dcq '{log}' | wc -l", shell=True, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def store_bytes(store):
    return sum(path.stat().st_size for path in store.rglob("*") if path.is_file())


class Server:
    """`afterglow serve` over a store, without log places: it only answers."""

    def __init__(self, store, logs=None, environment=()):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        empty = WORK / "no-logs"
        empty.mkdir(exist_ok=True)
        self.log = open(WORK / "serve.log", "w")
        self.process = subprocess.Popen([BINARY, "serve", "--store", str(store), "--logs", str(logs or empty), "--listen", f"127.0.0.1:{self.port}"], env={**os.environ, **dict(environment)}, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            if self.process.poll() is not None:
                sys.exit(f"afterglow serve ended with {self.process.returncode}: see {self.log.name}")
            time.sleep(0.05)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.get("/healthz")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()

    def get(self, path):
        """(milliseconds, body)"""
        begun = time.monotonic()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        ms = (time.monotonic() - begun) * 1000
        if answer.status != 200:
            sys.exit(f"GET {path} answered {answer.status}: {body[:200]!r}")
        return ms, body

    def median_ms(self, path, runs):
        """Of answers that are made anew: each address is another one, so that the server remembers none of them."""
        self.get(path)
        return statistics.median(self.get(f"{path}{'&' if '?' in path else '?'}n={run}")[0] for run in range(runs))

    def ingest_pid(self):
        return next(int(child) for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir() for child in (thread / "children").read_text().split())

    def cpu_seconds(self, pid=None):
        return sum(int(value) for value in pathlib.Path(f"/proc/{pid or self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")

    def peak_bytes(self, pid=None):
        """Of the process that answers; the ingest child is one of its own."""
        status = pathlib.Path(f"/proc/{pid or self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", status).group(1)) << 10


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def metric_columns():
    """The columns of table task that can be sorted by: those that schema.sql gives units or counts, in the API's spelling."""
    body = re.search(r"CREATE TABLE task \((.*?)\n\) STRICT", tree.text("schema.sql"), re.S).group(1)
    body = re.sub(r"--.*", "", body)
    names = re.findall(r"\b([a-z][a-z0-9_]*) INTEGER", body)
    return [camel(name) for name in names if name not in ("stage_ref", "task_seq") and not name.endswith(("_ref", "_text_id"))]


def many_stages(options):
    tasks = options.tasks * 3 // 10
    return make_log(f"many-stages-{tasks}", "--tasks", str(tasks), "--stages", "100", "--skew", "10", "--fail-rate", "0.001")


def part_load(table, options):
    log = many_stages(options)
    raw, store = raw_bytes(log), WORK / "store-load"
    loads, counts, judgings = [], [], []
    for _ in range(options.runs):  # alternating: what slows the machine down slows both
        counts.append(count_lines(log))
        seconds = load(log, store)[0]
        judgings.append(analysis_seconds(store))
        loads.append(seconds - judgings[-1])
    seconds, counting = statistics.median(loads), statistics.median(counts)
    table.add(f"load of {raw / 1e9:.2f} GB in {options.tasks * 3 // 10:,} tasks ÷ zstd -dc | wc -l", seconds / counting, "×", 2, 1)
    table.note(f"{seconds:.2f} s against {counting:.2f} s, {raw / seconds / 1e6:.0f} MB/s; fastest of each {min(loads):.2f} and {min(counts):.2f} s; all runs: {' '.join(f'{a / b:.2f}' for a, b in zip(loads, counts))}")
    table.add("ingest, which is the load and its analysis ÷ zstd -dc | wc -l", statistics.median(map(sum, zip(loads, judgings))) / counting, "×", 2, 1)
    table.add("analysis at its end ÷ load", 100 * statistics.median(judging / loading for judging, loading in zip(judgings, loads)), "%", 10, 5)
    table.add("the load against a History Server's 85 MB/s", raw / seconds / HISTORY_SERVER_BYTES_A_SECOND, "×", 8, 18, at_least=True)
    table.add("store ÷ raw log, 100 stages", 100 * store_bytes(store) / raw, "%", 8, 4)


def one_stage(options):
    """The store with all tasks in one stage, loaded once a run of this script."""
    if not hasattr(one_stage, "found"):
        log = make_log(f"one-stage-{options.tasks}", "--tasks", str(options.tasks), "--stages", "1", "--skew", "10", "--fail-rate", "0.001")
        seconds, peak, row = load(log, WORK / "store-stage")
        one_stage.found = log, WORK / "store-stage", seconds, peak, row
    return one_stage.found


def part_memory(table, options):
    _, store, seconds, peak, row = one_stage(options)
    judging = analysis_seconds(store)
    table.add(f"memory of a load with its analysis, {row['tasks']:,} tasks in one stage", peak / MIB, "MiB", 300, 128)
    table.add("analysis at its end ÷ load, one stage", 100 * judging / (seconds - judging), "%", 10, 5)
    table.note(f"loaded and judged in {seconds:.1f} s")


def part_store(table, options):
    log, store, *_ = one_stage(options)
    table.add("store ÷ raw log, one stage", 100 * store_bytes(store) / raw_bytes(log), "%", 8, 4)


SCENARIOS = """nolost startup:1000 ramp executors:1 executors:-1 executors:100 slots:0.1 slots:0.2 slots:0.5 slots:0.8 slots:1.1 slots:1.2 slots:1.5 slots:2 slots:3 slots:4 slots:5 slots:6
               slots:7 slots:8""".split()


def part_simulate(table, options):
    """Twenty scenarios of the load's run; spec/findings.md 6.3 wants them of 5,000,000 tasks within 30 s (--tasks 16700000: a log of 20 GB)."""
    log = many_stages(options)
    load(log, WORK / "store-simulate")
    database, = (WORK / "store-simulate" / "apps").glob("*.db")
    said = json.loads(subprocess.run([pathlib.Path(BINARY).with_name("print_simulation"), database, *SCENARIOS], capture_output=True, text=True, check=True).stdout)
    seconds = sum(scenario["seconds"] for scenario in said["scenarios"])
    table.add(f"{len(SCENARIOS)} scenarios of {said['attempts']:,} tasks, of one processor, for each million", seconds / said["attempts"] * 1e6, "s", 6, 2)
    table.note(f"{seconds:.2f} s, and {said['make_seconds']:.2f} s to make the simulation; as observed {100 * said['error']:.3f} % off")


def part_open(table, options):
    """A server just started: the first answers it gives about an application."""
    _, store, _, _, row = one_stage(options)
    overview, stages = [], []
    for _ in range(options.runs):
        with Server(store) as server:
            overview.append(server.get(f"{API}/apps/{row['appId']}")[0])
            stages.append(server.get(f"{API}/apps/{row['appId']}/stages")[0])
    table.add("opening an application: overview, server just started", statistics.median(overview), "ms", 50, 10)
    table.add("opening an application: its stages then", statistics.median(stages), "ms", 50, 10)


def stage_path(server, app):
    stage = json.loads(server.get(f"{API}/apps/{app}/stages?sort=-tasks&skipped=0&limit=1")[1])["items"][0]
    return f"{API}/apps/{app}/stages/{stage['stageId']}.{stage['attempt']}"


def part_stage(table, options):
    _, store, _, _, row = one_stage(options)
    with Server(store) as server:
        base = stage_path(server, row["appId"])
        table.add("stage: quantiles, histogram, executors", server.median_ms(base, options.runs), "ms", 100, 20)
        refused, times = [], {}
        for key in dict.fromkeys(["durationMs", "schedulerDelayMs", "gettingResultTimeMs", "shuffleReadBytes", "error", "executor", "host"] + metric_columns()):
            for sort in (key, "-" + key):
                server.connection.request("GET", f"{base}/tasks?sort={sort}&limit=50")
                answer = server.connection.getresponse()
                answer.read()
                if answer.status == 400:
                    refused.append(sort)
                else:
                    times[sort] = server.median_ms(f"{base}/tasks?sort={sort}&limit=50", options.runs)
        worst = max(times, key=times.get)
        table.add(f"stage: task page, worst of {len(times)} orders ({worst})", times[worst], "ms", 100, 20)
        table.note(f"median order {statistics.median(times.values()):.1f} ms" + (f"; refused as sort keys: {' '.join(refused)}" if refused else ""))
        pages = row["tasks"] // 50
        queries = {"last page": f"sort=-durationMs&limit=50&page={pages}", "failed tasks": "status=failed&sort=-durationMs", "one executor": "executor=1&sort=-executorRunTimeMs", "error text": "q=connection&sort=-durationMs",
                   "long tasks": "minDurationMs=1000&sort=-durationMs"}
        times = {what: server.median_ms(f"{base}/tasks?{query}", options.runs) for what, query in queries.items()}
        worst = max(times, key=times.get)
        table.add(f"stage: task page, worst filter ({worst})", times[worst], "ms", 100, 20)


WIDE_STAGES = 20000


def part_wide(table, options):
    """A run of very many stages: answers that are about all of them, or about the executors of all of them."""
    log, store = make_log(f"wide-{options.tasks}", "--tasks", max(options.tasks * 6 // 10, WIDE_STAGES), "--stages", WIDE_STAGES, "--sql", 200), WORK / "store-wide"
    row = load(log, store)[2]
    with Server(store) as server:
        app = f"{API}/apps/{row['appId']}"
        for what, path in {"its overview": app, "a page of its stages": f"{app}/stages?sort=-duration", "the same by the median task": f"{app}/stages?sort=-median",
                           "the same by the worst finding": f"{app}/stages?sort=-finding", "those with a finding": f"{app}/stages?grade=1", "a page of its executors": f"{app}/executors?sort=-taskTime"}.items():
            before = server.cpu_seconds()
            ms = server.median_ms(path, 4 * options.runs)
            table.add(f"{WIDE_STAGES:,} stages: {what}", ms, "ms", 50, 10)
            table.note(f"{1000 * (server.cpu_seconds() - before) / (4 * options.runs + 1):.1f} ms of a processor")


def samples():
    """A store with the repository's sample logs."""
    if not hasattr(samples, "store"):
        samples.store = WORK / "store-samples"
        load(tree.ROOT / "tests/data/logs", samples.store)
    return samples.store


def loaded(server, path, anew=False, gzipped=False):
    """(p99 in ms, answers a second, the server's processor time an answer in ms) under 32 connections. anew: with a parameter that makes each address another one, each time."""
    loaded.calls = getattr(loaded, "calls", 0) + 1
    script = WORK / "anew.lua"
    script.write_text(f'local n, sep = 0, wrk.path:find("?", 1, true) and "&" or "?"\nfunction request() n = n + 1 return wrk.format("GET", wrk.path .. sep .. "n={loaded.calls}x" .. n) end\n')
    options = [*(["-s", str(script)] if anew else []), *(["-H", "Accept-Encoding: gzip"] if gzipped else [])]
    before = server.cpu_seconds()
    out = subprocess.run(["wrk", "-t1", "-c32", "-d3s", "--latency", *options, f"http://127.0.0.1:{server.port}{path}"], capture_output=True, text=True).stdout
    if "Non-2xx" in out:
        sys.exit(f"wrk {path}: {out}")
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
    count = int(re.search(r"(\d+) requests in", out).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit], rate, (server.cpu_seconds() - before) * 1000 / count


def part_api(table, options):
    if not shutil.which("wrk"):
        table.note("wrk is not installed: the answers at 32 connections are not measured")
        return
    with Server(samples()) as server:
        apps = json.loads(server.get(f"{API}/apps?sort=-tasks&limit=1&state=loaded")[1])["items"]
        app = f"{API}/apps/{apps[0]['ref']}"
        v1 = f"/api/v1/applications/{apps[0]['appId']}"
        own = {"applications": f"{API}/apps", "overview": app, "jobs": f"{app}/jobs", "stages": f"{app}/stages", "stage": stage_path(server, apps[0]["ref"]), "tasks": stage_path(server, apps[0]["ref"]) + "/tasks",
                 "executors": f"{app}/executors", "environment": f"{app}/environment"}
        stage = stage_path(server, apps[0]["ref"]).rsplit("/", 1)[1].replace(".", "/")
        theirs = {"applications": "/api/v1/applications?limit=50", "application": v1, "jobs": f"{v1}/jobs", "stages": f"{v1}/stages", "stage": f"{v1}/stages/{stage}?details=false",
                  "taskSummary": f"{v1}/stages/{stage}/taskSummary", "taskList": f"{v1}/stages/{stage}/taskList", "executors": f"{v1}/allexecutors", "environment": f"{v1}/environment"}
        for name, paths in (("our API", own), ("/api/v1", theirs)):
            for manner, how in (("", {}), (", made anew", {"anew": True}), (", made anew, gzip", {"anew": True, "gzipped": True})):
                found = {what: loaded(server, path, **how) for what, path in paths.items()}
                worst = max(found, key=lambda what: found[what][0])
                table.add(f"{name}, worst p99 at 32 connections{manner} ({worst})", found[worst][0], "ms", 10, 3)
                table.note("; ".join(f"{what} {ms:.1f} ms at {rate:.0f}/s, {cpu:.2f} ms of the server's" for what, (ms, rate, cpu) in found.items()))
        table.note("32 connections that ask again at once, and the load generator on the same cores: a wait is mostly the queue, 31 times the time of one answer on the processors. Made anew: each"
                   " address is another one, so that no answer is a remembered one.")


def multiply_catalog(store, wanted):
    """The rows of a small catalogue again and again, with other ids and times: what the list would be asked about. Copies are further runs of the same jobs."""
    db = sqlite3.connect(store / "catalog.db")
    columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in ("log", "app", "run_summary", "run_history")}
    have = db.execute("SELECT count(*) FROM app").fetchone()[0]
    high = db.execute("SELECT max(log_id) FROM log").fetchone()[0]
    with db:
        for copy in range(1, -(-wanted // have)):
            earlier = copy * 8640000
            change = {"log_id": f"log_id + {high * copy}", "path": f"path || '-{copy}'", "app_key": f"app_key || '-{copy}'", "app_id": f"app_id || '-{copy}'", "start_ms": f"start_ms - {earlier}", "end_ms": f"end_ms - {earlier}", "begin_ms": f"begin_ms - {earlier}"}
            for table, names in columns.items():
                db.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(change.get(name, name) for name in names)} FROM {table} WHERE {table}.rowid IN (SELECT rowid FROM {table} ORDER BY rowid LIMIT {have})")
        db.execute("ANALYZE")
    total = db.execute("SELECT count(*) FROM app").fetchone()[0]
    db.close()
    return total


def fleet(table, options):
    """(store, rows of its list), loaded and multiplied once a run of this script: a server sets the catalogue of another version aside."""
    if not hasattr(fleet, "found"):
        logs, store = WORK / "fleet", WORK / "store-fleet"
        if not logs.exists():
            make("--apps", 1000, "-o", logs)
        begun = time.monotonic()
        load(logs, store)
        table.note(f"1,000 small logs loaded in {time.monotonic() - begun:.1f} s; their catalogue rows are multiplied")
        fleet.found = store, multiply_catalog(store, options.apps)
    return fleet.found


def part_list(table, options):
    store, total = fleet(table, options)
    sorts = ["start", "end", "duration", "name", "user", "queue", "tasks", "failedTasks", "stages", "jobs", "sparkVersion", "taskTime", "input", "shuffleRead", "spill", "state", "severity", "saving", "busy", "completeness"]
    filters = ["q=fraud", "q=0042", "q=skew", "q=a", "user=alice&sort=-tasks", "outcome=failed", "minDurationMs=60000&sort=-end", "grade=3", "rule=APP.DRIVER_GAP", "data=incomplete", "state=loaded&page=1000", "from=1700000000000", "group=job", "group=job&sort=-saving", "q=nothing-has-this-name"]
    queries = [f"history=20&{part}" for part in [f"sort={order}{name}" for name in sorts for order in ("", "-")] + filters]
    with Server(store) as server:
        times, cpu = {}, {}
        for query in queries:
            before = server.cpu_seconds()
            times[query] = server.median_ms(f"{API}/apps?{query}", 4 * options.runs)
            cpu[query] = (server.cpu_seconds() - before) * 1000 / (4 * options.runs + 1)
    worst = max(times, key=times.get)
    table.add(f"list of {total:,} applications, worst of {len(times)} ({worst})", times[worst], "ms", 50, 10)
    slowest = max(cpu, key=cpu.get)
    table.note(f"median {statistics.median(times.values()):.1f} ms; the server's processor time at most {cpu[slowest]:.1f} ms ({slowest})")


def part_scan(table, options):
    """A directory with so many logs, listed and not loaded: until all are in the list, and what the scans after that cost."""
    logs, store = WORK / f"directory-{options.apps}", WORK / "store-directory"
    if not logs.exists():
        make("--apps", options.apps, "-o", logs)
    shutil.rmtree(store, ignore_errors=True)
    begun = time.monotonic()
    with Server(store, logs, {"AFTERGLOW_LOAD": "opened", "AFTERGLOW_UPDATE_INTERVAL": "1s"}) as server:
        def status():
            return json.loads(server.get(f"{API}/status")[1])

        def settled(seen):
            return seen["places"] and seen["places"][0]["entryCount"] == options.apps and not seen["logs"]["waiting"] and not seen["logs"]["loading"]

        while not settled(status()):
            time.sleep(0.5)
        listed, ingest, scans = time.monotonic() - begun, server.ingest_pid(), set()
        table.note(f"{options.apps:,} logs in one directory: all in the list {listed:.1f} s after the start, {server.cpu_seconds(ingest):.1f} s of a processor; peak of the process that lists {server.peak_bytes(ingest) / MIB:.0f} MiB")
        before, since = server.cpu_seconds(ingest), time.monotonic()
        while len(scans) < 11:  # ten in between
            scans.add(status()["places"][0]["lastScanMs"])
            time.sleep(0.05)
        seconds, cpu = (time.monotonic() - since) / 10, (server.cpu_seconds(ingest) - before) / 10
        table.note(f"unchanged, a scan takes {cpu:.2f} s of a processor, and with its pause of 1 s {seconds:.1f} s")
        table.add(f"server memory over a list of {options.apps:,}", server.peak_bytes() / MIB, "MiB", 128, 64)
        times = {query: server.median_ms(f"{API}/apps?{query}", options.runs) for query in ("history=20&sort=-start", "sort=name", "q=0042", "outcome=failed", "state=listed&page=500")}
        worst = max(times, key=times.get)
        table.add(f"a page of it while scans go on, worst of {len(times)} ({worst})", times[worst], "ms", 50, 10)


def part_arrivals(table, options):
    """New logs in a directory whose giant is being loaded, with the settings as they come: until a run is in the list, and until its pages answer."""
    giant, logs, store = make_log(f"many-stages-{options.giant_tasks}", "--tasks", options.giant_tasks), WORK / "arrivals", WORK / "store-arrivals"
    for folder in (logs, store):
        shutil.rmtree(folder, ignore_errors=True)
    logs.mkdir()
    os.link(giant, logs / giant.name)
    chance, templates, listed, loaded, late = random.Random(7), mixed_load.templates(), [], [], 0
    with Server(store, logs) as server:
        def states():
            return {item["appId"]: item["state"] for item in json.loads(server.get(f"{API}/apps?limit=50")[1])["items"]}

        def in_history_server():
            return {item["id"] for item in json.loads(server.get("/api/v1/applications")[1])}

        while "loading" not in states().values():
            time.sleep(0.1)
        giant_id, begun = next(iter(states())), time.monotonic()
        for number in range(ARRIVALS):
            time.sleep(chance.uniform(0, 3))
            name = f"app-20261130{number:06}-0000"
            (logs / f".{name}").write_bytes(mixed_load.renamed(chance.choice(templates), name))
            os.rename(logs / f".{name}", logs / name)  # whole at once, as a copy should be
            came = time.monotonic()
            while name not in in_history_server():
                time.sleep(0.02)
            seen = time.monotonic() - came
            while states()[name] != "loaded":
                time.sleep(0.02)
            whole = time.monotonic() - came
            if states()[giant_id] != "loading":
                late += 1
                break
            listed.append(seen)
            loaded.append(whole)
        while states()[giant_id] == "loading":
            time.sleep(0.1)
        table.note(f"{len(loaded)} logs came while {raw_bytes(giant) / 1e9:.1f} GB were loaded, which took {time.monotonic() - begun:.0f} s{'; the rest would have come later' if late else ''}; medians: listed {statistics.median(listed):.1f} s, loaded {statistics.median(loaded):.1f} s")
    table.add(f"a new log in the list while a giant is loaded, worst of {len(listed)}", max(listed), "s", 10, 5)
    table.add("the same until its pages have all of it", max(loaded), "s", 10, 5)


def part_server(table, options):
    store = WORK / "store-fleet-50"
    logs = WORK / "fleet"
    if not logs.exists():
        make("--apps", 1000, "-o", logs)
    fifty = WORK / "fleet-50"
    shutil.rmtree(fifty, ignore_errors=True)
    fifty.mkdir()
    for path in sorted(logs.iterdir())[:30]:
        shutil.copy(path, fifty)
    shutil.copytree(tree.ROOT / "tests/data/logs", fifty / "samples")
    load(fifty, store)
    with Server(store) as server:
        refs = [item["ref"] for item in json.loads(server.get(f"{API}/apps?limit=50&state=loaded")[1])["items"]]

        def reader(number):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            for turn in range(len(refs)):
                for page in ("", "/jobs", "/stages", "/executors", "/environment"):
                    connection.request("GET", f"{API}/apps/{refs[(number + turn) % len(refs)]}{page}")
                    connection.getresponse().read()

        readers = [threading.Thread(target=reader, args=(number,)) for number in range(64)]
        for thread in readers:
            thread.start()
        for thread in readers:
            thread.join()
        table.add(f"server memory, {len(refs)} applications open, 64 connections", server.peak_bytes() / MIB, "MiB", 128, 64)


def in_browser(server, runs, *wanted):
    """What tests/web/measure.mjs says; None without a browser."""
    done = subprocess.run(["node", str(tree.ROOT / "tests/web/measure.mjs"), str(runs), *wanted], capture_output=True, text=True, env={**os.environ, "AFTERGLOW_URL": f"http://127.0.0.1:{server.port}/"})
    if done.returncode == 77:
        return None
    if done.returncode:
        sys.exit(f"measure.mjs: {done.stderr.strip()[-500:]}")
    seen = json.loads(done.stdout)
    in_browser.work_ms.update({name: times["workMs"] for name, times in seen.items() if name != "framesPerSecond"})
    return seen


in_browser.work_ms = {}


def web_logs():
    """A store with the logs that the tests of the pages write: a plan of 2,000 operators, and a heavy timeline."""
    logs, store = WORK / "web-logs", WORK / "store-web"
    shutil.rmtree(logs, ignore_errors=True)
    for module, write in ("log", "writeLogs"), ("heavy-log", "writeHeavyLog"):
        writer = (tree.ROOT / f"tests/web/support/{module}.mjs").as_uri()
        subprocess.run(["node", "--input-type=module", "-e", f"import {{ {write} }} from {json.dumps(writer)}; {write}({json.dumps(str(logs))})"], check=True)
    load(logs, store)
    return store


def part_pages(table, options):
    """In chromium, which runs on the same cores as the server."""
    _, store, _, _, row = one_stage(options)
    with Server(store) as server:
        stage = stage_path(server, row["appId"]).removeprefix(f"{API}/apps/")
        stage = f"a/{stage}"
        seen = in_browser(server, options.runs, f"overview=a/{row['appId']}=.find-item", f"stage={stage}=#tasks tbody a", f"frames={stage}=.tl-canvas")
    if not seen:
        table.note("no browser: pages are not measured")
        return
    table.add("first paint of an overview", seen["overview"]["paintMs"], "ms", 500, 200)
    table.add("first useful paint: its findings stand", seen["overview"]["usableMs"], "ms", 500, 200)
    table.add(f"stage page of {row['tasks']:,} tasks, until its table of tasks stands", seen["stage"]["usableMs"], "ms", 1000, 500)
    table.add("frames a second while its timeline is zoomed and dragged", seen["framesPerSecond"], "fps", 30, 50, at_least=True)
    store, total = fleet(table, options)
    with Server(store) as server:
        seen = in_browser(server, options.runs, "list==main tbody a")
    table.add(f"list of {total:,} applications, until its rows stand", seen["list"]["usableMs"], "ms", 300, 150)
    with Server(web_logs()) as server:
        plan = "a/app-20260101140000-0005/sql/2"
        seen = in_browser(server, options.runs, f"plan={plan}=.gbox", f"frames={plan}?view=25=.graph-window", "heavy=a/app-heavy=.wf canvas")
    table.add("plan of 2,000 operators, until its drawing stands", seen["plan"]["usableMs"], "ms", 1000, 500)
    table.add("frames a second while it is zoomed and dragged", seen["framesPerSecond"], "fps", 30, 50, at_least=True)
    table.add("overview of 5,000 jobs and 1,000 executors, until its timeline stands", seen["heavy"]["usableMs"], "ms", 3000, 1000)
    table.note("of that the page's own thread worked, which holds on a busy machine, too: " + "; ".join(f"{name} {ms:.0f} ms" for name, ms in in_browser.work_ms.items()))


def part_script(table, _options):
    built = subprocess.run(["npm", "--prefix", str(tree.ROOT / "web"), "run", "build"], capture_output=True, text=True)
    size = re.search(r"script of the heaviest page \(\S+\) (\d+)", built.stdout)
    if not size:
        table.note("web/ cannot be built: no size of the JavaScript")
        return
    table.add("JavaScript of the heaviest page, gzip", int(size[1]) / 1000, "kB", 120, 80)



def main():
    global MAKER
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=1000000)
    parser.add_argument("--apps", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--giant-tasks", type=int, default=3000000)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {' '.join(PARTS)}")
    MAKER = tree.SHARED / "tools/make_big_log.py"
    if not MAKER.exists():
        without = {"api", "script"}
        print(f"{MAKER} is not there (set AFTERGLOW_SHARED): only {' and '.join(sorted(without))} can be measured", file=sys.stderr)
        parts = [part for part in parts if part in without]
    if tree.sanitized(BINARY):
        print("this program was built with sanitizers: its times mean nothing", file=sys.stderr)
    WORK.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    table = Table()
    for part in PARTS:
        if part in parts:
            globals()[f"part_{part}"](table, options)
    print(f"{table.missed} missed")
    return 1 if table.missed else 0


sys.exit(main())
