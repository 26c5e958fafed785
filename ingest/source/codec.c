/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/codec.h"

#include <string.h>
#include <strings.h>

/* spec/files.md 2.7, in its order. */
static const struct codec *const with_magic[] = {&codec_zstd, &codec_lz4block, &codec_snappy, &codec_lzf, &codec_gzip, &codec_lz4frame};

/* What people and programs append to names; .zst and .gz are what the command-line tools leave behind. */
static const struct {
    const char *suffix;
    const struct codec *codec;
} suffixes[] = {
    {"zstd", &codec_zstd}, {"zst", &codec_zstd}, {"lz4", &codec_lz4block}, {"snappy", &codec_snappy}, {"lzf", &codec_lzf}, {"gz", &codec_gzip},
};

const struct codec *codec_sniff(const uint8_t *head, size_t len, bool *ret_undecided)
{
    *ret_undecided = len == 0;
    for (size_t i = 0; len > 0 && i < ARRAY_LENGTH(with_magic); i++) {
        if (!with_magic[i]->sniff(head, MIN(len, (size_t)CODEC_SNIFF_BYTES)))
            continue;
        *ret_undecided = len < CODEC_SNIFF_BYTES;
        return with_magic[i];
    }
    return &codec_none;
}

const struct codec *codec_of_suffix(const char *suffix, size_t len)
{
    for (size_t i = 0; i < ARRAY_LENGTH(suffixes); i++)
        if (strlen(suffixes[i].suffix) == len && strncasecmp(suffixes[i].suffix, suffix, len) == 0)
            return suffixes[i].codec;
    return NULL;
}
