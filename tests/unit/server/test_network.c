/* SPDX-License-Identifier: Apache-2.0 */
#include "server/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "base/mem.h"

static bool have(const char *const *items, size_t count, const char *text)
{
    struct network *networks;
    unsigned char address[16];
    assert_int_equal(networks_parse(&networks, items, count, "k", NULL), ERR_OK);
    assert_true(network_parse_address(text, address));
    bool found = networks_have(networks, count, address);
    mem_free(networks);
    return found;
}

static void an_address_lies_in_a_network_or_not(void **state)
{
    (void)state;
    static const char *const items[] = {"10.0.0.0/8", "192.0.2.7", "192.0.2.128/25", "fd00::/8", "::1"};
    static const struct {
        const char *address;
        bool in;
    } cases[] = {{"10.255.0.1", true},      {"11.0.0.1", false}, {"192.0.2.7", true}, {"192.0.2.8", false}, {"192.0.2.127", false}, {"192.0.2.128", true},
                 {"::ffff:10.1.2.3", true}, {"fdff::1", true},   {"fe00::1", false},  {"::1", true},        {"::2", false},         {"::", false}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_int_equal(have(items, ARRAY_LENGTH(items), cases[i].address), cases[i].in);
    assert_false(have(NULL, 0, "127.0.0.1"));
    static const char *const all[] = {"0.0.0.0/0"};
    assert_true(have(all, 1, "203.0.113.1"));
    assert_false(have(all, 1, "2001:db8::1")); /* of the other family */
}

static void what_is_none_is_refused_with_its_key(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "x", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "localhost", "10.0.0.1:80"};
    struct network *networks;
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct err err = {0};
        assert_int_equal(networks_parse(&networks, &bad[i], 1, "afterglow.metrics.from", &err), ERR_INVALID);
        assert_null(networks);
        assert_memory_equal(err.message, "afterglow.metrics.from: '", 25);
    }
}

static void loopback_is_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        bool is;
    } cases[] = {{"127.0.0.1", true}, {"127.255.0.1", true}, {"128.0.0.1", false},       {"::1", true},
                 {"::", false},       {"0.0.0.0", false},    {"::ffff:127.0.0.1", true}, {"::127.0.0.1", false}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        unsigned char address[16];
        assert_true(network_parse_address(cases[i].address, address));
        assert_int_equal(network_is_loopback(address), cases[i].is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_address_lies_in_a_network_or_not), cmocka_unit_test(what_is_none_is_refused_with_its_key),
                                       cmocka_unit_test(loopback_is_this_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
