/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiler attributes and small macros that every file may use. Nothing here allocates. */
#ifndef BASE_ATTRIBUTES_H
#define BASE_ATTRIBUTES_H

#define WARN_UNUSED __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define UNUSED __attribute__((unused))
#define FALLTHROUGH __attribute__((fallthrough))
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A local that is released when it goes out of scope: CLEANUP(buf_dispose) struct buf b = …;
 * The function gets a pointer to the local. TAKE hands the value over and leaves NULL behind. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define TAKE(p) (__extension__({ __typeof__(p) take_ = (p); (p) = NULL; take_; }))

#endif
