# SPDX-License-Identifier: Apache-2.0
"""Event logs of a few lines, written by hand: states and disorder that no sample log holds. `LOGS` has them by name; the name is the application's id.

Each is a function that fills a `Log`. Numbers follow from ids, so that no two tasks are alike and a person can add them up. `captures.py hand` loads them all, and
`tests/data/captures/hand-4.3.0.jsonl.xz` is what a History Server 4.3.0 answered about them; hand_logs.py FOLDER writes them for such a server.
"""
import json
import pathlib
import sys

START = 1_700_000_000_000
METRICS = [
    ("Executor Deserialize Time", 3), ("Executor Deserialize CPU Time", 2_000_000), ("Executor Run Time", None), ("Executor CPU Time", 40_000_000), ("Peak Execution Memory", 1 << 20),
    ("Result Size", 1000), ("JVM GC Time", 5), ("Result Serialization Time", 1), ("Memory Bytes Spilled", 64), ("Disk Bytes Spilled", 32),
]
LEVELS = {  # disk, memory, off heap, deserialized, replication
    "none": (False, False, False, False, 1), "memory": (False, True, False, True, 1), "memory_ser": (False, True, False, False, 1), "disk": (True, False, False, False, 1),
    "both": (True, True, False, True, 1), "both2": (True, True, False, False, 2), "off_heap": (True, True, True, False, 1),
}


def level(name):
    return dict(zip(("Use Disk", "Use Memory", "Use Off Heap", "Deserialized", "Replication"), LEVELS[name]))


def rdd(number, partitions=2, kept="none", **more):
    return {"RDD ID": number, "Name": f"rdd {number}", "Callsite": f"at Hand.scala:{number}", "Parent IDs": [], "Storage Level": level(kept), "Barrier": False,
            "DeterministicLevel": "DETERMINATE", "Number of Partitions": partitions, "Number of Cached Partitions": 0, "Memory Size": 0, "Disk Size": 0, **more}


def stage(number, tasks=2, attempt=0, **more):
    return {"Stage ID": number, "Stage Attempt ID": attempt, "Stage Name": f"stage {number}", "Number of Tasks": tasks, "RDD Info": [rdd(number, tasks)], "Parent IDs": [],
            "Details": f"details {number}", "Accumulables": [], "Resource Profile Id": 0, "Shuffle Push Enabled": False, "Shuffle Push Mergers Count": 0, **more}


def metrics(task, run):
    """Metrics of a task that differ from those of every other."""
    values = {name: run if value is None else value + task for name, value in METRICS}
    values["Shuffle Read Metrics"] = {"Remote Blocks Fetched": 1 + task, "Local Blocks Fetched": 2 + task, "Fetch Wait Time": task, "Remote Bytes Read": 100 + task,
                                      "Remote Bytes Read To Disk": 7, "Local Bytes Read": 50 + task, "Total Records Read": 10 + task, "Remote Requests Duration": 4}
    values["Shuffle Write Metrics"] = {"Shuffle Bytes Written": 200 + task, "Shuffle Write Time": 3000 + task, "Shuffle Records Written": 20 + task}
    values["Input Metrics"] = {"Bytes Read": 400 + task, "Records Read": 40 + task}
    values["Output Metrics"] = {"Bytes Written": 800 + task, "Records Written": 80 + task}
    values["Updated Blocks"] = []
    return values


def peaks(heap, **more):
    return {"JVMHeapMemory": heap, "JVMOffHeapMemory": heap // 2, "OnHeapExecutionMemory": 10, "OffHeapExecutionMemory": 0, "OnHeapStorageMemory": 20, "OffHeapStorageMemory": 0,
            "OnHeapUnifiedMemory": 30, "OffHeapUnifiedMemory": 0, "DirectPoolMemory": 40, "MappedPoolMemory": 0, "MinorGCCount": 1, "MinorGCTime": 2, "MajorGCCount": 0, "MajorGCTime": 0,
            "TotalGCTime": 2, **more}


REASONS = {
    "ok": {"Reason": "Success"},
    "resubmitted": {"Reason": "Resubmitted"},
    "fetch": {"Reason": "FetchFailed", "Block Manager Address": {"Executor ID": "1", "Host": "host-1", "Port": 7001}, "Shuffle ID": 0, "Map ID": 3, "Map Index": 1, "Reduce ID": 2,
              "Message": "gone"},
    "error": {"Reason": "ExceptionFailure", "Class Name": "java.lang.Exception", "Description": "boom", "Stack Trace": [], "Full Stack Trace": "java.lang.Exception: boom\n\tat A",
              "Accumulator Updates": []},
    "killed": {"Reason": "TaskKilled", "Kill Reason": "another attempt succeeded", "Accumulator Updates": []},
    "stage cancelled": {"Reason": "TaskKilled", "Kill Reason": "Stage cancelled", "Accumulator Updates": []},
    "denied": {"Reason": "TaskCommitDenied", "Job ID": 1, "Partition ID": 2, "Attempt Number": 3},
    "lost": {"Reason": "ExecutorLostFailure", "Executor ID": "1", "Exit Caused By App": True, "Loss Reason": "Container killed"},
    "result lost": {"Reason": "TaskResultLost"},
    "unknown": {"Reason": "UnknownReason"},
}


class Log:
    """Lines of one log; times are milliseconds behind its start."""

    def __init__(self, name, version="4.3.0"):
        self.name, self.lines, self.tasks = name, [], {}
        if version:
            self("LogStart", {"Spark Version": version})

    def __call__(self, event, members):
        name = event if event.startswith("org.") else f"SparkListener{event}"
        self.lines.append(json.dumps({"Event": name, **members}, separators=(",", ":")))
        return self

    def text(self):
        return "".join(f"{line}\n" for line in self.lines)

    def begin(self, executors=("1", "2"), driver=True, **properties):
        if driver:
            self.block_manager("driver", 0)
        self("EnvironmentUpdate", {"JVM Information": {"Java Version": "17"}, "Spark Properties": {"spark.app.id": self.name, **properties}, "Hadoop Properties": {},
                                   "System Properties": {}, "Metrics Properties": {}, "Classpath Entries": {}})
        self("ApplicationStart", {"App Name": self.name, "App ID": self.name, "Timestamp": START, "User": "hand"})
        for executor in executors:
            self.added(executor, 100)
        return self

    def end(self, time=90_000):
        return self("ApplicationEnd", {"Timestamp": START + time})

    def added(self, executor, time, cores=4, manager=True, **more):
        self("ExecutorAdded", {"Timestamp": START + time, "Executor ID": executor, "Executor Info": {
            "Host": f"host-{executor}", "Total Cores": cores, "Log Urls": {"stdout": f"http://host-{executor}/stdout"}, "Attributes": {}, "Resources": {}, "Resource Profile Id": 0, **more}})
        return self.block_manager(executor, time + 10) if manager else self

    def block_manager(self, executor, time):
        return self("BlockManagerAdded", {"Block Manager ID": self.manager(executor), "Maximum Memory": 1_000_000, "Timestamp": START + time, "Maximum Onheap Memory": 900_000,
                                          "Maximum Offheap Memory": 100_000})

    def manager(self, executor):
        return {"Executor ID": executor, "Host": f"host-{executor}", "Port": 7000 + (int(executor) if executor.isdigit() else 0)}

    def removed(self, executor, time, reason="Command exited with code 137"):
        return self("ExecutorRemoved", {"Timestamp": START + time, "Executor ID": executor, "Removed Reason": reason})

    def job(self, number, stages, time, **properties):
        stages = [stage(each) if isinstance(each, int) else each for each in stages]
        return self("JobStart", {"Job ID": number, "Submission Time": START + time, "Stage Infos": stages, "Stage IDs": [each["Stage ID"] for each in stages],
                                 "Properties": {name.replace("_", "."): value for name, value in properties.items()}})

    def job_end(self, number, time, failed=False):
        result = {"Result": "JobFailed", "Exception": {"Message": "Job aborted", "Stack Trace": []}} if failed else {"Result": "JobSucceeded"}
        return self("JobEnd", {"Job ID": number, "Completion Time": START + time, "Job Result": result})

    def submitted(self, info, time, **properties):
        info = stage(info) if isinstance(info, int) else info
        return self("StageSubmitted", {"Stage Info": {**info, "Submission Time": START + time}, "Properties": {name.replace("_", "."): value for name, value in properties.items()}})

    def completed(self, info, time, since=1000, failure=None):
        info = stage(info) if isinstance(info, int) else info
        info = {**info, "Submission Time": START + since, "Completion Time": START + time}
        return self("StageCompleted", {"Stage Info": {**info, "Failure Reason": failure} if failure else info})

    def task(self, number, at=0, index=None, executor="1", launch=1100, attempt=0, stage_attempt=0, **more):
        """Describes a task; it says nothing yet."""
        index = number if index is None else index
        self.tasks[number] = (at, stage_attempt, {"Task ID": number, "Index": index, "Attempt": attempt, "Partition ID": index, "Launch Time": START + launch, "Executor ID": executor,
                                                  "Host": f"host-{executor}", "Locality": "PROCESS_LOCAL", "Speculative": False, "Getting Result Time": 0, "Finish Time": 0,
                                                  "Failed": False, "Killed": False, "Accumulables": [], **more})
        return self

    def start(self, number, *where, **more):
        if where or more or number not in self.tasks:
            self.task(number, *where, **more)
        at, attempt, info = self.tasks[number]
        return self("TaskStart", {"Stage ID": at, "Stage Attempt ID": attempt, "Task Info": info})

    def getting(self, number, time):
        self.tasks[number][2]["Getting Result Time"] = START + time
        return self("TaskGettingResult", {"Task Info": self.tasks[number][2]})

    def finish(self, number, time=None, reason="ok", heap=None, getting=0, bare=False, **more):
        """The end of a task. Without a time it takes 100 ms and 10 more for each number."""
        if number not in self.tasks:
            self.task(number)
        at, attempt, info = self.tasks[number]
        launch = info["Launch Time"]
        finish = launch + 100 + 10 * number if time is None else START + time if time else 0
        killed = reason in ("killed", "stage cancelled", "denied")
        info = {**info, "Finish Time": finish, "Failed": reason not in ("ok", "resubmitted") and not killed, "Killed": killed, "Getting Result Time": START + getting if getting else 0, **more}
        members = {"Stage ID": at, "Stage Attempt ID": attempt, "Task Type": "ResultTask", "Task End Reason": REASONS[reason], "Task Info": info}
        if not bare:
            members["Task Executor Metrics"] = peaks(1000 + number if heap is None else heap)
            members["Task Metrics"] = metrics(number, max(finish - launch - 10, 0))
        return self("TaskEnd", members)

    def run(self, number, *where, time=None, reason="ok", **more):
        self.start(number, *where, **more)
        return self.finish(number, time, reason)

    def again(self, back=1):
        """One of the lines before, once more."""
        self.lines.append(self.lines[-back])
        return self

    def heartbeat(self, executor, tasks=(), stages=()):
        """SparkListenerExecutorMetricsUpdate: (task, {accumulator: update}) of running tasks, (stage, attempt, peaks)."""
        updates = []
        for number, values in tasks:
            at, attempt, _ = self.tasks[number]
            updates.append({"Task ID": number, "Stage ID": at, "Stage Attempt ID": attempt, "Accumulator Updates": [
                {"ID": i, "Name": f"internal.metrics.{name}", "Update": value, "Internal": True, "Count Failed Values": True} for i, (name, value) in enumerate(values.items())]})
        return self("ExecutorMetricsUpdate", {"Executor ID": executor, "Metrics Updated": updates, "Executor Metrics Updated": [
            {"Stage ID": at, "Stage Attempt ID": attempt, "Executor Metrics": heap} for at, attempt, heap in stages]})

    def stage_peaks(self, executor, at, heap, attempt=0):
        return self("StageExecutorMetrics", {"Executor ID": executor, "Stage ID": at, "Stage Attempt ID": attempt, "Executor Metrics": peaks(heap)})

    def block(self, name, executor="1", kept="memory", memory=0, disk=0):
        return self("BlockUpdated", {"Block Updated Info": {"Block Manager ID": self.manager(executor), "Block ID": name, "Storage Level": level(kept), "Memory Size": memory, "Disk Size": disk}})

    def exclusion(self, what, **members):
        return self(f"org.apache.spark.scheduler.SparkListener{what}", {"time": START + 1500, **members})


LOGS = {}


def log(build):
    LOGS[build.__name__.replace("_", "-")] = build
    return build


def written(name):
    build = LOGS[name]
    log = Sql(name)
    build(log)
    return log.text()


def write_all(folder):
    for name in LOGS:
        pathlib.Path(folder, name).write_text(written(name), encoding="utf-8")


HEARD = {"executorRunTime": 700, "executorCpuTime": 900_000, "jvmGCTime": 11, "resultSize": 5, "shuffle.read.remoteBytesRead": 1000, "shuffle.read.recordsRead": 3,
         "shuffle.write.bytesWritten": 77, "shuffle.write.writeTime": 8, "input.bytesRead": 4096, "input.recordsRead": 9, "output.bytesWritten": 55, "peakExecutionMemory": 123,
         "memoryBytesSpilled": 12, "diskBytesSpilled": 6}


# ---- 1. what running tasks report of themselves

@log
def running_metrics_no_end(log):
    """The log ends while tasks run that have reported."""
    log.begin().job(0, [stage(0, 3)], 900).submitted(stage(0, 3), 1000).start(0).start(1, executor="2").start(2)
    log.heartbeat("1", [(0, HEARD)]).heartbeat("2", [(1, {**HEARD, "executorRunTime": 5})]).finish(2)


@log
def running_metrics_then_end(log):
    """Reports, then the end says something else; the difference counts."""
    log.begin().job(0, [stage(0, 2)], 900).submitted(stage(0, 2), 1000).start(0).start(1, executor="2")
    log.heartbeat("1", [(0, HEARD)]).heartbeat("1", [(0, {**HEARD, "executorRunTime": 900, "input.bytesRead": 100})]).finish(0).finish(1)
    log.completed(stage(0, 2), 2000).job_end(0, 2100).end()


@log
def running_metrics_local(log):
    """Local mode: the driver runs the tasks."""
    log.begin(executors=()).job(0, [stage(0, 2)], 900).submitted(stage(0, 2), 1000).start(0, executor="driver").start(1, executor="driver")
    log.heartbeat("driver", [(0, HEARD), (1, HEARD)], [(0, 0, peaks(5000)), (-1, -1, peaks(6000))]).finish(0)


@log
def running_metrics_strangers(log):
    """Reports about tasks that ended, that never started, of a stage that is over, of executors that nobody knows."""
    log.begin().job(0, [stage(0, 2)], 900).submitted(stage(0, 2), 1000).start(0).finish(0).heartbeat("1", [(0, HEARD)])
    log.task(5).heartbeat("1", [(5, HEARD)]).heartbeat("77", [(5, HEARD)], [(0, 0, peaks(7000))]).start(1).heartbeat("1", [(1, HEARD)])
    log.completed(stage(0, 2), 2000).heartbeat("1", [(1, HEARD)], [(0, 0, peaks(9000))]).end()


@log
def running_metrics_stage_done(log):
    """The stage is complete while a task runs on and reports; then it ends."""
    log.begin().job(0, [stage(0, 2)], 900).submitted(stage(0, 2), 1000).start(0).start(1, executor="2").finish(0).completed(stage(0, 2), 2000, failure="gone")
    log.job_end(0, 2100, failed=True).heartbeat("2", [(1, HEARD)]).finish(1, 3000, "stage cancelled").end()


@log
def running_metrics_failed_end(log):
    """Reported, then it failed without metrics."""
    log.begin().job(0, [stage(0, 2)], 900).submitted(stage(0, 2), 1000).start(0).heartbeat("1", [(0, HEARD)]).finish(0, reason="lost", bare=True)
    log.run(1, executor="2").completed(stage(0, 2), 2000).job_end(0, 2100).end()


@log
def running_metrics_no_names(log):
    """Accumulators without a name, without an update, with another name."""
    log.begin().job(0, [stage(0, 2)], 900).submitted(stage(0, 2), 1000).start(0).start(1)
    log("ExecutorMetricsUpdate", {"Executor ID": "1", "Metrics Updated": [{"Task ID": 0, "Stage ID": 0, "Stage Attempt ID": 0, "Accumulator Updates": [
        {"ID": 1, "Update": 5, "Internal": True}, {"ID": 2, "Name": "internal.metrics.executorRunTime", "Value": 9, "Internal": True},
        {"ID": 3, "Name": "rows", "Update": "4", "Internal": False}, {"ID": 4, "Name": "internal.metrics.resultSize", "Update": 44, "Internal": True}]}], "Executor Metrics Updated": []})


@log
def running_metrics_twice_two_stages(log):
    """Several tasks of two stages, several reports each."""
    log.begin().job(0, [stage(0, 2), stage(1, 2)], 900).submitted(stage(0, 2), 1000).submitted(stage(1, 2), 1000)
    log.start(0, 0).start(1, 0, executor="2").start(2, 1, 0).start(3, 1, 1, executor="2")
    for n in range(3):
        log.heartbeat("1", [(0, {**HEARD, "executorRunTime": 10 * n}), (2, {**HEARD, "executorRunTime": 20 * n})]).heartbeat("2", [(1, HEARD), (3, HEARD)])
    log.finish(0).finish(2, reason="error")


# ---- 2. peaks of executors that nobody knows

@log
def peaks_unknown_executor(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").stage_peaks("9", 0, 8000).stage_peaks("driver", 0, 8001).completed(0, 2000).job_end(0, 2100).end()


@log
def peaks_removed_executor(log):
    """Removed while the stage ran: kept aside, and its peaks still rise."""
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").removed("2", 1800).stage_peaks("2", 0, 8000).completed(0, 2000).stage_peaks("2", 0, 8500)
    log.job_end(0, 2100).end()


@log
def peaks_removed_no_stage(log):
    """Removed when no stage was open: forgotten."""
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).removed("2", 2050).stage_peaks("2", 0, 8000).job_end(0, 2100)
    log.job(1, [1], 3000).submitted(1, 3000).stage_peaks("2", 1, 8100).run(2, 1, 0).run(3, 1, 1).completed(1, 4000, 3000).stage_peaks("2", 1, 8200).job_end(1, 4100).end()


@log
def peaks_removed_two_stages(log):
    """Removed while a stage that began before ran; another began later."""
    log.begin().job(0, [0, 1], 900).submitted(0, 1000).run(0).run(1, executor="2").removed("2", 1500).submitted(1, 1600).completed(0, 2000).stage_peaks("2", 1, 8000)
    log.run(2, 1, 0, launch=1700).run(3, 1, 1, launch=1700).completed(1, 2200, 1600).job_end(0, 2300).end()


@log
def peaks_after_completion(log):
    """StageExecutorMetrics behind StageCompleted, of a stage with a task that runs on."""
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).start(1, executor="2").finish(0).completed(0, 2000).stage_peaks("1", 0, 8000).finish(1).stage_peaks("1", 0, 8500)
    log.stage_peaks("2", 0, 8600).job_end(0, 2500).end()


@log
def peaks_unknown_stage(log):
    log.begin().stage_peaks("1", 5, 8000).stage_peaks("3", 6, 8001).job(0, [0], 900).stage_peaks("1", 0, 8002).job_end(0, 2000).stage_peaks("2", 0, 8003).end()


@log
def peaks_no_tasks(log):
    """An executor that ran nothing, and a stage without tasks."""
    log.begin().job(0, [0], 900).submitted(0, 1000).stage_peaks("1", 0, 8000).stage_peaks("driver", 0, 0).completed(0, 2000).job_end(0, 2100).end()


# ---- 3. numActiveStages

@log
def active_second_job(log):
    """A second job lists a stage that runs already."""
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).start(1, executor="2").job(1, [0, 1], 1100).finish(0).finish(1).completed(0, 2000).job_end(0, 2100)
    log.submitted(1, 2200).run(2, 1, 0, launch=2300).run(3, 1, 1, launch=2300).completed(1, 3000, 2200).job_end(1, 3100).end()


@log
def active_second_job_open(log):
    """The same, without ends."""
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).start(1, executor="2").job(1, [0, 1], 1100).finish(0)


@log
def active_second_job_no_job_ends(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).start(1, executor="2").job(1, [0, 1], 1100).finish(0).finish(1).completed(0, 2000)


@log
def active_job_ends_first(log):
    """The job ends while its stage runs; the stage ends later, or never."""
    log.begin().job(0, [0, 1], 900).submitted(0, 1000).start(0).start(1, executor="2").submitted(1, 1000).finish(0).job_end(0, 1500, failed=True).completed(0, 2000, failure="x")
    log.finish(1, reason="stage cancelled").end()


@log
def active_submitted_twice(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).again().run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def active_completed_without_submitted(log):
    log.begin().job(0, [0], 900).run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def active_completed_without_submitted_open(log):
    log.begin().job(0, [0], 900).run(0).run(1, executor="2").completed(0, 2000)


# ---- 4. disorder

@log
def orderly(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def no_task_start(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).finish(0).task(1, executor="2").finish(1).completed(0, 2000).job_end(0, 2100).end()


@log
def task_end_before_start(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).finish(0).start(0).start(1, executor="2").finish(1).completed(0, 2000).job_end(0, 2100).end()


@log
def stage_completed_before_ends(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).start(1, executor="2").completed(0, 2000).finish(0).finish(1).job_end(0, 2100).end()


@log
def stage_completed_before_starts(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).completed(0, 2000).start(0).finish(0).start(1, executor="2").finish(1).job_end(0, 2100).end()


@log
def job_start_after_stage(log):
    log.begin().submitted(0, 1000).job(0, [0], 900).run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def job_start_after_all(log):
    log.begin().submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).job(0, [0], 900).job_end(0, 2100).end()


@log
def job_end_first(log):
    log.begin().job(0, [0], 900).job_end(0, 2100).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).end()


@log
def job_end_without_start(log):
    log.begin().submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def job_start_twice(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).job(0, [0], 950).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def job_twice(log):
    """The same job id again after its end (two applications in one log)."""
    for base in (0, 10):
        log.begin() if not base else None
        log.job(0, [0], 900 + base).submitted(0, 1000 + base).run(base).run(base + 1, executor="2").completed(0, 2000 + base, 1000 + base).job_end(0, 2100 + base)
    log.end()


@log
def everything_twice(log):
    log.begin()
    for step in (lambda: log.job(0, [0], 900), lambda: log.submitted(0, 1000), lambda: log.start(0), lambda: log.finish(0), lambda: log.start(1, executor="2"), lambda: log.finish(1),
                 lambda: log.completed(0, 2000), lambda: log.job_end(0, 2100), lambda: log.end()):
        step()
        log.again()


@log
def task_start_twice(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).again().finish(0).start(1, executor="2").again().completed(0, 2000).finish(1).job_end(0, 2100).end()


@log
def task_end_twice(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).finish(0).again().start(1, executor="2").finish(1).completed(0, 2000).again(2).job_end(0, 2100).end()


@log
def task_end_twice_differing(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).finish(0, reason="error").finish(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def stage_completed_twice(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).completed(0, 2000).completed(0, 2050, failure="late").run(1, executor="2").job_end(0, 2100).end()


@log
def task_of_unknown_stage(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").run(7, 9, 0).start(8, 9, 1).completed(0, 2000).job_end(0, 2100).end()


@log
def task_of_unknown_attempt(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").run(7, 0, 0, stage_attempt=3).completed(0, 2000).job_end(0, 2100).end()


@log
def stage_without_job(log):
    log.begin().submitted(4, 1000).run(0, 4, 0).run(1, 4, 1, executor="2").completed(4, 2000).end()


@log
def stage_completed_alone(log):
    log.begin().completed(4, 2000).job(0, [0], 900).submitted(0, 1000).run(0).run(1).completed(0, 2000).job_end(0, 2100).end()


@log
def stage_completed_no_submission_time(log):
    """Completed without a submission time: SKIPPED in the History Server's arithmetic."""
    log.begin().job(0, [0, 1], 900).submitted(0, 1000)
    info = {**stage(0), "Completion Time": START + 2000}
    log("StageCompleted", {"Stage Info": info}).job_end(0, 2100).end()


@log
def executor_never_added(log):
    log.begin(executors=("1",)).job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="5").completed(0, 2000).job_end(0, 2100).removed("6", 2200).end()


@log
def executor_added_late(log):
    log.begin(executors=("1",)).job(0, [0], 900).submitted(0, 1000).run(0).start(1, executor="2").added("2", 100).finish(1).completed(0, 2000).job_end(0, 2100).end()


@log
def executor_removed_while_running(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).start(1, executor="2").removed("2", 1150).finish(0).finish(1, reason="lost").start(2, 0, 1, attempt=1, launch=1300).finish(2)
    log.completed(0, 2000).job_end(0, 2100).end()


@log
def executor_removed_and_added_again(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").removed("2", 1500).added("2", 1600).run(2, 0, 0, executor="2", launch=1700, attempt=1).completed(0, 2000)
    log.job_end(0, 2100).removed("2", 2200).removed("2", 2300, "again").end()


@log
def executor_added_again_without_removal(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").added("2", 1600, cores=8).run(2, 0, 0, executor="2", launch=1700, attempt=1).completed(0, 2000)
    log.job_end(0, 2100).end()


@log
def executor_block_manager_only(log):
    log.begin(executors=()).block_manager("3", 200).job(0, [0], 900).submitted(0, 1000).run(0, executor="3").completed(0, 2000).job_end(0, 2100).end()


@log
def executor_added_without_block_manager(log):
    log.begin(executors=()).added("3", 200, manager=False).job(0, [0], 900).submitted(0, 1000).run(0, executor="3").completed(0, 2000).job_end(0, 2100).end()


@log
def executor_removed_before_added(log):
    log.begin(executors=("1",)).removed("2", 50).added("2", 100).job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def executor_busy_at_end(log):
    """Tasks run on when the log ends, on one that is there and on one that is gone."""
    log.begin().job(0, [stage(0, 4)], 900).submitted(stage(0, 4), 1000).start(0).start(1, executor="2").run(2).run(3, executor="2").removed("2", 1900)


@log
def application_end_in_the_middle(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).end(1500).run(1, executor="2").completed(0, 2000).job_end(0, 2100)


@log
def application_start_last(log):
    log.block_manager("driver", 0).added("1", 100).job(0, [0], 900).submitted(0, 1000).run(0).run(1).completed(0, 2000).job_end(0, 2100)
    log.begin(executors=(), driver=False).end()


@log
def application_start_twice(log):
    log.begin()
    log("ApplicationStart", {"App Name": "second", "App ID": log.name, "Timestamp": START + 500, "User": "other"})
    log.job(0, [0], 900).submitted(0, 1000).run(0).run(1).completed(0, 2000).job_end(0, 2100).end()


@log
def no_executors_at_all(log):
    log.begin(executors=(), driver=False).job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def same_task_id_in_two_stages(log):
    log.begin().job(0, [0, 1], 900).submitted(0, 1000).submitted(1, 1000).run(0).run(0, 1, 0, executor="2").completed(0, 2000).completed(1, 2000).job_end(0, 2100).end()


@log
def finish_time_zero(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).start(0).finish(0, time=0).run(1, executor="2").completed(0, 2000).job_end(0, 2100).end()


@log
def finish_before_launch(log):
    log.begin().job(0, [stage(0, 3)], 900).submitted(stage(0, 3), 1000).start(0).finish(0, time=1000).start(1).finish(1, time=1100).run(2).completed(stage(0, 3), 2000).job_end(0, 2100).end()


@log
def job_end_before_start_time(log):
    log.begin().job(0, [0], 2000).submitted(0, 2000).run(0).run(1).completed(0, 1500, 2000).job_end(0, 1000).end()


@log
def job_without_stages(log):
    log.begin().job(0, [], 900).job_end(0, 950).job(1, [], 960).end()


@log
def job_same_stage_twice(log):
    log.begin().job(0, [stage(0, 2), stage(0, 2), stage(1, 3)], 900).submitted(0, 1000).run(0).run(1).completed(0, 2000).job_end(0, 2100).end()


# ---- 5. getting results, no duration

@log
def getting_result(log):
    """Fetched, fetched for ever, no time at all, fetched before the launch, fetched after the end."""
    log.begin().job(0, [stage(0, 12)], 900).submitted(stage(0, 12), 1000)
    log.start(0).getting(0, 1150).finish(0, 1200, getting=1150)
    log.start(1).finish(1, 1100)
    log.start(2).finish(2, 1100, getting=1100)
    log.start(3).finish(3, 1300, getting=1050)
    log.start(4).finish(4, 1300, getting=1400)
    log.start(5).finish(5, 1300)
    log.start(6).finish(6, 1350, getting=1250, reason="error")
    log.start(7).finish(7, 1100, reason="killed")
    log.start(8).finish(8, 1400, getting=1399, bare=True)
    log.start(9).finish(9, 1050)
    log.start(10).getting(10, 1180).start(11).completed(stage(0, 12), 2000).job_end(0, 2100).end()


@log
def getting_result_after_the_end(log):
    """All succeed; what was fetched of some came after their end, by a little and by much; one fetch began with the launch, one before it, one with the end."""
    log.begin().job(0, [stage(0, 8)], 900).submitted(stage(0, 8), 1000)
    for number, fetched in enumerate((2101, 2500, 9100, 2050, 2100, 1100, 1050, 0)):
        log.start(number, launch=1100, executor=str(1 + number % 2)).finish(number, 2100, getting=fetched)
    log.completed(stage(0, 8), 12_000).job_end(0, 12_100).end()


@log
def getting_result_of_all_after_the_end(log):
    """No task has a time that a quantile could be made of."""
    log.begin().job(0, [stage(0, 4)], 900).submitted(stage(0, 4), 1000)
    for number in range(4):
        log.start(number, launch=1100).finish(number, 1300 + number, getting=1310 + 50 * number)
    log.completed(stage(0, 4), 2000).job_end(0, 2100).end()


@log
def getting_result_after_other_ends(log):
    """The same of tasks that failed, were killed, ended without metrics, or have not ended."""
    log.begin().job(0, [stage(0, 7)], 900).submitted(stage(0, 7), 1000)
    for number, (reason, bare) in enumerate((("ok", False), ("error", False), ("killed", False), ("ok", True), ("lost", True), ("ok", False))):
        log.start(number, launch=1100).finish(number, 1400 + number, reason=reason, getting=1450 + 7 * number, bare=bare)
    log.start(6, launch=1100).getting(6, 1200)


@log
def no_durations(log):
    log.begin().job(0, [stage(0, 3)], 900).submitted(stage(0, 3), 1000).start(0).finish(0, 1100).start(1).finish(1, 1100, getting=1100).start(2).finish(2, 1090)
    log.completed(stage(0, 3), 2000).job_end(0, 2100).end()


# ---- beyond: speculation, barrier, retries, exclusion, fetch failures, caches, profiles

@log
def speculation(log):
    log.begin().job(0, [stage(0, 3)], 900).submitted(stage(0, 3), 1000).start(0).start(1, executor="2").start(2)
    log.start(3, 0, 1, attempt=1, Speculative=True).finish(3).finish(1, reason="killed").start(4, 0, 0, attempt=1, executor="2", Speculative=True).finish(0)
    log.start(5, 0, 2, attempt=1, executor="2", Speculative=True).finish(5, reason="error").start(6, 0, 2, attempt=2, Speculative=True).finish(6).finish(2)
    log.completed(stage(0, 3), 2000).finish(4, reason="killed").job_end(0, 2100).end()


@log
def fetch_failure_and_retry(log):
    log.begin().job(0, [stage(0), stage(1)], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 1500).submitted(1, 1500)
    log.start(2, 1, 0, launch=1600).start(3, 1, 1, launch=1600, executor="2").finish(2, reason="fetch").completed(1, 1800, 1500, failure="FetchFailed")
    log.removed("1", 1850).submitted(stage(0, 1, 1), 1900).start(4, 0, 0, stage_attempt=1, launch=1950, executor="2").finish(3, 1980)
    log.finish(4).completed(stage(0, 1, 1), 2200, 1900).submitted(stage(1, 1, 1), 2200).run(5, 1, 0, stage_attempt=1, launch=2300, executor="2").completed(stage(1, 1, 1), 2500, 2200)
    log.job_end(0, 2600).end()


@log
def resubmitted(log):
    """An executor goes with what a task had made; the task runs again while its stage goes on. Another's loss is told when the stage is over."""
    log.begin().job(0, [stage(0, 3)], 900).submitted(stage(0, 3), 1000).run(0).start(1, executor="2").start(2, executor="2", Speculative=True).finish(2).removed("1", 1300)
    log.finish(0, reason="resubmitted").start(3, 0, 0, executor="2", launch=1350, attempt=1).finish(1).finish(3).completed(stage(0, 3), 2000).job_end(0, 2100).end()


@log
def resubmitted_late(log):
    log.begin().job(0, [0, 1], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 2000).removed("1", 2050).finish(0, reason="resubmitted").job_end(0, 2100).end()


@log
def retry_in_second_job(log):
    """Stage 0 is complete; a second job lists it, and it runs again as attempt 1."""
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 1500).job_end(0, 1600)
    log.job(1, [0, 1], 1700).submitted(stage(0, 1, 1), 1800).run(2, 0, 0, stage_attempt=1, launch=1900).completed(stage(0, 1, 1), 2200, 1800)
    log.submitted(1, 2200).run(3, 1, 0, launch=2300).run(4, 1, 1, launch=2300).completed(1, 2600, 2200).job_end(1, 2700).end()


@log
def skipped_again(log):
    """A job lists a stage that had ended, and one that never runs."""
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").completed(0, 1500).job_end(0, 1600)
    done = {**stage(0), "Submission Time": START + 1000, "Completion Time": START + 1500}
    log.job(1, [done, stage(5, 3), stage(1)], 1700).submitted(1, 1800).run(2, 1, 0, launch=1900).run(3, 1, 1, launch=1900).completed(1, 2200, 1800).job_end(1, 2300)
    log.job(2, [stage(0), stage(1)], 2400)


@log
def skipped_and_pending(log):
    """A stage that one job skipped may still run for the next."""
    log.begin().job(0, [0, 1], 900).submitted(1, 1000).run(0, 1, 0).run(1, 1, 1).completed(1, 1500).job_end(0, 1600).job(1, [0, 2], 1700)


@log
def skipped_then_run(log):
    log.begin().job(0, [0, 1], 900).submitted(1, 1000).run(0, 1, 0).run(1, 1, 1).completed(1, 1500).job_end(0, 1600).job(1, [0, 2], 1700).submitted(0, 1800)
    log.run(2, 0, 0, launch=1900).run(3, 0, 1, launch=1900).completed(0, 2200, 1800).job_end(1, 2300).end()


@log
def exclusions(log):
    log.begin(executors=("1", "2", "3")).job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2", reason="error")
    log.exclusion("ExecutorExcludedForStage", executorId="2", taskFailures=1, stageId=0, stageAttemptId=0)
    log.exclusion("ExecutorBlacklistedForStage", executorId="2", taskFailures=1, stageId=0, stageAttemptId=0)
    log.exclusion("NodeExcludedForStage", hostId="host-3", executorFailures=1, stageId=0, stageAttemptId=0)
    log.exclusion("ExecutorExcluded", executorId="1", taskFailures=2).exclusion("NodeExcluded", hostId="host-2", executorFailures=2)
    log.exclusion("ExecutorExcludedForStage", executorId="1", taskFailures=1, stageId=7, stageAttemptId=0).exclusion("ExecutorUnexcluded", executorId="1")
    log.exclusion("ExecutorExcluded", executorId="44", taskFailures=1)
    log.start(2, 0, 1, attempt=1, launch=1600).finish(2).completed(0, 2000).exclusion("ExecutorExcludedForStage", executorId="1", taskFailures=1, stageId=0, stageAttemptId=0).job_end(0, 2100).end()


@log
def excluded_again(log):
    """Excluded, let in and excluded, in one millisecond."""
    log.begin().exclusion("ExecutorExcluded", executorId="1", taskFailures=2).exclusion("ExecutorUnexcluded", executorId="1").exclusion("ExecutorExcluded", executorId="1", taskFailures=2)
    log.exclusion("NodeExcluded", hostId="host-2", executorFailures=2).exclusion("NodeUnexcluded", hostId="host-2").end()


@log
def exclusions_of_the_gone(log):
    log.begin().job(0, [0], 900).submitted(0, 1000).run(0).run(1, executor="2").exclusion("ExecutorExcludedForStage", executorId="2", taskFailures=1, stageId=0, stageAttemptId=0)
    log.removed("2", 1500).exclusion("ExecutorExcluded", executorId="2", taskFailures=2).exclusion("ExecutorExcludedForStage", executorId="9", taskFailures=1, stageId=0, stageAttemptId=0)
    log.exclusion("NodeExcludedForStage", hostId="host-2", executorFailures=1, stageId=0, stageAttemptId=0).exclusion("NodeExcluded", hostId="host-driver", executorFailures=1)
    log.added("2", 1700).completed(0, 2000).job_end(0, 2100).end()


CACHED = [rdd(0, 3, "memory"), rdd(1, 2, "both2"), rdd(2, 2, "off_heap"), rdd(3, 2, "none")]


def cached(log):
    info = stage(0, 2, **{"RDD Info": CACHED})
    return log.begin().job(0, [info], 900).submitted(info, 1000)


@log
def cached_blocks(log):
    cached(log).block("rdd_0_0", memory=100).block("rdd_0_1", "2", memory=200).block("rdd_1_0", kept="both2", memory=300, disk=30).block("rdd_1_0", "2", "both2", memory=300, disk=30)
    log.block("rdd_2_0", kept="off_heap", memory=400).block("rdd_3_0", memory=55).block("broadcast_1", memory=10).block("rdd_0_2", kept="disk", disk=70).block("rdd_9_0", memory=5)
    log.run(0).run(1).completed(0, 2000).job_end(0, 2100).end()


@log
def cached_evicted(log):
    cached(log).block("rdd_0_0", memory=100).block("rdd_0_1", "2", memory=200).block("rdd_1_0", kept="both2", memory=300).block("rdd_1_0", kept="disk", memory=0, disk=250)
    log.block("rdd_0_0", kept="none", memory=100).block("rdd_0_0", memory=120).block("rdd_0_1", "2", "none", memory=999).block("rdd_2_0", kept="none").end()


@log
def cached_executor_lost(log):
    cached(log).block("rdd_0_0", memory=100).block("rdd_1_0", kept="both2", memory=301, disk=31).block("rdd_1_0", "2", "both2", memory=301, disk=31).block("rdd_0_1", "2", memory=200)
    log.removed("2", 1500).block("rdd_0_2", "2", memory=50).block("rdd_0_2", "8", memory=60).added("2", 1600).block("rdd_0_1", "2", memory=70).end()


@log
def cached_unpersisted(log):
    cached(log).block("rdd_0_0", memory=100).block("rdd_0_1", "2", memory=200).block("rdd_1_0", kept="both2", memory=300, disk=30).block("rdd_2_0", kept="off_heap", memory=400)
    log("UnpersistRDD", {"RDD ID": 0})("UnpersistRDD", {"RDD ID": 2})("UnpersistRDD", {"RDD ID": 77}).block("rdd_0_0", memory=40)
    again = stage(1, 2, **{"RDD Info": [rdd(0, 3, "disk")]})
    log.job(1, [again], 3000).submitted(again, 3000).block("rdd_0_2", kept="disk", disk=9).end()


@log
def cached_same_block_twice(log):
    cached(log).block("rdd_0_0", memory=100).again().block("rdd_0_0", memory=40).block("rdd_0_0", "2", memory=100).block("rdd_0_0", kept="none").block("rdd_0_0", kept="none").end()


@log
def cached_streams(log):
    cached(log).block("input-0-1", kept="both", memory=11, disk=1).block("input-0-2", "2", kept="both2", memory=12)
    log.block("input-0-1", "2", kept="both", memory=13).block("input-0-2", "2", kept="none").end()


@log
def cached_before_stage(log):
    """Blocks before the stage that tells of their RDD."""
    info = stage(0, 2, **{"RDD Info": CACHED})
    log.begin().block("rdd_0_0", memory=100).job(0, [info], 900).block("rdd_0_1", memory=20).submitted(info, 1000).block("rdd_0_0", kept="none", memory=100).block("rdd_0_2", memory=5).end()


@log
def profiles(log):
    log.begin(executors=("1",))
    log("ResourceProfileAdded", {"Resource Profile Id": 1, "Executor Resource Requests": {
        "cores": {"Resource Name": "cores", "Amount": 3, "Discovery Script": "", "Vendor": ""}, "memory": {"Resource Name": "memory", "Amount": 2048, "Discovery Script": "", "Vendor": ""},
        "gpu": {"Resource Name": "gpu", "Amount": 2, "Discovery Script": "/find", "Vendor": "acme"}},
        "Task Resource Requests": {"cpus": {"Resource Name": "cpus", "Amount": 2.0}, "gpu": {"Resource Name": "gpu", "Amount": 0.25}}})
    log.added("2", 300, cores=7, **{"Resource Profile Id": 1, "Resources": {"gpu": {"name": "gpu", "addresses": ["0", "1"]}}}).added("3", 310, **{"Resource Profile Id": 9})
    info = stage(0, 2, **{"Resource Profile Id": 1, "Shuffle Push Enabled": True, "Shuffle Push Mergers Count": 3, "RDD Info": [rdd(0, 2, Barrier=True)]})
    log.job(0, [info], 900).submitted(info, 1000).run(0, executor="2").run(1, executor="2").completed(info, 2000).job_end(0, 2100)
    log("org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded", {"time": START + 5, "processId": "am", "info": {"hostPort": "h:1", "cores": 2, "logUrlInfo": {"stdout": "http://h/x"}}})
    log("org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded", {"time": START + 6, "processId": "am", "info": {"hostPort": "h:2", "cores": 3, "logUrlInfo": {}}}).end()


@log
def profile_after_executor(log):
    log.begin(executors=("1",), **{"spark.task.cpus": "3"}).added("2", 300, cores=7, **{"Resource Profile Id": 1})
    log("ResourceProfileAdded", {"Resource Profile Id": 1, "Executor Resource Requests": {}, "Task Resource Requests": {"cpus": {"Resource Name": "cpus", "Amount": 2.0}}}).added("3", 310, cores=7,
        **{"Resource Profile Id": 1}).end()


@log
def reasons(log):
    """Every way a task can end."""
    names = [name for name in REASONS if name != "resubmitted"]
    log.begin().job(0, [stage(0, len(names))], 900).submitted(stage(0, len(names)), 1000)
    for number, name in enumerate(names):
        log.start(number).finish(number, reason=name)
    for number, name in enumerate(names):
        log.start(20 + number, 0, number, executor="2", attempt=1).finish(20 + number, reason=name, bare=True)
    log.completed(stage(0, len(names)), 3000, failure="Job aborted").job_end(0, 3100, failed=True).end()


@log
def barrier(log):
    """All tasks of a stage start together; one fails, and the stage is tried again as a whole."""
    info = stage(0, 3, **{"RDD Info": [rdd(0, 3, Barrier=True, **{"Scope": '{"id":"5","name":"mapPartitions"}'})]})
    again = {**info, "Stage Attempt ID": 1}
    log.begin().job(0, [info], 900).submitted(info, 1000).start(0).start(1, executor="2").start(2).finish(1, reason="error").completed(info, 1300, failure="Could not recover")
    log.finish(0, 1400, "stage cancelled").finish(2, 1410, "stage cancelled").submitted(again, 1500)
    for number in (3, 4, 5):
        log.start(number, 0, number - 3, launch=1600, stage_attempt=1, attempt=1)
    log.finish(3).finish(4).finish(5).completed(again, 2200, 1500).job_end(0, 2300).end()


@log
def executor_idle_lost_in_between(log):
    """Executors that go while a stage runs for two attempts, with peaks of each."""
    log.begin(executors=("1", "2", "3")).job(0, [stage(0, 4)], 900).submitted(stage(0, 4), 1000)
    for number in range(4):
        log.start(number, executor=str(1 + number % 2))
    log.removed("3", 1200).removed("1", 1250, "Executor heartbeat timed out").finish(0, 1260, "lost", bare=True).finish(2, 1260, "lost", bare=True)
    log.stage_peaks("1", 0, 4000).stage_peaks("2", 0, 4100).stage_peaks("3", 0, 4200).stage_peaks("driver", 0, 4300).finish(1).finish(3, reason="fetch")
    log.completed(stage(0, 4), 1700, failure="FetchFailed").submitted(stage(0, 3, 1), 1800)
    for number in (4, 5, 6):
        log.start(number, 0, number - 4, executor="2", launch=1900, stage_attempt=1)
    log.finish(4).finish(5, reason="result lost").start(7, 0, 1, executor="2", launch=2100, stage_attempt=1, attempt=1).finish(6).finish(7)
    log.stage_peaks("2", 0, 5000, 1).completed(stage(0, 3, 1), 2600, 1800).job_end(0, 2700).end()


@log
def flags_and_reasons_differ(log):
    log.begin().job(0, [stage(0, 6)], 900).submitted(stage(0, 6), 1000).start(0).finish(0, reason="ok", Failed=True).start(1).finish(1, reason="error", Failed=False)
    log.start(2).finish(2, reason="killed", Killed=False, Failed=True).start(3).finish(3, reason="denied", Killed=False, Failed=True).start(4).finish(4, reason="ok", Killed=True)
    log.start(5).finish(5, reason="killed", Killed=True, Failed=True).completed(stage(0, 6), 2000).job_end(0, 2100).end()


@log
def shared_stage_two_jobs(log):
    """Two jobs share a stage that never runs, then one that does."""
    log.begin().job(0, [0, 1], 900).job(1, [0, 2], 910).job(2, [0, 2], 920).submitted(1, 1000).run(0, 1, 0).run(1, 1, 1).completed(1, 1500).job_end(0, 1600)
    log.submitted(2, 1700, **{"spark_scheduler_pool": "fair", "spark_job_description": "of two"}).start(2, 2, 0, launch=1800).start(3, 2, 1, launch=1800).job_end(2, 1900, failed=True)
    log.finish(2).finish(3, reason="stage cancelled").completed(2, 2200, 1700, failure="x").job_end(1, 2300, failed=True).end()


@log
def job_ends_pending_attempts(log):
    """JobEnd finds attempts that wait: one announced by a job, one that an exclusion or a task spoke of."""
    log.begin().job(0, [stage(0), stage(1, 4)], 900).submitted(0, 1000).run(0).completed(0, 1500, failure="x").job(1, [stage(1, 4), stage(0, 1, 1)], 1600).job_end(0, 1700, failed=True).end()


@log
def old_2_4(log):
    """As Spark 2.4 wrote it: no peaks, no profiles, no split of memory, stage times only at the end."""
    log.lines.clear()
    log("LogStart", {"Spark Version": "2.4.8"})
    log("BlockManagerAdded", {"Block Manager ID": log.manager("driver"), "Maximum Memory": 500})
    log("EnvironmentUpdate", {"JVM Information": {}, "Spark Properties": {}, "System Properties": {}, "Classpath Entries": {}})
    log("ApplicationStart", {"App Name": log.name, "App ID": log.name, "Timestamp": START, "User": "hand"})
    log("ExecutorAdded", {"Timestamp": START, "Executor ID": "1", "Executor Info": {"Host": "host-1", "Total Cores": 2, "Log Urls": {}}})
    log("BlockManagerAdded", {"Block Manager ID": log.manager("1"), "Maximum Memory": 500})
    info = {name: value for name, value in stage(0).items() if name not in ("Resource Profile Id", "Shuffle Push Enabled", "Shuffle Push Mergers Count")}
    log.job(0, [info], 900)("StageSubmitted", {"Stage Info": info, "Properties": {}})
    log.start(0).start(1).finish(0)
    log.lines[-1] = log.lines[-1].replace('"Peak Execution Memory":1048576,', "")
    log("StageSubmitted", {"Stage Info": {**info, "Stage ID": 1}}).finish(1, bare=True).start(2, 1, 0)


@log
def attempts_without_ids(log):
    """Stage attempt ids, task attempts and partition ids are missing, as in the first versions."""
    log.begin().job(0, [0], 900)
    strip = lambda members: {name: value for name, value in members.items() if name not in ("Stage Attempt ID", "Attempt", "Partition ID")}
    info = {**strip(stage(0)), "Submission Time": START + 1000}
    log("StageSubmitted", {"Stage Info": info})
    for number in (0, 1):
        at = {**strip(log.task(number).tasks[number][2])}
        log("TaskStart", {"Stage ID": 0, "Task Info": at})("TaskEnd", {"Stage ID": 0, "Task Type": "ResultTask", "Task End Reason": REASONS["ok"], "Task Info": {**at, "Finish Time": START + 1300},
                                                          "Task Metrics": metrics(number, 90)})
    log("StageCompleted", {"Stage Info": {**info, "Completion Time": START + 2000}}).job_end(0, 2100).end()


@log
def accumulables(log):
    """Accumulators of tasks and stages: what is shown, in which order, of which of several descriptions."""
    shown = [{"ID": 30, "Name": "rows", "Update": "3", "Value": "10", "Internal": False, "Count Failed Values": False}, {"ID": 2, "Name": "noupdate", "Value": "10"},
             {"ID": 3, "Name": "hidden", "Update": "1", "Value": "1", "Internal": True}, {"ID": 4, "Name": "sql", "Update": "1", "Value": "1", "Metadata": "sql"},
             {"ID": 5, "Update": 7, "Value": 8.5}, {"ID": 6, "Name": "list", "Update": ["a"], "Value": {"b": 1}}, {"ID": 7, "Name": "flag", "Value": True}]
    info = stage(0)
    log.begin().job(0, [{**info, "Accumulables": shown[:2]}], 900).submitted(info, 1000).start(0).finish(0, Accumulables=shown).start(1)
    log.completed({**info, "Accumulables": shown}, 2000).job_end(0, 2100).end()


@log
def unfinished_stage_accumulables(log):
    info = stage(0)
    log.begin().job(0, [{**info, "Accumulables": [{"ID": 1, "Name": "a", "Value": "1"}]}, stage(1)], 900).submitted(info, 1000).start(0).finish(0)


@log
def localities(log):
    log.begin().job(0, [stage(0, 5)], 900).submitted(stage(0, 5), 1000)
    for number, word in enumerate(("PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY")):
        log.start(number, Locality=word).finish(number, Locality="ANY")
    log.completed(stage(0, 5), 2000).job_end(0, 2100).end()


@log
def zero_tasks(log):
    log.begin().job(0, [stage(0, 0)], 900).submitted(stage(0, 0), 1000).completed(stage(0, 0), 1001).job_end(0, 1002).job(1, [stage(1, 0)], 1003).submitted(stage(1, 0), 1004).end()


@log
def tags_and_groups(log):
    log.begin().job(0, [0], 900, spark_job_tags="b,,a,b,c d", spark_jobGroup_id="group", spark_job_description="what it is")
    log.submitted(0, 1000, spark_job_description="of the stage").run(0).run(1).completed(0, 2000)
    log.job_end(0, 2100).job(1, [stage(3), stage(2)], 0, spark_job_tags=",").end()


@log
def times_of_zero(log):
    log.begin()
    log("JobStart", {"Job ID": 0, "Submission Time": 0, "Stage Infos": [stage(0)], "Stage IDs": [0]}).submitted(0, 1000).run(0).run(1).completed(0, 2000)
    log("JobEnd", {"Job ID": 0, "Completion Time": 0, "Job Result": {"Result": "JobSucceeded"}})
    log("JobStart", {"Job ID": 1, "Submission Time": -5, "Stage Infos": [stage(1)], "Stage IDs": [1]})("JobEnd", {"Job ID": 1, "Completion Time": -7, "Job Result": {"Result": "JobSucceeded"}}).end()


# ---- Spark SQL

UI = "org.apache.spark.sql.execution.ui.SparkListener"
KINDS = {"rows": "sum", "size": "size", "time": "timing", "nanos": "nsTiming", "mean": "average"}


def node(name, *children, metrics=(), simple=None, **metadata):
    """A plan node; metrics are (name, accumulator)."""
    return {"nodeName": name, "simpleString": simple or f"{name} simple", "children": list(children), "metadata": metadata,
            "metrics": [{"name": metric, "accumulatorId": number, "metricType": KINDS[metric.split()[0]]} for metric, number in metrics]}


PLAN = node("WholeStageCodegen (1)", node("Project", node("Scan parquet", metrics=[("rows read", 1), ("size of files", 2), ("time to list", 3)], Location="here"), metrics=[]),
            metrics=[("time in all", 4), ("nanos in all", 5), ("mean length", 6)])


class Sql(Log):
    def query(self, number, time, plan=PLAN, root=None, **more):
        return self(f"{UI}SQLExecutionStart", {"executionId": number, "rootExecutionId": number if root is None else root, "description": f"query {number}", "details": "d", "physicalPlanDescription":
                    f"== Physical Plan ==\nplan {number}", "sparkPlanInfo": plan, "time": START + time, "modifiedConfigs": {}, "jobTags": [], "jobGroupId": None, "queryId": None, **more})

    def query_end(self, number, time, error=""):
        return self(f"{UI}SQLExecutionEnd", {"executionId": number, "time": START + time, "errorMessage": error})

    def driver(self, number, *pairs):
        return self(f"{UI}DriverAccumUpdates", {"executionId": number, "accumUpdates": pairs})

    def plan(self, number, plan):
        return self(f"{UI}SQLAdaptiveExecutionUpdate", {"executionId": number, "physicalPlanDescription": f"== Physical Plan ==\nanew {number}", "sparkPlanInfo": plan})

    def metrics_added(self, number, *metrics):
        return self(f"{UI}SQLAdaptiveSQLMetricUpdates", {"executionId": number, "sqlPlanMetrics": [
            {"name": name, "accumulatorId": accumulator, "metricType": KINDS[name.split()[0]]} for name, accumulator in metrics]})

    def of_query(self, job, stages, time, query):
        return self.job(job, stages, time, spark_sql_execution_id=str(query))

    def counted(self, number, *updates, **more):
        """A task's end with SQL metrics (accumulator, update)."""
        return self.finish(number, **more, Accumulables=[{"ID": at, "Name": f"m{at}", "Update": str(value), "Value": str(value), "Internal": True, "Count Failed Values": True, "Metadata": "sql"}
                                                         for at, value in updates])


def ran(log, number, at, query, job, base=0):
    """One job of one stage of two tasks for a query."""
    log.of_query(job, [at], 900 + base, query).submitted(at, 1000 + base).start(number, at, 0, launch=1100 + base).start(number + 1, at, 1, launch=1100 + base, executor="2")
    log.counted(number, (1, 10), (2, 1000), (3, 5), (4, 70), (5, 3_000_000), (6, 25)).counted(number + 1, (1, 30), (2, 3000), (3, 7), (4, 90), (5, 5_000_000), (6, 35))
    return log.completed(at, 2000 + base, 1000 + base).job_end(job, 2100 + base)


@log
def sql_plain(log):
    ran(log.begin().query(0, 800), 0, 0, 0, 0).driver(0, [2, 77], [3, 8]).query_end(0, 2200).end()


@log
def sql_end_before_jobs(log):
    log.begin().query(0, 800)
    log.query_end(0, 2050)
    ran(log, 0, 0, 0, 0).driver(0, [2, 77]).end()


@log
def sql_no_end(log):
    ran(log.begin().query(0, 800), 0, 0, 0, 0).driver(0, [2, 77]).of_query(1, [1], 2500, 0).submitted(1, 2600).start(2, 1, 0, launch=2700).counted(2, (1, 5)).start(3, 1, 1, launch=2700)


@log
def sql_success_without_updates(log):
    """The first success of a task counts, also when it has counted nothing: what its copy says later does not."""
    log.begin().query(0, 800).of_query(0, [0], 900, 0).submitted(0, 1000).start(0).start(1).start(2, 0, 0, executor="2", attempt=1, Speculative=True)
    log.finish(0).counted(2, (1, 500), (4, 70), reason="killed").counted(1, (1, 30)).completed(0, 2000).job_end(0, 2100).query_end(0, 2200).end()


@log
def sql_no_start(log):
    ran(log.begin(), 0, 0, 0, 0).driver(0, [2, 77]).query_end(0, 2200).end()


@log
def sql_start_after_jobs(log):
    ran(log.begin(), 0, 0, 0, 0).query(0, 800).driver(0, [2, 77]).query_end(0, 2200).end()


@log
def sql_end_without_anything(log):
    log.begin().query_end(7, 2000).query(8, 2100).query(9, 2200, plan=node("")).query_end(9, 2300, "no such table").end()


@log
def sql_failed(log):
    log.begin().query(0, 800).of_query(0, [0], 900, 0).submitted(0, 1000).start(0).counted(0, (1, 10), (4, 70)).start(1).counted(1, (1, 30), (4, 90), reason="error")
    log.completed(0, 2000, failure="boom").job_end(0, 2100, failed=True).query_end(0, 2200, "Job aborted\n\tat here").query(1, 2300).query_end(1, 2400, None).end()


@log
def sql_twice(log):
    ran(log.begin().query(0, 800), 0, 0, 0, 0).query_end(0, 2200).query(0, 3000, plan=node("Range", metrics=[("rows out", 1)])).query_end(0, 3100).end()


@log
def sql_job_reopens(log):
    """A job that begins behind the end of its query."""
    ran(log.begin().query(0, 800), 0, 0, 0, 0).query_end(0, 2200)
    ran(log, 2, 1, 0, 1, 2000).end()


@log
def sql_nested(log):
    log.begin().query(0, 800).query(1, 810, root=0).query(2, 820, root=1).query(3, 830, root=99).query(4, 840, **{"rootExecutionId": None})
    ran(log, 0, 0, 1, 0).query_end(1, 2200)
    ran(log, 2, 1, 0, 1, 2000).query_end(2, 4500, "failed").query_end(0, 5000).end()


@log
def sql_adaptive(log):
    log.begin().query(0, 800, plan=node("AdaptiveSparkPlan", PLAN, simple="AdaptiveSparkPlan isFinalPlan=false"))
    log.of_query(0, [0], 900, 0).submitted(0, 1000).start(0).start(1).counted(0, (1, 10), (21, 500)).metrics_added(0, ("rows later", 21), ("size later", 22))
    log.plan(0, node("AdaptiveSparkPlan", node("Exchange", PLAN, metrics=[("size data", 23)]), simple="AdaptiveSparkPlan isFinalPlan=true")).counted(1, (1, 30), (21, 700), (23, 4096))
    log.completed(0, 2000).job_end(0, 2100).driver(0, [22, 5], [22, 6], [99, 1]).query_end(0, 2200).end()


@log
def sql_adaptive_late(log):
    """Words about a query behind its end."""
    ran(log.begin().query(0, 800), 0, 0, 0, 0).query_end(0, 2200).metrics_added(0, ("rows last", 24)).driver(0, [1, 1000]).end()


@log
def sql_retry_and_speculation(log):
    """What a task of a second attempt, a copy and a task that failed have counted."""
    log.begin().query(0, 800).of_query(0, [stage(0, 2), stage(1, 2)], 900, 0).submitted(0, 1000).start(0).start(1, executor="2").counted(0, (1, 10), (4, 70))
    log.start(2, 0, 1, attempt=1, Speculative=True).counted(2, (1, 31), (4, 91)).counted(1, (1, 30), (4, 90), reason="killed").completed(0, 1500)
    log.submitted(1, 1500).start(3, 1, 0, launch=1600).counted(3, (1, 100), reason="fetch").completed(1, 1700, 1500, failure="FetchFailed")
    log.submitted(stage(0, 1, 1), 1750).start(4, 0, 0, stage_attempt=1, launch=1800).counted(4, (1, 11), (4, 72)).completed(stage(0, 1, 1), 2000, 1750)
    log.submitted(stage(1, 2, 1), 2000).start(5, 1, 0, stage_attempt=1, launch=2100).start(6, 1, 1, stage_attempt=1, launch=2100).counted(5, (1, 1)).counted(6, (1, 2))
    log.completed(stage(1, 2, 1), 2500, 2000).job_end(0, 2600).query_end(0, 2700).end()


@log
def sql_running_metrics(log):
    """Heartbeats of running tasks with SQL metrics, in local mode."""
    log.begin(executors=()).query(0, 800).of_query(0, [0], 900, 0).submitted(0, 1000).start(0, executor="driver").start(1, executor="driver")
    for value in (5, 9):
        log("ExecutorMetricsUpdate", {"Executor ID": "driver", "Metrics Updated": [{"Task ID": 0, "Stage ID": 0, "Stage Attempt ID": 0, "Accumulator Updates": [
            {"ID": 1, "Update": value, "Internal": True, "Count Failed Values": True, "Metadata": "sql"}, {"ID": 4, "Update": value, "Internal": True},
            {"ID": 30, "Name": "internal.metrics.executorRunTime", "Update": value, "Internal": True}]}], "Executor Metrics Updated": []})
    log.counted(1, (1, 30), (4, 90))


@log
def sql_skipped_and_shared(log):
    """A query whose job skips a stage, two queries whose jobs share one."""
    ran(log.begin().query(0, 800).query(1, 850), 0, 0, 0, 0)
    log.of_query(1, [stage(5), stage(1)], 2500, 1).submitted(1, 2600).start(2, 1, 0, launch=2700).counted(2, (1, 5)).start(3, 1, 1, launch=2700).counted(3, (1, 6))
    log.completed(1, 3000, 2600).job_end(1, 3100).query_end(1, 3200).query_end(0, 3300).end()


@log
def sql_clusters(log):
    """Clusters in clusters, subqueries, the same metric in two nodes, nodes without metrics, reused exchanges, characters that plans hold."""
    inner = node("WholeStageCodegen (2)", node("Filter", node("InputAdapter", node("Scan <csv> & \"x\"", metrics=[("rows read", 1)])), metrics=[("rows kept", 2)]), metrics=[("time there", 3)])
    plan = node("Execute InsertIntoHadoopFsRelationCommand", node("WholeStageCodegen (1)", node("HashAggregate", node("Exchange", inner, metrics=[("size data", 4)]), node("Subquery", inner),
                metrics=[("rows out", 7), ("mean probes", 5)]), metrics=[]), node("ReusedExchange", node("Exchange", inner, metrics=[("size data", 4)])), node("ReusedSubquery", node("Subquery", inner)),
                metrics=[("rows written", 6)])
    ran(log.begin().query(0, 800, plan=plan), 0, 0, 0, 0).driver(0, [6, 12345]).query_end(0, 2200).end()


@log
def sql_old_2_4(log):
    """No root, no configurations, no error message; a list as an update."""
    log.begin()
    log(f"{UI}SQLExecutionStart", {"executionId": 0, "description": "d", "details": "", "physicalPlanDescription": "", "sparkPlanInfo": PLAN, "time": START + 800})
    ran(log, 0, 0, 0, 0)
    log(f"{UI}SQLExecutionEnd", {"executionId": 0, "time": START + 2200}).end()


# Logs that only lack order, or say a thing twice or not at all: what they are about is the log of the other name, and the answers are the ones about that.
DISORDER = {name: "orderly" for name in (
    "no-task-start", "task-end-before-start", "task-start-twice", "task-end-twice", "everything-twice", "stage-completed-before-ends", "stage-completed-before-starts", "stage-completed-twice",
    "job-start-after-stage", "job-start-after-all", "job-start-twice", "active-submitted-twice", "active-completed-without-submitted", "executor-added-late",
)}

# Paths in which an answer is not the History Server's, by our choice (server/README.md says why).
RECORD_OF_ANOTHER = ["*"]            # what is answered about another thing altogether
CHOSEN = {
    "peaks-removed-executor": ["/1/peakMemoryMetrics/*"],
    "peaks-removed-no-stage": ["/1/peakMemoryMetrics/*"],
    "peaks-removed-two-stages": ["/1/peakMemoryMetrics/*"],
    "active-second-job": ["/0/numActiveStages"],
    "active-second-job-open": ["/0/numActiveStages", "/*/submissionTime"],
    "active-second-job-no-job-ends": ["/0/numActiveStages"],
    "active-completed-without-submitted-open": ["/0/numActiveStages"],
    "job-end-first": ["/0/numSkipped*"],
    "job-twice": RECORD_OF_ANOTHER,
    "task-end-twice-differing": RECORD_OF_ANOTHER,
    "task-of-unknown-stage": RECORD_OF_ANOTHER,
    "task-of-unknown-attempt": RECORD_OF_ANOTHER,
    "stage-completed-alone": RECORD_OF_ANOTHER,
    "application-start-twice": ["/name", "/attempts/0/startTime*", "/attempts/0/duration", "/attempts/0/sparkUser", "/*/totalDuration"],
    "same-task-id-in-two-stages": RECORD_OF_ANOTHER,
    "finish-time-zero": RECORD_OF_ANOTHER,
    "finish-before-launch": ["/0/executorMetricsDistributions/taskTime/*", "/0/executorSummary/1/taskTime", "/*/totalDuration"],
    "getting-result": ["/0/executorMetricsDistributions/taskTime/*", "/0/executorSummary/1/taskTime", "/*/totalDuration"],
    "no-durations": ["/0/executorMetricsDistributions/taskTime/*", "/0/executorSummary/1/taskTime", "/*/totalDuration"],
    "resubmitted-late": ["/*/numFailedTasks", "/*/executorSummary/1/failedTasks", "/*/executorMetricsDistributions/failedTasks/*"],
    "retry-in-second-job": RECORD_OF_ANOTHER,
    "skipped-again": RECORD_OF_ANOTHER,
    "sql-no-start": RECORD_OF_ANOTHER,
    "sql-end-before-jobs": ["*/errorMessage"],
    "sql-job-reopens": ["*/errorMessage"],
    "sql-twice": RECORD_OF_ANOTHER,
    "sql-adaptive-late": RECORD_OF_ANOTHER,
}

# What we answer there: an address, and of each element of the answer these values.
OURS = [
    ("active-second-job/jobs", [{"numActiveStages": 0, "numCompletedStages": 2}, {"numActiveStages": 0, "numCompletedStages": 1}]),
    ("active-second-job-open/jobs", [{"numActiveStages": 1}, {"numActiveStages": 1}]),
    ("active-second-job-no-job-ends/jobs", [{"numActiveStages": 0, "numCompletedStages": 1}, {"numActiveStages": 0, "numCompletedStages": 1}]),
    ("active-completed-without-submitted-open/jobs", [{"numActiveStages": 0, "numCompletedStages": 1}]),
    ("peaks-removed-executor/allexecutors", [{}, {"id": "2", "peakMemoryMetrics": {"JVMHeapMemory": 8500}}]),
    ("peaks-removed-no-stage/allexecutors", [{}, {"id": "2", "peakMemoryMetrics": {"JVMHeapMemory": 8200}}]),
    ("peaks-removed-two-stages/allexecutors", [{}, {"id": "2", "peakMemoryMetrics": {"JVMHeapMemory": 8000}}]),
    ("job-twice/jobs", [{"jobId": 0, "submissionTime": "2023-11-14T22:13:20.900GMT", "numCompletedTasks": 4}]),
    ("task-end-twice-differing/stages", [{"numCompleteTasks": 1, "numFailedTasks": 1, "numActiveTasks": 0}]),
    ("task-of-unknown-stage/stages", [{"stageId": 9, "status": "PENDING", "numCompleteTasks": 1, "numActiveTasks": 1}, {"stageId": 0, "numCompleteTasks": 2}]),
    ("task-of-unknown-attempt/stages", [{"stageId": 0, "attemptId": 3, "status": "PENDING", "numCompleteTasks": 1}, {"stageId": 0, "attemptId": 0, "numCompleteTasks": 2}]),
    ("stage-completed-alone/stages", [{"stageId": 4, "status": "COMPLETE", "numCompleteTasks": 0}, {"stageId": 0, "status": "COMPLETE", "numCompleteTasks": 2}]),
    ("application-start-twice", [{"name": "application-start-twice"}]),
    ("same-task-id-in-two-stages/stages/0/0/taskList", [{"taskId": 0, "executorId": "1"}]),
    ("same-task-id-in-two-stages/stages/1/0/taskList", [{"taskId": 0, "executorId": "2"}]),
    ("finish-time-zero/allexecutors", [{"id": "1", "activeTasks": 0, "completedTasks": 1, "totalDuration": 0}]),
    ("finish-before-launch/allexecutors", [{"id": "1", "totalDuration": 120}]),
    ("no-durations/allexecutors", [{"id": "1", "totalDuration": 0}]),
    ("resubmitted-late/stages", [{"status": "SKIPPED"}, {"status": "COMPLETE", "numCompleteTasks": 2, "numFailedTasks": 1}]),
    ("retry-in-second-job/stages", [{"stageId": 1}, {"stageId": 0, "attemptId": 1, "numCompleteTasks": 1}, {"stageId": 0, "attemptId": 0, "status": "COMPLETE", "numCompleteTasks": 2}]),
    ("skipped-again/stages", [{"stageId": 5, "status": "SKIPPED"}, {"stageId": 1, "status": "COMPLETE", "numCompleteTasks": 2}, {"stageId": 0, "status": "COMPLETE", "numCompleteTasks": 2}]),
    ("sql-no-start/sql", [{"id": 0, "status": "COMPLETED", "successJobIds": [0], "nodes": [], "edges": []}]),
    ("sql-end-before-jobs/sql", [{"id": 0, "errorMessage": ""}]),
    ("sql-job-reopens/sql", [{"id": 0, "errorMessage": ""}]),
    ("sql-twice/sql", [{"id": 0, "duration": 1400, "successJobIds": [0]}]),
    ("sql-adaptive-late/sql", [{"id": 0, "status": "COMPLETED", "description": "query 0", "successJobIds": [0]}]),
]


if __name__ == "__main__":
    write_all(sys.argv[1])
