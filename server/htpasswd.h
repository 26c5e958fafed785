/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of users and passwords as Apache's htpasswd writes it, NAME:HASH in each line; empty lines and those that begin with # mean nothing. Only bcrypt ($2y$, $2b$: htpasswd -B) is taken: what else the
 * tool can write (MD5, SHA-1, crypt, plain) is guessed at millions a second by whoever gets the file, and is refused by its name.
 *
 * Limits: 1 MiB, 10,000 users, names of 255 bytes (UTF-8, without control characters, colons and commas), costs of 4 to 16. Nothing of a file with a mistake is used. Never changed once read. */
#ifndef SERVER_HTPASSWD_H
#define SERVER_HTPASSWD_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct htpasswd;

/* ERR_INVALID names line, user and what is wrong, never the hash. */
enum err_code htpasswd_read(struct htpasswd **ret, const char *path, struct err *err) WARN_UNUSED;
void htpasswd_free(struct htpasswd *self); /* NULL is fine */
size_t htpasswd_count(const struct htpasswd *self);

/* The user's hash; NULL: no such user. */
const char *htpasswd_hash(const struct htpasswd *self, struct str user);

/* A hash that no password has and that costs as much to check as the costliest of the file: what is checked for a user who is not there, so that the time does not tell. */
const char *htpasswd_decoy(const struct htpasswd *self);

#endif
