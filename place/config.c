/* SPDX-License-Identifier: Apache-2.0 */
#include "place/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "place/xml.h"

#define KEYS_MAX_BYTES ((size_t)16 << 20)
#define SITE_MAX_BYTES ((size_t)16 << 20) /* hdfs-site.xml of a large cluster has some 100 kB */
#define KEY_BYTES 512

static struct smap values; /* key → text, which `texts` owns */
static struct arena texts;
static bool ready;

enum err_code place_config_set(struct str key, struct str value, struct err *err)
{
    if (!ready) {
        smap_init(&values, PLACE_CONFIG_MAX, KEYS_MAX_BYTES);
        arena_init(&texts, KEYS_MAX_BYTES);
        ready = true;
    }
    char *copy = arena_strndup(&texts, value.ptr, value.len);
    if (!copy || smap_put(&values, key, copy))
        return err_nomem(err);
    return ERR_OK;
}

const char *place_config(const char *key)
{
    return ready ? smap_get(&values, str_of(key)) : NULL;
}

const char *place_config_f(const char *fmt, ...)
{
    char key[KEY_BYTES];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(key, sizeof key, fmt, args);
    va_end(args);
    return len > 0 && (size_t)len < sizeof key ? place_config(key) : NULL;
}

bool place_config_true(const char *key, bool otherwise)
{
    const char *text = place_config(key);
    return text ? strcasecmp(text, "true") == 0 : otherwise;
}

enum err_code place_config_read_site(const char *path, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text, name, value;
    buf_init(&text, SITE_MAX_BYTES);
    buf_init(&name, SITE_MAX_BYTES);
    buf_init(&value, SITE_MAX_BYTES);
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set_errno(err, errno, "cannot open");
    char some[8192];
    for (size_t got; (got = fread(some, 1, sizeof some, file)) > 0;)
        buf_append(&text, some, got);
    bool failed = ferror(file);
    fclose(file);
    if (failed || buf_failed(&text))
        return err_set(err, failed ? ERR_IO : ERR_LIMIT, failed ? "cannot be read" : "larger than a file of properties is");
    struct xml xml;
    enum xml_event event;
    bool in_name = false, in_value = false;
    xml_init(&xml, buf_str(&text));
    while ((event = xml_next(&xml)) > XML_END) {
        if (event == XML_TEXT && (in_name || in_value)) {
            if (xml_text(&xml, in_name ? &name : &value))
                return err_set(err, ERR_CORRUPT, "not the XML of properties");
            continue;
        }
        if (event == XML_OPEN && str_is(xml.name, "property")) {
            buf_clear(&name);
            buf_clear(&value);
        }
        in_name = event == XML_OPEN && str_is(xml.name, "name");
        in_value = event == XML_OPEN && str_is(xml.name, "value");
        if (event == XML_CLOSE && str_is(xml.name, "property") && name.len > 0) {
            enum err_code rc = place_config_set(xml_trim(buf_str(&name)), xml_trim(buf_str(&value)), err);
            if (rc)
                return rc;
        }
    }
    return event == XML_END ? ERR_OK : err_set(err, ERR_CORRUPT, "not the XML of properties");
}

void place_config_clear(void)
{
    if (!ready)
        return;
    smap_dispose(&values);
    arena_dispose(&texts);
    ready = false;
}
