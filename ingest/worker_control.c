/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/worker_control.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "ingest/store/catalog_policy.h"
#include "ingest/worker_scan.h"
#include "ingest/worker_schedule.h"

static enum err_code want(struct worker *self, int64_t log_id, struct err *err)
{
    struct catalog_row row;
    enum err_code rc = catalog_get(self->catalog, log_id, &row, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    if (row.state == LOG_LOADED || row.state == LOG_PARTIAL) {
        worker_look_again(self, &row);
        return ERR_OK;
    }
    if (row.state != LOG_WAITING && row.state != LOG_LISTED)
        return ERR_OK;
    if ((rc = catalog_want(self->catalog, log_id, err)) || (rc = catalog_get(self->catalog, log_id, &row, err)))
        return rc;
    return worker_put_in_front(self, &row, err);
}

static void obey(struct worker *self, const char *line)
{
    int64_t log_id, place;
    struct err err = {0};
    if (strcmp(line, "scan") == 0)
        lookout_poke(self->lookout, LOOKOUT_ALL);
    else if (strncmp(line, "scan ", 5) == 0 && str_to_i64(str_of(line + 5), &place) && place >= 0 && (size_t)place < self->options->place_count)
        lookout_poke(self->lookout, (size_t)place);
    else if (strncmp(line, "find ", 5) == 0 && line[5])
        lookout_find(self->lookout, line + 5);
    else if (strncmp(line, "want ", 5) == 0 && str_to_i64(str_of(line + 5), &log_id)) {
        if (want(self, log_id, &err))
            log_warning("log %lld could not be put in front: %s", (long long)log_id, err.message);
    } else if (strncmp(line, "opened ", 7) == 0 && str_to_i64(str_of(line + 7), &log_id)) {
        if (catalog_opened(self->catalog, log_id, &err))
            log_warning("log %lld: that it was opened could not be noted: %s", (long long)log_id, err.message);
    } else {
        log_warning("not understood on standard input: %.60s", line);
    }
}

void worker_read_control(struct worker *self)
{
    char bytes[512];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got == 0)
        self->stop = true;                   /* the server is gone */
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            if (self->control.used < sizeof self->control.line - 1)
                self->control.line[self->control.used++] = bytes[i];
            continue;
        }
        self->control.line[self->control.used] = '\0';
        self->control.used = 0;
        obey(self, self->control.line);
    }
}
