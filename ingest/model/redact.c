/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/redact.h"

#include <string.h>
#include <strings.h>

#define REDACTED "*********(redacted)"

static bool is_secret(struct str text)
{
    static const char *const words[] = {"secret", "password", "token", "accesskey", "access.key", "credential"};
    for (size_t i = 0; i < text.len; i++) {
        char c = (char)(text.ptr[i] | 0x20);
        if (c != 's' && c != 'p' && c != 't' && c != 'a' && c != 'c')
            continue;
        for (size_t w = 0; w < ARRAY_LENGTH(words); w++) {
            size_t len = strlen(words[w]);
            if (text.len - i >= len && strncasecmp(text.ptr + i, words[w], len) == 0)
                return true;
        }
    }
    return false;
}

static bool has_url(struct str text)
{
    for (size_t i = 0; i + 3 <= text.len; i++)
        if (strncasecmp(text.ptr + i, "url", 3) == 0)
            return true;
    return false;
}

void redact_sql_configs(struct kv_list *list)
{
    redact_list(list);
    for (size_t i = 0; i < list->count; i++) {
        struct kv *item = &list->items[i];
        if (str_known(item->value) && (has_url(item->name) || has_url(item->value)))
            item->value = STR_LIT(REDACTED);
    }
}

void redact_list(struct kv_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct kv *item = &list->items[i];
        if (str_known(item->value) && (is_secret(item->name) || is_secret(item->value)))
            item->value = STR_LIT(REDACTED);
    }
}
