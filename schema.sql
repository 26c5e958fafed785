-- SPDX-License-Identifier: Apache-2.0
--
-- The contract between the parts of Afterglow: what ingest writes, analysis judges and server reads. Two databases, two parts:
-- STORE/catalog.db knows every log and every run; STORE/apps/<key>.db holds one application attempt.
--
-- Everywhere: NULL means that the log does not say, never 0. …_ms is an epoch time or a duration in milliseconds (the comment says which
-- where the name does not), …_ns nanoseconds, …_bytes bytes, everything else a count or an id. Times are those of the driver's clock, UTC.
-- Enumerations are small integers, listed beside their column. Names follow Spark's: a reader of spec/core.md finds each key here.

-- PART: catalog.db
-- Written by ingest only. Can be rebuilt from apps/ and the log directories, but for table pin, which people filled.

-- One row: one place where logs are looked for (a directory; object stores and HDFS come as URIs).
CREATE TABLE place (
    place_id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,            -- absolute path or URI
    name TEXT,                           -- what people call it; NULL: the uri
    last_scan_ms INTEGER,                -- when a scan last ended
    last_scan_duration_ms INTEGER,
    last_error TEXT,                     -- why the last scan failed; NULL: it did not
    failing_since_ms INTEGER,            -- when the first of the scans ended that failed one after the other up to the last; NULL: the last did not fail
    entry_count INTEGER                  -- entries the last scan saw
) STRICT;

-- One row: one log, or an entry that is none and why. Rows stay when the log goes ('gone'), so that a run is never forgotten.
CREATE TABLE log (
    log_id INTEGER PRIMARY KEY,
    place_id INTEGER REFERENCES place,   -- NULL: named on a command line
    path TEXT NOT NULL UNIQUE,           -- absolute path or URI of the file or directory
    layout INTEGER NOT NULL,             -- 0 single file, 1 rolling directory, 2 legacy directory (1.0-1.2), 3 Databricks parts, 4 zip; spec/files.md 1
    finished_name INTEGER NOT NULL,      -- 1: the name or the appstatus marker says that the application ended
    bytes INTEGER NOT NULL,              -- stored size, all files
    modified_ms INTEGER NOT NULL,        -- newest file
    fingerprint TEXT NOT NULL,           -- device, inode, size, time of each file, in short: unchanged means nothing to do
    state TEXT NOT NULL,                 -- waiting | loading | loaded | partial | listed (its run is loaded when somebody opens it) | failed | skipped | gone
    reason TEXT,                         -- one line: why failed, partial or skipped
    flags TEXT NOT NULL DEFAULT '',      -- blank-separated: cut lines gap name empty unreadable not-a-log notice abandoned (no end, and it did not grow for long)
    app_key TEXT,                        -- the run it holds, once known
    first_seen_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,         -- when this row last changed
    grown_ms INTEGER,                    -- when its size was last seen to change; NULL: not since it was first seen
    removing_ms INTEGER,                 -- when the cleaner began to delete it, and has not ended; NULL: it did not. Such a log is gone, whatever is still there of it
    wanted_ms INTEGER,                   -- when somebody last opened it before it was loaded: goes first
    tries INTEGER NOT NULL DEFAULT 0,    -- loads that killed the worker; set aside after the second
    read_bytes INTEGER,                  -- progress of the running load, stored bytes
    line_count INTEGER, bad_line_count INTEGER, task_count INTEGER, load_ms INTEGER
) STRICT;
CREATE INDEX log_by_state ON log (state);
CREATE INDEX log_by_app ON log (app_key, state);

-- One row: one application attempt, from the head and tail of its log at first and from the whole log once loaded.
CREATE TABLE app (
    app_key TEXT PRIMARY KEY,            -- file name below apps/ without .db; begins with ~ where somebody added the log (DB_ADDED_MARK in base/db.h)
    app_id TEXT NOT NULL,                -- as in the record, not as in the file name
    attempt_id TEXT,                     -- NULL: the attempt has no id
    name TEXT, user TEXT, spark_version TEXT,
    vendor_version INTEGER NOT NULL DEFAULT 0,   -- as application.vendor_version
    queue TEXT,                          -- spark.yarn.queue
    start_ms INTEGER, end_ms INTEGER,    -- epoch; end NULL: no end was read
    start_inferred INTEGER NOT NULL DEFAULT 0,   -- 1: its ApplicationStart has no time (or -1); start_ms is the log's earliest time
    exit_code INTEGER,                   -- of ApplicationEnd (4.0)
    last_event_ms INTEGER,               -- latest time in the log
    complete INTEGER NOT NULL,           -- 1: an ApplicationEnd record was read
    log_id INTEGER NOT NULL REFERENCES log,   -- the log it comes from (several copies: complete, then larger, then newer)
    loaded INTEGER NOT NULL,             -- 1: apps/<app_key>.db is there and whole
    generation INTEGER NOT NULL,         -- grows with every load; part of ETags; 0: it never was loaded. Not loaded and above 0: put away to make room, what the load told stays
    view_users TEXT, view_groups TEXT,   -- who else may see it: spark.ui.view.acls and spark.admin.acls, their .groups, comma-separated, as logged; NULL: the log names nobody
    -- The rest is NULL until loaded.
    outcome TEXT,                        -- succeeded | failed | unknown (no job ended, or no end): from jobs and exit code
    duration_ms INTEGER,                 -- end (or last event) - start
    job_count INTEGER, failed_job_count INTEGER, stage_count INTEGER, failed_stage_count INTEGER,
    task_count INTEGER, failed_task_count INTEGER, executor_count INTEGER, lost_executor_count INTEGER,
    task_time_ms INTEGER,                -- sum of task durations
    gc_time_ms INTEGER,                  -- sum of JVM GC time of tasks
    input_bytes INTEGER, output_bytes INTEGER, shuffle_read_bytes INTEGER, shuffle_write_bytes INTEGER, disk_spill_bytes INTEGER,
    skew_grade INTEGER, gc_grade INTEGER -- worst of what was found about uneven tasks, and about collections: 0 nothing to 4 severe; NULL: not judged
) STRICT;
CREATE INDEX app_by_id ON app (app_id);
CREATE INDEX app_by_log ON app (log_id);
CREATE INDEX app_without_end ON app (log_id) WHERE complete = 0;

-- One row: a run that somebody opened, and when last. Beside app, whose changes make lists anew.
CREATE TABLE run_use (
    app_key TEXT PRIMARY KEY,
    opened_ms INTEGER NOT NULL
) STRICT;

-- One row: a run that changed, or its log's state, flags or place, and when last: readers that hold the list in memory read again what has a number above the newest they know.
-- Kept by the triggers below, whoever writes. A run that is not in app any more was deleted.
CREATE TABLE app_change (
    change_no INTEGER PRIMARY KEY AUTOINCREMENT,   -- grows with every change, never comes back
    app_rowid INTEGER NOT NULL UNIQUE              -- rowid of app
) STRICT;
CREATE TRIGGER app_inserted AFTER INSERT ON app BEGIN
    DELETE FROM app_change WHERE app_rowid = new.rowid;
    INSERT INTO app_change (app_rowid) VALUES (new.rowid);
END;
CREATE TRIGGER app_updated AFTER UPDATE ON app BEGIN
    DELETE FROM app_change WHERE app_rowid = new.rowid;
    INSERT INTO app_change (app_rowid) VALUES (new.rowid);
END;
CREATE TRIGGER app_deleted AFTER DELETE ON app BEGIN
    DELETE FROM app_change WHERE app_rowid = old.rowid;
    INSERT INTO app_change (app_rowid) VALUES (old.rowid);
END;
CREATE TRIGGER log_updated AFTER UPDATE OF state, flags, place_id ON log
WHEN old.state <> new.state OR old.flags <> new.flags OR old.place_id IS NOT new.place_id BEGIN
    DELETE FROM app_change WHERE app_rowid IN (SELECT rowid FROM app WHERE log_id = new.log_id);
    INSERT INTO app_change (app_rowid) SELECT rowid FROM app WHERE log_id = new.log_id;
END;

-- The only row: which state of runs, logs and names of places this is. A random number, another one with every change, so that no two states, of this catalogue or of another
-- one, are taken for each other: the tag of what lists tell.
CREATE TABLE list_state (tag INTEGER NOT NULL) STRICT;
INSERT INTO list_state VALUES (random());
CREATE TRIGGER list_app_inserted AFTER INSERT ON app BEGIN UPDATE list_state SET tag = random(); END;
CREATE TRIGGER list_app_updated AFTER UPDATE ON app BEGIN UPDATE list_state SET tag = random(); END;
CREATE TRIGGER list_app_deleted AFTER DELETE ON app BEGIN UPDATE list_state SET tag = random(); END;
CREATE TRIGGER list_log_inserted AFTER INSERT ON log BEGIN UPDATE list_state SET tag = random(); END;
CREATE TRIGGER list_log_updated AFTER UPDATE ON log BEGIN UPDATE list_state SET tag = random(); END;
CREATE TRIGGER list_log_deleted AFTER DELETE ON log BEGIN UPDATE list_state SET tag = random(); END;
CREATE TRIGGER list_place_renamed AFTER UPDATE ON place WHEN old.uri <> new.uri OR old.name IS NOT new.name BEGIN
    UPDATE list_state SET tag = random();
    DELETE FROM app_change WHERE app_rowid IN (SELECT a.rowid FROM app a JOIN log l ON l.log_id = a.log_id WHERE l.place_id = new.place_id);
    INSERT INTO app_change (app_rowid) SELECT a.rowid FROM app a JOIN log l ON l.log_id = a.log_id WHERE l.place_id = new.place_id;
END;

-- One row: a loaded run that was judged, as the history of its job needs it (spec/findings.md 9.1): what is in its own file, copied here when a load or an analysis ends, so that
-- the earlier runs of a job are found among all runs without opening their files.
CREATE TABLE run_history (
    app_key TEXT PRIMARY KEY,
    run_key TEXT,                        -- which job it is a run of, as run_identity.run_key; NULL: it cannot be told
    begin_ms INTEGER NOT NULL,           -- epoch
    wall_ms INTEGER NOT NULL,
    completeness INTEGER NOT NULL,       -- C, 0 … 100
    eligible INTEGER NOT NULL,           -- 1: later runs may be measured against it: it ended, its last job did not fail, C is 95 or more, and nobody excluded it
    shape BLOB NOT NULL                  -- as run_identity.shape
) STRICT;
CREATE INDEX run_history_by_key ON run_history (run_key, begin_ms);

-- One row: a loaded run that was judged, as lists of runs show it: made of what is in its own file with the default thresholds, when a load or an analysis ends. Of runs that a new
-- catalogue took from apps/ it is made in the background. A run without one was not judged.
CREATE TABLE run_summary (
    app_key TEXT PRIMARY KEY,
    grade INTEGER NOT NULL,              -- worst of the findings that show: 0 ok (none does), 1 info, 2 low, 3 moderate, 4 severe
    completeness INTEGER NOT NULL,       -- as analysis.completeness
    saving_ms INTEGER,                   -- of the dearest findings together, as joint_price; NULL: none is priced
    busy_share REAL,                     -- slot time in which a task ran, of what was allocated; NULL: there was none
    rules TEXT NOT NULL,                 -- ids of the rules that show, blank-separated, the most important first
    costs TEXT NOT NULL,                 -- the first three of them that cost something: blank-separated RULE:MS, MS empty where it has no price
    verdict_en TEXT NOT NULL, verdict_zh TEXT NOT NULL   -- what a page says first (analysis/verdict.h)
) STRICT;

CREATE TRIGGER app_judgement_deleted AFTER DELETE ON app BEGIN
    DELETE FROM run_history WHERE app_key = old.app_key;
    DELETE FROM run_summary WHERE app_key = old.app_key;
    DELETE FROM run_use WHERE app_key = old.app_key;
END;

-- One row: a view of a run that somebody pinned; /p/{token} leads there. What it shows is in the run's own file: the row stays as long as the catalogue, also when the log has gone.
CREATE TABLE pin (
    token TEXT PRIMARY KEY,              -- drawn by the server, letters and digits
    app_key TEXT NOT NULL,
    address TEXT NOT NULL,               -- what follows /a/{run} in the address of the page, encoded as there: "/stages/3.0?task=211"; empty: the overview
    pinned_ms INTEGER NOT NULL,
    author TEXT,                         -- NULL: nobody was named
    generation INTEGER NOT NULL,         -- of the run (table app)
    analysis_version INTEGER             -- of the rules that judged it (table analysis of its file); NULL: it was not judged yet
) STRICT;
CREATE INDEX pin_by_view ON pin (app_key, address);

-- PART: apps/<key>.db
-- One file: one attempt of one application. A finished file never changes.

-- One row: how this file was made.
CREATE TABLE load (
    app_key TEXT NOT NULL,
    generation INTEGER NOT NULL,         -- as in the catalogue
    state TEXT NOT NULL,                 -- loading | done
    program_version TEXT NOT NULL,
    log_path TEXT NOT NULL,
    layout INTEGER NOT NULL,             -- as log.layout
    finished_name INTEGER NOT NULL,
    log_modified_ms INTEGER,
    stored_bytes INTEGER, read_bytes INTEGER,   -- of the log as stored; read_bytes grows while loading
    text_bytes INTEGER,                  -- decompressed bytes read
    line_count INTEGER,
    started_ms INTEGER NOT NULL, ended_ms INTEGER   -- our clock
) STRICT;

-- One row: one file of the log, in reading order.
CREATE TABLE log_file (
    file_no INTEGER PRIMARY KEY,         -- from 1
    name TEXT NOT NULL,
    roll_index INTEGER,                  -- N of events_N_…; NULL for a single file
    compact INTEGER NOT NULL,            -- 1: events before it were thinned out by a History Server
    codec TEXT NOT NULL,                 -- none zstd lz4 snappy lzf gzip: by content
    stored_bytes INTEGER, text_bytes INTEGER,
    line_count INTEGER,                  -- with an unterminated last one, which load.line_count leaves out while the log may go on
    problem TEXT                         -- NULL: read to its end
) STRICT;

-- One row: how far this log can be trusted. Counts are of what the log lacks or repeats.
CREATE TABLE log_health (
    complete INTEGER NOT NULL,           -- an ApplicationEnd record was read
    flags TEXT NOT NULL,                 -- as log.flags
    bad_line_count INTEGER NOT NULL,     -- lines that could not be used
    cut INTEGER NOT NULL,                -- 1: the input ends in the middle of a line or frame
    missing_files TEXT,                  -- blank-separated roll indices
    compacted INTEGER NOT NULL,
    no_log_start INTEGER NOT NULL, no_application_start INTEGER NOT NULL, no_environment INTEGER NOT NULL,
    repeated_application_start_count INTEGER NOT NULL,
    jobs_without_end INTEGER NOT NULL, stages_without_end INTEGER NOT NULL, tasks_without_end INTEGER NOT NULL,
    jobs_without_start INTEGER NOT NULL, stages_without_start INTEGER NOT NULL, tasks_without_start INTEGER NOT NULL,
    duplicate_event_count INTEGER NOT NULL,      -- the same end or start read again; counted once in all totals
    unknown_event_count INTEGER NOT NULL,        -- events of classes that are not read here
    out_of_range_number_count INTEGER NOT NULL,  -- numbers beyond 64 bits or impossible (negative sizes); stored as NULL
    clock_step_count INTEGER NOT NULL,           -- ends before their begins
    repaired_text_count INTEGER NOT NULL         -- texts that were not valid UTF-8
) STRICT;

-- One row: one sampled problem (the first 50), for people to look at.
CREATE TABLE log_problem (
    problem_no INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,                  -- line | frame | file | number | event
    file_no INTEGER, line_no INTEGER,    -- line in that file, from 1
    text_offset INTEGER,                 -- decompressed byte offset in that file
    reason TEXT NOT NULL,
    sample TEXT                          -- first bytes of the line, repaired to UTF-8
) STRICT;

-- One row: how often an event name occurred.
CREATE TABLE event_count (
    event TEXT PRIMARY KEY,
    seen INTEGER NOT NULL,
    handled INTEGER NOT NULL             -- 1: Afterglow reads it
) STRICT;

-- One row: the application attempt.
CREATE TABLE application (
    app_id TEXT NOT NULL,                -- from the record; from the file name where the record is missing
    attempt_id TEXT, name TEXT, user TEXT, spark_version TEXT,
    vendor_version INTEGER NOT NULL DEFAULT 0,       -- 1: spark_version is that of a vendor's own first record (Databricks); there was no SparkListenerLogStart
    start_ms INTEGER, end_ms INTEGER,    -- epoch, as logged
    exit_code INTEGER,                   -- (4.0)
    first_event_ms INTEGER, last_event_ms INTEGER,    -- earliest and latest sound time in the log
    view_acls TEXT, view_acls_groups TEXT, admin_acls TEXT, admin_acls_groups TEXT   -- of the first EnvironmentUpdate, as logged
) STRICT;

-- One row: one long or repeated text, stored once (failure texts, stage call stacks, kill reasons).
CREATE TABLE text (
    text_id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

-- One row: one entry of the last EnvironmentUpdate, in the order of the log. Secrets are replaced before they get here.
CREATE TABLE environment (
    section INTEGER NOT NULL,            -- 0 JVM information, 1 Spark, 2 Hadoop, 3 system, 4 metrics properties, 5 class path (name = path, value = source)
    name TEXT NOT NULL, value TEXT,
    PRIMARY KEY (section, name)
) STRICT, WITHOUT ROWID;

-- One row: one request of a resource profile (3.1).
CREATE TABLE resource_request (
    profile_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,               -- 0 executor, 1 task
    name TEXT NOT NULL,                  -- cores memory memoryOverhead … (MiB for memory), cpus …
    ordinal INTEGER NOT NULL,            -- order in the log
    amount REAL NOT NULL,
    resource_name TEXT, discovery_script TEXT, vendor TEXT,
    PRIMARY KEY (profile_id, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE resource_profile (profile_id INTEGER PRIMARY KEY) STRICT;

-- One row: one other process (MiscellaneousProcessAdded, 3.2), for example a YARN application master.
CREATE TABLE process (
    process_id TEXT PRIMARY KEY,
    add_ms INTEGER, host_port TEXT, total_cores INTEGER
) STRICT;

-- One row: one name and value that belongs to an executor, a process or the driver.
CREATE TABLE owner_map (
    owner_kind INTEGER NOT NULL,         -- 0 executor (owner = executor_ref), 1 process (owner = rowid of process), 2 driver of ApplicationStart (owner 0)
    owner INTEGER NOT NULL,
    map INTEGER NOT NULL,                -- 0 log URLs, 1 attributes, 2 resources (value: JSON array of addresses)
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL, value TEXT,
    PRIMARY KEY (owner_kind, owner, map, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: one host name.
CREATE TABLE host (
    host_ref INTEGER PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;

-- One row: one life of an executor; an id that comes back after its removal is a new row. 'driver' is one of them. Executors that only tasks speak of
-- have a row too (announced 0).
CREATE TABLE executor (
    executor_ref INTEGER PRIMARY KEY,
    executor_id TEXT NOT NULL,
    announced INTEGER NOT NULL,          -- 1: ExecutorAdded or BlockManagerAdded was read
    superseded INTEGER NOT NULL,         -- 1: a later row has the same id
    host TEXT, host_port TEXT,
    add_ms INTEGER, remove_ms INTEGER, remove_reason TEXT,
    active INTEGER NOT NULL,             -- 0: removed
    total_cores INTEGER, max_tasks INTEGER, resource_profile_id INTEGER,
    max_memory_bytes INTEGER, max_on_heap_memory_bytes INTEGER, max_off_heap_memory_bytes INTEGER,
    request_ms INTEGER, registration_ms INTEGER,         -- (3.4)
    -- While it lived, as the History Server counts (spec/core.md 2.3)
    active_tasks INTEGER NOT NULL, failed_tasks INTEGER NOT NULL, completed_tasks INTEGER NOT NULL, total_tasks INTEGER NOT NULL,
    total_duration_ms INTEGER NOT NULL, total_gc_time_ms INTEGER NOT NULL,
    total_input_bytes INTEGER NOT NULL, total_shuffle_read_bytes INTEGER NOT NULL, total_shuffle_write_bytes INTEGER NOT NULL,
    -- Over all its tasks, whenever their ends were read
    task_count INTEGER NOT NULL, failed_task_count INTEGER NOT NULL, killed_task_count INTEGER NOT NULL, task_time_ms INTEGER NOT NULL, gc_time_ms INTEGER,
    -- and what those did, with what running ones have reported; NULL: none said
    task_run_time_ms INTEGER, task_cpu_time_ns INTEGER, task_deserialize_time_ms INTEGER, task_result_serialization_time_ms INTEGER, task_fetch_wait_time_ms INTEGER,
    task_shuffle_write_time_ns INTEGER, task_shuffle_remote_read_bytes INTEGER, task_disk_spilled_bytes INTEGER,
    -- Storage at the end; NULL without block updates in the log (spark.eventLog.logBlockUpdates.enabled)
    rdd_blocks INTEGER, memory_used_bytes INTEGER, disk_used_bytes INTEGER, on_heap_used_bytes INTEGER, off_heap_used_bytes INTEGER,
    is_excluded INTEGER NOT NULL,
    excluded_in_stages TEXT NOT NULL,    -- blank-separated stage ids, ascending
    peaks_set INTEGER NOT NULL,          -- 1: peak_* were updated at least once (spec/core.md 1.8)
    peak_jvm_heap_memory_bytes INTEGER,
    peak_jvm_off_heap_memory_bytes INTEGER,
    peak_on_heap_execution_memory_bytes INTEGER,
    peak_off_heap_execution_memory_bytes INTEGER,
    peak_on_heap_storage_memory_bytes INTEGER,
    peak_off_heap_storage_memory_bytes INTEGER,
    peak_on_heap_unified_memory_bytes INTEGER,
    peak_off_heap_unified_memory_bytes INTEGER,
    peak_direct_pool_memory_bytes INTEGER,
    peak_mapped_pool_memory_bytes INTEGER,
    peak_process_tree_jvm_v_memory_bytes INTEGER,
    peak_process_tree_jvm_rss_memory_bytes INTEGER,
    peak_process_tree_python_v_memory_bytes INTEGER,
    peak_process_tree_python_rss_memory_bytes INTEGER,
    peak_process_tree_other_v_memory_bytes INTEGER,
    peak_process_tree_other_rss_memory_bytes INTEGER,
    peak_minor_gc_count INTEGER,
    peak_minor_gc_time_ms INTEGER,
    peak_major_gc_count INTEGER,
    peak_major_gc_time_ms INTEGER,
    peak_total_gc_time_ms INTEGER,
    peak_concurrent_gc_count INTEGER,
    peak_concurrent_gc_time_ms INTEGER
) STRICT;
CREATE INDEX executor_by_id ON executor (executor_id);

-- One row: one exclusion (blacklisting) event; both spellings of one fact are one row.
CREATE TABLE exclusion (
    exclusion_no INTEGER PRIMARY KEY,
    time_ms INTEGER,
    lifted INTEGER NOT NULL,             -- 1: the exclusion ends
    executor_id TEXT, host TEXT,         -- one of the two
    stage_id INTEGER, stage_attempt INTEGER,   -- NULL: for the whole application
    failures INTEGER                     -- tasks (executor) or executors (host) that failed
) STRICT;

-- One row: one job.
CREATE TABLE job (
    job_id INTEGER PRIMARY KEY,
    name TEXT, description TEXT, job_group TEXT,
    tags TEXT,                           -- comma-separated, sorted (3.5)
    sql_execution_id INTEGER,
    batch_ms INTEGER, output_op_id INTEGER,      -- of a DStream batch: its time (epoch), which output operation of it
    submission_ms INTEGER, completion_ms INTEGER,
    status INTEGER NOT NULL,             -- 0 no end read (RUNNING there), 1 succeeded, 2 failed
    failure_text_id INTEGER,             -- Job Result.Exception.Message
    start_seen INTEGER NOT NULL,         -- 0: only its end was read
    num_tasks INTEGER,                   -- of stages without a completion time when the job began
    active_tasks INTEGER NOT NULL, completed_tasks INTEGER NOT NULL, skipped_tasks INTEGER NOT NULL, failed_tasks INTEGER NOT NULL, killed_tasks INTEGER NOT NULL,
    completed_indices INTEGER NOT NULL,  -- distinct (stage, index) with a success
    active_stages INTEGER NOT NULL, completed_stages INTEGER NOT NULL, skipped_stages INTEGER NOT NULL, failed_stages INTEGER NOT NULL,
    -- How much of these counts stands in the log behind the job's own end and is missing in what the History Server says of the job (spec/core.md 2.5)
    late_active_tasks INTEGER NOT NULL DEFAULT 0, late_completed_tasks INTEGER NOT NULL DEFAULT 0, late_failed_tasks INTEGER NOT NULL DEFAULT 0,
    late_killed_tasks INTEGER NOT NULL DEFAULT 0, late_completed_indices INTEGER NOT NULL DEFAULT 0,
    late_active_stages INTEGER NOT NULL DEFAULT 0, late_completed_stages INTEGER NOT NULL DEFAULT 0, late_failed_stages INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX job_by_batch ON job (batch_ms) WHERE batch_ms IS NOT NULL;

-- One row: one stage that a job lists, in the order of its Stage Infos.
CREATE TABLE job_stage (
    job_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, stage_id INTEGER NOT NULL,
    skipped INTEGER NOT NULL,            -- 1: skipped for this job, as the History Server counts: also when a later attempt of it ran for the job
    ran INTEGER NOT NULL,                -- 1: an attempt of it ended for this job
    skipped_tasks INTEGER NOT NULL,      -- its part of job.skipped_tasks
    PRIMARY KEY (job_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_stage_by_stage ON job_stage (stage_id);

-- One row: a property of JobStart that differs from the environment.
CREATE TABLE job_property (
    job_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT,
    PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;

-- One row: how many tasks of a job or of a stage attempt were killed for one reason.
CREATE TABLE kill_reason (
    owner_kind INTEGER NOT NULL,         -- 0 job (owner = job_id), 1 stage attempt (owner = stage_ref)
    owner INTEGER NOT NULL,
    reason_text_id INTEGER NOT NULL REFERENCES text,
    task_count INTEGER NOT NULL,
    late_count INTEGER NOT NULL DEFAULT 0,       -- of them, as job.late_killed_tasks; 0 for stages
    PRIMARY KEY (owner_kind, owner, reason_text_id)
) STRICT, WITHOUT ROWID;

-- One row: one attempt of one stage. Sums are over all task ends that were read, each once.
CREATE TABLE stage (
    stage_ref INTEGER PRIMARY KEY,
    stage_id INTEGER NOT NULL, attempt INTEGER NOT NULL,
    name TEXT, details_text_id INTEGER, description TEXT, pool TEXT,
    status INTEGER NOT NULL,             -- 0 pending, 1 active (no end read), 2 complete, 3 failed, 4 skipped
    announced INTEGER NOT NULL,          -- 0: only tasks speak of it
    submitted_seen INTEGER NOT NULL, completed_seen INTEGER NOT NULL,
    num_tasks INTEGER,
    submission_ms INTEGER, completion_ms INTEGER, first_task_launch_ms INTEGER, last_task_finish_ms INTEGER,
    failure_text_id INTEGER,
    resource_profile_id INTEGER, shuffle_push_enabled INTEGER, shuffle_mergers_count INTEGER,
    sql_execution_id INTEGER,            -- of its first job
    active_tasks INTEGER NOT NULL, complete_tasks INTEGER NOT NULL, failed_tasks INTEGER NOT NULL, killed_tasks INTEGER NOT NULL, completed_indices INTEGER NOT NULL,
    speculative_tasks INTEGER NOT NULL, speculative_active INTEGER NOT NULL, speculative_completed INTEGER NOT NULL, speculative_failed INTEGER NOT NULL, speculative_killed INTEGER NOT NULL,
    locality_process INTEGER NOT NULL, locality_node INTEGER NOT NULL, locality_none INTEGER NOT NULL, locality_rack INTEGER NOT NULL, locality_any INTEGER NOT NULL,   -- of TaskStarts
    task_rows INTEGER NOT NULL,          -- rows in task
    ended_tasks INTEGER NOT NULL,        -- of them, with an end
    first_task_seq INTEGER, last_task_seq INTEGER,       -- its rows in task lie between
    task_time_ms INTEGER,                -- sum of durations
    peaks_set INTEGER NOT NULL,
    executor_deserialize_time_ms INTEGER,  -- ms, deserialising the task on the executor
    executor_deserialize_cpu_time_ns INTEGER,  -- ns (2.1)
    executor_run_time_ms INTEGER,  -- ms, inside the task's run method
    executor_cpu_time_ns INTEGER,  -- ns (2.1)
    peak_execution_memory_bytes INTEGER,  -- (3.0 in Task Metrics; before, from the accumulable of that name)
    peak_execution_memory_on_heap_bytes INTEGER,  -- (4.0)
    peak_execution_memory_off_heap_bytes INTEGER,  -- (4.0)
    result_size_bytes INTEGER,
    jvm_gc_time_ms INTEGER,  -- ms
    result_serialization_time_ms INTEGER,  -- ms
    memory_spilled_bytes INTEGER,  -- size in memory of what was spilled
    disk_spilled_bytes INTEGER,  -- size on disk of what was spilled
    input_bytes INTEGER,
    input_records INTEGER,  -- count (1.3)
    output_bytes INTEGER,
    output_records INTEGER,  -- count (1.3)
    shuffle_remote_blocks_fetched INTEGER,  -- count
    shuffle_local_blocks_fetched INTEGER,  -- count
    shuffle_fetch_wait_time_ms INTEGER,  -- ms
    shuffle_remote_read_bytes INTEGER,
    shuffle_remote_read_to_disk_bytes INTEGER,  -- (2.3)
    shuffle_local_read_bytes INTEGER,  -- (1.3.1)
    shuffle_records_read INTEGER,  -- count (1.3)
    shuffle_remote_requests_duration_ms INTEGER,  -- ms (3.4)
    push_corrupt_merged_block_chunks INTEGER,  -- count (3.4), and so all push_*
    push_merged_fetch_fallback_count INTEGER,  -- count
    push_remote_merged_blocks_fetched INTEGER,  -- count
    push_local_merged_blocks_fetched INTEGER,  -- count
    push_remote_merged_chunks_fetched INTEGER,  -- count
    push_local_merged_chunks_fetched INTEGER,  -- count
    push_remote_merged_read_bytes INTEGER,
    push_local_merged_read_bytes INTEGER,
    push_remote_merged_requests_duration_ms INTEGER,  -- ms
    shuffle_write_bytes INTEGER,
    shuffle_write_time_ns INTEGER,  -- ns, as Spark logs it
    shuffle_write_records INTEGER,  -- count (1.3)
    peak_jvm_heap_memory_bytes INTEGER,
    peak_jvm_off_heap_memory_bytes INTEGER,
    peak_on_heap_execution_memory_bytes INTEGER,
    peak_off_heap_execution_memory_bytes INTEGER,
    peak_on_heap_storage_memory_bytes INTEGER,
    peak_off_heap_storage_memory_bytes INTEGER,
    peak_on_heap_unified_memory_bytes INTEGER,
    peak_off_heap_unified_memory_bytes INTEGER,
    peak_direct_pool_memory_bytes INTEGER,
    peak_mapped_pool_memory_bytes INTEGER,
    peak_process_tree_jvm_v_memory_bytes INTEGER,
    peak_process_tree_jvm_rss_memory_bytes INTEGER,
    peak_process_tree_python_v_memory_bytes INTEGER,
    peak_process_tree_python_rss_memory_bytes INTEGER,
    peak_process_tree_other_v_memory_bytes INTEGER,
    peak_process_tree_other_rss_memory_bytes INTEGER,
    peak_minor_gc_count INTEGER,
    peak_minor_gc_time_ms INTEGER,
    peak_major_gc_count INTEGER,
    peak_major_gc_time_ms INTEGER,
    peak_total_gc_time_ms INTEGER,
    peak_concurrent_gc_count INTEGER,
    peak_concurrent_gc_time_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX stage_by_id ON stage (stage_id, attempt);

CREATE TABLE stage_parent (
    stage_id INTEGER NOT NULL, parent_id INTEGER NOT NULL,
    PRIMARY KEY (stage_id, parent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stage_parent_by_parent ON stage_parent (parent_id);

-- One row: one RDD of a stage attempt, in the order of its RDD Info.
CREATE TABLE stage_rdd (
    stage_ref INTEGER NOT NULL, ordinal INTEGER NOT NULL, rdd_id INTEGER NOT NULL,
    cached INTEGER,                      -- 1: it had a storage level when a job described the stage first: what the operation graph shows; NULL: no job did
    PRIMARY KEY (stage_ref, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: one accumulable of a stage attempt's latest Stage Info, in the order of the log. Values are text: they may be numbers or anything.
CREATE TABLE stage_accumulable (
    stage_ref INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    accumulable_id INTEGER NOT NULL, name TEXT, update_text TEXT, value_text TEXT,
    internal INTEGER NOT NULL, metadata TEXT,            -- 'sql' marks SQL metrics
    PRIMARY KEY (stage_ref, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: one task attempt. Rows come in the order in which their ends were read; tasks without an end follow at the end of the log.
CREATE TABLE task (
    task_seq INTEGER PRIMARY KEY,
    stage_ref INTEGER NOT NULL,
    task_id INTEGER NOT NULL, task_index INTEGER, attempt INTEGER, partition_id INTEGER,   -- partition NULL before 3.3
    executor_ref INTEGER, host_ref INTEGER,
    launch_ms INTEGER, finish_ms INTEGER,                -- epoch, as logged; finish NULL: no end read
    getting_result_ms INTEGER,                           -- epoch: when the driver began to fetch the result; NULL: it came with the end
    locality INTEGER,                    -- 0 PROCESS_LOCAL, 1 NODE_LOCAL, 2 NO_PREF, 3 RACK_LOCAL, 4 ANY
    speculative INTEGER,
    status INTEGER NOT NULL,             -- 0 no end read (RUNNING), 1 success, 2 failed, 3 killed, 4 fetching result: from the flags of Task Info
    end_reason INTEGER,                  -- 0 Success, 1 Resubmitted, 2 FetchFailed, 3 ExceptionFailure, 4 TaskResultLost, 5 TaskKilled, 6 TaskCommitDenied, 7 ExecutorLostFailure, 8 UnknownReason, 9 another word
    error_text_id INTEGER REFERENCES text,
    start_seen INTEGER NOT NULL,         -- 1: TaskStart was read
    has_metrics INTEGER NOT NULL,        -- 1: its end had Task Metrics, or it reported some while it ran (then a metric it did not name is NULL)
    executor_deserialize_time_ms INTEGER,  -- ms, deserialising the task on the executor
    executor_deserialize_cpu_time_ns INTEGER,  -- ns (2.1)
    executor_run_time_ms INTEGER,  -- ms, inside the task's run method
    executor_cpu_time_ns INTEGER,  -- ns (2.1)
    peak_execution_memory_bytes INTEGER,  -- (3.0 in Task Metrics; before, from the accumulable of that name)
    peak_execution_memory_on_heap_bytes INTEGER,  -- (4.0)
    peak_execution_memory_off_heap_bytes INTEGER,  -- (4.0)
    result_size_bytes INTEGER,
    jvm_gc_time_ms INTEGER,  -- ms
    result_serialization_time_ms INTEGER,  -- ms
    memory_spilled_bytes INTEGER,  -- size in memory of what was spilled
    disk_spilled_bytes INTEGER,  -- size on disk of what was spilled
    input_bytes INTEGER,
    input_records INTEGER,  -- count (1.3)
    output_bytes INTEGER,
    output_records INTEGER,  -- count (1.3)
    shuffle_remote_blocks_fetched INTEGER,  -- count
    shuffle_local_blocks_fetched INTEGER,  -- count
    shuffle_fetch_wait_time_ms INTEGER,  -- ms
    shuffle_remote_read_bytes INTEGER,
    shuffle_remote_read_to_disk_bytes INTEGER,  -- (2.3)
    shuffle_local_read_bytes INTEGER,  -- (1.3.1)
    shuffle_records_read INTEGER,  -- count (1.3)
    shuffle_remote_requests_duration_ms INTEGER,  -- ms (3.4)
    push_corrupt_merged_block_chunks INTEGER,  -- count (3.4), and so all push_*
    push_merged_fetch_fallback_count INTEGER,  -- count
    push_remote_merged_blocks_fetched INTEGER,  -- count
    push_local_merged_blocks_fetched INTEGER,  -- count
    push_remote_merged_chunks_fetched INTEGER,  -- count
    push_local_merged_chunks_fetched INTEGER,  -- count
    push_remote_merged_read_bytes INTEGER,
    push_local_merged_read_bytes INTEGER,
    push_remote_merged_requests_duration_ms INTEGER,  -- ms
    shuffle_write_bytes INTEGER,
    shuffle_write_time_ns INTEGER,  -- ns, as Spark logs it
    shuffle_write_records INTEGER  -- count (1.3)
) STRICT;

-- The same tasks by column, for sorting, quantiles and charts over a million of them. One row: one column of one chunk (up to 16384 tasks) of one stage
-- attempt; a table with rowids, because half of the pages of blobs of some kilobytes would be empty without. Columns whose values are all unknown in a chunk have no row there. Format of the blob: base/int_column.h. Here, and only here, are also each task's
-- Task Executor Metrics (peak_…, as in table stage): 23 more columns in every row would make loading a third slower, for values that are looked at by stage and executor.
CREATE TABLE task_column (
    stage_ref INTEGER NOT NULL, column_id INTEGER NOT NULL, chunk INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (stage_ref, column_id, chunk)
) STRICT;
CREATE TABLE task_column_name (column_id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;   -- names are those of task's and, for peaks, of stage's columns

-- One row: exact quantiles of one task column over the successful tasks with metrics of a stage attempt: element trunc(q * n), as Spark takes it.
-- Besides task's columns: scheduler_delay_ms, getting_result_time_ms, shuffle_read_bytes (remote + local), shuffle_blocks_fetched.
CREATE TABLE stage_quantile (
    stage_ref INTEGER NOT NULL, name TEXT NOT NULL,
    task_count INTEGER NOT NULL,         -- values that went in; tasks without this value do not
    min INTEGER NOT NULL, p05 INTEGER NOT NULL, p25 INTEGER NOT NULL, p50 INTEGER NOT NULL, p75 INTEGER NOT NULL, p95 INTEGER NOT NULL, p99 INTEGER NOT NULL, max INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (stage_ref, name)
) STRICT, WITHOUT ROWID;

-- One row: one accumulable of a task that people may see (not internal, not an SQL metric), in the order of the log.
CREATE TABLE task_accumulable (
    task_seq INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    accumulable_id INTEGER NOT NULL, name TEXT, update_text TEXT, value_text TEXT,
    PRIMARY KEY (task_seq, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: what one executor did in one stage attempt.
CREATE TABLE executor_stage (
    stage_ref INTEGER NOT NULL, executor_id TEXT NOT NULL,
    task_time_ms INTEGER NOT NULL, failed_tasks INTEGER NOT NULL, succeeded_tasks INTEGER NOT NULL, killed_tasks INTEGER NOT NULL,
    is_excluded INTEGER NOT NULL, peaks_set INTEGER NOT NULL,
    executor_deserialize_time_ms INTEGER,  -- ms, deserialising the task on the executor
    executor_deserialize_cpu_time_ns INTEGER,  -- ns (2.1)
    executor_run_time_ms INTEGER,  -- ms, inside the task's run method
    executor_cpu_time_ns INTEGER,  -- ns (2.1)
    peak_execution_memory_bytes INTEGER,  -- (3.0 in Task Metrics; before, from the accumulable of that name)
    peak_execution_memory_on_heap_bytes INTEGER,  -- (4.0)
    peak_execution_memory_off_heap_bytes INTEGER,  -- (4.0)
    result_size_bytes INTEGER,
    jvm_gc_time_ms INTEGER,  -- ms
    result_serialization_time_ms INTEGER,  -- ms
    memory_spilled_bytes INTEGER,  -- size in memory of what was spilled
    disk_spilled_bytes INTEGER,  -- size on disk of what was spilled
    input_bytes INTEGER,
    input_records INTEGER,  -- count (1.3)
    output_bytes INTEGER,
    output_records INTEGER,  -- count (1.3)
    shuffle_remote_blocks_fetched INTEGER,  -- count
    shuffle_local_blocks_fetched INTEGER,  -- count
    shuffle_fetch_wait_time_ms INTEGER,  -- ms
    shuffle_remote_read_bytes INTEGER,
    shuffle_remote_read_to_disk_bytes INTEGER,  -- (2.3)
    shuffle_local_read_bytes INTEGER,  -- (1.3.1)
    shuffle_records_read INTEGER,  -- count (1.3)
    shuffle_remote_requests_duration_ms INTEGER,  -- ms (3.4)
    push_corrupt_merged_block_chunks INTEGER,  -- count (3.4), and so all push_*
    push_merged_fetch_fallback_count INTEGER,  -- count
    push_remote_merged_blocks_fetched INTEGER,  -- count
    push_local_merged_blocks_fetched INTEGER,  -- count
    push_remote_merged_chunks_fetched INTEGER,  -- count
    push_local_merged_chunks_fetched INTEGER,  -- count
    push_remote_merged_read_bytes INTEGER,
    push_local_merged_read_bytes INTEGER,
    push_remote_merged_requests_duration_ms INTEGER,  -- ms
    shuffle_write_bytes INTEGER,
    shuffle_write_time_ns INTEGER,  -- ns, as Spark logs it
    shuffle_write_records INTEGER,  -- count (1.3)
    peak_jvm_heap_memory_bytes INTEGER,
    peak_jvm_off_heap_memory_bytes INTEGER,
    peak_on_heap_execution_memory_bytes INTEGER,
    peak_off_heap_execution_memory_bytes INTEGER,
    peak_on_heap_storage_memory_bytes INTEGER,
    peak_off_heap_storage_memory_bytes INTEGER,
    peak_on_heap_unified_memory_bytes INTEGER,
    peak_off_heap_unified_memory_bytes INTEGER,
    peak_direct_pool_memory_bytes INTEGER,
    peak_mapped_pool_memory_bytes INTEGER,
    peak_process_tree_jvm_v_memory_bytes INTEGER,
    peak_process_tree_jvm_rss_memory_bytes INTEGER,
    peak_process_tree_python_v_memory_bytes INTEGER,
    peak_process_tree_python_rss_memory_bytes INTEGER,
    peak_process_tree_other_v_memory_bytes INTEGER,
    peak_process_tree_other_rss_memory_bytes INTEGER,
    peak_minor_gc_count INTEGER,
    peak_minor_gc_time_ms INTEGER,
    peak_major_gc_count INTEGER,
    peak_major_gc_time_ms INTEGER,
    peak_total_gc_time_ms INTEGER,
    peak_concurrent_gc_count INTEGER,
    peak_concurrent_gc_time_ms INTEGER,
    PRIMARY KEY (stage_ref, executor_id)
) STRICT, WITHOUT ROWID;

-- One row: one RDD, as last described. With rdd_parent, rdd_scope and stage_rdd this is the RDD operation graph (spec/core.md 2.10).
CREATE TABLE rdd (
    rdd_id INTEGER PRIMARY KEY,
    name TEXT, callsite TEXT,
    scope_id TEXT,                       -- innermost scope; NULL: none
    use_disk INTEGER, use_memory INTEGER, use_off_heap INTEGER, deserialized INTEGER, replication INTEGER,   -- storage level
    num_partitions INTEGER, barrier INTEGER,
    determinism INTEGER,                 -- 0 DETERMINATE, 1 UNORDERED, 2 INDETERMINATE
    tracked INTEGER NOT NULL,            -- 1: a submitted stage had it with a valid storage level, and it was not unpersisted
    unpersisted INTEGER NOT NULL,
    -- As first submitted with a valid level; what the storage page shows. Sizes need logged block updates.
    storage_name TEXT, storage_level TEXT, storage_partitions INTEGER, memory_used_bytes INTEGER, disk_used_bytes INTEGER,
    -- Over the whole log, for the cache audit. UnpersistRDD and block updates have no time of their own: the latest one in the log before them stands for it.
    unpersist_ms INTEGER,                -- of the last time; NULL: it was not unpersisted
    most_partitions INTEGER,             -- cached at the same time, at most; this and the rest: NULL without logged block updates
    evicted_partitions INTEGER,          -- that left while the RDD was persisted and their executor lived; one that comes back and leaves again counts twice
    most_memory_bytes INTEGER, most_disk_bytes INTEGER,
    held_byte_ms REAL,                   -- Σ bytes × time up to held_to_ms; what it holds from there to the end is not in it
    held_to_ms INTEGER
) STRICT;
CREATE TABLE rdd_parent (
    rdd_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, parent_id INTEGER NOT NULL,
    PRIMARY KEY (rdd_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE rdd_scope (
    scope_id TEXT PRIMARY KEY,
    name TEXT, parent_scope_id TEXT
) STRICT, WITHOUT ROWID;

-- One row: one cached partition at the end of the log, in order of creation.
CREATE TABLE rdd_partition (
    rdd_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    block_name TEXT NOT NULL, storage_level TEXT, memory_used_bytes INTEGER, disk_used_bytes INTEGER,
    executors TEXT NOT NULL,             -- blank-separated executor ids, in order
    PRIMARY KEY (rdd_id, ordinal)
) STRICT, WITHOUT ROWID;
-- One row: what one executor held of one RDD.
CREATE TABLE rdd_distribution (
    rdd_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    executor_id TEXT NOT NULL, address TEXT,
    memory_used_bytes INTEGER, memory_remaining_bytes INTEGER, disk_used_bytes INTEGER,
    on_heap_used_bytes INTEGER, off_heap_used_bytes INTEGER, on_heap_remaining_bytes INTEGER, off_heap_remaining_bytes INTEGER,
    PRIMARY KEY (rdd_id, ordinal)
) STRICT, WITHOUT ROWID;
-- One row: one receiver block on one executor.
CREATE TABLE stream_block (
    block_name TEXT NOT NULL, executor_id TEXT NOT NULL,
    host_port TEXT, storage_level TEXT, use_memory INTEGER, use_disk INTEGER, deserialized INTEGER, memory_used_bytes INTEGER, disk_used_bytes INTEGER,
    PRIMARY KEY (block_name, executor_id)
) STRICT, WITHOUT ROWID;

-- One row: one SQL execution (spec/sql.md 4). Which jobs ran for it: job.sql_execution_id. Of one that only its end tells of (no start, no job, no plan) the History Server knows nothing.
CREATE TABLE sql_execution (
    execution_id INTEGER PRIMARY KEY,
    root_execution_id INTEGER,           -- its own id for a root, and where the log names none (before 3.4); NULL: no start was read
    description TEXT,
    details_text_id INTEGER REFERENCES text,     -- call stack
    job_group TEXT,                      -- (4.0)
    job_tags TEXT,                       -- comma-separated, sorted (3.5)
    query_id TEXT,                       -- (4.2)
    submission_ms INTEGER, completion_ms INTEGER,
    outcome INTEGER,                     -- SQLExecutionEnd.errorMessage: 0 empty, it succeeded; 1 it failed; NULL: not said (no end read, or before 3.4)
    error_text_id INTEGER REFERENCES text,
    status INTEGER NOT NULL,             -- 0 no end read (RUNNING there), 1 completed, 2 failed: from outcome, else from its jobs (spec/sql.md 4.3)
    start_seen INTEGER NOT NULL, end_seen INTEGER NOT NULL,
    plan_id INTEGER                      -- its latest plan; NULL: none was logged
) STRICT;
CREATE INDEX job_by_sql ON job (sql_execution_id);
CREATE INDEX sql_execution_by_group ON sql_execution (job_group) WHERE job_group IS NOT NULL;
-- Sub-executions below their roots; one without a start belongs to 0 there, as in the History Server.
CREATE INDEX sql_execution_by_root ON sql_execution (coalesce(root_execution_id, 0)) WHERE coalesce(root_execution_id, 0) <> execution_id;

-- One row: one setting that the session had changed when the execution began (3.3). Secrets are replaced before they get here.
CREATE TABLE sql_config (
    execution_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT,
    PRIMARY KEY (execution_id, name)
) STRICT, WITHOUT ROWID;

-- One row: one version of an execution's plan: 0 as it began, then one for each adaptive update. All are kept; what is equal is stored once.
CREATE TABLE sql_plan (
    plan_id INTEGER PRIMARY KEY,
    execution_id INTEGER NOT NULL, version INTEGER NOT NULL,
    plan_text_id INTEGER REFERENCES plan_text,   -- physicalPlanDescription; NULL: none
    graph_plan_id INTEGER NOT NULL,      -- whose rows in sql_node, sql_edge hold its graph: its own id, or an earlier version's with the same graph
    final INTEGER NOT NULL,              -- 1: AdaptiveSparkPlan says isFinalPlan=true
    logged_ms INTEGER,                   -- when: adaptive updates have no time of their own, the latest one in the log before them stands for it; version 0: the execution's begin
    too_large INTEGER NOT NULL,          -- 1: it has more than 100,000 nodes and no graph here
    UNIQUE (execution_id, version)
) STRICT;

-- One row: one plan text, as a zstd frame. They are long and repeated at each adaptive update with small changes: where base_id is set, the frame was made with that
-- text (itself without a base) as its prefix (ZSTD_CCtx_refPrefix). base/packed_text.h reads and writes it.
CREATE TABLE plan_text (
    plan_text_id INTEGER PRIMARY KEY,
    base_id INTEGER REFERENCES plan_text,
    text_bytes INTEGER NOT NULL,         -- unpacked
    packed BLOB NOT NULL
) STRICT;

-- One row: one node of a plan graph, numbered and clustered as the History Server does (spec/sql.md 2.2).
CREATE TABLE sql_node (
    plan_id INTEGER NOT NULL, node_id INTEGER NOT NULL,
    is_cluster INTEGER NOT NULL,         -- 1: a WholeStageCodegen that holds other nodes
    cluster_id INTEGER,                  -- node_id of the cluster it is in
    name TEXT NOT NULL,                  -- nodeName as logged
    description_text_id INTEGER REFERENCES text, -- simpleString
    metadata_text_id INTEGER REFERENCES text,    -- of file scans: a JSON object of strings
    accumulator_ids TEXT NOT NULL,       -- its metrics, blank-separated, in the order of the log; each has a row in sql_metric
    PRIMARY KEY (plan_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE sql_edge (
    plan_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, from_id INTEGER NOT NULL, to_id INTEGER NOT NULL,     -- data flows from child to parent
    PRIMARY KEY (plan_id, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: one metric that a plan of the execution announced, summed up over tasks and driver as the History Server does (spec/sql.md 3). Numbers as reported: tenths
-- for average, ns for nsTiming. Values count per task index of a stage attempt, 0 for tasks that reported none. All numbers NULL: nobody reported it.
CREATE TABLE sql_metric (
    execution_id INTEGER NOT NULL, accumulator_id INTEGER NOT NULL,
    name TEXT, metric_type TEXT,         -- sum size timing nsTiming average v2Custom_CLASS, vendors' others
    value_count INTEGER,                 -- values that count for its type: all for sum and v2Custom, those > 0 for average, those ≥ 0 for size, timings and vendors' types
    raw_count INTEGER,                   -- all values
    reported_count INTEGER,              -- tasks and driver updates that did report it, with a value that is none of its unset ones (-1)
    total INTEGER,                       -- over value_count values; 0 where there are none of them
    min INTEGER, median INTEGER, max INTEGER,    -- likewise, NULL where there are none; median: element n/2
    max_stage_id INTEGER, max_stage_attempt INTEGER, max_task_id INTEGER,    -- whose the largest is; NULL: the driver's
    PRIMARY KEY (execution_id, accumulator_id)
) STRICT, WITHOUT ROWID;

-- One row: one run of a structured streaming query (spec/sql.md 7). Its jobs have its run_id as job_group.
CREATE TABLE streaming_query (
    run_ref INTEGER PRIMARY KEY,         -- order of appearance
    run_id TEXT NOT NULL UNIQUE,         -- UUID of this start
    query_id TEXT,                       -- UUID that survives restarts from a checkpoint
    name TEXT,
    job_tags TEXT,                       -- comma-separated (4.1)
    start_ms INTEGER,
    start_seen INTEGER NOT NULL,         -- 0: only progress, idle or end records speak of it
    end_seen INTEGER NOT NULL,           -- 1: it was terminated
    exception_text_id INTEGER REFERENCES text,   -- NULL with end_seen 1: it was stopped
    error_class TEXT,                    -- (3.5)
    idle_count INTEGER NOT NULL, last_idle_ms INTEGER      -- QueryIdleEvents; before 3.5 an idle query logs progress without rows instead
) STRICT;

-- One row: one progress record. All are kept; one of the same run, batch and trigger time replaces the earlier one. Sums are over its sources.
CREATE TABLE streaming_progress (
    run_ref INTEGER NOT NULL,
    progress_no INTEGER NOT NULL,        -- order of the log, over all runs
    batch_id INTEGER,
    trigger_ms INTEGER,                  -- epoch: when the trigger began
    batch_duration_ms INTEGER,           -- (3.1)
    durations TEXT NOT NULL,             -- durationMs: blank-separated phase_id:ms; what is not there did not happen
    input_rows INTEGER,
    input_rows_per_second REAL, processed_rows_per_second REAL,    -- NULL also for NaN and infinity
    event_time_min_ms INTEGER, event_time_max_ms INTEGER, event_time_avg_ms INTEGER,      -- epoch
    watermark_ms INTEGER,                -- epoch
    output_rows INTEGER,                 -- NULL also where the sink could not tell (-1 in the log)
    sink_text_id INTEGER REFERENCES text,
    sink_metrics TEXT,                   -- JSON array of [name, text]; NULL: none (3.4)
    observed_metrics TEXT,               -- observedMetrics as logged, opaque; NULL: none
    PRIMARY KEY (run_ref, progress_no)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX streaming_progress_by_trigger ON streaming_progress (run_ref, trigger_ms, batch_id);

-- One row: one phase of triggers.
CREATE TABLE streaming_phase (
    phase_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE            -- triggerExecution (all of it) addBatch getBatch latestOffset getOffset queryPlanning walCommit commitOffsets runContinuous …
) STRICT;

-- One row: one source in one progress record.
CREATE TABLE streaming_source (
    run_ref INTEGER NOT NULL, progress_no INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,            -- place in the record
    description_text_id INTEGER REFERENCES text,
    start_offset TEXT, end_offset TEXT, latest_offset TEXT,    -- usually JSON
    input_rows INTEGER, input_rows_per_second REAL, processed_rows_per_second REAL,
    metrics TEXT,                        -- JSON array of [name, text]; NULL: none (3.3)
    PRIMARY KEY (run_ref, progress_no, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: one state operator in one progress record. 3.1 wrote rows_total, rows_updated, memory_bytes and rows_dropped alone.
CREATE TABLE streaming_state (
    run_ref INTEGER NOT NULL, progress_no INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    operator TEXT,                       -- stateStoreSave symmetricHashJoin dedupe … (3.2)
    rows_total INTEGER, rows_updated INTEGER, rows_removed INTEGER,
    rows_dropped INTEGER,                -- later than the watermark
    updates_time_ms INTEGER, removals_time_ms INTEGER, commit_time_ms INTEGER,    -- summed over tasks
    memory_bytes INTEGER,
    shuffle_partitions INTEGER, store_instances INTEGER,
    custom_metrics TEXT,                 -- JSON array of [name, number]; NULL: none
    PRIMARY KEY (run_ref, progress_no, ordinal)
) STRICT, WITHOUT ROWID;

-- One row: one session of a Thrift server or of Spark Connect (spec/sql.md 8).
CREATE TABLE server_session (
    session_ref INTEGER PRIMARY KEY,
    server INTEGER NOT NULL,             -- 0 Thrift, 1 Connect
    session_id TEXT NOT NULL, user TEXT,
    ip TEXT,                             -- Thrift alone
    start_ms INTEGER, finish_ms INTEGER,
    start_seen INTEGER NOT NULL, end_seen INTEGER NOT NULL,
    UNIQUE (server, session_id)
) STRICT;

-- One row: one time that a Connect server listened (4.0). An end without its start makes its row too.
CREATE TABLE server_service (
    service_ref INTEGER PRIMARY KEY,     -- order of appearance
    host TEXT, port INTEGER,
    start_ms INTEGER, end_ms INTEGER     -- NULL: not logged
) STRICT;

-- One row: one operation (statement) of a session. Its jobs and SQL executions: those with its job_group (Thrift), those with its operation_key in job_tag or sql_tag (Connect),
-- and the executions of its jobs.
CREATE TABLE server_operation (
    operation_ref INTEGER PRIMARY KEY,
    server INTEGER NOT NULL,             -- as in server_session
    operation_key TEXT NOT NULL,         -- Thrift: operation_id; Connect: job tag
    operation_id TEXT, session_id TEXT, user TEXT,
    job_group TEXT,                      -- Thrift alone
    tags TEXT,                           -- comma-separated tags of the session's user (Connect)
    state INTEGER NOT NULL,              -- highest that was logged: 0 started, 1 compiled, 2 ready, 3 finished, 4 failed, 5 timed out, 6 canceled, 7 closed
    outcome INTEGER,                     -- highest of 3 to 6 that was logged; NULL: none
    start_seen INTEGER NOT NULL,         -- 0: only later records speak of it
    start_ms INTEGER, finish_ms INTEGER, close_ms INTEGER,     -- finish: time of the outcome
    statement_text_id INTEGER REFERENCES text,   -- SQL (Thrift), request as text (Connect)
    plan_text_id INTEGER REFERENCES text,        -- Thrift alone
    error_text_id INTEGER REFERENCES text, trace_text_id INTEGER REFERENCES text,      -- trace: Thrift alone
    produced_rows INTEGER,               -- Connect alone
    UNIQUE (server, operation_key)
) STRICT;
CREATE INDEX server_operation_by_session ON server_operation (server, session_id);

-- One row: one tag of a job that names a Connect operation (SparkConnect_OperationTag_…).
CREATE TABLE job_tag (
    tag TEXT NOT NULL, job_id INTEGER NOT NULL,
    PRIMARY KEY (tag, job_id)
) STRICT, WITHOUT ROWID;
-- One row: one such tag of a SQL execution, which may have no job.
CREATE TABLE sql_tag (
    tag TEXT NOT NULL, execution_id INTEGER NOT NULL,
    PRIMARY KEY (tag, execution_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_by_group ON job (job_group) WHERE job_group IS NOT NULL;

-- ---- What analysis made of it (analysis/): all of this is written anew when it runs again ----

-- One row: the analysis. No row: it has not run.
CREATE TABLE analysis (
    analysis_version INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,        -- how long it took, with the writing of all its tables
    begin_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, end_at_least INTEGER NOT NULL,   -- the interval judged (spec/findings.md 3.1); 1: it may have gone on
    wall_ms INTEGER NOT NULL, jobs_ms INTEGER NOT NULL,      -- its length; length of the union of job intervals
    completeness INTEGER NOT NULL,       -- C of 2.2, 0 … 100
    slot_peak INTEGER NOT NULL, frame_ms INTEGER NOT NULL, allocated_ms INTEGER NOT NULL, overlap_ms INTEGER NOT NULL,   -- slots and slot-ms
    clock_faults INTEGER NOT NULL,
    simulated_ms INTEGER, simulation_error REAL,             -- the run as observed in the simulator; (simulated − wall) ÷ jobs_ms. NULL: not simulated
    bound_infinite_ms INTEGER, bound_work_ms INTEGER,        -- with unlimited slots; all work spread evenly
    prices_allowed INTEGER NOT NULL
) STRICT;

-- One row: one bucket of one time account that is not empty. Integers sum to the account's total (largest remainder). Of jobs and stages those with most work have some: 500 each.
CREATE TABLE account (
    scope INTEGER NOT NULL,              -- 0 application (frame: slot_peak × wall), 1 window of a job, 2 cost of a job, 3 window of a stage attempt, 4 cost of a stage attempt
    owner INTEGER NOT NULL,              -- 0, job_id or stage_ref
    bucket TEXT NOT NULL,
    slot_ms INTEGER NOT NULL, wall_ms INTEGER,               -- wall NULL: this view has none
    PRIMARY KEY (scope, owner, bucket)
) STRICT, WITHOUT ROWID;

-- One row: one time without a running job; the longest 10,000.
CREATE TABLE driver_gap (
    gap_no INTEGER PRIMARY KEY,
    from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL,
    kind TEXT NOT NULL, sub TEXT,        -- bucket; of gap_sql: planning commit between command
    execution_id INTEGER, job_before INTEGER, job_after INTEGER
) STRICT;

-- One row: slots alive and busy from a moment on, until the next row's or the end of the interval; means where there would be more than 2,000 rows (analysis/slot_use.h).
CREATE TABLE slot_use (
    from_ms INTEGER PRIMARY KEY,
    alive REAL NOT NULL, busy REAL NOT NULL
) STRICT;

-- One row: what the tasks of one stage attempt are like and why some were slow (4, 5). Distributions are in
-- stage_distribution, of the 500 stages with most work. NULL: too few tasks, or one of the stages behind the 2,000 with most work: then the verdict is muted.
CREATE TABLE stage_analysis (
    stage_ref INTEGER PRIMARY KEY,
    slots REAL NOT NULL,                 -- S_s
    winner_count INTEGER NOT NULL, lost_count INTEGER NOT NULL,
    completeness REAL,                   -- Cs
    on_path_ms INTEGER NOT NULL,         -- seconds on the critical chain
    base_ms REAL, rec_cap_ms REAL, rec_spread_ms REAL,       -- list schedule as observed; what normal work of the outliers, and the same work spread evenly, would save
    gc_share REAL, eta2 REAL,
    verdict TEXT NOT NULL,               -- of 5.3
    cause TEXT, cause_share REAL,        -- of the outliers
    outlier_count INTEGER NOT NULL, outlier_cut_ms REAL,
    causes TEXT NOT NULL                 -- JSON object: cause → ms over the outliers
) STRICT;
CREATE TABLE stage_distribution (
    stage_ref INTEGER NOT NULL, name TEXT NOT NULL,
    task_count INTEGER NOT NULL, sum REAL NOT NULL, min REAL NOT NULL, p25 REAL NOT NULL, p50 REAL NOT NULL, p75 REAL NOT NULL, p95 REAL NOT NULL, p99 REAL NOT NULL, max REAL NOT NULL,
    mean REAL NOT NULL, sigma REAL NOT NULL, ratio REAL NOT NULL,
    PRIMARY KEY (stage_ref, name)
) STRICT, WITHOUT ROWID;

-- One row: one segment of the observed critical chain, from the begin to the end of the interval without holes (6.1). Of a chain of more than ten thousand segments neighbours that are
-- short beside the run are one, of label short.
CREATE TABLE chain_segment (
    ordinal INTEGER PRIMARY KEY,
    label TEXT NOT NULL,
    job_id INTEGER, stage_ref INTEGER, behind_stage_ref INTEGER, task_id INTEGER, gap TEXT,
    from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL
) STRICT;

-- One row: one what-if of the whole run (6.5).
CREATE TABLE what_if (
    scenario TEXT NOT NULL, subject TEXT NOT NULL,           -- W9 '2' (slots × 2) or '+1' (executors), W4 '' …
    wall_ms INTEGER NOT NULL, low_ms INTEGER NOT NULL, high_ms INTEGER NOT NULL,
    PRIMARY KEY (scenario, subject)
) STRICT, WITHOUT ROWID;

-- One row: what one rule measured on one subject (1.3). Grades are computed when it is read (analysis/finding.h).
CREATE TABLE finding (
    finding_no INTEGER PRIMARY KEY,      -- in the order in which lists show them, with the default thresholds
    rule_id TEXT NOT NULL, rule_version INTEGER NOT NULL,
    subject_kind TEXT NOT NULL, subject_key TEXT NOT NULL,
    measure REAL, unit TEXT NOT NULL,    -- NULL: unknown
    price_ms INTEGER, price_low_ms INTEGER, price_high_ms INTEGER, scenario TEXT, weak INTEGER NOT NULL,
    mute TEXT, suppressed_by TEXT,
    confidence INTEGER NOT NULL,         -- 0 low, 1 medium, 2 high
    grade_shift INTEGER NOT NULL, at_most INTEGER NOT NULL, at_least INTEGER NOT NULL,   -- as in struct finding
    cause TEXT,
    args TEXT NOT NULL, measures TEXT NOT NULL, evidence TEXT NOT NULL      -- JSON
) STRICT;

-- One row: saving of the first k findings together (6.6).
CREATE TABLE joint_price (
    k INTEGER PRIMARY KEY,
    finding_no INTEGER NOT NULL,
    saving_ms INTEGER NOT NULL           -- of 1 … k
) STRICT;

-- One row: what a stage attempt is, whatever its numbers are in this run (9.2): two attempts with one fingerprint do the same work. 64 bits, as signed integers.
CREATE TABLE stage_fingerprint (
    stage_ref INTEGER PRIMARY KEY,
    fingerprint INTEGER NOT NULL,
    call_site INTEGER NOT NULL           -- of the place in the user's code alone
) STRICT;
-- One row: the same of an SQL execution. Both are of plans: as it began, and as it ended.
CREATE TABLE sql_fingerprint (
    execution_id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL, final INTEGER NOT NULL
) STRICT;

-- The only row: which job this is a run of (9.1).
CREATE TABLE run_identity (
    run_key TEXT,                        -- equal for runs of one job; NULL: its name is one that many different programs have, and no scheduler says more
    key_source TEXT NOT NULL,            -- the property it was taken from; 'name': name, user and program; 'none'
    excluded INTEGER NOT NULL,           -- 1: spark.afterglow.baseline=exclude: later runs are not measured against this one
    shape BLOB NOT NULL                  -- pairs of a stage fingerprint and its task time in ms, 8 bytes each, little-endian, ascending; the 512 longest, the rest summed up as fingerprint 0
) STRICT;

-- One row: one persisted RDD and whether that helped (10.2).
CREATE TABLE cache_audit (
    rdd_id INTEGER PRIMARY KEY,
    verdict TEXT NOT NULL,               -- untouched unused partial leaked level useful unproven: analysis/cache_audit.h
    built_stage_ref INTEGER,             -- the stage that filled it; NULL: none did
    read_count INTEGER NOT NULL,         -- stages that read it
    last_read_ms INTEGER, last_stage_ref INTEGER,
    fraction REAL,                       -- of its partitions, cached at the same time, at most; NULL: no block updates in the log, or nobody asked for all
    missing_share REAL,                  -- of the reading tasks, those that found nothing: where there are no block updates
    evicted_partitions INTEGER,
    build_ms INTEGER, saved_ms INTEGER,  -- task time that filled it; wall time that its readers saved, at most
    held_byte_ms REAL,                   -- bytes × time, to its release or the end
    storage_share REAL                   -- most bytes ÷ mean storage memory of the executors
) STRICT;

-- One row: how one run of a streaming query kept up (10.5, analysis/stream_health.h). Medians over batches unless said otherwise; durations in ms.
CREATE TABLE stream_health (
    run_ref INTEGER PRIMARY KEY,
    verdict TEXT NOT NULL,               -- failed, behind, state, watermark, overhead, keeps up, idle: the first that holds
    batch_count INTEGER NOT NULL,        -- with input rows or a changed state
    back_to_back INTEGER NOT NULL,       -- 1: batches follow one another without a pause: no trigger interval could be seen
    growing INTEGER NOT NULL,            -- 1: batches have more rows, or take longer, all along
    period INTEGER,                      -- every so many batches one is slow; NULL: no such thing
    overhead_phase TEXT,                 -- where most of what is not addBatch went
    interval_ms REAL, duration_ms REAL,
    recent_ms REAL, behind REAL,         -- of the last 20 batches; ÷ interval
    delay_ms REAL,                       -- start behind its time
    rows REAL, input_rate REAL, processed_rate REAL,         -- a batch; a second
    overhead REAL, overhead_phase_share REAL,
    state_first REAL, state_rows REAL, state_bytes REAL,     -- rows at first; at last
    state_growth REAL,                   -- over the run at the pace of its second half ÷ state_rows
    watermark_lag_ms REAL, watermark_delay_ms REAL,          -- p95 behind the trigger; behind the latest event time by design
    dropped_rows REAL, dropped_share REAL,                   -- later than the watermark, in all
    offsets_behind REAL                  -- most over the last 10 batches
) STRICT;

-- One row: one setting that was made and that analysis knows (10.4; defaults and meanings: analysis/conf_defaults.c). Shown by distance, those first whose rules fired.
CREATE TABLE conf_audit (
    name TEXT NOT NULL, at_run_time INTEGER NOT NULL,        -- 1: a session set it (JobStart, SQL); 0: environment
    value TEXT NOT NULL,
    default_value TEXT,                  -- of this Spark version; NULL: none
    distance REAL NOT NULL,              -- |log2| of the ratio; 1: a switch or text differs; 0: the same in effect
    state TEXT NOT NULL,                 -- effective; or why it is not: overridden, not yet (known to later versions), gone, misspelt, irrelevant (in this deploy mode)
    meant TEXT,                          -- of a misspelt one: the setting that was meant
    fired INTEGER NOT NULL,              -- findings of rules that it matters to
    PRIMARY KEY (name, at_run_time)
) STRICT, WITHOUT ROWID;
-- One row: one library twice on the class path, or made for another Scala.
CREATE TABLE jar_conflict (
    jar_no INTEGER PRIMARY KEY,
    artefact TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,       -- versions; of Scala with scala 1, Spark's second
    scala INTEGER NOT NULL, sparks_own INTEGER NOT NULL      -- sparks_own: a library that Spark itself is made of
) STRICT;

-- One row: failures that say the same but for numbers, paths and ids (10.1, analysis/failure_signature.h), in the order of their first times: the first is most likely why the rest failed.
CREATE TABLE failure_signature (
    failure_no INTEGER PRIMARY KEY,
    signature TEXT NOT NULL,
    kind TEXT NOT NULL,                  -- which error that is: oom_heap fetch disk_full … (analysis/error_text.c)
    error_class TEXT, message TEXT,      -- NULL: it names none
    tasks INTEGER NOT NULL, executors INTEGER NOT NULL, stages INTEGER NOT NULL, jobs INTEGER NOT NULL, queries INTEGER NOT NULL,    -- how many failed with it
    first_ms INTEGER, last_ms INTEGER,
    first_kind TEXT NOT NULL, first_key TEXT,    -- what failed first with it, as finding.subject_…
    host TEXT, several_hosts INTEGER NOT NULL,   -- where tasks failed: the first host
    exit_code INTEGER, exit_meaning TEXT         -- that the text names
) STRICT;

-- One row: one cause of lost work (10.1), those with most slot time first. Causes: removal, fetch, exception, speculation, cancellation, unfinished; and as a memo that is no part of the
-- account's bucket `lost`: failed jobs (what succeeded in them).
CREATE TABLE lost_cause (
    cause_no INTEGER PRIMARY KEY,
    cause TEXT NOT NULL,
    executor_ref INTEGER,                -- of a removal
    failure_no INTEGER,                  -- of an exception: failure_signature
    attempts INTEGER NOT NULL, slot_ms INTEGER NOT NULL,
    price_ms INTEGER                     -- what the run would win without it; NULL: not priced
) STRICT;
-- One row: attempts that were lost for one cause, by stage attempt, executor and kind.
CREATE TABLE lost_work (
    row_no INTEGER PRIMARY KEY,
    cause_no INTEGER NOT NULL, stage_ref INTEGER NOT NULL,
    executor_ref INTEGER,                -- NULL: the tasks name none
    kind TEXT NOT NULL,                  -- fetch executor unfinished speculative cancelled failed recomputed
    attempts INTEGER NOT NULL, slot_ms INTEGER NOT NULL,
    read_bytes REAL NOT NULL             -- that they had read
) STRICT;

-- One row: one thing that adaptive execution changed in a plan (10.3, analysis/aqe_changes.h).
CREATE TABLE aqe_change (
    change_no INTEGER PRIMARY KEY,
    execution_id INTEGER NOT NULL, version INTEGER NOT NULL, logged_ms INTEGER,      -- the update that shows it first
    kind TEXT NOT NULL,                  -- coalesced, skew split, local read, join, empty side removed, exchange reused, broadcast abandoned
    node_id INTEGER,                     -- in the latest plan; NULL: not there any more
    node_text TEXT, before TEXT, after TEXT,     -- before, after: strategies of a join
    partitions_before REAL, partitions_after REAL, skewed REAL, splits REAL, size_min REAL, size_median REAL, size_max REAL,    -- of a shuffle read; bytes
    shuffle_bytes REAL,                  -- written before the change
    stage_ref INTEGER,                   -- the stage that it feeds
    replanning_ms INTEGER                -- from the update to the next job of its query; what one update changed was planned in one go. NULL: no job followed
) STRICT;
