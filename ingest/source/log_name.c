/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_name.h"

#include <ctype.h>

#include "ingest/source/codec.h"

struct log_name log_name_split(const char *name)
{
    struct log_name split = {.id = str_of(name)};
    for (;;) {
        const char *dot = split.id.len ? memrchr(split.id.ptr, '.', split.id.len) : NULL;
        if (!dot || dot == split.id.ptr)
            return split;
        struct str suffix = {dot + 1, split.id.len - (size_t)(dot + 1 - split.id.ptr)};
        const struct codec *codec = codec_of_suffix(suffix.ptr, suffix.len);
        if (str_is(suffix, "inprogress"))
            split.in_progress = true;
        else if (str_is(suffix, "compact"))
            split.compact = true;
        else if (codec && !split.codec)
            split.codec = codec;
        else
            return split;
        split.id.len = (size_t)(dot - split.id.ptr);
    }
}

bool log_name_events(const char *name, int64_t *ret_index, struct str *ret_rest)
{
    static const char prefix[] = "events_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || str_ends(str_of(name), ".inprogress"))
        return false;
    const char *digits = name + sizeof prefix - 1, *end = strchr(digits, '_');
    if (!end || !isdigit((unsigned char)*digits) || !str_to_i64((struct str){digits, (size_t)(end - digits)}, ret_index))
        return false;
    *ret_rest = str_of(end + 1);
    return true;
}

int log_name_databricks(const char *name)
{
    static const char prefix[] = "eventlog", shape[] = "-dddd-dd-dd--dd-dd";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return -1;
    const char *rest = name + sizeof prefix - 1;
    if (*rest == '\0')
        return 0;
    for (const char *s = shape; *s; s++, rest++)
        if (*s == 'd' ? !isdigit((unsigned char)*rest) : *rest != *s)
            return -1;
    return *rest == '\0' || *rest == '.' ? 1 : -1;
}

bool log_name_looks_like_log(const char *name)
{
    static const char *const prefixes[] = {"app-", "application_", "local-", "spark-", ROLLING_PREFIX};
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}
