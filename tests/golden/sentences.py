#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every sentence that `afterglow report` says of the sample logs, in both languages, for what nobody may read: gaps where a word should be, shares above 100 %, parts larger than the
whole, lists of nothing, ends said twice; and whether a verdict has the fault that was planted."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["AFTERGLOW_ROOT"])
BINARY = os.environ["AFTERGLOW_BINARY"]
sys.path.insert(0, str(ROOT / "tests/support"))
import runs  # noqa: E402

FAULTS = {
    "a value that is not known": r"—",
    "two blanks": r"  ",
    "an empty list or pair of brackets": r" [,.;)]|\( |（）|：[，。；]|[，、]{2}|、。",
    "a sentence that ends twice": r"[.!?]\.(?!\.)(?=\s|$)|[.!?。]。",
    "a share above 100 %": r"\b(?:10[1-9]|1[1-9]\d|[2-9]\d\d|\d,\d{3}) %",
    "nothing out of something": r"(?<![\d.,])0 of \d",
    "a number that is none": r"\b(?:NaN|nan|inf)\b",
}
# folder of the log: rule whose sentence is in the verdict, or whose name is
PLANTED = {
    "skew_hot_key": "STAGE.SKEW_DATA", "slow_executor": "STAGE.SLOW_HOST", "straggler_even_bytes": "STAGE.STRAGGLER", "gc_pressure": "STAGE.GC_HIGH", "spill_sort": "STAGE.SPILL",
    "tiny_tasks": "STAGE.TINY_TASKS", "idle_executors": "STAGE.FEW_TASKS", "connect_ops": "JOB.FAILED",
}
complaints = []


def check(condition, *what):
    if not condition:
        complaints.append(" ".join(map(str, what)))


def check_text(where, text):
    for fault, pattern in FAULTS.items():
        found = re.search(pattern, text)
        check(not found or (fault.startswith("nothing") and "of 100" in text), where, "has", fault + ":", text)


def check_numbers(where, finding, wall):
    args = {m["name"]: m for m in finding["measures"]}
    for name, m in args.items():
        if isinstance(m.get("value"), (int, float)):
            check(m["value"] >= 0, where, name, "is negative:", m["value"])
            check(m.get("unit") != "share" or m["value"] <= 1, where, name, "is more than all:", m["value"])
    check(not finding["price"] or finding["price"]["ms"] <= wall, where, "saves more than there is:", finding["price"])
    if finding["rule"] == "APP.LOW_UTIL":
        cells = {c["name"]: c["value"] for row in finding["evidence"]["rows"] for c in row["cells"]}
        parts = sum(cells.get(name) or 0 for name in ("busy", "driver", "few_tasks", "tail", "sched_wait", "stage_gap"))
        check(parts <= cells["allocated"] + 1, where, "has parts of", parts, "in", cells)


def report(store, key, lang):
    done = subprocess.run([BINARY, "report", "--store", str(store), key, "--format", "json", "--lang", lang], capture_output=True, text=True, timeout=900)
    return json.loads(done.stdout) if done.returncode in (0, 3) else None


def main():
    count = 0
    with tempfile.TemporaryDirectory(prefix="afterglow-sentences-") as folder:
        store = pathlib.Path(folder, "store")
        done = runs.ingest(BINARY, store, ROOT / "tests/data/logs")
        folder_of = {row["key"]: pathlib.PurePath(row["path"]).parent.name for row in done.rows if row.get("path")}
        for path in sorted((store / "apps").glob("*.db")):
            for lang in ("en", "zh-CN"):
                run = report(store, path.stem, lang)
                check(run, path.stem, "has no report")
                if not run:
                    continue
                where = f"{path.stem} {lang}"
                check_text(f"{where} verdict", run["verdict"])
                for finding in run["findings"]:
                    for part in ("sentence", "advice"):
                        check_text(f"{where} {finding['rule']} {part}", finding[part])
                    check_numbers(f"{where} {finding['rule']}", finding, run["app"]["wallMs"])
                    count += 1
                planted = PLANTED.get(folder_of.get(path.stem))
                said = [f for f in run["findings"] if f["rule"] == planted and (f["sentence"] in run["verdict"] or f["name"] in run["verdict"])]
                check(not planted or said or run["app"]["failed"], where, "does not name", planted, run["verdict"])
    print("\n".join(complaints[:60]))
    print(f"{count} findings read, {len(complaints)} complaints")
    return 1 if complaints or not count else 0


sys.exit(main())
