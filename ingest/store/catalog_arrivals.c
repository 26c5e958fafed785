/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/catalog_arrivals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file_copy.h"
#include "ingest/store/catalog_rebuild.h"
#include "ingest/store/catalog_statements.h"

static bool is_in_store(const struct catalog *self, const char *app_key)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/apps/%s.db", self->store_dir, app_key);
    return access(path, F_OK) == 0;
}

/* What the catalogue knows of the log says whether the file tells anything new. */
static enum arrival_end compare(const struct catalog *self, const struct catalog_row *row, const struct run_file *file)
{
    if (row->state == LOG_LOADING)
        return ARRIVAL_LATER;
    bool same = row->bytes == file->stored_bytes && row->modified_ms == file->modified_ms, shown = row->loaded && row->is_source && is_in_store(self, row->app_key);
    if (known(row->removing_ms) || (same && (shown || strstr(row->flags, "forgotten"))))
        return ARRIVAL_DROPPED;
    /* The log went on since the file was made, or is another by now: a load gets all of it. */
    return !same && row->modified_ms > file->modified_ms && row->state != LOG_GONE ? ARRIVAL_DROPPED : ARRIVAL_ADOPTED;
}

/* STORE/arrivals may be another file system than the rest: one that other machines share. The copy has the name of a load that is going on, so that it is cleared away if we are killed. */
static enum err_code bring_over(const struct catalog *self, const char *path, const char *app_key, const char *to, struct err *err)
{
    char copy[4400];
    snprintf(copy, sizeof copy, "%s/apps/%s.loading.db", self->store_dir, app_key);
    enum err_code rc = file_copy(path, copy, true, err);
    if (!rc && rename(copy, to))
        rc = err_set_errno(err, errno, "cannot put the database in place");
    if (rc)
        unlink(copy);
    return rc;
}

static enum err_code move_in(const struct catalog *self, const char *path, const char *app_key, struct err *err)
{
    char to[4400];
    snprintf(to, sizeof to, "%s/apps/%s.db", self->store_dir, app_key);
    db_remove_beside(to); /* of a file that was still being followed */
    if (rename(path, to) == 0)
        return ERR_OK;
    return errno == EXDEV ? bring_over(self, path, app_key, to, err) : err_set_errno(err, errno, "cannot put the database in place");
}

static enum err_code adopt(struct catalog *self, const char *path, const struct run_file *file, int64_t place_id, enum arrival_end *ret, int64_t *ret_log_id, struct err *err)
{
    struct catalog_row row;
    enum sighting_news news;
    int64_t renamed_from, generation;
    bool chosen;
    char fingerprint[256];
    enum err_code rc = catalog_find(self, file->log_path, &row, err);
    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    *ret = rc ? ARRIVAL_ADOPTED : compare(self, &row, file);
    if (*ret != ARRIVAL_ADOPTED)
        return ERR_OK;
    /* The next scan of the log takes a load without a fingerprint for its own when size and time are those of the file. */
    bool seen_so = !rc && row.bytes == file->stored_bytes && row.modified_ms == file->modified_ms && row.fingerprint[0];
    snprintf(fingerprint, sizeof fingerprint, "%s", seen_so ? row.fingerprint : CATALOG_REBUILT);
    const struct catalog_sighting sighting = {.place_id = place_id, .path = file->log_path, .fingerprint = fingerprint, .layout = file->layout, .bytes = file->stored_bytes,
        .modified_ms = file->modified_ms, .finished_name = file->finished_name};
    if ((rc = catalog_see(self, &sighting, false, &news, &renamed_from, &row, err)))
        return rc;
    int64_t log_id = *ret_log_id = row.log_id;
    if ((rc = catalog_listed(self, log_id, file->app_key, &file->run, &chosen, err)) || (rc = catalog_get(self, log_id, &row, err)))
        return rc;
    if (!chosen || !row.app_key || strcmp(row.app_key, file->app_key) != 0) {    /* another copy; or the run has an older key, under which its log is loaded */
        *ret = ARRIVAL_DROPPED;
        return ERR_OK;
    }
    const char *reason = catalog_state_of_flags(file->flags) == LOG_PARTIAL ? file->reason : NULL;
    struct catalog_result result = {.state = catalog_state_of_flags(file->flags), .flags = file->flags, .reason = reason, .read = &sighting, .line_count = file->line_count,
        .bad_line_count = file->bad_line_count, .task_count = file->run.task_count, .load_ms = file->load_ms};
    if ((rc = catalog_load_begin(self, log_id, &generation, err)))
        return rc;
    result.generation = generation;
    if ((rc = catalog_load_done(self, log_id, &result, &file->run, err)))
        return rc;
    return move_in(self, path, file->app_key, err);
}

enum err_code catalog_adopt(struct catalog *self, const char *path, const struct run_file *file, int64_t place_id, enum arrival_end *ret, int64_t *ret_log_id, struct err *err)
{
    bool own;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    if ((rc = catalog_leave(self, own, adopt(self, path, file, place_id, ret, ret_log_id, err), err)))
        return rc;
    return *ret != ARRIVAL_LATER && unlink(path) && errno != ENOENT ? err_set_errno(err, errno, "cannot remove %s", path) : ERR_OK;
}
