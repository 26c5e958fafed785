/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in a directory, with the true lengths of files that may be open, and what scans remember of both. */
#include "place/webhdfs_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"

#define VIEW_MAX ((size_t)10 << 20)
#define QUIET_ENOUGH 3
#define QUIET_EVERY 60 /* scans until a quiet file is asked for again: ten minutes at the usual interval */

/* What scans remember. Finished rolling logs: their directory's time changes with every name in it, and their files do not grow, so what is in them is asked once. Files that may be
 * open: how long a data node said they are; those that nobody writes any more (killed applications) are not asked for again and again. */
struct webhdfs_view {
    struct imap finished; /* fileId of a directory → struct kept_directory */
    struct imap lengths;  /* fileId of a file → struct kept_length */
    int64_t scan_no;
};

struct kept_directory {
    int64_t modified_ms, scan_no;
    struct place_children children;
};

struct kept_length {
    int64_t reported, bytes, scan_no;
    int quiet; /* times in a row that a data node knew no more than the name node */
};

enum err_code webhdfs_view_new(const struct place_uri *root, void **ret, struct err *err)
{
    (void)root;
    struct webhdfs_view *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    imap_init(&self->finished, VIEW_MAX);
    imap_init(&self->lengths, VIEW_MAX);
    return ERR_OK;
}

static void free_directory(struct kept_directory *kept)
{
    place_children_dispose(&kept->children);
    mem_free(kept);
}

/* What the scan before did not meet is forgotten. */
enum err_code webhdfs_view_begin(void *view, struct err *err)
{
    (void)err;
    struct webhdfs_view *self = view;
    for (size_t i = self->finished.count; i-- > 0;) {
        struct kept_directory *kept = self->finished.entries[i].value;
        if (kept->scan_no < self->scan_no) {
            imap_remove(&self->finished, self->finished.entries[i].key);
            free_directory(kept);
        }
    }
    for (size_t i = self->lengths.count; i-- > 0;) {
        struct kept_length *kept = self->lengths.entries[i].value;
        if (kept->scan_no < self->scan_no) {
            imap_remove(&self->lengths, self->lengths.entries[i].key);
            mem_free(kept);
        }
    }
    self->scan_no++;
    return ERR_OK;
}

void webhdfs_view_free(void *view)
{
    struct webhdfs_view *self = view;
    for (size_t i = 0; i < self->finished.count; i++)
        free_directory(self->finished.entries[i].value);
    for (size_t i = 0; i < self->lengths.count; i++)
        mem_free(self->lengths.entries[i].value);
    imap_dispose(&self->finished);
    imap_dispose(&self->lengths);
    mem_free(self);
}

static enum err_code copy_children(const struct place_children *from, struct place_children *to, struct err *err)
{
    for (size_t i = 0; i < from->count; i++) {
        struct place_child copy = from->items[i];
        enum err_code rc = (copy.name = mem_strndup(copy.name, strlen(copy.name))) ? place_children_add(to, &copy, err) : err_nomem(err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* The true length of a child that may be open, from a data node or from what it said before. */
static enum err_code measure(struct webhdfs_view *view, const struct place_uri *dir, struct place_child *child, struct err *err)
{
    struct kept_length *kept = view ? imap_get(&view->lengths, (int64_t)child->inode) : NULL;
    int64_t reported = known_or(child->bytes, 0);
    if (kept && kept->reported == reported && kept->quiet >= QUIET_ENOUGH && view->scan_no % QUIET_EVERY != 0) {
        kept->scan_no = view->scan_no;
        child->bytes = kept->bytes;
        return ERR_OK;
    }
    char *path = place_join(dir->path, child->name);
    if (!path)
        return err_nomem(err);
    struct place_uri uri = {.scheme = dir->scheme, .authority = dir->authority, .path = path};
    enum err_code rc = webhdfs_true_length(&uri, reported, &child->bytes, err);
    mem_free(path);
    if (rc || !view)
        return rc;
    if (!kept) {
        if (!(kept = mem_zalloc(sizeof *kept)) || imap_put(&view->lengths, (int64_t)child->inode, kept)) {
            mem_free(kept);
            return err_nomem(err);
        }
    }
    kept->quiet = child->bytes > kept->bytes || (child->bytes > reported && child->bytes != kept->bytes) ? 0 : kept->quiet + 1;
    if (child->bytes > reported)
        kept->quiet = 0; /* more can be read than the name node knows: its writer lives */
    kept->reported = reported;
    kept->bytes = child->bytes;
    kept->scan_no = view->scan_no;
    return ERR_OK;
}

/* Of a directory with parts of a rolling log the part with the highest number may be open, as long as no marker says that the application ended. */
static enum err_code measure_open_files(struct webhdfs_view *view, const struct place_uri *dir, struct place_children *children, bool *ret_finished, struct err *err)
{
    struct place_child *newest = NULL;
    int64_t highest = -1;
    bool rolling = false;
    enum err_code rc = ERR_OK;
    *ret_finished = false;
    for (size_t i = 0; i < children->count && !rc; i++) {
        struct place_child *child = &children->items[i];
        if (child->kind != CHILD_FILE)
            continue;
        if (strncmp(child->name, "appstatus_", 10) == 0) {
            rolling = true;
            *ret_finished |= !str_ends(str_of(child->name), ".inprogress");
        } else if (strncmp(child->name, "events_", 7) == 0) {
            long long index = strtoll(child->name + 7, NULL, 10);
            if (index > highest) {
                highest = index;
                newest = child;
            }
        } else if (str_ends(str_of(child->name), ".inprogress")) {
            rc = measure(view, dir, child, err);
        }
    }
    if (!rc && newest && !*ret_finished)
        rc = measure(view, dir, newest, err);
    *ret_finished &= rolling;
    return rc;
}

static enum err_code keep_directory(struct webhdfs_view *view, const struct place_child *status, const struct place_children *children, struct err *err)
{
    struct kept_directory *kept = mem_zalloc(sizeof *kept);
    if (!kept)
        return err_nomem(err);
    *kept = (struct kept_directory){.modified_ms = status->modified_ms, .scan_no = view->scan_no};
    enum err_code rc = copy_children(children, &kept->children, err);
    if (!rc && imap_put(&view->finished, (int64_t)status->inode, kept))
        rc = err_nomem(err);
    if (rc)
        free_directory(kept);
    return rc;
}

enum err_code webhdfs_list(void *view_context, const struct place_uri *dir, const struct place_child *status, struct place_children *ret, struct err *err)
{
    struct webhdfs_view *view = view_context;
    struct kept_directory *kept = view && status ? imap_get(&view->finished, (int64_t)status->inode) : NULL;
    if (kept && kept->modified_ms == status->modified_ms) {
        kept->scan_no = view->scan_no;
        return copy_children(&kept->children, ret, err);
    }
    if (kept) {
        imap_remove(&view->finished, (int64_t)status->inode);
        free_directory(kept);
    }
    bool finished;
    enum err_code rc = webhdfs_list_names(dir, ret, err);
    if (!rc)
        rc = measure_open_files(view, dir, ret, &finished, err);
    return !rc && finished && view && status ? keep_directory(view, status, ret, err) : rc;
}
