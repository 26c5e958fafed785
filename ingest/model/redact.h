/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets of key and value lists, replaced before they reach the store. A value whose key or own text matches Spark's rule (redact_is_secret) is hidden as a whole, as Spark itself
 * would have written it; of any other value the secrets inside it are hidden (base/redact.h), an address with a password for one. */
#ifndef MODEL_REDACT_H
#define MODEL_REDACT_H

#include "base/arena.h"
#include "ingest/event/event.h"

/* In place; new values come into the arena. 0, or -1 when it is full. */
int redact_item(struct arena *arena, struct kv *item) WARN_UNUSED;
int redact_list(struct arena *arena, struct kv_list *list) WARN_UNUSED;

/* A session's settings: also what matches the default of spark.sql.redaction.options.regex, (?i)url, or an operator's own. */
int redact_sql_configs(struct arena *arena, struct kv_list *list) WARN_UNUSED;

#endif
