/* SPDX-License-Identifier: Apache-2.0 */
#include "server/executor_logs.h"

#include <ctype.h>

#include "base/units.h"

static const char file_name[] = "FILE_NAME", log_files[] = "LOG_FILES";

enum err_code executor_logs_init(struct executor_logs *self, const struct server *server, struct db *db, struct err *err)
{
    const struct log_address_settings *settings = server_log_addresses(server);
    *self = (struct executor_logs){.pattern = STR_NONE};
    buf_init(&self->address, EXECUTOR_LOG_BYTES);
    buf_init(&self->files, EXECUTOR_LOG_BYTES);
    enum err_code rc = db_prepare(db, &self->logged, "SELECT name, value FROM owner_map WHERE owner_kind = 0 AND owner = ?1 AND map = 0 ORDER BY ordinal", err);
    if (rc || !settings->pattern)
        return rc;
    if (!settings->complete_only) {
        self->pattern = str_of(settings->pattern);
    } else {
        int64_t complete;
        if ((rc = db_query_i64(db, "SELECT count(*) FROM log_health WHERE complete = 1", &complete, err)))
            return rc;
        if (complete)
            self->pattern = str_of(settings->pattern);
    }
    return db_prepare(db, &self->attribute, "SELECT value FROM owner_map WHERE owner_kind = 0 AND owner = ?1 AND map = 1 AND name = ?2 ORDER BY ordinal DESC LIMIT 1", err);
}

void executor_logs_dispose(struct executor_logs *self)
{
    db_finalize(self->logged);
    db_finalize(self->attribute);
    buf_dispose(&self->address);
    buf_dispose(&self->files);
}

/* Appends an attribute. *ret_there: there is one. */
static enum err_code append_attribute(struct executor_logs *self, int64_t executor_ref, struct str name, struct buf *out, bool *ret_there, struct err *err)
{
    db_bind_i64(self->attribute, 1, executor_ref);
    db_bind_str(self->attribute, 2, name);
    enum err_code rc = db_step(self->attribute, err);
    *ret_there = rc == ERR_OK && !db_is_null(self->attribute, 0);
    if (*ret_there) {
        struct str value = db_str(self->attribute, 0);
        buf_append(out, value.ptr, value.len);
    }
    db_reset(self->attribute);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The name in a {{NAME}} that the text begins with; of length 0: there is none. */
static struct str placeholder(struct str text)
{
    size_t end = 2;
    if (!str_starts(text, "{{"))
        return (struct str){text.ptr, 0};
    while (end < text.len && (isalnum((unsigned char)text.ptr[end]) || text.ptr[end] == '_' || text.ptr[end] == '-'))
        end++;
    bool closed = text.len - end >= 2 && text.ptr[end] == '}' && text.ptr[end + 1] == '}';
    return (struct str){text.ptr + 2, closed ? end - 2 : 0};
}

/* The pattern filled for one file into `address`. *ret_there: every attribute was. *ret_by_file: the file's name is in it. */
static enum err_code fill(struct executor_logs *self, int64_t executor_ref, struct str file, bool *ret_there, bool *ret_by_file, struct err *err)
{
    buf_clear(&self->address);
    *ret_there = true;
    *ret_by_file = false;
    for (struct str rest = self->pattern; rest.len && *ret_there;) {
        struct str name = placeholder(rest);
        size_t used = name.len ? name.len + 4 : 1;
        if (!name.len) {
            buf_char(&self->address, rest.ptr[0]);
        } else if (str_is(name, file_name)) {
            buf_append(&self->address, file.ptr, file.len);
            *ret_by_file = true;
        } else if (str_is(name, log_files)) {        /* is for FILE_NAME alone */
            *ret_there = false;
        } else {
            enum err_code rc = append_attribute(self, executor_ref, name, &self->address, ret_there, err);
            if (rc)
                return rc;
        }
        rest = (struct str){rest.ptr + used, rest.len - used};
    }
    return ERR_OK;
}

static void give(struct executor_logs *self, struct str name, executor_log_fn *take, void *context)
{
    if (!buf_failed(&self->address))
        take(context, name, buf_str(&self->address));
}

static struct str first_file(struct str files)
{
    const char *comma = files.len ? memchr(files.ptr, ',', files.len) : NULL;
    return (struct str){files.ptr, comma ? (size_t)(comma - files.ptr) : files.len};
}

static bool named_before(struct str files, struct str file)
{
    while (files.ptr < file.ptr) {
        struct str first = first_file(files);
        if (str_eq(first, file))
            return true;
        files = (struct str){files.ptr + first.len + 1, files.len - first.len - 1};
    }
    return false;
}

static enum err_code give_files(struct executor_logs *self, int64_t executor_ref, executor_log_fn *take, void *context, struct err *err)
{
    struct str files = buf_str(&self->files);
    bool empty = files.len == 0, there, by_file;         /* an empty text is one empty name; else empty ones at the end do not count */
    while (files.len && files.ptr[files.len - 1] == ',')
        files.len--;
    struct str rest = files;
    for (size_t i = 0; i < EXECUTOR_LOG_FILES && (rest.len || empty); i++) {
        struct str file = first_file(rest);
        enum err_code rc = fill(self, executor_ref, file, &there, &by_file, err);
        if (rc)
            return rc;
        if (!named_before(files, file))
            give(self, file, take, context);
        if (file.len == rest.len)
            break;
        rest = (struct str){rest.ptr + file.len + 1, rest.len - file.len - 1};
    }
    return ERR_OK;
}

static enum err_code give_logged(struct executor_logs *self, int64_t executor_ref, executor_log_fn *take, void *context, struct err *err)
{
    enum err_code rc;
    db_bind_i64(self->logged, 1, executor_ref);
    while ((rc = db_step(self->logged, err)) == ERR_OK)
        take(context, db_str(self->logged, 0), db_str(self->logged, 1));
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code executor_logs_each(struct executor_logs *self, int64_t executor_ref, executor_log_fn *take, void *context, struct err *err)
{
    bool there, by_file;
    if (!str_known(self->pattern))
        return give_logged(self, executor_ref, take, context, err);
    enum err_code rc = fill(self, executor_ref, STR_LIT(""), &there, &by_file, err);
    if (rc == ERR_OK && there && by_file) {
        buf_clear(&self->files);
        rc = append_attribute(self, executor_ref, STR_LIT("LOG_FILES"), &self->files, &there, err);
    }
    if (rc)
        return rc;
    if (!there || buf_failed(&self->files))
        return give_logged(self, executor_ref, take, context, err);
    if (by_file)
        return give_files(self, executor_ref, take, context, err);
    give(self, STR_LIT("log"), take, context);
    return ERR_OK;
}
