/* SPDX-License-Identifier: Apache-2.0
 *
 * Some work on a second thread, beside what the caller does until it needs the result. Where there is no thread to be had, or it is not worth one, the work is done when it is waited for:
 * the result is the same. */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include <pthread.h>
#include <stdbool.h>

struct beside {
    pthread_t thread;
    bool runs; /* in a thread */
    void (*work)(void *context);
    void *context;
};

/* `context` stays the caller's; what `work` reads of it and of others must not be written until beside_join. */
void beside_start(struct beside *self, bool worth_a_thread, void (*work)(void *context), void *context);
void beside_join(struct beside *self); /* once */

#endif
