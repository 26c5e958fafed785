#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plain client, as scripts are that read the History Server's REST interface: urllib, json, zipfile and nothing of ours. It walks everything about every sample log on the live server, and holds what
it was told against the event log that it downloaded, whose events it counts itself."""
import collections
import ctypes.util
import io
import json
import pathlib
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import serving
import tree
import unpack

PAGE = 37  # rows asked for at once: no divisor of anything
REDACTED = "*********(redacted)"
SQL = "org.apache.spark.sql.execution.ui.SparkListener"
# sum of a stage: where it stands in the metrics of a task's end
SUMS = {
    "executorRunTime": ["Executor Run Time"],
    "executorCpuTime": ["Executor CPU Time"],
    "jvmGcTime": ["JVM GC Time"],
    "resultSize": ["Result Size"],
    "memoryBytesSpilled": ["Memory Bytes Spilled"],
    "diskBytesSpilled": ["Disk Bytes Spilled"],
    "inputBytes": ["Input Metrics", "Bytes Read"],
    "inputRecords": ["Input Metrics", "Records Read"],
    "outputBytes": ["Output Metrics", "Bytes Written"],
    "shuffleRemoteBytesRead": ["Shuffle Read Metrics", "Remote Bytes Read"],
    "shuffleLocalBytesRead": ["Shuffle Read Metrics", "Local Bytes Read"],
    "shuffleReadRecords": ["Shuffle Read Metrics", "Total Records Read"],
    "shuffleWriteBytes": ["Shuffle Write Metrics", "Shuffle Bytes Written"],
    "shuffleWriteTime": ["Shuffle Write Metrics", "Shuffle Write Time"],
}
KILLED = {"TaskKilled", "TaskCommitDenied"}


class Client:
    def __init__(self, base):
        self.base = f"{base}/api/v1"

    def get(self, *path, **query):
        address = "/".join([self.base, *(urllib.parse.quote(str(part), safe="") for part in path)])
        if query:
            address += "?" + urllib.parse.urlencode(query, doseq=True)
        with urllib.request.urlopen(address, timeout=300) as answer:
            body, kind = answer.read(), answer.headers.get_content_type()
        return json.loads(body) if kind == "application/json" else body

    def refused(self, *path):
        """The status of an error."""
        try:
            self.get(*path)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def pages(self, *path, **query):
        """All rows of a list that is asked for in pieces."""
        rows = []
        while True:
            piece = self.get(*path, offset=len(rows), length=PAGE, **query)
            rows += piece
            if len(piece) < PAGE:
                return rows


def at(metrics, path):
    for key in path:
        metrics = (metrics or {}).get(key)
    return metrics or 0


class Log:
    """What the events of a downloaded log say."""

    def __init__(self, archive):
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            names = [entry.filename for entry in files.infolist() if not entry.is_dir() and not re.match(r"\.|appstatus", entry.filename.rsplit("/", 1)[-1])]
            rolled = re.compile(r"/events_(\d+)_")
            names.sort(key=lambda name: int(rolled.search(name)[1]) if rolled.search(name) else 0)
            pieces = [unpack.unpacked(files.read(name)) for name in names]
        self.application, self.version, self.end_ms, self.properties = {}, "", None, {}
        self.jobs, self.stages, self.executions = {}, set(), {}
        self.started, self.ends = collections.defaultdict(set), collections.defaultdict(list)
        self.executors, self.running_executors = {}, {}
        self.blocks, self.cached_rdds = collections.defaultdict(dict), set()
        for text in pieces:
            for line in text.split(b"\n"):
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                handler = getattr(self, "on_" + event["Event"].removeprefix(SQL).removeprefix("SparkListener"), None)
                if handler:
                    handler(event)

    def on_LogStart(self, event):
        self.version = event["Spark Version"]

    def on_ApplicationStart(self, event):
        self.application = event

    def on_ApplicationEnd(self, event):
        self.end_ms = event["Timestamp"]

    def on_EnvironmentUpdate(self, event):
        self.properties = event["Spark Properties"]

    def on_JobStart(self, event):
        execution = event.get("Properties", {}).get("spark.sql.execution.id")
        self.jobs[event["Job ID"]] = {"stages": event["Stage IDs"], "status": "RUNNING", "execution": execution and int(execution)}
        self.stages |= {(info["Stage ID"], info["Stage Attempt ID"]) for info in event["Stage Infos"]}

    def on_JobEnd(self, event):
        if event["Job ID"] in self.jobs:
            self.jobs[event["Job ID"]]["status"] = "SUCCEEDED" if event["Job Result"]["Result"] == "JobSucceeded" else "FAILED"

    def on_StageSubmitted(self, event):
        info = event["Stage Info"]
        self.stages.add((info["Stage ID"], info["Stage Attempt ID"]))
        self.cached_rdds |= {rdd["RDD ID"] for rdd in info["RDD Info"] if rdd["Storage Level"]["Use Memory"] or rdd["Storage Level"]["Use Disk"]}

    def on_TaskStart(self, event):
        self.started[event["Stage ID"], event["Stage Attempt ID"]].add(event["Task Info"]["Task ID"])
        executor = self.running_executors.get(event["Task Info"]["Executor ID"])
        if executor is not None:
            executor["totalTasks"] += 1

    def on_TaskEnd(self, event):
        self.ends[event["Stage ID"], event["Stage Attempt ID"]].append(event)
        executor = self.running_executors.get(event["Task Info"]["Executor ID"])
        reason = event["Task End Reason"]["Reason"]
        if executor is not None and reason not in KILLED:
            executor["completedTasks" if reason == "Success" else "failedTasks"] += 1

    def on_ExecutorAdded(self, event):
        self.found(event["Executor ID"])

    def on_BlockManagerAdded(self, event):
        self.found(event["Block Manager ID"]["Executor ID"])

    def found(self, executor):
        if executor not in self.running_executors:
            self.executors[executor] = self.running_executors[executor] = collections.Counter()

    def on_ExecutorRemoved(self, event):
        gone = event["Executor ID"]
        self.running_executors.pop(gone, None)
        for holders in self.blocks.values():
            for block in [block for block in holders if block[1] == gone]:
                del holders[block]

    def on_BlockUpdated(self, event):
        info = event["Block Updated Info"]
        rdd = re.fullmatch(r"rdd_(\d+)_(\d+)", info["Block ID"])
        if not rdd:
            return
        held, key = self.blocks[int(rdd[1])], (rdd[2], info["Block Manager ID"]["Executor ID"])
        if info["Storage Level"]["Use Memory"] or info["Storage Level"]["Use Disk"]:
            held[key] = True
        else:
            held.pop(key, None)

    def on_UnpersistRDD(self, event):
        self.blocks.pop(event["RDD ID"], None)
        self.cached_rdds.discard(event["RDD ID"])

    def on_SQLExecutionStart(self, event):
        self.executions[event["executionId"]] = event["description"]

    def good(self, stage):
        return [end for end in self.ends[stage] if end["Task End Reason"]["Reason"] == "Success"]


def quantile(values, q):
    values = sorted(values)
    return float(values[min(int(q * len(values)), len(values) - 1)])


class Walk:
    """One application attempt: what it is told, what its log says."""

    def __init__(self, client, app, attempt):
        self.client, self.app, self.attempt, self.complaints = client, app, attempt, []
        self.path = ["applications", app["id"], *([attempt["attemptId"]] if "attemptId" in attempt else [])]
        self.log = Log(self.get("logs"))
        self.checked = 0

    def get(self, *path, **query):
        return self.client.get(*self.path, *path, **query)

    def same(self, what, told, counted):
        self.checked += 1
        if told != counted:
            self.complaints.append(f"{'/'.join(self.path[1:])} {what}: told {told!r:.300}, counted {counted!r:.300}")

    def walk(self):
        steps = [self.application, self.jobs, self.stages, self.executors, self.storage, self.environment, self.sql]
        for step in steps:
            step()
        return self.complaints

    def application(self):
        log, attempt = self.log, self.attempt
        self.same("name", self.app["name"], log.application["App Name"])
        self.same("user", attempt["sparkUser"], log.application["User"])
        self.same("version", attempt["appSparkVersion"], log.version)
        self.same("start", attempt["startTimeEpoch"], log.application["Timestamp"])
        self.same("completed", attempt["completed"], log.end_ms is not None)
        self.same("end", attempt["endTimeEpoch"], -1 if log.end_ms is None else log.end_ms)
        self.same("duration", attempt["duration"], 0 if log.end_ms is None else log.end_ms - log.application["Timestamp"])

    def jobs(self):
        jobs = self.get("jobs")
        self.same("jobs", {job["jobId"]: job["status"] for job in jobs}, {number: job["status"] for number, job in self.log.jobs.items()})
        self.same("order of jobs", [job["jobId"] for job in jobs], sorted(self.log.jobs, reverse=True))
        for job in jobs:
            self.same(f"stages of job {job['jobId']}", set(job["stageIds"]), set(self.log.jobs[job["jobId"]]["stages"]))
        for status in ("running", "succeeded", "failed"):
            self.same(f"jobs {status}", len(self.get("jobs", status=status)), sum(job["status"] == status.upper() for job in self.log.jobs.values()))
        if jobs:
            self.same("one job", self.get("jobs", jobs[0]["jobId"]), jobs[0])

    def stages(self):
        log, summaries = self.log, {}
        for stage in self.get("stages", withSummaries="true", quantiles="0.0,0.5,1.0"):
            summaries[stage["stageId"], stage["attemptId"]] = stage.get("taskMetricsDistributions")
        self.same("stages", set(summaries), log.stages)
        for stage in self.get("stages", details="true"):
            key = stage["stageId"], stage["attemptId"]
            ends, good = log.ends[key], log.good(key)
            reasons = [end["Task End Reason"]["Reason"] for end in ends]
            killed = sum(reason in KILLED for reason in reasons)
            told = [stage["numCompleteTasks"], stage["numKilledTasks"], stage["numFailedTasks"], stage["numActiveTasks"]]
            self.same(f"tasks of stage {key}", told, [len(good), killed, len(ends) - len(good) - killed, len(log.started[key]) - len(ends)])
            for name, where in SUMS.items():
                self.same(f"{name} of stage {key}", stage[name], sum(at(end.get("Task Metrics"), where) for end in ends))
            self.same(f"details of stage {key}", {task["taskId"] for task in stage["tasks"].values()}, log.started[key])
            self.tasks(key, good)
            times = [end["Task Metrics"]["Executor Run Time"] for end in good]
            counted = [quantile(times, q) for q in (0, 0.5, 1)] if good else None
            self.same(f"quantiles of stage {key}", summaries[key] and summaries[key]["executorRunTime"], counted)
            if good:
                self.same(f"taskSummary of stage {key}", self.get("stages", *key, "taskSummary", quantiles="0,0.5,1")["executorRunTime"], counted)
            else:
                self.same(f"taskSummary of stage {key}", self.client.refused(*self.path, "stages", *key, "taskSummary"), 404)

    def tasks(self, key, good):
        tasks = self.client.pages(*self.path, "stages", *key, "taskList")
        self.same(f"taskList of stage {key}", [task["taskId"] for task in tasks], sorted(self.log.started[key]))
        ended = {end["Task Info"]["Task ID"]: end["Task Info"] for end in self.log.ends[key]}
        for task in tasks:
            info = ended.get(task["taskId"])
            if info and info["Finish Time"] > info["Launch Time"]:
                self.same(f"duration of task {task['taskId']}", task["duration"], info["Finish Time"] - info["Launch Time"])
        slowest = self.client.pages(*self.path, "stages", *key, "taskList", sortBy="-runtime", status="success")
        times = sorted((end["Task Metrics"]["Executor Run Time"] for end in good), reverse=True)
        self.same(f"slowest tasks of stage {key}", [task["taskMetrics"]["executorRunTime"] for task in slowest], times)

    def executors(self):
        log, executors = self.log, self.get("allexecutors")
        self.same("allexecutors", [executor["id"] for executor in executors], sorted(log.executors))
        self.same("executors", [executor["id"] for executor in self.get("executors")], sorted(log.running_executors, reverse=True))
        for executor in executors:
            for name in ("totalTasks", "completedTasks", "failedTasks"):
                self.same(f"{name} of executor {executor['id']}", executor[name], log.executors[executor["id"]][name])

    def storage(self):
        held = {rdd: len({partition for partition, _ in blocks}) for rdd, blocks in self.log.blocks.items() if blocks and rdd in self.log.cached_rdds}
        self.same("storage", {rdd["id"]: rdd["numCachedPartitions"] for rdd in self.get("storage", "rdd")}, held)

    def environment(self):
        told = dict(self.get("environment")["sparkProperties"])
        self.same("names of settings", set(told), set(self.log.properties))
        self.same("settings", {name: value for name, value in told.items() if REDACTED not in value and value != self.log.properties[name]}, {})

    def sql(self):
        executions = self.client.pages(*self.path, "sql")
        self.same("sql", {each["id"]: each["description"] for each in executions}, self.log.executions)
        for each in executions:
            jobs = {number for number, job in self.log.jobs.items() if job["execution"] == each["id"]}
            self.same(f"jobs of execution {each['id']}", {*each["runningJobIds"], *each["successJobIds"], *each["failedJobIds"]}, jobs)


def check_list(client, apps):
    """Filters of the list, held against the whole list."""
    complaints = []

    def same(what, told, wanted):
        if told != wanted:
            complaints.append(f"applications {what}: told {told}, not {wanted}")

    def ids(**query):
        return [app["id"] for app in client.get("applications", **query)]

    same("completed", ids(status="completed"), [app["id"] for app in apps if app["attempts"][0]["completed"]])
    same("running", ids(status="running"), [app["id"] for app in apps if not app["attempts"][0]["completed"]])
    same("limit", ids(limit=3), [app["id"] for app in apps[:3]])
    starts = sorted(attempt["startTime"] for app in apps for attempt in app["attempts"])
    middle = starts[len(starts) // 2]
    same("minDate", ids(minDate=middle), [app["id"] for app in apps if any(attempt["startTime"] >= middle for attempt in app["attempts"])])
    same("maxDate", ids(maxDate=middle), [app["id"] for app in apps if any(attempt["startTime"] <= middle for attempt in app["attempts"])])
    for app in apps:
        same(app["id"], client.get("applications", app["id"]), app)
    same("an unknown one", client.refused("applications", "no-such-app"), 404)
    return complaints


def main():
    if not ctypes.util.find_library("zstd"):
        tree.skip("libzstd is not there")
    logs = sorted(path for path in (tree.ROOT / "tests/data/logs").iterdir() if path.is_dir())
    with serving.Server(tree.binary(), logs) as server:
        client = Client(server.base)
        apps = client.get("applications")
        complaints = [] if re.match(r"4\.3\.", client.get("version")["spark"]) else ["version"]
        complaints += check_list(client, apps)
        attempts = checked = 0
        for app in apps:
            for attempt in app["attempts"]:
                walk = Walk(client, app, attempt)
                complaints += walk.walk()
                attempts, checked = attempts + 1, checked + walk.checked
    print(*complaints[:60], sep="\n")
    print(f"{attempts} attempts of {len(logs)} folders, {checked} values, {len(complaints)} complaints")
    return 1 if complaints or attempts < len(logs) else 0


sys.exit(main())
