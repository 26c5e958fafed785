/* SPDX-License-Identifier: Apache-2.0
 *
 * From what an address says to a run: the one place that decides which application attempt is meant and whether it can be read. Used by both APIs and by redirects. */
#ifndef SERVER_APP_LOOKUP_H
#define SERVER_APP_LOOKUP_H

#include "server/api_context.h"
#include "server/db_pool.h"

#define APP_ETAG_BYTES 96

struct app_ref {
    struct db_lease lease;           /* of the app's database; return it with app_ref_dispose */
    struct str key, app_id, attempt_id;      /* arena of the request; attempt STR_NONE: has none */
    int64_t generation;
    int64_t log_id;
    struct str state, reason;        /* of its log (schema.sql, log.state); reason STR_NONE: none */
    bool loaded;                     /* false: the file is still being filled */
    bool other_version;              /* the file is of another version of this program: its log is to be loaded anew, where it is still there */
    char etag[APP_ETAG_BYTES];       /* with quotes; of answers about a loaded run: changes with its load, its row in the list, other runs of its id, and the program */
};

/* Does `rc` of db_pool_catalog say that there is no catalogue yet: just being made, or about to be made anew because another version wrote it, by a process that tells if it cannot? */
bool catalog_is_to_come(struct server *server, enum err_code rc);
/* The catalogue, to look for a run in. ERR_BUSY: it is being made, so that nobody can say yet which runs there are. ERR_NOT_FOUND: there is none, nor a process that would make it. */
enum err_code app_catalog(struct api_ctx *ctx, struct db_lease *ret, struct err *err) WARN_UNUSED;

/* The History Server's rule (spec/core.md §3.2): an application whose attempts have ids is addressed with `attempt`, one without is addressed without (STR_NONE).
 * Of copies in several places the best counts: complete, then larger, then newer; of added logs APP_ANSWERS_TO_ID tells. ERR_NOT_FOUND: no such. ERR_BUSY: known but nothing of it is readable yet
 * (it was marked wanted); *ret then holds everything but the lease, or nothing where app_catalog is busy. Dispose in every case. */
enum err_code app_lookup_v1(struct api_ctx *ctx, const struct request *request, struct str app, struct str attempt, struct app_ref *ret, struct err *err) WARN_UNUSED;

/* Our rule: store key, application id (its newest attempt), or "id.attempt", in that order. The same results. */
enum err_code app_lookup(struct api_ctx *ctx, const struct request *request, struct str ref, struct app_ref *ret, struct err *err) WARN_UNUSED;

/* The same without opening or wanting it: *ret holds everything but the lease, whatever the state. */
enum err_code app_find(struct api_ctx *ctx, const struct request *request, struct str ref, struct app_ref *ret, struct err *err) WARN_UNUSED;

/* The History Server's rule for pages (spec/files.md §6.1, §6.7): `segment` is what follows the application in the address (STR_NONE: nothing). It names the attempt where there is
 * one of that id, and where it is a number and the application has an attempt without an id (YARN always writes one); *ret_names_attempt says so. Else the newest attempt is
 * meant, unless the segment is a number: then there is no such. *ret: the shortest reference that app_lookup brings back to it, in the request's arena. ERR_NOT_FOUND. */
enum err_code app_lookup_history(struct api_ctx *ctx, const struct request *request, struct str app, struct str segment, struct str *ret, bool *ret_names_attempt,
                                 struct err *err) WARN_UNUSED;

/* SQL: can the application id of row `t` of table app mean it? A run from a log directory always. One that was added says itself which it is: only where no log directory has a run of the
 * id, and only to those who may see it (`user` and `groups` as for may_see, access.h); otherwise it has nothing but its key, and stands in nobody's way. */
#define APP_ANSWERS_TO_ID(t, user, groups) \
    "(NOT " DB_IS_ADDED(t ".app_key") " OR ((" user " IS NULL OR may_see(" user ", " groups ", " t ".user, " t ".view_users, " t ".view_groups)) AND NOT EXISTS " \
    "(SELECT 1 FROM app d WHERE d.app_id = " t ".app_id AND NOT " DB_IS_ADDED("d.app_key") ")))"

/* SQL: how many runs the id of row a of table app could mean, and its id and attempt; 2 where it means others. For app_ref_text. */
#define APP_SAME(and) \
    "iif(" DB_IS_ADDED("a.app_key") " AND EXISTS (SELECT 1 FROM app d WHERE d.app_id = a.app_id AND NOT " DB_IS_ADDED("d.app_key") "), 2, " \
    "(SELECT count(*) FROM app o WHERE o.app_id = a.app_id AND " DB_IS_ADDED("o.app_key") " = " DB_IS_ADDED("a.app_key") and "))"
#define APP_SAME_ID APP_SAME("")
#define APP_SAME_ATTEMPT APP_SAME(" AND o.attempt_id IS a.attempt_id")

/* How many runs of the list have its id, and its id and attempt: from that the shortest text that app_lookup takes for this run. In `out` or borrowed. */
#define APP_REF_BYTES 1024
struct str app_ref_text(struct str id, struct str attempt, struct str key, int64_t same_id, int64_t same_attempt, char *out);

/* May the request's viewer see what the address names? Every run that it could mean is asked about: all copies, and all attempts where `attempt` is STR_NONE. A run that is not
 * there is nobody's secret: true. */
enum err_code app_allowed_v1(struct api_ctx *ctx, const struct request *request, struct str app, struct str attempt, bool *ret, struct err *err) WARN_UNUSED;
enum err_code app_allowed(struct api_ctx *ctx, const struct request *request, struct str ref, bool *ret, struct err *err) WARN_UNUSED;

/* Does the list have a run that `ref` may mean, as app_lookup reads it? A list that cannot be read: true, for then nobody need look further. */
bool app_is_listed(struct api_ctx *ctx, const struct request *request, struct str ref);
/* It was put away to hold the store's budget, or its file is of another version, and its log is gone: there is nothing to wait for, only its row in the list. */
bool app_ref_is_lost(const struct app_ref *ref);

void app_ref_dispose(struct api_ctx *ctx, struct app_ref *ref);      /* idempotent */

#endif
