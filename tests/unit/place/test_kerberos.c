/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "place/kerberos.h"

/* As ktutil writes it: HTTP/h@R, a hole where a key was removed, sp@R. A key: principal, its type 1, time, version 2, encryption type 18, four bytes. */
static const char keytab[] =
    "\x05\x02"
    "\0\0\0\x23" "\0\2" "\0\1R" "\0\4HTTP" "\0\1h" "\0\0\0\1" "\0\0\0\0" "\2" "\0\x12" "\0\4kkkk" "\0\0\0\2"
    "\xff\xff\xff\xfb" "gone!"
    "\0\0\0\x1e" "\0\1" "\0\1R" "\0\2sp" "\0\0\0\1" "\0\0\0\0" "\2" "\0\x12" "\0\4kkkk" "\0\0\0\2";
static char root[64], path[80];

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/afterglow-test-XXXXXX");
    unsetenv("KRB5CCNAME");
    unsetenv("KRB5_CLIENT_KTNAME");
    snprintf(path, sizeof path, "%s/keytab", mkdtemp(root));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void write_keytab(const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

/* Where libcurl has Kerberos, which Debian's has. */
static void the_principal_that_was_named_has_a_cache(void **state)
{
    (void)state;
    static const char *const names[] = {"sp", "sp@R", "HTTP/h@R", "HTTP/h"};
    write_keytab(keytab, sizeof keytab - 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv("KRB5CCNAME");
        enum err_code rc = kerberos_use(path, names[i], NULL);
        if (rc == ERR_UNSUPPORTED)
            skip();
        assert_int_equal(rc, ERR_OK);
        assert_string_equal(getenv("KRB5CCNAME"), KERBEROS_CACHE);
        assert_string_equal(getenv("KRB5_CLIENT_KTNAME"), path);
    }
}

static void a_principal_without_a_key_is_an_error_and_none_is_left_to_the_library(void **state)
{
    (void)state;
    static const char *const strangers[] = {"s", "sp@Q", "HTTP", "HTTP/h/i", "gone!", "sp@R@R", "/", "@"};
    struct err err = {0};
    write_keytab(keytab, sizeof keytab - 1);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        assert_int_equal(kerberos_use(path, strangers[i], &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "has no key of @"));
    assert_int_equal(kerberos_use(path, NULL, NULL), ERR_OK);
    assert_int_equal(kerberos_use("/not/there", "sp", NULL), ERR_OK);
    assert_null(getenv("KRB5CCNAME"));
}

static void a_hostile_keytab_is_read_within_its_bounds(void **state)
{
    (void)state;
    char bytes[sizeof keytab];
    for (size_t len = 0; len < sizeof keytab - 2; len++) {          /* cut anywhere, no key of the last principal is whole */
        write_keytab(keytab, len);
        assert_int_equal(kerberos_use(path, "nobody", NULL), ERR_INVALID);
    }
    for (size_t at = 0; at < sizeof keytab - 1; at++)
        for (int value = 0; value < 256; value += 51) {
            memcpy(bytes, keytab, sizeof keytab);
            bytes[at] = (char)value;
            write_keytab(bytes, sizeof keytab - 1);
            assert_int_equal(kerberos_use(path, "nobody", NULL), ERR_INVALID);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_principal_that_was_named_has_a_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_principal_without_a_key_is_an_error_and_none_is_left_to_the_library, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hostile_keytab_is_read_within_its_bounds, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
