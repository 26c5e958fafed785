/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures and lost work (spec/findings.md 7.5). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audits.h"
#include "analysis/error_text.h"
#include "analysis/executor_loss.h"
#include "analysis/stage_view.h"
#include "base/map.h"
#include "base/mem.h"

/* EXEC.LOST */
#define LOST_SEVERE_SHARE 0.1
/* Up to so many lost executors each has a price of its own; of more, one price for all. */
#define LOST_PRICED_ALONE 8
/* Fetch failures this long after a removal are its doing (spec/findings.md 10.1). */
#define FETCH_AFTER_MS 120000
#define REASON_BYTES 200       /* of the words of an executor's end */
#define SMALLER_PARTITIONS 2.0 /* advice where memory ran out: halves, to begin with */
/* Different texts of one stage that are told apart; failures with others count as `other`. */
#define TEXTS_MAX 200
#define TEXT_BYTES ((size_t)256 << 20) /* of those together; a line of a log is 64 MiB at most */
#define GROUPS_SHOWN 3

#define RETRY_KINDS (LOST_FAILURES | 1U << LOST_CANCELLED | 1U << LOST_UNFINISHED | 1U << LOST_RECOMPUTED)

static bool is_failure(const struct attempt *attempt)
{
    return (LOST_FAILURES >> attempt->kind & 1) != 0;
}

/* ---- failed attempts of a stage, by what they say */

struct group {
    char signature[ERROR_SIGNATURE_BYTES];
    char error_class[120], message[200], origin[ERROR_ORIGIN_BYTES], host[64];
    enum error_kind kind;
    bool more_hosts;
    size_t count;
    const struct attempt *example;
};

struct failures {
    struct group groups[TEXTS_MAX];
    size_t group_count;
    size_t failed, out_of_memory; /* attempts */
};

static void copy(char *out, size_t size, struct str from)
{
    size_t len = str_known(from) ? utf8_valid_prefix(from.ptr, MIN(from.len, size - 1)) : 0;
    if (len)
        memcpy(out, from.ptr, len);
    out[len] = '\0';
}

static enum err_code read_text(const struct facts *facts, int64_t text_id, struct arena *arena, struct group *ret, struct err *err)
{
    struct str body;
    enum err_code rc = facts_text(facts, text_id, arena, &body, err);
    if (rc)
        return rc;
    error_signature(body, ret->signature);
    copy(ret->error_class, sizeof ret->error_class, error_class_of(body));
    copy(ret->message, sizeof ret->message, error_message_of(body));
    error_origin(body, ret->origin);
    ret->kind = error_kind_of(body);
    return ERR_OK;
}

/* The group of this signature; the last one takes what no longer fits. */
static struct group *group_of(struct failures *self, const struct group *like)
{
    for (size_t i = 0; i < self->group_count; i++)
        if (strcmp(self->groups[i].signature, like->signature) == 0)
            return &self->groups[i];
    if (self->group_count == TEXTS_MAX)
        return &self->groups[TEXTS_MAX - 1];
    self->groups[self->group_count] = *like;
    return &self->groups[self->group_count++];
}

static void add_host(const struct facts *facts, struct group *group, const struct attempt *attempt)
{
    char host[sizeof group->host];
    copy(host, sizeof host, facts->executors[attempt->executor].host);
    if (!group->count)
        memcpy(group->host, host, sizeof host);
    else if (strcmp(group->host, host) != 0)
        group->more_hosts = true;
}

static int by_count(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->signature, y->signature);
}

static enum err_code read_failures(const struct facts *facts, struct lost_slice lost, struct arena *texts, struct failures *ret, struct err *err)
{
    struct imap by_text; /* text id → its group's place + 1 */
    enum err_code rc = ERR_OK;
    ret->group_count = ret->failed = ret->out_of_memory = 0;
    imap_init(&by_text, TEXTS_MAX);
    for (size_t i = 0; i < lost.count && !rc; i++) {
        const struct attempt *attempt = &facts->attempts[lost.items[i].attempt];
        if (!is_failure(attempt))
            continue;
        int64_t text_id = lost.items[i].error_text_id;
        size_t place = (size_t)(uintptr_t)imap_get(&by_text, text_id);
        if (!place) {
            struct group like = {.example = attempt, .kind = ERROR_OTHER};
            if (by_text.count < TEXTS_MAX)
                rc = read_text(facts, text_id, texts, &like, err);
            else
                snprintf(like.signature, sizeof like.signature, "other");
            place = (size_t)(group_of(ret, &like) - ret->groups) + 1;
            if (by_text.count < TEXTS_MAX && imap_put(&by_text, text_id, (void *)(uintptr_t)place))
                rc = err_nomem(err);
        }
        struct group *group = &ret->groups[place - 1];
        add_host(facts, group, attempt);
        group->count++;
        ret->failed++;
        ret->out_of_memory += error_is_oom(group->kind);
    }
    imap_dispose(&by_text);
    qsort(ret->groups, ret->group_count, sizeof *ret->groups, by_count);
    return rc;
}

static void evidence_attempt(struct findings *findings, const struct facts *facts, const struct attempt *attempt, const char *role, double group_count)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)attempt_launch(facts, attempt)->task_id);
    struct evidence_cell cells[] = {{"finished", (double)attempt->finish_ms, "time"}, {"lost", (double)attempt_occupancy_ms(attempt), "ms"}, {"alike", group_count, "count"}};
    finding_evidence(findings, SUBJECT_TASK, str_of(key), role, cells, ARRAY_LENGTH(cells));
}

static void say_failures(struct findings *findings, const struct facts *facts, const struct failures *failures, bool out_of_memory)
{
    size_t shown = 0;
    for (size_t i = 0; i < failures->group_count && shown < GROUPS_SHOWN; i++) {
        const struct group *group = &failures->groups[i];
        if (out_of_memory && !error_is_oom(group->kind))
            continue;
        if (!shown++) {
            char what[sizeof group->error_class + sizeof group->message + 2];
            snprintf(what, sizeof what, "%s%s%s", group->error_class, group->error_class[0] && group->message[0] ? ": " : "", group->message);
            finding_arg_text(findings, "error", str_of(what[0] ? what : group->signature));
            if (group->origin[0])
                finding_arg_text(findings, "origin", str_of(group->origin));
            finding_arg_text(findings, "kind", str_of(error_kind_names[group->kind]));
            if (group->more_hosts || group->host[0])
                finding_arg_text(findings, "hosts", group->more_hosts ? STR_LIT("several hosts") : str_of(group->host));
            finding_arg_text(findings, "signature", str_of(group->signature));
        }
        evidence_attempt(findings, facts, group->example, "culprit", (double)group->count);
    }
}

/* Of what failed for good nothing was saved without its failures: the work would have been done instead. */
static bool failed_for_good(const struct facts *facts, const struct stage_fact *stage)
{
    return stage->failed && stage->job != NO_ENTITY && facts->jobs[stage->job].failed;
}

/* So many failures on one executor or machine, where there are others, are no chance (own; as many as end a job, spark.task.maxFailures). */
#define ONE_PLACE_FROM 4

/* "one_executor" or "one_machine", where all of these attempts failed there; NULL: they did not, too few failed to tell, or there was no other. *ret_executor: of the first. */
static const char *only_place(const struct facts *facts, struct lost_slice lost, size_t failed, const struct executor_fact **ret_executor)
{
    const struct executor_fact *first = NULL;
    bool one_executor = true, one_host = true, other_executor = false, other_host = false;
    for (size_t i = 0; i < lost.count; i++) {
        const struct attempt *attempt = &facts->attempts[lost.items[i].attempt];
        const struct executor_fact *executor = &facts->executors[attempt->executor];
        if (!is_failure(attempt))
            continue;
        first = first ? first : executor;
        one_executor &= executor == first;
        one_host &= str_eq(executor->host, first->host);
    }
    if (!first || failed < ONE_PLACE_FROM)
        return NULL;
    for (size_t i = 0; i < facts->executor_count; i++) {
        bool works = facts->executors[i].slots > 0;
        other_executor |= works && &facts->executors[i] != first;
        other_host |= works && !str_eq(facts->executors[i].host, first->host);
    }
    *ret_executor = first;
    return one_executor && other_executor ? "one_executor" : one_host && other_host && str_known(first->host) ? "one_machine" : NULL;
}

static void task_failures(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t stage, struct lost_slice lost, const struct failures *failures)
{
    const struct stage_fact *fact = &judged->facts->stages[stage];
    double all = (double)fact->attempt_count, failed = (double)failures->failed, lost_ms = 0;
    for (size_t i = 0; i < lost.count; i++)
        if (is_failure(&judged->facts->attempts[lost.items[i].attempt]))
            lost_ms += (double)attempt_occupancy_ms(&judged->facts->attempts[lost.items[i].attempt]);
    struct finding *finding =
        findings_consider(findings, rule, MUTE_NONE, failed / all, lost_ms / MAX(1.0, judged->accounts->stages[stage].slots), SUBJECT_STAGE, STAGE_KEY, STAGE_KEY_OF(fact));
    if (!finding)
        return;
    char key[48];
    finding->stage = stage;
    snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(fact));
    finding_arg_text(findings, "s", str_of(key));
    finding_arg(findings, "k", failed, "count");
    finding_arg(findings, "n", all, "count");
    finding_arg_text(findings, "then", fact->failed ? STR_LIT("failed") : fact->completed_seen ? STR_LIT("succeeded") : STR_LIT("unknown"));
    finding_measure(findings, "lost", lost_ms, "ms");
    if (failures->group_count) {
        const struct group *group = &failures->groups[0];
        finding->cause = group->kind == ERROR_OTHER && group->example->kind == LOST_EXECUTOR ? "executor_gone" : error_kind_names[group->kind];
        const struct executor_fact *executor = NULL;
        const char *place = only_place(judged->facts, lost, failures->failed, &executor);
        if (group->kind == ERROR_OTHER && group->example->kind != LOST_EXECUTOR && place) {
            finding->cause = place;
            finding_arg_text(findings, "exec", executor->id);
        }
        if (error_is_oom(failures->groups[0].kind))
            finding_arg(findings, "ideal", SMALLER_PARTITIONS * (double)MAX(known_or(fact->num_tasks, 1), 1), "count");
        say_failures(findings, judged->facts, failures, false);
    } else
        finding_evidence(findings, SUBJECT_STAGE, str_of(key), "culprit", (struct evidence_cell[]){{"attempts", all, "count"}}, 1);
    FORMULA(findings, NULL, rule->ladder.step[1], "DE", {"failed", failed, "count"}, {"all", all, "count"});
    finding_filter(findings, "status", STR_LIT("failed"));
    if (failures->failed && !failed_for_good(judged->facts, fact))
        finding_change(findings, "W4", BAND_NORMAL, (struct change){.kind = CHANGE_NO_LOST, .stage = stage, .lost_kinds = LOST_FAILURES});
}

/* By the class of the error, where one class is all there is. */
static void filter_out_of_memory(struct findings *findings, const struct failures *failures)
{
    const char *class = NULL;
    bool one = true;
    for (size_t i = 0; i < failures->group_count; i++) {
        const struct group *group = &failures->groups[i];
        if (!error_is_oom(group->kind))
            continue;
        one &= group->error_class[0] && (!class || strcmp(class, group->error_class) == 0);
        class = group->error_class;
    }
    finding_filter(findings, "status", STR_LIT("failed"));
    if (one && class)
        finding_filter(findings, "q", str_of(class));
}

static void task_oom(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t stage, const struct failures *failures)
{
    const struct stage_fact *fact = &judged->facts->stages[stage];
    if (!failures->out_of_memory)
        return;
    struct finding *finding = findings_consider(findings, rule, MUTE_NONE, (double)failures->out_of_memory, (double)NAN, SUBJECT_STAGE, STAGE_KEY, STAGE_KEY_OF(fact));
    if (!finding)
        return;
    char key[48];
    finding->stage = stage;
    snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(fact));
    finding_arg_text(findings, "s", str_of(key));
    finding_arg_text(findings, "e", STR_NONE); /* said of executors */
    finding_arg(findings, "k", finding->measure, "count");
    finding_arg(findings, "ideal", SMALLER_PARTITIONS * (double)MAX(known_or(fact->num_tasks, 1), 1), "count");
    for (size_t i = 0; i < failures->group_count && !finding->cause; i++)
        finding->cause = error_is_oom(failures->groups[i].kind) ? error_kind_names[failures->groups[i].kind] : NULL;
    say_failures(findings, judged->facts, failures, true);
    filter_out_of_memory(findings, failures);
    finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "own");
    if (!failed_for_good(judged->facts, fact))
        finding_change(findings, "W4", BAND_NORMAL, (struct change){.kind = CHANGE_NO_LOST, .stage = stage, .lost_kinds = LOST_FAILURES});
}

/* ---- executors that went */

struct lost_executor {
    uint32_t executor;
    double work_ms; /* of attempts it took with it, and of finished work done again */
    size_t attempts;
};

static void work_lost(const struct judged *judged, struct lost_executor *self)
{
    for (size_t i = 0; i < judged->lost->count; i++) {
        const struct attempt *attempt = &judged->facts->attempts[judged->lost->items[i].attempt];
        if (attempt->executor == self->executor && (attempt->kind == LOST_EXECUTOR || attempt->kind == LOST_RECOMPUTED)) {
            self->work_ms += (double)attempt_occupancy_ms(attempt);
            self->attempts++;
        }
    }
}

/* Attempts that would not have been lost had it stayed: on it, and failed fetches soon after it went. NULL: out of memory. */
static bool *lost_with(const struct judged *judged, struct arena *arena, uint32_t executor)
{
    const struct facts *facts = judged->facts;
    bool *lost = arena_zalloc(arena, facts->attempt_count + 1, sizeof *lost);
    int64_t removed = facts->executors[executor].remove_ms;
    for (size_t i = 0; lost && i < judged->lost->count; i++) {
        uint32_t at = judged->lost->items[i].attempt;
        const struct attempt *attempt = &facts->attempts[at];
        lost[at] = attempt->executor == executor ? attempt->kind == LOST_EXECUTOR || attempt->kind == LOST_RECOMPUTED
                                                 : attempt->kind == LOST_FETCH && known(removed) && attempt->finish_ms >= removed && attempt->finish_ms - removed <= FETCH_AFTER_MS;
    }
    return lost;
}

/* Why it went: a code of ours, or its own words where we have no code for them. */
static struct str reason_of(const struct executor_fact *executor, const char *code)
{
    struct str line = executor->remove_reason;
    const char *end = line.len ? memchr(line.ptr, '\n', line.len) : NULL;
    if (end)
        line.len = (size_t)(end - line.ptr);
    line.len = line.len ? utf8_valid_prefix(line.ptr, MIN(line.len, (size_t)REASON_BYTES)) : 0;
    return line.len && strcmp(code, "unknown") == 0 ? line : str_of(code);
}

static void executor_lost(const struct judged *judged, struct findings *findings, struct lost_executor lost, size_t lost_count, size_t executor_count)
{
    const struct facts *facts = judged->facts;
    const struct executor_fact *executor = &facts->executors[lost.executor];
    work_lost(judged, &lost);
    struct finding *finding = findings_add(findings, "EXEC.LOST", SUBJECT_EXECUTOR, "%.*s", (int)MIN(executor->id.len, (size_t)255), executor->id.ptr ? executor->id.ptr : "");
    finding->executor = lost.executor;
    finding->measure = (double)lost_count;
    finding->local_saving_ms = lost.work_ms;
    finding->cause = executor_loss_reason(executor->remove_reason);
    finding_arg_text(findings, "e", executor->id);
    finding_arg(findings, "t", known(executor->remove_ms) ? (double)executor->remove_ms : (double)NAN, "time");
    finding_arg_text(findings, "reason", reason_of(executor, finding->cause));
    finding_arg(findings, "work", lost.attempts ? lost.work_ms : (double)NAN, "ms");
    finding_measure(findings, "lost_attempts", (double)lost.attempts, "count");
    finding_measure(findings, "executors", (double)executor_count, "count");
    struct evidence_cell cells[] = {{"removed", known(executor->remove_ms) ? (double)executor->remove_ms : (double)NAN, "time"},
                                    {"work", lost.work_ms, "ms"},
                                    {"attempts", (double)lost.attempts, "count"}};
    finding_evidence(findings, SUBJECT_EXECUTOR, executor->id, "culprit", cells, ARRAY_LENGTH(cells));
    finding_formula(findings, NULL, NULL, 0, finding->rule->ladder.step[0], "own");
    struct change change = {.kind = CHANGE_NO_LOST, .stage = NO_ENTITY, .lost_kinds = 1U << LOST_EXECUTOR | 1U << LOST_FETCH | 1U << LOST_RECOMPUTED};
    bool some = lost.attempts > 0;
    if (lost_count <= LOST_PRICED_ALONE) {
        bool *with = lost_with(judged, findings->arena, lost.executor);
        findings->out_of_memory |= !with;
        for (size_t i = 0; with && i < judged->lost->count; i++)
            some |= with[judged->lost->items[i].attempt];
        change.lost_attempts = with;
    }
    /* One that held nothing and ran nothing is worth a word, however few executors there are. */
    if (!some)
        finding->at_most = GRADE_LOW;
    else if ((double)lost_count >= LOST_SEVERE_SHARE * (double)executor_count)
        finding->at_least = GRADE_SEVERE;
    finding_change(findings, "W4", BAND_NORMAL, change);
}

/* From the first job's begin to the last one's end. Who goes before or after takes nothing along that the run would miss; without a job nobody does. */
struct jobs_span {
    int64_t from_ms, to_ms;
};
static struct jobs_span span_of_jobs(const struct facts *facts)
{
    struct jobs_span span = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < facts->job_count; i++) {
        span.from_ms = MIN(span.from_ms, facts->jobs[i].begin_ms);
        span.to_ms = MAX(span.to_ms, facts->jobs[i].end_ms);
    }
    return span;
}

static enum err_code executors_lost(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct jobs_span jobs = span_of_jobs(facts);
    CLEANUP(mem_freep) struct lost_executor *lost = mem_array(facts->executor_count + 1, sizeof *lost);
    CLEANUP(mem_freep) bool *implied = mem_array(facts->executor_count + 1, sizeof *implied);
    size_t count = 0, executors = 0;
    if (!lost || !implied)
        return err_nomem(err);
    for (size_t i = 0; i < judged->lost->count; i++) {
        const struct attempt *attempt = &facts->attempts[judged->lost->items[i].attempt];
        implied[attempt->executor] |= attempt->kind == LOST_EXECUTOR;
    }
    /* Nor does one go with the application whose data somebody asked for in vain. */
    for (size_t i = 0; i < judged->audits->ledger.row_count; i++) {
        const struct ledger_row *row = &judged->audits->ledger.rows[i];
        const struct ledger_cause *cause = &judged->audits->ledger.causes[row->cause];
        if (row->kind == LOST_FETCH && cause->cause == CAUSE_REMOVAL)
            implied[cause->subject] = true;
    }
    for (uint32_t i = 0; i < facts->executor_count; i++) {
        const struct executor_fact *executor = &facts->executors[i];
        if (executor->is_driver)
            continue;
        executors++;
        bool was_lost = known(executor->remove_ms) && executor_was_lost(!executor->removed, executor->remove_ms, executor->remove_reason, facts_logged_end_ms(facts));
        if (implied[i] || (was_lost && executor->remove_ms >= jobs.from_ms && executor->remove_ms <= jobs.to_ms))
            lost[count++] = (struct lost_executor){.executor = i};
    }
    for (size_t i = 0; i < count && i < FINDINGS_PER_RULE; i++)
        executor_lost(judged, findings, lost[i], count, executors);
    if (!count && executors) {
        findings_add(findings, "EXEC.LOST", SUBJECT_APP, "-")->measure = 0;
        finding_evidence(findings, SUBJECT_APP, STR_LIT("-"), "culprit", (struct evidence_cell[]){{"executors", (double)executors, "count"}}, 1);
    }
    return ERR_OK;
}

static bool ran_out_of_memory(const struct executor_fact *executor)
{
    return !executor->is_driver && error_is_oom(error_kind_of(executor->remove_reason));
}

/* An executor whose own end says that memory ran out belongs to TASK.OOM, whether or not a task failed with it. As with lost ones, how many there are makes the grade. */
static void executors_oom(const struct facts *facts, struct findings *findings)
{
    size_t count = 0;
    for (uint32_t i = 0; i < facts->executor_count; i++)
        count += ran_out_of_memory(&facts->executors[i]);
    for (uint32_t i = 0; i < facts->executor_count; i++) {
        struct str reason = facts->executors[i].remove_reason;
        if (!ran_out_of_memory(&facts->executors[i]))
            continue;
        struct finding *finding = findings_add(findings, "TASK.OOM", SUBJECT_EXECUTOR, "%.*s", (int)MIN(facts->executors[i].id.len, (size_t)255),
                                               facts->executors[i].id.ptr ? facts->executors[i].id.ptr : "");
        finding->executor = i;
        finding->measure = (double)count;
        finding->cause = error_kind_names[error_kind_of(reason)];
        finding_arg_text(findings, "e", facts->executors[i].id);
        finding_arg(findings, "k", (double)count, "count");
        finding_arg_text(findings, "kind", str_of(finding->cause));
        finding_evidence(findings, SUBJECT_EXECUTOR, facts->executors[i].id, "culprit", NULL, 0);
        finding_formula(findings, "executor", NULL, 0, finding->rule->ladder.step[0], "own");
    }
}

/* A query or job that failed for want of memory while no task and no executor did: it was the driver's. */
static void driver_oom(const struct judged *judged, struct findings *findings, const struct rule *rule)
{
    const struct failure_row *first = NULL;
    const struct failure_signatures *failures = &judged->audits->failures;
    for (size_t i = 0; i < failures->count; i++) {
        const struct failure_row *row = &failures->rows[i];
        if (!error_is_oom(row->kind))
            continue;
        if (row->counts[FAILED_TASKS] || row->counts[FAILED_EXECUTORS])
            return;
        first = first ? first : row;
    }
    if (!first || judged->completeness < COMPLETE_FOR_PRICES)
        return;
    double count = (double)MAX(first->counts[FAILED_SQLS], first->counts[FAILED_JOBS]);
    struct finding *finding =
        findings_consider(findings, rule, MUTE_NONE, count, (double)NAN, first->first_kind, "%.*s", (int)MIN(first->first_key.len, (size_t)255), first->first_key.ptr);
    if (!finding)
        return;
    finding->cause = "driver";
    finding->at_least = GRADE_SEVERE; /* as the query or the job that it ended */
    finding_arg_text(findings, "e", STR_NONE); /* said of executors */
    finding_arg(findings, "k", count, "count");
    finding_arg_text(findings, "kind", str_of(error_kind_names[first->kind]));
    finding_arg_text(findings, "error", first->error_class.len ? first->error_class : first->message.len ? first->message : str_of(first->signature));
    finding_evidence(findings, first->first_kind, first->first_key, "culprit", NULL, 0);
    finding_formula(findings, "driver", NULL, 0, rule->ladder.step[0], "own");
}

/* ---- stages that ran again; copies; exclusions */

/* Attempts of one stage id lie side by side, ascending. */
static enum err_code retries(const struct judged *judged, struct findings *findings, const struct rule *rule, struct err *err)
{
    const struct facts *facts = judged->facts;
    enum err_code rc = ERR_OK;
    for (uint32_t begin = 0, end; begin < facts->stage_count && !rc; begin = end) {
        size_t ran = 0;
        double again_ms = 0;
        uint32_t last = NO_ENTITY;
        for (end = begin; end < facts->stage_count && facts->stages[end].stage_id == facts->stages[begin].stage_id; end++) {
            if (!facts->stages[end].attempt_count)
                continue;
            if (ran++)
                again_ms += judged->accounts->stages[end].occupancy_ms;
            last = end;
        }
        if (last == NO_ENTITY)
            continue;
        enum mute common = mute_of(judged, rule, NO_ENTITY);
        struct finding *finding = findings_consider(findings, rule, common, (double)ran - 1, again_ms / MAX(1.0, judged->accounts->stages[last].slots), SUBJECT_STAGE, STAGE_KEY,
                                                    STAGE_KEY_OF(&facts->stages[last]));
        if (!finding)
            continue;
        char key[48], chain[300];
        size_t len = 0;
        finding->stage = last;
        snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(&facts->stages[last]));
        finding_arg_text(findings, "s", str_of(key));
        finding_arg(findings, "n", (double)ran, "count");
        finding_arg(findings, "work", again_ms, "ms");
        chain[0] = '\0';
        for (uint32_t i = begin; i < end; i++) {
            const struct stage_fact *fact = &facts->stages[i];
            if (!fact->attempt_count)
                continue;
            snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(fact));
            finding_evidence(findings, SUBJECT_STAGE, str_of(key), "culprit",
                             (struct evidence_cell[]){{"task_time", judged->accounts->stages[i].occupancy_ms, "ms"}, {"attempts", (double)fact->attempt_count, "count"}}, 2);
            if (fact->failed && len < sizeof chain) {
                struct str why;
                if ((rc = facts_text(facts, fact->failure_text_id, findings->arena, &why, err)))
                    return rc;
                why = error_message_of(why);
                len += (size_t)snprintf(chain + len, sizeof chain - len, "%s%.*s", len ? " → " : "", (int)MIN(why.len, (size_t)100), why.ptr ? why.ptr : "failed");
            }
            finding_change(findings, "W4", BAND_NORMAL, (struct change){.kind = CHANGE_NO_LOST, .stage = i, .lost_kinds = RETRY_KINDS});
            for (size_t p = 0; p < fact->parent_count; p++)
                finding_change(findings, "W4", BAND_NORMAL, (struct change){.kind = CHANGE_NO_LOST, .stage = fact->parents[p], .lost_kinds = RETRY_KINDS});
        }
        /* No attempt of it failed: what it had made was lost later. */
        finding_arg_text(findings, "chain", chain[0] ? (struct str){chain, utf8_valid_prefix(chain, strlen(chain))} : STR_NONE);
        finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "own");
    }
    return rc;
}

static void speculation(const struct judged *judged, struct findings *findings, const struct rule *rule, uint32_t stage, struct lost_slice lost)
{
    const struct facts *facts = judged->facts;
    const struct stage_fact *fact = &facts->stages[stage];
    double wasted = 0, copies = 0, won = 0, all = judged->accounts->stages[stage].occupancy_ms;
    const struct attempt *worst = NULL;
    for (size_t i = 0; i < lost.count; i++) {
        const struct attempt *attempt = &facts->attempts[lost.items[i].attempt];
        if (attempt->kind != LOST_SPECULATIVE)
            continue;
        wasted += (double)attempt_occupancy_ms(attempt);
        if (!worst || attempt_occupancy_ms(attempt) > attempt_occupancy_ms(worst))
            worst = attempt;
    }
    if (!worst || all <= 0)
        return;
    for (size_t i = 0; i < fact->attempt_count; i++) {
        const struct attempt *attempt = &facts->attempts[fact->first_attempt + i];
        copies += attempt->speculative;
        won += attempt->speculative && attempt->kind == WINNER;
    }
    enum mute common = mute_of(judged, rule, stage);
    struct finding *finding =
        findings_consider(findings, rule, common, wasted / all, wasted / MAX(1.0, judged->accounts->stages[stage].slots), SUBJECT_STAGE, STAGE_KEY, STAGE_KEY_OF(fact));
    if (!finding)
        return;
    char key[48];
    finding->stage = stage;
    snprintf(key, sizeof key, STAGE_KEY, STAGE_KEY_OF(fact));
    finding_arg_text(findings, "s", str_of(key));
    finding_arg(findings, "n", copies, "count");
    finding_arg(findings, "w", won, "count");
    finding_arg(findings, "sec", wasted, "ms");
    evidence_attempt(findings, facts, worst, "culprit", copies);
    finding_filter(findings, "speculative", STR_LIT("1"));
    formula_share(findings, rule, wasted, all);
    finding_change(findings, "W4", BAND_NORMAL, (struct change){.kind = CHANGE_NO_LOST, .stage = stage, .lost_kinds = 1U << LOST_SPECULATIVE});
}

static enum err_code excluded(const struct judged *judged, struct findings *findings, const struct rule *rule, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(judged->facts->db, &stmt, "SELECT executor_id, host, count(*), max(failures) FROM exclusion WHERE lifted = 0 GROUP BY 1, 2", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str executor = db_str(stmt, 0), host = db_str(stmt, 1), who = str_known(executor) ? executor : host;
        enum subject_kind kind = str_known(executor) ? SUBJECT_EXECUTOR : SUBJECT_HOST;
        struct finding *finding =
            findings_consider(findings, rule, MUTE_NONE, (double)db_i64(stmt, 2), (double)NAN, kind, "%.*s", (int)MIN(who.len, (size_t)255), who.ptr ? who.ptr : "");
        if (!finding)
            continue;
        finding->executor = facts_executor(judged->facts, executor);
        finding_arg_text(findings, "who", who);
        finding_arg(findings, "k", db_is_null(stmt, 3) ? (double)NAN : (double)db_i64(stmt, 3), "count");
        finding_evidence(findings, kind, who, "culprit", (struct evidence_cell[]){{"exclusions", finding->measure, "count"}}, 1);
        finding_formula(findings, NULL, NULL, 0, rule->ladder.step[0], "own");
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code rules_failure(const struct judged *judged, struct findings *findings, struct err *err)
{
    const struct facts *facts = judged->facts;
    const struct rule *failing = rule_find(STR_LIT("TASK.FAILURES")), *memory = rule_find(STR_LIT("TASK.OOM")), *copies = rule_find(STR_LIT("TASK.SPECULATION"));
    CLEANUP(mem_freep) struct failures *failures = mem_alloc(sizeof *failures);
    struct arena texts; /* of one stage's failures */
    arena_init(&texts, TEXT_BYTES);
    enum err_code rc = failures ? ERR_OK : err_nomem(err);
    for (uint32_t i = 0; i < facts->stage_count && !rc; i++) {
        if (!facts->stages[i].attempt_count)
            continue;
        struct lost_slice lost = lost_tasks_of(judged->lost, &facts->stages[i]);
        rc = read_failures(facts, lost, &texts, failures, err);
        arena_reset(&texts);
        if (rc)
            break;
        task_failures(judged, findings, failing, i, lost, failures);
        task_oom(judged, findings, memory, i, failures);
        speculation(judged, findings, copies, i, lost);
    }
    arena_dispose(&texts);
    if (!rc)
        rc = executors_lost(judged, findings, err);
    if (!rc) {
        executors_oom(facts, findings);
        driver_oom(judged, findings, memory);
    }
    if (!rc)
        rc = retries(judged, findings, rule_find(STR_LIT("STAGE.RETRY_CHAIN")), err);
    return rc ? rc : excluded(judged, findings, rule_find(STR_LIT("EXEC.EXCLUDED")), err);
}
