/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator of the program. All code allocates through these, so that a test can make the n-th allocation fail
 * (mem_fail_at) and walk n = 1, 2, 3 … over a whole load. They return NULL on failure and set nothing; the caller
 * returns err_nomem(). mem_free(NULL) is fine. Threads: safe; mem_fail_at counts over all threads. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* Before the first thread: makes glibc's malloc ready, which two threads must not do at once (under a sanitizer, which brings a malloc of its own, nothing else does it), and lets blocks
 * of MEM_LARGE_BYTES and more go back to the system when they are freed instead of staying with the thread that had them. */
#define MEM_LARGE_BYTES ((size_t)2 << 20)
void mem_begin(void);

void *mem_alloc(size_t bytes) WARN_UNUSED;
void *mem_zalloc(size_t bytes) WARN_UNUSED;                            /* zeroed */
void *mem_array(size_t count, size_t each_bytes) WARN_UNUSED;          /* zeroed; NULL when the product overflows */
void *mem_realloc(void *old, size_t bytes) WARN_UNUSED;                /* on failure `old` stays valid */
char *mem_strndup(const char *text, size_t len) WARN_UNUSED;           /* NUL-terminated copy */
void mem_free(void *p);

/* Grow an array to hold at least `need` items: doubles, never above `max` items. 0 on success, -1 when out of memory
 * or above max; the array is unchanged then. */
int mem_grow(void **array, size_t *capacity, size_t need, size_t max, size_t each_bytes) WARN_UNUSED;

/* Tests: the `nth` allocation from now (from 1) fails, and all after it when `forever`. 0 switches it off. */
void mem_fail_at(uint64_t nth, int forever);
uint64_t mem_alloc_count(void);                                        /* allocations since the last mem_fail_at */

/* For CLEANUP: frees what the pointed-to pointer holds. */
static inline void mem_freep(void *p)
{
    mem_free(*(void **)p);
}

#endif
