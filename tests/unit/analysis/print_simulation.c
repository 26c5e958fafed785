/* SPDX-License-Identifier: Apache-2.0
 *
 * What the simulator and the chain say of one application's database, as JSON for tests:
 *
 *      print_simulation DB [SCENARIO…]
 *
 * A scenario is a list of changes, joined by commas, each of words joined by colons; a stage is ID.ATTEMPT:
 *
 *      nolost  drop:STAGE  zero:STAGE  cap:STAGE  spread:STAGE  host:STAGE:EXECUTOR:RATIO  part:STAGE:BUCKET:TARGET  factor:STAGE:BUCKET:X  split:STAGE[:F]  merge:STAGE[:M]
 *      gaps:KIND[:MS]  slots:K  executors:N  ramp  startup:MS
 *
 * F is ⌈2 S_ref ÷ n⌉ where it is not given, M is 3 S_ref (spec/findings.md 6.5). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/completeness.h"
#include "analysis/simulate.h"

#define MAX_CHANGES 64

static _Noreturn void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err ? err->message : "not understood");
    exit(2);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* others use the machine too */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t stage_of(const struct facts *facts, const char *word)
{
    int64_t id = 0, attempt = 0;
    if (!word)
        return NO_ENTITY;
    char *end;
    id = strtoll(word, &end, 10);
    attempt = *end == '.' ? strtoll(end + 1, NULL, 10) : 0;
    uint32_t stage = facts_stage(facts, id, attempt);
    if (stage == NO_ENTITY)
        fail(word, NULL);
    return stage;
}

static enum bucket bucket_of(const char *word)
{
    for (int b = 0; word && b < BUCKET_COUNT; b++)
        if (!strcmp(bucket_names[b], word))
            return (enum bucket)b;
    fail("bucket", NULL);
}

static struct change change_of(const struct facts *facts, const struct accounts *accounts, char *text, size_t *gaps)
{
    static const struct {
        const char *name;
        enum change_kind kind;
    } kinds[] = {{"nolost", CHANGE_NO_LOST}, {"drop", CHANGE_DROP},   {"zero", CHANGE_ZERO},     {"cap", CHANGE_CAP},         {"spread", CHANGE_SPREAD},
                 {"host", CHANGE_HOST},      {"part", CHANGE_PART},   {"factor", CHANGE_FACTOR}, {"split", CHANGE_SPLIT},     {"merge", CHANGE_MERGE},
                 {"gaps", CHANGE_GAPS},      {"slots", CHANGE_SLOTS}, {"ramp", CHANGE_RAMP},     {"startup", CHANGE_STARTUP}, {"executors", CHANGE_SLOTS}};
    char *words[5] = {0}, *save = NULL;
    for (int i = 0; i < 5 && (words[i] = strtok_r(i ? NULL : text, ":", &save)); i++)
        continue;
    struct change change = {.stage = NO_ENTITY, .executor = NO_ENTITY, .number = 1};
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && (!words[0] || strcmp(kinds[k].name, words[0])))
        k++;
    if (k == sizeof kinds / sizeof *kinds)
        fail(text, NULL);
    change.kind = kinds[k].kind;
    switch (change.kind) {
    case CHANGE_NO_LOST:
    case CHANGE_RAMP: break;
    case CHANGE_GAPS:
        change.gaps = gaps;
        change.number = words[2] ? atof(words[2]) : 1000;
        for (size_t i = 0; i < accounts->gap_count; i++)
            if (accounts->gaps[i].kind == bucket_of(words[1]))
                gaps[change.gap_count++] = i;
        break;
    case CHANGE_SLOTS:
        if (!strcmp(words[0], "executors"))
            change.executors = atoi(words[1]);
        else
            change.number = atof(words[1]);
        break;
    case CHANGE_STARTUP: change.number = atof(words[1]); break;
    default: change.stage = stage_of(facts, words[1]);
    }
    if (change.kind == CHANGE_DROP)
        change.number = 0; /* all of it */
    double tasks = change.stage == NO_ENTITY ? 0 : (double)facts->stages[change.stage].attempt_count;
    if (change.kind == CHANGE_HOST)
        change.executor = facts_executor(facts, (struct str){words[2], strlen(words[2])});
    if (change.kind == CHANGE_PART || change.kind == CHANGE_FACTOR)
        change.part = bucket_of(words[2]);
    if (change.kind == CHANGE_HOST || change.kind == CHANGE_PART || change.kind == CHANGE_FACTOR)
        change.number = atof(words[3]);
    if (change.kind == CHANGE_SPLIT)
        change.number = words[2] ? atof(words[2]) : ceil(2 * (double)facts->slot_peak / tasks);
    if (change.kind == CHANGE_MERGE)
        change.number = words[2] ? atof(words[2]) : 3 * (double)facts->slot_peak;
    return change;
}

static void print_scenario(const struct simulation *sim, const struct facts *facts, const struct accounts *accounts, const char *text, bool more)
{
    struct change changes[MAX_CHANGES];
    size_t *gaps[MAX_CHANGES], count = 0;
    struct simulated simulated;
    struct err err;
    char *copy = strdup(text), *save = NULL;
    for (char *word = strtok_r(copy, ",", &save); word && count < MAX_CHANGES; word = strtok_r(NULL, ",", &save), count++) {
        gaps[count] = calloc(accounts->gap_count + 1, sizeof *gaps[count]);
        changes[count] = change_of(facts, accounts, word, gaps[count]);
    }
    double start = seconds();
    if (simulation_run(sim, changes, count, &simulated, &err))
        fail(text, &err);
    printf("{\"scenario\":\"%s\",\"wall_ms\":%lld,\"seconds\":%.6f}%s", text, (long long)simulated.wall_ms, seconds() - start, more ? "," : "");
    for (size_t i = 0; i < count; i++)
        free(gaps[i]);
    free(copy);
}

static void print_chain(const struct facts *facts, const struct accounts *accounts)
{
    static const char *const labels[] = {"startup", "gap", "shutdown", "job_tail", "stage_lag", "task", "queue", "wait_exec", "launch_lag", "behind", "overlap"};
    struct chain chain;
    struct err err;
    double start = seconds();
    if (chain_make(&chain, facts, accounts, &err))
        fail("chain", &err);
    double took = seconds() - start;
    int64_t sums[sizeof labels / sizeof *labels] = {0}, at = facts->begin_ms;
    bool contiguous = true;
    for (size_t i = 0; i < chain.count; i++) {
        const struct chain_segment *segment = &chain.segments[i];
        contiguous &= segment->from_ms == at && segment->to_ms > at;
        at = segment->to_ms;
        for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
            if (!strcmp(labels[l], segment->label))
                sums[l] += segment->to_ms - segment->from_ms;
    }
    contiguous &= at == facts->end_ms;
    printf(",\"chain_seconds\":%.6f,\"chain_segments\":%zu,\"chain_contiguous\":%s,\"chain\":{", took, chain.count, contiguous ? "true" : "false");
    for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
        printf("%s\"%s\":%lld", l ? "," : "", labels[l], (long long)sums[l]);
    printf("}");
    chain_dispose(&chain);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        fail("print_simulation DB [SCENARIO…]", NULL);
    struct db db;
    struct facts facts;
    struct accounts accounts;
    struct simulation *sim;
    struct calibration calibration;
    struct what_if *rows;
    size_t row_count;
    struct err err = {0};
    db_setup();
    if (db_open(&db, argv[1], DB_READ, NULL, DB_APP_ID, DB_APP_VERSION, &err) || facts_load(&facts, &db, &err) || accounts_make(&accounts, &facts, &err))
        fail(argv[1], &err);
    double start = seconds();
    if (simulation_make(&sim, &facts, &accounts, &err) || simulation_calibrate(sim, &calibration, &err))
        fail(argv[1], &err);
    double made = seconds();
    if (what_ifs_make(&rows, &row_count, sim, &calibration, &err))
        fail(argv[1], &err);
    printf(
        "{\"app_id\":\"%.*s\",\"attempts\":%zu,\"wall_ms\":%lld,\"jobs_ms\":%.0f,\"slots\":%lld,\"as_observed_ms\":%lld,\"error\":%.9f,\"t_inf_ms\":%lld,\"t_work_ms\":%lld,\"prices_allowed\":%s,\"completeness\":%d,"
        "\"make_seconds\":%.6f,\"what_if_seconds\":%.6f",
        (int)facts.app_id.len, facts.app_id.ptr, facts.attempt_count, (long long)calibration.observed_ms, accounts.jobs_ms, (long long)facts.slot_peak,
        (long long)calibration.as_observed_ms, calibration.error, (long long)calibration.t_inf_ms, (long long)calibration.t_work_ms, calibration.prices_allowed ? "true" : "false",
        completeness_of(&facts).score, made - start, seconds() - made);
    print_chain(&facts, &accounts);
    printf(",\"what_if\":[");
    for (size_t i = 0; i < row_count; i++)
        printf("%s[\"%s\",\"%s\",%lld,%lld,%lld]", i ? "," : "", rows[i].scenario, rows[i].subject, (long long)rows[i].wall_ms, (long long)rows[i].low_ms,
               (long long)rows[i].high_ms);
    printf("],\"scenarios\":[");
    for (int i = 2; i < argc; i++)
        print_scenario(sim, &facts, &accounts, argv[i], i + 1 < argc);
    printf("]}\n");
    what_ifs_free(rows);
    simulation_free(sim);
    accounts_dispose(&accounts);
    facts_dispose(&facts);
    db_close(&db);
    return 0;
}
