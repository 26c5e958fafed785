/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyse.h"
#include "analysis/audits.h"
#include "base/buf.h"
#include "base/mem.h"

enum scope { SCOPE_APP, SCOPE_JOB_WINDOW, SCOPE_JOB_COST, SCOPE_STAGE_WINDOW, SCOPE_STAGE_COST };

enum err_code analysis_rows_clear(struct db *app, struct err *err)
{
    enum err_code rc = audits_clear(app, err);
    return rc ? rc
              : db_exec(app,
                        "DELETE FROM analysis; DELETE FROM account; DELETE FROM driver_gap; DELETE FROM slot_use; DELETE FROM stage_analysis; DELETE FROM stage_distribution;"
                        "DELETE FROM chain_segment; DELETE FROM what_if; DELETE FROM finding; DELETE FROM joint_price",
                        err);
}

static int64_t whole(double value)
{
    return isnan(value) ? UNKNOWN : value >= 9e18 ? INT64_MAX : value <= -9e18 ? INT64_MIN + 1 : llround(value);
}

static enum err_code write_head(struct db *app, const struct analysis_result *result, struct err *err)
{
    const struct judged *judged = result->judged;
    const struct facts *facts = judged->facts;
    const struct accounts *accounts = judged->accounts;
    const struct calibration *calibration = &judged->calibration;
    bool simulated = judged->simulation != NULL;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO analysis VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
    if (rc)
        return rc;
    const int64_t values[] = {ANALYSIS_VERSION,
                              0, /* until analysis_rows_end */
                              facts->begin_ms,
                              facts->end_ms,
                              facts->end_at_least,
                              judged->wall_ms,
                              whole(accounts->jobs_ms),
                              judged->completeness,
                              facts->slot_peak,
                              whole(accounts->app.slot_total_ms),
                              whole(accounts->allocated_ms),
                              whole(facts->overlap_ms),
                              facts->clock_faults,
                              simulated ? calibration->as_observed_ms : UNKNOWN};
    int at = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
        db_bind_i64(stmt, at++, values[i]);
    db_bind_f64(stmt, at++, simulated ? calibration->error : (double)NAN);
    db_bind_i64(stmt, at++, simulated ? calibration->t_inf_ms : UNKNOWN);
    db_bind_i64(stmt, at++, simulated ? calibration->t_work_ms : UNKNOWN);
    db_bind_i64(stmt, at, simulated && calibration->prices_allowed);
    rc = db_run(stmt, err);
    db_finalize(stmt);
    return rc;
}

/* ---- accounts */

static enum err_code write_account(sqlite3_stmt *stmt, enum scope scope, int64_t owner, const struct account *account, struct err *err)
{
    int64_t slot_ms[BUCKET_COUNT], wall_ms[BUCKET_COUNT];
    bool has_wall = account->wall_total_ms > 0;
    account_round(account->slot_ms, account->slot_total_ms, slot_ms);
    if (has_wall)
        account_round(account->wall_ms, account->wall_total_ms, wall_ms);
    enum err_code rc = ERR_OK;
    for (int b = 0; b < BUCKET_COUNT && !rc; b++) {
        if (!slot_ms[b] && !(has_wall && wall_ms[b]))
            continue;
        db_bind_i64(stmt, 1, (int64_t)scope);
        db_bind_i64(stmt, 2, owner);
        db_bind_str(stmt, 3, str_of(bucket_names[b]));
        db_bind_i64(stmt, 4, slot_ms[b]);
        db_bind_i64(stmt, 5, has_wall ? wall_ms[b] : UNKNOWN);
        rc = db_run(stmt, err);
    }
    return rc;
}

/* Positions of the `most` largest, ascending. `size` has `count` places and is used up. */
struct sized {
    double size;
    uint32_t position;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->size > y->size || x->size < y->size)
        return x->size < y->size ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

static int by_position(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

static size_t largest(struct sized *items, size_t count, size_t most)
{
    if (count > most) {
        qsort(items, count, sizeof *items, by_size);
        qsort(items, most, sizeof *items, by_position);
    }
    return MIN(count, most);
}

static enum err_code largest_stages(const struct judged *judged, struct sized **ret, size_t *ret_count, struct err *err)
{
    struct sized *items = mem_array(judged->facts->stage_count + 1, sizeof *items);
    size_t count = 0;
    if (!items)
        return err_nomem(err);
    for (uint32_t i = 0; i < judged->facts->stage_count; i++)
        if (judged->facts->stages[i].attempt_count)
            items[count++] = (struct sized){judged->accounts->stages[i].occupancy_ms, i};
    *ret_count = largest(items, count, DETAILED_STAGES);
    *ret = items;
    return ERR_OK;
}

static enum err_code write_accounts(struct db *app, const struct judged *judged, const struct sized *stages, size_t stage_count, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct accounts *accounts = judged->accounts;
    CLEANUP(mem_freep) struct sized *jobs = mem_array(facts->job_count + 1, sizeof *jobs);
    if (!jobs)
        return err_nomem(err);
    for (uint32_t i = 0; i < facts->job_count; i++)
        jobs[i] = (struct sized){accounts->job_costs[i].slot_total_ms, i};
    size_t job_count = largest(jobs, facts->job_count, DETAILED_JOBS);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO account VALUES (?,?,?,?,?)", err);
    if (!rc)
        rc = write_account(stmt, SCOPE_APP, 0, &accounts->app, err);
    for (size_t i = 0; i < job_count && !rc; i++) {
        rc = write_account(stmt, SCOPE_JOB_WINDOW, facts->jobs[jobs[i].position].job_id, &accounts->job_windows[jobs[i].position], err);
        if (!rc)
            rc = write_account(stmt, SCOPE_JOB_COST, facts->jobs[jobs[i].position].job_id, &accounts->job_costs[jobs[i].position], err);
    }
    for (size_t i = 0; i < stage_count && !rc; i++) {
        rc = write_account(stmt, SCOPE_STAGE_WINDOW, facts->stages[stages[i].position].stage_ref, &accounts->stages[stages[i].position].window, err);
        if (!rc)
            rc = write_account(stmt, SCOPE_STAGE_COST, facts->stages[stages[i].position].stage_ref, &accounts->stages[stages[i].position].cost, err);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code write_gaps(struct db *app, const struct judged *judged, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct accounts *accounts = judged->accounts;
    CLEANUP(mem_freep) struct sized *gaps = mem_array(accounts->gap_count + 1, sizeof *gaps);
    if (!gaps)
        return err_nomem(err);
    for (uint32_t i = 0; i < accounts->gap_count; i++)
        gaps[i] = (struct sized){(double)accounts->gaps[i].to_ms - (double)accounts->gaps[i].from_ms, i};
    size_t count = largest(gaps, accounts->gap_count, STORED_GAPS);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO driver_gap VALUES (?,?,?,?,?,?,?,?)", err);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct driver_gap *gap = &accounts->gaps[gaps[i].position];
        db_bind_i64(stmt, 1, (int64_t)gaps[i].position);
        db_bind_i64(stmt, 2, gap->from_ms);
        db_bind_i64(stmt, 3, gap->to_ms);
        db_bind_str(stmt, 4, str_of(bucket_names[gap->kind]));
        db_bind_str(stmt, 5, str_of(gap->sub));
        db_bind_i64(stmt, 6, gap->sql_execution_id);
        db_bind_i64(stmt, 7, gap->job_before == NO_ENTITY ? UNKNOWN : facts->jobs[gap->job_before].job_id);
        db_bind_i64(stmt, 8, gap->job_after == NO_ENTITY ? UNKNOWN : facts->jobs[gap->job_after].job_id);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code write_slot_use(struct db *app, const struct slot_use *use, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO slot_use VALUES (?,?,?)", err);
    for (size_t i = 0; i < use->count && !rc; i++) {
        db_bind_i64(stmt, 1, use->steps[i].from_ms);
        db_bind_f64(stmt, 2, use->steps[i].alive);
        db_bind_f64(stmt, 3, use->steps[i].busy);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

/* ---- stages */

static void causes_text(const struct outliers *outliers, struct buf *ret)
{
    buf_clear(ret);
    buf_char(ret, '{');
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (outliers->ms[c] >= 0.5)
            buf_printf(ret, "%s\"%s\":%.0f", ret->len > 1 ? "," : "", cause_names[c], outliers->ms[c]);
    buf_char(ret, '}');
}

static enum err_code write_stage(sqlite3_stmt *stmt, const struct judged *judged, uint32_t i, struct buf *causes, struct err *err)
{
    const struct stage_fact *fact = &judged->facts->stages[i];
    const struct stage_stats *stats = judged->stages[i];
    const struct outliers *outliers = &stats->outliers;
    bool known_stats = stats->of[STAT_OCCUPANCY].count > 0;
    causes_text(outliers, causes);
    if (buf_failed(causes))
        return err_nomem(err);
    db_bind_i64(stmt, 1, fact->stage_ref);
    db_bind_f64(stmt, 2, judged->accounts->stages[i].slots);
    db_bind_i64(stmt, 3, (int64_t)fact->winner_count);
    db_bind_i64(stmt, 4, (int64_t)(fact->attempt_count - fact->winner_count));
    db_bind_f64(stmt, 5, fact->completeness);
    db_bind_i64(stmt, 6, whole(judged->chain ? judged->chain->stage_ms[i] : 0));
    db_bind_f64(stmt, 7, stats->base_ms);
    db_bind_f64(stmt, 8, stats->rec_cap_ms);
    db_bind_f64(stmt, 9, stats->rec_spread_ms);
    db_bind_f64(stmt, 10, stats->gc_share);
    db_bind_f64(stmt, 11, stats->eta2);
    db_bind_str(stmt, 12, str_of(stage_verdict_names[stats->verdict]));
    db_bind_str(stmt, 13, str_of(known_stats && outliers->cause != CAUSE_NONE ? cause_names[outliers->cause] : NULL));
    db_bind_f64(stmt, 14, known_stats && outliers->cause != CAUSE_NONE ? outliers->cause_share : (double)NAN);
    db_bind_i64(stmt, 15, (int64_t)outliers->count);
    db_bind_f64(stmt, 16, known_stats ? outliers->cut_ms : (double)NAN);
    db_bind_str(stmt, 17, buf_str(causes));
    return db_run(stmt, err);
}

static enum err_code write_stages(struct db *app, const struct judged *judged, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    CLEANUP(buf_dispose) struct buf causes;
    buf_init(&causes, 4096);
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO stage_analysis VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
    for (uint32_t i = 0; i < judged->facts->stage_count && !rc; i++)
        if (judged->facts->stages[i].attempt_count)
            rc = write_stage(stmt, judged, i, &causes, err);
    db_finalize(stmt);
    return rc;
}

static enum err_code write_distributions(struct db *app, const struct judged *judged, const struct sized *stages, size_t stage_count, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO stage_distribution VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
    for (size_t i = 0; i < stage_count && !rc; i++)
        for (int c = 0; c < STAT_COLUMN_COUNT && !rc; c++) {
            const struct distribution *d = &judged->stages[stages[i].position]->of[c];
            if (!d->count || !(d->max > 0))
                continue;
            const double values[] = {d->sum, d->min, d->p25, d->p50, d->p75, d->p95, d->p99, d->max, d->mean, d->sigma, d->ratio};
            db_bind_i64(stmt, 1, judged->facts->stages[stages[i].position].stage_ref);
            db_bind_str(stmt, 2, str_of(stat_column_names[c]));
            db_bind_i64(stmt, 3, (int64_t)d->count);
            for (size_t v = 0; v < ARRAY_LENGTH(values); v++)
                db_bind_f64(stmt, 4 + (int)v, values[v]);
            rc = db_run(stmt, err);
        }
    db_finalize(stmt);
    return rc;
}

/* ---- the chain and what-ifs */

static int64_t job_id_of(const struct facts *facts, uint32_t job)
{
    return job == NO_ENTITY ? UNKNOWN : facts->jobs[job].job_id;
}

static int64_t stage_ref_of(const struct facts *facts, uint32_t stage)
{
    return stage == NO_ENTITY ? UNKNOWN : facts->stages[stage].stage_ref;
}

static enum err_code write_chain(struct db *app, const struct judged *judged, struct err *err)
{
    static const char short_label[] = "short";
    const struct facts *facts = judged->facts;
    const struct chain *chain = judged->chain;
    int64_t shortest = chain->count > STORED_SEGMENTS ? judged->wall_ms / STORED_SEGMENTS : 0, ordinal = 0;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO chain_segment VALUES (?,?,?,?,?,?,?,?,?)", err);
    for (size_t i = 0, next; i < chain->count && !rc; i = next) {
        const struct chain_segment *segment = &chain->segments[i];
        int64_t to_ms = segment->to_ms;
        next = i + 1;
        if (segment->to_ms - segment->from_ms < shortest)
            for (; next < chain->count && to_ms - segment->from_ms < shortest && chain->segments[next].to_ms - chain->segments[next].from_ms < shortest; next++)
                to_ms = chain->segments[next].to_ms;
        bool alone = next == i + 1, task = alone && segment->attempt != SIZE_MAX;
        db_bind_i64(stmt, 1, ordinal++);
        db_bind_str(stmt, 2, str_of(alone ? segment->label : short_label));
        db_bind_i64(stmt, 3, alone ? job_id_of(facts, segment->job) : UNKNOWN);
        db_bind_i64(stmt, 4, alone ? stage_ref_of(facts, segment->stage) : UNKNOWN);
        db_bind_i64(stmt, 5, alone ? stage_ref_of(facts, segment->behind_stage) : UNKNOWN);
        db_bind_i64(stmt, 6, task ? facts->launches[segment->attempt].task_id : UNKNOWN);
        db_bind_str(stmt, 7, alone && strcmp(segment->label, "gap") == 0 ? str_of(bucket_names[segment->gap]) : STR_NONE);
        db_bind_i64(stmt, 8, segment->from_ms);
        db_bind_i64(stmt, 9, to_ms);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code write_what_ifs(struct db *app, const struct judged *judged, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO what_if VALUES (?,?,?,?,?)", err);
    for (size_t i = 0; i < judged->what_if_count && !rc; i++) {
        const struct what_if *what_if = &judged->what_ifs[i];
        db_bind_str(stmt, 1, str_of(what_if->scenario));
        db_bind_str(stmt, 2, str_of(what_if->subject));
        db_bind_i64(stmt, 3, what_if->wall_ms);
        db_bind_i64(stmt, 4, what_if->low_ms);
        db_bind_i64(stmt, 5, what_if->high_ms);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

/* ---- findings */

static enum err_code write_finding(sqlite3_stmt *stmt, const struct finding *finding, int64_t number, struct err *err)
{
    int at = 1;
    db_bind_i64(stmt, at++, number);
    db_bind_str(stmt, at++, str_of(finding->rule->id));
    db_bind_i64(stmt, at++, finding->rule->version);
    db_bind_str(stmt, at++, str_of(subject_kind_names[finding->subject_kind]));
    db_bind_str(stmt, at++, finding->subject_key);
    db_bind_f64(stmt, at++, finding->measure);
    db_bind_str(stmt, at++, str_of(finding->rule->unit));
    db_bind_i64(stmt, at++, finding->price.ms);
    db_bind_i64(stmt, at++, finding->price.low_ms);
    db_bind_i64(stmt, at++, finding->price.high_ms);
    db_bind_str(stmt, at++, str_of(finding->scenario));
    db_bind_i64(stmt, at++, finding->weak);
    db_bind_str(stmt, at++, str_of(mute_names[finding->mute]));
    db_bind_str(stmt, at++, finding->suppressed_by);
    db_bind_i64(stmt, at++, finding->confidence);
    db_bind_i64(stmt, at++, finding->grade_shift);
    db_bind_i64(stmt, at++, (int64_t)finding->at_most);
    db_bind_i64(stmt, at++, (int64_t)finding->at_least);
    db_bind_str(stmt, at++, str_of(finding->cause));
    db_bind_str(stmt, at++, finding->args);
    db_bind_str(stmt, at++, finding->measures);
    db_bind_str(stmt, at, finding->evidence);
    return db_run(stmt, err);
}

static enum err_code write_findings(struct db *app, const struct analysis_result *result, struct err *err)
{
    sqlite3_stmt *stmt = NULL, *joint = NULL;
    enum err_code rc = db_prepare(app, &stmt, "INSERT INTO finding VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
    for (size_t i = 0; i < result->findings->count && !rc; i++)
        rc = write_finding(stmt, &result->findings->items[i], (int64_t)i + 1, err);
    db_finalize(stmt);
    if (!rc)
        rc = db_prepare(app, &joint, "INSERT INTO joint_price VALUES (?,?,?)", err);
    for (size_t k = 0; k < result->joint_count && !rc; k++) {
        db_bind_i64(joint, 1, (int64_t)k + 1);
        db_bind_i64(joint, 2, (int64_t)result->joint[k].finding + 1);
        db_bind_i64(joint, 3, result->joint[k].saving_ms);
        rc = db_run(joint, err);
    }
    db_finalize(joint);
    return rc;
}

enum err_code analysis_rows_write(struct db *app, const struct analysis_result *result, struct err *err)
{
    CLEANUP(mem_freep) struct sized *stages = NULL;
    size_t stage_count = 0;
    enum err_code rc = largest_stages(result->judged, &stages, &stage_count, err);
    if (!rc)
        rc = write_accounts(app, result->judged, stages, stage_count, err);
    if (!rc)
        rc = write_gaps(app, result->judged, err);
    if (!rc)
        rc = write_slot_use(app, result->slot_use, err);
    if (!rc)
        rc = write_stages(app, result->judged, err);
    if (!rc)
        rc = write_distributions(app, result->judged, stages, stage_count, err);
    if (!rc && result->judged->chain)
        rc = write_chain(app, result->judged, err);
    if (!rc)
        rc = write_what_ifs(app, result->judged, err);
    if (!rc)
        rc = write_findings(app, result, err);
    return rc ? rc : write_head(app, result, err);
}

enum err_code analysis_rows_end(struct db *app, int64_t duration_ms, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "UPDATE analysis SET duration_ms = ?", err);
    if (!rc) {
        db_bind_i64(stmt, 1, duration_ms);
        rc = db_run(stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

/* ---- reading */

static int named(const char *const *names, int count, struct str name, int otherwise)
{
    for (int i = 0; i < count; i++)
        if (names[i] && str_is(name, names[i]))
            return i;
    return otherwise;
}

static int within(int64_t value, int low, int high)
{
    return value < low ? low : value > high ? high : (int)value;
}

static int copy_text(struct arena *arena, sqlite3_stmt *stmt, int column, struct str *ret)
{
    *ret = STR_NONE;
    if (db_is_null(stmt, column))
        return 0;
    struct str text = db_str(stmt, column);
    return text.ptr ? arena_str(arena, text, ret) : -1; /* SQLite had no memory for it: not to be taken for a text that is not there */
}

static int copy_word(struct arena *arena, sqlite3_stmt *stmt, int column, const char **ret)
{
    struct str text = db_str(stmt, column);
    *ret = str_known(text) ? arena_strndup(arena, text.ptr, text.len) : NULL;
    return str_known(text) && !*ret ? -1 : 0;
}

static enum err_code read_finding(sqlite3_stmt *stmt, const struct rule *rule, struct arena *arena, struct finding *ret, struct err *err)
{
    *ret = (struct finding){.rule = rule,
                            .subject_kind = (enum subject_kind)named(subject_kind_names, SUBJECT_KIND_COUNT, db_str(stmt, 1), SUBJECT_APP),
                            .measure = db_f64(stmt, 3),
                            .price = {db_i64(stmt, 4), db_i64(stmt, 5), db_i64(stmt, 6)},
                            .weak = db_i64(stmt, 8) == 1,
                            .mute = (enum mute)named(mute_names, MUTE_COUNT, db_str(stmt, 9), MUTE_NONE),
                            .confidence = within(db_i64(stmt, 11), 0, 2),
                            .grade_shift = within(db_i64(stmt, 12), -GRADE_SEVERE, GRADE_SEVERE),
                            .at_most = (enum grade)within(db_i64(stmt, 13), GRADE_OK, GRADE_SEVERE),
                            .at_least = (enum grade)within(db_i64(stmt, 14), GRADE_OK, GRADE_SEVERE),
                            .local_saving_ms = (double)NAN,
                            .stage = NO_ENTITY,
                            .executor = NO_ENTITY,
                            .cause_share = (double)NAN};
    if (copy_text(arena, stmt, 2, &ret->subject_key) || copy_word(arena, stmt, 7, &ret->scenario) || copy_text(arena, stmt, 10, &ret->suppressed_by) ||
        copy_word(arena, stmt, 15, &ret->cause) || copy_text(arena, stmt, 16, &ret->args) || copy_text(arena, stmt, 17, &ret->measures) ||
        copy_text(arena, stmt, 18, &ret->evidence))
        return err_nomem(err);
    return ERR_OK;
}

static enum err_code read_head(struct db *app, struct stored_findings *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app, &stmt, "SELECT analysis_version, wall_ms, completeness FROM analysis", err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        ret->version = db_i64(stmt, 0);
        ret->wall_ms = db_i64(stmt, 1);
        ret->completeness = db_i64(stmt, 2);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "analysis has not run") : rc;
}

enum err_code analysis_rows_read(struct db *app, struct arena *arena, struct stored_findings *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t count;
    *ret = (struct stored_findings){.count = 0};
    enum err_code rc = read_head(app, ret, err);
    if (rc || (rc = db_query_i64(app, "SELECT count(*) FROM finding", &count, err)))
        return rc;
    if (!(ret->items = arena_zalloc(arena, (size_t)count + 1, sizeof *ret->items)))
        return err_nomem(err);
    rc = db_prepare(
        app, &stmt,
        "SELECT rule_id, subject_kind, subject_key, measure, price_ms, price_low_ms, price_high_ms, scenario, weak, mute, suppressed_by, confidence, grade_shift, at_most, at_least,"
        "       cause, args, measures, evidence FROM finding ORDER BY finding_no",
        err);
    while (!rc && ret->count < (size_t)count && (rc = db_step(stmt, err)) == ERR_OK) {
        const struct rule *rule = rule_find(db_str(stmt, 0));
        if (rule && !(rc = read_finding(stmt, rule, arena, &ret->items[ret->count], err)))
            ret->count++;
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}
