/* SPDX-License-Identifier: Apache-2.0
 *
 * What a name node says of a file, and of those in a directory: FileStatus and lists of it. */
#include "place/webhdfs_parts.h"

#include <string.h>

#include "base/json_pull.h"
#include "base/mem.h"
#include "base/units.h"

#define ANSWER_MAX_BYTES ((size_t)256 << 20) /* a listing without batches: 100,000 names take 35 MB */
#define BATCHES_MAX 1000000

enum { STATUS_NAME, STATUS_TYPE, STATUS_LENGTH, STATUS_TIME, STATUS_ID };
static const struct json_key status_keys[] = {JSON_KEY("fileId", STATUS_ID), JSON_KEY("length", STATUS_LENGTH), JSON_KEY("modificationTime", STATUS_TIME),
                                              JSON_KEY("pathSuffix", STATUS_NAME), JSON_KEY("type", STATUS_TYPE)};

/* The reader stands before a FileStatus. The name is owned; NULL: out of memory, or none was said. */
static struct place_child read_status(struct json_pull *in, uint64_t device)
{
    struct place_child child = {.kind = CHILD_SPECIAL, .bytes = UNKNOWN, .modified_ms = UNKNOWN, .device = device};
    struct json_object o;
    if (!json_object_begin(in, &o, KEYS(status_keys)))
        return child;
    for (int key; (key = json_next(in, &o)) >= 0;) {
        struct str text;
        switch (key) {
        case STATUS_NAME:
            text = json_str(in);
            mem_free(child.name);
            child.name = text.ptr ? mem_strndup(text.ptr, MIN(text.len, strnlen(text.ptr, text.len))) : NULL;
            break;
        case STATUS_TYPE:
            text = json_str(in);
            child.kind = str_is(text, "FILE") ? CHILD_FILE : str_is(text, "DIRECTORY") ? CHILD_DIRECTORY : CHILD_SPECIAL;
            break;
        case STATUS_LENGTH: child.bytes = json_count(in); break;
        case STATUS_TIME: child.modified_ms = json_count(in); break;
        case STATUS_ID: child.inode = (uint64_t)known_or(json_count(in), 0); break;
        default: json_skip(in);
        }
    }
    return child;
}

static uint64_t device_of(const struct place_uri *uri)
{
    return place_hash(webhdfs_authority(uri), STR_NONE);
}

/* A cluster older than 2.x says no fileId (or 0): the path tells files apart. */
static void name_file(struct place_child *child, const struct place_uri *uri, const char *name)
{
    if (child->inode == 0)
        child->inode = place_hash(str_of(uri->path), str_of(name));
}

enum err_code webhdfs_status(const struct place_uri *uri, struct place_child *ret, struct err *err)
{
    enum { STATUS };
    static const struct json_key outer[] = {JSON_KEY("FileStatus", STATUS)};
    CLEANUP(buf_dispose) struct buf body;
    buf_init(&body, WEBHDFS_SMALL_BYTES);
    enum err_code rc = webhdfs_ask(uri, NULL, "op=GETFILESTATUS", &body, err);
    if (rc)
        return rc;
    struct arena scratch;
    struct json_pull in;
    struct json_object o;
    bool found = false;
    arena_init(&scratch, WEBHDFS_SCRATCH_BYTES);
    json_pull_init(&in, buf_str(&body), &scratch);
    if (json_object_begin(&in, &o, KEYS(outer)))
        for (int key; (key = json_next(&in, &o)) >= 0;) {
            if (key != STATUS || found) {
                json_skip(&in);
                continue;
            }
            *ret = read_status(&in, device_of(uri));
            found = true;
        }
    mem_free(TAKE(ret->name));
    rc = in.failed || !found ? err_set(err, in.failed == ERR_NOMEM ? ERR_NOMEM : ERR_IO, "GETFILESTATUS: the answer is not what it should be") : ERR_OK;
    arena_dispose(&scratch);
    name_file(ret, uri, "");
    return rc;
}

struct webhdfs_listing {
    struct place_children *children;
    const struct place_uri *dir;
    int64_t remaining; /* names that follow; UNKNOWN: it was no batch */
    size_t before;     /* children of earlier batches */
};

static enum err_code add_statuses(struct webhdfs_listing *self, struct json_pull *in, struct err *err)
{
    enum { LIST };
    static const struct json_key keys[] = {JSON_KEY("FileStatus", LIST)};
    struct json_object o;
    if (!json_object_begin(in, &o, KEYS(keys)))
        return ERR_OK;
    enum err_code rc = ERR_OK;
    uint64_t device = device_of(self->dir);
    for (int key; (key = json_next(in, &o)) >= 0;) {
        if (key != LIST || !json_array_begin(in)) {
            if (key != LIST)
                json_skip(in);
            continue;
        }
        while (!rc && json_array_next(in)) {
            struct place_child child = read_status(in, device);
            if (!child.name && !in->failed)
                return err_set(err, ERR_IO, "LISTSTATUS: a file without a name");
            if (in->failed) {
                mem_free(child.name);
                break;
            }
            name_file(&child, self->dir, child.name);
            rc = place_children_add(self->children, &child, err);
        }
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* {"FileStatuses":{"FileStatus":[…]}}, or {"DirectoryListing":{"partialListing":{"FileStatuses":…},"remainingEntries":n}}. */
static enum err_code read_listing(struct webhdfs_listing *self, struct str body, struct err *err)
{
    enum { STATUSES, DIRECTORY };
    enum { PARTIAL, REMAINING };
    static const struct json_key outer[] = {JSON_KEY("FileStatuses", STATUSES), JSON_KEY("DirectoryListing", DIRECTORY)};
    static const struct json_key batch[] = {JSON_KEY("partialListing", PARTIAL), JSON_KEY("remainingEntries", REMAINING)};
    static const struct json_key partial[] = {JSON_KEY("FileStatuses", STATUSES)};
    struct arena scratch;
    struct json_pull in;
    struct json_object o, d, p;
    bool found = false;
    enum err_code rc = ERR_OK;
    arena_init(&scratch, ANSWER_MAX_BYTES);
    json_pull_init(&in, body, &scratch);
    self->remaining = UNKNOWN;
    self->before = self->children->count;
    if (json_object_begin(&in, &o, KEYS(outer)))
        for (int key; !rc && (key = json_next(&in, &o)) >= 0;) {
            if (key == STATUSES) {
                found = true;
                rc = add_statuses(self, &in, err);
            } else if (key == DIRECTORY && json_object_begin(&in, &d, KEYS(batch))) {
                for (int part; !rc && (part = json_next(&in, &d)) >= 0;) {
                    if (part == REMAINING) {
                        self->remaining = json_count(&in);
                    } else if (part != PARTIAL) {
                        json_skip(&in);
                    } else if (json_object_begin(&in, &p, KEYS(partial))) {
                        for (int inner; !rc && (inner = json_next(&in, &p)) >= 0;) {
                            if (inner != STATUSES) {
                                json_skip(&in);
                                continue;
                            }
                            found = true;
                            rc = add_statuses(self, &in, err);
                        }
                    }
                }
            } else if (key != DIRECTORY) {
                json_skip(&in);
            }
        }
    if (!rc && (in.failed || !found))
        rc = err_set(err, in.failed == ERR_NOMEM ? ERR_NOMEM : ERR_IO, "LISTSTATUS: the answer is not what it should be");
    arena_dispose(&scratch);
    return rc;
}

/* In batches where the server knows them (3.0), so that a directory of 100,000 neither blocks a name node nor fills our memory. */
enum err_code webhdfs_list_names(const struct place_uri *dir, struct place_children *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf body, query;
    buf_init(&body, ANSWER_MAX_BYTES);
    buf_init(&query, WEBHDFS_URL_BYTES);
    struct webhdfs_listing answer = {.children = ret, .dir = dir};
    for (int batch = 0; batch < BATCHES_MAX; batch++) {
        buf_clear(&query);
        buf_text(&query, "op=LISTSTATUS_BATCH");
        if (ret->count > 0) {
            buf_text(&query, "&startAfter=");
            place_escape(&query, str_of(ret->items[ret->count - 1].name), false);
        }
        if (buf_failed(&query))
            return err_set(err, ERR_LIMIT, "LISTSTATUS_BATCH: a name that is too long");
        struct err why = {0};
        enum err_code rc = webhdfs_ask(dir, NULL, query.data, &body, &why);
        if (rc == ERR_UNSUPPORTED && batch == 0) {
            rc = webhdfs_ask(dir, NULL, "op=LISTSTATUS", &body, err);
            return rc ? rc : read_listing(&answer, buf_str(&body), err);
        }
        if (rc)
            return err_set(err, rc, "%s", why.message);
        if ((rc = read_listing(&answer, buf_str(&body), err)))
            return rc;
        if (known_or(answer.remaining, 0) == 0)
            return ERR_OK;
        if (ret->count == answer.before)
            return err_set(err, ERR_IO, "LISTSTATUS_BATCH: names are promised and none comes");
    }
    return err_set(err, ERR_LIMIT, "LISTSTATUS_BATCH: no end");
}
