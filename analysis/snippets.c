/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/snippets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"

/* Placeholders have names that no rule uses for something else: {partitions}, never {n}. {#} and {#2} are comments, in the reader's language: snippet_comments in analysis/messages. */
const struct snippet snippets[] = {
    {"KEYSAMPLE", "python", "df.sample(0.01, seed=1).groupBy('{key}').count().orderBy('count', ascending=False).show(20)"},
    {"KEYDUP", "python", "right.groupBy('{key}').count().where('count > 1').orderBy('count', ascending=False).show(20)     # {#}"},
    {"FILTER_KEY", "python",
     "junk = ['', 'unknown']                      # {#}\n"
     "df = df.where(F.col('{key}').isNotNull() & ~F.col('{key}').isin(junk))"},
    {"SALT", "python",
     "n = {salt}                                  # {#}\n"
     "part = df.withColumn('salt', (F.rand() * n).cast('int')).groupBy('{key}', 'salt').agg(F.sum('v').alias('v'))\n"
     "out = part.groupBy('{key}').agg(F.sum('v').alias('v'))"},
    {"TWOSTAGE", "python",
     "# {#}\n"
     "part = rdd.map(lambda kv: ((random.randrange({salt}), kv[0]), kv[1])).reduceByKey(add)\n"
     "out = part.map(lambda x: (x[0][1], x[1])).reduceByKey(add)"},
    {"HOTSPLIT", "python",
     "hot = [...]                                 # {#}\n"
     "is_hot = F.col('{key}').isin(hot)\n"
     "hot_part = a.where(is_hot).join(F.broadcast(b.where(is_hot)), '{key}')\n"
     "out = hot_part.unionByName(a.where(~is_hot).join(b, '{key}'))"},
    {"EXPLODE_JOIN", "python",
     "n = {salt}                                  # {#}\n"
     "large2 = large.withColumn('salt', (F.rand() * n).cast('int'))\n"
     "small2 = small.withColumn('salt', F.explode(F.sequence(F.lit(0), F.lit(n - 1))))\n"
     "out = large2.join(small2, ['{key}', 'salt']).drop('salt')"},
    {"AQE_ON", "conf",
     "--conf spark.sql.adaptive.enabled=true\n--conf spark.sql.adaptive.coalescePartitions.enabled=true\n--conf spark.sql.adaptive.advisoryPartitionSizeInBytes=128m"},
    {"AQE_SKEW", "conf",
     "--conf spark.sql.adaptive.enabled=true\n--conf spark.sql.adaptive.skewJoin.enabled=true\n--conf spark.sql.adaptive.skewJoin.skewedPartitionFactor=5\n"
     "--conf spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes={half_of_max}"},
    {"AQE_MIN", "conf", "--conf spark.sql.adaptive.coalescePartitions.parallelismFirst=true\n--conf spark.sql.adaptive.coalescePartitions.minPartitionSize=1m"},
    {"SHUFPART", "sql", "SET spark.sql.shuffle.partitions={ideal};     -- {#}"},
    {"RDDPART", "python", "rdd.reduceByKey(f, {partitions})     # {#}"},
    {"LISTING", "conf", "--conf spark.sql.sources.parallelPartitionDiscovery.parallelism={partitions}"},
    {"REPART", "python", "data = data.repartition({partitions})        # {#}"},
    {"REPART_BY", "python", "df = df.repartition('{partition_column}')     # {#}"},
    {"COALESCE", "python", "data = data.coalesce({partitions})         # {#}"},
    {"COALESCE_WRITE", "python",
     "# {#}\n"
     "df.repartition({partitions}).write.mode('overwrite').partitionBy('{partition_column}').parquet(path)\n"
     "spark.conf.set('spark.sql.files.maxRecordsPerFile', 5_000_000)"},
    {"BROADCAST", "python", "out = {large}.join(F.broadcast({small}), '{key}')     # SQL: SELECT /*+ BROADCAST({small}) */ ..."},
    {"BROADCAST_ON", "python", "out = {large}.join(F.broadcast({small}), {large}['{large_key}'] == {small}['{key}'])     # SQL: SELECT /*+ BROADCAST({small}) */ ..."},
    {"BCAST_THRESH", "python", "spark.conf.set('spark.sql.autoBroadcastJoinThreshold', '{broadcast_bytes}')     # {#}"},
    {"SHUFFLE_LESS", "python", "df = df.select('{needed_columns}').where('{predicate}')     # {#}"},
    {"PUSHDOWN", "python", "df = df.select('{needed_columns}').where('{predicate}')     # {#}"},
    {"KRYO", "conf", "--conf spark.serializer=org.apache.spark.serializer.KryoSerializer\n--conf spark.kryo.registrationRequired=false"},
    {"PERSIST", "python",
     "from pyspark import StorageLevel\n"
     "data.persist(StorageLevel.MEMORY_AND_DISK)     # {#}\n"
     "data.count()                                # {#2}"},
    {"PERSIST_SER", "python", "rdd.persist(StorageLevel.MEMORY_AND_DISK)     # {#}"},
    {"UNPERSIST", "python",
     "try:\n"
     "    ...\n"
     "finally:\n"
     "    data.unpersist()                        # {#}"},
    {"CHECKPOINT", "python", "spark.sparkContext.setCheckpointDir('{checkpoint_dir}')\ndf = df.checkpoint()"},
    {"G1", "conf", "--conf 'spark.executor.extraJavaOptions=-XX:+UseG1GC -XX:InitiatingHeapOccupancyPercent=35'"},
    {"MEMORY", "conf", "--executor-memory {executor_memory} --executor-cores {executor_cores}\n--conf spark.memory.fraction=0.6\n--conf spark.memory.storageFraction=0.3"},
    {"OVERHEAD", "conf", "--conf spark.executor.memoryOverhead={overhead}\n--conf spark.executor.pyspark.memory={python_memory}"},
    {"DYNALLOC", "conf",
     "--conf spark.dynamicAllocation.enabled=true\n--conf spark.dynamicAllocation.shuffleTracking.enabled=true\n"
     "--conf spark.dynamicAllocation.initialExecutors={initial_executors}\n--conf spark.dynamicAllocation.minExecutors={min_executors}\n"
     "--conf spark.dynamicAllocation.maxExecutors={max_executors}\n--conf spark.dynamicAllocation.executorIdleTimeout=60s"},
    {"STATIC", "conf", "--conf spark.dynamicAllocation.enabled=false --num-executors {executors}"},
    {"MAXPART", "python", "spark.conf.set('spark.sql.files.maxPartitionBytes', '{split_bytes}')\nspark.conf.set('spark.sql.files.openCostInBytes', '4m')"},
    {"COMPACT", "python",
     "spark.read.parquet(src).repartition({partitions}).write.mode('overwrite').parquet(dst)\n"
     "# Delta: OPTIMIZE; Iceberg: CALL system.rewrite_data_files"},
    {"PARALLEL_READ", "python", "spark.read.jdbc(url, '{source_table}', column='{number_column}', lowerBound=0, upperBound={upper}, numPartitions={partitions}, properties=p)"},
    {"SPECULATE", "conf", "--conf spark.speculation=true\n--conf spark.speculation.quantile=0.9\n--conf spark.speculation.multiplier=3"},
    {"EXCLUDE", "conf", "--conf spark.excludeOnFailure.enabled=true"},
    {"TASK_RETRY", "conf", "--conf spark.task.maxFailures=8"},
    {"LOCALITY", "conf", "--conf spark.locality.wait=0s"},
    {"SERVICE", "conf",
     "--conf spark.shuffle.service.enabled=true\n"
     "# Kubernetes: --conf spark.decommission.enabled=true --conf spark.storage.decommission.shuffleBlocks.enabled=true\n"
     "--conf spark.reducer.maxSizeInFlight=96m\n--conf spark.shuffle.io.maxRetries=6\n--conf spark.shuffle.io.retryWait=10s"},
    {"DPP", "sql", "SET spark.sql.optimizer.dynamicPartitionPruning.enabled=true;     -- {#}"},
    {"WINDOW_PART", "sql", "SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY ts) AS rn FROM t;     -- {#}"},
    {"BUCKET", "sql", "CREATE TABLE t2 USING parquet CLUSTERED BY ({key}) INTO {partitions} BUCKETS AS SELECT * FROM t;"},
    {"PANDAS_UDF", "python",
     "@F.pandas_udf('long')\n"
     "def f(s: pd.Series) -> pd.Series:\n"
     "    return s.astype(str).str[::-1].astype('int64')     # {#}\n"
     "# {#2}"},
    {"RESULT_FILE", "python", "df.write.parquet('{output_path}')             # {#}"},
    {"THREADS", "python",
     "from concurrent.futures import ThreadPoolExecutor\n"
     "with ThreadPoolExecutor(4) as pool:\n"
     "    list(pool.map(lambda t: spark.table(t).write.saveAsTable('out_' + t), tables))"},
    {"FAIR", "conf", "--conf spark.scheduler.mode=FAIR"},
    {"STREAM_TRIGGER", "python", "query = df.writeStream.trigger(processingTime='30 seconds').start()"},
    {"STREAM_LIMIT", "python", "spark.readStream.format('kafka').option('maxOffsetsPerTrigger', 500000).option('minPartitions', {partitions})"},
    {"WATERMARK", "python", "df.withWatermark('ts', '10 minutes').groupBy(F.window('ts', '5 minutes'), 'k').count()"},
    {"STATE_ROCKS", "python",
     "spark.conf.set('spark.sql.streaming.stateStore.providerClass',\n"
     "               'org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider')"},
    {"EVENTLOG", "conf",
     "--conf spark.eventLog.enabled=true\n--conf spark.eventLog.dir={log_dir}\n--conf spark.eventLog.rolling.enabled=true\n--conf spark.eventLog.compress=true\n"
     "--conf spark.eventLog.logBlockUpdates.enabled=true\n--conf spark.eventLog.logStageExecutorMetrics=true\n--conf spark.executor.processTreeMetrics.enabled=true\n"
     "--conf spark.executor.metrics.pollingInterval=1s\n--conf spark.scheduler.listenerbus.eventqueue.capacity=30000"},
    {"JAR_EXCL", "xml", "<exclusion><groupId>{group_id}</groupId><artifactId>{jar}</artifactId></exclusion>"},
    {"CONFFIX", "conf", "# {#}"},
};
const size_t snippet_count = ARRAY_LENGTH(snippets);

const struct snippet *snippet_find(struct str id)
{
    for (size_t i = 0; i < snippet_count; i++)
        if (str_is(id, snippets[i].id))
            return &snippets[i];
    return NULL;
}

#define NAME_MAX_BYTES 128

static bool is_name(struct str text)
{
    if (text.len == 0 || text.len > NAME_MAX_BYTES || text.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", text.ptr[i]) || !text.ptr[i])
            return false;
    return true;
}

static void fill_one(struct buf *out, struct str name, const struct word_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!str_eq(args[i].name, name))
            continue;
        if (is_name(args[i].text)) {
            buf_append(out, args[i].text.ptr, args[i].text.len);
            return;
        }
        if (!str_known(args[i].text) && fabs(args[i].value) < 1e15) {
            buf_printf(out, "%.0f", ceil(args[i].value));
            return;
        }
    }
    buf_printf(out, "<%.*s>", (int)name.len, name.ptr);
}

/* The same settings where a program makes its session, as a comment of the shell; those of lines that are comments are left out. */
static void add_python(struct buf *out, enum lang lang, const char *code)
{
    static const char option[] = "--conf ";
    bool any = false;
    for (const char *line = code; *line; line += line[strcspn(line, "\n")] == '\n' ? strcspn(line, "\n") + 1 : strcspn(line, "\n")) {
        const char *end = line + strcspn(line, "\n");
        for (const char *p = line; *line != '#' && (p = memmem(p, (size_t)(end - p), option, sizeof option - 1)) != NULL;) {
            p += sizeof option - 1;
            p += *p == '\'';
            size_t len = strcspn(p, p[-1] == '\'' ? "'" : " \n"), key = strcspn(p, "=");
            if (key < len) {
                if (!any)
                    buf_printf(out, "\n# %s", message_of(lang, "snippet_comments", "in_python"));
                buf_printf(out, "\n#     .config('%.*s', '%.*s')", (int)key, p, (int)(len - key - 1), p + key + 1);
                any = true;
            }
        }
    }
}

/* What stands at "#" or "#2" inside of braces. */
static const char *comment_of(const struct snippet *snippet, enum lang lang, struct str mark)
{
    char entry[40];
    snprintf(entry, sizeof entry, "%s%s%.*s", snippet->id, mark.len > 1 ? "_" : "", (int)(mark.len - 1), mark.ptr + 1);
    const char *text = message(lang, "snippet_comments", str_of(entry), NULL);
    return text ? text : "";
}

static void fill(struct buf *out, const struct snippet *snippet, enum lang lang, const char *code, const struct word_arg *args, size_t count)
{
    for (const char *p = code; *p;) {
        size_t plain = strcspn(p, "{"), name = p[plain] ? strcspn(p + plain, "}") : 0;
        buf_append(out, p, plain);
        p += plain;
        if (!*p)
            break;
        struct str inside = {p + 1, name - 1};
        if (p[1] == '#')
            fill(out, snippet, lang, comment_of(snippet, lang, inside), args, count); /* a comment holds no comment */
        else
            fill_one(out, inside, args, count);
        p += name + (p[name] == '}');
    }
}

void snippet_fill(struct buf *out, const struct snippet *snippet, enum lang lang, const struct word_arg *args, size_t count)
{
    CLEANUP(buf_dispose) struct buf code;
    buf_init(&code, (size_t)64 << 10);
    fill(&code, snippet, lang, snippet->code, args, count);
    buf_append(out, code.data, code.len);
    if (strcmp(snippet->language, "conf") == 0)
        add_python(out, lang, code.data ? code.data : "");
}
