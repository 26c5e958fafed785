/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The pages of a block of some size are huge ones where the kernel has them: one fault instead of 512, and one entry of the TLB. Its neighbours on the heap share them. */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static atomic_uint_fast64_t counted, fail_nth;
static atomic_int fail_forever;

void mem_begin(void)
{
    malloc_trim(0);    /* not mallopt alone: the address sanitizer has a mallopt of its own, which leaves glibc's malloc as it was */
    mallopt(M_MMAP_THRESHOLD, (int)MEM_LARGE_BYTES);
}

void mem_fail_at(uint64_t nth, int forever)
{
    atomic_store(&counted, 0);
    atomic_store(&fail_forever, forever);
    atomic_store(&fail_nth, nth);
}

uint64_t mem_alloc_count(void)
{
    return atomic_load(&counted);
}

static int must_fail(void)
{
    uint64_t nth = atomic_load_explicit(&fail_nth, memory_order_relaxed);
    if (LIKELY(nth == 0))
        return 0;
    uint64_t n = atomic_fetch_add(&counted, 1) + 1;
    return n == nth || (n > nth && atomic_load(&fail_forever));
}

static void *ask_for_huge_pages(void *block, size_t bytes)
{
    if (UNLIKELY(block && bytes >= MEM_LARGE_BYTES)) {
        size_t before = (uintptr_t)block & (HUGE_PAGE_BYTES - 1);
        madvise((char *)block - before, (before + bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1), MADV_HUGEPAGE);
    }
    return block;
}

void *mem_alloc(size_t bytes)
{
    if (must_fail())
        return NULL;
    return ask_for_huge_pages(bytes < MEM_LARGE_BYTES ? malloc(bytes ? bytes : 1) : aligned_alloc(HUGE_PAGE_BYTES, (bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1)), bytes);
}

void *mem_zalloc(size_t bytes)
{
    return must_fail() ? NULL : ask_for_huge_pages(calloc(1, bytes ? bytes : 1), bytes);
}

void *mem_array(size_t count, size_t each_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, each_bytes, &bytes))
        return NULL;
    return mem_zalloc(bytes);
}

void *mem_realloc(void *old, size_t bytes)
{
    return must_fail() ? NULL : ask_for_huge_pages(realloc(old, bytes ? bytes : 1), bytes);
}

char *mem_strndup(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

void mem_free(void *p)
{
    free(p);
}

int mem_grow(void **array, size_t *capacity, size_t need, size_t max, size_t each_bytes)
{
    if (need <= *capacity)
        return 0;
    if (need > max)
        return -1;
    size_t wanted = *capacity ? *capacity : MIN(max, 8);
    while (wanted < need)
        wanted = wanted > max / 2 ? max : wanted * 2;
    if (wanted > SIZE_MAX / each_bytes)
        return -1;
    void *grown = mem_realloc(*array, wanted * each_bytes);
    if (!grown)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}
