/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/redact.h"

#include "base/redact.h"

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
