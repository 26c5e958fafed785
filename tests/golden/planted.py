#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs of tests/data/planted: the fault that was planted stands first or second by what it costs (or anywhere, where it has no price), what is not in a run is not told of it, and a healthy run has
nothing above low. Warm-up is left out of the order: it is large in every short run."""
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/support")
import tree

GRADES = ["ok", "info", "low", "moderate", "severe"]
# folder: rules of which one must be told (RULE, or RULE:CAUSE), rules that must not (at low or above)
PLANTED = {
    "cache_evicted": (["RDD.CACHE_PARTIAL"], ["RDD.RECOMPUTE", "RDD.CACHE_UNUSED"]),
    "cache_filled_ahead": (["RDD.CACHE_UNUSED"], ["RDD.RECOMPUTE", "RDD.CACHE_PARTIAL"]),
    "coalesce_before_work": (["STAGE.FEW_TASKS:coalesced", "STAGE.SINGLE_TASK:coalesced"], ["STAGE.SKEW_DATA", "STAGE.STRAGGLER"]),
    "dynamic_allocation_asks_late": (["APP.WAIT_EXECUTORS"], ["EXEC.LOST", "APP.OVERALLOC"]),
    "driver_out_of_memory": (["TASK.OOM"], ["EXEC.LOST"]),
    "executor_killed": (["EXEC.LOST", "STAGE.RETRY_CHAIN"], ["TASK.OOM", "STAGE.STRAGGLER", "JOB.FAILED"]),
    "executors_killed": (["JOB.FAILED:executor_gone"], ["STAGE.SKEW_DATA", "STAGE.STRAGGLER", "TASK.OOM"]),
    "group_by_key": (["STAGE.SPILL:python"], ["STAGE.SKEW_DATA", "STAGE.STRAGGLER"]),
    "nested_loop_join": (["SQL.ROW_EXPLOSION"], ["STAGE.SKEW_DATA"]),
    "retries": (["TASK.FAILURES"], ["JOB.FAILED", "EXEC.LOST"]),
    "skew_many_slots": (["STAGE.SKEW_DATA"], ["STAGE.STRAGGLER", "STAGE.SLOW_HOST"]),
    "skew_split_by_aqe": (["SQL.BROADCAST_MISSED"], ["STAGE.SKEW_DATA", "SQL.AQE_SKEW_UNHANDLED"]),
    "slow_host": (["STAGE.SLOW_HOST"], ["STAGE.SKEW_DATA"]),
    "small_files_read": (["SQL.SMALL_FILES_READ"], ["SQL.LONG_PLAN"]),
    "speculation_copy_wins": (["TASK.SPECULATION"], ["TASK.FAILURES", "STAGE.SKEW_DATA"]),
    "spill_aggregate": (["STAGE.SPILL"], ["STAGE.SKEW_DATA"]),
    "stream_stopped": (["SQL.PYTHON_UDF"], ["JOB.FAILED", "SQL.FAILED"]),
    "straggler_beside_warmup": (["STAGE.STRAGGLER"], ["STAGE.SKEW_DATA", "STAGE.SLOW_HOST"]),
    "two_tasks": (["STAGE.FEW_TASKS"], ["STAGE.SKEW_DATA", "STAGE.STRAGGLER"]),
    "udf_fails": (["TASK.FAILURES", "JOB.FAILED"], ["TASK.OOM", "EXEC.LOST"]),
    "window_without_partition": (["STAGE.FEW_TASKS:gathered", "STAGE.SINGLE_TASK:shuffle"], ["STAGE.SKEW_DATA"]),
    "waits_for_place": (["STAGE.LOCALITY"], ["STAGE.SKEW_DATA", "STAGE.STRAGGLER", "STAGE.FEW_TASKS"]),
}
HEALTHY = ["healthy_dynamic_allocation", "healthy_iterations", "healthy_slow_start", "healthy_stream", "healthy_word_count"]


# What did not fail, in the report and in the list, though a job was stopped.
STOPPED = ["stream_stopped"]


def findings_of(folder):
    (path,) = (tree.ROOT / "tests/data/planted" / folder).iterdir()
    done = subprocess.run([tree.binary(), "report", str(path), "--format", "json"], capture_output=True, text=True, timeout=900)
    return [f for f in json.loads(done.stdout)["findings"] if GRADES.index(f["grade"]) >= GRADES.index("info")]


def price(finding):
    return (finding["price"] or {}).get("ms") or 0


def faults_of_planted(folder, rules, strangers):
    found = findings_of(folder)
    priced = sorted((f for f in found if price(f) and f["rule"] != "STAGE.WARMUP"), key=price, reverse=True)
    hits = [f for f in found if f["rule"] in rules or f"{f['rule']}:{f['cause']}" in rules]
    if not hits:
        yield f"none of {rules}"
    elif any(price(f) for f in hits) and not any(f in hits for f in priced[:2]):
        yield f"{rules} are behind {[(f['rule'], price(f)) for f in priced[:2]]}"
    for f in found:
        if f["rule"] in strangers and GRADES.index(f["grade"]) >= GRADES.index("low"):
            yield f"{f['rule']} {f['grade']}: {f['sentence']}"


def faults_of_healthy(folder):
    for f in findings_of(folder):
        if GRADES.index(f["grade"]) > GRADES.index("low") or f["rule"] == "RDD.RECOMPUTE":
            yield f"{f['rule']} {f['grade']}: {f['sentence']}"


def faults_of_stopped(folder):
    (path,) = (tree.ROOT / "tests/data/planted" / folder).iterdir()
    said = json.loads(subprocess.run([tree.binary(), "report", str(path), "--format", "json"], capture_output=True, text=True, timeout=900).stdout)
    with tempfile.TemporaryDirectory() as store:
        subprocess.run([tree.binary(), "ingest", "--store", store, str(path)], capture_output=True, timeout=900, check=True)
        with contextlib.closing(sqlite3.connect(f"{store}/catalog.db")) as catalog:
            (outcome,) = catalog.execute("SELECT outcome FROM app").fetchone()
    if said["app"]["failed"] or outcome != "succeeded":
        yield f"failed: {said['app']['failed']} in the report, {outcome} in the list"


def main():
    kept = {p.name for p in pathlib.Path(tree.ROOT / "tests/data/planted").iterdir() if p.is_dir()}
    bad = [f"{name}: expected and kept are different" for name in kept ^ (set(PLANTED) | set(HEALTHY))]
    for folder, (rules, strangers) in PLANTED.items():
        bad += [f"{folder}: {fault}" for fault in faults_of_planted(folder, rules, strangers)]
    for folder in STOPPED:
        bad += [f"{folder}: {fault}" for fault in faults_of_stopped(folder)]
    for folder in HEALTHY:
        bad += [f"{folder}: {fault}" for fault in faults_of_healthy(folder)]
    print("\n".join(bad + [f"{len(kept)} logs, {len(bad)} faults"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
