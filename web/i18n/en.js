// SPDX-License-Identifier: Apache-2.0
/** English. Functions get numbers as numbers and put them into words themselves; arguments named `…Text` come formatted, those of `say.*` may be elements. */
import { count } from "../lib/format.js";
import { parts } from "../lib/parts.js";

/** @param {number} n @param {string} one @param {string} [many] */
const some = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

export const en = {
  // frame
  "bar.skip": "Skip to content", "bar.breadcrumb": "Where you are", "bar.search": "Search runs", "bar.searchLabel": "Search all runs by name, id or user", "bar.zone": "Time zone of all times", "bar.local": (/** @type {string} */ zone) => `Local, ${zone}`,
  "bar.language": "Language", "bar.theme": "Light or dark",
  "nav.order": "Read in this order", "nav.apps": "Applications",
  "nav.overview": "Overview", "nav.overview.ask": "What did it cost, and where?", "nav.jobs": "Jobs", "nav.jobs.ask": "Which action is slow?", "nav.stages": "Stages", "nav.stages.ask": "Slow? Start here",
  "nav.tasks": "Tasks", "nav.tasks.ask": "Of the slowest stage", "nav.tasks.slowest": (/** @type {number} */ id) => `Slowest: stage ${id}`, "nav.executors": "Executors", "nav.executors.ask": "Busy, idle, lost?",
  "nav.storage": "Storage", "nav.storage.ask": "Did the cache hold?", "nav.env": "Environment", "nav.env.ask": "Is it the configuration?", "nav.sql": "SQL", "nav.sql.ask": "Is it the plan?", "nav.log": "Event log", "nav.log.ask": "Is the data complete?",
  "rail.failed": "the run failed", "rail.jobsFailed": (/** @type {number} */ n) => `${some(n, "job")} failed`, "rail.lost": (/** @type {number} */ n) => `${some(n, "executor")} lost`, "rail.log": (/** @type {number} */ n) => `${some(n, "check")} not passed`,
  "keys.title": "Keys", "keys.search": "search, or filter the table", "keys.rows": "next and previous row", "keys.open": "open the row", "keys.pages": "turn the pages of a table", "keys.close": "Close",
  "sev.0": "fine", "sev.1": "note", "sev.2": "attention", "sev.3": "moderate", "sev.4": "severe", "sev.none": "none", "list.more": (/** @type {number} */ n) => `and ${count(n)} more`,

  // looks of a view
  "loading.label": "Loading", "error.title": "This part could not be loaded", "error.notFound": "Not found", "error.noDetail": "The server gave no reason.", "error.unreachable": "The server cannot be reached.",
  "error.status": (/** @type {string} */ s) => `status ${s}`, "error.noAnswer": "no answer", "error.retry": "Try again", "error.toList": "To the list of applications",
  "notFound.app": "No such application", "notFound.page": "No such page", "notFound.new": "A new log appears within seconds after its directory was scanned.", "notFound.id": "The id may be mistyped, or the log may never have been here.",
  "notLoaded.title": "This log has not been read yet", "notLoaded.failed": "This log could not be read", "notLoaded.size": (/** @type {string} */ sizeText) => `The log has ${sizeText}.`, "notLoaded.wait": "Opening it here put it first in the queue. This page changes by itself as soon as there is something to show.", "notLoaded.queued": "waiting for its turn",
  "pager.label": "Pages", "pager.range": (/** @type {string} */ a, /** @type {string} */ b, /** @type {string} */ n) => `${a}–${b} of ${n}`, "pager.previous": "Previous", "pager.next": "Next", "pager.page": "Page", "pager.of": (/** @type {string} */ n) => `of ${n}`, "pager.rows": "Rows",
  "filter.anyStatus": "Any outcome", "filter.clear": "Clear the filters", "filter.remove": "Remove this filter",

  // words of the API
  "outcome.succeeded": "Succeeded", "outcome.failed": "Failed", "outcome.unknown": "Unknown", "outcome.noEnd": "Log has no end", "outcome.unreadable": "Not readable",
  "state.loading": "Being read", "state.loaded": "Read", "state.partial": "Read in part", "state.waiting": "Waiting", "state.failed": "Not readable", "state.gone": "Log is gone", "state.skipped": "Not a log",
  "status.succeeded": "Succeeded", "status.complete": "Complete", "status.failed": "Failed", "status.running": "Running", "status.active": "Running", "status.pending": "Not started", "status.skipped": "Skipped", "status.unknown": "No end in the log",
  "status.long.active": "no end was read", "status.long.failed": "failed", "status.long.pending": "was never submitted", "status.long.unknown": "no end in the log",
  "task.success": "OK", "task.failed": "Failed", "task.killed": "Killed", "task.running": "No end read", "task.fetching": "Fetching result", "task.unknown": "Unknown",
  "locality.PROCESS_LOCAL": "process", "locality.NODE_LOCAL": "node", "locality.NO_PREF": "no preference", "locality.RACK_LOCAL": "rack", "locality.ANY": "any",
  "locality.process": "process", "locality.node": "node", "locality.none": "no preference", "locality.rack": "rack", "locality.any": "any",
  "layout.single": "single file", "layout.rolling": "rolling", "layout.legacy": "legacy directory", "layout.databricks": "Databricks parts", "layout.zip": "zip", "codec.none": "none",
  "problem.line": "line", "problem.frame": "compressed block", "problem.file": "file", "problem.number": "number", "problem.event": "event",

  // columns
  "col.mark": "Mark", "col.application": "Application", "col.outcome": "Outcome", "col.state": "State of the log", "col.started": "Started", "col.startedZone": (/** @type {string} */ zone) => `Started (${zone})`, "col.duration": "Duration",
  "col.skew": "Skew", "col.skew.title": "Worst of its stages: largest against median task", "col.gc": "GC", "col.gc.title": "GC time as a share of task time: moderate above 10\u202f%, severe above 30\u202f%", "col.gcMark.title": "Worst of its stages: GC time as a share of task time",
  "col.job": "Job", "col.jobs": "Jobs", "col.stage": "Stage", "col.stages": "Stages", "col.task": "Task", "col.tasks": "Tasks", "col.failedTasks": "Failed", "col.killedTasks": "Killed", "col.taskTime": "Task time", "col.executor": "Executor", "col.executors": "Executors",
  "col.input": "Input", "col.output": "Output", "col.shuffleRead": "Shuffle read", "col.shuffleWrite": "Shuffle write", "col.spill": "Spill", "col.user": "User", "col.what": "What", "col.description": "Description", "col.status": "Outcome", "col.failure": "Reason",
  "col.median": "Median", "col.max": "Max", "col.ratio": "Max ÷ median", "col.ratio.title": "Largest against median task duration: moderate from 3×, severe from 10×, where the stage lasts long enough to matter", "col.ofRun": "Of run", "col.group": "Group", "col.query": "Query",
  "col.key": "Key", "col.value": "Value", "col.path": "Path", "col.source": "Source", "col.name": "Name", "col.metric": "Metric", "col.message": "Message", "col.host": "Host", "col.mean": "Mean task", "col.peakHeap": "Peak heap",
  "col.index": "Index", "col.attempt": "Attempt", "col.locality": "Locality", "col.launched": "Launched", "col.cores": "Cores", "col.added": "Added", "col.aliveFor": "Alive for", "col.busy": "Busy", "col.busy.title": "Task time of the time that its cores were there",
  "col.storageMemory": "Storage memory", "col.storageMemory.title": "Memory for storage: used at the end (where the log says) and available", "col.logs": "Logs", "col.for": "For one", "col.resource": "Resource", "col.amount": "Amount", "col.vendor": "Vendor, script",
  "col.level": "Level", "col.cached": "Cached partitions", "col.memory": "Memory", "col.disk": "Disk", "col.released": "Released", "col.lines": "Lines", "col.check": "Check", "col.found": "Found", "col.effect": "Effect", "col.file": "File", "col.line": "Line", "col.reason": "Reason",
  "col.event": "Event", "col.seen": "Seen", "col.read": "Read by Afterglow",
  "skew.title": (/** @type {string} */ d, /** @type {string} */ b, /** @type {string} */ of) => `largest task: ${d} the median duration, ${b} the median of ${of}`, "skew.titleDuration": (/** @type {string} */ d) => `largest task: ${d} the median duration`, "gc.title": (/** @type {string} */ p) => `${p} of task time was garbage collection`,

  // applications
  "apps.title": "Applications", "apps.stored": (/** @type {number} */ n) => `${some(n, "log")} known`, "apps.underway": (/** @type {number} */ l, /** @type {number} */ w) => `${count(l)} being read, ${count(w)} waiting`, "apps.unreadable": (/** @type {number} */ n) => `${count(n)} could not be read`,
  "apps.search": "Name, id or user", "apps.anyOutcome": "Any outcome", "apps.anyState": "Any state", "apps.marks": "Skew and GC", "apps.anyMark": "Any skew or GC", "apps.moderate": "Moderate and severe", "apps.severe": "Severe only",
  "apps.atLeast": "Duration", "apps.anyDuration": "Any duration", "apps.longer": (/** @type {string} */ d) => `≥ ${d}`, "apps.shown": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all}`, "apps.none": "No application matches",
  "apps.noneText": (/** @type {number} */ n) => `${some(n, "log is", "logs are")} known; none passes these filters.`, "apps.clear": "Clear the filters", "apps.noReason": "no reason was recorded", "apps.waiting": (/** @type {string} */ b) => `waits to be read, ${b}`, "apps.atLeastSo": "At least: the log has no end",
  "first.title": "No log has been read yet", "first.notScanned": (/** @type {string} */ p) => `${p} has not been scanned yet.`, "first.scanned": (/** @type {string} */ p, /** @type {string} */ ago, /** @type {number} */ n) => `${p} was scanned ${ago} ago and holds ${some(n, "entry", "entries")}.`,
  "first.noPlace": "No directory is watched: start the server with --logs DIRECTORY.", "first.logs": (/** @type {number} */ w, /** @type {number} */ l, /** @type {number} */ f, /** @type {number} */ s) => `${count(w)} waiting, ${count(l)} being read, ${count(f)} not readable, ${count(s)} not logs.`, "first.noIngest": "The process that reads logs is not running.",

  // head and banners
  "head.attempt": (/** @type {string} */ n) => `attempt ${n}`, "head.noVersion": "Spark version unknown", "head.executors": (/** @type {number} */ n) => some(n, "executor"), "head.executorsCores": (/** @type {number} */ n, /** @type {number} */ c) => `${some(n, "executor")}, ${some(c, "core")} at peak`,
  "head.complete": (/** @type {string} */ n, /** @type {string} */ b) => `log complete, ${n} events, ${b}`, "head.incomplete": "Log has gaps",
  "banner.label": "Log health", "banner.incomplete": "This log is incomplete.", "banner.damaged": "Parts of this log are missing.", "banner.stops": (/** @type {string} */ at) => `It stops at ${at} without an end of the application: the driver was killed, or still runs.`, "banner.noEnd": "It has no end of the application.",
  "banner.effect": "Sums are lower bounds.", "banner.what": "What is missing",
  "reading.title": "This log is still being read.", "reading.share": (/** @type {string} */ p) => `Reading this log: ${p}.`, "reading.bytes": (/** @type {string} */ a, /** @type {string} */ b) => `${a} of ${b}`, "reading.progress": (/** @type {string} */ a, /** @type {string} */ b, /** @type {string | null} */ at) => (at ? `${a} of ${b}, up to ${at} of the run.` : `${a} of ${b}.`), "reading.effect": "The page fills as it is read; numbers still grow.", "reading.label": "Part of the log that was read",

  // sentences
  "say.ran": (/** @type {any} */ d) => parts`Ran for ${d}:`, "say.ranAtLeast": (/** @type {any} */ d) => parts`Ran for at least ${d}:`, "say.failed": (/** @type {any} */ d) => parts`Failed after ${d}:`,
  "say.amount": (/** @type {number} */ j, /** @type {number} */ s, /** @type {number} */ n) => `${some(j, "job")}, ${some(s, "stage")}, ${some(n, "task")}.`,
  "say.firstFailed": (/** @type {any} */ j) => parts`${j} failed.`,
  "say.slowest": (/** @type {any} */ s, /** @type {any} */ d, /** @type {string | null} */ share) => (share ? parts`The slowest stage is ${s} with ${d}, ${share} of the run.` : parts`The slowest stage is ${s} with ${d}.`),
  "say.slowestSkew": (/** @type {string} */ r) => `Its slowest task took ${r} the median.`,
  "say.cores": (/** @type {number} */ n, /** @type {string} */ p) => `Tasks filled ${p} of ${some(n, "core")} over the whole run.`, "say.gc": (/** @type {string} */ p) => `${p} of task time was garbage collection.`,
  "say.stageRan": (/** @type {any} */ d, /** @type {string | null} */ share, /** @type {number} */ n) => (share ? parts`Took ${d}, ${share} of the run, for ${some(n, "task")}.` : parts`Took ${d} for ${some(n, "task")}.`),
  "say.stageOpen": (/** @type {number} */ done, /** @type {string} */ all) => `The log holds no end of this stage: ${count(done)} of ${all} tasks had ended.`,
  "say.stageFailed": (/** @type {any} */ d) => parts`Failed after ${d}.`,
  "say.stageSkew": (/** @type {any} */ max, /** @type {any} */ r, /** @type {string} */ med) => parts`The slowest task took ${max}, ${r} the median of ${med}.`, "say.stageSkewBytes": (/** @type {string} */ r, /** @type {string} */ of) => `The largest one had ${r} the median ${of}.`,
  "say.input": "input", "say.shuffle": "shuffle read", "say.stageGc": (/** @type {any} */ p) => parts`Garbage collection took ${p} of task time.`,

  // facts
  "fact.soFar": "at least", "fact.failed": (/** @type {number} */ n) => `${count(n)} failed`, "fact.lost": (/** @type {number} */ n) => `${count(n)} lost`, "fact.cores": (/** @type {number} */ n) => some(n, "core"), "fact.gcShare": "GC", "fact.ofTaskTime": "of task time", "fact.exitCode": "Exit code",
  "fact.ofRun": (/** @type {string} */ p) => `${p} of run`, "fact.ofAll": (/** @type {string} */ n) => `of ${n}`, "fact.skipped": (/** @type {number} */ n) => `${count(n)} skipped`, "fact.skippedTasks": "Tasks not needed", "fact.outputReused": "output reused", "fact.cpu": "CPU",
  "fact.records": (/** @type {number} */ n) => some(n, "row"), "fact.spillMemory": "Spilled, in memory", "fact.spillDisk": "Spilled, on disk", "fact.speculative": "Speculative", "fact.wonRace": (/** @type {number} */ n) => `${count(n)} finished`, "fact.locality": "Locality", "fact.coresPeak": "Cores at peak",

  // overview
  "overview.slowest": "Slowest stages", "overview.slowestNote": "by duration", "overview.allStages": (/** @type {number} */ n) => `All ${some(n, "stage")}`, "overview.noStage": "No stage ran", "overview.noStageText": "Every stage was skipped, or the log stops before the first one.",
  "overview.marked": "Other stages with skew or GC pressure", "overview.markedNote": "slowest first", "overview.allMarked": "All marked stages", "overview.failedJobs": "Failed jobs", "overview.failedStages": "Failed stages",
  "overview.failedNote": (/** @type {number} */ all, /** @type {number} */ shown) => (all > shown ? `${count(shown)} of ${count(all)} shown` : ""),

  // jobs
  "job.title": (/** @type {string | number} */ id) => `Job ${id}`, "job.group": (/** @type {string} */ g) => `group ${g}`, "job.tags": (/** @type {string} */ g) => `tags ${g}`, "job.query": (/** @type {number} */ id) => `Query ${id}`, "job.noEnd": "The log holds no end of this job, so its duration is unknown.",
  "job.stagesNote": "slowest first; skipped ones last, their output was still there", "job.properties": "Properties", "job.propertiesNote": "where they differ from the environment", "job.propertiesShow": (/** @type {number} */ n) => `Show ${some(n, "property", "properties")}`,
  "jobs.note": "one per action, slowest first unless sorted", "jobs.search": "Description or call site", "jobs.noMatch": "No job matches", "jobs.none": "No job ran", "jobs.noneText": "The log has an application start but no job start: a session that only defined data frames, or that ended before its first action.",
  "jobs.failedStages": (/** @type {number} */ n) => `${count(n)} failed`, "jobs.stages": (/** @type {number} */ ran, /** @type {number} */ skipped) => (skipped ? `${count(ran)} + ${count(skipped)} skipped` : count(ran)),

  // stages
  "stage.title": (/** @type {string | number} */ id) => `Stage ${id}`, "stage.attempt": (/** @type {number} */ n) => `attempt ${n}`, "stage.failedTasks": (/** @type {number} */ n) => `${count(n)} failed`, "stage.skipped": "skipped: output reused", "stage.after": "after stage", "stage.otherAttempts": "other attempts",
  "stage.wasSkipped": (/** @type {number} */ id) => `Stage ${id} was skipped`, "stage.wasSkippedText": "Its output from an earlier job was still there, so nothing had to run. No time was spent.", "stage.isPending": (/** @type {number} */ id) => `Stage ${id} was never submitted`, "stage.isPendingText": "A job listed it, and the log holds no start of it: the job failed or the log stops before.",
  "stage.noTask": "No task of this stage has ended", "stage.noTaskText": "The log stops before.", "stage.details": "Call stack", "stage.detailsShow": "Show where the stage was created",
  "stages.note": "slowest first unless sorted; skipped ones last", "stages.search": "Description or name", "stages.showSkipped": "Show skipped", "stages.hideSkipped": "Hide skipped", "stages.noMatch": "No stage matches", "stages.none": "No stage ran", "stages.noneText": "No job was submitted, or every stage was skipped.",
  "stages.legend": "Skew: the largest task against the median, moderate from 3×, severe from 10×, where the stage lasts long enough to matter. GC: share of task time, moderate above 10\u202f%, severe above 30\u202f%.",
  "errors.title": "Errors", "errors.note": "grouped by text", "errors.first": "First task", "errors.whole": "Show the whole text",
  "q.title": "Distribution over tasks", "q.note": (/** @type {number} */ n) => `${some(n, "successful task")}; exact, as the History Server defines it`, "q.strip": "Shape", "q.min": "Min", "q.p25": "25\u202f%", "q.p50": "Median", "q.p75": "75\u202f%", "q.p95": "95\u202f%", "q.p99": "99\u202f%", "q.max": "Max", "q.sum": "Sum",
  "q.zero": (/** @type {number} */ n) => `${some(n, "metric is", "metrics are")} 0 for every task and not shown.`,
  "hist.title": "Task durations", "hist.note": "equal factors are equally wide; heights by square root", "hist.label": (/** @type {string} */ n, /** @type {string} */ a, /** @type {string} */ b, /** @type {string} */ m) => `Histogram of ${n} task durations from ${a} to ${b}, median ${m}`, "hist.bar": (/** @type {number} */ n, /** @type {string} */ a, /** @type {string} */ b) => `${some(n, "task")}: ${a} – ${b}`,
  "byExecutor.title": "By executor", "byExecutor.note": (/** @type {number} */ n) => `${some(n, "executor")} had tasks of this stage; choose one to see its tasks`, "byExecutor.filter": "Show the tasks of this executor", "accumulables.title": "Accumulators", "accumulables.unnamed": (/** @type {string} */ id) => `without a name (${id})`,

  // tasks
  "tasks.note": (/** @type {number} */ n) => some(n, "task"), "tasks.filtered": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all} pass the filters`, "tasks.search": "Error text or task id", "tasks.anyExecutor": "Any executor", "tasks.onExecutor": (/** @type {string} */ id) => `Executor ${id}`, "tasks.none": "No task passes these filters",
  "tasks.speculative": "spec.", "tasks.one": (/** @type {string} */ id) => `Task ${id}`, "tasks.oneNote": (/** @type {string} */ i, /** @type {string} */ a, /** @type {string} */ x, /** @type {string} */ h) => `index ${i}, attempt ${a}, on executor ${x}, ${h}`, "tasks.close": "Close", "tasks.notHere": (/** @type {string} */ id) => `Task ${id} is not in this stage attempt`,

  // executors
  "executors.note": "all that the log names, those that were lost too", "executors.all": "All executors", "executors.alive": "Alive at the end", "executors.removed": "Removed", "executors.removedAt": (/** @type {string} */ at) => `removed at ${at}`, "executors.stayed": "stayed", "executors.excluded": "Excluded", "executors.excludedIn": (/** @type {string} */ s) => `in stages ${s}`,
  "executors.memory": (/** @type {string} */ on, /** @type {string} */ off) => `on heap ${on}, off heap ${off}`, "executors.none": "No executor in this log", "executors.noneText": "The log names no executor: it stops before the first one was added.", "executors.noMatch": "No executor matches",

  // environment
  "env.search": "Key or value", "env.sections": "Sections", "env.main": "Main", "env.everywhere": "Everywhere", "env.shown": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all} entries`, "env.entries": (/** @type {number} */ n) => some(n, "entry", "entries"), "env.none": "No environment in this log", "env.noneText": "The log has no record of the environment. Compacted logs and cut ones may lack it.",
  "env.noMatch": "Nothing matches", "env.noMatchText": (/** @type {string} */ n) => `${n} entries are in the log.`, "env.profile": (/** @type {number} */ id) => `Resource profile ${id}`, "env.profileNote": "what each executor and task asks for",
  "env.section.spark": "Spark properties", "env.section.jvm": "Runtime", "env.section.system": "System properties", "env.section.hadoop": "Hadoop properties", "env.section.metrics": "Metrics properties", "env.section.classpath": "Class path",

  // storage, SQL
  "storage.title": "Cached data", "storage.note": "rows stay after unpersist; sizes as at the end of the log", "storage.noteNoSizes": "rows stay after unpersist; this log does not say what was really held", "storage.ofParts": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all}`, "storage.unknown": "The log does not say how many partitions were held",
  "storage.released": "yes", "storage.kept": "no", "storage.none": "Nothing was cached", "storage.noneText": "No stage of this application used persist() or cache().", "storage.switchOn": "To see sizes and partitions held, run the application with",
  "sql.title": "Plans are not read yet", "sql.text": "This version of Afterglow does not read SQL queries and their plans from the log. What Spark ran for them is here all the same:", "sql.jobs": "Jobs, with the number of the query that they belong to", "sql.stages": "Stages, slowest first",

  // event log
  "log.size": "Stored size", "log.uncompressed": (/** @type {string} */ b, /** @type {string} */ p) => `${p} of ${b}`, "log.files": "Files", "log.codec": "Codec", "log.last": "Last event", "log.path": "Place:",
  "checks.title": "Checks", "checks.note": "every number on other pages rests on these",
  "check.bad": "numbers on other pages are affected", "check.note": "good to know, numbers stand", "check.yes": "yes", "check.no": "no", "check.present": "present", "check.missing": "missing", "check.ofLines": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all}`,
  "check.end": "End of the application", "check.end.effect": "The duration counts to the last event, not to the end of the run.", "check.end.say": () => "It has no end of the application.",
  "check.cut": "Cut in the middle", "check.cut.effect": "The last line or block is not whole: the file was being written, or was cut.", "check.cut.say": () => "It is cut in the middle.",
  "check.lines": "Unreadable lines", "check.lines.effect": "What these lines said is missing; the rest was read.", "check.lines.say": (/** @type {number} */ n, /** @type {number | null} */ all) => `${all === null ? some(n, "line") : `${count(n)} of ${some(all, "line")}`} could not be read.`,
  "check.files": "Missing files of a rolling log", "check.files.effect": "Events in these files are missing:", "check.files.say": (/** @type {number} */ n) => `${some(n, "file of it is", "files of it are")} missing.`,
  "check.compacted": "Compacted by the History Server", "check.compacted.effect": "Records of finished jobs and removed executors were dropped; totals are lower bounds.", "check.compacted.say": () => "It was compacted: records of finished jobs were dropped.",
  "check.logStart": "Start of the log missing", "check.logStart.effect": "The Spark version is unknown.", "check.appStart": "Start of the application missing", "check.appStart.effect": "Name, user and start time are guessed from the file name and the first event.", "check.appStart.say": () => "It has no start of the application.",
  "check.environment": "Environment missing", "check.environment.effect": "The Environment page is empty.",
  "check.jobsOpen": "Jobs without an end", "check.jobsOpen.effect": "Their outcome and duration are unknown.", "check.jobsOpen.say": (/** @type {number} */ n) => `${some(n, "job has", "jobs have")} no end.`,
  "check.stagesOpen": "Stages without an end", "check.stagesOpen.effect": "Their duration is unknown.", "check.stagesOpen.say": (/** @type {number} */ n) => `${some(n, "stage has", "stages have")} no end.`,
  "check.tasksOpen": "Tasks without an end", "check.tasksOpen.effect": "They are in the task tables, not in quantiles and sums.", "check.tasksOpen.say": (/** @type {number} */ n) => `${some(n, "task has", "tasks have")} a start and no end.`,
  "check.jobsHeadless": "Jobs without a start", "check.jobsHeadless.effect": "Their stages and description are unknown.", "check.jobsHeadless.say": (/** @type {number} */ n) => `${some(n, "job has", "jobs have")} no start.`,
  "check.stagesHeadless": "Stages without a start", "check.stagesHeadless.effect": "Their name and number of tasks may be unknown.", "check.stagesHeadless.say": (/** @type {number} */ n) => `${some(n, "stage has", "stages have")} no start.`,
  "check.tasksHeadless": "Tasks without a start", "check.tasksHeadless.effect": "They count in full: the end holds what matters.", "check.tasksHeadless.say": (/** @type {number} */ n) => `${some(n, "task has", "tasks have")} an end and no start.`,
  "check.repeatedStart": "Repeated start of the application", "check.repeatedStart.effect": "The first one counts.", "check.duplicates": "Repeated events", "check.duplicates.effect": "Each was counted once.", "check.unknownEvents": "Events of unknown kinds", "check.unknownEvents.effect": "They are counted below and not read.",
  "check.numbers": "Numbers out of range", "check.numbers.effect": "They are shown as unknown.", "check.clock": "Steps back of a clock", "check.clock.effect": "Some lengths may be off by the step.", "check.text": "Repaired text", "check.text.effect": "Bytes that are not UTF-8 were replaced.",
  "problems.title": "What could not be read", "problems.note": (/** @type {number} */ n) => `the first ${count(n)}`, "problems.kind": "Kind", "problems.offset": "Offset, bytes", "problems.sample": "Begins with",
  "files.title": "Files", "files.note": "in reading order", "files.compact": "compacted", "files.text": "Uncompressed", "files.problem": "Problem", "files.fine": "none",
  "events.title": "Events", "events.note": (/** @type {number} */ n) => (n ? `${some(n, "kind is", "kinds are")} counted and not read by this version` : "every kind is read"), "events.read": "yes", "events.skipped": "counted only",

  // metrics of tasks
  "metric.durationMs": "Duration", "metric.executorRunTimeMs": "Run time", "metric.executorCpuTimeNs": "CPU time", "metric.jvmGcTimeMs": "GC time", "metric.schedulerDelayMs": "Scheduler delay", "metric.executorDeserializeTimeMs": "Task deserialisation", "metric.executorDeserializeCpuTimeNs": "Deserialisation, CPU",
  "metric.resultSerializationTimeMs": "Result serialisation", "metric.gettingResultTimeMs": "Getting the result", "metric.inputBytes": "Input", "metric.inputRecords": "Input rows", "metric.outputBytes": "Output", "metric.outputRecords": "Output rows", "metric.resultSizeBytes": "Result size",
  "metric.shuffleReadBytes": "Shuffle read", "metric.shuffleRecordsRead": "Shuffle rows read", "metric.shuffleWriteBytes": "Shuffle write", "metric.shuffleWriteRecords": "Shuffle rows written", "metric.memorySpilledBytes": "Spilled, in memory", "metric.diskSpilledBytes": "Spilled, on disk",
  "metric.peakExecutionMemoryBytes": "Peak execution memory", "metric.peakExecutionMemoryOnHeapBytes": "Peak execution memory, on heap", "metric.peakExecutionMemoryOffHeapBytes": "Peak execution memory, off heap", "metric.shuffleFetchWaitTimeMs": "Shuffle fetch wait", "metric.shuffleWriteTimeNs": "Shuffle write time",
  "metric.shuffleRemoteReadBytes": "Shuffle read, remote", "metric.shuffleLocalReadBytes": "Shuffle read, local", "metric.shuffleRemoteReadToDiskBytes": "Shuffle read to disk, remote", "metric.shuffleBlocksFetched": "Shuffle blocks fetched", "metric.shuffleRemoteBlocksFetched": "Shuffle blocks, remote", "metric.shuffleLocalBlocksFetched": "Shuffle blocks, local",
  "metric.shuffleRemoteRequestsDurationMs": "Shuffle remote requests", "metric.pushCorruptMergedBlockChunks": "Push: corrupt merged chunks", "metric.pushMergedFetchFallbackCount": "Push: fall-backs", "metric.pushRemoteMergedBlocksFetched": "Push: merged blocks, remote", "metric.pushLocalMergedBlocksFetched": "Push: merged blocks, local",
  "metric.pushRemoteMergedChunksFetched": "Push: merged chunks, remote", "metric.pushLocalMergedChunksFetched": "Push: merged chunks, local", "metric.pushRemoteMergedReadBytes": "Push: merged read, remote", "metric.pushLocalMergedReadBytes": "Push: merged read, local", "metric.pushRemoteMergedRequestsDurationMs": "Push: merged requests",
  "metric.short.jvmGcTimeMs": "GC", "metric.short.schedulerDelayMs": "Sched. delay", "metric.short.executorDeserializeTimeMs": "Deserialise", "metric.short.shuffleFetchWaitTimeMs": "Fetch wait", "metric.short.inputBytes": "Input", "metric.short.inputRecords": "Rows", "metric.short.shuffleReadBytes": "Shuffle read",
  "metric.short.shuffleRecordsRead": "Rows read", "metric.short.shuffleWriteBytes": "Shuffle write", "metric.short.outputBytes": "Output", "metric.short.diskSpilledBytes": "Spill", "metric.short.peakExecutionMemoryBytes": "Peak mem.",
};
