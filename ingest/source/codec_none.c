/* SPDX-License-Identifier: Apache-2.0
 *
 * Text as it is. line_reader reads such files straight into its blocks; this copies what was read to find out that there is nothing to decode. */
#include <string.h>

#include "base/mem.h"
#include "ingest/source/codec.h"

struct decoder_none {
    char unused;
};

static bool sniff(const uint8_t *head, size_t len)
{
    (void)head;
    (void)len;
    return true;
}

static enum err_code none_open(struct decoder **ret)
{
    *ret = mem_zalloc(sizeof(struct decoder_none));
    return *ret ? ERR_OK : ERR_NOMEM;
}

static enum codec_status none_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    (void)self;
    (void)damage;
    size_t len = MIN(io->in_len - io->in_used, io->out_len - io->out_used);
    if (len > 0)
        memcpy(io->out + io->out_used, io->in + io->in_used, len);
    io->in_used += len;
    io->out_used += len;
    return io->in_used == io->in_len ? CODEC_MORE : CODEC_FULL;
}

static enum codec_end none_end(const struct decoder *self, struct codec_damage *damage)
{
    (void)self;
    (void)damage;
    return CODEC_END_CLEAN;
}

static void none_close(struct decoder *self)
{
    mem_free(self);
}

const struct codec codec_none = {
    .id = CODEC_NONE, .name = "none", .can_start_anywhere = true, .sniff = sniff, .open = none_open, .decode = none_decode, .end = none_end, .close = none_close,
};
