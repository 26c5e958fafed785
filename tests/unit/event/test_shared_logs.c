/* SPDX-License-Identifier: Apache-2.0
 *
 * Every line of every plain log of two folders of ../shared/logs (or of $AFTERGLOW_SHARED/logs), where it is there, against sums that do not come
 * from this program. How they were made: Python's json over the files that begin with {"Event, lines split at \n, blank ones left out; of each
 * TaskEnd the members as spelled below (absent or null ones count for nothing), "duration" is Finish Time minus Launch Time, "shown" the accumulables
 * whose Internal is not true and whose Metadata is not "sql"; of a stage completed the lengths of its lists; of a job start those of "Stage Infos"
 * (else "Stage IDs") and "Properties", whose keys and values also by bytes of UTF-8; of an environment the number of entries of all its objects. A
 * bad line is one that json.loads refuses. */
#include "tests/unit/event/event_fixture.h"

#include <dirent.h>
#include <sys/stat.h>

struct sums {
    int64_t files, lines, bad, kinds[EVENT_KIND_MAX_], reasons[END_OTHER + 1];
    int64_t run_ms, gc_ms, cpu_ns, cpu_count, result_bytes, input_bytes, input_count, output_bytes, output_count, remote_bytes, local_bytes, local_count, write_bytes, write_ns,
        push_bytes, peak_bytes, peak_count;
    int64_t heap_bytes, heap_count, duration_ms, failed, killed, shown, stage_tasks, rdds, stage_accumulables, details_bytes, job_stages, properties, property_bytes, environment;
};

static void add(int64_t *sum, int64_t *count, int64_t value)
{
    if (!known(value))
        return;
    *sum += value;
    if (count)
        (*count)++;
}

static void add_task_end(struct sums *s, const struct event_task_end *t)
{
    const int64_t *m = t->metrics;
    s->reasons[t->reason]++;
    add(&s->run_ms, NULL, m[METRIC_EXECUTOR_RUN_TIME]);
    add(&s->gc_ms, NULL, m[METRIC_JVM_GC_TIME]);
    add(&s->cpu_ns, &s->cpu_count, m[METRIC_EXECUTOR_CPU_TIME]);
    add(&s->result_bytes, NULL, m[METRIC_RESULT_SIZE]);
    add(&s->input_bytes, &s->input_count, m[METRIC_INPUT_BYTES]);
    add(&s->output_bytes, &s->output_count, m[METRIC_OUTPUT_BYTES]);
    add(&s->remote_bytes, NULL, m[METRIC_SHUFFLE_REMOTE_READ]);
    add(&s->local_bytes, &s->local_count, m[METRIC_SHUFFLE_LOCAL_READ]);
    add(&s->write_bytes, NULL, m[METRIC_SHUFFLE_WRITE_BYTES]);
    add(&s->write_ns, NULL, m[METRIC_SHUFFLE_WRITE_TIME]);
    add(&s->push_bytes, NULL, m[METRIC_PUSH_LOCAL_MERGED_READ]);
    add(&s->peak_bytes, &s->peak_count, m[METRIC_PEAK_EXECUTION_MEMORY]);
    add(&s->heap_bytes, &s->heap_count, t->peaks[PEAK_JVM_HEAP_MEMORY]);
    s->duration_ms += t->info.finish_ms - t->info.launch_ms;
    s->failed += t->info.failed;
    s->killed += t->info.killed;
    s->shown += (int64_t)t->shown.count;
}

static void add_event(struct sums *s, const struct event *e)
{
    s->kinds[e->kind]++;
    switch (e->kind) {
    case EVENT_TASK_END:
        add_task_end(s, &e->task_end);
        break;
    case EVENT_STAGE_COMPLETED:
        s->stage_tasks += e->stage.info.num_tasks;
        s->rdds += (int64_t)e->stage.info.rdd_count;
        s->stage_accumulables += (int64_t)e->stage.info.accumulables.count;
        s->details_bytes += (int64_t)e->stage.info.details.len;
        break;
    case EVENT_JOB_START:
        s->job_stages += (int64_t)e->job_start.stage_count;
        s->properties += (int64_t)e->job_start.properties.count;
        for (size_t i = 0; i < e->job_start.properties.count; i++)
            s->property_bytes += (int64_t)(e->job_start.properties.items[i].name.len + e->job_start.properties.items[i].value.len);
        break;
    case EVENT_ENVIRONMENT_UPDATE:
        for (int i = 0; i < ENV_SECTION_COUNT; i++)
            s->environment += (int64_t)e->environment.sections[i].count;
        break;
    default:
        break;
    }
}

static void add_file(struct fixture *f, struct sums *s, const char *path)
{
    FILE *file = fopen(path, "rb");
    char head[7] = "";
    if (!file || fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, "{\"Event", sizeof head) != 0) {
        if (file)
            fclose(file);
        return;
    }
    fseek(file, 0, SEEK_END);
    size_t len = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(len + EVENT_LINE_PADDING);
    assert_int_equal(fread(bytes, 1, len, file), len);
    fclose(file);
    memset(bytes + len, 0, EVENT_LINE_PADDING);
    s->files++;
    for (const char *p = bytes, *end = bytes + len; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        struct str line = {p, (size_t)(stop - p)};
        p = stop + 1;
        if (line.len == 0)
            continue;
        s->lines++;
        arena_reset(&f->scratch);
        if (event_decode(line, &f->scratch, &f->memory, &f->event, &f->err) == ERR_OK) {
            assert_int_equal(f->event.out_of_range + f->event.repaired, 0);
            add_event(s, &f->event);
        } else {
            s->bad++;
        }
    }
    free(bytes);
}

static void add_folder(struct fixture *f, struct sums *s, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        struct stat st;
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(inner, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                add_folder(f, s, inner);
            else
                add_file(f, s, inner);
        }
        free(entries[i]);
    }
    free(entries);
}

/* False, with a word about it: the folder is not there. */
static bool sum_up(struct fixture *f, const char *folder, struct sums *s)
{
    char path[4096];
    struct stat st;
    const char *shared = getenv("AFTERGLOW_SHARED");
    snprintf(path, sizeof path, "%s/logs/%s", shared ? shared : TEST_DATA "/../../../shared", folder);
    memset(s, 0, sizeof *s);
    if (stat(path, &st)) {
        print_message("skipped: no %s\n", path);
        return false;
    }
    add_folder(f, s, path);
    return true;
}

static void our_own_plain_logs_of_3_5_7_add_up(void **state)
{
    struct fixture *f = *state;
    struct sums s;
    if (!sum_up(f, "3.5.7", &s))
        skip();
    assert_i64(s.files, 17);
    assert_i64(s.lines, 3248);
    assert_i64(s.bad, 2);
    static const int64_t kinds[EVENT_KIND_MAX_] = {
        [EVENT_LOG_START] = 17, [EVENT_RESOURCE_PROFILE_ADDED] = 17, [EVENT_BLOCK_MANAGER_ADDED] = 50, [EVENT_ENVIRONMENT_UPDATE] = 17, [EVENT_APPLICATION_START] = 17,
            [EVENT_EXECUTOR_ADDED] = 34,
        [EVENT_JOB_START] = 62, [EVENT_STAGE_SUBMITTED] = 66, [EVENT_TASK_START] = 1169, [EVENT_TASK_END] = 1161, [EVENT_EXECUTOR_METRICS_UPDATE] = 17,
            [EVENT_STAGE_EXECUTOR_METRICS] = 121,
        [EVENT_STAGE_COMPLETED] = 62, [EVENT_JOB_END] = 58, [EVENT_APPLICATION_END] = 12, [EVENT_BLOCK_UPDATED] = 224,
        [EVENT_SQL_START] = 28, [EVENT_SQL_PLAN_UPDATE] = 34, [EVENT_SQL_DRIVER_UPDATES] = 40, [EVENT_SQL_END] = 24, [EVENT_SQL_METRIC_UPDATE] = 16,
    };
    for (int i = 0; i < EVENT_KIND_MAX_; i++)
        assert_i64(s.kinds[i], kinds[i]);
    assert_i64(s.reasons[END_SUCCESS], 1161);
    assert_i64(s.run_ms, 240062);
    assert_i64(s.gc_ms, 6264);
    assert_i64(s.cpu_ns, 70394716661);
    assert_i64(s.cpu_count, 1161);
    assert_i64(s.result_bytes, 5470214);
    assert_i64(s.input_bytes, 200625495);
    assert_i64(s.output_bytes, 210846945);
    assert_i64(s.remote_bytes, 128339310);
    assert_i64(s.local_bytes, 87993568);
    assert_i64(s.write_bytes, 227657578);
    assert_i64(s.write_ns, 6995812637);
    assert_i64(s.push_bytes, 0);
    assert_i64(s.peak_bytes, 2833184752);
    assert_i64(s.peak_count, 1161);
    assert_i64(s.heap_bytes, 1091299304);
    assert_i64(s.heap_count, 1161);
    assert_i64(s.duration_ms, 328263);
    assert_i64(s.failed + s.killed + s.shown, 0);
    assert_i64(s.stage_tasks, 988);
    assert_i64(s.rdds, 265);
    assert_i64(s.stage_accumulables, 1406);
    assert_i64(s.details_bytes, 56406);
    assert_i64(s.job_stages, 104);
    assert_i64(s.properties, 1807);
    assert_i64(s.property_bytes, 146249);
    assert_i64(s.environment, 22140);
}

/* Logs of Spark 1.2 to 3.3. */
static void the_logs_of_sparks_own_suite_add_up(void **state)
{
    struct fixture *f = *state;
    struct sums s;
    if (!sum_up(f, "public/spark-suite", &s))
        skip();
    assert_i64(s.files, 18);
    assert_i64(s.lines, 1192);
    assert_i64(s.bad, 0);
    static const int64_t kinds[EVENT_KIND_MAX_] = {
        [EVENT_LOG_START] = 13, [EVENT_BLOCK_MANAGER_ADDED] = 48, [EVENT_ENVIRONMENT_UPDATE] = 18, [EVENT_APPLICATION_START] = 18, [EVENT_EXECUTOR_ADDED] = 33,
            [EVENT_JOB_START] = 32,
        [EVENT_STAGE_SUBMITTED] = 38, [EVENT_TASK_START] = 420, [EVENT_TASK_END] = 420, [EVENT_STAGE_COMPLETED] = 38, [EVENT_JOB_END] = 32,
            [EVENT_EXCLUSION] = 4 + 2 + 2 + 1 + 3 + 1,
        [EVENT_APPLICATION_END] = 18, [EVENT_RESOURCE_PROFILE_ADDED] = 7, [EVENT_STAGE_EXECUTOR_METRICS] = 13, [EVENT_PROCESS_ADDED] = 1, [EVENT_BLOCK_MANAGER_REMOVED] = 6,
            [EVENT_EXECUTOR_REMOVED] = 6,
        [EVENT_SQL_START] = 3, [EVENT_SQL_PLAN_UPDATE] = 6, [EVENT_SQL_END] = 3, [EVENT_SQL_DRIVER_UPDATES] = 6,
    };
    for (int i = 0; i < EVENT_KIND_MAX_; i++)
        assert_i64(s.kinds[i], kinds[i]);
    assert_i64(s.reasons[END_SUCCESS], 394);
    assert_i64(s.reasons[END_EXCEPTION], 25);
    assert_i64(s.reasons[END_KILLED], 1);
    assert_i64(s.run_ms, 299885);
    assert_i64(s.gc_ms, 6216);
    assert_i64(s.cpu_ns, 97492806826);
    assert_i64(s.cpu_count, 196);
    assert_i64(s.result_bytes, 652516);
    assert_i64(s.input_bytes, 10091145312);
    assert_i64(s.input_count, 344);
    assert_i64(s.output_bytes, 0);
    assert_i64(s.output_count, 196);
    assert_i64(s.remote_bytes, 965);
    assert_i64(s.local_bytes, 184296);
    assert_i64(s.local_count, 206);
    assert_i64(s.write_bytes, 220001);
    assert_i64(s.write_ns, 385069147);
    assert_i64(s.push_bytes, 0);     /* one log was edited by hand to carry the old reader's key, which no Spark writes: not read, as by 4.3 (spec/shs-4.3.md) */
    assert_i64(s.peak_bytes, 426448);
    assert_i64(s.peak_count, 134);
    assert_i64(s.heap_bytes, 9652865128);
    assert_i64(s.heap_count, 100);
    assert_i64(s.duration_ms, 367844);
    assert_i64(s.failed, 25);
    assert_i64(s.killed, 1);
    assert_i64(s.shown, 16);
    assert_i64(s.stage_tasks, 395);
    assert_i64(s.rdds, 85);
    assert_i64(s.stage_accumulables, 259);
    assert_i64(s.details_bytes, 37498);
    assert_i64(s.job_stages, 46);
    assert_i64(s.properties, 214);
    assert_i64(s.property_bytes, 17156);
    assert_i64(s.environment, 6908);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(our_own_plain_logs_of_3_5_7_add_up), cmocka_unit_test(the_logs_of_sparks_own_suite_add_up)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
