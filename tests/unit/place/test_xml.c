/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "place/xml.h"

/* "<a>", "</a>", text, "!" for a failure. */
static void expect(const char *text, const char *events)
{
    CLEANUP(buf_dispose) struct buf out;
    buf_init(&out, 1 << 16);
    struct xml xml;
    enum xml_event event;
    xml_init(&xml, str_of(text));
    while ((event = xml_next(&xml)) > XML_END) {
        if (event == XML_TEXT) {
            if (xml_text(&xml, &out))
                buf_text(&out, "?");
        } else {
            buf_printf(&out, "%s%.*s>", event == XML_OPEN ? "<" : "</", (int)xml.name.len, xml.name.ptr);
        }
    }
    if (event == XML_FAILED)
        buf_text(&out, "!");
    assert_string_equal(out.data ? out.data : "", events);
}

static void elements_and_text_come_in_order(void **state)
{
    (void)state;
    expect("<?xml version=\"1.0\"?>\n<!-- c > -->\n<a x='>' y=\"/\"><s3:b>t &amp; &#38;&#x4e2d;</s3:b><c/></a>\n", "<a><b>t & &\xE4\xB8\xAD</b><c></c></a>");
    expect("\xEF\xBB\xBF<a/>", "<a></a>");
    expect("", "");
}

static void what_is_not_well_formed_fails_and_stays_so(void **state)
{
    (void)state;
    expect("<a>", "<a>!");
    expect("</a>", "!");
    expect("<a", "!");
    expect("text", "!");
    expect("<>", "!");
    expect("<a><!-- </a>", "<a>!");
}

static void no_entity_but_the_five_and_no_declaration(void **state)
{
    (void)state;
    expect("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>", "!");
    expect("<a>&x;</a>", "<a>?</a>");
    expect("<a>&#0;</a>", "<a>?</a>");
    expect("<a>&#xD800;</a>", "<a>?</a>");
    expect("<a>&#x110000;</a>", "<a>?</a>");
    expect("<a>&amp</a>", "<a>?</a>");
    expect("<a><![CDATA[x]]></a>", "<a>!");
}

static void depth_is_bounded(void **state)
{
    (void)state;
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 100000; i++)
        buf_text(&text, "<a>");
    struct xml xml;
    int opened = 0;
    xml_init(&xml, buf_str(&text));
    while (xml_next(&xml) == XML_OPEN)
        opened++;
    assert_int_equal(opened, XML_DEPTH_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_and_text_come_in_order),
        cmocka_unit_test(what_is_not_well_formed_fails_and_stays_so),
        cmocka_unit_test(no_entity_but_the_five_and_no_declaration),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
