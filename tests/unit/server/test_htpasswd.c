/* SPDX-License-Identifier: Apache-2.0 */
#include "server/htpasswd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Of "wonder land", by Debian's libcrypt. */
#define HASH "$2y$05$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6bq"
#define COSTLY "$2b$12$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6bq"

static struct htpasswd *users;
static struct err err;

static enum err_code read_text(const char *text, size_t len)
{
    char path[] = "/tmp/afterglow-htpasswd-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, len), len);
    close(fd);
    err = (struct err){0};
    enum err_code rc = htpasswd_read(&users, path, &err);
    unlink(path);
    return rc;
}

static void users_have_their_hashes(void **state)
{
    (void)state;
    static const char text[] = "# who may come\n\nalice:" HASH "\r\nb\xC3\xB6rge@example.org:" COSTLY "\nlast one:" HASH;
    assert_int_equal(read_text(text, sizeof text - 1), ERR_OK);
    assert_int_equal(htpasswd_count(users), 3);
    assert_string_equal(htpasswd_hash(users, STR_LIT("alice")), HASH);
    assert_string_equal(htpasswd_hash(users, STR_LIT("b\xC3\xB6rge@example.org")), COSTLY);
    assert_string_equal(htpasswd_hash(users, STR_LIT("last one")), HASH);
    assert_null(htpasswd_hash(users, STR_LIT("Alice")));
    assert_null(htpasswd_hash(users, STR_LIT("alic")));
    assert_null(htpasswd_hash(users, STR_LIT("")));
    assert_null(htpasswd_hash(users, STR_LIT("# who may come")));
    /* As costly as the costliest, so that a name that is not there does not answer sooner. */
    assert_int_equal(strlen(htpasswd_decoy(users)), strlen(HASH));
    assert_memory_equal(htpasswd_decoy(users), "$2b$12$", 7);
    htpasswd_free(users);
}

static void what_is_not_bcrypt_is_refused_by_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *line, *wanted;
    } cases[] = {
        {"a:$apr1$Il8aK2hq$xQbVV2Rz1yY2O0mBv1fSQ/", "line 2: the password of a is MD5 (apr1); only bcrypt is taken: htpasswd -B"},
        {"a:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "is SHA-1;"},
        {"a:$1$abcdefgh$irWbblnpmw.5z7wgBnprh0", "is MD5 (crypt);"},
        {"a:$5$rounds=5000$x$y", "is SHA-256 (crypt);"},
        {"a:$6$x$y", "is SHA-512 (crypt);"},
        {"a:$y$j9T$x$y", "is yescrypt;"},
        {"a:rqXexS6ZhobKA", "is DES (crypt);"},
        {"a:password", "is plain or unknown;"},
        {"a:", "is plain or unknown;"},
        {"a:$2a$05$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6bq", "is an old form of bcrypt ($2a$);"},
        {"a:$2x$05$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6bq", "is a faulty form of bcrypt ($2x$);"},
        {"a:" HASH "x", "is damaged bcrypt;"},
        {"a:$2y$05$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6b:", "is damaged bcrypt;"},
        {"a:$2y$03$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6bq", "line 2: the cost of a's bcrypt is 3, not within 4 and 16"},
        {"a:$2y$31$3hTUvfIgzG0LiYmkwTiKy.2R0MTJ2AHp59J5uu3tSGd2qXImxt6bq", "the cost of a's bcrypt is 31,"},
        {"alice", "line 2 is not NAME:HASH"},
        {":" HASH, "line 2: the name is empty"},
        {"a,b:" HASH, "line 2: the name is empty, longer than 255 bytes, or holds a comma"},
        {"a\tb:" HASH, "line 2: the name"},
        {"\xFF:" HASH, "line 2: the name"},
        {"ok:" HASH, "line 2: ok is there twice"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char text[512];
        int len = snprintf(text, sizeof text, "ok:" HASH "\n%s\nlast:" HASH "\n", cases[i].line);
        assert_int_equal(read_text(text, (size_t)len), ERR_INVALID);
        assert_null(users);
        if (!strstr(err.message, cases[i].wanted) || !strstr(err.message, "afterglow.login.usersFile") || strstr(err.message, "3hTUvf"))
            fail_msg("case %zu: %s", i, err.message);
    }
}

static void a_file_that_is_none_is_refused(void **state)
{
    (void)state;
    assert_int_equal(read_text("", 0), ERR_INVALID);
    assert_int_equal(read_text("# nobody\n", 9), ERR_INVALID);
    assert_int_equal(read_text("a\0b:" HASH, 4 + strlen(HASH)), ERR_INVALID);
    size_t size = (1 << 20) + 1;
    char *large = mem_alloc(size);
    memset(large, '\n', size);
    assert_int_equal(read_text(large, size), ERR_LIMIT);
    mem_free(large);
    assert_int_equal(htpasswd_read(&users, "/nowhere/at/all", &err), ERR_NOT_FOUND);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    static const char text[] = "alice:" HASH "\n";
    enum err_code rc = ERR_NOMEM;
    for (uint64_t n = 1; rc; n++) {
        mem_fail_at(n, 0);
        rc = read_text(text, sizeof text - 1);
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM);
        assert_true(n < 100);
    }
    htpasswd_free(users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(users_have_their_hashes), cmocka_unit_test(what_is_not_bcrypt_is_refused_by_its_name), cmocka_unit_test(a_file_that_is_none_is_refused),
                                       cmocka_unit_test(out_of_memory_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
