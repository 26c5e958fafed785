// SPDX-License-Identifier: Apache-2.0
/**
 * What the server answers below api/afterglow/v1, in the order of server/README.md. Units are in the names: …Ms is an epoch time or a length in
 * milliseconds, …Ns nanoseconds, …Bytes bytes, the rest counts and ids. `null` is unknown, never 0.
 */

declare global {
  /** What first.js asked before the code of the page was there; api.js takes it over. */
  var askedFirst: { path: string; answer: Promise<Response> } | undefined;
}

/** Number or unknown. */
export type Num = number | null;
export type Text = string | null;
/** Of a finding, or of the worst of some: 0 none, 1 note, 2 low, 3 moderate, 4 severe; null: not judged. */
export type Grade = 0 | 1 | 2 | 3 | 4 | null;

export interface ErrorBody { status: number; error: string; detail: string; state?: string }

export interface List<T> { items: T[]; total: number; page: number; limit: number; next: Text }

// -- status
/** failingSinceMs: the end of the first of the scans that have failed one after the other until now; null: the last one did not. */
export interface Place { uri: string; name: Text; lastScanMs: Num; lastError: Text; failingSinceMs: Num; entryCount: Num }
/** Of those who do not see every run, store, places and logs are null. */
export interface Status {
  version: string; build: string; store: Text; nowMs: number; places: Place[] | null;
  logs: { waiting: number; loading: number; loaded: number; partial: number; listed: number; failed: number; skipped: number; gone: number } | null;
  uploads: { enabled: boolean; allowed: boolean; maxBytes: Num };
  ingest: { enabled?: boolean; running: boolean; restarts: number; message: Text };
}

// -- server
export interface ProcessState { sinceMs: Num; residentBytes: Num; threadCount: Num; openFileCount: Num; cpuMs: Num }
export type Trouble = "crashed" | "unreadable" | "damaged" | "put_off" | "not_permitted" | "not_a_log" | "empty" | "forgotten";
export type LoadEnd = "loaded" | "partial" | "empty" | "unreadable" | "too_large" | "gone" | "crashed" | "no_memory" | "no_space" | "store";
/** Null without a catalogue: places, logs, waitingBytes, troubles. mayAct: runs can be read anew and forgotten by who asks. */
export interface ServerState {
  version: string; build: string; store: string; nowMs: number; mayAct: boolean;
  ready: { catalogue: boolean; list: boolean; worker: boolean };
  server: ProcessState; worker: ProcessState;
  ingest: { enabled: boolean; running: boolean; restarts: number; confined: Num; message: Text; loads: { end: LoadEnd; count: number }[]; readBytes: Num };
  answers: { keptCount: number; keptBytes: number; hitCount: number; missCount: number; openDatabaseCount: number };
  settings: { key: string; value: Text; default: Text; from: string }[];
  disk: {
    measuredMs: number; catalogueBytes: number; runBytes: number; runCount: number; freeBytes: Num;
    setAside: { count: number; bytes: number; names: string[] };
    largest: { key: string; appId: string; attemptId: Text; name: Text; user: Text; loaded: number; endMs: Num; bytes: number }[];
  };
  places: (Place & { lastScanDurationMs: Num })[] | null;
  logs: Status["logs"]; waitingBytes: Num;
  troubles: { reason: Trouble; count: number; latest: { logId: number; logPath: string; key: Text; reason: Text; changedMs: number }[] }[] | null;
}

// -- apps
/** A rule and the wall time that its dearest finding would save; no price: null. */
export interface Cost { rule: string; name: string; priceMs: Num }
export interface RunOfJob { key: string; startMs: Num; durationMs: Num; outcome: AppItem["outcome"]; grade: Num }
/** Runs of one job by start: the newest, or those that end with the item. */
export interface History { total: number; runs: RunOfJob[] }
export interface AppItem {
  ref: Text; key: Text; appId: Text; attemptId: Text; name: Text; user: Text; queue: Text; sparkVersion: Text;
  startMs: Num; endMs: Num; lastEventMs: Num; durationMs: Num; complete: boolean | null; outcome: "succeeded" | "failed" | "unknown" | null;
  state: "waiting" | "loading" | "loaded" | "partial" | "listed" | "failed" | "skipped" | "gone"; loaded: boolean; reason: Text; flags: string[]; readBytes: Num; totalBytes: Num;
  jobCount: Num; failedJobCount: Num; stageCount: Num; failedStageCount: Num; taskCount: Num; failedTaskCount: Num; executorCount: Num; lostExecutorCount: Num;
  taskTimeMs: Num; gcTimeMs: Num; inputBytes: Num; outputBytes: Num; shuffleReadBytes: Num; shuffleWriteBytes: Num; diskSpillBytes: Num;
  skewGrade: Grade; gcGrade: Grade; logId: Num; logPath: Text; place: Text; layout: Text; generation: Num;
  /** What analysis made of it; null and empty where it was not judged. grade: of the worst finding, 0 to 4; savingMs: of the dearest findings together. */
  grade: Num; savingMs: Num; busyShare: Num; completeness: Num; costs: Cost[]; verdict: Text;
  /** In lists that were asked for it. */
  history?: History | null;
}
export interface AppList extends List<AppItem> { counts: { all: number; loading: number; waiting: number; partial: number; failed: number } }

// -- uploads/{id}: where a log that was added stands; state null: it was not seen yet.
export interface Upload { upload: string; is: "arriving" | "whole" | "gone"; state: AppItem["state"] | null; reason?: Text; ref?: Text; readBytes?: Num; totalBytes?: Num; mayNotBeSeen?: boolean }

// -- facets
export interface Facet { value: string; name?: Text; runCount: number }
export interface Facets { rules: Facet[]; users: Facet[]; queues: Facet[]; places: Facet[]; totals: Record<"rules" | "users" | "queues" | "places", number> }

// -- apps/{ref}/search
export interface Found { kind: "stage" | "job" | "sql" | "exec" | "conf"; key: string; label: Text; durationMs: Num }

// -- apps/{ref}
export interface Health {
  complete: boolean; flags: string[]; badLineCount: Num; cut: boolean | null; missingFiles: number[] | null; compacted: boolean | null;
  noLogStart: boolean | null; noApplicationStart: boolean | null; noEnvironment: boolean | null; repeatedApplicationStartCount: Num;
  jobsWithoutEnd: Num; stagesWithoutEnd: Num; tasksWithoutEnd: Num; jobsWithoutStart: Num; stagesWithoutStart: Num; tasksWithoutStart: Num;
  duplicateEventCount: Num; unknownEventCount: Num; outOfRangeNumberCount: Num; clockStepCount: Num; repairedTextCount: Num;
}
export interface Loading { readBytes: Num; totalBytes: Num; lines: Num }
export interface App extends AppItem {
  ref: string;
  loading?: Loading | null;
  log: { files: Num; bytes: Num; textBytes: Num; lines: Num; layout: Text; upload: "arriving" | "whole" | "gone" | null; codecs: string[] | null; path: Text };
  /** null: the log is still being read, and its end has not been seen. */
  health: Health | null; exitCode: Num; cores: { max: Num };
  slowestStages: StageItem[]; failedJobs: JobItem[]; failedStages: StageItem[]; master: Text; deployMode: Text; schedulerMode: Text;
  sqlExecutionCount: number; streamingQueryCount: number; sessionCount: number; operationCount: number; dstreamBatchCount: number; processCount: number; driverAddress: Text;
}

/** In the first moments of a load the server knows little more than the name. model/app.js makes an App of it. */
export type AppAnswer = { [K in keyof App]: K extends "log" | "cores" | "slowestStages" | "failedJobs" | "failedStages" ? App[K] | null : App[K] };

// -- apps/{ref}/health
export interface LogFile { fileNo: number; name: string; rollIndex: Num; compact: boolean | null; codec: Text; storedBytes: Num; textBytes: Num; lineCount: Num; problem: Text }
export interface Problem { kind: string; fileNo: Num; lineNo: Num; textOffset: Num; reason: string; sample: Text }
export interface EventCount { event: string; seen: number; handled: boolean }
export interface LogHealth { health: Health | null; files: LogFile[]; problems: Problem[]; events: EventCount[] }

// -- apps/{ref}/jobs
export interface JobItem {
  jobId: number; name: Text; description: Text; jobGroup: Text; tags: string[]; submissionMs: Num; completionMs: Num; durationMs: Num;
  status: "running" | "succeeded" | "failed" | "unknown"; stageIds: number[];
  numStages: Num; completedStages: Num; skippedStages: Num; failedStages: Num; activeStages: Num;
  numTasks: Num; completedTasks: Num; completedIndices: Num; failedTasks: Num; killedTasks: Num; skippedTasks: Num; activeTasks: Num;
  sqlExecutionId: Num; failure: Text;
}
// -- apps/{ref}/jobs/{id}
export interface Job extends JobItem { stages: StageItem[]; killReasons: { reason: Text; count: number }[]; properties: [string, Text][] }

// -- apps/{ref}/jobs/{id}/graph, apps/{ref}/stages/{id}.{attempt}/graph
export interface GraphRdd {
  id: number; name: Text; callsite: Text; numPartitions: Num; parentIds: number[]; cached: boolean; barrier: boolean;
  determinism: "determinate" | "unordered" | "indeterminate" | null; scopes: { id: string; name: Text }[];
}
export interface GraphStage { stageId: number; attempt: number; name: Text; skipped: boolean; parentIds: number[]; rddCount: number; rdds: GraphRdd[] }
export interface RddGraph { stages: GraphStage[]; nextStage: Num }

// -- apps/{ref}/stages
/** How far a number sticks out, by itself; null: unknown. */
export type Height = "usual" | "high" | "veryHigh" | null;
/** What findings say of a number: the worst of those that fired and its rule (grade 0: none did; null: not judged), what it costs all the same, and how far the number sticks out. */
export interface JudgedNumber { grade: Grade; rule: Text; priceMs: Num; height: Height }
export interface Skew extends JudgedNumber { durationRatio: Num; bytesRatio: Num; bytesHeight: Height; bytes: "shuffleRead" | "input" | null }
export interface Gc extends JudgedNumber { share: Num }
export interface StageItem {
  stageId: number; attempt: number; name: Text; description: Text; status: "pending" | "active" | "complete" | "failed" | "skipped" | "unknown";
  submissionMs: Num; completionMs: Num; firstTaskLaunchMs: Num; durationMs: Num;
  numTasks: Num; completeTasks: Num; failedTasks: Num; killedTasks: Num; activeTasks: Num; endedTasks: Num;
  taskTimeMs: Num; medianMs: Num; p95Ms: Num; maxMs: Num;
  inputBytes: Num; inputRecords: Num; outputBytes: Num; outputRecords: Num; shuffleReadBytes: Num; shuffleReadRecords: Num; shuffleWriteBytes: Num; shuffleWriteRecords: Num;
  memorySpilledBytes: Num; diskSpilledBytes: Num; gcTimeMs: Num; runTimeMs: Num; cpuTimeNs: Num;
  deserializeTimeMs: Num; resultSerializationTimeMs: Num; fetchWaitTimeMs: Num; shuffleWriteTimeNs: Num;
  skew: Skew | null; gc: Gc | null; jobIds: number[]; failure: Text; sqlExecutionId: Num; pool: Text;
  /** Of its query's plan, those nearest to the data first. */
  operators: string[] | null;
  /** Worst of its findings and the most that one of them would save; null: not judged. slackMs: of a stage that the run did not wait for. */
  findingGrade: FindingGrade | null; savingMs: Num; onPathMs: Num; slackMs: Num;
}
// -- apps/{ref}/stages/{id}.{attempt}
export interface Quantile {
  name: string; unit: "ms" | "ns" | "bytes" | "count"; count: number;
  min: number; p05: number; p25: number; p50: number; p75: number; p95: number; p99: number; max: number; sum: number;
}
export interface StageExecutor {
  executorId: string; host: Text; taskCount: Num; succeededTasks: Num; failedTasks: Num; killedTasks: Num; taskTimeMs: Num; runTimeMs: Num; gcTimeMs: Num;
  inputBytes: Num; inputRecords: Num; outputBytes: Num; outputRecords: Num; shuffleReadBytes: Num; shuffleReadRecords: Num; shuffleWriteBytes: Num; shuffleWriteRecords: Num;
  memorySpilledBytes: Num; diskSpilledBytes: Num; isExcluded: boolean | null; gc: Gc | null; peaks: Record<string, Num> | null;
  cpuTimeNs: Num; deserializeTimeMs: Num; resultSerializationTimeMs: Num; fetchWaitTimeMs: Num; shuffleWriteTimeNs: Num;
  /** Of its successful tasks. */
  medianMs: Num; maxMs: Num; logs: [Text, Text][];
}
export interface Stage extends StageItem {
  details: Text; parents: number[] | null; rddIds: number[] | null; cachedRdds: { id: number; name: Text }[]; slowestTaskId: Num; attempts: number[] | null; resourceProfileId: Num;
  locality: { process: Num; node: Num; none: Num; rack: Num; any: Num } | null;
  speculation: { tasks: Num; active: Num; completed: Num; failed: Num; killed: Num } | null;
  quantiles: Quantile[]; histogram: { edgesMs: number[]; counts: number[] } | null; executors: StageExecutor[];
  errors: { text: string; count: number; firstTaskId: Num; host: Text; hostTasks: number; hostCount: number }[]; killReasons: { reason: string; count: number }[]; accumulables: { id: string; name: Text; value: Text }[];
}
// -- apps/{ref}/stages/{id}.{attempt}/tasks: besides these, the metrics of schema.sql's table `task`, camelCased.
export interface TaskItem {
  taskId: number; index: Num; attempt: Num; partitionId: Num; executorId: Text; host: Text; launchMs: Num; finishMs: Num; durationMs: Num;
  status: "success" | "failed" | "killed" | "running" | "fetching" | "unknown"; locality: Text; speculative: boolean | null; error: Text; endReason: Text;
  schedulerDelayMs: Num; gettingResultTimeMs: Num; shuffleReadBytes: Num;
  executorDeserializeTimeMs: Num; executorRunTimeMs: Num; executorCpuTimeNs: Num; jvmGcTimeMs: Num; resultSizeBytes: Num; memorySpilledBytes: Num; diskSpilledBytes: Num;
  peakExecutionMemoryBytes: Num; inputBytes: Num; inputRecords: Num; outputBytes: Num; outputRecords: Num;
  shuffleFetchWaitTimeMs: Num; shuffleRecordsRead: Num; shuffleWriteBytes: Num; shuffleWriteRecords: Num; shuffleWriteTimeNs: Num;
  accumulables: [Text, Text][];
  [metric: string]: Num | Text | boolean | [Text, Text][];
}
export interface TaskList extends List<TaskItem> { allTasks: number }

// -- apps/{ref}/stages/{id}.{attempt}/timeline: tasks, or density where a window holds many; neither: no task has a place in time
export interface TimelinePhase { bucket: string; name: Text; values: number[] }
export interface TimelineRow { executorCount: number; firstExecutorId: Text; lastExecutorId: Text; host: Text; slots: number; taskCount: number }
export interface TaskTimeline {
  beginMs: Num; endMs: Num; fromMs: Num; toMs: Num; allTasks: number; taskCount: number; executorCount: number; pickedExecutorCount: number; rows: TimelineRow[];
  /** By launch. waitMs: so much after its launch its lane was free for it; durationMs null: no end was read. */
  tasks?: {
    taskId: number[]; index: Num[]; attempt: Num[]; row: number[]; lane: number[]; launchOffsetMs: number[]; waitMs: number[]; durationMs: Num[]; status: TaskItem["status"][];
    speculative: number[]; phases: TimelinePhase[];
  };
  /** values[row × bins + bin]: of `scale` parts of the row's slot time in that bin. */
  density?: { bins: number; scale: number; phases: TimelinePhase[] };
}
// -- apps/{ref}/stages/{id}.{attempt}/scatter: points are all tasks, longest first; where there are `fields`, the outliers
export interface TaskScatter {
  x: string; unit: "ms" | "ns" | "bytes" | "count"; taskCount: number; dataCount: number; minDurationMs: Num; maxDurationMs: Num; minX: Num; maxX: Num;
  medianMsPerUnit: Num; outlierCutMs: Num; outlierCount: number;
  points: { taskId: number[]; index: Num[]; durationMs: number[]; x: Num[]; status: TaskItem["status"][]; executorId: Text[] };
  /** [column, row, tasks] one after the other; column −1: tasks without data. */
  fields: { columns: number; rows: number; cells: number[] } | null;
}

// -- apps/{ref}/sql
export interface SqlCore {
  id: number; rootExecutionId: Num; description: Text; submissionMs: Num; completionMs: Num; durationMs: Num; jobCount: number; succeededJobCount: number; failedJobCount: number;
  errorLine: Text; queryId: Text; jobGroup: Text; planVersionCount: number; status: "running" | "completed" | "failed" | "unknown"; jobTags: string[];
  planChangeCount: Num;
}
export interface SqlItem extends SqlCore {
  runningJobIds: number[]; succeededJobIds: number[]; failedJobIds: number[]; nestedCount: number; worstGrade: FindingGrade | null; savingMs: Num; findingCount: Num; stageCount: number;
  planNodeCount: Num;
}
// -- apps/{ref}/sql/{id}
export interface SqlStageTime { stageId: number; attempt: number; numTasks: Num; taskTimeMs: Num; durationMs: Num }
export interface SqlPlanChange {
  kind: "coalesced" | "skew split" | "local read" | "join" | "empty side removed" | "exchange reused" | "broadcast abandoned"; version: number; loggedMs: Num; nodeId: Num;
  nodeText: Text; before: Text; after: Text; partitionsBefore: Num; partitionsAfter: Num; skewedPartitions: Num; splits: Num; minBytes: Num; medianBytes: Num; maxBytes: Num;
  shuffleBytes: Num; stageId: Num; stageAttempt: Num;
}
export interface SqlMetric {
  accumulatorId: number; name: Text; type: Text; unit: "count" | "bytes" | "ms" | "ns" | "tenths" | null; valueCount: Num; reportedCount: Num; total: Num; min: Num; median: Num;
  max: Num; maxStageId: Num; maxStageAttempt: Num; maxTaskId: Num;
}
export interface SqlNode {
  id: number; clusterId: Num; name: string; description: Text; isCluster: boolean; metadata: [string, Text][]; metrics: SqlMetric[];
  stages: { stageId: number; attempt: number }[];
}
/** Data flows from child to parent. */
export interface SqlEdge { fromId: number; toId: number }
export interface SqlPlanVersion { version: number; textBytes: Num; graphVersion: Num; final: boolean }
export interface Sql extends SqlCore {
  error: Text; details: Text; configs: [string, Text][]; plans: SqlPlanVersion[]; stages: SqlStageTime[]; changes: SqlPlanChange[]; nodes: SqlNode[]; nextNode: Num; nodeCount: number; edges: SqlEdge[]; jobs: JobItem[];
}
// -- apps/{ref}/sql/{id}/plans/{version}
export interface SqlPlan { executionId: number; version: number; final: boolean; text: Text; nodes: SqlNode[]; nextNode: Num; nodeCount: number; edges: SqlEdge[] }

// -- apps/{ref}/executors
export interface ExecutorItem {
  executorId: string; host: Text; hostPort: Text; active: boolean; addMs: Num; removeMs: Num; removeReason: Text;
  aliveMs: Num; totalCores: Num; maxTasks: Num; resourceProfileId: Num;
  maxMemoryBytes: Num; maxOnHeapMemoryBytes: Num; maxOffHeapMemoryBytes: Num; memoryUsedBytes: Num; onHeapUsedBytes: Num; offHeapUsedBytes: Num; diskUsedBytes: Num; rddBlocks: Num;
  taskCount: Num; failedTasks: Num; killedTasks: Num; activeTasks: Num; completedTasks: Num; taskTimeMs: Num; gcTimeMs: Num; busyShare: Num; gc: Gc | null;
  /** Of its tasks; null: not known, or an executor of this id came twice. */
  runTimeMs: Num; cpuTimeNs: Num; deserializeTimeMs: Num; resultSerializationTimeMs: Num; fetchWaitTimeMs: Num; shuffleWriteTimeNs: Num; shuffleRemoteReadBytes: Num; diskSpilledBytes: Num;
  inputBytes: Num; shuffleReadBytes: Num; shuffleWriteBytes: Num; isExcluded: boolean | null; excludedInStages: number[] | null; peaks: Record<string, Num> | null;
  heapLimitBytes: Num; containerLimitBytes: Num;
  /** Gone before its time, and Spark did not want that; why, in words. */
  lost: boolean; lossReason: Text; exitCode: Num; exitMeaning: Text;
  logs: [string, string][] | null; attributes: [string, string][] | null; resources: [string, string][] | null;
}
export interface ExecutorTotals {
  active: boolean; executorCount: number; lostCount: number; excludedCount: number; hostCount: number; rddBlocks: Num; memoryUsedBytes: Num; maxMemoryBytes: Num; onHeapUsedBytes: Num;
  maxOnHeapMemoryBytes: Num; offHeapUsedBytes: Num; maxOffHeapMemoryBytes: Num; diskUsedBytes: Num; totalCores: Num; activeTasks: Num; failedTasks: Num; killedTasks: Num;
  completedTasks: Num; taskCount: Num; taskTimeMs: Num; gcTimeMs: Num; inputBytes: Num; shuffleReadBytes: Num; shuffleWriteBytes: Num;
}
export interface Exclusion { lifted: boolean; timeMs: Num; executorId: Text; host: Text; stageId: Num; stageAttempt: Num; failures: Num }
export interface ExecutorList extends List<ExecutorItem> { totals: ExecutorTotals[]; exclusions: Exclusion[] }
// -- apps/{ref}/executors/timeline: slot-milliseconds in equal bins from fromMs on, of all executors and of each on the page
export interface ExecutorLine { executorId: string; host: Text; addMs: Num; removeMs: Num; lost: boolean; slots: number; busyMs: number[] }
/** What the settings asked for; null: not set. slotsEach: of one executor. */
export interface ExecutorBounds { dynamic: boolean; leastExecutors: Num; startExecutors: Num; mostExecutors: Num; slotsEach: Num }
export interface ExecutorTimeline extends List<ExecutorLine> { beginMs: number; endMs: number; fromMs: number; binMs: number; aliveMs: number[]; busyMs: number[]; bounds: ExecutorBounds }
// -- apps/{ref}/hosts
export interface HostItem {
  host: string; executorCount: number; removedCount: number; lostCount: number; excludedCount: number; totalCores: Num; taskCount: Num; failedTasks: Num; killedTasks: Num;
  taskTimeMs: Num; gcTimeMs: Num; gc: Gc | null; inputBytes: Num; shuffleReadBytes: Num; shuffleWriteBytes: Num;
}
// -- apps/{ref}/processes
export interface ProcessItem { processId: string; hostPort: Text; addMs: Num; totalCores: Num; logs: [string, string][] }

// -- pins/{token}
export interface Pinned { key: string; address: string; pinnedMs: number; author: Text; readAnew: boolean; judgedAnew: boolean }

// -- apps/{ref}/environment
export interface EnvironmentSection { name: "jvm" | "spark" | "hadoop" | "system" | "metrics" | "classpath"; entries: [string, Text][] }
export interface ResourceRequest { name: string; amount: Num; resourceName: Text; discoveryScript: Text; vendor: Text }
/** A setting that was made and that analysis knows: against what Spark of this version takes by itself. fired: findings of its rules. */
export interface Setting {
  name: string; value: string; defaultValue: Text; distance: number; state: "effective" | "overridden" | "not yet" | "gone" | "misspelt" | "irrelevant"; meant: Text; fired: number;
  atRunTime: boolean; differs: boolean; meaning: Text; rules: string[];
}
export interface JarConflict { scala: boolean; sparksOwn: boolean; artefact: string; first: string; second: string }
export interface Environment {
  sections: EnvironmentSection[]; resourceProfiles: { id: number; executor: ResourceRequest[]; task: ResourceRequest[] }[]; settings: Setting[];
  /** Spark properties with another value in every run. */
  perRun: string[];
  jarConflicts: JarConflict[]; jarPaths: { path: string; conflict: number }[];
}

// -- apps/{ref}/storage
export interface StageKey { stageId: number; attempt: number }
export interface CachedRdd {
  id: number; name: Text; callsite: Text; storageLevel: Text; numPartitions: Num; cachedPartitions: Num; memoryUsedBytes: Num; diskUsedBytes: Num;
  mostPartitions: Num; mostMemoryBytes: Num; mostDiskBytes: Num; evictedPartitions: Num; unpersistMs: Num; unpersisted: boolean | null;
  verdict: "untouched" | "unused" | "partial" | "leaked" | "level" | "useful" | "unproven" | null; readCount: Num; lastReadMs: Num; fraction: Num; missingShare: Num; buildMs: Num;
  savedMs: Num; storageShare: Num; builtBy: StageKey | null; lastReadBy: StageKey | null;
}
export interface Storage extends List<CachedRdd> { blockUpdatesLogged: boolean }
// -- apps/{ref}/storage/{id}
export interface RddHolder {
  executorId: string; address: Text; memoryUsedBytes: Num; memoryRemainingBytes: Num; diskUsedBytes: Num; onHeapUsedBytes: Num; onHeapRemainingBytes: Num; offHeapUsedBytes: Num;
  offHeapRemainingBytes: Num;
}
export interface Rdd extends CachedRdd { blockUpdatesLogged: boolean; stages: (StageKey & { name: Text; status: Text })[]; executors: RddHolder[] }
// -- apps/{ref}/storage/{id}/partitions
export interface RddPartition { blockName: string; storageLevel: Text; memoryUsedBytes: Num; diskUsedBytes: Num; executors: string[] }
// -- apps/{ref}/receiver-blocks
export interface ReceiverBlock {
  useMemory: boolean; useDisk: boolean; deserialized: boolean; blockName: string; executorId: string; address: Text; storageLevel: Text; memoryUsedBytes: Num; diskUsedBytes: Num;
  replication: number;
}
export interface ReceiverBlocks extends List<ReceiverBlock> {
  executors: { executorId: string; address: Text; memoryUsedBytes: Num; diskUsedBytes: Num; blockCount: number }[];
}

// -- apps/{ref}/streaming: one row a run of a query
export interface StreamingItem {
  runId: string; queryId: Text; name: Text; startMs: Num; lastTriggerMs: Num; lastIdleMs: Num; durationMs: Num; progressCount: number; idleCount: number; latestBatchId: Num;
  inputRows: Num; recentInputRowsPerSecond: Num; recentProcessedRowsPerSecond: Num; meanInputRowsPerSecond: Num; meanProcessedRowsPerSecond: Num; maxBatchDurationMs: Num;
  jobCount: number; failedJobCount: number; errorClass: Text; status: "running" | "finished" | "failed" | "unknown"; startSeen: boolean; jobTags: string[]; error: Text;
}
// -- apps/{ref}/streaming/{run}: a value for each point, by trigger time; a point is `progressPerPoint` progress records
export type StreamingColumn =
  | "batchId" | "triggerMs" | "progressCount" | "batchDurationMs" | "maxBatchDurationMs" | "inputRows" | "inputRowsPerSecond" | "processedRowsPerSecond" | "outputRows"
  | "watermarkMs" | "watermarkGapMs" | "stateRowsTotal" | "stateRowsUpdated" | "stateRowsRemoved" | "stateRowsDropped" | "stateMemoryBytes";
export interface StreamingPhase { name: string; triggerCount: number; totalMs: number; maxMs: number; durationMs: Num[] }
export interface StreamingSource {
  ordinal: number; description: Text; startOffset: Text; endOffset: Text; latestOffset: Text; inputRows: Num; inputRowsPerSecond: Num; processedRowsPerSecond: Num;
  metrics: [string, Text][] | null;
}
export interface StreamingState {
  ordinal: number; operator: Text; rowsTotal: Num; rowsUpdated: Num; rowsRemoved: Num; rowsDropped: Num; updatesTimeMs: Num; removalsTimeMs: Num; commitTimeMs: Num;
  memoryBytes: Num; shufflePartitions: Num; storeInstances: Num; customMetrics: [string, number][] | null;
}
export interface StreamingLatest {
  sink: Text; observedMetrics: Text; eventTimeMinMs: Num; eventTimeMaxMs: Num; eventTimeAvgMs: Num; sinkMetrics: [string, Text][] | null; sources: StreamingSource[];
  stateOperators: StreamingState[];
}
export interface StreamingQuery extends StreamingItem {
  progressPerPoint: number; series: Record<StreamingColumn, Num[]>; phases: StreamingPhase[];
  /** null: no progress was logged. */
  latest: StreamingLatest | null;
}

// -- apps/{ref}/sessions
export interface SessionItem {
  server: "thrift" | "connect"; status: "open" | "closed" | "unknown"; startSeen: boolean; sessionId: string; user: Text; ip: Text; startMs: Num; finishMs: Num; durationMs: Num;
  operationCount: number; failedOperationCount: number;
}
export interface SessionList extends List<SessionItem> { services: { host: Text; port: Num; startMs: Num; endMs: Num }[]; openSessionCount: number; openOperationCount: number }

// -- apps/{ref}/operations
export interface OperationItem {
  server: "thrift" | "connect"; state: "started" | "compiled" | "ready" | "finished" | "failed" | "timedOut" | "canceled" | "closed";
  outcome: "finished" | "failed" | "timedOut" | "canceled" | null; startSeen: boolean; tags: string[]; jobIds: number[]; sqlExecutionIds: number[]; id: number; operationId: Text;
  sessionId: Text; user: Text; jobGroup: Text; jobTag: Text; startMs: Num; finishMs: Num; closeMs: Num; executionTimeMs: Num; durationMs: Num; producedRows: Num;
  statement: Text; statementLength: Num; error: Text;
}
// -- apps/{ref}/operations/{id}
export interface Operation extends OperationItem { plan: Text; trace: Text }

// -- apps/{ref}/dstreams
export type DstreamStatus = "running" | "succeeded" | "failed" | "unknown";
export interface DstreamBatch {
  status: DstreamStatus; batchMs: number; startMs: Num; endMs: Num; schedulingDelayMs: Num; processingTimeMs: Num; totalDelayMs: Num; jobCount: number; failedJobCount: number;
  outputOpCount: number; inputRecords: Num; outputOps: { status: DstreamStatus; jobIds: number[]; outputOpId: Num; name: Text; startMs: Num; endMs: Num }[];
}
export interface DstreamList extends List<DstreamBatch> {
  intervalMs: Num; intervalFits: boolean; receivers: { status: DstreamStatus; jobIds: number[]; streamId: number; startMs: Num; endMs: Num }[];
}

// -- analysis: what ran wrong. Texts (name, sentence, meaning …) come in the language of the parameter `lang`, which api.js adds.
/** `ok` was checked and is below the first threshold; model/findings.js makes the level of a mark of it. */
export type FindingGrade = "ok" | "info" | "low" | "moderate" | "severe";
export type SubjectKind = "app" | "job" | "stage" | "task" | "exec" | "host" | "sql" | "node" | "rdd" | "query" | "batch" | "conf" | "log";
export interface NamedValue { name: string; value: number | string | null; unit: Text }
/** Wall time that a run without this fault would save. weak: a rough scenario, hence a wide range. */
export interface Price { ms: number; lowMs: number; highMs: number; scenario: Text; weak: boolean }
export interface EvidenceRow { kind: SubjectKind; key: string; name: string; role: "culprit" | "peer" | "context"; cells: (NamedValue & { label: string })[] }
/** Usual thresholds, info to severe; down: reached from above; withPrice: the grade is the lower one of the measure's and of the price's. */
export interface Ladder { down: boolean; withPrice: boolean; steps: Num[] }
export interface Fix { id: string; title: string; language: "python" | "sql" | "conf" | "xml"; code: string }
/** Keys of subjects: stage and exec as in addresses ("1.0", "3"), node "execution/node", job, sql and rdd their number, app and log "-". */
export interface Finding {
  rule: string; ruleVersion: number; name: string; question: "slow" | "memory" | "config" | "failure" | "data" | "streaming"; grade: FindingGrade; noFault: boolean;
  part: "lead" | "cause" | "symptom" | "note" | "usual";
  subject: { kind: SubjectKind; key: string; name: string }; measure: { value: Num; unit: string }; margin: Num; price: Price | null; confidence: "low" | "medium" | "high";
  cause: Text; sentence: string; advice: string; measures: NamedValue[];
  ladder: Ladder; evidence: { formula: Text; threshold: Num; source: Text; filter: Text; rows: EvidenceRow[] };
  fixes: Fix[]; mute: Text; muteText: Text; suppressedBy: Text;
}
// -- apps/{ref}/findings
export interface Findings {
  analysisVersion: number; wallMs: number; completeness: number; verdict: string; total: number; findings: Finding[];
  /** Of the whole run alone. rule, kind and key are those of the finding that it is about; null: none. */
  firstStep?: { text: string; where: Text; code: Text; origin: Text; saving: Text; rule: Text; kind: SubjectKind | null; key: Text };
  joint: { k: number; rule: string; key: string; savingMs: number }[];
  questions?: Record<"overview" | "jobs" | "stages" | "tasks" | "executors" | "storage" | "environment" | "sql" | "streaming" | "compare", string>;
  emptyPages?: { storage: Text; sql: Text; streaming: Text; executors: Text; jobs: Text };
}

// -- apps/{ref}/account
export interface Bucket { bucket: string; name: Text; meaning: Text; slotMs: number; wallMs: Num }
export interface DriverGap { fromMs: number; toMs: number; bucket: string; sub: Text; executionId: Num; jobBefore: Num; jobAfter: Num }
export interface Account {
  beginMs: number; endMs: number; wallMs: number; jobsMs: number; slotPeak: number; frameMs: number; allocatedMs: number; overlapMs: number; completeness: number;
  clockFaults: number; buckets: Bucket[]; gaps?: DriverGap[];
  holders?: { stages: StageHolder[]; jobs: JobHolder[]; gaps: DriverGap[] };
}
export interface Holder { name: Text; slotMs: number; allSlotMs: number }
export interface StageHolder extends Holder { stageId: number; attempt: number }
export interface JobHolder extends Holder { jobId: number }
// -- apps/{ref}/timeline: the run, or a part of it, over time; epoch ms
export interface SlotStep { fromMs: number; alive: number; busy: number }
export interface TimelineGap { fromMs: number; toMs: number; bucket: string; sub: Text; jobBefore: Num; jobAfter: Num; name: Text }
export interface TimelineExecutor { executorId: string; addMs: Num; removeMs: Num; removeReason: Text; lost: boolean }
export interface TimelineJob {
  jobId: number; name: Text; description: Text; fromMs: number; toMs: Num; sqlExecutionId: Num; numStages: number; skippedStages: number; onPathMs: Num; failed: boolean;
}
export interface TimelineStage {
  stageId: number; attempt: number; jobId: Num; name: Text; fromMs: Num; toMs: Num; numTasks: Num; failedTasks: number; onPathMs: Num; slackMs: Num;
  lastTaskId: Num; lastTaskFromMs: Num; lastTaskToMs: Num; lastTaskSlow: boolean; failed: boolean;
}
export interface Timeline {
  beginMs: number; endMs: number; slotPeak: number; fromMs: number; toMs: number; slots: SlotStep[]; gapCount: number; gaps: TimelineGap[]; executorCount: number;
  executors: TimelineExecutor[]; jobCount: number; jobs: TimelineJob[]; stageCount: number; stages: TimelineStage[];
  density: { partMs: number; running: number[]; failed: number[] } | null;
}

// -- apps/{ref}/chain
export interface ChainSegment {
  fromMs: number; toMs: number;
  label: "startup" | "gap" | "shutdown" | "job_tail" | "stage_lag" | "task" | "queue" | "wait_exec" | "launch_lag" | "behind" | "overlap" | "short";
  gap: Text; jobId: Num; stageId: Num; stageAttempt: Num; behindStageId: Num; behindStageAttempt: Num; taskId: Num;
}
export interface Chain { segments: ChainSegment[] }
// -- apps/{ref}/what-ifs
export interface WhatIf { scenario: string; subject: string; wallMs: number; lowMs: number; highMs: number }
export interface WhatIfs {
  wallMs: number; simulatedMs: Num; simulationError: Num; boundInfiniteMs: Num; boundWorkMs: Num; whatIfs: WhatIf[];
  executors?: WhatIf | null;
}
// -- apps/{ref}/stages/{id}.{attempt}/analysis
export interface Cause { cause: string; name: Text; ms: Num }
export interface Distribution {
  name: string; taskCount: number; sum: number; min: number; p25: number; p50: number; p75: number; p95: number; p99: number; max: number; mean: number; sigma: number; ratio: number;
}
export interface StageAnalysis {
  verdict: string; verdictName: Text; cause: Text; causeName: Text; causes: Cause[]; completeness: Num; slots: number; winnerCount: number; lostCount: number; onPathMs: number;
  baseMs: Num; recCapMs: Num; recSpreadMs: Num; gcShare: Num; eta2: Num; causeShare: Num; outlierCount: number; outlierCutMs: Num;
  distributions: Distribution[]; window: Bucket[]; cost: Bucket[];
}
// -- apps/{ref}/tasks/{id}/why
export interface Why {
  taskId: number; stageId: number; stageAttempt: number; durationMs: Num; medianMs: Num; excessMs: Num; cause: Text; causeShare: Num; retried: boolean; causes: Cause[]; sentence: string;
  /** Sum to durationMs and medianMs; empty where there is nothing to compare. */
  parts: { bucket: string; name: Text; ms: number; typicalMs: number }[];
}
// -- apps/{ref}/baseline, compare
export interface Noise { count: number; median: Num; mad: Num; sigma: Num; allowed: Num; z: Num; changed?: boolean }
export interface BaselineMember { key: string; startMs: number; wallMs: number; isReference: boolean }
export interface BaselineMetric { metric: string; name: string; unit: string; value: Num; usual: Noise | null }
export interface Baseline {
  enough: boolean; wallMs: number; usualMs: Num; regressionGrade: FindingGrade; runKey: Text; needed: number; drifts: boolean; otherShape: boolean; slowerThan: number;
  members: BaselineMember[]; metrics: BaselineMetric[];
}
/** One of the two runs; completeness of its log 0 to 100; endAtLeast: that has no end, so the run took wallMs or more. */
export interface ComparedRun { id: Text; attemptId: Text; name: Text; sparkVersion: Text; startMs: number; wallMs: number; endAtLeast: boolean; completeness: number; slotPeak: number }
/** ms above 0: slower for it. baseId, newId: where most of it is, by idKind. noiseMs: so much runs of the job differ in it anyway. */
export interface ComparedPart {
  part: string; ms: number; text: string; gap: Text; change: Text; what: Text; idKind: "stage" | "sql" | null; baseId: Num; newId: Num; before: Num; after: Num; unit: string;
  count: number; noiseMs: number; withinNoise: boolean; settings: string[];
}
export interface ComparedSetting { name: string; group: "resources" | "sql" | "shuffle" | "memory" | "other"; base: Text; new: Text }
export interface ComparedFinding {
  news: "new" | "gone" | "worse" | "better" | "same"; rule: string; name: string; subjectKind: SubjectKind; baseSubject: Text; newSubject: Text; baseGrade: Text; newGrade: Text;
  basePriceMs: Num; newPriceMs: Num;
}
export interface ComparedStage { id: number; name: Text; of: "wall" | "work"; usualMs: number; ms: number }
export interface ComparedMetric { metric: string; unit: string; name: string; base: Num; new: Num; usual: Noise | null }
/** What is below regressionGrade is there when state is done. baseline null: one chosen run. */
export interface Comparison {
  state: "done" | "incomplete" | "too_few"; verdict: "no_change" | "slower" | "faster" | null; sentence: string; base: ComparedRun | null; new: ComparedRun;
  baseline: Pick<Baseline, "runKey" | "needed" | "drifts" | "otherShape" | "slowerThan" | "members"> | null; usualMs: Num; deltaMs: Num; wall: Noise; regressionGrade: FindingGrade;
  matchedShare?: number; codeChanged?: boolean; partlyKnown?: boolean; parts?: ComparedPart[]; settings?: ComparedSetting[]; hiddenSettingCount?: number; findings?: ComparedFinding[];
  stages?: ComparedStage[]; metrics?: ComparedMetric[];
}
// -- compare/stages, compare/queries: a stage, or a query, of both runs or of one. Of stages the counts, of queries planChanged.
export interface PairItem {
  state: "both" | "added" | "removed"; baseId: Num; newId: Num; name: Text; baseMs: Num; newMs: Num; differenceMs: Num; changed: boolean; planChanged?: boolean | null;
  baseTaskTimeMs?: Num; baseTaskCount?: Num; baseReadBytes?: Num; baseSqlExecutionId?: Num; newTaskTimeMs?: Num; newTaskCount?: Num; newReadBytes?: Num; newSqlExecutionId?: Num;
}
