/* SPDX-License-Identifier: Apache-2.0
 *
 * What is shown to copy, where the cause of a finding wants something else than its rule usually does. */
#include <string.h>

#include "analysis/finding.h"
#include "base/attributes.h"

/* By cause; what is advised there is in messages: rules/ID/do_CAUSE. */
static const struct {
    const char *rule, *cause, *fixes;
} cures_of_causes[] = {
    {"APP.DRIVER_GAP", "at_the_end", "DYNALLOC"},
    {"APP.DRIVER_GAP", "shell", "DYNALLOC"},
    {"APP.DRIVER_GAP", "server", "DYNALLOC"},
    {"APP.START_WAIT", "cluster", ""},
    {"APP.START_WAIT", "program", ""},
    {"APP.SQL_DRIVER", "first", ""},
    {"APP.SQL_DRIVER", "planning", "PARALLEL_READ"},
    {"APP.SQL_DRIVER", "commit", "COALESCE_WRITE"},
    {"APP.SQL_DRIVER", "between", "BCAST_THRESH"},
    {"APP.SQL_DRIVER", "command", ""},
    {"APP.LOW_UTIL", "driver", "DYNALLOC"},
    {"APP.LOW_UTIL", "shell", "DYNALLOC"},
    {"APP.LOW_UTIL", "server", "DYNALLOC"},
    {"APP.LOW_UTIL", "few_tasks", "REPART DYNALLOC STATIC"},
    {"APP.OVERALLOC", "few_tasks", "REPART STATIC DYNALLOC"},
    {"APP.LOW_UTIL", "tail", ""},
    {"APP.LOW_UTIL", "sched_wait", ""},
    {"STAGE.FEW_TASKS", "coalesced", ""},
    {"STAGE.FEW_TASKS", "gathered", "WINDOW_PART REPART"},
    {"STAGE.FEW_TASKS", "scan", "MAXPART REPART"},
    {"STAGE.FEW_TASKS", "shuffle", "SHUFPART REPART AQE_MIN"},
    {"STAGE.FEW_TASKS", "rdd_shuffle", "RDDPART"},
    {"STAGE.FEW_TASKS", "source", "REPART"},
    {"STAGE.SINGLE_TASK", "coalesced", ""},
    {"STAGE.SINGLE_TASK", "scan", "PARALLEL_READ REPART"},
    {"STAGE.SINGLE_TASK", "shuffle", "WINDOW_PART REPART"},
    {"STAGE.SINGLE_TASK", "rdd_shuffle", "RDDPART"},
    {"STAGE.SINGLE_TASK", "source", "REPART"},
    {"STAGE.TINY_TASKS", "scan", "COMPACT MAXPART"},
    {"STAGE.TINY_TASKS", "shuffle", "SHUFPART AQE_ON"},
    {"STAGE.TINY_TASKS", "rdd_shuffle", "RDDPART"},
    {"STAGE.TINY_TASKS", "listing", "LISTING"},
    {"STAGE.TINY_TASKS", "source", "COALESCE"},
    {"STAGE.SCHED_DELAY", "few", ""},
    {"STAGE.DESER", "tasks", ""},
    {"STAGE.STRAGGLER", "code_cpu", "KEYSAMPLE"},
    {"STAGE.STRAGGLER", "deser", ""},
    {"STAGE.UNEVEN", "executors", "DYNALLOC SPECULATE"}, /* nothing failed: Spark excludes nobody for being slow */
    {"STAGE.UNEVEN", "partitions", "REPART"},
    {"STAGE.GC_HIGH", "not_cached", "SHUFPART G1 MEMORY"},
    {"STAGE.SPILL", "python", "RDDPART"},
    {"STAGE.SPILL", "input", "REPART MEMORY"},
    {"STAGE.SPILL", "few", "KEYSAMPLE SALT AQE_SKEW"},
    {"RDD.RECOMPUTE", "memory_tight", "CHECKPOINT"},
    {"SQL.SMALL_FILES_WRITE", "partitioned", "REPART_BY"},
    {"SQL.BROADCAST_MISSED", "two_keys", "BROADCAST_ON BCAST_THRESH"},
    {"SQL.LONG_PLAN", "filter", ""},
    {"SQL.AQE_SKEW_UNHANDLED", "not a shuffled join", "HOTSPLIT EXPLODE_JOIN"},
    {"SQL.AQE_SKEW_UNHANDLED", "another operator needs its partitioning", "HOTSPLIT"},
    {"SQL.DPP", "pruned", ""},
    {"SQL.PYTHON_UDF", "arrow", ""},
    {"SQL.PYTHON_UDF", "rdd", ""},
    {"CONF.MEMORY_RATIO", "much overhead", "OVERHEAD"},
    {"EXEC.LOST", "heap full", "MEMORY"},
    {"EXEC.LOST", "preempted", "SERVICE"},
    {"EXEC.LOST", "spot reclaimed", "SERVICE"},
    {"EXEC.LOST", "disk full", "SERVICE"},
    {"EXEC.LOST", "disconnected", "SERVICE"},
    {"EXEC.LOST", "terminated (143)", "SERVICE"},
    {"EXEC.LOST", "unknown", "SERVICE"},
    {"LOG.INCOMPLETE", "compacted", ""},
    {"LOG.INCOMPLETE", "running", ""},
    {"LOG.INCOMPLETE", "abandoned", ""},
};
/* Of failed jobs and tasks, and of those that ran out of memory, by what they say (error_text.h): nothing to copy cures an error in somebody's program. */
static const struct {
    const char *kind, *fixes;
} cures_of_failures[] = {
    {"oom_heap", "SHUFPART MEMORY"}, {"oom_container", "OVERHEAD MEMORY"}, {"oom_python", "OVERHEAD SHUFPART"}, {"fetch", "SERVICE"},
    {"timeout", "TASK_RETRY"},       {"class_not_found", "JAR_EXCL"},      {"driver", "RESULT_FILE MEMORY"},
};

const char *finding_fixes(const struct finding *finding)
{
    const struct rule *rule = finding->rule;
    const char *cause = finding->cause ? finding->cause : "";
    for (size_t i = 0; i < ARRAY_LENGTH(cures_of_causes); i++)
        if (strcmp(rule->id, cures_of_causes[i].rule) == 0 && strcmp(cause, cures_of_causes[i].cause) == 0)
            return cures_of_causes[i].fixes;
    if (strcmp(rule->id, "JOB.FAILED") != 0 && strcmp(rule->id, "TASK.FAILURES") != 0 && strcmp(rule->id, "TASK.OOM") != 0)
        return rule->fixes;
    for (size_t i = 0; i < ARRAY_LENGTH(cures_of_failures); i++)
        if (strcmp(cause, cures_of_failures[i].kind) == 0)
            return cures_of_failures[i].fixes;
    return "";
}

static bool is_caused_by(const struct finding *finding, const char *cause)
{
    return finding->cause && strcmp(finding->cause, cause) == 0;
}

bool finding_is_usual(const struct finding *finding)
{
    return strcmp(finding->rule->id, "STAGE.WARMUP") == 0 || is_caused_by(finding, "shell") || is_caused_by(finding, "server") ||
           (strcmp(finding->rule->id, "APP.SQL_DRIVER") == 0 && is_caused_by(finding, "first"));
}

bool finding_is_symptom(const struct finding *finding)
{
    const char *id = finding->rule->id;
    return strcmp(id, "APP.LOW_UTIL") == 0 || strcmp(id, "APP.OFF_CPU") == 0 || finding_is_usual(finding) ||
           (strcmp(id, "APP.OVERALLOC") == 0 && (is_caused_by(finding, "spare_slots") || is_caused_by(finding, "few_tasks")));
}

bool finding_is_no_fault(const struct finding *finding)
{
    const char *id = finding->rule->id;
    return strcmp(id, "STAGE.SKIPPED") == 0 || strcmp(id, "APP.SCALING") == 0 || (strcmp(id, "SQL.DPP") == 0 && is_caused_by(finding, "pruned"));
}
