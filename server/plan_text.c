/* SPDX-License-Identifier: Apache-2.0 */
#include "server/plan_text.h"

#include "base/packed_text.h"
#include "base/units.h"

/* Steps to the row of one text. */
static enum err_code find(struct plan_text *self, int64_t plan_text_id, struct err *err)
{
    db_reset(self->row);
    db_bind_i64(self->row, 1, plan_text_id);
    enum err_code rc = db_step(self->row, err);
    return rc == ERR_EOF ? err_set(err, ERR_CORRUPT, "plan text %lld is missing", (long long)plan_text_id) : rc;
}

/* Unpacks the row that was found. */
static enum err_code unpack(struct plan_text *self, struct str base, struct buf *into, struct err *err)
{
    int64_t bytes = db_i64(self->row, 1);
    if (bytes < 0 || bytes > (int64_t)PACKED_TEXT_MAX_BYTES)
        return err_set(err, ERR_CORRUPT, "plan text of %lld bytes", (long long)bytes);
    buf_clear(into);
    if (!buf_reserve(into, (size_t)bytes))
        return err_nomem(err);
    enum err_code rc = packed_text_unpack(db_blob(self->row, 2), base, into->data, (size_t)bytes, err);
    into->len = rc ? 0 : (size_t)bytes;
    return rc;
}

enum err_code plan_text_read(struct plan_text *self, struct db *db, int64_t plan_text_id, struct str *ret, struct err *err)
{
    enum err_code rc;
    *ret = STR_NONE;
    if (!known(plan_text_id))
        return ERR_OK;
    if (!self->row) {
        buf_init(&self->text, PACKED_TEXT_MAX_BYTES + 1);
        buf_init(&self->base, PACKED_TEXT_MAX_BYTES + 1);
        if ((rc = db_prepare(db, &self->row, "SELECT base_id, text_bytes, packed FROM plan_text WHERE plan_text_id = ?1", err)))
            return rc;
    }
    if ((rc = find(self, plan_text_id, err)))
        return rc;
    struct str base = STR_NONE;
    int64_t base_id = db_i64(self->row, 0);
    if (known(base_id)) {            /* which has no base itself */
        if ((rc = find(self, base_id, err)) || (rc = unpack(self, STR_NONE, &self->base, err)) || (rc = find(self, plan_text_id, err)))
            return rc;
        base = buf_str(&self->base);
    }
    rc = unpack(self, base, &self->text, err);
    db_reset(self->row);
    if (rc == ERR_OK)
        *ret = self->text.len ? buf_str(&self->text) : STR_LIT("");
    return rc;
}

void plan_text_dispose(struct plan_text *self)
{
    db_finalize(self->row);
    buf_dispose(&self->text);
    buf_dispose(&self->base);
}
