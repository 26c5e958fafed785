/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/task_search.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/api_v1/metric_text.h"
#include "server/api_v1/metrics.h"
#include "server/api_v1/task_order.h"
#include "server/api_v1/task_times.h"
#include "server/api_v1/tasks.h"

#define TEXT_BYTES METRIC_TEXT_BYTES
#define DAYS_PER_WEEK 7
#define MS_PER_DAY 86400000

/* What stands for an option that is not there, in the History Server's search. */
#define ABSENT "d"

/* ---- Texts of numbers; all go to `out` of TEXT_BYTES ---- */

static struct str number_text(int64_t value, char *out)
{
    return (struct str){out, (size_t)snprintf(out, TEXT_BYTES, "%" PRId64, value)};
}

static struct str bytes_text(int64_t bytes, char *out)
{
    if (bytes < 0)
        return (struct str){out, (size_t)snprintf(out, TEXT_BYTES, "%" PRId64 ".0 B", bytes)};
    return str_of(metric_bytes_text(bytes, out));
}

static struct str duration_text(int64_t duration_ms, char *out)
{
    return str_of(metric_page_duration_text(duration_ms, out));
}

static struct str ns_text(int64_t duration_ns, char *out)
{
    return duration_text(duration_ns / NS_PER_MS, out);
}

/* 2026/11/29 20:56:36 */
static struct str date_text(int64_t epoch_ms, char *out)
{
    time_format_iso(epoch_ms, out);
    out[4] = out[7] = '/';
    out[10] = ' ';
    return (struct str){out, 19};
}

/* Sun Nov 29 20:56:36 UTC 2026: Java's Date. */
static struct str fetch_text(int64_t epoch_ms, char *out)
{
    static const char days[] = "ThuFriSatSunMonTueWed", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (epoch_ms <= 0)
        return STR_LIT(ABSENT);
    char iso[TIME_ISO_BYTES];
    time_format_iso(epoch_ms, iso);
    int day = (int)(epoch_ms / MS_PER_DAY % DAYS_PER_WEEK), month = (iso[5] - '0') * 10 + iso[6] - '1';
    return (struct str){out, (size_t)snprintf(out, TEXT_BYTES, "%.3s %.3s %.2s %.8s UTC %.4s", days + 3 * day, months + 3 * month, iso + 8, iso + 11, iso)};
}

static struct str status_text(int64_t status, char *out UNUSED)
{
    return v1_task_status_word(status);
}

static struct str locality_text(int64_t locality, char *out UNUSED)
{
    return v1_task_locality_word(locality);
}

static struct str speculative_text(int64_t speculative, char *out UNUSED)
{
    return speculative == 1 ? STR_LIT("true") : STR_LIT("false");
}

/* ---- What is looked at ---- */

#define NUMBER number_text, "-0123456789", NULL
#define BYTES bytes_text, "-0123456789. BbEeGgIiKkMmPpTt", NULL
#define DURATION duration_text, "-0123456789. HhIiMmNnSs", NULL
#define DURATION_NS ns_text, "-0123456789. HhIiMmNnSs", NULL
#define DATE date_text, "0123456789/: ", NULL
#define WORD(text) text, NULL, NULL
#define STORED(sql) NULL, NULL, sql

enum whose { OF_ALL, OF_ENDED };

/* A column of tasks as text: by a function, or by a statement whose ?1 is the value. */
struct field {
    const char *column;
    enum whose whose;
    int64_t otherwise;               /* where the log does not say */
    struct str (*text)(int64_t value, char *out);
    const char *alphabet;            /* all that the texts are made of; NULL: anything */
    const char *sql;
};

static const struct field fields[] = {
    {"task_id", OF_ALL, 0, NUMBER},
    {"task_index", OF_ALL, 0, NUMBER},
    {"attempt", OF_ALL, 1, NUMBER},
    {"status", OF_ALL, UNKNOWN, WORD(status_text)},
    {"locality", OF_ALL, UNKNOWN, WORD(locality_text)},
    {"speculative", OF_ALL, 0, WORD(speculative_text)},
    {"launch_ms", OF_ALL, -1, DATE},
    {"getting_result_ms", OF_ALL, 0, WORD(fetch_text)},
    {"executor_ref", OF_ALL, UNKNOWN, STORED("SELECT executor_id FROM executor WHERE executor_ref = ?1")},
    {"host_ref", OF_ALL, UNKNOWN, STORED("SELECT name FROM host WHERE host_ref = ?1")},
    {"error_text_id", OF_ALL, UNKNOWN, STORED("SELECT coalesce((SELECT body FROM text WHERE text_id = ?1), '" ABSENT "')")},
    {"input_records", OF_ENDED, 0, NUMBER},
    {"output_records", OF_ENDED, 0, NUMBER},
    {"shuffle_records_read", OF_ENDED, 0, NUMBER},
    {"shuffle_write_records", OF_ENDED, 0, NUMBER},
    {"executor_deserialize_time_ms", OF_ENDED, 0, DURATION},
    {"executor_run_time_ms", OF_ENDED, 0, DURATION},
    {"jvm_gc_time_ms", OF_ENDED, 0, DURATION},
    {"result_serialization_time_ms", OF_ENDED, 0, DURATION},
    {"shuffle_fetch_wait_time_ms", OF_ENDED, 0, DURATION},
    {"shuffle_write_time_ns", OF_ENDED, 0, DURATION_NS},
    {"memory_spilled_bytes", OF_ENDED, 0, BYTES},
    {"disk_spilled_bytes", OF_ENDED, 0, BYTES},
    {"input_bytes", OF_ENDED, 0, BYTES},
    {"output_bytes", OF_ENDED, 0, BYTES},
    {"shuffle_remote_read_bytes", OF_ENDED, 0, BYTES},
    {"shuffle_read_bytes", OF_ENDED, 0, BYTES},
    {"shuffle_write_bytes", OF_ENDED, 0, BYTES},
};

/* Those whose values are made here (below). */
static const struct field peak_memory = {"peak_execution_memory_bytes", OF_ENDED, 0, BYTES};
static const struct field scheduler_delay = {"scheduler_delay_ms", OF_ALL, 0, DURATION};
static const struct field getting_result = {"getting_result_time_ms", OF_ALL, 0, DURATION};

/* ---- Looking ---- */

#define REMEMBERED_BITS 12

/* Whether the text of a value holds what is looked for: the last value of each slot. */
struct remembered {
    int64_t value;
    bool filled, found;
};

struct search {
    struct db *db;
    struct task_columns *columns;
    struct str text;
    unsigned char *keep;             /* 0: not asked for; SOUGHT; FOUND */
    unsigned char *progress;         /* owned: v1_task_progress */
    struct remembered remembered[1 << REMEMBERED_BITS];      /* of one field */
};

enum { SOUGHT = 1, FOUND = 2 };

static bool holds(struct str text, struct str part)
{
    int lower = tolower((unsigned char)part.ptr[0]), upper = toupper((unsigned char)part.ptr[0]);
    for (size_t i = 0; i + part.len <= text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c == lower || c == upper) && strncasecmp(text.ptr + i, part.ptr, part.len) == 0)
            return true;
    }
    return false;
}

static bool could_hold(const struct field *field, struct str part)
{
    for (size_t i = 0; field->alphabet && i < part.len; i++)
        if (!strchr(field->alphabet, part.ptr[i]))
            return false;
    return true;
}

static enum err_code value_holds(struct search *self, const struct field *field, sqlite3_stmt *texts, int64_t value, bool *ret, struct err *err)
{
    char out[TEXT_BYTES];
    if (!texts) {
        *ret = holds(field->text(value, out), self->text);
        return ERR_OK;
    }
    db_bind_i64(texts, 1, value);
    enum err_code rc = db_step(texts, err);
    *ret = rc == ERR_OK && holds(db_str(texts, 0), self->text);
    db_reset(texts);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code look_at(struct search *self, const struct field *field, const int64_t *values, struct err *err)
{
    sqlite3_stmt *texts = NULL;
    enum err_code rc = field->sql ? db_prepare(self->db, &texts, field->sql, err) : ERR_OK;
    memset(self->remembered, 0, sizeof self->remembered);
    for (size_t i = 0, count = task_columns_count(self->columns); i < count && rc == ERR_OK; i++) {
        if (self->keep[i] != SOUGHT || (field->whose == OF_ENDED && !(self->progress[i] & V1_TASK_ENDED)))
            continue;
        int64_t value = known_or(values[i], field->otherwise);
        struct remembered *slot = &self->remembered[(uint64_t)value * 0x9e3779b97f4a7c15u >> (64 - REMEMBERED_BITS)];
        if (!slot->filled || slot->value != value) {
            *slot = (struct remembered){value, true, false};
            rc = value_holds(self, field, texts, value, &slot->found, err);
        }
        if (slot->found)
            self->keep[i] = FOUND;
    }
    db_finalize(texts);
    return rc;
}

static enum err_code look_at_column(struct search *self, const struct field *field, struct err *err)
{
    const int64_t *values;
    if (!could_hold(field, self->text))
        return ERR_OK;
    enum err_code rc = task_columns_get(self->columns, field->column, &values, err);
    if (rc == ERR_OK)
        rc = look_at(self, field, values, err);
    task_columns_forget(self->columns, field->column);
    return rc;
}

static enum err_code look_at_peak_memory(struct search *self, struct err *err)
{
    int64_t has = 0;
    enum err_code rc = db_query_i64(self->db, "SELECT " V1_HAS_PEAK_EXECUTION_MEMORY " FROM application", &has, err);
    if (rc || has == 1)
        return rc ? rc : look_at_column(self, &peak_memory, err);
    bool found = holds(STR_LIT("0.0 B"), self->text);
    for (size_t i = 0, count = task_columns_count(self->columns); i < count; i++)
        if (found && self->keep[i] == SOUGHT && self->progress[i] & V1_TASK_ENDED)
            self->keep[i] = FOUND;
    return ERR_OK;
}

/* Of tasks that have not finished the delay is 0, and the time of getting the result lasts until now. */
static enum err_code look_at_made_times(struct search *self, struct err *err)
{
    const int64_t *delay_ms;
    CLEANUP(mem_freep) int64_t *fetching_ms = NULL;
    enum err_code rc;
    if (!could_hold(&scheduler_delay, self->text))
        return ERR_OK;
    size_t count = task_columns_count(self->columns);
    CLEANUP(mem_freep) int64_t *made = mem_alloc((count ? count : 1) * sizeof *made);
    if (!made)
        return err_nomem(err);
    if ((rc = task_columns_get(self->columns, "scheduler_delay_ms", &delay_ms, err)))
        return rc;
    for (size_t i = 0; i < count; i++)
        made[i] = self->progress[i] & V1_TASK_ENDED && self->progress[i] & V1_TASK_FINISHED ? delay_ms[i] : 0;
    task_columns_forget(self->columns, "scheduler_delay_ms");
    if ((rc = look_at(self, &scheduler_delay, made, err)) || (rc = v1_getting_result_times(self->db, self->columns, &fetching_ms, err)))
        return rc;
    return look_at(self, &getting_result, fetching_ms, err);
}

enum err_code v1_task_search(struct db *db, struct task_columns *columns, struct str text, unsigned char *keep, struct err *err)
{
    CLEANUP(mem_freep) struct search *self = mem_zalloc(sizeof *self);
    CLEANUP(mem_freep) unsigned char *progress = NULL;
    if (!self)
        return err_nomem(err);
    enum err_code rc = v1_task_progress(columns, &progress, err);
    if (rc)
        return rc;
    *self = (struct search){.db = db, .columns = columns, .text = text, .keep = keep, .progress = progress};
    size_t count = task_columns_count(columns);
    for (size_t i = 0; i < count; i++)
        keep[i] = keep[i] ? SOUGHT : 0;
    for (size_t i = 0; i < ARRAY_LENGTH(fields); i++)
        if ((rc = look_at_column(self, &fields[i], err)))
            return rc;
    if ((rc = look_at_peak_memory(self, err)) || (rc = look_at_made_times(self, err)))
        return rc;
    for (size_t i = 0; i < count; i++)
        keep[i] = keep[i] == FOUND;
    return ERR_OK;
}
