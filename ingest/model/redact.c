/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/redact.h"

#include <strings.h>

#include "base/redact.h"
#include "base/redact_pattern.h"

int redact_item(struct arena *arena, struct kv *item)
{
    if (!str_known(item->value))
        return 0;
    if (!redact_is_secret(item->name) && !redact_is_secret(item->value))
        return redact_text(arena, item->value, &item->value);
    item->value = STR_LIT(REDACTED);
    return 0;
}

int redact_list(struct arena *arena, struct kv_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (redact_item(arena, &list->items[i]))
            return -1;
    return 0;
}

static bool has_url(struct str text)
{
    for (size_t i = 0; i + 3 <= text.len; i++)
        if (strncasecmp(text.ptr + i, "url", 3) == 0)
            return true;
    return false;
}

static bool is_option(struct str text)
{
    return has_url(text) || redact_pattern_finds(REDACT_SQL_OPTIONS, text);
}

int redact_sql_configs(struct arena *arena, struct kv_list *list)
{
    if (redact_list(arena, list))
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        struct kv *item = &list->items[i];
        if (str_known(item->value) && (is_option(item->name) || is_option(item->value)))
            item->value = STR_LIT(REDACTED);
    }
    return 0;
}
