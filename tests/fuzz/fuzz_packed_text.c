/* SPDX-License-Identifier: Apache-2.0
 *
 * Blobs of table plan_text of a store that somebody else made: whatever they hold, and whatever length and base their row claims, the text is filled wholly or not at all.
 * Input: two bytes of claimed length, one of the base's length, the base, the frame. What the frame gives is packed again and must come back. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/packed_text.h"

#define HEADER_BYTES 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER_BYTES)
        return 0;
    size_t text_bytes = (size_t)data[0] << 8 | data[1], base_bytes = MIN((size_t)data[2], size - HEADER_BYTES);
    const char *rest = (const char *)data + HEADER_BYTES;
    struct str base = base_bytes ? (struct str){rest, base_bytes} : STR_NONE, packed = {rest + base_bytes, size - HEADER_BYTES - base_bytes};
    struct err err = {0};
    char *text = malloc(text_bytes + 1), *again = malloc(text_bytes + 1);
    require(text && again);
    if (packed_text_unpack(packed, base, text, text_bytes, &err) == ERR_OK) {
        struct buf out;
        buf_init(&out, PACKED_TEXT_MAX_BYTES);
        require(packed_text_pack((struct str){text, text_bytes}, base, &out, &err) == ERR_OK);
        require(packed_text_unpack(buf_str(&out), base, again, text_bytes, &err) == ERR_OK);
        require(memcmp(text, again, text_bytes) == 0);
        buf_dispose(&out);
    } else {
        require(err.code == ERR_CORRUPT);
    }
    free(text);
    free(again);
    return 0;
}
