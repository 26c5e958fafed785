/* SPDX-License-Identifier: Apache-2.0 */
#include "server/connections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"

/* A connection whose other end we hold. */
struct pair {
    struct connections all;
    struct connection *connection;
    int ours, theirs;
};

static void begin(struct pair *self)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    self->ours = fds[0];
    self->theirs = fds[1];
    connections_init(&self->all);
    assert_non_null(self->connection = connections_add(&self->all, self->ours));
}

static void end(struct pair *self)
{
    connections_remove(&self->all, self->connection);
    assert_int_equal(self->all.count, 0);
    connections_dispose(&self->all);
    close(self->ours);
    close(self->theirs);
}

/* What the client sees when `seconds` have passed since now. */
static bool is_cut_after(struct pair *self, int64_t seconds)
{
    char byte;
    connections_cut_overdue(&self->all, time_monotonic_ns() + seconds * 1000 * NS_PER_MS);
    return recv(self->theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

/* Far from the limits on both sides: however slow this machine is. */
#define MINUTE 60

static void a_head_that_does_not_come_ends_the_connection(void **state)
{
    (void)state;
    struct pair pair;
    begin(&pair);
    assert_false(is_cut_after(&pair, 0));
    assert_true(is_cut_after(&pair, 2 * MINUTE));
    end(&pair);
}

static void an_answer_has_an_hour(void **state)
{
    (void)state;
    struct pair pair;
    begin(&pair);
    connections_phase(&pair.all, pair.connection, PHASE_ANSWERING);
    assert_false(is_cut_after(&pair, 30 * MINUTE));
    assert_true(is_cut_after(&pair, 61 * MINUTE));
    end(&pair);
}

static void a_stream_has_no_end(void **state)
{
    (void)state;
    struct pair pair;
    begin(&pair);
    connections_phase(&pair.all, pair.connection, PHASE_STREAMING);
    assert_false(is_cut_after(&pair, 24 * 60 * MINUTE));
    end(&pair);
}

static void a_log_must_come_at_a_kilobyte_a_second(void **state)
{
    (void)state;
    struct pair pair;
    begin(&pair);
    connections_phase(&pair.all, pair.connection, PHASE_RECEIVING);
    connections_received(&pair.all, pair.connection, 30 << 10);
    assert_false(is_cut_after(&pair, MINUTE));
    connections_received(&pair.all, pair.connection, (30 << 10) - 1);
    assert_true(is_cut_after(&pair, 3 * MINUTE));
    end(&pair);
}

static void so_many_are_let_in_and_no_more(void **state)
{
    (void)state;
    struct connections all;
    struct connection *some[CONNECTIONS_MAX];
    connections_init(&all);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        assert_false(connections_full(&all));
        assert_non_null(some[i] = connections_add(&all, -1));
    }
    assert_true(connections_full(&all));
    connections_remove(&all, some[CONNECTIONS_MAX / 2]);
    assert_false(connections_full(&all));
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (i != CONNECTIONS_MAX / 2)
            connections_remove(&all, some[i]);
    assert_int_equal(all.count, 0);
    connections_dispose(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_that_does_not_come_ends_the_connection), cmocka_unit_test(an_answer_has_an_hour), cmocka_unit_test(a_stream_has_no_end),
        cmocka_unit_test(a_log_must_come_at_a_kilobyte_a_second), cmocka_unit_test(so_many_are_let_in_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
