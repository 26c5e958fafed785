/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_desks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STAGES 500

struct seen {
    int times[STAGES]; /* each of its own desk: no two threads write one */
    uint32_t fails;    /* the stage that cannot be looked at */
};

static enum err_code look(void *context, struct stage_desk *desk, struct err *err)
{
    struct seen *seen = context;
    if (desk->stage == seen->fails)
        return err_set(err, ERR_CORRUPT, "stage %u", desk->stage);
    seen->times[desk->stage]++;
    return ERR_OK;
}

static void *work_beside(void *desks)
{
    stage_desks_work(desks);
    return NULL;
}

/* Every seventh stage is a large one. How many stages found a desk. */
static uint32_t pass(struct stage_desks *desks)
{
    uint32_t stage = 0;
    for (; stage < STAGES; stage++) {
        struct stage_desk *desk = stage_desks_take(desks, stage % 7 ? DESK_TASKS : DESK_TASKS + 1);
        if (!desk)
            break;
        assert_true((desk == desks->desks) == (stage % 7 == 0));
        desk->stage = stage;
        stage_desks_ready(desks, desk);
    }
    stage_desks_close(desks);
    return stage;
}

static void each_stage_is_looked_at_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        struct seen seen = {.fails = UINT32_MAX};
        struct stage_desks desks;
        pthread_t thread;
        stage_desks_init(&desks, look, &seen);
        if (threads == 2)
            assert_int_equal(pthread_create(&thread, NULL, work_beside, &desks), 0);
        assert_int_equal(pass(&desks), STAGES);
        if (threads == 2)
            pthread_join(thread, NULL);
        else
            stage_desks_work(&desks);
        assert_int_equal(desks.rc, ERR_OK);
        for (size_t i = 0; i < STAGES; i++)
            assert_int_equal(seen.times[i], 1);
        stage_desks_dispose(&desks);
    }
}

static void nothing_is_looked_at_behind_a_failure(void **state)
{
    (void)state;
    struct seen seen = {.fails = 20};
    struct stage_desks desks;
    stage_desks_init(&desks, look, &seen);
    uint32_t passed = pass(&desks);
    assert_true(passed > 20 && passed <= 20 + DESK_COUNT);
    stage_desks_work(&desks);
    assert_int_equal(desks.rc, ERR_CORRUPT);
    assert_string_equal(desks.err.message, "stage 20");
    int looks = 0;
    for (size_t i = 0; i < STAGES; i++)
        looks += seen.times[i];
    assert_true(looks <= 20 + DESK_COUNT);
    stage_desks_dispose(&desks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_is_looked_at_once),
        cmocka_unit_test(nothing_is_looked_at_behind_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
