/* SPDX-License-Identifier: Apache-2.0 */
#include "server/login.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "server/login_limits.h"

/* By Python's crypt, cost 4: alice has "wonder land". */
#define ALICE "alice:$2b$04$YvTc/cciy6jd5S7DsSo1dOXMRu1kZMFi4IPwdgRguNIL6DI0qpjXC\n"
#define BOBS_PASSWORD "b\xC3\xB6" "b:"
#define BOB "bob:$2y$04$b7q0Np6peXTpZp/3IlBDp.z7DSaD6G/qC.6sCjyv8dsUyTMd886Ci\n"

static char path[] = "/tmp/afterglow-login-XXXXXX";
static struct login *login;

static void write_users(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    (void)state;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    close(mkstemp(path));
    write_users(ALICE BOB);
    return login_new(&login, path, NULL);
}

static int end(void **state)
{
    (void)state;
    login_free(login);
    unlink(path);
    return 0;
}

/* ---- asking ---- */

struct asker {
    struct login_waiter waiter;
    pthread_mutex_t lock;
    pthread_cond_t told;
    int count;
};

static void on_told(void *context)
{
    struct asker *self = context;
    pthread_mutex_lock(&self->lock);
    self->count++;
    pthread_cond_signal(&self->told);
    pthread_mutex_unlock(&self->lock);
}

static void asker_begin(struct asker *self)
{
    *self = (struct asker){.waiter = {.done = on_told, .context = self}, .lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
}

static enum login_verdict asker_end(struct asker *self)
{
    pthread_mutex_lock(&self->lock);
    while (!self->count)
        pthread_cond_wait(&self->told, &self->lock);
    pthread_mutex_unlock(&self->lock);
    return self->waiter.verdict;
}

static unsigned char address[16] = {[10] = 0xFF, [11] = 0xFF, [12] = 10};

/* *ret_at_once: it was known. */
static enum login_verdict ask(const char *user, const char *password, bool *ret_at_once)
{
    struct asker asker;
    const struct login_words words = {str_of(user), str_of(password)};
    asker_begin(&asker);
    enum login_verdict verdict = login_ask(login, &words, address, &asker.waiter);
    *ret_at_once = verdict != LOGIN_PENDING;
    return *ret_at_once ? verdict : asker_end(&asker);
}

static void passwords_are_checked_once_and_remembered(void **state)
{
    (void)state;
    bool at_once;
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_RIGHT);
    assert_false(at_once);
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_RIGHT);
    assert_true(at_once);
    assert_int_equal(ask("bob", BOBS_PASSWORD, &at_once), LOGIN_RIGHT);
    assert_false(at_once);
    static const char *const wrong[][2] = {{"alice", "Wonder land"}, {"alice", ""}, {"alice", BOBS_PASSWORD}, {"bob", "wonder land"}, {"nobody", "wonder land"}, {"", ""}, {"alicewonder", " land"}};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        address[15]++; /* or the address would have to wait */
        assert_int_equal(ask(wrong[i][0], wrong[i][1], &at_once), LOGIN_WRONG);
        assert_false(at_once);
        assert_int_equal(ask(wrong[i][0], wrong[i][1], &at_once), LOGIN_WRONG);
        assert_true(at_once);
    }
}

static void the_same_words_at_the_same_time_are_one_check(void **state)
{
    (void)state;
    struct asker askers[LOGIN_FREE_FAILURES * 3];
    const struct login_words words = {STR_LIT("alice"), STR_LIT("wonder land")};
    for (size_t i = 0; i < ARRAY_LENGTH(askers); i++) {
        asker_begin(&askers[i]);
        if (login_ask(login, &words, address, &askers[i].waiter) != LOGIN_PENDING)
            on_told(&askers[i]);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(askers); i++)
        assert_int_equal(asker_end(&askers[i]), LOGIN_RIGHT);
}

static void who_guesses_waits_and_who_is_known_does_not(void **state)
{
    (void)state;
    char guess[32];
    bool at_once;
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_RIGHT);
    enum login_verdict verdict = LOGIN_WRONG;
    int tries = 0;
    for (; verdict == LOGIN_WRONG && tries < 100; tries++) {
        snprintf(guess, sizeof guess, "guess %d", tries);
        verdict = ask("alice", guess, &at_once);
    }
    assert_int_equal(verdict, LOGIN_LATER);
    assert_int_equal(tries, LOGIN_FREE_FAILURES + 2); /* the free ones, one more, and the one that was not looked at */
    assert_int_equal(ask("alice", "guess 0", &at_once), LOGIN_WRONG); /* said before: costs nothing, tells nothing */
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_RIGHT);
    assert_true(at_once);
    address[14]++;
    assert_int_equal(ask("alice", "another guess", &at_once), LOGIN_LATER); /* from elsewhere, too: the user is under attack */
    assert_int_equal(ask("bob", BOBS_PASSWORD, &at_once), LOGIN_RIGHT);
}

static void a_changed_file_is_read_and_forgets_everybody(void **state)
{
    (void)state;
    struct err err = {0};
    bool at_once, changed;
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_RIGHT);
    assert_int_equal(ask("eve", "wonder land", &at_once), LOGIN_WRONG);
    assert_int_equal(login_refresh(login, &changed, &err), ERR_OK);
    assert_false(changed);
    write_users(BOB);
    assert_int_equal(login_refresh(login, &changed, &err), ERR_OK);
    assert_true(changed);
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_WRONG);
    write_users("alice:plain\n");
    assert_int_equal(login_refresh(login, &changed, &err), ERR_INVALID);
    assert_false(changed);
    assert_int_equal(login_refresh(login, &changed, &err), ERR_OK); /* told once */
    assert_int_equal(ask("bob", BOBS_PASSWORD, &at_once), LOGIN_RIGHT); /* the old one holds on */
    unlink(path);
    assert_int_equal(login_refresh(login, &changed, &err), ERR_NOT_FOUND);
    assert_int_equal(ask("bob", BOBS_PASSWORD, &at_once), LOGIN_RIGHT);
    write_users(ALICE);
    assert_int_equal(login_refresh(login, &changed, &err), ERR_OK);
    assert_true(changed);
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_RIGHT);
    assert_int_equal(ask("bob", BOBS_PASSWORD, &at_once), LOGIN_WRONG);
}

static void nobody_waits_for_ever_when_it_stops(void **state)
{
    (void)state;
    struct asker askers[LOGIN_MOST_WAITING + 5];
    char users[ARRAY_LENGTH(askers)][16];
    unsigned later = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(askers); i++) {
        snprintf(users[i], sizeof users[i], "user %zu", i);
        const struct login_words words = {str_of(users[i]), STR_LIT("x")};
        asker_begin(&askers[i]);
        address[13] = (unsigned char)i;
        if (login_ask(login, &words, address, &askers[i].waiter) != LOGIN_PENDING)
            on_told(&askers[i]);
    }
    login_stop(login);
    for (size_t i = 0; i < ARRAY_LENGTH(askers); i++) {
        later += asker_end(&askers[i]) == LOGIN_LATER;
        assert_int_equal(askers[i].count, 1);
    }
    assert_true(later > 0);
    bool at_once;
    assert_int_equal(ask("alice", "wonder land", &at_once), LOGIN_LATER);
}

/* Five checks each of a user and of nobody: the medians are within a factor of two. A check at cost 4 takes a millisecond; looking up a name takes a thousandth of one. */
static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void a_name_that_is_not_there_takes_as_long(void **state)
{
    (void)state;
    int64_t took_ns[2][5];
    char guess[16];
    bool at_once;
    for (size_t round = 0; round < 5; round++)
        for (size_t who = 0; who < 2; who++) {
            snprintf(guess, sizeof guess, "guess %zu", round);
            int64_t begin_ns = time_monotonic_ns();
            assert_int_equal(ask(who ? "alice" : "nobody", guess, &at_once), LOGIN_WRONG);
            took_ns[who][round] = time_monotonic_ns() - begin_ns;
        }
    for (size_t who = 0; who < 2; who++)
        qsort(took_ns[who], 5, sizeof(int64_t), compare);
    assert_true(took_ns[0][2] > took_ns[1][0] / 2); /* on a busy machine times grow: the median of one against the best of the other */
}

/* ---- the header ---- */

static void the_header_is_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *header, *user, *password;
    } cases[] = {
        {"Basic YWxpY2U6d29uZGVyIGxhbmQ=", "alice", "wonder land"},
        {"basic  YWxpY2U6d29uZGVyIGxhbmQ", "alice", "wonder land"},
        {"Basic YTpiOmM=", "a", "b:c"},
        {"Basic Og==", "", ""},
        {"Basic YWxpY2U=", NULL, NULL},           /* no colon */
        {"Basic ", NULL, NULL},
        {"Basic", NULL, NULL},
        {"Basic YTpiA", NULL, NULL},              /* five digits */
        {"Basic YTp!", NULL, NULL},
        {"Basic YToAYg==", NULL, NULL},           /* a NUL */
        {"Bearer YTpi", NULL, NULL},
        {"", NULL, NULL},
    };
    struct arena arena;
    struct login_words words;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        bool found = login_parse(str_of(cases[i].header), &arena, &words);
        if (found != (cases[i].user != NULL) || (found && (!str_is(words.user, cases[i].user) || !str_is(words.password, cases[i].password))))
            fail_msg("case %zu", i);
    }
    assert_false(login_parse(STR_NONE, &arena, &words));
    char large[4096] = "Basic ";
    memset(large + 6, 'Y', sizeof large - 7);
    large[sizeof large - 1] = '\0';
    assert_false(login_parse(str_of(large), &arena, &words));
    arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_is_taken_apart),
        cmocka_unit_test_setup_teardown(passwords_are_checked_once_and_remembered, begin, end),
        cmocka_unit_test_setup_teardown(the_same_words_at_the_same_time_are_one_check, begin, end),
        cmocka_unit_test_setup_teardown(who_guesses_waits_and_who_is_known_does_not, begin, end),
        cmocka_unit_test_setup_teardown(a_changed_file_is_read_and_forgets_everybody, begin, end),
        cmocka_unit_test_setup_teardown(nobody_waits_for_ever_when_it_stops, begin, end),
        cmocka_unit_test_setup_teardown(a_name_that_is_not_there_takes_as_long, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
