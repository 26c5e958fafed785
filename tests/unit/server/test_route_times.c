/* SPDX-License-Identifier: Apache-2.0 */
#include "server/route_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void each_route_has_a_number_of_its_own(void **state)
{
    (void)state;
    const struct route *const tables[] = {api_routes, api_actions, api_v1_routes};
    static const struct route foreign = {"/x", NULL, ""};
    size_t next = ROUTE_FIXED_COUNT;
    for (size_t i = 0; i < 3; i++)
        for (const struct route *route = tables[i]; route->pattern; route++) {
            assert_int_equal(route_number(route), next);
            assert_string_equal(route_name(next++), route->pattern);
        }
    struct route_times *times;
    assert_int_equal(route_times_new(&times, NULL), ERR_OK);
    assert_int_equal(route_times_count(times), next);
    assert_int_equal(route_number(&foreign), ROUTE_NONE);
    assert_string_equal(route_name(next), "none");
    assert_string_equal(route_name(ROUTE_METRICS), "/metrics");
    assert_string_equal(route_name(ROUTE_UPLOAD), "/api/afterglow/v1/uploads");
    route_times_free(times);
}

static void answers_are_counted_by_route_and_class(void **state)
{
    (void)state;
    struct route_times *times;
    assert_int_equal(route_times_new(&times, NULL), ERR_OK);
    route_times_add(times, ROUTE_RUN, 200, 1000, 10); /* a millisecond: the first bucket has it */
    route_times_add(times, ROUTE_RUN, 204, 1001, -1); /* a stream: of unknown length */
    route_times_add(times, ROUTE_RUN, 404, 6000000, 5);
    route_times_add(times, 100000, 0, 1, 0); /* nonsense stays inside */
    assert_int_equal(atomic_load(&route_times_of(times, ROUTE_RUN, 2)->counts[0]), 1);
    assert_int_equal(atomic_load(&route_times_of(times, ROUTE_RUN, 2)->counts[1]), 1);
    assert_int_equal(atomic_load(&route_times_of(times, ROUTE_RUN, 2)->sum_us), 2001);
    assert_int_equal(atomic_load(&route_times_of(times, ROUTE_RUN, 4)->counts[TIME_BUCKETS]), 1);
    assert_int_equal(atomic_load(&route_times_of(times, ROUTE_NONE, 1)->counts[0]), 1);
    assert_int_equal(route_times_bytes(times), 15);
    route_times_free(times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_route_has_a_number_of_its_own), cmocka_unit_test(answers_are_counted_by_route_and_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
