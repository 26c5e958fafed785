/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole loads: a growing log read piece by piece gives what one reading gives, and the n-th allocation may fail for every n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/db.h"
#include "base/mem.h"
#include "ingest/pipeline.h"
#include "ingest/source/log_entry.h"

struct fixture {
    char dir[64], log[128], db[160];
};

/* A little log with every core kind of record in it: two stages, a failed task, an executor that is removed. */
static const char *const lines[] = {
    "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.7\"}",
    "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":0,\"Executor Resource Requests\":{\"cores\":{\"Resource Name\":\"cores\",\"Amount\":2,\"Discovery "
    "Script\":\"\",\"Vendor\":\"\"}},\"Task Resource Requests\":{\"cpus\":{\"Resource Name\":\"cpus\",\"Amount\":1.0}}}",
    "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"driver\",\"Host\":\"d\",\"Port\":1},\"Maximum Memory\":100,\"Timestamp\":1795985796737,\"Maximum "
    "Onheap Memory\":100,\"Maximum Offheap Memory\":0}",
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{\"Java Version\":\"17\"},\"Spark Properties\":{\"spark.app.id\":\"app-1\",\"spark.my.password\":\"hunter2\"},\"Hadoop "
    "Properties\":{},\"System Properties\":{},\"Metrics Properties\":{},\"Classpath Entries\":{}}",
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"small\",\"App ID\":\"app-1\",\"Timestamp\":1795985796000,\"User\":\"me\"}",
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1795985801990,\"Executor ID\":\"1\",\"Executor "
    "Info\":{\"Host\":\"h\",\"Total Cores\":2,\"Log Urls\":{\"stdout\":\"http://h/1\"},\"Attributes\":{},\"Resources\":{\"gpu\":{\"name\":\"gpu\",\"addresses\":[\"0\"]}},\"Resource Profile Id\":0}}",
    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1795985804535,\"Stage Infos\":[{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Stage Name\":\"map\",\"Number of Tasks\":2,\"RDD "
    "Info\":[{\"RDD ID\":0,\"Name\":\"r\",\"Scope\":\"{\\\"id\\\":\\\"5\\\",\\\"name\\\":\\\"map\\\"}\",\"Callsite\":\"c\",\"Parent IDs\":[],\"Storage Level\":{\"Use Disk\":false,\"Use "
    "Memory\":true,\"Deserialized\":true,\"Replication\":1},\"Barrier\":false,\"Number of Partitions\":2,\"Number of Cached Partitions\":0,\"Memory Size\":0,\"Disk Size\":0}],\"Parent "
    "IDs\":[],\"Details\":\"stack\",\"Accumulables\":[]}],\"Stage IDs\":[0],\"Properties\":{\"spark.job.description\":\"d\",\"spark.job.tags\":\"b,a\"}}",
    "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Stage Name\":\"map\",\"Number of Tasks\":2,\"RDD Info\":[{\"RDD ID\":0,\"Name\":\"r\",\"Parent "
    "IDs\":[],\"Storage Level\":{\"Use Disk\":false,\"Use Memory\":true,\"Deserialized\":true,\"Replication\":1},\"Number of Partitions\":2,\"Number of Cached Partitions\":0,\"Memory "
    "Size\":0,\"Disk Size\":0}],\"Parent IDs\":[],\"Details\":\"stack\",\"Submission Time\":1795985804540,\"Accumulables\":[]},\"Properties\":{}}",
    "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Info\":{\"Task ID\":0,\"Index\":0,\"Attempt\":0,\"Launch Time\":1795985804600,\"Executor "
    "ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":0,\"Failed\":false,\"Killed\":false,\"Accumulables\":[]}}",
    "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Info\":{\"Task ID\":1,\"Index\":1,\"Attempt\":0,\"Launch Time\":1795985804601,\"Executor "
    "ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":0,\"Failed\":false,\"Killed\":false,\"Accumulables\":[]}}",
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task End Reason\":{\"Reason\":\"Success\"},\"Task Info\":{\"Task "
    "ID\":0,\"Index\":0,\"Attempt\":0,\"Launch Time\":1795985804600,\"Executor ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0,\"Finish "
    "Time\":1795985804700,\"Failed\":false,\"Killed\":false,\"Accumulables\":[{\"ID\":9,\"Name\":\"mine\",\"Update\":\"1\",\"Value\":\"1\",\"Internal\":false}]},\"Task Metrics\":{\"Executor Run "
    "Time\":90,\"JVM GC Time\":5,\"Input Metrics\":{\"Bytes Read\":10,\"Records Read\":1}}}",
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task End Reason\":{\"Reason\":\"ExceptionFailure\",\"Class "
    "Name\":\"E\",\"Description\":\"d\",\"Stack Trace\":[],\"Full Stack Trace\":\"E: d\",\"Accumulator Updates\":[]},\"Task Info\":{\"Task ID\":1,\"Index\":1,\"Attempt\":0,\"Launch "
    "Time\":1795985804601,\"Executor ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":1795985804800,\"Failed\":true,\"Killed\":false,"
    "\"Accumulables\":[]}}",
    "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Stage Name\":\"map\",\"Number of Tasks\":2,\"RDD Info\":[{\"RDD ID\":0,\"Name\":\"r\",\"Storage Level\":{\"Use Memory\":false,\"Replication\":1}}],\"Parent "
    "IDs\":[],\"Details\":\"stack\",\"Submission Time\":1795985804540,\"Completion Time\":1795985804810,\"Failure "
    "Reason\":\"gone\",\"Accumulables\":[{\"ID\":9,\"Name\":\"mine\",\"Value\":\"1\",\"Internal\":false}]}}",
    "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Completion Time\":1795985804820,\"Job Result\":{\"Result\":\"JobFailed\",\"Exception\":{\"Message\":\"gone\",\"Stack Trace\":[]}}}",
    "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":1795985804830,\"Executor ID\":\"1\",\"Removed Reason\":\"lost\"}",
    "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":1795985804900}",
};
enum { LINES = ARRAY_LENGTH(lines) };

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/test_pipeline.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->log, sizeof f->log, "%s/apps", f->dir);
    assert_int_equal(mkdir(f->log, 0755), 0);
    snprintf(f->log, sizeof f->log, "%s/app-1.inprogress", f->dir);
    snprintf(f->db, sizeof f->db, "%s/apps/key.db", f->dir);
    *state = f;
    return 0;
}

static size_t entries_in_apps(const struct fixture *f, bool remove)
{
    char path[512];
    snprintf(path, sizeof path, "%s/apps", f->dir);
    DIR *dir = opendir(path);
    size_t count = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof path, "%s/apps/%s", f->dir, e->d_name);
        if (remove)
            unlink(path);
    }
    closedir(dir);
    return count;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char path[128];
    entries_in_apps(f, true);
    unlink(f->log);
    snprintf(path, sizeof path, "%s/apps", f->dir);
    rmdir(path);
    rmdir(f->dir);
    free(f);
    return 0;
}

/* The first `whole` lines, and `part` bytes of the next. */
static void write_log(const struct fixture *f, size_t whole, size_t part)
{
    FILE *out = fopen(f->log, "w");
    for (size_t i = 0; i < whole; i++)
        fprintf(out, "%s\n", lines[i]);
    if (whole < LINES)
        fwrite(lines[whole], 1, MIN(part, strlen(lines[whole])), out);
    fclose(out);
}

static struct load_options options_for(const struct fixture *f, bool keep)
{
    return (struct load_options){.store_dir = f->dir, .app_key = "key", .generation = 1, .keep = keep};
}

static int64_t number(const struct fixture *f, const char *sql)
{
    struct db db;
    struct err err = {0};
    int64_t out = UNKNOWN;
    if (db_open(&db, f->db, DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, &err) || db_query_i64(&db, sql, &out, &err))
        fail_msg("%s: %s", sql, err.message);
    db_close(&db);
    return out;
}

static void check_whole_log(const struct fixture *f, const struct load_report *report)
{
    assert_true(report->complete);
    assert_int_equal(report->task_count, 2);
    assert_int_equal(report->bad_line_count, 0);
    assert_int_equal(report->line_count, LINES);
    assert_string_equal(report->app_id, "app-1");
    assert_string_equal(report->outcome, "failed");
    assert_int_equal(report->duration_ms, 8900);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), 2);
    assert_int_equal(number(f, "SELECT status FROM task WHERE task_id = 1"), 2);
    assert_int_equal(number(f, "SELECT executor_run_time_ms FROM stage"), 90);
    assert_int_equal(number(f, "SELECT executor_run_time_ms FROM task WHERE task_id = 1") == UNKNOWN, 1);
    assert_int_equal(number(f, "SELECT failed_tasks FROM executor_stage WHERE executor_id = '1'"), 1);
    assert_int_equal(number(f, "SELECT succeeded_tasks FROM executor_stage WHERE executor_id = '1'"), 1);
    assert_int_equal(number(f, "SELECT p50 FROM stage_quantile WHERE name = 'executor_run_time_ms'"), 90);
    assert_int_equal(number(f, "SELECT count(*) FROM text WHERE body = 'E: d'"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM job WHERE tags = 'a,b' AND description = 'd' AND status = 2"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM environment WHERE value LIKE '%hunter2%'"), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM rdd_scope WHERE scope_id = '5' AND name = 'map'"), 1);
    assert_int_equal(number(f, "SELECT cached FROM stage_rdd WHERE rdd_id = 0"), 1);   /* as the job said, though it was let go by the stage's end */
    assert_int_equal(number(f, "SELECT count(*) FROM task_accumulable WHERE name = 'mine'"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM load WHERE state = 'done'"), 1);
    /* no block updates: how much the executors cached is not known */
    assert_int_equal(number(f, "SELECT count(*) FROM executor"), 2);
    assert_int_equal(number(f, "SELECT count(coalesce(rdd_blocks, coalesce(memory_used_bytes, on_heap_used_bytes))) FROM executor"), 0);
}

static void one_reading_stores_the_run(void **state)
{
    struct fixture *f = *state;
    struct log_entry entry;
    struct err err = {0};
    write_log(f, LINES, 0);
    assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
    struct load_options options = options_for(f, false);
    struct load_report report;
    assert_int_equal(load_run(&entry, &options, &report, NULL, &err), ERR_OK);
    check_whole_log(f, &report);
    assert_int_equal(entries_in_apps(f, false), 1);   /* nothing but key.db */
    log_entry_dispose(&entry);
}

static void a_growing_log_read_in_pieces_is_the_same(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct load *load = NULL;
    struct load_report report;
    for (size_t whole = 5; whole <= LINES; whole++) {
        struct log_entry entry;
        write_log(f, whole, whole % 3 == 0 ? 1 << 20 : whole * 37 % 150);   /* the end is in the middle of a line, or only the LF is missing */
        assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
        struct load_options options = options_for(f, true);
        enum err_code rc = load ? load_advance(load, &entry, &report, &err) : load_run(&entry, &options, &report, &load, &err);
        if (rc)
            fail_msg("%zu lines: %s", whole, err.message);
        assert_non_null(load);
        assert_int_equal(report.bad_line_count, 0);
        size_t readable = whole + (whole < LINES && whole % 3 == 0);
        assert_int_equal(report.line_count, readable);
        assert_int_equal(report.flags & (FLAG_CUT | FLAG_LINES), 0);
        /* tasks that have begun and not ended are there, and are not running twice */
        assert_int_equal(number(f, "SELECT count(*) FROM task"), readable < 9 ? 0 : readable < 10 ? 1 : 2);
        assert_int_equal(number(f, "SELECT count(*) FROM task WHERE status = 0"), readable < 9 ? 0 : readable < 10 ? 1 : readable < 11 ? 2 : readable < 12 ? 1 : 0);
        assert_int_equal(number(f, "SELECT duplicate_event_count FROM log_health"), 0);
        log_entry_dispose(&entry);
    }
    /* with its final name the log is closed: the file is whole by itself, in no journal mode that needs others beside it (bytes 18 and 19 of a database file) */
    char inprogress[128], journal[2];
    struct log_entry entry;
    struct load_options options = options_for(f, true);
    strcpy(inprogress, f->log);
    f->log[strlen(f->log) - strlen(".inprogress")] = '\0';
    assert_int_equal(rename(inprogress, f->log), 0);
    assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
    assert_int_equal(load_advance(load, &entry, &report, &err), ERR_OK);
    log_entry_dispose(&entry);
    load_free(load);
    check_whole_log(f, &report);
    assert_int_equal(entries_in_apps(f, false), 1);
    FILE *file = fopen(f->db, "r");
    assert_true(file && fseek(file, 18, SEEK_SET) == 0 && fread(journal, 1, 2, file) == 2);
    fclose(file);
    assert_memory_equal(journal, "\1\1", 2);
    /* read at once under that name, there is nothing to follow */
    assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
    assert_int_equal(load_run(&entry, &options, &report, &load, &err), ERR_OK);
    assert_null(load);
    check_whole_log(f, &report);
    log_entry_dispose(&entry);
}

/* The first `bytes` of a sample log with one query. */
static size_t write_query_log(const struct fixture *f, size_t bytes)
{
    static char text[1 << 20];
    FILE *in = fopen(TEST_DATA "/logs/tiny_app/local-1795989117127", "r"), *out = fopen(f->log, "w");
    size_t len = fread(text, 1, sizeof text, in);
    fwrite(text, 1, MIN(bytes, len), out);
    fclose(in);
    fclose(out);
    return len;
}

static const char *const query_facts[] = {
    "SELECT count(*) FROM sql_plan", "SELECT sum(text_bytes) FROM plan_text", "SELECT sum(plan_id * 100 + node_id) FROM sql_node", "SELECT sum(from_id * 10 + to_id + ordinal) FROM sql_edge",
    "SELECT count(*) FROM sql_metric", "SELECT count(value_count) FROM sql_metric", "SELECT sum(total + min + median + max) FROM sql_metric", "SELECT sum(max_task_id) FROM sql_metric",
    "SELECT status + 10 * start_seen + 100 * end_seen + 1000 * plan_id FROM sql_execution", "SELECT count(*) FROM text",
};

static void a_query_in_a_growing_log_comes_out_the_same(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct load *load = NULL;
    struct load_report report;
    struct log_entry entry;
    struct load_options options = options_for(f, true);
    size_t all = write_query_log(f, 0);
    int64_t grown[ARRAY_LENGTH(query_facts)];
    for (size_t bytes = 20000; bytes < all + 9000; bytes += 9000) {
        write_query_log(f, bytes);
        assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
        enum err_code rc = load ? load_advance(load, &entry, &report, &err) : load_run(&entry, &options, &report, &load, &err);
        if (rc)
            fail_msg("%zu bytes: %s", bytes, err.message);
        log_entry_dispose(&entry);
    }
    load_free(load);
    for (size_t i = 0; i < ARRAY_LENGTH(query_facts); i++)
        grown[i] = number(f, query_facts[i]);
    entries_in_apps(f, true);
    assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
    options.keep = false;
    assert_int_equal(load_run(&entry, &options, &report, NULL, &err), ERR_OK);
    log_entry_dispose(&entry);
    for (size_t i = 0; i < ARRAY_LENGTH(query_facts); i++)
        if (number(f, query_facts[i]) != grown[i])
            fail_msg("%s: %lld at once, %lld in pieces", query_facts[i], (long long)number(f, query_facts[i]), (long long)grown[i]);
    assert_int_equal(number(f, "SELECT count(*) FROM sql_plan"), 4);             /* a start and three updates */
    assert_int_equal(number(f, "SELECT status FROM sql_execution"), 1);
    assert_int_equal(number(f, "SELECT total FROM sql_metric WHERE name = 'number of output rows' AND accumulator_id = 72"), 1000);     /* Range (0, 1000) */
}

/* ' for ". The first seven are in the store, and forgotten, before the others come. */
#define SQL "{'Event':'org.apache.spark.sql.execution.ui.SparkListener"
static const char *const reopened_lines[] = {
    "{'Event':'SparkListenerLogStart','Spark Version':'3.5.7'}",
    "{'Event':'SparkListenerApplicationStart','App Name':'small','App ID':'app-1','Timestamp':1795985796000,'User':'me'}",
    SQL "SQLExecutionStart','executionId':3,'description':'first','physicalPlanDescription':'one','sparkPlanInfo':{'nodeName':'A','metrics':[{'name':'rows','accumulatorId':7,"
        "'metricType':'sum'}]},'time':1795985804000}",
    "{'Event':'SparkListenerJobStart','Job ID':0,'Submission Time':1795985804535,'Stage IDs':[0],'Properties':{'spark.sql.execution.id':'3'}}",
    SQL "DriverAccumUpdates','executionId':3,'accumUpdates':[[7,5]]}",
    "{'Event':'SparkListenerJobEnd','Job ID':0,'Completion Time':1795985804820,'Job Result':{'Result':'JobSucceeded'}}",
    SQL "SQLExecutionEnd','executionId':3,'time':1795985804900}",
    "{'Event':'SparkListenerJobStart','Job ID':1,'Submission Time':1795985804935,'Stage IDs':[1],'Properties':{'spark.sql.execution.id':'3'}}",
    SQL "SQLAdaptiveExecutionUpdate','executionId':3,'physicalPlanDescription':'two','sparkPlanInfo':{'nodeName':'B','metrics':[{'name':'rows','accumulatorId':7,'metricType':'sum'},"
        "{'name':'late','accumulatorId':8,'metricType':'sum'}]}}",
    "{'Event':'SparkListenerJobEnd','Job ID':1,'Completion Time':1795985804990,'Job Result':{'Result':'JobFailed'}}",
};

static void write_reopened_log(const struct fixture *f, size_t count)
{
    FILE *out = fopen(f->log, "w");
    for (size_t i = 0; i < count; i++) {
        for (const char *p = reopened_lines[i]; *p; p++)
            fputc(*p == '\'' ? '"' : *p, out);
        fputc('\n', out);
    }
    fclose(out);
}

static void a_query_that_a_later_job_opens_again_keeps_what_is_stored(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct load *load = NULL;
    struct load_report report;
    for (size_t count = 7; count <= ARRAY_LENGTH(reopened_lines); count++) {
        struct log_entry entry;
        struct load_options options = options_for(f, true);
        write_reopened_log(f, count);
        assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
        assert_int_equal(load ? load_advance(load, &entry, &report, &err) : load_run(&entry, &options, &report, &load, &err), ERR_OK);
        log_entry_dispose(&entry);
        assert_int_equal(number(f, "SELECT count(*) FROM sql_execution WHERE description = 'first' AND submission_ms = 1795985804000 AND outcome IS NULL"), 1);
        assert_int_equal(number(f, "SELECT total FROM sql_metric WHERE accumulator_id = 7"), 5);
        assert_int_equal(number(f, "SELECT status FROM sql_execution"), count < 10 ? 1 : 2);     /* of before 3.4: its jobs decide */
        assert_int_equal(number(f, "SELECT plan_id FROM sql_execution"), count < 9 ? 1 : 2);
        assert_int_equal(number(f, "SELECT count(*) FROM sql_metric"), count < 9 ? 1 : 2);
        assert_int_equal(number(f, "SELECT count(*) FROM sql_plan WHERE version = plan_id - 1 AND graph_plan_id = plan_id"), count < 9 ? 1 : 2);
    }
    load_free(load);
}

/* One impossible number must not cost the log: the sum of an executor in a stage is added up in C while the stage runs and in SQL afterwards. */
static void sums_beyond_64_bits_stop_at_the_largest_integer(void **state)
{
    struct fixture *f = *state;
    static const char *const ends[] = {"9223372036854775807", "9223372036854775807", "5"};
    FILE *out = fopen(f->log, "w");
    fprintf(out, "%s\n%s\n", lines[0], lines[4]);
    for (size_t i = 0; i < ARRAY_LENGTH(ends); i++) {
        fprintf(
            out,
            "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End Reason\":{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":%zu,\"Index\":%zu,"
            "\"Executor ID\":\"1\",\"Host\":\"h\"},\"Task Metrics\":{\"Input Metrics\":{\"Bytes Read\":%s}}}\n",
            i, i, ends[i]);
        if (i == 1)
            fprintf(out, "%s\n", lines[12]);   /* the stage is completed, and what it has is written */
    }
    fclose(out);
    struct log_entry entry;
    struct err err = {0};
    struct load_report report;
    struct load_options options = options_for(f, false);
    assert_int_equal(log_entry_probe(f->log, &entry, &err), ERR_OK);
    if (load_run(&entry, &options, &report, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(report.task_count, 3);
    assert_int_equal(number(f, "SELECT input_bytes FROM executor_stage"), INT64_MAX);
    assert_int_equal(number(f, "SELECT input_bytes FROM stage"), INT64_MAX);
    assert_int_equal(number(f, "SELECT count(*) FROM stage_accumulable"), 1);
    log_entry_dispose(&entry);
}

/* SQLite through the same allocator, so that its failures are walked too. */
static void *sqlite_alloc(int bytes) { return mem_alloc((size_t)bytes); }
static void sqlite_free(void *p) { mem_free(p); }
static void *sqlite_realloc(void *p, int bytes) { return mem_realloc(p, (size_t)bytes); }
static int sqlite_size(void *p) { return (int)malloc_usable_size(p); }
static int sqlite_roundup(int bytes) { return (bytes + 7) & ~7; }
static int sqlite_init(void *context UNUSED) { return SQLITE_OK; }
static void sqlite_shutdown_memory(void *context UNUSED) {}

#ifdef __SANITIZE_ADDRESS__
#define STEP 1
#else
#define STEP 7 /* what a failure loses or reads is seen by the sanitizers; here some of them do */
#endif

static void every_allocation_may_fail(void **state)
{
    struct fixture *f = *state;
    write_log(f, LINES, 0);
    uint64_t n = 1, step = STEP;
    for (;; n += step) {
        struct log_entry entry;
        struct err err = {0};
        struct load_report report;
        struct load_options options = options_for(f, false);
        mem_fail_at(n, 0);
        enum err_code rc = log_entry_probe(f->log, &entry, &err);
        if (!rc) {
            rc = load_run(&entry, &options, &report, NULL, &err);
            log_entry_dispose(&entry);
        }
        uint64_t made = mem_alloc_count();
        mem_fail_at(0, 0);
        if (rc) {
            assert_true(err.message[0] != '\0');
            assert_int_equal(access(f->db, F_OK), -1);
            assert_int_equal(entries_in_apps(f, false), 0);   /* what failed leaves nothing behind */
        } else
            entries_in_apps(f, true);   /* SQLite can do without some of its allocations */
        if (made < n)
            break;
        if (n > 1500)
            step = 11;   /* from there on it is SQLite preparing one statement after another: every eleventh will do */
    }
    assert_true(n > 500);
}

int main(void)
{
    static const struct sqlite3_mem_methods methods = {sqlite_alloc, sqlite_free, sqlite_realloc, sqlite_size, sqlite_roundup, sqlite_init, sqlite_shutdown_memory, NULL};
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_reading_stores_the_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_growing_log_read_in_pieces_is_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_query_in_a_growing_log_comes_out_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_query_that_a_later_job_opens_again_keeps_what_is_stored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sums_beyond_64_bits_stop_at_the_largest_integer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
