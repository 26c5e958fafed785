/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/model/model_fixture.h"

#include <time.h>

#include "base/buf.h"
#include "ingest/model/sql.h"

#define TAGS 300000
#define KEPT_TAGS 10000              /* of a job */
#define MOST_CPU_SECONDS 20.0        /* sorting takes a fraction of a second; in a quadratic way it took hours, and minutes for what is kept of a job's */

static struct model_fixture *roomy_fixture(void)
{
    struct model_fixture *self = fixture_new();
    arena_dispose(&self->scratch);
    arena_init(&self->scratch, (size_t)64 << 20);
    return self;
}

/* t299999 … t000000: the worst order. */
static void add_tags(struct buf *line, const char *separator)
{
    for (int i = TAGS; i-- > 0;)
        buf_printf(line, "t%06d%s", i, i ? separator : "");
}

static void assert_tags(struct str got, int first, int count)
{
    assert_int_equal(got.len, (size_t)count * 8 - 1);
    for (int i = 0; i < count; i++) {
        char want[9];
        snprintf(want, sizeof want, "t%06d", first + i);
        assert_memory_equal(got.ptr + (size_t)i * 8, want, 7);
        assert_true(i + 1 == count || got.ptr[(size_t)i * 8 + 7] == ',');
    }
}

static void apply_in_time(struct model_fixture *f, const struct buf *line)
{
    assert_false(buf_failed(line));
    clock_t began = clock();
    fixture_apply(f, line->data);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    if (seconds > MOST_CPU_SECONDS)
        fail_msg("%d tags took %.1f s", TAGS, seconds);
}

static void the_first_ten_thousand_tags_of_a_job_are_sorted_in_little_time(void **state)
{
    (void)state;
    struct model_fixture *f = roomy_fixture();
    struct buf line;
    buf_init(&line, (size_t)16 << 20);
    buf_text(&line, "{'Event':'SparkListenerJobStart','Job ID':0,'Submission Time':1,'Stage Infos':[],'Stage IDs':[],'Properties':{'spark.job.tags':'");
    add_tags(&line, ",");
    buf_text(&line, "'}}");
    apply_in_time(f, &line);
    assert_int_equal(f->model->jobs.count, 1);
    assert_tags(((const struct job *)f->model->jobs.items[0])->tags, TAGS - KEPT_TAGS, KEPT_TAGS);
    buf_dispose(&line);
    fixture_free(f);
}

static void all_tags_of_an_execution_are_sorted_in_little_time(void **state)
{
    (void)state;
    struct model_fixture *f = roomy_fixture();
    struct buf line;
    buf_init(&line, (size_t)16 << 20);
    buf_text(&line, "{'Event':'org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart','executionId':0,'time':1,'jobTags':['");
    add_tags(&line, "','");
    buf_text(&line, "']}");
    apply_in_time(f, &line);
    assert_int_equal(f->model->sql->executions.count, 1);
    assert_tags(((const struct sql_execution *)f->model->sql->executions.items[0])->job_tags, 0, TAGS);
    buf_dispose(&line);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_ten_thousand_tags_of_a_job_are_sorted_in_little_time),
        cmocka_unit_test(all_tags_of_an_execution_are_sorted_in_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
