/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attributes.h"

#define PATH_BYTES 128

const char *const lang_names[LANG_COUNT] = {"en", "zh-CN"};

bool lang_find(struct str name, enum lang *ret)
{
    static const struct {
        const char *name;
        enum lang lang;
    } known_names[] = {{"en", LANG_EN}, {"zh", LANG_ZH_CN}, {"zh-CN", LANG_ZH_CN}};
    for (size_t i = 0; i < ARRAY_LENGTH(known_names); i++)
        if (name.len == strlen(known_names[i].name) && strncasecmp(name.ptr, known_names[i].name, name.len) == 0) {
            *ret = known_names[i].lang;
            return true;
        }
    return false;
}

const struct message *messages_all(enum lang lang, size_t *ret_count)
{
    *ret_count = lang == LANG_ZH_CN ? messages_zh_cn_count : messages_en_count;
    return lang == LANG_ZH_CN ? messages_zh_cn : messages_en;
}

static int compare_path(const void *path, const void *entry)
{
    return strcmp(path, ((const struct message *)entry)->path);
}

const char *message(enum lang lang, const char *section, struct str entry, const char *part)
{
    char path[PATH_BYTES];
    size_t count;
    const struct message *all = messages_all(lang, &count);
    if (entry.len >= PATH_BYTES) /* it may come from a log */
        return NULL;
    int len = snprintf(path, sizeof path, "%s/%.*s%s%s", section, (int)entry.len, entry.ptr, part ? "/" : "", part ? part : "");
    const struct message *found = len < 0 || (size_t)len >= sizeof path ? NULL : bsearch(path, all, count, sizeof *all, compare_path);
    return found ? found->text : NULL;
}

const char *message_of(enum lang lang, const char *section, const char *entry)
{
    const char *text = message(lang, section, str_of(entry), NULL);
    return text ? text : entry;
}
