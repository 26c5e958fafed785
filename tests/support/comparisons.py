#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterglow compare` as a command, over real runs: what it names, when it says that nothing changed, ids that mean nothing, exit status, forms, hostile names.

    comparisons.py CASE        nightly | noise | renumbered | usual | usual_http | statuses | hostile | everything
"""
import html.parser
import itertools
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import serving
import tree
import unpack

LOGS = tree.ROOT / "tests/data/logs"
NIGHTLY = [LOGS / "regression_base/app-20261129213216-0000.zstd", LOGS / "regression_slow/app-20261129213238-0000.zstd"]
HOURLY = sorted((LOGS / "rerun_noise").glob("app-*.zstd"))
HOSTILE = "\x1b[31mred\x1b]0;t\x07</td><script>alert(1)</script> `|*_[a](javascript:x) @all\u202e\r\nX"


def run(*arguments):
    return subprocess.run([tree.binary(), *map(str, arguments)], capture_output=True, text=True, timeout=900)


def compare(*arguments, status=0):
    done = run("compare", *arguments, "--format", "json")
    check(f"status {done.returncode}, not {status}: {done.stderr}", done.returncode == status)
    answer = json.loads(done.stdout, parse_constant=no_number)
    if answer.get("parts") is not None:
        check("the parts sum to the difference", sum(part["ms"] for part in answer["parts"]) == answer["deltaMs"])
    return answer


def no_number(word):
    raise AssertionError(f"{word} in JSON")


def check(what, good):
    if not good:
        raise AssertionError(what)


def plain(log):
    """The text of a log, whatever its codec."""
    return unpack.unpacked(log.read_bytes()).decode()


def nightly():
    """The slow run lost its broadcast joins and one of two executors (tests/data/logs/README.md)."""
    answer = compare(*NIGHTLY)
    check("it is slower", answer["verdict"] == "slower" and answer["deltaMs"] == answer["new"]["wallMs"] - answer["base"]["wallMs"] > 6000)
    parts = {part["part"]: part for part in answer["parts"]}
    plan, slots = parts["plan"], parts["slots"]
    check("the lost broadcast", plan["change"] == "broadcast_lost" and (plan["before"], plan["after"], plan["count"]) == (3, 0, 3) and plan["ms"] > 2000)
    check("its setting", plan["settings"] == ["spark.sql.autoBroadcastJoinThreshold"])
    check("the missing executor", (slots["before"], slots["after"]) == (2, 1) and slots["ms"] > 2000 and slots["settings"] == ["spark.master"])
    check("both are the largest", {part["part"] for part in answer["parts"][:2]} == {"plan", "slots"})
    check("settings", [setting["name"] for setting in answer["settings"]] == ["spark.master", "spark.sql.autoBroadcastJoinThreshold"])
    check("what the rules say of it", any(f["news"] == "new" and f["rule"] == "SQL.BROADCAST_MISSED" for f in answer["findings"]))
    check("grade", answer["regressionGrade"] == "moderate")      # 6.6 of 20.4 s
    text = run("compare", *NIGHTLY).stdout
    check("in words", "lost broadcast join (3 → 0)" in text and "missing executors or cores (2 → 1" in text)
    back = compare(*reversed(NIGHTLY))
    check("and back", back["verdict"] == "faster" and back["deltaMs"] == -answer["deltaMs"] and back["regressionGrade"] == "ok")


def noise():
    for base, new in itertools.permutations(HOURLY, 2):
        answer = compare(base, new)
        check(f"{base.name} {new.name}: no change", answer["verdict"] == "no_change" and answer["regressionGrade"] == "ok" and answer["matchedShare"] == 1)


def renumber(value, key=""):
    """Every id of a log plus some: jobs, stages, RDDs, accumulators, tasks, queries, expressions and plan nodes."""
    if isinstance(value, dict):
        return {name: renumber(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        if key == "accumUpdates":
            return [[pair[0] + 5000, pair[1]] if isinstance(pair, list) else pair for pair in value]
        return [renumber(inner, key) for inner in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value + {"Job ID": 300, "Stage ID": 700, "Stage IDs": 700, "RDD ID": 900, "Parent IDs": 0, "Task ID": 11000, "ID": 5000, "accumulatorId": 5000, "executionId": 40,
                        "rootExecutionId": 40}.get(key, 0)
    if key == "spark.sql.execution.id" or key == "spark.sql.execution.root.id":
        return str(int(value) + 40)
    if isinstance(value, str) and key in ("simpleString", "physicalPlanDescription"):
        return re.sub(r"plan_id=(\d+)", lambda m: f"plan_id={int(m[1]) + 77}", re.sub(r"#(\d+)", lambda m: f"#{int(m[1]) + 1234}", value))
    if isinstance(value, str) and key == "Block ID":
        return re.sub(r"^rdd_(\d+)_", lambda m: f"rdd_{int(m[1]) + 900}_", value)
    if isinstance(value, str) and key == "Scope":
        return re.sub(r'"id":"(\d+)"', lambda m: f'"id":"{int(m[1]) + 3000}"', value)
    return value


def parents(event):
    """Parent IDs are stages' in a stage, RDDs' in an RDD."""
    for stage in [event["Stage Info"]] if "Stage Info" in event else event.get("Stage Infos", []):
        stage["Parent IDs"] = [i + 700 for i in stage["Parent IDs"]]
        for rdd in stage["RDD Info"]:
            rdd["Parent IDs"] = [i + 900 for i in rdd["Parent IDs"]]
    return event


def renumbered():
    for name in ("healthy_sql", "regression_base", "healthy_rdd", "skew_hot_key", "spill_sort", "long_lineage_iterative"):
        log = sorted((LOGS / name).iterdir())[0]
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "renumbered"
            other.write_text("".join(json.dumps(parents(renumber(json.loads(line)))) + "\n" for line in plain(log).splitlines()))
            answer = compare(log, other)
        check(f"{name}: {answer['matchedShare']} matched", answer["matchedShare"] >= 0.95)
        check(f"{name}: nothing changed", answer["verdict"] == "no_change" and answer["deltaMs"] == 0 and answer["parts"] == [])
        check(f"{name}: findings are the same", all(finding["news"] == "same" for finding in answer["findings"]))


def later(log, folder, number, slower=1.0):
    """The same run as another application, `number` hours later, with every duration × `slower`."""
    out = []
    first = None
    for line in plain(log).splitlines():
        def shift(match):
            nonlocal first
            at = int(match[0])
            first = first or at
            return str(int(first + (at - first) * slower + number * 3_600_000))
        out.append(re.sub(r"\b1795\d{9}\b", shift, line).replace("app-2026112921", f"app-20261130{number:02d}"))
    path = pathlib.Path(folder) / f"later-{number}"
    path.write_text("\n".join(out) + "\n")
    return path


def five_runs(folder):
    """Four that are alike and a slow one."""
    return [later(HOURLY[i % 3], folder, i) for i in range(4)] + [later(HOURLY[0], folder, 4, 1.6)]


def ask(address, tag=None):
    """(status, tag, findings by rule, verdict) of GET …/findings."""
    request = urllib.request.Request(address, headers={"If-None-Match": tag} if tag else {})
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            answer = json.loads(response.read())
            return response.status, response.headers["ETag"], {finding["rule"]: finding for finding in answer["findings"]}, answer["verdict"]
    except urllib.error.HTTPError as error:
        return error.code, error.headers["ETag"], None, None


def usual_http():
    """The findings of the slow run name the regression, by the thresholds of the request; the answer's tag changes with its history."""
    with tempfile.TemporaryDirectory() as folder, serving.Server(tree.binary(), five_runs(folder)) as server:
        store = pathlib.Path(server.folder.name) / "store"
        catalog = sqlite3.connect(store / "catalog.db")
        keys = [row[0] for row in catalog.execute("SELECT app_key FROM run_history ORDER BY begin_ms")]
        slow = f"{server.base}/api/afterglow/v1/apps/{keys[4]}/findings"
        status, tag, findings, verdict = ask(slow)
        check("findings say so", status == 200 and findings["RUN.REGRESSION"]["grade"] == "severe" and "slower than the usual" in verdict)
        check("the client has it", ask(slow, tag)[:2] == (304, tag))
        chinese = ask(f"{slow}?lang=zh-CN&rule=RUN.REGRESSION&threshold.RUN.REGRESSION=0.1,0.9,-,-")[2]["RUN.REGRESSION"]
        check("with other thresholds, in Chinese", chinese["grade"] == "info" and "比平时" in chinese["sentence"])
        check("none of them is passed", not ask(f"{slow}?threshold.RUN.REGRESSION=9,-,-,-&rule=RUN.REGRESSION")[2])
        check("a usual run has none", "RUN.REGRESSION" not in ask(f"{server.base}/api/afterglow/v1/apps/{keys[3]}/findings")[2])
        check("judged anew", run("analyze", "--store", store, keys[0]).returncode == 0)
        status, again, findings, _ = ask(slow, tag)
        check("an earlier run was judged anew", status == 200 and again != tag and "RUN.REGRESSION" in findings)
        with catalog:
            catalog.execute("UPDATE run_history SET eligible = 0 WHERE app_key = ?", [keys[0]])
        status, fewer, findings, _ = ask(slow, again)
        check("an earlier run does not count any more", status == 200 and fewer != again and findings["RUN.REGRESSION"]["evidence"])
        with catalog:
            catalog.execute("UPDATE run_history SET eligible = 0")
        status, _, findings, _ = ask(slow, fewer)
        check("too few are no regression", status == 200 and "RUN.REGRESSION" not in findings)
        catalog.close()


def usual():
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "store"
        logs = five_runs(folder)
        check("loaded", run("ingest", "--store", store, *logs).returncode == 0)
        catalog = sqlite3.connect(store / "catalog.db")
        keys = [row[0] for row in catalog.execute("SELECT app_key FROM run_history ORDER BY begin_ms")]
        check("one job", [row[0] for row in catalog.execute("SELECT DISTINCT run_key FROM run_history")] == ["hourly_ingest|alice|"])
        too_few = compare("--store", store, "usual", keys[2], status=3)
        check("two are too few", too_few["state"] == "too_few" and len(too_few["baseline"]["members"]) == 2)
        same = compare("--store", store, "usual", keys[3])
        check("the fourth is as usual", same["verdict"] == "no_change" and same["wall"]["count"] == 3)
        slow = compare("--store", store, "usual", keys[4])
        check("the fifth is slower", slow["verdict"] == "slower" and slow["regressionGrade"] == "severe" and slow["baseline"]["slowerThan"] == 4)
        check("its stages are", any(stage["ms"] > 1.5 * stage["usualMs"] for stage in slow["stages"]))
        check("--fail-on", run("compare", "--store", store, "usual", keys[4], "--fail-on", "severe").returncode == 4)
        report = json.loads(run("report", "--store", store, keys[4], "--format", "json").stdout, parse_constant=no_number)
        (regression,) = [finding for finding in report["findings"] if finding["rule"] == "RUN.REGRESSION"]
        check("the report says so", regression["grade"] == "severe" and "slower than the usual" in regression["sentence"] and "slower than the usual" in report["verdict"])
        order = ["severe", "moderate", "low", "info"]
        grades = [order.index(finding["grade"]) for finding in report["findings"] if finding["grade"] != "ok"]
        check("in its place", grades == sorted(grades))
        check("nor of a usual run", "RUN.REGRESSION" not in [f["rule"] for f in json.loads(run("report", "--store", store, keys[3], "--format", "json").stdout)["findings"]])
        reference = next(member["key"] for member in slow["baseline"]["members"] if member["isReference"])
        (store / "apps" / f"{reference}.db").rename(store / "away")
        other = compare("--store", store, "usual", keys[4])
        check("without its file the next one is the reference", other["base"]["id"] != slow["base"]["id"] and other["usualMs"] == slow["usualMs"])
        (store / "away").rename(store / "apps" / f"{reference}.db")
        # The history comes back with a catalogue that was lost, and after the rules ran again.
        rows = catalog.execute("SELECT * FROM run_history ORDER BY app_key").fetchall()
        catalog.close()
        check("analysed again", run("analyze", "--store", store).returncode == 0)
        for path in store.glob("catalog.db*"):
            path.unlink()
        check("made anew", run("ingest", "--store", store, logs[0]).returncode == 0)
        check("the same history", sqlite3.connect(store / "catalog.db").execute("SELECT * FROM run_history ORDER BY app_key").fetchall() == rows)


def statuses():
    check("--fail-on moderate", run("compare", *NIGHTLY, "--fail-on", "moderate").returncode == 4)
    check("--fail-on severe", run("compare", *NIGHTLY, "--fail-on", "severe").returncode == 0)
    for wrong in ([], [NIGHTLY[0]], [*NIGHTLY, NIGHTLY[0]], [*NIGHTLY, "--format", "xml"], [*NIGHTLY, "--fail-on", "ok"]):
        check(f"{wrong} is usage", run("compare", *wrong).returncode == 2)
    check("no such log", run("compare", NIGHTLY[0], "/nonexistent/log").returncode == 1)
    check("no store, no usual", run("compare", "usual", NIGHTLY[0]).returncode == 1)
    with tempfile.TemporaryDirectory() as folder:
        cut = pathlib.Path(folder) / "cut"
        lines = plain(NIGHTLY[1]).splitlines(keepends=True)
        cut.write_text("".join(line for i, line in enumerate(lines) if '"SparkListenerTaskEnd"' not in line or i % 3))
        answer = compare(NIGHTLY[0], cut, status=3)
        check("too incomplete", answer["state"] == "incomplete" and answer["verdict"] is None and answer["new"]["completeness"] < 80)
        check("nothing is left behind", not list(pathlib.Path(folder).glob("afterglow-*")))


class Balanced(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        check(f"<{tag}> is not ours", tag not in ("script", "img", "a"))
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        check(f"</{tag}> closes <{self.open[-1]}>", self.open.pop() == tag)


def forms_of(base, new):
    for lang in ("en", "zh"):
        text = run("compare", base, new, "--lang", lang)
        check(f"text: {text.stderr}", text.returncode == 0 and not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text.stdout))
        check("no placeholder is left", "{" not in text.stdout)
        page = run("compare", base, new, "--lang", lang, "--format", "html").stdout
        parser = Balanced()
        parser.feed(page)
        check("everything is closed", not parser.open)
        marked = run("compare", base, new, "--lang", lang, "--format", "md").stdout
        check("markdown", marked.startswith("# ") and "<script" not in marked.replace("\\<script", ""))
    for word in ("nan", "inf"):
        check(word, not re.search(rf"\b{word}\b", text.stdout))


def hostile():
    forms_of(*NIGHTLY)
    with tempfile.TemporaryDirectory() as folder:
        odd = pathlib.Path(folder) / "odd"
        named = json.dumps(HOSTILE)[1:-1]
        odd.write_text(plain(NIGHTLY[1]).replace("nightly_sales", named).replace("collect at ", named + " at ").replace('"spark.master"', json.dumps("spark." + HOSTILE)))
        forms_of(NIGHTLY[0], odd)
        compare(NIGHTLY[0], odd)


def everything():
    """Any two logs compare, in either order, with sums that are exact."""
    logs = [sorted(path.iterdir())[0] for path in sorted(LOGS.iterdir()) if path.is_dir()]
    for base, new in zip(logs, logs[1:] + logs[:1]):
        done = run("compare", base, new, "--format", "json")
        check(f"{base} {new}: {done.returncode} {done.stderr}", done.returncode in (0, 3))
        answer = json.loads(done.stdout, parse_constant=no_number)
        if answer["state"] == "done":
            check(f"{base} {new}: sum", sum(part["ms"] for part in answer["parts"]) == answer["deltaMs"])


if __name__ == "__main__":
    {case.__name__: case for case in (nightly, noise, renumbered, usual, usual_http, statuses, hostile, everything)}[sys.argv[1]]()
