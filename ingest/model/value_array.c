/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/value_array.h"

#include <string.h>

#include "base/mem.h"
#include "ingest/model/bit_set.h"

#define CHUNK_VALUES ((int64_t)1024)
#define MAX_CHUNKS ((size_t)(BIT_SET_MAX / CHUNK_VALUES))

/* Values are stored as 1 + zigzag(value), little endian; 0: never set. */
struct value_chunk {
    uint32_t count, width;
    unsigned char bytes[];           /* count × width */
};

static uint64_t encode(int64_t value)
{
    return (((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0)) + 1;
}

static int64_t decode(uint64_t code)
{
    code--;
    return (int64_t)(code >> 1 ^ (code & 1 ? UINT64_MAX : 0));
}

static uint64_t load(const struct value_chunk *chunk, size_t at)
{
    uint64_t code = 0;
    memcpy(&code, chunk->bytes + at * chunk->width, chunk->width);
    return code;
}

static void store(struct value_chunk *chunk, size_t at, uint64_t code)
{
    memcpy(chunk->bytes + at * chunk->width, &code, chunk->width);
}

static uint32_t width_of(uint64_t code)
{
    return code ? (uint32_t)(71 - __builtin_clzll(code)) / 8 : 1;
}

static struct value_chunk *new_chunk(uint32_t count, uint32_t width, size_t *bytes)
{
    struct value_chunk *chunk = mem_zalloc(sizeof *chunk + (size_t)count * width);
    if (!chunk)
        return NULL;
    chunk->count = count;
    chunk->width = width;
    *bytes += (size_t)count * width;
    return chunk;
}

static int grow_list(struct value_array *self, size_t need, size_t *bytes)
{
    size_t before = self->chunk_capacity;
    if (mem_grow((void **)&self->chunks, &self->chunk_capacity, need, MAX_CHUNKS, sizeof *self->chunks))
        return -1;
    *bytes += (self->chunk_capacity - before) * sizeof *self->chunks;
    memset(self->chunks + self->chunk_count, 0, (need - self->chunk_count) * sizeof *self->chunks);
    self->chunk_count = need;
    return 0;
}

int value_array_set(struct value_array *self, int64_t index, int64_t value, size_t *bytes)
{
    size_t chunk_no = (size_t)(index / CHUNK_VALUES), at = (size_t)(index % CHUNK_VALUES);
    uint64_t code = encode(value);
    uint32_t width = width_of(code);
    if (chunk_no >= self->chunk_count && grow_list(self, chunk_no + 1, bytes))
        return -1;
    struct value_chunk *chunk = self->chunks[chunk_no];
    if (!chunk || chunk->width < width) {
        int64_t left = self->length - (int64_t)chunk_no * CHUNK_VALUES;
        struct value_chunk *wider = new_chunk((uint32_t)MIN(left, CHUNK_VALUES), width, bytes);
        if (!wider)
            return -1;
        for (size_t i = 0; chunk && i < chunk->count; i++)
            store(wider, i, load(chunk, i));
        *bytes -= chunk ? (size_t)chunk->count * chunk->width : 0;
        mem_free(chunk);
        self->chunks[chunk_no] = chunk = wider;
    }
    self->set_count += load(chunk, at) == 0;
    store(chunk, at, code);
    return 0;
}

size_t value_array_gather(const struct value_array *self, int64_t *ret)
{
    size_t count = 0;
    for (size_t c = 0; c < self->chunk_count; c++) {
        const struct value_chunk *chunk = self->chunks[c];
        for (size_t i = 0; chunk && i < chunk->count; i++) {
            uint64_t code = load(chunk, i);
            if (code)
                ret[count++] = decode(code);
        }
    }
    return count;
}

void value_array_dispose(struct value_array *self)
{
    for (size_t i = 0; i < self->chunk_count; i++)
        mem_free(self->chunks[i]);
    mem_free(self->chunks);
    *self = (struct value_array){.length = self->length};
}
