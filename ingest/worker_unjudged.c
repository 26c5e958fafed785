/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_unjudged.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "ingest/worker_outcome.h"

#define ROUND_NS (NS_PER_S / 20) /* finished loads wait no longer than that for the worker's thread */

static enum err_code keep_key(void *context, const char *app_key)
{
    struct worker *self = context;
    char *copy = mem_strndup(app_key, strlen(app_key));
    if (!copy || mem_grow((void **)&self->unjudged.keys, &self->unjudged.capacity, self->unjudged.count + 1, WORKER_MAX_LOGS, sizeof *self->unjudged.keys)) {
        mem_free(copy);
        return ERR_NOMEM;
    }
    self->unjudged.keys[self->unjudged.count++] = copy;
    return ERR_OK;
}

enum err_code worker_unjudged_find(struct worker *self, struct err *err)
{
    enum err_code rc = catalog_each_unjudged(self->catalog, keep_key, self, err);
    if (rc)
        return rc;
    if (self->unjudged.count)
        log_info("%zu runs in the store have no summary in the list: they are judged in the background", self->unjudged.count);
    return ERR_OK;
}

/* A run whose file cannot be read, or was never analysed, stays without; the next start tries again. */
static enum err_code judge(struct worker *self, const char *app_key, struct err *err)
{
    struct run_judgement judgement;
    enum err_code rc = ERR_OK;
    if (!summarise_run(&judgement, self->options->store_dir, app_key, NULL))
        rc = catalog_judged(self->catalog, app_key, judgement.skew_grade, judgement.gc_grade, &judgement.history, &judgement.summary, err);
    run_judgement_dispose(&judgement);
    return rc;
}

enum err_code worker_unjudged_some(struct worker *self, struct err *err)
{
    int64_t until_ns = time_monotonic_ns() + ROUND_NS;
    while (self->unjudged.count && time_monotonic_ns() < until_ns && time_monotonic_ns() >= self->quiet_until_ns) {
        char *key = self->unjudged.keys[self->unjudged.count - 1];
        struct err why = {0};
        enum err_code rc = judge(self, key, &why);
        if (rc && self->options->watch && worker_error_passes(rc)) { /* the disk is full: later */
            self->quiet_until_ns = time_monotonic_ns() + WORKER_RETRY_FIRST_NS;
            return ERR_OK;
        }
        if (rc)
            return worker_hand_on(err, &why, rc);
        mem_free(key);
        self->unjudged.count--;
    }
    return ERR_OK;
}

void worker_unjudged_dispose(struct worker *self)
{
    while (self->unjudged.count)
        mem_free(self->unjudged.keys[--self->unjudged.count]);
    mem_free(self->unjudged.keys);
}
