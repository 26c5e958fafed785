/* SPDX-License-Identifier: Apache-2.0 */
#include "place/kerberos.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "place/config.h"

#define KEYTAB_VERSION 0x0502
#define CACHE_VERSION 0x0504
#define PARTS_MAX 16
#define PRINCIPAL_BYTES 2048

bool kerberos_is_on(void)
{
    const char *auth = place_config("hadoop.security.authentication");
    return place_config_true("spark.history.kerberos.enabled", false) || (auth && strcasecmp(auth, "kerberos") == 0);
}

/* ---- reading: numbers are big-endian */

static uint32_t take(struct str *in, size_t bytes, bool *ret_ended)
{
    uint32_t value = 0;
    *ret_ended |= in->len < bytes;
    for (size_t i = 0; i < bytes && !*ret_ended; i++)
        value = value << 8 | (uint8_t)in->ptr[i];
    if (!*ret_ended)
        *in = (struct str){in->ptr + bytes, in->len - bytes};
    return value;
}

static struct str take_text(struct str *in, bool *ret_ended)
{
    size_t len = take(in, 2, ret_ended);
    *ret_ended |= in->len < len;
    if (*ret_ended)
        return STR_NONE;
    struct str text = {in->ptr, len};
    *in = (struct str){in->ptr + len, in->len - len};
    return text;
}

struct principal {
    struct str realm, parts[PARTS_MAX];
    size_t part_count;
    uint32_t type;
};

static bool read_principal(struct str entry, struct principal *ret)
{
    bool ended = false;
    ret->part_count = take(&entry, 2, &ended);
    ret->realm = take_text(&entry, &ended);
    if (ret->part_count == 0 || ret->part_count > PARTS_MAX)
        return false;
    for (size_t i = 0; i < ret->part_count; i++)
        ret->parts[i] = take_text(&entry, &ended);
    ret->type = take(&entry, 4, &ended);
    return !ended;
}

/* Its text is `name`, with its realm or without. */
static bool is_called(const struct principal *self, struct str name)
{
    char text[PRINCIPAL_BYTES];
    size_t len = 0;
    for (size_t i = 0; i <= self->part_count; i++) {
        struct str part = i < self->part_count ? self->parts[i] : self->realm;
        if (i == self->part_count && str_eq(name, (struct str){text, len}))
            return true;
        if (part.len + 1 > sizeof text - len)
            return false;
        if (i)
            text[len++] = i < self->part_count ? '/' : '@';
        memcpy(text + len, part.ptr, part.len);
        len += part.len;
    }
    return str_eq(name, (struct str){text, len});
}

/* The first key of that principal; a removed one is a hole, whose size is below zero. */
static bool find_principal(struct str keytab, struct str name, struct principal *ret)
{
    bool ended = false;
    if (take(&keytab, 2, &ended) != KEYTAB_VERSION)
        return false;
    while (!ended) {
        int64_t size = (int32_t)take(&keytab, 4, &ended);
        size_t len = (size_t)(size < 0 ? -size : size);
        if (ended || len == 0 || len > keytab.len)
            return false;
        if (size > 0 && read_principal((struct str){keytab.ptr, len}, ret) && is_called(ret, name))
            return true;
        keytab = (struct str){keytab.ptr + len, keytab.len - len};
    }
    return false;
}

/* ---- the cache */

static void put(struct buf *out, uint32_t value, size_t bytes)
{
    while (bytes-- > 0)
        buf_char(out, (char)(value >> (8 * bytes)));
}

static void put_text(struct buf *out, struct str text)
{
    put(out, (uint32_t)text.len, 4);
    buf_append(out, text.ptr, text.len);
}

static void write_principal(struct buf *out, const struct principal *principal)
{
    put(out, CACHE_VERSION, 2);
    put(out, 0, 2); /* no fields in its header */
    put(out, principal->type, 4);
    put(out, (uint32_t)principal->part_count, 4);
    put_text(out, principal->realm);
    for (size_t i = 0; i < principal->part_count; i++)
        put_text(out, principal->parts[i]);
}

/* A regular file, of ours where `mine`; as far as it fits. */
static enum err_code read_file(const char *path, int flags, struct buf *out, size_t room, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open it");
    ssize_t got = buf_reserve(out, room) ? 1 : 0;
    while (got > 0 && out->len < room && (got = read(fd, out->data + out->len, room - out->len)) > 0)
        out->len += (size_t)got;
    int code = errno;
    close(fd);
    if (got < 0)
        return err_set_errno(err, code, "cannot read it");
    return out->data ? ERR_OK : err_nomem(err);
}

/* Another process of ours may be using the cache: one that is of the principal already stays, with its tickets, and one that is not is replaced in one step. */
static enum err_code make_cache(const char *path, struct str content, struct err *err)
{
    CLEANUP(buf_dispose) struct buf there;
    char fresh[PATH_MAX];
    buf_init(&there, PRINCIPAL_BYTES * 4);
    if (!read_file(path, O_NOFOLLOW, &there, content.len, NULL) && str_eq(buf_str(&there), content))
        return ERR_OK;
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.XXXXXX", path) >= sizeof fresh)
        return err_set(err, ERR_LIMIT, "its path is too long");
    int fd = mkostemp(fresh, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make %.200s", fresh);
    bool written = write(fd, content.ptr, content.len) == (ssize_t)content.len;
    int code = errno;
    close(fd);
    if (written && rename(fresh, path) == 0)
        return ERR_OK;
    code = written ? errno : code;
    unlink(fresh);
    return err_set_errno(err, code, "cannot write %.200s", path);
}

enum err_code kerberos_use(const char *keytab, const char *principal, const char *cache_dir, struct err *err)
{
    CLEANUP(buf_dispose) struct buf content, cache;
    struct principal found;
    char path[PATH_MAX];
    if (strncasecmp(keytab, "file:", 5) == 0)
        keytab += 5;
    setenv("KRB5_CLIENT_KTNAME", keytab, 0);
    buf_init(&content, KERBEROS_KEYTAB_MAX_BYTES);
    buf_init(&cache, PRINCIPAL_BYTES * 4);
    if (!principal || !*principal || read_file(keytab, 0, &content, KERBEROS_KEYTAB_MAX_BYTES - 1, NULL))
        return ERR_OK;
    struct str name = str_of(principal);
    if (!find_principal(buf_str(&content), name, &found))
        return err_set(err, ERR_INVALID, "%.100s has no key of %.100s", keytab, principal);
    write_principal(&cache, &found);
    if (buf_failed(&cache))
        return err_set(err, ERR_INVALID, "the name of its principal is too long");
    snprintf(path, sizeof path, "%s/krb5cc_%ld_afterglow_%016llx", cache_dir, (long)geteuid(), (unsigned long long)hash_bytes(cache.data, cache.len));
    enum err_code rc = make_cache(path, buf_str(&cache), err);
    if (!rc) {
        char value[PATH_MAX + 8];
        snprintf(value, sizeof value, "FILE:%s", path);
        setenv("KRB5CCNAME", value, 1);
    }
    return rc;
}
