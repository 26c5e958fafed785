/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing tables (spec/findings.md 7.7): files, partitions, filters, and the same source read again. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/conf_value.h"
#include "analysis/sql_pass.h"
#include "analysis/stage_view.h"
#include "base/mem.h"

#define MIB ((double)BYTES_PER_MIB)
#define GIB (1024 * MIB)

/* SQL.SMALL_FILES_…: fewer files are no trouble; tasks read 128 MiB each where files let them. */
#define MANY_FILES 100.0
#define TASK_BYTES (128 * MIB)
#define SMALL_FILE_BYTES (3 * MIB) /* worth a word without a price [DF] */
#define OPEN_COST_BYTES (4 * MIB)  /* opening a file takes as long as reading so much: Spark's own estimate, spark.sql.files.openCostInBytes */
/* SQL.PUSHDOWN, SQL.DPP: smaller scans do not matter. */
#define LARGE_SCAN_BYTES GIB
#define FEW_ROWS_LEFT 0.01
#define MANY_COLUMNS 100.0
#define FEW_COLUMNS_USED 0.2
/* SQL.REPEATED_SCAN */
#define REPEATED_LEAST_BYTES (256 * MIB)
#define REPEATED_PRICED 1000
#define SCHEMA_BYTES 512 /* of a schema that are compared; Spark cuts them at a hundred characters */

struct scan_seen {
    uint64_t source;   /* location, table, partition filters */
    struct str schema; /* in the arena of findings */
    struct str name;
    int64_t execution_id, node_id;
    uint32_t stage;
    double bytes, scan_ms;
};

static double first_known(double a, double b)
{
    return isnan(a) ? b : a;
}

static double files_read(const struct plan *plan, const struct plan_node *node)
{
    return first_known(plan_total(plan, node, "number of files read"), plan_total(plan, node, "number of files"));
}

/* What would stay of the time that a stage spends on storage if the files it reads were as large as they should be; what it writes stays as it is. */
static double storage_left(const struct sql_pass *pass, uint32_t stage, double files, double bytes)
{
    const struct distribution *read = &pass->judged->stages[stage]->of[STAT_INPUT_BYTES], *written = &pass->judged->stages[stage]->of[STAT_OUTPUT_BYTES];
    double input = read->count ? read->sum : 0, output = written->count ? written->sum : 0;
    double read_left = (ceil(bytes / TASK_BYTES) * OPEN_COST_BYTES + bytes) / (files * OPEN_COST_BYTES + bytes);
    return 1 - (1 - fmin(1, read_left)) * (input > 0 ? input / (input + output) : 0);
}

static void small_files_read(struct sql_pass *pass, const struct plan_node *node, uint32_t stage, double files, double bytes)
{
    double mean = bytes / MAX(files, 1.0), tasks = MAX((double)pass->facts->slot_peak, ceil(bytes / TASK_BYTES)), saving = (double)NAN, left = 1;
    if (stage != NO_ENTITY) {
        double overhead = pass->judged->extras[stage]->overhead_p50_ms, merged = MAX(0.0, (double)pass->facts->stages[stage].winner_count - tasks) * (isnan(overhead) ? 0 : overhead);
        left = storage_left(pass, stage, MAX(files, 1.0), bytes);
        saving = (merged + (1 - left) * pass->judged->accounts->stages[stage].winner_ms[BUCKET_STORAGE_IO]) / stage_slots(pass, stage);
    }
    /* The stage is in the price alone: where its tasks are too short to be judged, the files are still small. */
    struct finding *finding = consider_node(pass, SQL_SMALL_FILES_READ, node, NO_ENTITY, files > MANY_FILES ? MUTE_NONE : MUTE_TINY_DATA, mean, saving);
    if (!finding)
        return;
    finding->at_least = files > MANY_FILES && mean < SMALL_FILE_BYTES ? GRADE_INFO : GRADE_OK;
    finding_arg_text(pass->findings, "table", scan_source(pass, node));
    finding_arg(pass->findings, "files", files, "count");
    finding_arg(pass->findings, "mean", mean, "bytes");
    finding_arg(pass->findings, "partitions", MAX(1.0, ceil(bytes / TASK_BYTES)), "count");
    finding_arg(pass->findings, "split_bytes", TASK_BYTES, "bytes");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"files", files, "count"}, {"size", bytes, "bytes"}}, 2);
    evidence_stage_of(pass, stage, "context");
    FORMULA(pass->findings, NULL, finding->rule->ladder.step[0], "DF", {"bytes", bytes, "bytes"});
    if (stage == NO_ENTITY)
        return;
    finding_change(pass->findings, "W7", BAND_WEAK, (struct change){.kind = CHANGE_FACTOR, .stage = stage, .part = BUCKET_STORAGE_IO, .number = left});
    finding_change(pass->findings, "W7", BAND_WEAK,
                   (struct change){.kind = CHANGE_MERGE, .stage = stage, .number = tasks, .overhead_ms = pass->judged->extras[stage]->overhead_p50_ms});
}

static bool is_empty_list(struct str text)
{
    return !text.len || str_is(text, "[]");
}

static struct str scan_property(struct sql_pass *pass, const struct plan_node *node, const char *key)
{
    struct str out = plan_metadata(node, key, &pass->scratch);
    return str_known(out) ? out : plan_text_field(node, key);
}

static void full_scan(struct sql_pass *pass, const struct plan_node *node, double bytes)
{
    double partitions = plan_total(pass->plan, node, "number of partitions read"); /* only partitioned tables have it */
    struct str filters = scan_property(pass, node, "PartitionFilters");
    if (isnan(partitions) || isnan(bytes))
        return;
    bool whole = is_empty_list(filters) && partitions > 1;
    struct finding *finding = consider_node(pass, SQL_FULL_SCAN, node, NO_ENTITY, MUTE_NONE, whole ? bytes : 0, (double)NAN);
    if (!finding)
        return;
    finding_arg_text(pass->findings, "table", scan_source(pass, node));
    finding_arg_text(pass->findings, "cols", STR_LIT("?")); /* a scan without a filter on them does not name them */
    finding_arg(pass->findings, "n", partitions, "count");
    finding_arg(pass->findings, "bytes", bytes, "bytes");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"partitions", partitions, "count"}, {"size", bytes, "bytes"}}, 2);
    finding_formula(pass->findings, whole ? NULL : "filtered", NULL, 0, finding->rule->ladder.step[0], "own");
}

static bool has_join(const struct plan *plan)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan_is_join(&plan->nodes[i]))
            return true;
    return false;
}

/* Files that were read of those that would have been without it; 1: it was of no use. */
static void dynamic_pruning(struct sql_pass *pass, const struct plan_node *node, double files, double bytes)
{
    double all = plan_total(pass->plan, node, "static number of files read"), share = (double)NAN;
    struct str filters = scan_property(pass, node, "PartitionFilters");
    bool useless = filters.len && memmem(filters.ptr, filters.len, "dynamicpruningexpression(true)", 30) != NULL;
    if (all > 0 && !isnan(files))
        share = MIN(1.0, files / all);
    else if (useless)
        share = 1;
    else if (!conf_true(facts_conf(pass->facts, "spark.sql.optimizer.dynamicPartitionPruning.enabled"), true) && bytes >= LARGE_SCAN_BYTES && is_empty_list(filters) &&
             plan_total(pass->plan, node, "number of partitions read") > 1 && has_join(pass->plan))
        share = 1;
    struct finding *finding = findings_consider(pass->findings, pass->rules[SQL_DPP], MUTE_NONE, share, (double)NAN, SUBJECT_SQL, "%lld", (long long)pass->plan->execution_id);
    if (!finding)
        return;
    char saved[64];
    snprintf(saved, sizeof saved, "%lld", (long long)pass->plan->execution_id);
    finding_arg_text(pass->findings, "id", str_of(saved));
    finding->cause = share < 1 ? "pruned" : "useless";
    finding_arg(pass->findings, "a", share < 1 ? files : (double)NAN, "count");
    finding_arg(pass->findings, "b", all, "count");
    finding_measure(pass->findings, "saved_bytes", plan_total(pass->plan, node, "static size of files read") - bytes, "bytes");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"files", files, "count"}, {"files_without", all, "count"}}, 2);
    finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[1], "S3");
}

static const struct plan_node *filter_above(const struct plan *plan, const struct plan_node *scan)
{
    const struct plan_node *node = scan;
    for (int steps = 0; steps < 4 && node->parent_count == 1; steps++) { /* ColumnarToRow, Project, then the filter */
        node = &plan->nodes[node->parents[0]];
        if (plan_named(node, "Filter"))
            return node;
        if (!plan_named(node, "ColumnarToRow") && !plan_named(node, "Project"))
            return NULL;
    }
    return NULL;
}

/* How many columns a list names, "[a#1, b#2L, ... 95 more fields]": Spark cuts it, and says how much it cut. *ret_cut: it did. 0: there is no list. */
static double columns_listed(struct str text, bool *ret_cut)
{
    *ret_cut = false;
    const char *open = text.len ? memchr(text.ptr, '[', text.len) : NULL;
    if (!open)
        return 0;
    struct str list = {open + 1, text.len - (size_t)(open + 1 - text.ptr)};
    double count = 0;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= list.len; i++) {
        char c = i < list.len ? list.ptr[i] : ']';
        if (depth == 0 && (c == ',' || c == ']')) {
            begin += begin < i && list.ptr[begin] == ' ';
            struct str item = {list.ptr + begin, i - begin};
            int64_t more = 0;
            const char *blank = str_starts(item, "... ") ? memchr(item.ptr + 4, ' ', item.len - 4) : NULL;
            if (blank && str_ends(item, " more fields") && str_to_i64((struct str){item.ptr + 4, (size_t)(blank - item.ptr) - 4}, &more) && more > 0) {
                *ret_cut = true;
                count += (double)more;
            } else {
                count += item.len > 0;
            }
            begin = i + 1;
            if (c == ']')
                break;
        }
        depth += (c == '(' || c == '[' || c == '<') - (c == ')' || (c == ']' && depth > 0) || c == '>');
    }
    return count;
}

/* Different attributes, name#id, that a text speaks of, at most `most`. */
static double attributes_in(struct str text, int64_t *ids, size_t most, size_t *used)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        int64_t id = 0;
        size_t digits = i + 1;
        if (text.ptr[i] != '#')
            continue;
        for (; digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9' && digits < i + 16; digits++)
            id = id * 10 + (text.ptr[digits] - '0');
        size_t k = 0;
        while (k < *used && ids[k] != id)
            k++;
        if (k == *used && *used < most && digits > i + 1)
            ids[(*used)++] = id;
    }
    return (double)*used;
}

/* Columns that the operators right above a scan take on, where one of them names them all: a projection, with the filter below it. NaN: none does, or Spark cut its list. */
static double columns_used(const struct plan *plan, const struct plan_node *scan)
{
    int64_t ids[(size_t)MANY_COLUMNS];
    size_t used = 0;
    const struct plan_node *node = scan;
    for (int steps = 0; steps < 4 && node->parent_count == 1; steps++) {
        node = &plan->nodes[node->parents[0]];
        bool cut, project = plan_named(node, "Project");
        if (!project && !plan_named(node, "ColumnarToRow") && !plan_named(node, "Filter"))
            return (double)NAN;
        if (plan_named(node, "ColumnarToRow"))
            continue;
        columns_listed(node->text, &cut);
        if (node->text_bytes > node->text.len || (project && cut))
            return (double)NAN;
        attributes_in(node->text, ids, ARRAY_LENGTH(ids), &used);
        if (project)
            return (double)used;
    }
    return (double)NAN;
}

static void pushdown(struct sql_pass *pass, const struct plan_node *node, double bytes)
{
    struct str data = scan_property(pass, node, "DataFilters"), pushed = scan_property(pass, node, "PushedFilters");
    const struct plan_node *filter = filter_above(pass->plan, node);
    bool not_pushed = !is_empty_list(data) && is_empty_list(pushed), few_left = filter && is_empty_list(pushed) && filter->rows < FEW_ROWS_LEFT * node->rows;
    bool cut, late = not_pushed || few_left;
    double columns = columns_listed(node->text, &cut), used = columns > MANY_COLUMNS ? columns_used(pass->plan, node) : (double)NAN;
    bool wide = !late && used < FEW_COLUMNS_USED * columns;
    struct finding *finding = consider_node(pass, SQL_PUSHDOWN, node, NO_ENTITY, MUTE_NONE, late || wide ? bytes : 0, (double)NAN);
    if (!finding)
        return;
    finding->cause = wide ? "columns" : late ? "rows" : NULL;
    finding_arg(pass->findings, "columns", columns, "count");
    finding_arg(pass->findings, "used", used, "count");
    if (!wide)
        finding_arg_text(pass->findings, "f", filter ? filter->text : data);
    finding_arg(pass->findings, "rows", node->rows, "records");
    finding_arg_text(pass->findings, "table", scan_source(pass, node));
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"size", bytes, "bytes"}, {"rows", node->rows, "records"}}, 2);
    if (filter)
        evidence_node(pass, filter, "context", (struct evidence_cell[]){{"rows", filter->rows, "records"}}, 1);
    finding_formula(pass->findings, late ? NULL : wide ? "columns" : "pushed", NULL, 0, finding->rule->ladder.step[0], "own");
}

static enum err_code note_scan(struct sql_pass *pass, const struct plan_node *node, uint32_t stage, double bytes, struct err *err)
{
    struct str location = scan_property(pass, node, "Location"), filters = scan_property(pass, node, "PartitionFilters"), schema = scan_property(pass, node, "ReadSchema");
    if (isnan(bytes) || (!location.len && !node->name.len))
        return ERR_OK;
    if (mem_grow((void **)&pass->scans, &pass->scan_capacity, pass->scan_count + 1, (size_t)1 << 26, sizeof *pass->scans))
        return err_nomem(err);
    struct scan_seen *seen = &pass->scans[pass->scan_count];
    *seen = (struct scan_seen){.execution_id = pass->plan->execution_id, .node_id = node->node_id, .stage = stage, .bytes = bytes};
    seen->scan_ms = plan_total_ms(pass->plan, node, "scan time");
    /* Expression ids differ from plan to plan; a pruning expression that is made at run time is of this plan alone. */
    seen->source = plan_text_hash(filters, plan_text_hash(location, plan_text_hash(node->name, 0)));
    struct str name = scan_source(pass, node);
    schema.len = MIN(schema.len, (size_t)SCHEMA_BYTES);
    name.len = utf8_valid_prefix(name.ptr ? name.ptr : "", MIN(name.len, (size_t)200));
    if (arena_str(pass->findings->arena, schema.len ? schema : STR_LIT(""), &seen->schema) || arena_str(pass->findings->arena, name.len ? name : STR_LIT("?"), &seen->name))
        return err_nomem(err);
    pass->scan_count++;
    return ERR_OK;
}

enum err_code look_at_scan(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    if (!plan_is_scan(node))
        return ERR_OK;
    uint32_t stage;
    double files = files_read(pass->plan, node), bytes = plan_total(pass->plan, node, "size of files read");
    enum err_code rc = stage_of_node(pass, node, &stage, err);
    if (rc)
        return rc;
    if (!isnan(files) && !isnan(bytes) && files > 0)
        small_files_read(pass, node, stage, files, bytes);
    full_scan(pass, node, bytes);
    dynamic_pruning(pass, node, files, bytes);
    pushdown(pass, node, bytes);
    return note_scan(pass, node, stage, bytes, err);
}

/* Where a command writes to: "Execute InsertIntoHadoopFsRelationCommand file:/a/b, false, …". STR_NONE: its text does not say. */
static struct str path_written(const struct plan_node *node)
{
    if (node->text.len <= node->name.len + 1 || memcmp(node->text.ptr, node->name.ptr, node->name.len) != 0 || node->text.ptr[node->name.len] != ' ')
        return STR_NONE;
    struct str rest = {node->text.ptr + node->name.len + 1, node->text.len - node->name.len - 1};
    const char *end = memchr(rest.ptr, ',', rest.len);
    struct str path = {rest.ptr, end ? (size_t)(end - rest.ptr) : 0};
    return path.len && memchr(path.ptr, '/', path.len) ? path : STR_NONE;
}

/* The stage of this execution that wrote output; of several the last. NO_ENTITY: none is known. */
static uint32_t stage_that_wrote(const struct sql_pass *pass)
{
    uint32_t found = NO_ENTITY;
    for (uint32_t i = 0; i < pass->facts->stage_count; i++)
        if (pass->facts->stages[i].sql_execution_id == pass->plan->execution_id && pass->judged->stages[i]->of[STAT_OUTPUT_BYTES].sum > 0)
            found = i;
    return found;
}

enum err_code look_at_write(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    (void)err;
    double files = plan_total(pass->plan, node, "number of written files");
    double bytes = first_known(plan_total(pass->plan, node, "written output"), plan_total(pass->plan, node, "bytes of written output"));
    if (isnan(files) || isnan(bytes) || files < 1)
        return ERR_OK;
    double mean = bytes / files, partitions = plan_total(pass->plan, node, "number of dynamic part");
    struct finding *finding = consider_node(pass, SQL_SMALL_FILES_WRITE, node, NO_ENTITY, files > MANY_FILES ? MUTE_NONE : MUTE_TINY_DATA, mean, (double)NAN);
    if (!finding)
        return ERR_OK;
    finding_arg(pass->findings, "files", files, "count");
    finding_arg(pass->findings, "mean", mean, "bytes");
    finding_arg_text(pass->findings, "path", path_written(node));
    finding->cause = partitions > 0 ? "partitioned" : bytes <= TASK_BYTES ? "one" : NULL;
    uint32_t writer = stage_that_wrote(pass);
    if (writer != NO_ENTITY) {
        char key[48];
        snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(&pass->facts->stages[writer]));
        finding_arg_text(pass->findings, "written_by", str_of(key));
    }
    finding_arg(pass->findings, "parts", partitions, "count");
    finding_arg(pass->findings, "partitions", MAX(1.0, ceil(bytes / TASK_BYTES)), "count");
    finding_arg(pass->findings, "bytes", bytes, "bytes");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"files", files, "count"}, {"size", bytes, "bytes"}, {"partitions", partitions, "count"}}, 3);
    FORMULA(pass->findings, NULL, finding->rule->ladder.step[0], "DF", {"bytes", bytes, "bytes"});
    return ERR_OK;
}

/* ---- the same source again */

/* Whether all fields of `part` are in `whole`: "struct<a:int,b:string>". Both are cut where Spark cut them; what it cut is not compared. */
static bool schema_within(struct str part, struct str whole)
{
    if (str_eq(part, whole) || !part.len)
        return true;
    size_t begin = str_starts(part, "struct<") ? 7 : 0;
    while (begin < part.len) {
        size_t end = begin;
        int depth = 0;
        for (; end < part.len && (depth > 0 || (part.ptr[end] != ',' && part.ptr[end] != '>')); end++)
            depth += (part.ptr[end] == '<' || part.ptr[end] == '(') - (part.ptr[end] == '>' || part.ptr[end] == ')');
        if (end > begin && !memmem(whole.ptr, whole.len, part.ptr + begin, end - begin))
            return false;
        begin = end + 1;
    }
    return true;
}

/* By source, the widest schema first. */
static int by_source(const void *a, const void *b)
{
    const struct scan_seen *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->schema.len != y->schema.len)
        return x->schema.len > y->schema.len ? -1 : 1;
    if (x->execution_id != y->execution_id)
        return x->execution_id < y->execution_id ? -1 : 1;
    return (x->node_id > y->node_id) - (x->node_id < y->node_id);
}

static void repeated_scan(struct sql_pass *pass, const struct scan_seen *at, size_t count)
{
    double again = 0, saving = 0;
    size_t times = 0;
    for (size_t i = 0; i < count; i++) {
        if (!schema_within(at[i].schema, at[0].schema))
            continue;
        times++;
        if (i && at[i].stage != NO_ENTITY)
            saving += MIN(isnan(at[i].scan_ms) ? DBL_MAX : at[i].scan_ms, stage_work_ms(pass, at[i].stage)) / stage_slots(pass, at[i].stage);
        again += i ? at[i].bytes : 0;
    }
    const struct rule *rule = pass->rules[SQL_REPEATED_SCAN];
    enum mute mute = mute_of(pass->judged, rule, NO_ENTITY);
    if (!mute && again < REPEATED_LEAST_BYTES)
        mute = MUTE_TINY_DATA;
    char key[NODE_KEY_BYTES];
    snprintf(key, sizeof key, "%lld/%lld", (long long)at[0].execution_id, (long long)at[0].node_id);
    if (!findings_consider(pass->findings, rule, mute, (double)times, saving, SUBJECT_NODE, "%s", key))
        return;
    finding_arg_text(pass->findings, "table", at[0].name);
    finding_arg(pass->findings, "k", (double)times, "count");
    finding_arg(pass->findings, "bytes", again + at[0].bytes, "bytes");
    for (size_t i = 0; i < count; i++) {
        if (!schema_within(at[i].schema, at[0].schema))
            continue;
        snprintf(key, sizeof key, "%lld/%lld", (long long)at[i].execution_id, (long long)at[i].node_id);
        finding_evidence(pass->findings, SUBJECT_NODE, str_of(key), i || times < 2 ? "culprit" : "peer",
                         (struct evidence_cell[]){{"size", at[i].bytes, "bytes"}, {"scan", at[i].scan_ms, "ms"}}, 2);
        if (!i || i >= REPEATED_PRICED || at[i].stage == NO_ENTITY)
            continue;
        double scan = isnan(at[i].scan_ms) ? 1 : MIN(1.0, at[i].scan_ms / stage_work_ms(pass, at[i].stage));
        finding_change(pass->findings, "W11", BAND_WEAK, (struct change){.kind = CHANGE_DROP, .stage = at[i].stage, .number = 1 - scan});
    }
    FORMULA(pass->findings, NULL, rule->ladder.step[0], "own", {"again", again, "bytes"});
}

enum err_code sql_repeated_scans(struct sql_pass *pass, struct err *err)
{
    (void)err;
    if (pass->scan_count)
        qsort(pass->scans, pass->scan_count, sizeof *pass->scans, by_source);
    for (size_t i = 0, end; i < pass->scan_count; i = end) {
        for (end = i; end < pass->scan_count && pass->scans[end].source == pass->scans[i].source; end++)
            ;
        repeated_scan(pass, pass->scans + i, end - i);
    }
    return ERR_OK;
}
