#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the sample logs a second time, in another language and the slow way, and holds the result against what was stored.

    recount.py [LOG…]       without arguments: all plain and zstd logs of tests/data/logs, and of ../shared/logs where that is there

Held against each other: stage attempts, tasks by status, sums over the ended tasks and quantiles over the successful ones of every metric below, jobs and their outcome,
executors, names and values of the environment.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/support")
import runs
import tree

# column: where it stands in Task Metrics
METRICS = {
    "executor_deserialize_time_ms": ["Executor Deserialize Time"],
    "executor_deserialize_cpu_time_ns": ["Executor Deserialize CPU Time"],
    "executor_run_time_ms": ["Executor Run Time"],
    "executor_cpu_time_ns": ["Executor CPU Time"],
    "peak_execution_memory_bytes": ["Peak Execution Memory"],
    "result_size_bytes": ["Result Size"],
    "jvm_gc_time_ms": ["JVM GC Time"],
    "memory_spilled_bytes": ["Memory Bytes Spilled"],
    "disk_spilled_bytes": ["Disk Bytes Spilled"],
    "input_bytes": ["Input Metrics", "Bytes Read"],
    "input_records": ["Input Metrics", "Records Read"],
    "output_bytes": ["Output Metrics", "Bytes Written"],
    "shuffle_remote_read_bytes": ["Shuffle Read Metrics", "Remote Bytes Read"],
    "shuffle_local_read_bytes": ["Shuffle Read Metrics", "Local Bytes Read"],
    "shuffle_records_read": ["Shuffle Read Metrics", "Total Records Read"],
    "shuffle_fetch_wait_time_ms": ["Shuffle Read Metrics", "Fetch Wait Time"],
    "shuffle_write_bytes": ["Shuffle Write Metrics", "Shuffle Bytes Written"],
    "shuffle_write_time_ns": ["Shuffle Write Metrics", "Shuffle Write Time"],
    "push_remote_merged_read_bytes": ["Shuffle Read Metrics", "Push Based Shuffle", "Merged Remote Bytes Read"],
}
QUANTILES = {"min": 0, "p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99, "max": 1}
SECTIONS = ["JVM Information", "Spark Properties", "Hadoop Properties", "System Properties", "Metrics Properties", "Classpath Entries"]


class Cut(Exception):
    """Ends inside a zstd frame: the zstd command gives up earlier than we do, so there is nothing to compare with."""


def events(log):
    files = sorted(log.glob("events_*"), key=lambda path: int(path.name.split("_")[1])) if log.is_dir() else [log]
    for path in files:
        data = path.read_bytes()
        if data[:4] == b"\x28\xb5\x2f\xfd":
            done = subprocess.run(["zstd", "-dcq", path], capture_output=True)
            if done.returncode:
                raise Cut(path)
            data = done.stdout
        for line in data.split(b"\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def metric(metrics, path):
    for key in path:
        metrics = (metrics or {}).get(key)
    return metrics


class Count:
    """What the slow way finds."""

    def __init__(self, log):
        self.tasks = collections.defaultdict(dict)  # (stage, attempt): {task id: end}
        self.jobs, self.executors, self.environment = {}, set(), None
        for event in events(log):
            name = event.get("Event")
            if name == "SparkListenerTaskEnd":
                self.tasks[event["Stage ID"], event["Stage Attempt ID"]].setdefault(event["Task Info"]["Task ID"], event)
            elif name == "SparkListenerJobStart":
                self.jobs.setdefault(event["Job ID"], None)
            elif name == "SparkListenerJobEnd":
                self.jobs[event["Job ID"]] = event["Job Result"]["Result"] == "JobSucceeded"
            elif name == "SparkListenerExecutorAdded":
                self.executors.add(event["Executor ID"])
            elif name == "SparkListenerEnvironmentUpdate" and self.environment is None:
                self.environment = {(number, key) for number, section in enumerate(SECTIONS) for key in event.get(section) or {}}

    def stage(self, key):
        ends = list(self.tasks[key].values())
        good = [end for end in ends if not end["Task Info"]["Failed"] and not end["Task Info"]["Killed"]]
        killed = [end for end in ends if end["Task Info"]["Killed"]]
        failed = [end for end in ends if end["Task Info"]["Failed"] and not end["Task Info"]["Killed"]]
        facts = {"complete_tasks": len(good), "killed_tasks": len(killed), "failed_tasks": len(failed)}
        columns = {column: [metric(end.get("Task Metrics"), path) for end in good] for column, path in METRICS.items()}
        columns["duration_ms"] = [end["Task Info"]["Finish Time"] - end["Task Info"]["Launch Time"] for end in good if end.get("Task Metrics")]
        for column, values in columns.items():
            values = sorted(value for value in values if value is not None)
            if values:
                found = {name: values[min(int(q * len(values)), len(values) - 1)] for name, q in QUANTILES.items()}
                facts[column] = {**found, "sum": sum(values), "task_count": len(values)}
        return facts


def rows(dump):
    """table: list of {column: text}"""
    tables = collections.defaultdict(list)
    for line in dump.splitlines():
        table, *cells = line.split("|")
        tables[table].append(dict(cell.partition("=")[::2] for cell in cells if "=" in cell))
    return tables


def compare(log, binary):
    """Complaints about one log."""
    complaints = []
    try:
        count = Count(log)
    except Cut:
        return complaints
    with tempfile.TemporaryDirectory() as store:
        done = runs.ingest(binary, store, log)
        if len(done.rows) != 1 or done.rows[0]["state"] not in ("loaded", "partial"):
            return [f"not loaded: {done.rows or done.stderr[-200:]}"]
        tables = rows(runs.dump(binary, store, done.rows[0]["key"], "stage", "stage_quantile", "job", "executor", "environment"))

    def same(what, expected, stored):
        if expected != stored:
            complaints.append(f"{what}: counted {expected}, stored {stored}")

    quantiles = collections.defaultdict(dict)
    for row in tables["stage_quantile"]:
        quantiles[row["stage_ref"]][row["name"]] = {key: int(row[key]) for key in (*QUANTILES, "sum", "task_count")}
    stages = {(int(row["stage_id"]), int(row["attempt"])): row for row in tables["stage"]}
    for key in count.tasks:
        if key not in stages:
            complaints.append(f"stage {key}: not stored")
            continue
        row = stages[key]
        for name, expected in count.stage(key).items():
            stored = quantiles[row["stage_ref"]].get(name) if isinstance(expected, dict) else int(row[name])
            same(f"stage {key} {name}", expected, stored)
    same("jobs", len(count.jobs), len(tables["job"]))
    for row in tables["job"]:
        succeeded = count.jobs[int(row["job_id"])]
        if succeeded is not None:
            same(f"job {row['job_id']} succeeded", succeeded, row["status"] == "1")
    same("executors", count.executors, {row["executor_id"] for row in tables["executor"]} & count.executors)
    if count.environment is not None:
        same("environment", set(), count.environment ^ {(int(row["section"]), row["name"]) for row in tables["environment"]})
    return complaints


def all_logs():
    folders = [tree.ROOT / "tests/data/logs", tree.SHARED / "logs/3.5.7", tree.SHARED / "logs/4.3.0"]
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inside = any(parent.name.startswith("eventlog_v2_") for parent in path.parents)
            plain = path.name != "README.md" and not path.name.startswith(".") and (path.is_file() or path.name.startswith("eventlog_v2_"))
            named = [path.name] if path.is_file() else [part.name for part in path.glob("events_*")] if path.is_dir() else []
            if plain and not inside and not any(name.removesuffix(".inprogress").endswith((".lz4", ".lzf", ".snappy", ".compact")) for name in named):
                found.append(path)
    return found


def main():
    logs = [pathlib.Path(argument).absolute() for argument in sys.argv[1:]] or all_logs()
    binary, failed = tree.binary(), 0
    for log in logs:
        complaints = compare(log, binary)
        failed += bool(complaints)
        for complaint in complaints[:5]:
            print(f"{log.parent.name}/{log.name}: {complaint}")
        if len(complaints) > 5:
            print(f"… and {len(complaints) - 5} more")
    print(f"{len(logs) - failed} passed, {failed} failed")
    return 1 if failed or not logs else 0


sys.exit(main())
