/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/conf_audit.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/conf_value.h"
#include "analysis/judge.h"
#include "base/mem.h"

const char *const conf_state_names[CONF_STATE_COUNT] = {"effective", "overridden", "not yet", "gone", "misspelt", "irrelevant"};

#define DISTANCE_MOST 64.0
/* From a value to "off" (0, -1, none): farther than what anybody tunes. */
#define DISTANCE_OFF 10.0
/* Names that differ by so little are the same name, misspelt. Shorter ones are not compared. */
#define MISSPELT_EDITS 2
#define MISSPELT_LEAST 12
#define KEY_MOST 200
#define ARENA_BYTES ((size_t)64 << 20)
#define MAX_ROWS ((size_t)1 << 16) /* settings that are looked at */
#define MAX_JARS ((size_t)1 << 18)

/* ---- defaults */

const struct conf_default *conf_default_find(struct str key)
{
    for (size_t i = 0; i < conf_default_count; i++)
        if (str_is(key, conf_defaults[i].key))
            return &conf_defaults[i];
    return NULL;
}

struct str conf_default_value(const struct conf_default *entry, int major, int minor, enum conf_known *ret_state)
{
    struct str out = STR_NONE;
    *ret_state = CONF_TOO_NEW;
    bool unknown = major < 0; /* an unknown version counts as the newest */
    for (const char *at = entry->values; *at;) {
        char *end;
        long since_major = strtol(at, &end, 10), since_minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
        const char *value = end + 1, *stop = value;
        while (*stop && *stop != ' ')
            stop++;
        if (unknown || since_major < major || (since_major == major && since_minor <= minor)) {
            out = (struct str){value, (size_t)(stop - value)};
            *ret_state = str_is(out, "x") ? CONF_REMOVED : CONF_KNOWN;
        }
        at = *stop ? stop + 1 : stop;
    }
    return str_is(out, "-") || str_is(out, "x") ? STR_NONE : out;
}

static double number_of(enum conf_kind kind, struct str value)
{
    int64_t whole = UNKNOWN;
    switch (kind) {
    case CONF_COUNT:
    case CONF_NUMBER: return conf_number(value);
    case CONF_BYTES: whole = conf_bytes(value, 1); break;
    case CONF_KIB: whole = conf_bytes(value, 1024); break;
    case CONF_MIB: whole = conf_bytes(value, BYTES_PER_MIB); break;
    case CONF_MS: whole = conf_duration_ms(value, 1); break;
    case CONF_S: whole = conf_duration_ms(value, 1000); break;
    case CONF_BOOL:
    case CONF_TEXT: break;
    }
    return known(whole) ? (double)whole : conf_number(value);
}

static bool same_word(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

double conf_distance(enum conf_kind kind, struct str value, struct str otherwise)
{
    if (!str_known(value))
        return 0;
    if (!str_known(otherwise))
        return value.len ? 1 : 0;
    if (kind == CONF_TEXT || kind == CONF_BOOL)
        return same_word(value, otherwise) ? 0 : 1;
    double a = number_of(kind, value), b = number_of(kind, otherwise);
    if (isnan(a) || isnan(b))
        return same_word(value, otherwise) ? 0 : 1;
    if (!(a < b) && !(a > b))
        return 0;
    return a <= 0 || b <= 0 ? DISTANCE_OFF : MIN(DISTANCE_MOST, fabs(log2(a / b)));
}

/* Edits from one name to the other; more than MISSPELT_EDITS are not counted to their end. */
static bool nearly(struct str a, const char *name)
{
    struct str b = str_of(name);
    unsigned rows[2][KEY_MOST + 1], *last = rows[0], *row = rows[1];
    if (a.len > KEY_MOST || b.len > KEY_MOST || a.len > b.len + MISSPELT_EDITS || b.len > a.len + MISSPELT_EDITS)
        return false;
    for (unsigned j = 0; j <= b.len; j++)
        last[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned least = row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned change = last[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]), gap = MIN(last[j], row[j - 1]) + 1;
            row[j] = MIN(change, gap);
            least = MIN(least, row[j]);
        }
        if (least > MISSPELT_EDITS)
            return false;
        unsigned *swapped = last;
        last = row;
        row = swapped;
    }
    return last[b.len] <= MISSPELT_EDITS;
}

static const struct conf_default *meant(struct str key)
{
    for (size_t i = 0; i < conf_default_count && key.len >= MISSPELT_LEAST; i++)
        if (nearly(key, conf_defaults[i].key))
            return &conf_defaults[i];
    return NULL;
}

/* ---- rows */

/* Where the driver runs everything, nothing about executors matters; cores.max is the standalone master's, driver.cores of drivers that a cluster starts. */
static bool is_irrelevant(const struct facts *facts, const char *key)
{
    static const char *const of_executors[] = {"spark.executor.memory", "spark.executor.cores", "spark.executor.instances", "spark.executor.memoryOverhead"};
    struct str master = facts_conf(facts, "spark.master");
    for (size_t i = 0; i < ARRAY_LENGTH(of_executors); i++)
        if (facts->is_local && strcmp(key, of_executors[i]) == 0)
            return true;
    if (strcmp(key, "spark.cores.max") == 0)
        return str_starts(master, "yarn") || str_starts(master, "k8s://") || str_starts(master, "local");
    return strcmp(key, "spark.driver.cores") == 0 && (facts->is_local || str_is(facts_conf(facts, "spark.submit.deployMode"), "client"));
}

static enum err_code add_row(struct conf_audit *self, const struct facts *facts, size_t *capacity, struct str key, struct str value, bool at_run_time, struct err *err)
{
    const struct conf_default *entry = conf_default_find(key), *other = entry ? NULL : meant(key);
    enum conf_known known_state = CONF_KNOWN;
    if (!entry && !other)
        return ERR_OK;
    if (mem_grow((void **)&self->rows, capacity, self->count + 1, MAX_ROWS, sizeof *self->rows))
        return err_set(err, ERR_LIMIT, "more settings than are looked at");
    struct conf_row *row = &self->rows[self->count];
    *row = (struct conf_row){.entry = entry ? entry : other, .at_run_time = at_run_time};
    if (arena_str(&self->arena, key, &row->key) || arena_str(&self->arena, str_known(value) ? value : STR_LIT(""), &row->value))
        return err_nomem(err);
    row->otherwise = conf_default_value(row->entry, facts->spark_major, facts->spark_minor, &known_state);
    row->distance = conf_distance(row->entry->kind, row->value, row->otherwise);
    row->state = other                                   ? CONF_MISSPELT
                 : known_state == CONF_TOO_NEW           ? CONF_NOT_YET
                 : known_state == CONF_REMOVED           ? CONF_GONE
                 : is_irrelevant(facts, row->entry->key) ? CONF_IRRELEVANT
                                                         : CONF_EFFECTIVE;
    self->count++;
    return ERR_OK;
}

static struct conf_row *row_of(struct conf_audit *self, size_t from, size_t to, struct str key)
{
    for (size_t i = from; i < to; i++)
        if (str_eq(self->rows[i].key, key))
            return &self->rows[i];
    return NULL;
}

/* What sessions changed: the last value of each key that is not the environment's. Only SQL's settings can change while an application runs. */
static enum err_code read_sessions(struct conf_audit *self, const struct facts *facts, const char *sql, size_t environment_count, size_t *capacity, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(facts->db, &stmt, sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str key = db_str(stmt, 0), value = db_str(stmt, 1);
        struct conf_row *row = row_of(self, 0, environment_count, key);
        if ((row && str_eq(row->value, str_known(value) ? value : STR_LIT(""))) || row_of(self, environment_count, self->count, key))
            continue;
        if (row && row->state == CONF_EFFECTIVE)
            row->state = CONF_OVERRIDDEN;
        rc = add_row(self, facts, capacity, key, value, true, err);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static int by_key(const void *a, const void *b)
{
    const struct conf_row *x = a, *y = b;
    int order = str_compare(x->key, y->key);
    return order ? order : (int)x->at_run_time - (int)y->at_run_time;
}

static enum err_code read_settings(struct conf_audit *self, const struct facts *facts, struct err *err)
{
    static const char *const sessions[] = {
        /* Bare columns beside max() are those of its row. */
        "SELECT name, value, max(execution_id) FROM sql_config WHERE name >= 'spark.sql.' AND name < 'spark.sql/' GROUP BY name ORDER BY 3 DESC LIMIT 2000",
        "SELECT name, value, max(job_id) FROM job_property WHERE name >= 'spark.sql.' AND name < 'spark.sql/' GROUP BY name ORDER BY 3 DESC LIMIT 2000"};
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    enum err_code rc = db_prepare(facts->db, &stmt, "SELECT name, value FROM environment WHERE section = 1 ORDER BY name", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = add_row(self, facts, &capacity, db_str(stmt, 0), db_str(stmt, 1), false, err);
    db_finalize(stmt);
    rc = rc == ERR_EOF ? ERR_OK : rc;
    size_t environment_count = self->count;
    for (size_t i = 0; i < ARRAY_LENGTH(sessions) && !rc; i++)
        rc = read_sessions(self, facts, sessions[i], environment_count, &capacity, err);
    if (self->count)
        qsort(self->rows, self->count, sizeof *self->rows, by_key);
    for (size_t i = 0; i < self->count; i++)
        self->far_count += self->rows[i].distance > 0 && self->rows[i].state == CONF_EFFECTIVE;
    return rc;
}

/* ---- contradictions */

static void conflict(struct conf_audit *self, const struct facts *facts, bool holds, const char *key, const char *other)
{
    if (holds && self->conflict_count < CONFLICTS_MAX)
        self->conflicts[self->conflict_count++] = (struct conf_conflict){key, other, facts_conf(facts, key)};
}

static bool contains(struct str text, const char *word)
{
    return text.len && memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

static bool two_collectors(struct str options)
{
    static const char *const names[] = {"+UseG1GC", "+UseParallelGC", "+UseConcMarkSweepGC", "+UseZGC", "+UseShenandoahGC", "+UseSerialGC"};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        count += contains(options, names[i]);
    return count > 1;
}

#define BROADCAST_TIMEOUT_MS 300000 /* where it is not set, since 1.5 */

/* The longest that a broadcast took to build or send. */
static enum err_code longest_broadcast(const struct facts *facts, int64_t *ret, struct err *err)
{
    return db_query_i64(facts->db, "SELECT max(total) FROM sql_metric WHERE name IN ('time to build', 'time to broadcast', 'time to collect') AND metric_type = 'timing'", ret,
                        err);
}

static enum err_code find_conflicts(struct conf_audit *self, const struct facts *facts, struct err *err)
{
#define CONF(key) facts_conf(facts, "spark." key)
    int64_t broadcast_ms = UNKNOWN, instances = conf_count(CONF("executor.instances")), most = conf_count(CONF("dynamicAllocation.maxExecutors"));
    int64_t least = conf_count(CONF("dynamicAllocation.minExecutors")), task_cpus = conf_count(CONF("task.cpus")), cores = conf_count(CONF("executor.cores"));
    int64_t timeout_ms = known_or(conf_duration_ms(CONF("sql.broadcastTimeout"), 1000), BROADCAST_TIMEOUT_MS), result = conf_bytes(CONF("driver.maxResultSize"), 1);
    int64_t driver = known_or(conf_bytes(CONF("driver.memory"), BYTES_PER_MIB), 1024 * BYTES_PER_MIB), parallelism = conf_count(CONF("default.parallelism"));
    bool dynamic = conf_true(CONF("dynamicAllocation.enabled"), false), kryo = contains(CONF("serializer"), "Kryo");
    bool aqe = conf_true(CONF("sql.adaptive.enabled"), facts->spark_major > 3 || (facts->spark_major == 3 && facts->spark_minor >= 2));
    enum err_code rc = longest_broadcast(facts, &broadcast_ms, err);
    conflict(self, facts, dynamic && known(instances) && known(most) && instances > most, "spark.executor.instances", "spark.dynamicAllocation.maxExecutors");
    conflict(self, facts, dynamic && known(least) && known(most) && least > most, "spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.maxExecutors");
    conflict(self, facts, conf_true(CONF("memory.offHeap.enabled"), false) && known_or(conf_bytes(CONF("memory.offHeap.size"), 1), 0) <= 0, "spark.memory.offHeap.enabled",
             "spark.memory.offHeap.size");
    conflict(self, facts, !conf_true(CONF("memory.offHeap.enabled"), false) && known_or(conf_bytes(CONF("memory.offHeap.size"), 1), 0) > 0, "spark.memory.offHeap.size",
             "spark.memory.offHeap.enabled");
    conflict(self, facts, conf_bytes(CONF("executor.memoryOverhead"), BYTES_PER_MIB) > 0 && CONF("executor.memoryOverheadFactor").len, "spark.executor.memoryOverheadFactor",
             "spark.executor.memoryOverhead");
    conflict(self, facts,
             conf_true(CONF("speculation"), false) &&
                 (contains(CONF("sql.sources.outputCommitterClass"), "Direct") || contains(CONF("hadoop.mapred.output.committer.class"), "Direct")),
             "spark.speculation", "spark.sql.sources.outputCommitterClass");
    conflict(self, facts, !facts->is_local && known(task_cpus) && known(cores) && task_cpus > cores, "spark.task.cpus", "spark.executor.cores");
    conflict(self, facts, !aqe && conf_true(CONF("sql.adaptive.skewJoin.enabled"), false), "spark.sql.adaptive.skewJoin.enabled", "spark.sql.adaptive.enabled");
    conflict(self, facts, timeout_ms > 0 && known(broadcast_ms) && broadcast_ms > timeout_ms, "spark.sql.broadcastTimeout", "broadcast time");
    conflict(self, facts, known(result) && result > driver, "spark.driver.maxResultSize", "spark.driver.memory");
    conflict(self, facts, two_collectors(CONF("executor.extraJavaOptions")), "spark.executor.extraJavaOptions", "one garbage collector");
    conflict(self, facts, two_collectors(CONF("driver.extraJavaOptions")), "spark.driver.extraJavaOptions", "one garbage collector");
    conflict(self, facts, contains(CONF("executor.extraJavaOptions"), "-Xmx"), "spark.executor.extraJavaOptions", "spark.executor.memory");
    conflict(self, facts, str_starts(CONF("master"), "k8s://") && conf_true(CONF("shuffle.service.enabled"), false) && !dynamic, "spark.shuffle.service.enabled", "spark.master");
    conflict(self, facts, known(parallelism) && parallelism > 0 && parallelism < facts->slot_peak, "spark.default.parallelism", "slots");
    conflict(self, facts, kryo && conf_true(CONF("kryo.registrationRequired"), false) && !CONF("kryo.registrator").len && !CONF("kryo.classesToRegister").len,
             "spark.kryo.registrationRequired", "spark.kryo.registrator");
#undef CONF
    return rc;
}

/* ---- the class path */

/* ^(.+?)(_2\.\d+)?-(\d[\w.]*)…\.jar$ : classifiers (-tests, -linux-x86_64) are no part of the version. */
bool jar_name_of(struct str file, struct jar_name *ret)
{
    if (!str_ends(file, ".jar"))
        return false;
    struct str folder = {file.ptr, 0};
    for (size_t i = file.len; i-- > 0 && !folder.len;)
        if (file.ptr[i] == '/' || file.ptr[i] == '\\') {
            folder.len = i + 1;
            file = (struct str){file.ptr + i + 1, file.len - i - 1};
        }
    file.len -= 4;
    size_t dash = 1;
    while (dash + 1 < file.len && !(file.ptr[dash] == '-' && isdigit((unsigned char)file.ptr[dash + 1])))
        dash++;
    if (dash + 1 >= file.len)
        return false;
    *ret = (struct jar_name){.folder = folder, .artefact = {file.ptr, dash}, .version = {file.ptr + dash + 1, 0}};
    while (dash + 1 + ret->version.len < file.len && file.ptr[dash + 1 + ret->version.len] != '-')
        ret->version.len++;
    for (size_t i = dash; i-- > 1;)
        if (file.ptr[i] == '_' && dash - i > 2 && (file.ptr[i + 1] == '2' || file.ptr[i + 1] == '3')) {
            bool digits = true;
            for (size_t k = i + 1; k < dash; k++)
                digits &= isdigit((unsigned char)file.ptr[k]) || file.ptr[k] == '.';
            if (digits) {
                ret->scala = (struct str){file.ptr + i + 1, dash - i - 1};
                ret->artefact.len = i;
            }
            break;
        }
    return true;
}

static bool is_sparks_own(struct str artefact)
{
    static const char *const prefixes[] = {"spark-", "hadoop-", "jackson-", "guava", "protobuf-", "arrow-", "scala-"};
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
        if (str_starts(artefact, prefixes[i]))
            return true;
    return false;
}

static int by_jar(const void *a, const void *b)
{
    const struct jar_name *x = a, *y = b;
    int order = str_compare(x->artefact, y->artefact);
    return order ? order : str_compare(x->version, y->version);
}

static enum err_code add_jar(struct conf_audit *self, size_t *capacity, struct jar_conflict jar, struct err *err)
{
    if (mem_grow((void **)&self->jars, capacity, self->jar_count + 1, MAX_JARS, sizeof *self->jars))
        return err_nomem(err);
    jar.sparks_own = is_sparks_own(jar.name);
    self->jars[self->jar_count++] = jar;
    return ERR_OK;
}

/* "version 2.13.16" → 2.13 */
static struct str scala_of(struct str version)
{
    size_t begin = 0, end;
    while (begin < version.len && !isdigit((unsigned char)version.ptr[begin]))
        begin++;
    int dots = 0;
    for (end = begin; end < version.len && (isdigit((unsigned char)version.ptr[end]) || version.ptr[end] == '.'); end++)
        if (version.ptr[end] == '.' && ++dots == 2)
            break;
    return (struct str){version.ptr + begin, end - begin};
}

static enum err_code read_jars(struct conf_audit *self, const struct facts *facts, struct jar_name **ret, size_t *ret_count, struct str *ret_scala, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    enum err_code rc =
        db_prepare(facts->db, &stmt, "SELECT section, name, value FROM environment WHERE section = 5 OR (section = 0 AND name = 'Scala Version') ORDER BY section, name", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str text;
        bool scala = db_i64(stmt, 0) == 0;
        if (arena_str(&self->arena, scala ? db_str(stmt, 2) : db_str(stmt, 1), &text)) {
            rc = err_nomem(err);
            break;
        }
        if (scala) {
            *ret_scala = scala_of(text);
            continue;
        }
        if (mem_grow((void **)ret, &capacity, *ret_count + 1, MAX_JARS, sizeof **ret)) {
            rc = err_nomem(err);
            break;
        }
        *ret_count += jar_name_of(text, *ret + *ret_count);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define COPIES_MOST 8 /* of one library are held against each other */

/* A lower version of the same in another folder; NULL: none. What lies in one folder was put together on purpose: Spark itself ships hive-shims-0.23 beside hive-shims-2.3. */
static const struct jar_name *other_version(const struct jar_name *names, size_t count, size_t i)
{
    if (i + 1 < count && str_eq(names[i + 1].artefact, names[i].artefact) && str_eq(names[i + 1].version, names[i].version))
        return NULL; /* told with the last copy of this version */
    for (size_t k = i; k-- > 0 && i - k <= COPIES_MOST && str_eq(names[k].artefact, names[i].artefact);) {
        if (str_eq(names[k].version, names[i].version))
            continue;
        for (size_t m = i; m > k && str_eq(names[m].version, names[i].version); m--)
            if (!str_eq(names[m].folder, names[k].folder))
                return &names[k];
    }
    return NULL;
}

static enum err_code find_jars(struct conf_audit *self, const struct facts *facts, struct err *err)
{
    CLEANUP(mem_freep) struct jar_name *names = NULL;
    size_t count = 0, capacity = 0;
    struct str scala = STR_NONE;
    enum err_code rc = read_jars(self, facts, &names, &count, &scala, err);
    if (count)
        qsort(names, count, sizeof *names, by_jar);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct jar_name *jar = &names[i];
        const struct jar_name *other = other_version(names, count, i);
        if (other)
            rc = add_jar(self, &capacity, (struct jar_conflict){.name = jar->artefact, .first = other->version, .second = jar->version}, err);
        if (!rc && jar->scala.len && scala.len && !str_eq(jar->scala, scala))
            rc = add_jar(self, &capacity, (struct jar_conflict){.name = jar->artefact, .first = jar->scala, .second = scala, .scala = true}, err);
    }
    return rc;
}

/* ---- all of it */

enum err_code conf_audit_make(struct conf_audit *ret, const struct facts *facts, struct err *err)
{
    *ret = (struct conf_audit){0};
    arena_init(&ret->arena, ARENA_BYTES);
    enum err_code rc = read_settings(ret, facts, err);
    if (!rc)
        rc = find_conflicts(ret, facts, err);
    if (!rc)
        rc = find_jars(ret, facts, err);
    if (rc)
        conf_audit_dispose(ret);
    return rc;
}

void conf_audit_dispose(struct conf_audit *self)
{
    mem_free(self->rows);
    mem_free(self->jars);
    arena_dispose(&self->arena);
    *self = (struct conf_audit){0};
}

static int64_t fired(const struct conf_default *entry, const struct judged *judged, const struct findings *findings)
{
    int64_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        const char *at = strstr(entry->rules, finding->rule->id);
        size_t len = strlen(finding->rule->id);
        if (at && (at == entry->rules || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' ') && !finding->mute && !str_known(finding->suppressed_by) &&
            finding_grade(finding, NULL, judged->wall_ms) > GRADE_OK)
            count++;
    }
    return count;
}

static enum err_code store_rows(const struct conf_audit *self, const struct judged *judged, const struct findings *findings, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(db, &stmt, "INSERT OR REPLACE INTO conf_audit (name, at_run_time, value, default_value, distance, state, meant, fired) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", err);
    for (size_t i = 0; i < self->count && !rc; i++) {
        const struct conf_row *row = &self->rows[i];
        db_bind_str(stmt, 1, row->key);
        db_bind_i64(stmt, 2, row->at_run_time);
        db_bind_str(stmt, 3, row->value);
        db_bind_str(stmt, 4, row->otherwise);
        db_bind_f64(stmt, 5, row->distance);
        db_bind_str(stmt, 6, str_of(conf_state_names[row->state]));
        db_bind_str(stmt, 7, row->state == CONF_MISSPELT ? str_of(row->entry->key) : STR_NONE);
        db_bind_i64(stmt, 8, fired(row->entry, judged, findings));
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

enum err_code conf_audit_store(const struct conf_audit *self, const struct judged *judged, const struct findings *findings, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = store_rows(self, judged, findings, db, err);
    if (!rc)
        rc = db_prepare(db, &stmt, "INSERT INTO jar_conflict (artefact, first, second, scala, sparks_own) VALUES (?, ?, ?, ?, ?)", err);
    for (size_t i = 0; i < self->jar_count && !rc; i++) {
        const struct jar_conflict *jar = &self->jars[i];
        db_bind_str(stmt, 1, jar->name);
        db_bind_str(stmt, 2, jar->first);
        db_bind_str(stmt, 3, jar->second);
        db_bind_i64(stmt, 4, jar->scala);
        db_bind_i64(stmt, 5, jar->sparks_own);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}
