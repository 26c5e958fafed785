/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets are replaced before they reach the store: a value whose key or own text matches Spark 4.3's default of spark.redaction.regex,
 * (?i)secret|password|token|access[.]?key|credential (spec/shs-4.3.md), becomes *********(redacted), as Spark itself would have written it. */
#ifndef MODEL_REDACT_H
#define MODEL_REDACT_H

#include "ingest/event/event.h"

void redact_list(struct kv_list *list);      /* in place */

/* A session's settings: also what matches the default of spark.sql.redaction.options.regex, (?i)url. */
void redact_sql_configs(struct kv_list *list);

#endif
