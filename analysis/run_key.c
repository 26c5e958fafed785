/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_key.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/fingerprint.h"
#include "base/arena.h"
#include "base/attributes.h"
#include "base/mem.h"

#define SHAPE_MAX 512 /* stages of one run that are told apart: 8 kB; what is beyond by task time is summed up */

/* Properties that say which job this is, in the order of 9.1: the surest first. Where two are named, both are needed. */
static const struct {
    const char *key, *with;
    enum { AS_IT_IS, NUMBERED /* the number of the run is in it */, TAGS /* one of them may be "job:…" */ } value;
} job_properties[] = {
    {"spark.afterglow.job", NULL, AS_IT_IS}, /* set by users for this very purpose */
    {"spark.airflow.dag_id", "spark.airflow.task_id", AS_IT_IS},
    {"spark.yarn.tags", NULL, TAGS},
    {"spark.job.tags", NULL, TAGS},
    {"spark.oozie.action.id", NULL, NUMBERED}, /* 0000012-261129061100123-oozie-oozi-W@load */
    {"spark.databricks.job.id", NULL, AS_IT_IS},
};
/* "job-123-run-456": a Databricks cluster that was made for one run of a job. */
static const char cluster_name_property[] = "spark.databricks.clusterUsageTags.clusterName";

/* Names that many different programs have: shells and notebooks. */
static const char *const anybodys_names[] = {"spark shell",      "spark sql::",  "sparksql::",           "pysparkshell",           "sparkr", "zeppelin", "jupyter",
                                             "databricks shell", "livy-session", "spark connect server", "thrift jdbc/odbc server"};

static bool is_blank(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != ' ' && text.ptr[i] != '\t')
            return false;
    return true;
}

/* "a,job:nightly,b" → "nightly". */
static struct str job_tag(struct str tags)
{
    for (size_t i = 0; i < tags.len;) {
        size_t n = 0;
        while (i + n < tags.len && tags.ptr[i + n] != ',')
            n++;
        struct str tag = {tags.ptr + i, n};
        while (tag.len && tag.ptr[0] == ' ')
            tag = (struct str){tag.ptr + 1, tag.len - 1};
        if (str_starts(tag, "job:") && tag.len > 4)
            return (struct str){tag.ptr + 4, tag.len - 4};
        i += n + 1;
    }
    return STR_NONE;
}

/* "job-123-run-456" → "job-123"; empty for any other name. */
static struct str job_of_cluster(struct str name)
{
    size_t n = 4; /* behind "job-" */
    if (!str_starts(name, "job-"))
        return STR_NONE;
    while (n < name.len && name.ptr[n] >= '0' && name.ptr[n] <= '9')
        n++;
    return n > 4 && n < RUN_KEY_MAX_BYTES && str_starts((struct str){name.ptr + n, name.len - n}, "-run-") ? (struct str){name.ptr, n} : STR_NONE;
}

static struct str next_word(struct str text, size_t *at)
{
    while (*at < text.len && text.ptr[*at] == ' ')
        ++*at;
    size_t begin = *at;
    while (*at < text.len && text.ptr[*at] != ' ')
        ++*at;
    return (struct str){text.ptr + begin, *at - begin};
}

struct str run_key_program(struct str command)
{
    static const char *const endings[] = {".py", ".jar", ".R", ".r", ".sql"};
    size_t at = 0;
    bool first = true, takes_value = false;
    for (struct str word; (word = next_word(command, &at)).len; first = false) {
        if (takes_value) { /* of an option: --jars a.jar is no program */
            takes_value = false;
            continue;
        }
        if (str_is(word, "--class")) {
            struct str main_class = next_word(command, &at);
            return main_class.len ? main_class : STR_NONE;
        }
        if (str_starts(word, "--")) {
            takes_value = !memchr(word.ptr, '=', word.len);
            continue;
        }
        for (size_t i = 0; i < ARRAY_LENGTH(endings); i++)
            if (!first && str_ends(word, endings[i]))
                return str_base_name(word);
    }
    return STR_NONE;
}

static bool is_anybodys(struct str cleaned)
{
    if (is_blank(cleaned) || str_is(cleaned, "#"))
        return true;
    for (size_t i = 0; i < ARRAY_LENGTH(anybodys_names); i++)
        if (str_starts(cleaned, anybodys_names[i]))
            return true;
    return false;
}

static void cut(struct buf *out, size_t begin)
{
    if (out->len - begin > RUN_KEY_MAX_BYTES) {
        out->len = begin + utf8_valid_prefix(out->data + begin, RUN_KEY_MAX_BYTES);
        out->data[out->len] = '\0';
    }
}

const char *run_key_make(struct buf *out, run_key_lookup_fn *lookup, void *context, struct str name, struct str user, struct str command)
{
    size_t begin = out->len;
    for (size_t i = 0; i < ARRAY_LENGTH(job_properties); i++) {
        bool tagged = job_properties[i].value == TAGS;
        struct str value = lookup(context, job_properties[i].key), with = job_properties[i].with ? lookup(context, job_properties[i].with) : STR_NONE;
        if (tagged)
            value = job_tag(value);
        if (is_blank(value) || (job_properties[i].with && is_blank(with)))
            continue;
        if (tagged)
            buf_text(out, "job:");
        else
            buf_printf(out, "%s=", job_properties[i].key);
        if (job_properties[i].value == NUMBERED)
            clean_name(out, value);
        else
            buf_append(out, value.ptr, value.len);
        if (with.len) {
            buf_char(out, '/');
            buf_append(out, with.ptr, with.len);
        }
        cut(out, begin);
        return job_properties[i].key;
    }
    struct str cluster_job = job_of_cluster(lookup(context, cluster_name_property));
    if (cluster_job.len) {
        buf_append(out, cluster_job.ptr, cluster_job.len);
        return cluster_name_property;
    }
    clean_name(out, name);
    if (is_anybodys((struct str){out->data ? out->data + begin : "", out->len - begin})) {
        out->len = begin;
        if (out->data)
            out->data[begin] = '\0';
        return "none";
    }
    struct str program = run_key_program(command);
    buf_char(out, '|');
    buf_append(out, user.ptr ? user.ptr : "", user.len);
    buf_char(out, '|');
    if (str_known(program))
        clean_name(out, program);
    cut(out, begin);
    return "name";
}

/* --- shapes */

struct shape_pair {
    int64_t fingerprint, task_time_ms;
};

static struct shape_pair pair_at(struct str shape, size_t i)
{
    struct shape_pair pair;
    memcpy(&pair, shape.ptr + i * sizeof pair, sizeof pair);
    pair.task_time_ms = MAX(pair.task_time_ms, 0);
    return pair;
}

double shape_overlap(struct str a, struct str b)
{
    size_t a_count = a.len / sizeof(struct shape_pair), b_count = b.len / sizeof(struct shape_pair), i = 0, k = 0;
    double shared = 0, all = 0;
    while (i < a_count || k < b_count) {
        struct shape_pair x = i < a_count ? pair_at(a, i) : (struct shape_pair){0, 0}, y = k < b_count ? pair_at(b, k) : (struct shape_pair){0, 0};
        bool take_a = i < a_count && (k == b_count || x.fingerprint <= y.fingerprint), take_b = k < b_count && (i == a_count || y.fingerprint <= x.fingerprint);
        double ms = (take_a ? (double)x.task_time_ms : 0) + (take_b ? (double)y.task_time_ms : 0);
        shared += take_a && take_b ? ms : 0;
        all += ms;
        i += take_a;
        k += take_b;
    }
    return all > 0 ? shared / all : 1;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = ((const struct shape_pair *)a)->task_time_ms, y = ((const struct shape_pair *)b)->task_time_ms;
    return (x < y) - (x > y);
}

static int by_fingerprint(const void *a, const void *b)
{
    int64_t x = ((const struct shape_pair *)a)->fingerprint, y = ((const struct shape_pair *)b)->fingerprint;
    return (x > y) - (x < y);
}

/* In: one pair a stage attempt, by fingerprint. Out: as stored. */
static size_t shape_fold(struct shape_pair *pairs, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && pairs[kept - 1].fingerprint == pairs[i].fingerprint)
            pairs[kept - 1].task_time_ms = add_known(pairs[kept - 1].task_time_ms, pairs[i].task_time_ms);
        else
            pairs[kept++] = pairs[i];
    }
    if (kept > SHAPE_MAX) {
        qsort(pairs, kept, sizeof *pairs, by_time);
        struct shape_pair rest = {0, 0};
        for (size_t i = SHAPE_MAX - 1; i < kept; i++)
            rest.task_time_ms = add_known(rest.task_time_ms, pairs[i].task_time_ms);
        pairs[SHAPE_MAX - 1] = rest;
        kept = SHAPE_MAX;
    }
    if (kept)
        qsort(pairs, kept, sizeof *pairs, by_fingerprint);
    return kept;
}

static enum err_code shape_load(struct db *app, struct shape_pair **ret, size_t *ret_count, struct err *err)
{
    sqlite3_stmt *row = NULL;
    size_t count = 0, capacity = 0;
    enum err_code rc = db_prepare(app, &row,
                                  "SELECT f.fingerprint, s.task_time_ms FROM stage_fingerprint AS f JOIN stage AS s ON s.stage_ref = f.stage_ref "
                                  "WHERE s.task_time_ms > 0 ORDER BY f.fingerprint",
                                  err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        if (mem_grow((void **)ret, &capacity, count + 1, SIZE_MAX / sizeof **ret, sizeof **ret))
            rc = err_nomem(err);
        else
            (*ret)[count++] = (struct shape_pair){sqlite3_column_int64(row, 0), db_i64(row, 1)};
    }
    db_finalize(row);
    *ret_count = count;
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* --- in the database */

struct settings_of {
    sqlite3_stmt *row;
    struct arena values; /* of what was asked for */
};

static struct str setting(void *context, const char *key)
{
    struct settings_of *self = context;
    struct str found = STR_NONE;
    db_bind_str(self->row, 1, str_of(key));
    if (!db_step(self->row, NULL)) {
        struct str value = db_str(self->row, 0);
        if (str_known(value) && arena_str(&self->values, (struct str){value.ptr, MIN(value.len, (size_t)4 * RUN_KEY_MAX_BYTES)}, &found))
            found = STR_NONE;
    }
    db_reset(self->row);
    return found;
}

static enum err_code write_row(struct db *app, struct str key, const char *source, bool excluded, const struct shape_pair *pairs, size_t count, struct err *err)
{
    sqlite3_stmt *insert = NULL;
    enum err_code rc = db_prepare(app, &insert, "INSERT INTO run_identity VALUES (?1, ?2, ?3, ?4)", err);
    if (rc)
        return rc;
    db_bind_str(insert, 1, key);
    db_bind_str(insert, 2, str_of(source));
    db_bind_i64(insert, 3, excluded);
    db_bind_blob(insert, 4, count ? (const void *)pairs : "", count * sizeof *pairs);
    rc = db_run(insert, err);
    db_finalize(insert);
    return rc;
}

enum err_code run_identity_write(struct db *app, struct err *err)
{
    CLEANUP(mem_freep) struct shape_pair *pairs = NULL;
    CLEANUP(buf_dispose) struct buf key;
    struct settings_of settings = {0};
    sqlite3_stmt *run = NULL;
    size_t count = 0;
    enum err_code rc;
    buf_init(&key, (size_t)4 << 20);
    arena_init(&settings.values, (size_t)1 << 20);
    if (!(rc = db_exec(app, "DELETE FROM run_identity", err)) && !(rc = shape_load(app, &pairs, &count, err)) &&
        !(rc = db_prepare(app, &settings.row,
                          "SELECT value FROM (SELECT value FROM environment WHERE section = 1 AND name = ?1 UNION ALL "
                          "SELECT value FROM job_property WHERE name = ?1 AND job_id = (SELECT min(job_id) FROM job)) LIMIT 1",
                          err)) &&
        !(rc = db_prepare(app, &run, "SELECT name, user, (SELECT value FROM environment WHERE section = 3 AND name = 'sun.java.command') FROM application LIMIT 1", err))) {
        rc = db_step(run, err);
        bool there = !rc;
        if (!rc || rc == ERR_EOF) {
            const char *source = run_key_make(&key, setting, &settings, there ? db_str(run, 0) : STR_NONE, there ? db_str(run, 1) : STR_NONE, there ? db_str(run, 2) : STR_NONE);
            bool excluded = str_is(setting(&settings, "spark.afterglow.baseline"), "exclude");
            rc = buf_failed(&key) ? err_nomem(err) : write_row(app, strcmp(source, "none") == 0 ? STR_NONE : buf_str(&key), source, excluded, pairs, shape_fold(pairs, count), err);
        }
    }
    db_finalize(run);
    db_finalize(settings.row);
    arena_dispose(&settings.values);
    return rc;
}
