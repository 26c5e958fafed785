/* SPDX-License-Identifier: Apache-2.0 */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/process_usage.h"
#include "base/units.h"
#include "base/worker_counts.h"
#include "server/answer_cache.h"
#include "server/api/api.h"
#include "server/db_pool.h"
#include "server/log_troubles.h"
#include "server/readiness.h"
#include "server/route_times.h"
#include "server/server.h"
#include "server/store_usage.h"

#define TEXT_BYTES ((size_t)16 << 20)
#define PLACES_MAX 1000 /* a label each; more places than anybody has */

/* ---- the format ---- */

static void family(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP afterglow_%s %s\n# TYPE afterglow_%s %s\n", name, help, name, type);
}

static void label_value(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\\' || c == '"')
            buf_char(out, '\\');
        if (c == '\n')
            buf_text(out, "\\n");
        else
            buf_char(out, c);
    }
}

/* `label` NULL: none. */
static void sample_name(struct buf *out, const char *name, const char *label, const char *value)
{
    buf_printf(out, "afterglow_%s", name);
    if (label) {
        buf_printf(out, "{%s=\"", label);
        label_value(out, str_of(value));
        buf_text(out, "\"}");
    }
}

/* An unknown value is left out; so below. */
static void sample(struct buf *out, const char *name, const char *label, const char *value, int64_t number)
{
    if (!known(number))
        return;
    sample_name(out, name, label, value);
    buf_printf(out, " %" PRId64 "\n", number);
}

static void sample_seconds(struct buf *out, const char *name, const char *label, const char *value, int64_t ms)
{
    if (!known(ms))
        return;
    sample_name(out, name, label, value);
    buf_printf(out, " %" PRId64 ".%03" PRId64 "\n", ms / 1000, ms % 1000);
}

static void one(struct buf *out, const char *name, const char *type, const char *help, int64_t number)
{
    family(out, name, type, help);
    sample(out, name, NULL, NULL, number);
}

/* labels: "" or `a="b",`. Bucket for bucket, and each a sum of those before: what is added meanwhile may be missing in the sum of times, never in the order of the buckets. */
static void histogram(struct buf *out, const char *name, const char *labels, struct time_counts *times, const int64_t *bounds_us)
{
    int64_t count = 0, sum_us = atomic_load(&times->sum_us);
    for (size_t i = 0; i <= TIME_BUCKETS; i++) {
        count += atomic_load(&times->counts[i]);
        if (i < TIME_BUCKETS)
            buf_printf(out, "afterglow_%s_bucket{%sle=\"%g\"} %" PRId64 "\n", name, labels, (double)bounds_us[i] / 1e6, count);
        else
            buf_printf(out, "afterglow_%s_bucket{%sle=\"+Inf\"} %" PRId64 "\n", name, labels, count);
    }
    size_t len = strlen(labels);
    const char *open = len ? "{" : "", *close = len ? "}" : "";
    int inner = len ? (int)len - 1 : 0; /* without the comma */
    buf_printf(out, "afterglow_%s_sum%s%.*s%s %.6f\n", name, open, inner, labels, close, (double)sum_us / 1e6);
    buf_printf(out, "afterglow_%s_count%s%.*s%s %" PRId64 "\n", name, open, inner, labels, close, count);
}

/* ---- what there is to tell ---- */

static void tell_server(struct api_ctx *ctx, struct buf *out)
{
    struct readiness is = readiness_of(ctx);
    family(out, "build_info", "gauge", "Version and build of the program; the value is always 1.");
    buf_printf(out, "afterglow_build_info{version=\"%s\",build=\"%s\"} 1\n", AFTERGLOW_VERSION, server_build(ctx->server));
    family(out, "start_time_seconds", "gauge", "When the server started, since 1970.");
    sample_seconds(out, "start_time_seconds", NULL, NULL, server_started_ms(ctx->server));
    family(out, "ready", "gauge", "What /readyz says: 1 for each part that is as it should be.");
    sample(out, "ready", "part", "catalogue", is.catalogue);
    sample(out, "ready", "part", "list", is.listed);
    sample(out, "ready", "part", "worker", is.worker);
}

static void tell_processes(const struct ingest_status *ingest, struct buf *out)
{
    static const char *const names[] = {"server", "worker"};
    struct process_usage usage[2] = {{UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}, {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN}};
    process_usage(getpid(), &usage[0]);
    if (ingest->pid > 0)
        process_usage(ingest->pid, &usage[1]);
    family(out, "resident_memory_bytes", "gauge", "Memory of a process that is in RAM.");
    for (size_t i = 0; i < 2; i++)
        sample(out, "resident_memory_bytes", "process", names[i], usage[i].resident_bytes);
    family(out, "threads", "gauge", "Threads of a process.");
    for (size_t i = 0; i < 2; i++)
        sample(out, "threads", "process", names[i], usage[i].thread_count);
    family(out, "open_files", "gauge", "Open file descriptors of a process.");
    for (size_t i = 0; i < 2; i++)
        sample(out, "open_files", "process", names[i], usage[i].open_file_count);
    family(out, "cpu_seconds_total", "counter", "Processor time of a process; that of the worker begins anew with it.");
    for (size_t i = 0; i < 2; i++)
        sample_seconds(out, "cpu_seconds_total", "process", names[i], usage[i].cpu_ms);
}

static void tell_answers(struct server *server, struct buf *out)
{
    struct route_times *times = server_route_times(server);
    struct answer_cache_usage cache;
    char labels[256];
    family(out, "http_request_duration_seconds", "histogram", "From the head of a request to its answer, ready to be sent, by route and class of status.");
    for (size_t number = 0; number < route_times_count(times); number++)
        for (int class = 1; class <= STATUS_CLASSES; class ++) {
            struct time_counts *of = route_times_of(times, number, class);
            bool any = false;
            for (size_t i = 0; i <= TIME_BUCKETS && !any; i++)
                any = atomic_load(&of->counts[i]) > 0;
            if (!any)
                continue;
            snprintf(labels, sizeof labels, "route=\"%s\",status=\"%dxx\",", route_name(number), class);
            histogram(out, "http_request_duration_seconds", labels, of, answer_bounds_us);
        }
    one(out, "http_response_bytes_total", "counter", "Bytes of bodies of answers whose length was known when they began.", route_times_bytes(times));
    one(out, "http_threads", "gauge", "Threads that answer.", server_threads(server));
    answer_cache_usage(server_answers(server), &cache);
    one(out, "answer_cache_answers", "gauge", "Answers that are kept.", cache.answer_count);
    one(out, "answer_cache_bytes", "gauge", "Memory of the answers that are kept.", cache.bytes);
    one(out, "answer_cache_hits_total", "counter", "Answers that were there when they were asked for.", cache.hit_count);
    one(out, "answer_cache_misses_total", "counter", "Answers that were not.", cache.miss_count);
    one(out, "open_databases", "gauge", "Databases of runs and of the catalogue that the server has open.", db_pool_open_count(server_pool(server)));
}

static void tell_worker(struct server *server, const struct ingest_status *ingest, struct buf *out)
{
    struct worker_counts *counts = server_counts(server);
    one(out, "worker_up", "gauge", "1 while the ingest process runs.", ingest->running);
    one(out, "worker_restarts_total", "counter", "Starts of the ingest process after the first.", ingest->restarts);
    if (!counts)
        return;
    one(out, "worker_confined", "gauge", "The Landlock level that the ingest process is confined by; 0: not.", ingest->running ? atomic_load(&counts->confined) : 0);
    family(out, "loads_total", "counter", "Loads of logs that ended with what is in them, or with nothing in them yet.");
    for (size_t i = 0; i < LOAD_END_UNREADABLE; i++)
        sample(out, "loads_total", "result", load_end_names[i], atomic_load(&counts->load_ends[i]));
    family(out, "load_failures_total", "counter", "Loads of logs that failed, by reason.");
    for (size_t i = LOAD_END_UNREADABLE; i < LOAD_END_COUNT; i++)
        sample(out, "load_failures_total", "reason", load_end_names[i], atomic_load(&counts->load_ends[i]));
    one(out, "load_read_bytes_total", "counter", "Bytes of logs, as stored, that loads read.", atomic_load(&counts->read_bytes));
    family(out, "load_duration_seconds", "histogram", "Loads that went to the end of their log.");
    histogram(out, "load_duration_seconds", "", &counts->load_times, load_bounds_us);
    family(out, "scans_total", "counter", "Looks at one place, by how they ended.");
    sample(out, "scans_total", "result", "done", atomic_load(&counts->scans));
    sample(out, "scans_total", "result", "failed", atomic_load(&counts->failed_scans));
    family(out, "queue_logs", "gauge", "Logs in the ingest process, by what they wait for.");
    for (size_t i = 0; i < QUEUE_STAGE_COUNT; i++)
        sample(out, "queue_logs", "stage", queue_stage_names[i], ingest->running ? atomic_load(&counts->queue[i]) : UNKNOWN);
}

static enum err_code tell_states(struct db *catalog, struct buf *out, struct err *err)
{
    struct log_counts logs;
    enum err_code rc = log_counts_read(&logs, catalog, err);
    if (rc)
        return rc;
    family(out, "logs", "gauge", "Logs in the catalogue, by state.");
    for (size_t i = 0; i < LOG_STATE_COUNT; i++)
        sample(out, "logs", "state", log_states[i], logs.states[i]);
    family(out, "log_troubles", "gauge", "Logs that are not, or not wholly, in the list, by reason.");
    for (size_t i = 0; i < LOG_TROUBLE_COUNT; i++)
        sample(out, "log_troubles", "reason", log_troubles[i], logs.troubles[i]);
    one(out, "waiting_log_bytes", "gauge", "Stored bytes of logs that wait to be loaded, or are being loaded.", logs.waiting_bytes);
    return ERR_OK;
}

/* One family after the other, as the format wants it: a walk over the places for each. */
static enum err_code tell_places(struct db *catalog, struct buf *out, struct err *err)
{
    static const struct {
        const char *name, *help;
        bool seconds;
    } families[] = {
        {"place_up", "1 when the last look at a place did not fail.", false},
        {"place_last_scan_time_seconds", "When the last look at a place ended, since 1970.", true},
        {"place_last_scan_duration_seconds", "How long it took.", true},
        {"place_entries", "What it saw.", false},
    };
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(catalog, &stmt,
                   "SELECT uri, iif(last_scan_ms IS NULL, NULL, last_error IS NULL), last_scan_ms, last_scan_duration_ms, entry_count FROM place ORDER BY uri LIMIT ?1", err);
    for (size_t i = 0; i < ARRAY_LENGTH(families) && !rc; i++) {
        family(out, families[i].name, "gauge", families[i].help);
        db_bind_i64(stmt, 1, PLACES_MAX);
        while ((rc = db_step(stmt, err)) == ERR_OK)
            (families[i].seconds ? sample_seconds : sample)(out, families[i].name, "place", db_str(stmt, 0).ptr, db_i64(stmt, (int)i + 1));
        db_reset(stmt);
        rc = rc == ERR_EOF ? ERR_OK : rc;
    }
    db_finalize(stmt);
    return rc;
}

static void tell_store(struct server *server, struct buf *out)
{
    struct store_usage usage;
    store_usage_get(server_store_usage(server), &usage);
    family(out, "store_bytes", "gauge", "Disk that the store takes, as it was looked up last.");
    sample(out, "store_bytes", "part", "catalogue", usage.catalog_bytes);
    sample(out, "store_bytes", "part", "runs", usage.run_bytes);
    one(out, "store_runs", "gauge", "Databases of runs in the store.", usage.run_count);
    one(out, "store_set_aside_files", "gauge", "Databases that were damaged, and catalogues of another version: kept until somebody deletes them.", usage.aside_count);
    one(out, "store_free_bytes", "gauge", "Disk that is left for the store.", usage.free_bytes);
}

enum err_code metrics_respond(struct api_ctx *ctx, struct response *response, struct err *err)
{
    struct db_lease lease;
    struct ingest_status ingest;
    CLEANUP(buf_dispose) struct buf out;
    buf_init(&out, TEXT_BYTES);
    server_ingest_status(ctx->server, &ingest);
    tell_server(ctx, &out);
    tell_processes(&ingest, &out);
    tell_answers(ctx->server, &out);
    tell_worker(ctx->server, &ingest, &out);
    tell_store(ctx->server, &out);
    /* Without the catalogue all the rest is told: that it cannot be read is what afterglow_ready says. */
    if (!api_catalog(ctx, &lease, NULL) && lease.db) {
        enum err_code rc = tell_states(lease.db, &out, err);
        if (!rc)
            rc = tell_places(lease.db, &out, err);
        db_pool_return(ctx->pool, &lease);
        if (rc)
            return rc;
    }
    if (buf_failed(&out))
        return err_nomem(err);
    response_content_type(response, "text/plain; version=0.0.4; charset=utf-8");
    response_cache(response, "no-store");
    return response_write(response, out.data, out.len);
}
