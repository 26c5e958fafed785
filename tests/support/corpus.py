#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads every log of ../shared/logs at once and holds the list against that corpus's labels; skipped where it is not there.

Each log must be loaded, and jobs, stages, task ends, executors and the end record must be as counted in labels.json. Of logs that end inside a zstd frame we read more than
the script that counted them, never less.
"""
import json
import tempfile

import runs
import tree

COUNTS = {"jobs": "jobCount", "stages": "stageCount", "tasks": "taskCount", "executors": "executorCount"}


def main():
    logs, labels = tree.SHARED / "logs", tree.SHARED / "logs/labels.json"
    if not labels.exists():
        tree.skip("../shared/logs is not there (AFTERGLOW_SHARED)")
    binary, complaints = tree.binary(), []
    with tempfile.TemporaryDirectory() as store:
        done = runs.ingest(binary, store, logs, timeout=600)
        if done.returncode not in (0, 3):
            complaints.append(f"afterglow ingest ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        rows = {row["path"]: row for row in runs.listed(binary, store)}
    complaints += [f"{row['path']}: {row['state']}: {row['reason']}" for row in rows.values() if row["state"] not in ("loaded", "partial", "skipped")]
    for name, label in json.loads(labels.read_text()).items():
        row, counted = rows.get(str(logs / name)), label["verified"]
        if not row or row["state"] not in ("loaded", "partial"):
            complaints.append(f"{name}: not loaded")
            continue
        for key, column in COUNTS.items():
            expected, found = counted.get(key), row[column]
            if expected is not None and found != expected and not (label["in_progress"] and found > expected):
                complaints.append(f"{name}: {found} {key}, counted {expected}")
        if row["complete"] is not counted["has_end"]:
            complaints.append(f"{name}: complete is {row['complete']}")
    tree.finish(len(rows), complaints)


main()
