/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of all rules (spec/findings.md 7): what the measure is in, from where on it matters, and what helps. Thresholds stand here and nowhere else, but for the floors of subjects
 * (mutes), which stand in the file of their family. Behind each line: where its thresholds come from. Marks: S0 … S3 seed articles, DF DataFlint, SL Sparklens, DE Dr. Elephant,
 * RT rapids-tools, MCP shs tools, YQ yaooqinn advisor, SA spark-advisor, CP Compass, ST spark-tui, MS Microsoft, DB Databricks, SS SparkScope, CZ Cazpian, CO Cloudera; own: chosen from
 * measured logs (spec/findings.md 11). Fixes are snippets of appendix A, the first one first. */
#include "analysis/finding.h"

#include <float.h>
#include <math.h>

#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)
#define TIB (1024.0 * GIB)
#define NO ((double)NAN) /* this step does not exist */
#define ANY DBL_MIN      /* anything above 0 */

#define UP(info, low, moderate, severe) \
    {                                   \
        false,                          \
        {                               \
            info, low, moderate, severe \
        }                               \
    }
#define DOWN(info, low, moderate, severe) \
    {                                     \
        true,                             \
        {                                 \
            info, low, moderate, severe   \
        }                                 \
    }
#define TIME RULE_TIME
#define HEALTH RULE_HEALTH
#define INFO GRADE_INFO
#define LOW GRADE_LOW
#define MODERATE GRADE_MODERATE
#define SEVERE GRADE_SEVERE

/* clang-format off */
const struct rule rules[] = {
    /* 7.1 the application and its jobs */
    {"APP.START_WAIT", 3, TIME, "slow", SUBJECT_APP, "s", UP(30, 60, 180, 600), SEVERE, "DYNALLOC"},                              /* own: 9–20 s is normal on idle hosts */
    {"APP.WAIT_EXECUTORS", 1, TIME, "slow", SUBJECT_APP, "share", UP(0.01, 0.02, 0.05, 0.15), SEVERE, "DYNALLOC"},                /* own */
    {"APP.DRIVER_GAP", 1, TIME, "slow", SUBJECT_APP, "share", UP(0.05, 0.10, 0.20, 0.40), SEVERE, "THREADS DYNALLOC"},            /* DB gaps of a minute; CP 30 %; own */
    {"APP.SQL_DRIVER", 2, TIME, "slow", SUBJECT_SQL, "share", UP(0.03, 0.05, 0.10, 0.25), SEVERE, "COALESCE_WRITE PARALLEL_READ"},/* own */
    {"APP.LOW_UTIL", 2, HEALTH, "slow", SUBJECT_APP, "share", UP(0.30, 0.50, 0.70, 0.85), MODERATE, "STATIC"},                    /* YQ 20/50 %, DF 50, SA 60 */
    {"APP.OFF_CPU", 1, HEALTH, "slow", SUBJECT_APP, "share", UP(0.40, 0.60, NO, NO), LOW, ""},                                    /* own: 0.9 on hosts with more slots than processors */
    {"APP.OVERALLOC", 3, HEALTH, "config", SUBJECT_APP, "share", UP(0.10, 0.25, 0.50, 0.75), MODERATE, "STATIC DYNALLOC"},        /* own, CP */
    {"APP.SCALING", 2, HEALTH, "config", SUBJECT_APP, "ratio", UP(NO, NO, NO, NO), INFO, ""},                                     /* always info: the family says so */
    {"APP.DYN_ALLOC", 3, HEALTH, "config", SUBJECT_APP, "count", UP(1, 2, 3, NO), SEVERE, "DYNALLOC"},                            /* DE, RT, S1 */
    {"JOB.MANY_SMALL", 2, TIME, "slow", SUBJECT_APP, "share", UP(0.03, 0.10, 0.25, 0.50), SEVERE, "THREADS FAIR"},                /* own */
    {"JOB.FAILED", 3, HEALTH, "failure", SUBJECT_JOB, "share", UP(ANY, 0.10, 0.30, 0.50), SEVERE, "TASK_RETRY"},                  /* DE 0.1 / 0.3 / 0.5 */

    /* 7.2 how the tasks of a stage are spread */
    {"STAGE.SKEW_DATA", 3, TIME, "slow", SUBJECT_STAGE, "ratio", UP(2, 3, 10, 30), SEVERE,
     "KEYSAMPLE FILTER_KEY TWOSTAGE SALT AQE_SKEW HOTSPLIT EXPLODE_JOIN SHUFPART"},                                               /* S2 3×; S1 S3 DF CP 10×; own 30 */
    {"STAGE.SKEW_WRITE", 1, HEALTH, "data", SUBJECT_STAGE, "ratio", UP(10, 30, NO, NO), LOW, "REPART SALT"},                      /* S3 10× */
    {"STAGE.STRAGGLER", 3, TIME, "slow", SUBJECT_STAGE, "ratio", UP(1.5, 3, 10, 30), SEVERE, "SPECULATE THREADS KEYSAMPLE"},      /* DB 1.5; S2 3; S1 10 */
    {"STAGE.SLOW_HOST", 3, TIME, "slow", SUBJECT_EXECUTOR, "ratio", UP(1.3, 1.5, 2.5, 5), SEVERE, "SPECULATE"},                   /* own */
    {"STAGE.SLOW_STORAGE", 1, TIME, "slow", SUBJECT_STAGE, "ratio", UP(3, 5, 10, 30), SEVERE, "LOCALITY"},                        /* CP 10 */
    {"STAGE.UNEVEN", 1, TIME, "slow", SUBJECT_STAGE, "ratio", UP(0.5, 0.75, 1.0, NO), MODERATE, "REPART DYNALLOC EXCLUDE"},       /* ST cv > 1 */
    {"STAGE.WARMUP", 1, TIME, "slow", SUBJECT_APP, "share", UP(0.10, 0.25, NO, NO), LOW, ""},                                     /* own */

    /* 7.3 memory, garbage collection, spill */
    {"STAGE.GC_HIGH", 2, TIME, "memory", SUBJECT_STAGE, "share", UP(0.05, 0.10, 0.20, 0.30), SEVERE, "UNPERSIST SHUFPART KRYO PERSIST_SER G1 MEMORY"}, /* SS 5; CZ 5/10; S3 MCP YQ 10; SA 20; RT 30 */
    {"EXEC.GC_LONG", 1, HEALTH, "memory", SUBJECT_EXECUTOR, "s", UP(1, 2, 5, 15), SEVERE, "G1 MEMORY"},                           /* S2 "one GC above 1 s" */
    {"EXEC.GC_LOW", 2, HEALTH, "memory", SUBJECT_APP, "share", DOWN(0.01, NO, NO, NO), INFO, "MEMORY"},                           /* DE 0.05 … 0.01 */
    {"STAGE.SPILL", 3, TIME, "memory", SUBJECT_STAGE, "ratio", UP(ANY, 0.10, 0.50, 2.0), SEVERE, "SHUFPART MEMORY"},              /* SA, ST any byte; DE 0.01 … 0.5; YQ 10 %; own */
    {"EXEC.MEM_NEAR", 3, HEALTH, "memory", SUBJECT_EXECUTOR, "share", UP(0.85, 0.90, 0.95, 0.99), SEVERE, "UNPERSIST SHUFPART MEMORY OVERHEAD"},       /* DF 95, SA 80 */
    {"EXEC.MEM_OVER", 2, HEALTH, "memory", SUBJECT_APP, "share", UP(0.30, 0.50, 0.70, NO), MODERATE, "MEMORY"},                   /* DF 30, SA 60, CP 70 */
    {"DRIVER.MEM", 2, HEALTH, "memory", SUBJECT_EXECUTOR, "share", UP(0.80, 0.90, 0.95, 0.99), SEVERE, "RESULT_FILE BCAST_THRESH MEMORY"},             /* DF 95 */
    {"EXEC.STORAGE_FULL", 2, HEALTH, "memory", SUBJECT_EXECUTOR, "share", UP(0.50, 0.70, 0.85, 0.95), SEVERE, "UNPERSIST PERSIST_SER MEMORY"},         /* S0 "used close to max" */
    {"EXEC.HOTSPOT", 2, HEALTH, "data", SUBJECT_EXECUTOR, "ratio", UP(1.8, 3.2, 10, NO), MODERATE, "LOCALITY REPART"},            /* DE 1.33 … 10 */

    /* 7.4 shuffle, input and output */
    {"STAGE.FETCH_WAIT", 2, TIME, "slow", SUBJECT_STAGE, "share", UP(0.05, 0.10, 0.25, 0.50), SEVERE, "SHUFFLE_LESS BROADCAST SERVICE"},               /* own; SL reports it, nobody grades it */
    {"STAGE.SHUFFLE_WRITE", 1, TIME, "slow", SUBJECT_STAGE, "share", UP(0.15, 0.25, 0.40, 0.60), SEVERE, "TWOSTAGE"},             /* own: healthy maps show 0.12 of raw write time */
    {"STAGE.SHUFFLE_VOLUME", 2, HEALTH, "data", SUBJECT_STAGE, "ratio", UP(2, 3, 10, NO), MODERATE, "PUSHDOWN BROADCAST"},        /* YQ 2, SA 3 */
    {"STAGE.SHUFFLE_REREAD", 1, HEALTH, "data", SUBJECT_APP, "ratio", UP(1.5, 2, 5, NO), MODERATE, "PERSIST"},                    /* S2 "close to 1:1", S3 "network storm" */
    {"STAGE.FEW_TASKS", 4, TIME, "slow", SUBJECT_STAGE, "ratio", DOWN(0.9, 0.75, 0.5, 0.25), SEVERE, "MAXPART SHUFPART REPART AQE_MIN"},               /* S0: 2–3 × slots */
    {"STAGE.SINGLE_TASK", 3, TIME, "slow", SUBJECT_STAGE, "s", UP(3, 10, 60, 300), SEVERE, "WINDOW_PART REPART PARALLEL_READ COALESCE_WRITE"},         /* CP 20 min; own */
    {"STAGE.TINY_TASKS", 2, TIME, "slow", SUBJECT_STAGE, "share", UP(0.10, 0.25, 0.40, 0.60), SEVERE, "SHUFPART AQE_ON MAXPART COMPACT COALESCE"},     /* DF 5,000 tasks < 0.5 s; ST 10,000 */
    {"STAGE.BIG_PARTITION", 1, HEALTH, "memory", SUBJECT_STAGE, "ratio", UP(1, 2, 4, NO), MODERATE, "SHUFPART MAXPART"},          /* S1 128–256 MB; DF 5 GiB; YQ 1 GiB; RT 256 MB */
    {"STAGE.LOCALITY", 3, TIME, "slow", SUBJECT_STAGE, "share", UP(0.02, 0.05, 0.10, 0.25), SEVERE, "LOCALITY"},                  /* own */
    {"STAGE.SCHED_DELAY", 1, TIME, "slow", SUBJECT_STAGE, "share", UP(0.10, 0.20, 0.35, 0.50), SEVERE, "SHUFPART COALESCE"},      /* own */
    {"STAGE.DESER", 2, TIME, "slow", SUBJECT_STAGE, "share", UP(0.05, 0.10, 0.20, 0.40), SEVERE, "KRYO"},                         /* S3; own */
    {"STAGE.RESULT_LARGE", 1, HEALTH, "memory", SUBJECT_JOB, "bytes", UP(100 * MIB, 512 * MIB, GIB, NO), SEVERE, "RESULT_FILE"},  /* own; severe from 0.9 of spark.driver.maxResultSize on */
    {"STAGE.SKIPPED", 1, HEALTH, "data", SUBJECT_JOB, "count", UP(1, NO, NO, NO), INFO, ""},

    /* 7.5 failures and lost work */
    {"TASK.FAILURES", 2, HEALTH, "failure", SUBJECT_STAGE, "share", UP(ANY, 0.02, 0.10, 0.30), SEVERE, "EXCLUDE FILTER_KEY TASK_RETRY"},               /* DE 0.05 … 0.2; SA; S0 */
    {"TASK.OOM", 3, HEALTH, "memory", SUBJECT_STAGE, "count", UP(1, 1, 2, 5), SEVERE, ""},    /* own: the first is low */
    {"EXEC.LOST", 4, HEALTH, "failure", SUBJECT_EXECUTOR, "count", UP(1, 1, 3, 10), SEVERE, "OVERHEAD MEMORY SERVICE"},           /* own; a tenth of the executors is severe */
    {"STAGE.RETRY_CHAIN", 1, TIME, "failure", SUBJECT_STAGE, "count", UP(1, 1, 2, 4), SEVERE, "SERVICE CHECKPOINT"},              /* own */
    {"TASK.SPECULATION", 1, TIME, "slow", SUBJECT_STAGE, "share", UP(0.02, 0.05, 0.15, 0.30), SEVERE, ""},                        /* CP > 20 copies */
    {"EXEC.EXCLUDED", 1, HEALTH, "failure", SUBJECT_EXECUTOR, "count", UP(1, 1, 2, 3), SEVERE, ""},                        /* own */

    /* 7.6 reuse and caches */
    {"RDD.RECOMPUTE", 3, TIME, "slow", SUBJECT_RDD, "count", UP(2, 2, 3, 5), SEVERE, "PERSIST UNPERSIST CHECKPOINT"},             /* own */
    {"RDD.CACHE_PARTIAL", 1, HEALTH, "memory", SUBJECT_RDD, "share", UP(0.01, 0.10, 0.30, 0.60), SEVERE, "PERSIST_SER UNPERSIST"},/* own */
    {"RDD.CACHE_UNUSED", 1, HEALTH, "memory", SUBJECT_RDD, "share", UP(ANY, 0.10, 0.30, 0.60), MODERATE, ""},                     /* own; of storage memory */
    {"RDD.CACHE_LEAK", 1, HEALTH, "memory", SUBJECT_RDD, "share", UP(0.1, 0.3, 0.6, NO), MODERATE, "UNPERSIST"},                  /* own */

    /* 7.7 SQL */
    {"SQL.FAILED", 1, HEALTH, "failure", SUBJECT_SQL, "count", UP(1, 1, 2, 5), SEVERE, ""},                                       /* own */
    {"SQL.SMALL_FILES_READ", 2, TIME, "data", SUBJECT_NODE, "bytes", DOWN(16 * MIB, 3 * MIB, MIB, 0.25 * MIB), SEVERE, "COMPACT COALESCE_WRITE MAXPART"}, /* DF 3 MiB */
    {"SQL.SMALL_FILES_WRITE", 1, HEALTH, "data", SUBJECT_NODE, "bytes", DOWN(32 * MIB, 16 * MIB, 3 * MIB, 0.5 * MIB), SEVERE, "REPART"},   /* DF 3 MiB */
    {"SQL.BROADCAST_MISSED", 3, TIME, "slow", SUBJECT_NODE, "ratio", UP(2, 5, 50, 500), SEVERE, "BROADCAST BCAST_THRESH"},        /* DF */
    {"SQL.BROADCAST_LARGE", 1, HEALTH, "memory", SUBJECT_NODE, "bytes", UP(256 * MIB, GIB, 2 * GIB, 4 * GIB), SEVERE, "BCAST_THRESH"},                    /* DF 1 GiB; CP 30–40 % of memory */
    {"SQL.ROW_EXPLOSION", 1, HEALTH, "data", SUBJECT_NODE, "ratio", UP(10, 100, 1000, 10000), SEVERE, "KEYDUP PUSHDOWN"},         /* DF 10^10 rows; ST 10 / 100 */
    {"SQL.FULL_SCAN", 1, HEALTH, "data", SUBJECT_NODE, "bytes", UP(ANY, 10 * GIB, 100 * GIB, TIB), SEVERE, "DPP PUSHDOWN"},       /* own */
    {"SQL.DPP", 1, HEALTH, "config", SUBJECT_SQL, "share", UP(0, 1, NO, NO), LOW, "DPP"},                                         /* S3; files read of all: 1 is "nothing was pruned" */
    {"SQL.PUSHDOWN", 2, HEALTH, "data", SUBJECT_NODE, "bytes", UP(GIB, 10 * GIB, NO, NO), LOW, "PUSHDOWN"},                       /* own */
    {"SQL.PYTHON_UDF", 1, TIME, "slow", SUBJECT_NODE, "share", UP(0.10, 0.25, 0.50, 0.80), SEVERE, "PANDAS_UDF"},                 /* ST, RT */
    {"SQL.AQE_OFF", 1, HEALTH, "config", SUBJECT_APP, "count", UP(1, 1, NO, NO), LOW, "AQE_ON"},                                  /* SA; of shuffles. Info before 3.2 */
    {"SQL.AQE_OVERCOALESCED", 1, TIME, "slow", SUBJECT_NODE, "ratio", DOWN(0.9, 0.75, 0.5, 0.25), SEVERE, "AQE_MIN"},             /* as STAGE.FEW_TASKS */
    {"SQL.AQE_SKEW_UNHANDLED", 1, TIME, "config", SUBJECT_NODE, "ratio", UP(2, 3, 10, 30), SEVERE, "AQE_SKEW"},                   /* as STAGE.SKEW_DATA, price and all: its grade is the skew's */
    {"SQL.WRITE_AMPLIFICATION", 2, HEALTH, "data", SUBJECT_NODE, "share", UP(NO, 0.3, 0.6, NO), SEVERE, ""},                      /* DF */
    {"SQL.REPEATED_SCAN", 1, TIME, "slow", SUBJECT_NODE, "count", UP(2, 2, 3, 6), SEVERE, "PERSIST"},                             /* own */
    {"SQL.SINGLE_PARTITION", 1, TIME, "slow", SUBJECT_NODE, "records", UP(1e6, 1e7, 5e7, 5e8), SEVERE, "WINDOW_PART"},            /* CP 50 M rows */
    {"SQL.LONG_PLAN", 2, HEALTH, "slow", SUBJECT_SQL, "ratio", UP(1, 2, NO, NO), LOW, "CHECKPOINT"},                              /* DF; the largest of its sizes ÷ their limits */
    {"SQL.AGG_FALLBACK", 2, HEALTH, "slow", SUBJECT_NODE, "records", UP(1e7, 1e8, NO, NO), LOW, ""},                              /* own */
    {"SQL.NATIVE_FALLBACK", 1, HEALTH, "config", SUBJECT_SQL, "share", UP(ANY, NO, NO, NO), INFO, ""},                            /* own */

    /* 7.8 configuration */
    {"CONF.SERIALIZER", 1, HEALTH, "config", SUBJECT_CONF, "bytes", UP(GIB, NO, NO, NO), LOW, "KRYO"},                            /* DE, SA, S2; low beside a symptom */
    {"CONF.SHUFFLE_PARTITIONS", 2, HEALTH, "config", SUBJECT_CONF, "ratio", UP(2, 4, 10, NO), MODERATE, "SHUFPART AQE_ON"},       /* S0 2–3 × slots, S1 128–256 MB, SA 0.5–3 */
    {"CONF.MEMORY_RATIO", 2, HEALTH, "config", SUBJECT_CONF, "count", UP(1, 2, NO, NO), LOW, "MEMORY"},                  /* YQ 4/16, DE 10–25 GB, cores 4–10 */
    {"CONF.CONFLICT", 2, HEALTH, "config", SUBJECT_CONF, "count", UP(1, 2, 4, NO), SEVERE, ""},                            /* own */
    {"CONF.FAR", 2, HEALTH, "config", SUBJECT_CONF, "count", UP(1, NO, NO, NO), INFO, ""},                                        /* own */
    {"CONF.JARS", 2, HEALTH, "config", SUBJECT_CONF, "count", UP(1, NO, NO, NO), LOW, "JAR_EXCL"},                                /* own; low: Spark's own or Scala's */

    /* 7.9 streaming */
    {"STREAM.BEHIND", 1, HEALTH, "streaming", SUBJECT_QUERY, "ratio", UP(0.7, 0.9, 1.0, 1.5), SEVERE, "SHUFPART STREAM_LIMIT STREAM_TRIGGER"},
    {"STREAM.INPUT_GT_PROCESS", 1, HEALTH, "streaming", SUBJECT_QUERY, "ratio", UP(0.8, 0.95, 1.0, 1.2), SEVERE, "STREAM_LIMIT"},
    {"STREAM.STATE_GROWTH", 1, HEALTH, "streaming", SUBJECT_QUERY, "ratio", UP(0.2, 0.5, 0.8, NO), SEVERE, "WATERMARK STATE_ROCKS"},
    {"STREAM.WATERMARK_LAG", 1, HEALTH, "streaming", SUBJECT_QUERY, "ratio", UP(2, 5, 20, 100), SEVERE, "STREAM_LIMIT"},
    {"STREAM.LATE_DROPPED", 1, HEALTH, "data", SUBJECT_QUERY, "share", UP(ANY, 0.001, 0.01, 0.1), SEVERE, "WATERMARK"},
    {"STREAM.SOURCE_LAG", 1, HEALTH, "streaming", SUBJECT_QUERY, "ratio", UP(2, 10, 50, 500), SEVERE, "STREAM_LIMIT"},
    {"STREAM.OVERHEAD", 1, HEALTH, "streaming", SUBJECT_QUERY, "share", UP(0.3, 0.5, 0.8, NO), MODERATE, "STREAM_TRIGGER"},
    {"STREAM.FAILED", 1, HEALTH, "failure", SUBJECT_QUERY, "count", UP(1, 1, 1, 1), SEVERE, ""},

    /* 7.10 the log, this run among others */
    {"LOG.INCOMPLETE", 1, HEALTH, "data", SUBJECT_LOG, "points", DOWN(98, 94, 79, 50), SEVERE, "EVENTLOG"},                       /* own; C of 2.2 */
    {"LOG.CLOCK", 1, HEALTH, "data", SUBJECT_LOG, "count", UP(1, 10, NO, NO), LOW, ""},                                           /* own */
    {"RUN.REGRESSION", 1, HEALTH, "slow", SUBJECT_APP, "share", UP(0.02, 0.10, 0.25, 0.50), SEVERE, ""},                          /* own; of the usual wall time */
};
/* clang-format on */
const size_t rule_count = sizeof rules / sizeof rules[0];

const struct rule *rule_find(struct str id)
{
    for (size_t i = 0; i < rule_count; i++)
        if (str_is(id, rules[i].id))
            return &rules[i];
    return NULL;
}
