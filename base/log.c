/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/redact.h"
#include "base/time.h"

static atomic_int least_level = LOG_INFO;

void log_set_level(enum log_level least)
{
    atomic_store(&least_level, (int)least);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    if ((int)level > atomic_load(&least_level))
        return;
    char given[1024], text[1280], stamp[TIME_ISO_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(given, sizeof given, fmt, args);
    va_end(args);
    redact_into(str_of(given), text, sizeof text);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F)
            *p = ' ';
    time_format_iso(time_now_ms(), stamp);
    fprintf(stderr, "%s %s %s\n", stamp, names[level], text);
}
