/* SPDX-License-Identifier: Apache-2.0 */
#include "place/kerberos.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/units.h"
#include "place/config.h"

#define KEYTAB_VERSION 0x0502
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

/* NAME[/INSTANCE…]@REALM, and how much of it is before the realm. False: it is cut, or too long. */
static bool read_principal(struct str entry, char text[PRINCIPAL_BYTES], size_t *ret_short_len)
{
    bool ended = false;
    size_t part_count = take(&entry, 2, &ended), len = 0;
    struct str realm = take_text(&entry, &ended);
    for (size_t i = 0; i <= part_count && !ended; i++) {
        struct str part = i < part_count ? take_text(&entry, &ended) : realm;
        if (ended || part.len + 2 > PRINCIPAL_BYTES - len)
            return false;
        *ret_short_len = len;
        if (i)
            text[len++] = i < part_count ? '/' : '@';
        memcpy(text + len, part.ptr, part.len);
        len += part.len;
    }
    text[len] = '\0';
    return !ended && part_count > 0;
}

/* The first key of that principal; a removed one is a hole, whose size is below zero. */
static bool find_principal(struct str keytab, struct str wanted, char ret[PRINCIPAL_BYTES])
{
    bool ended = false;
    size_t short_len;
    if (take(&keytab, 2, &ended) != KEYTAB_VERSION)
        return false;
    while (!ended) {
        int64_t size = (int32_t)take(&keytab, 4, &ended);
        size_t len = (size_t)(size < 0 ? -size : size);
        if (ended || len == 0 || len > keytab.len)
            return false;
        if (size > 0 && read_principal((struct str){keytab.ptr, len}, ret, &short_len) && (str_is(wanted, ret) || str_eq(wanted, (struct str){ret, short_len})))
            return true;
        keytab = (struct str){keytab.ptr + len, keytab.len - len};
    }
    return false;
}

/* ---- the cache */

typedef void opaque;

/* What libkrb5's ABI has had under these names since 1.0; an int32_t of 0: done. */
static struct {
    int32_t (*init_context)(opaque **ret);
    void (*free_context)(opaque *context);
    int32_t (*parse_name)(opaque *context, const char *name, opaque **ret);
    void (*free_principal)(opaque *context, opaque *principal);
    int32_t (*cc_resolve)(opaque *context, const char *name, opaque **ret);
    int32_t (*cc_initialize)(opaque *context, opaque *cache, opaque *principal);
    int32_t (*cc_close)(opaque *context, opaque *cache);
} krb5;

static bool find_library(void)
{
    void *library = dlopen("libkrb5.so.3", RTLD_LAZY);
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"krb5_init_context", &krb5.init_context}, {"krb5_free_context", &krb5.free_context},
        {"krb5_parse_name", &krb5.parse_name},     {"krb5_free_principal", &krb5.free_principal},
        {"krb5_cc_resolve", &krb5.cc_resolve},     {"krb5_cc_initialize", &krb5.cc_initialize},
        {"krb5_cc_close", &krb5.cc_close},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
        void *found = library ? dlsym(library, wanted[i].name) : NULL;
        if (!found)
            return false;
        memcpy(wanted[i].function, &found, sizeof found);
    }
    return true;
}

/* The cache is in a table of the library's until the process ends. */
static bool make_cache(const char *name)
{
    opaque *context, *principal = NULL, *cache = NULL;
    if (krb5.init_context(&context))
        return false;
    bool made = !krb5.parse_name(context, name, &principal) && !krb5.cc_resolve(context, KERBEROS_CACHE, &cache) && !krb5.cc_initialize(context, cache, principal);
    if (cache)
        made &= !krb5.cc_close(context, cache);
    if (principal)
        krb5.free_principal(context, principal);
    krb5.free_context(context);
    return made;
}

/* As far as a keytab may be large. */
static bool read_keytab(const char *path, struct buf *out)
{
    const size_t room = KERBEROS_KEYTAB_MAX_BYTES;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd >= 0 && buf_reserve(out, room) ? 1 : -1;
    while (got > 0 && out->len < room && (got = read(fd, out->data + out->len, room - out->len)) > 0)
        out->len += (size_t)got;
    if (fd >= 0)
        close(fd);
    return got >= 0;
}

enum err_code kerberos_use(const char *keytab, const char *principal, struct err *err)
{
    CLEANUP(buf_dispose) struct buf content;
    char name[PRINCIPAL_BYTES];
    if (strncasecmp(keytab, "file:", 5) == 0)
        keytab += 5;
    setenv("KRB5_CLIENT_KTNAME", keytab, 0);
    buf_init(&content, KERBEROS_KEYTAB_MAX_BYTES + 1);
    if (!principal || !*principal || !read_keytab(keytab, &content))
        return ERR_OK;
    if (!find_principal(buf_str(&content), str_of(principal), name))
        return err_set(err, ERR_INVALID, "%.100s has no key of %.100s", keytab, principal);
    if (!find_library())
        return err_set(err, ERR_UNSUPPORTED, "this libcurl was made without Kerberos");
    if (!make_cache(name))
        return err_set(err, ERR_INVALID, "Kerberos does not take %.100s", name);
    setenv("KRB5CCNAME", KERBEROS_CACHE, 1);
    return ERR_OK;
}
