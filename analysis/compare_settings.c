/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings in which two runs differ (spec/findings.md 9.5), and which of them may be behind which part of the difference. */
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/fingerprint.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/mem.h"

const char *const setting_group_names[SETTING_GROUP_COUNT] = {"resources", "sql", "shuffle", "memory", "other"};

/* '*' stands for anything. Patterns have at most a few of them. */
static bool like(struct str name, const char *pattern)
{
    size_t i = 0, star_at = 0;
    const char *p = pattern, *star = NULL;
    while (i < name.len) {
        if (*p == '*') {
            star = p++;
            star_at = i;
        } else if (*p == name.ptr[i]) {
            p++;
            i++;
        } else if (star) {
            p = star + 1;
            i = ++star_at;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return !*p;
}

static bool like_any(struct str name, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (like(name, patterns[i]))
            return true;
    return false;
}

/* Ids, addresses and times: another value in every run. */
static const char *const per_run_keys[] = {
    "spark.app.id",
    "spark.app.startTime",
    "spark.app.submitTime",
    "spark.app.attempt.id",
    "spark.app.initial.*",
    "spark.driver.host",
    "spark.driver.bindAddress",
    "spark.driver.appUIAddress",
    "*.port",
    "spark.executor.id",
    "spark.yarn.*Dir",
    "spark.yarn.*dir",
    "spark.yarn.app.*",
    "spark.yarn.tags",
    "spark.kubernetes.*pod.name",
    "spark.kubernetes.submission*",
    "spark.kubernetes.*submission*",
    "spark.app-submission-id",
    "*token*",
    "*Token*",
    "spark.repl.class.uri",
    "spark.repl.class.outputDir",
    "spark.databricks.clusterUsageTags.*",
    "spark.databricks.job.*",
    "spark.org.apache.hadoop.yarn.*",
};

/* No reason for a difference between two runs. */
static const char *const beside_keys[] = {"spark.app.name", "spark.ui.*", "spark.eventLog.*", "spark.afterglow.*", "spark.airflow.*", "spark.oozie.*"};

bool setting_is_per_run(struct str name)
{
    return like_any(name, per_run_keys, ARRAY_LENGTH(per_run_keys));
}

/* A number with its unit, a master, or options of a JVM: every character counts. */
static bool is_exact(struct str value)
{
    size_t digits = 0;
    while (digits < value.len && ((value.ptr[digits] >= '0' && value.ptr[digits] <= '9') || value.ptr[digits] == '.' || value.ptr[digits] == '-'))
        digits++;
    if (digits && value.len - digits <= 2)
        return true;
    return str_starts(value, "local") || str_starts(value, "-") || str_starts(value, "[");
}

static bool same_value(struct str a, struct str b, struct buf *scratch)
{
    if (str_eq(a, b))
        return true;
    if (!str_known(a) || !str_known(b) || is_exact(a) || is_exact(b))
        return false;
    buf_clear(scratch);
    clean_name(scratch, a);
    size_t half = scratch->len;
    clean_name(scratch, b);
    return !buf_failed(scratch) && half * 2 == scratch->len && memcmp(scratch->data, scratch->data + half, half) == 0;
}

static enum setting_group group_of(struct str name)
{
    static const char *const memory[] = {"spark.executor.memory*", "spark.driver.memory*",     "spark.memory.*",         "spark.storage.*",
                                         "*memoryOverhead*",       "spark.*.extraJavaOptions", "spark.*.pyspark.memory", "spark.rapids.memory.*"};
    static const char *const resources[] = {"spark.master",     "spark.executor.instances", "spark.executor.cores",       "spark.executor.resource.*", "spark.driver.cores",
                                            "spark.cores.max",  "spark.task.cpus",          "spark.task.resource.*",      "spark.dynamicAllocation.*", "spark.scheduler.*",
                                            "spark.yarn.queue", "spark.kubernetes.*limit*", "spark.kubernetes.*request*", "spark.default.parallelism", "spark.databricks.*"};
    static const char *const shuffle[] = {"spark.shuffle.*", "spark.reducer.*", "spark.push.*", "spark.sql.shuffle.*", "spark.io.*", "spark.serializer*", "spark.kryo*"};
    return like_any(name, memory, ARRAY_LENGTH(memory))         ? SETTINGS_MEMORY
           : like_any(name, resources, ARRAY_LENGTH(resources)) ? SETTINGS_RESOURCES
           : like_any(name, shuffle, ARRAY_LENGTH(shuffle))     ? SETTINGS_SHUFFLE
           : str_starts(name, "spark.sql.")                     ? SETTINGS_SQL
                                                                : SETTINGS_OTHER;
}

static int by_group(const void *a, const void *b)
{
    const struct compare_setting *x = a, *y = b;
    return x->group != y->group ? (int)x->group - (int)y->group : str_compare(x->name, y->name);
}

/* Which keys may be behind which part: those that the rules about it name. */
static const struct {
    enum compare_part_kind kind;
    const char *keys[9];
} links[] = {
    {COMPARE_STARTUP, {"spark.master", "spark.yarn.queue", "spark.executor.instances", "spark.dynamicAllocation.*", "spark.jars*", "spark.submit.*", "spark.executor.memory"}},
    {COMPARE_WAIT_EXEC, {"spark.executor.instances", "spark.dynamicAllocation.*", "spark.yarn.queue", "spark.master", "spark.cores.max", "spark.executor.memory"}},
    {COMPARE_LOST,
     {"spark.speculation*", "spark.task.maxFailures", "spark.executor.memory*", "*memoryOverhead*", "spark.stage.*", "spark.decommission.*", "spark.excludeOnFailure.*"}},
    {COMPARE_PLAN,
     {"spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.*", "spark.sql.join.*", "spark.sql.shuffle.partitions", "spark.sql.cbo.*", "spark.sql.statistics.*",
      "spark.sql.optimizer.*", "spark.sql.broadcastTimeout"}},
    {COMPARE_DATA, {"spark.sql.files.*", "spark.sql.sources.*", "spark.sql.parquet.*", "spark.sql.orc.*"}},
    {COMPARE_SLOTS, {"spark.master", "spark.executor.instances", "spark.executor.cores", "spark.cores.max", "spark.dynamicAllocation.*", "spark.task.cpus", "spark.yarn.queue"}},
    {COMPARE_SKEW, {"spark.sql.adaptive.*", "spark.sql.shuffle.partitions", "spark.speculation*", "spark.default.parallelism"}},
    {COMPARE_GC, {"spark.executor.memory*", "spark.memory.*", "spark.executor.extraJavaOptions", "spark.executor.cores", "spark.sql.shuffle.partitions"}},
    {COMPARE_FETCH, {"spark.shuffle.*", "spark.reducer.*", "spark.sql.shuffle.partitions"}},
    {COMPARE_SPILL, {"spark.executor.memory*", "spark.memory.*", "spark.executor.cores", "spark.sql.shuffle.partitions", "spark.shuffle.spill.*"}},
    {COMPARE_DELAY, {"spark.locality.*", "spark.scheduler.*", "spark.driver.cores"}},
    {COMPARE_DESER, {"spark.serializer", "spark.kryo*", "spark.jars*"}},
    {COMPARE_PYTHON, {"spark.sql.execution.arrow.*", "spark.python.*", "spark.sql.execution.pythonUDF.*"}},
    {COMPARE_SLOWER_ROWS, {"spark.sql.codegen.*", "spark.io.compression.*", "spark.sql.parquet.*", "spark.executor.extraJavaOptions", "spark.task.cpus"}},
};

static void link_part(struct compare_part *part, const struct comparison *self)
{
    for (size_t i = 0; i < ARRAY_LENGTH(links); i++)
        for (size_t k = 0; links[i].kind == part->kind && k < ARRAY_LENGTH(links[i].keys) && links[i].keys[k]; k++)
            for (size_t s = 0; s < self->setting_count && part->link_count < COMPARE_LINKS; s++)
                if (like(self->settings[s].name, links[i].keys[k]))
                    part->links[part->link_count++] = s;
}

enum err_code compare_settings(struct comparison *self, struct err *err)
{
    const struct run_record *base = &self->base, *new_run = &self->new_run;
    CLEANUP(buf_dispose) struct buf scratch;
    buf_init(&scratch, (size_t)1 << 24);
    if (!(self->settings = mem_array(base->setting_count + new_run->setting_count + 1, sizeof *self->settings)))
        return err_nomem(err);
    for (size_t i = 0, k = 0; i < base->setting_count || k < new_run->setting_count;) {
        const struct run_setting *before = i < base->setting_count ? &base->settings[i] : NULL, *after = k < new_run->setting_count ? &new_run->settings[k] : NULL;
        int order = !before ? 1 : !after ? -1 : str_compare(before->name, after->name);
        struct str name = before && order <= 0 ? before->name : after ? after->name : STR_NONE;
        struct str old = before && order <= 0 ? before->value : STR_NONE, value = after && order >= 0 ? after->value : STR_NONE;
        i += order <= 0;
        k += order >= 0;
        if (same_value(old, value, &scratch))
            continue;
        if (setting_is_per_run(name) || like_any(name, beside_keys, ARRAY_LENGTH(beside_keys)))
            self->hidden_setting_count++;
        else
            self->settings[self->setting_count++] = (struct compare_setting){name, old, value, group_of(name)};
    }
    qsort(self->settings, self->setting_count, sizeof *self->settings, by_group);
    for (size_t i = 0; i < self->part_count; i++)
        link_part(&self->parts[i], self);
    return ERR_OK;
}
