/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "cli/cli.h"
#include "ingest/worker.h"

void cli_policy(const struct cli *self, struct worker_policy *ret)
{
    const struct settings *s = self->settings;
    *ret = (struct worker_policy){
        .load_opened = settings_text(s, SETTING_LOAD)[0] == 'o',
        .cleaner = settings_i64(s, SETTING_CLEANER) == 1,
        .clean_interval_ms = settings_i64(s, SETTING_CLEANER_INTERVAL),
        .clean = {.max_age_ms = settings_i64(s, SETTING_CLEANER_MAX_AGE), .max_count = settings_i64(s, SETTING_CLEANER_MAX_NUM),
                  .abandoned = settings_i64(s, SETTING_CLEANER_ABANDONED) == 1, .abandoned_after_ms = settings_i64(s, SETTING_ABANDONED_AGE)},
        .max_memory_bytes = known_or(settings_i64(s, SETTING_LOAD_MAX_MEMORY), 0),
        .store = {.max_bytes = known_or(settings_i64(s, SETTING_STORE_MAX_BYTES), 0), .max_age_ms = known_or(settings_i64(s, SETTING_STORE_MAX_AGE), 0)},
    };
}
