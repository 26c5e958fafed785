/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/redact.h"
#include "base/time.h"
#include "base/units.h"

#define MESSAGE_BYTES 1280
#define LINE_BYTES ((size_t)64 << 10)    /* of all fields, escaped */

static atomic_int least_level = LOG_INFO, format = LOG_TEXT;
static _Thread_local const char *request_id;

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void log_set_level(enum log_level least)
{
    atomic_store(&least_level, (int)least);
}

void log_set_format(enum log_format wanted)
{
    atomic_store(&format, (int)wanted);
}

void log_set_request(const char *id)
{
    request_id = id;
}

/* Of a field, as it may be shown; borrows `out`. */
static struct str shown(struct str text, char out[2 * LOG_FIELD_BYTES])
{
    text.len = MIN(text.len, (size_t)LOG_FIELD_BYTES);
    return (struct str){out, redact_into(text, out, 2 * LOG_FIELD_BYTES)};
}

static void replace_controls(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F)
            *p = ' ';
}

static bool is_bare(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isalnum((unsigned char)text.ptr[i]) && !strchr("-_.:/+@", text.ptr[i]))
            return false;
    return text.len > 0;
}

static void add_text(struct buf *line, const char *key, struct str value)
{
    bool bare = is_bare(value);
    buf_printf(line, bare ? " %s=" : " %s=\"", key);
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            buf_char(line, '\\');
        buf_char(line, value.ptr[i]);
    }
    buf_text(line, bare ? "" : "\"");
}

static void write_text(struct buf *line, const char *stamp, enum log_level level, const char *message, const struct log_field *fields, size_t count)
{
    char value[2 * LOG_FIELD_BYTES];
    buf_printf(line, "%s %s %s", stamp, level_names[level], message);
    for (size_t i = 0; i < count; i++) {
        if (str_known(fields[i].text))
            add_text(line, fields[i].key, shown(fields[i].text, value));
        else if (known(fields[i].number))
            buf_printf(line, " %s=%lld", fields[i].key, (long long)fields[i].number);
    }
    if (request_id)
        add_text(line, "request", str_of(request_id));
    if (!buf_failed(line))
        replace_controls(line->data);
}

static void write_json(struct buf *line, const char *stamp, enum log_level level, const char *message, const struct log_field *fields, size_t count)
{
    char value[2 * LOG_FIELD_BYTES];
    struct json_writer json;
    json_writer_init(&json, json_sink_buf, line, false);
    json_object_begin(&json);
    json_kv_text(&json, "time", stamp);
    json_kv_text(&json, "level", level_names[level]);
    json_kv_text(&json, "message", message);
    for (size_t i = 0; i < count; i++) {
        if (str_known(fields[i].text))
            json_kv_str(&json, fields[i].key, shown(fields[i].text, value));
        else if (known(fields[i].number))
            json_kv_i64(&json, fields[i].key, fields[i].number);
    }
    if (request_id)
        json_kv_text(&json, "request", request_id);
    json_object_end(&json);
    if (json_writer_end(&json))
        line->failed = true;
}

void log_fields(enum log_level level, const char *message, const struct log_field *fields, size_t count)
{
    if ((int)level > atomic_load(&least_level))
        return;
    CLEANUP(buf_dispose) struct buf line;
    char text[MESSAGE_BYTES], stamp[TIME_ISO_BYTES];
    redact_into(str_of(message), text, sizeof text);
    replace_controls(text);
    time_format_iso(time_now_ms(), stamp);
    buf_init(&line, LINE_BYTES);
    (atomic_load(&format) == LOG_JSON ? write_json : write_text)(&line, stamp, level, text, fields, count);
    if (buf_failed(&line)) /* without memory at least what happened is said */
        fprintf(stderr, "%s %s %s\n", stamp, level_names[level], text);
    else
        fprintf(stderr, "%s\n", line.data);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    if ((int)level > atomic_load(&least_level))
        return;
    char given[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(given, sizeof given, fmt, args);
    va_end(args);
    log_fields(level, given, NULL, 0);
}
