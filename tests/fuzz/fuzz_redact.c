/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets in a hostile text: every value found lies inside the text and behind the one before, and copies hold what is around them. */
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"

#define ARENA_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct str secret, copy;
    size_t before = 0, count = 0, hidden = 0;
    for (size_t position = 0; redact_next(text, &position, &secret); count++) {
        size_t begin = (size_t)(secret.ptr - text.ptr);
        require(begin >= before && secret.len > 0 && begin + secret.len <= size && position >= begin + secret.len && position <= size);
        before = begin + secret.len;
        hidden += secret.len;
    }
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    require(redact_text(&arena, text, &copy) == 0);
    require(copy.len == size - hidden + count * (sizeof REDACTED - 1));
    char *out = malloc(copy.len + 1), small[16];
    require(out && redact_into(text, out, copy.len + 1) == copy.len && (copy.len == 0 || memcmp(out, copy.ptr, copy.len) == 0));
    require(redact_into(text, small, sizeof small) == MIN(copy.len, sizeof small - 1));
    free(out);
    arena_dispose(&arena);
    return 0;
}
