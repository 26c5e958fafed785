/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/block_pool.h"

#include <pthread.h>

#include "base/mem.h"

struct block_pool {
    pthread_mutex_t lock;
    size_t block_bytes;
    size_t users;                /* the owner and each block that is out */
    bool closed;
    struct pooled_block *kept;
    size_t kept_count;
};

static size_t line_feeds_of(size_t capacity)
{
    return capacity / LINE_MEAN_MIN_BYTES + 2;   /* one of the text, and one of our own */
}

size_t block_pool_line_feeds(const struct pooled_block *block)
{
    return line_feeds_of(block->capacity);
}

static void free_block(struct pooled_block *block)
{
    mem_free(block->base);
    mem_free(block->line_feeds);
    mem_free(block);
}

static void leave(struct block_pool *self, bool last)
{
    pthread_mutex_unlock(&self->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}

struct block_pool *block_pool_new(size_t block_bytes)
{
    struct block_pool *self = mem_zalloc(sizeof *self);
    if (!self)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    self->block_bytes = block_bytes;
    self->users = 1;
    return self;
}

struct pooled_block *block_pool_take(struct block_pool *self, size_t bytes)
{
    struct pooled_block *block = NULL;
    pthread_mutex_lock(&self->lock);
    if (bytes <= self->block_bytes && self->kept) {
        block = self->kept;
        self->kept = block->next;
        self->kept_count--;
    }
    self->users++;
    pthread_mutex_unlock(&self->lock);
    if (block) {
        block->next = NULL;
        return block;
    }
    block = mem_zalloc(sizeof *block);
    if (block) {
        block->capacity = MAX(bytes, self->block_bytes);
        block->base = mem_alloc(block->capacity + POOL_SLACK);
        block->line_feeds = mem_alloc(line_feeds_of(block->capacity) * sizeof *block->line_feeds);
        block->pool = self;
    }
    if (block && block->base && block->line_feeds)
        return block;
    if (block)
        free_block(block);
    pthread_mutex_lock(&self->lock);
    self->users--;
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

int block_pool_grow(struct pooled_block *block, size_t bytes)
{
    if (bytes <= block->capacity)
        return 0;
    uint32_t *line_feeds = mem_realloc(block->line_feeds, line_feeds_of(bytes) * sizeof *line_feeds);
    if (!line_feeds)
        return -1;
    block->line_feeds = line_feeds;
    char *base = mem_realloc(block->base, bytes + POOL_SLACK);
    if (!base)
        return -1;
    block->base = base;
    block->capacity = bytes;
    return 0;
}

void block_pool_give(struct pooled_block *block)
{
    if (!block)
        return;
    struct block_pool *pool = block->pool;
    pthread_mutex_lock(&pool->lock);
    if (!pool->closed && pool->kept_count < POOL_KEEP && block->capacity == pool->block_bytes) {
        block->next = pool->kept;
        pool->kept = block;
        pool->kept_count++;
        block = NULL;
    }
    bool last = --pool->users == 0;
    leave(pool, last);
    if (block)
        free_block(block);
}

static void free_kept(struct block_pool *self)
{
    while (self->kept) {
        struct pooled_block *next = self->kept->next;
        free_block(self->kept);
        self->kept = next;
    }
    self->kept_count = 0;
}

void block_pool_trim(struct block_pool *self)
{
    pthread_mutex_lock(&self->lock);
    free_kept(self);
    pthread_mutex_unlock(&self->lock);
}

void block_pool_free(struct block_pool *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    free_kept(self);
    self->closed = true;
    bool last = --self->users == 0;
    leave(self, last);
}

void line_block_free(struct line_block *block)
{
    block_pool_give((struct pooled_block *)(void *)block);
}
