/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins, broadcasts, rows that multiply, and rows that all go through one task (spec/findings.md 7.7). */
#include <math.h>
#include <stdio.h>

#include "analysis/conf_value.h"
#include "analysis/sql_pass.h"
#include "analysis/stage_view.h"

#define MIB ((double)BYTES_PER_MIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

/* SQL.BROADCAST_MISSED: how small the one side must be for how large the other is [DF]. */
static const struct {
    double small_below, large_above;
} broadcast_fits[] = {{10 * MIB, 0}, {100 * MIB, 10 * GIB}, {1000 * MIB, 300 * GIB}, {5 * GIB, TIB}};
#define BROADCAST_ROOM 2.0 /* advice: Spark compares what it expects, which is more than what came; never less than the default */
#define BROADCAST_DEFAULT_BYTES (10 * MIB)
/* SQL.BROADCAST_LARGE: one grade up where it takes this share of a heap [CP 30–40 %]. */
#define BROADCAST_HEAP_SHARE 0.3
/* SQL.ROW_EXPLOSION */
#define MANY_ROWS 1e7
#define SEVERE_CARTESIAN_ROWS 1e10 /* DF */

/* ---- SQL.BROADCAST_MISSED */

/* What stands behind the two lists of keys: "SortMergeJoin [a], [b], LeftOuter, cond" → "LeftOuter". */
static struct str join_type(const struct plan_node *node)
{
    size_t lists = 0, at = 0;
    int depth = 0;
    for (; at < node->text.len && lists < 2; at++) {
        depth += (node->text.ptr[at] == '[') - (node->text.ptr[at] == ']');
        lists += depth == 0 && node->text.ptr[at] == ']';
    }
    while (at < node->text.len && (node->text.ptr[at] == ',' || node->text.ptr[at] == ' '))
        at++;
    size_t end = at;
    while (end < node->text.len && node->text.ptr[end] != ',' && node->text.ptr[end] != '(' && node->text.ptr[end] != ' ')
        end++;
    return (struct str){node->text.ptr + at, end - at};
}

#define KEY_BYTES 200 /* of the join's keys and of what a side is read from, for a sentence */

/* A list of keys as people write them: "[k#7L, cast(id#3 as bigint)]" of side 0 or 1 → "k, cast(id as bigint)". Empty: the text has none, or was cut in them. */
static void join_keys(const struct plan_node *node, size_t side, char out[KEY_BYTES])
{
    size_t list = 0, len = 0;
    int depth = 0;
    out[0] = '\0';
    for (size_t at = 0; at < node->text.len; at++) {
        char c = node->text.ptr[at];
        depth -= c == ']';
        if (depth == 0 && c == ']' && list++ == side) {
            out[utf8_valid_prefix(out, len)] = '\0';
            return;
        }
        bool is_id = c == '#' && at + 1 < node->text.len && node->text.ptr[at + 1] >= '0' && node->text.ptr[at + 1] <= '9';
        if (is_id) { /* an expression's number, with L behind it where it is a bigint */
            while (at + 1 < node->text.len && node->text.ptr[at + 1] >= '0' && node->text.ptr[at + 1] <= '9')
                at++;
            at += at + 1 < node->text.len && node->text.ptr[at + 1] == 'L';
        } else if (depth > 0 && list == side && len + 1 < KEY_BYTES) {
            out[len++] = c;
        }
        depth += c == '[';
    }
    out[0] = '\0';
}

/* Something that can stand in a program as a name; what comes of a log is put into code as nothing else. */
static bool is_identifier(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', is_digit = c >= '0' && c <= '9';
        if (!is_letter && !(is_digit && i))
            return false;
    }
    return text.len > 0;
}

/* What the program is likely to call it: the table of "db.t", the last folder or file of a path, without its ending. STR_NONE: that is no name. */
static struct str name_of_source(struct str source)
{
    const char *slash = source.len ? memrchr(source.ptr, '/', source.len) : NULL;
    struct str name = slash ? (struct str){slash + 1, source.len - (size_t)(slash + 1 - source.ptr)} : source;
    const char *dot = !name.len ? NULL : slash ? memchr(name.ptr, '.', name.len) : memrchr(name.ptr, '.', name.len);
    if (dot)
        name = slash ? (struct str){name.ptr, (size_t)(dot - name.ptr)} : (struct str){dot + 1, name.len - (size_t)(dot + 1 - name.ptr)};
    return is_identifier(name) ? name : STR_NONE;
}

/* What a side of a join is read from, where it is read from one place: down from its shuffle to a leaf. STR_NONE: several things meet below it, or the leaf says nothing. */
static struct str side_source(struct sql_pass *pass, const struct plan_node *shuffle)
{
    const struct plan_node *node = shuffle;
    for (size_t steps = 0; node->child_count && steps <= pass->plan->node_count; steps++) {
        uint32_t child = plan_child(pass->plan, node);
        if (child == NO_ENTITY)
            return STR_NONE;
        node = &pass->plan->nodes[child];
    }
    struct str source = plan_is_scan(node) ? scan_source(pass, node) : STR_NONE;
    return str_eq(source, node->name) ? STR_NONE : source;
}

/* Whether Spark may broadcast that side of such a join (JoinSelectionHelper.canBuildBroadcastLeft, -Right). */
static bool may_broadcast(struct str type, size_t side)
{
    static const char *const left[] = {"Inner", "Cross", "RightOuter"}, *const right[] = {"Inner", "Cross", "LeftOuter", "LeftSingle", "LeftSemi", "LeftAnti", "ExistenceJoin"};
    const char *const *names = side == 0 ? left : right;
    size_t count = side == 0 ? ARRAY_LENGTH(left) : ARRAY_LENGTH(right);
    for (size_t i = 0; i < count; i++)
        if (str_is(type, names[i]))
            return true;
    return false;
}

static bool fits(double small, double large)
{
    for (size_t i = 0; i < ARRAY_LENGTH(broadcast_fits); i++)
        if (small < broadcast_fits[i].small_below && large > broadcast_fits[i].large_above)
            return true;
    return false;
}

struct side {
    const struct plan_node *shuffle, *sort;
    double bytes, sort_ms;
};

static bool side_of(const struct plan *plan, uint32_t child, struct side *ret)
{
    uint32_t shuffle = plan_shuffle_below(plan, child);
    if (shuffle == NO_ENTITY)
        return false;
    const struct plan_node *top = &plan->nodes[child];
    double sort_ms = plan_named(top, "Sort") ? plan_total_ms(plan, top, "sort time") : 0;
    *ret = (struct side){.shuffle = &plan->nodes[shuffle], .bytes = plan_total(plan, &plan->nodes[shuffle], "data size"), .sort_ms = isnan(sort_ms) ? 0 : sort_ms};
    return !isnan(ret->bytes);
}

/* Nothing but reading stands below the shuffle: then all that its stage does beyond the scan is making the shuffle. */
static const struct plan_node *plain_scan_below(const struct plan *plan, const struct plan_node *shuffle)
{
    uint32_t at = plan_child(plan, shuffle);
    for (size_t steps = 0; at != NO_ENTITY && steps <= plan->node_count; steps++) {
        const struct plan_node *node = &plan->nodes[at];
        if (plan_is_scan(node))
            return node;
        if (!plan_named(node, "Filter") && !plan_named(node, "ColumnarToRow"))
            return NULL;
        at = plan_child(plan, node);
    }
    return NULL;
}

static double write_ms(const struct sql_pass *pass, const struct plan_node *shuffle, uint32_t writer)
{
    double written = plan_total_ms(pass->plan, shuffle, "shuffle write time"), work = stage_work_ms(pass, writer);
    const struct plan_node *scan = plain_scan_below(pass->plan, shuffle);
    double scanned = scan ? plan_total_ms(pass->plan, scan, "scan time") : (double)NAN;
    double beyond = work - pass->judged->accounts->stages[writer].winner_ms[BUCKET_DELAY] - pass->judged->accounts->stages[writer].winner_ms[BUCKET_DESER] - scanned;
    return MIN(work, MAX(isnan(written) ? 0 : written, isnan(beyond) ? 0 : beyond));
}

/* Reading the shuffles, and what their sorts wrote to disk. */
static double read_ms(const struct sql_pass *pass, uint32_t reader)
{
    const double *parts = pass->judged->accounts->stages[reader].winner_ms;
    return parts[BUCKET_FETCH] + parts[BUCKET_DELAY] + parts[BUCKET_DESER] + parts[BUCKET_SPILL_IO];
}

static enum err_code price_missed(struct sql_pass *pass, const struct side *large, double sorts_ms, uint32_t writer, uint32_t reader)
{
    if (writer != NO_ENTITY) {
        double stays = 1 - write_ms(pass, large->shuffle, writer) / stage_work_ms(pass, writer);
        finding_change(pass->findings, "W11", BAND_WEAK, (struct change){.kind = CHANGE_DROP, .stage = writer, .number = stays});
    }
    if (reader != NO_ENTITY) {
        double stays = 1 - MIN(1.0, (sorts_ms + read_ms(pass, reader)) / stage_work_ms(pass, reader));
        finding_change(pass->findings, "W11", BAND_WEAK, (struct change){.kind = CHANGE_DROP, .stage = reader, .number = stays});
    }
    return ERR_OK;
}

/* Which side is the small one, and by which keys: for the advice, and as names in what is shown to copy. */
static void say_sides(struct sql_pass *pass, struct finding *finding, const struct plan_node *node, const struct side *large, const struct side *small, size_t small_side)
{
    char small_key[KEY_BYTES], large_key[KEY_BYTES], keys[2 * KEY_BYTES + 4];
    struct str small_source = side_source(pass, small->shuffle), large_source = side_source(pass, large->shuffle);
    struct str small_name = name_of_source(small_source), large_name = name_of_source(large_source);
    join_keys(node, small_side, small_key);
    join_keys(node, 1 - small_side, large_key);
    bool is_same_key = strcmp(small_key, large_key) == 0, are_names = is_identifier(str_of(small_key)) && is_identifier(str_of(large_key));
    bool are_told_apart = !str_known(small_name) || !str_eq(small_name, large_name);
    snprintf(keys, sizeof keys, is_same_key ? "%s" : "%s = %s", large_key, small_key);
    if (str_known(small_source))
        finding_arg_text(pass->findings, "table", small_source);
    if (small_key[0] && large_key[0])
        finding_arg_text(pass->findings, "keys", str_of(keys));
    finding_arg_text(pass->findings, "small", str_known(small_name) && are_told_apart ? small_name : STR_LIT("small"));
    finding_arg_text(pass->findings, "large", str_known(large_name) && are_told_apart ? large_name : STR_LIT("large"));
    if (!are_names)
        return;
    finding->cause = is_same_key ? NULL : "two_keys";
    finding_arg_text(pass->findings, "key", str_of(small_key));
    finding_arg_text(pass->findings, "large_key", str_of(large_key));
}

enum err_code look_at_join(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    struct side sides[2];
    size_t count = 0;
    if (!plan_named(node, "SortMergeJoin") && !plan_named(node, "ShuffledHashJoin"))
        return ERR_OK;
    for (size_t i = 0; i < node->child_count; i++)
        if (!pass->plan->nodes[node->children[i]].is_subquery && (count == 2 || !side_of(pass->plan, node->children[i], &sides[count++])))
            return ERR_OK; /* a side that is not shuffled for this join: what a broadcast would save is unknown */
    if (count != 2)
        return ERR_OK;
    size_t small = sides[1].bytes <= sides[0].bytes;
    const struct side *a = &sides[1 - small], *b = &sides[small];
    double ratio = a->bytes / MAX(b->bytes, 1.0), sorts_ms = a->sort_ms + b->sort_ms;
    bool possible = may_broadcast(join_type(node), small) && fits(b->bytes, a->bytes);
    uint32_t writer, reader;
    enum err_code rc = shuffle_stages(pass, a->shuffle, &writer, &reader, err);
    if (rc)
        return rc;
    double saving = (writer == NO_ENTITY ? 0 : write_ms(pass, a->shuffle, writer) / stage_slots(pass, writer)) +
                    (reader == NO_ENTITY ? 0 : (sorts_ms + read_ms(pass, reader)) / stage_slots(pass, reader));
    struct finding *finding = consider_node(pass, SQL_BROADCAST_MISSED, node, NO_ENTITY, MUTE_NONE, possible ? ratio : 0, possible ? saving : (double)NAN);
    if (!finding)
        return ERR_OK;
    finding_arg_text(pass->findings, "join", node->name);
    finding_arg(pass->findings, "a", a->bytes, "bytes");
    finding_arg(pass->findings, "b", b->bytes, "bytes");
    say_sides(pass, finding, node, a, b, small);
    finding_arg(pass->findings, "broadcast_bytes", MAX(BROADCAST_DEFAULT_BYTES, ceil(BROADCAST_ROOM * b->bytes)), "bytes");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"large_side", a->bytes, "bytes"}, {"small_side", b->bytes, "bytes"}, {"sort", sorts_ms, "ms"}}, 3);
    evidence_stage_of(pass, writer, "context");
    evidence_stage_of(pass, reader, "context");
    FORMULA(pass->findings, possible ? NULL : "large", finding->rule->ladder.step[0], "DF", {"larger", a->bytes, "bytes"}, {"smaller", b->bytes, "bytes"});
    return possible ? price_missed(pass, a, sorts_ms, writer, reader) : ERR_OK;
}

/* ---- SQL.BROADCAST_LARGE */

static double zero_if_unknown(double value)
{
    return isnan(value) ? 0 : value;
}

enum err_code look_at_broadcast(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    (void)err;
    if (!plan_named(node, "BroadcastExchange") && !plan_named(node, "GpuBroadcastExchange"))
        return ERR_OK;
    double bytes = plan_total(pass->plan, node, "data size");
    double collect = plan_total_ms(pass->plan, node, "time to collect"), build = plan_total_ms(pass->plan, node, "time to build"),
           send = plan_total_ms(pass->plan, node, "time to broadcast");
    struct finding *finding = consider_node(pass, SQL_BROADCAST_LARGE, node, NO_ENTITY, MUTE_NONE, bytes, (double)NAN);
    if (!finding)
        return ERR_OK;
    double driver = (double)driver_heap_bytes(pass->facts);
    double heap = MIN(driver, (double)executor_heap_bytes(pass->facts));
    finding->grade_shift = bytes >= BROADCAST_HEAP_SHARE * heap;
    finding_arg(pass->findings, "x", bytes, "bytes");
    finding_arg(pass->findings, "sec", zero_if_unknown(collect) + zero_if_unknown(build) + zero_if_unknown(send), "ms");
    finding_measure(pass->findings, "heap_share", bytes / heap, "share");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"size", bytes, "bytes"}, {"collect", collect, "ms"}, {"build", build, "ms"}, {"broadcast", send, "ms"}}, 4);
    finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[0], "DF");
    return ERR_OK;
}

/* ---- SQL.ROW_EXPLOSION */

/* Rows that go in. A Cartesian product of l and r partitions runs l × r tasks, and each reads a partition of either side again: both sides are counted √(l × r) times. */
static double rows_in(const struct sql_pass *pass, const struct plan_node *node, uint32_t stage)
{
    double sum = 0;
    for (size_t i = 0; i < node->child_count; i++)
        if (!pass->plan->nodes[node->children[i]].is_subquery)
            sum += pass->plan->nodes[node->children[i]].rows;
    if (plan_named(node, "CartesianProduct") && stage != NO_ENTITY && pass->facts->stages[stage].num_tasks > 1)
        sum /= sqrt((double)pass->facts->stages[stage].num_tasks);
    return sum;
}

enum err_code look_at_explosion(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    bool cartesian = plan_named(node, "CartesianProduct") || plan_named(node, "BroadcastNestedLoopJoin");
    if (!plan_is_join(node) && !plan_named(node, "Generate") && !plan_named(node, "Expand"))
        return ERR_OK;
    uint32_t stage;
    enum err_code rc = stage_of_metric(pass, node, "number of output rows", &stage, err);
    double out = plan_total(pass->plan, node, "number of output rows"), in = rows_in(pass, node, stage), ratio = out / MAX(in, 1.0);
    if (rc || isnan(out) || isnan(in))
        return rc;
    struct finding *finding = consider_node(pass, SQL_ROW_EXPLOSION, node, NO_ENTITY, out < MANY_ROWS ? MUTE_TINY_DATA : MUTE_NONE, ratio, (double)NAN);
    if (!finding)
        return ERR_OK;
    finding->cause = cartesian ? "cartesian" : NULL;
    if (cartesian && out >= MANY_ROWS)
        finding->at_least = out >= SEVERE_CARTESIAN_ROWS ? GRADE_SEVERE : GRADE_LOW;
    finding_arg(pass->findings, "in", in, "records");
    finding_arg(pass->findings, "out", out, "records");
    evidence_node(pass, node, "culprit", (struct evidence_cell[]){{"rows_in", in, "records"}, {"rows_out", out, "records"}}, 2);
    evidence_stage_of(pass, stage, "context");
    FORMULA(pass->findings, NULL, finding->rule->ladder.step[0], "ST", {"out_rows", out, "records"}, {"in_rows", in, "records"});
    if (stage != NO_ENTITY)
        finding_change(pass->findings, "W11", BAND_WEAK, (struct change){.kind = CHANGE_DROP, .stage = stage, .number = MIN(1.0, in / MAX(out, 1.0))});
    return ERR_OK;
}

/* ---- SQL.SINGLE_PARTITION */

/* Window, sort, join or aggregate that takes what the shuffle gathers. */
static const struct plan_node *consumer(const struct plan *plan, const struct plan_node *shuffle)
{
    const struct plan_node *node = shuffle;
    for (size_t steps = 0; node->parent_count && steps <= plan->node_count; steps++) {
        node = &plan->nodes[node->parents[0]];
        if (plan_named(node, "Window") || plan_named(node, "Sort") || plan_is_join(node) || (node->name.len >= 9 && str_ends(node->name, "Aggregate")))
            return node;
        if (!plan_is_shuffle_read(node) && !plan_named(node, "Project") && !plan_named(node, "ColumnarToRow"))
            return NULL;
    }
    return NULL;
}

enum err_code look_at_single_partition(struct sql_pass *pass, const struct plan_node *node, struct err *err)
{
    if (!plan_is_shuffle(node) || !node->text.len || !memmem(node->text.ptr, node->text.len, "SinglePartition", 15))
        return ERR_OK;
    const struct plan_node *taker = consumer(pass->plan, node);
    uint32_t writer, reader;
    enum err_code rc = shuffle_stages(pass, node, &writer, &reader, err);
    if (rc || !taker || isnan(node->rows))
        return rc;
    double saving = reader == NO_ENTITY ? (double)NAN : stage_work_ms(pass, reader) * (1 - 1 / (double)MAX(pass->facts->slot_peak, 1));
    struct finding *finding = consider_node(pass, SQL_SINGLE_PARTITION, taker, reader, MUTE_NONE, node->rows, saving);
    if (!finding)
        return ERR_OK;
    finding_arg(pass->findings, "rows", node->rows, "records");
    evidence_node(pass, taker, "culprit", (struct evidence_cell[]){{"rows", node->rows, "records"}}, 1);
    evidence_node(pass, node, "context", NULL, 0);
    evidence_stage_of(pass, reader, "context");
    finding_formula(pass->findings, NULL, NULL, 0, finding->rule->ladder.step[0], "CP");
    if (reader != NO_ENTITY)
        finding_change(pass->findings, "W6", BAND_NORMAL, (struct change){.kind = CHANGE_SPLIT, .stage = reader, .number = 2.0 * (double)MAX(pass->facts->slot_peak, 1)});
    return ERR_OK;
}
