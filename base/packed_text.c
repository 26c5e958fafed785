/* SPDX-License-Identifier: Apache-2.0 */
#include "base/packed_text.h"

#include <zstd.h>

#define LEVEL 3                      /* 300 MB/s; a level more costs half of that for a twentieth less */
#define SMALLEST_WINDOW_LOG 10
#define LONG_DISTANCE_BYTES ((size_t)1 << 19)        /* from here on the short-distance tables forget the base before the text has come that far */

static void free_packer(ZSTD_CCtx **context)
{
    ZSTD_freeCCtx(*context);
}

static void free_unpacker(ZSTD_DCtx **context)
{
    ZSTD_freeDCtx(*context);
}

/* A window that reaches from the text's end back to the base's beginning. */
static int window_log(size_t bytes)
{
    int log = SMALLEST_WINDOW_LOG;
    while (((size_t)1 << log) < bytes)
        log++;
    return log;
}

enum err_code packed_text_pack(struct str text, struct str base, struct buf *out, struct err *err)
{
    if (text.len > PACKED_TEXT_MAX_BYTES || base.len > PACKED_TEXT_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "text of %zu bytes on one of %zu", text.len, base.len);
    CLEANUP(free_packer) ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(text.len), bytes = text.len + base.len;
    if (!context || !buf_reserve(out, room))
        return err_nomem(err);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log(bytes));
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);         /* zstd itself does not notice another base of the same length */
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, base.len && bytes > LONG_DISTANCE_BYTES);
    if (base.len)
        ZSTD_CCtx_refPrefix(context, base.ptr, base.len);
    size_t packed = ZSTD_compress2(context, out->data + out->len, room, text.ptr, text.len);
    if (ZSTD_isError(packed))            /* room is enough: what is left is memory */
        return err_nomem(err);
    out->len += packed;
    out->data[out->len] = '\0';
    return ERR_OK;
}

enum err_code packed_text_unpack(struct str packed, struct str base, char *ret, size_t text_bytes, struct err *err)
{
    CLEANUP(free_unpacker) ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context)
        return err_nomem(err);
    if (base.len)
        ZSTD_DCtx_refPrefix(context, base.ptr, base.len);
    size_t bytes = ZSTD_decompressDCtx(context, ret, text_bytes, packed.ptr, packed.len);
    if (ZSTD_isError(bytes))
        return err_set(err, ERR_CORRUPT, "packed text: %s", ZSTD_getErrorName(bytes));
    return bytes == text_bytes ? ERR_OK : err_set(err, ERR_CORRUPT, "packed text holds %zu bytes, not %zu", bytes, text_bytes);
}
