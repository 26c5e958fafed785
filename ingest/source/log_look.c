/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_look.h"

#include <string.h>

#include "base/mem.h"
#include "ingest/source/codec.h"
#include "ingest/source/log_text.h"

#define READ_BYTES ((size_t)16 << 10)
#define STORED_MAX_BYTES ((size_t)4 << 20)     /* until some text appears; zstd's first block ends within 128 KiB, an lz4 block may be larger */

struct look {
    look_read_fn *read;
    void *context;
    uint8_t *input;              /* READ_BYTES */
    size_t input_len;
    size_t stored_bytes;
    bool ended;
    enum err_code read_failed;   /* ERR_OK, or why `ended` */
    char *text;                  /* LOG_TEXT_HEAD_BYTES */
    size_t text_len;
};

static void read_some(struct look *self, struct err *err)
{
    size_t len;
    enum err_code rc = self->read(self->context, self->input + self->input_len, READ_BYTES - self->input_len, &len, err);
    if (rc == ERR_OK) {
        self->input_len += len;
        self->stored_bytes += len;
        return;
    }
    self->ended = true;
    if (rc != ERR_EOF)
        self->read_failed = rc;
}

/* Decodes until there is an event, enough text without one, or no more input. */
static enum err_code look_inside(struct look *self, const struct codec *codec, bool *ret_found, struct err *err)
{
    struct decoder *decoder;
    *ret_found = false;
    if (codec->open(&decoder) != ERR_OK)
        return err_nomem(err);
    enum err_code rc = ERR_OK;
    bool more = true;
    while (more && self->text_len < LOG_TEXT_HEAD_BYTES && self->stored_bytes <= STORED_MAX_BYTES) {
        struct codec_io io = {
            .in = self->input,
            .in_len = self->input_len,
            .out = (uint8_t *)self->text + self->text_len,
            .out_len = LOG_TEXT_HEAD_BYTES - self->text_len,
            .last = self->ended,
        };
        struct codec_damage damage;
        enum codec_status status = codec->decode(decoder, &io, &damage);
        memmove(self->input, self->input + io.in_used, self->input_len - io.in_used);
        self->input_len -= io.in_used;
        self->text_len += io.out_used;
        if (status == CODEC_OUT_OF_MEMORY) {
            rc = err_nomem(err);
            break;
        }
        if (io.out_used > 0 && (*ret_found = log_text_has_event(self->text, self->text_len)))
            break;
        if (status == CODEC_MORE) {
            more = !self->ended;
            if (more)
                read_some(self, err);
        }
    }
    codec->close(decoder);
    return rc;
}

static enum err_code judge(struct look *self, enum look_verdict *ret, const char **ret_reason, struct err *err)
{
    static const uint8_t zip_magic[4] = {'P', 'K', 3, 4};
    bool undecided, found;
    *ret = LOOK_NOT_A_LOG;
    *ret_reason = "not an event log";
    while (self->input_len < CODEC_SNIFF_BYTES && !self->ended)
        read_some(self, err);
    if (self->input_len >= sizeof zip_magic && memcmp(self->input, zip_magic, sizeof zip_magic) == 0) {
        *ret = LOOK_ZIP;
        return ERR_OK;
    }
    const struct codec *codec = codec_sniff(self->input, self->input_len, &undecided);
    enum err_code rc = look_inside(self, codec, &found, err);
    if (rc != ERR_OK)
        return rc;
    if (found) {
        *ret = LOOK_LOG;
        return ERR_OK;
    }
    if (self->read_failed != ERR_OK)
        return self->read_failed;
    if (codec == &codec_none) {
        *ret_reason = log_text_is_binary(self->text, self->text_len) ? "neither text nor a known compression" : "text without events";
    } else if (self->text_len == 0) {
        *ret = LOOK_NOTHING_YET;
        *ret_reason = "compressed, and none of its text can be read";
    } else {
        *ret_reason = "compressed text without events";
    }
    return ERR_OK;
}

enum err_code log_look(look_read_fn *read, void *context, enum look_verdict *ret, const char **ret_reason, struct err *err)
{
    struct look self = {.read = read, .context = context};
    self.input = mem_alloc(READ_BYTES);
    self.text = mem_alloc(LOG_TEXT_HEAD_BYTES);
    enum err_code rc = self.input && self.text ? judge(&self, ret, ret_reason, err) : err_nomem(err);
    mem_free(self.input);
    mem_free(self.text);
    return rc;
}
