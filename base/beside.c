/* SPDX-License-Identifier: Apache-2.0 */
#include "base/beside.h"

static void *run(void *arg)
{
    struct beside *self = arg;
    self->work(self->context);
    return NULL;
}

void beside_start(struct beside *self, bool worth_a_thread, void (*work)(void *context), void *context)
{
    self->work = work;
    self->context = context;
    self->runs = worth_a_thread && !pthread_create(&self->thread, NULL, run, self);
}

void beside_join(struct beside *self)
{
    if (self->runs)
        pthread_join(self->thread, NULL);
    else
        self->work(self->context);
}
