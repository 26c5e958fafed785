/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request_id.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static uint32_t process;
static pthread_once_t drawing = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t count;

static void draw(void)
{
    if (getrandom(&process, sizeof process, GRND_NONBLOCK) != (ssize_t)sizeof process)
        process = (uint32_t)getpid(); /* it is a name, no secret */
}

static bool is_harmless(struct str id)
{
    for (size_t i = 0; i < id.len; i++)
        if ((unsigned char)id.ptr[i] >= 0x80 || (!isalnum((unsigned char)id.ptr[i]) && !strchr("-_.", id.ptr[i])))
            return false;
    return id.len > 0 && id.len < REQUEST_ID_BYTES;
}

void request_id(struct str given, bool believed, char out[REQUEST_ID_BYTES])
{
    pthread_once(&drawing, draw);
    if (believed && is_harmless(given))
        snprintf(out, REQUEST_ID_BYTES, "%.*s", (int)given.len, given.ptr);
    else
        snprintf(out, REQUEST_ID_BYTES, "%08" PRIx32 "-%" PRIxFAST64, process, atomic_fetch_add(&count, 1) + 1);
}
