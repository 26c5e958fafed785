/* SPDX-License-Identifier: Apache-2.0 */
#include "server/htpasswd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define FILE_BYTES ((size_t)1 << 20)
#define MOST_USERS 10000
#define NAME_BYTES 255
#define BCRYPT_BYTES 60  /* $2y$10$, 22 characters of salt, 31 of hash */
#define LOWEST_COST 4    /* bcrypt's own */
#define HIGHEST_COST 16  /* some seconds on a fast machine; each step doubles it */
#define BCRYPT_LETTERS "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

struct htpasswd {
    struct arena arena;
    struct smap hashes;      /* name to text in the arena */
    int cost;                /* the highest */
    char decoy[BCRYPT_BYTES + 1];
};

/* What else htpasswd and its kin write. */
static const char *kind_of(const char *hash)
{
    static const struct {
        const char *begin, *name;
    } kinds[] = {{"$apr1$", "MD5 (apr1)"}, {"$1$", "MD5 (crypt)"}, {"{SHA}", "SHA-1"}, {"{SSHA}", "salted SHA-1"}, {"$5$", "SHA-256 (crypt)"}, {"$6$", "SHA-512 (crypt)"}, {"$y$", "yescrypt"},
                 {"$argon2", "Argon2"}, {"$2a$", "an old form of bcrypt ($2a$)"}, {"$2x$", "a faulty form of bcrypt ($2x$)"}, {"$2y$", "damaged bcrypt"}, {"$2b$", "damaged bcrypt"}};
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        if (str_starts(str_of(hash), kinds[i].begin))
            return kinds[i].name;
    return strlen(hash) == 13 && strspn(hash, BCRYPT_LETTERS) == 13 ? "DES (crypt)" : "plain or unknown";
}

/* Its cost; 0: not bcrypt. */
static int bcrypt_cost(const char *hash)
{
    bool is = strlen(hash) == BCRYPT_BYTES && (str_starts(str_of(hash), "$2y$") || str_starts(str_of(hash), "$2b$")) && hash[4] >= '0' && hash[4] <= '3' && hash[5] >= '0' && hash[5] <= '9' &&
              hash[6] == '$' && strspn(hash + 7, BCRYPT_LETTERS) == BCRYPT_BYTES - 7;
    return is ? (hash[4] - '0') * 10 + hash[5] - '0' : 0;
}

static bool sound_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F || name[i] == ',')
            return false;
    return len > 0 && len <= NAME_BYTES && utf8_valid_prefix(name, len) == len;
}

static enum err_code take_line(struct htpasswd *self, char *line, int number, struct err *err)
{
    char *colon = strchr(line, ':');
    if (!line[0] || line[0] == '#')
        return ERR_OK;
    if (!colon)
        return err_set(err, ERR_INVALID, "line %d is not NAME:HASH", number);
    *colon = '\0';
    const char *hash = colon + 1;
    int cost = bcrypt_cost(hash);
    if (!sound_name(line))
        return err_set(err, ERR_INVALID, "line %d: the name is empty, longer than %d bytes, or holds a comma or a control character", number, NAME_BYTES);
    if (!cost)
        return err_set(err, ERR_INVALID, "line %d: the password of %.64s is %s; only bcrypt is taken: htpasswd -B", number, line, kind_of(hash));
    if (cost < LOWEST_COST || cost > HIGHEST_COST)
        return err_set(err, ERR_INVALID, "line %d: the cost of %.64s's bcrypt is %d, not within %d and %d", number, line, cost, LOWEST_COST, HIGHEST_COST);
    if (smap_get(&self->hashes, str_of(line)))
        return err_set(err, ERR_INVALID, "line %d: %.64s is there twice", number, line);
    char *copy = arena_strndup(&self->arena, hash, BCRYPT_BYTES);
    if (self->hashes.count == MOST_USERS)
        return err_set(err, ERR_LIMIT, "there are more than %d users", MOST_USERS);
    if (!copy || smap_put(&self->hashes, str_of(line), copy))
        return err_nomem(err);
    if (cost > self->cost)
        self->cost = cost;
    return ERR_OK;
}

static enum err_code read_file(const char *path, char **ret, size_t *ret_len, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set_errno(err, errno, "cannot read it");
    char *text = mem_alloc(FILE_BYTES + 2);
    size_t len = text ? fread(text, 1, FILE_BYTES + 1, file) : 0;
    bool failed = ferror(file);
    fclose(file);
    if (text && !failed && len <= FILE_BYTES) {
        text[len] = '\0';
        *ret = text;
        *ret_len = len;
        return ERR_OK;
    }
    mem_free(text);
    return !text ? err_nomem(err) : failed ? err_set(err, ERR_IO, "cannot read it") : err_set(err, ERR_LIMIT, "it is larger than 1 MiB");
}

enum err_code htpasswd_read(struct htpasswd **ret, const char *path, struct err *err)
{
    CLEANUP(mem_freep) char *text = NULL;
    size_t len = 0;
    *ret = NULL;
    enum err_code rc = read_file(path, &text, &len, err);
    struct htpasswd *self = rc ? NULL : mem_zalloc(sizeof *self);
    if (!rc && !self)
        rc = err_nomem(err);
    if (self) {
        arena_init(&self->arena, 4 * FILE_BYTES);
        smap_init(&self->hashes, MOST_USERS, FILE_BYTES);
    }
    if (!rc && memchr(text, '\0', len))
        rc = err_set(err, ERR_INVALID, "it is no text");
    int number = 0;
    for (char *line = text, *next; !rc && line; line = next) {
        if ((next = strchr(line, '\n')))
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        rc = take_line(self, line, ++number, err);
    }
    if (!rc && self->hashes.count == 0)
        rc = err_set(err, ERR_INVALID, "it names nobody");
    if (rc) {
        htpasswd_free(self);
        err_prefix(err, "%s (afterglow.login.usersFile)", path);
        return rc;
    }
    /* All dots is a hash like any other, which a password has with a chance of 2^-184. */
    snprintf(self->decoy, sizeof self->decoy, "$2b$%02d$Afterglow.nobody.has.u...............................", self->cost);
    *ret = self;
    return ERR_OK;
}

void htpasswd_free(struct htpasswd *self)
{
    if (!self)
        return;
    smap_dispose(&self->hashes);
    arena_dispose(&self->arena);
    mem_free(self);
}

size_t htpasswd_count(const struct htpasswd *self)
{
    return self->hashes.count;
}

const char *htpasswd_hash(const struct htpasswd *self, struct str user)
{
    return smap_get(&self->hashes, user);
}

const char *htpasswd_decoy(const struct htpasswd *self)
{
    return self->decoy;
}
