/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and passwords (HTTP's Basic scheme) against a file of bcrypt hashes (htpasswd.h), which is read again when it changes.
 *
 * bcrypt is slow on purpose, so it runs in one thread of its own, at a lower priority, and who asks waits for it without holding a thread (http_head.c lays the connection aside). What it said is remembered in
 * memory for some minutes, under a keyed hash of name and password (keyed_hash.h): a page with thirty requests costs one check, and the same wrong password sent again costs none. Memory goes with the
 * process and with every change of the file, so that no session outlives either. Requests with the same words at the same time share one check.
 *
 * A name that is not there takes the time of one that is. How often a password may be wrong: login_limits.h.
 *
 * Threads: safe. */
#ifndef SERVER_LOGIN_H
#define SERVER_LOGIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define LOGIN_REMEMBER_MS 300000   /* what was right */
#define LOGIN_REMEMBER_WRONG_MS 1200000 /* longer than a failure counts (LOGIN_FORGIVE_MS): what asks with an old password for ever shuts nobody out */
#define LOGIN_MOST_WAITING 64      /* checks: seconds of work */

struct login;

/* ERR_INVALID: the file is none that can be used, and why. */
enum err_code login_new(struct login **ret, const char *users_file, struct err *err) WARN_UNUSED;

/* No check is made from now on: those that wait are told LOGIN_LATER before this returns, and so is who asks later. */
void login_stop(struct login *self);
void login_free(struct login *self); /* NULL is fine */

/* Looks whether the file changed. What is no good is told once, and the old one holds on. */
enum err_code login_refresh(struct login *self, bool *ret_changed, struct err *err) WARN_UNUSED;

struct login_words {
    struct str user, password;
};

/* Name and password of the value of an Authorization header, in the arena. False: it is none of the Basic scheme, or holds a NUL or too much. */
bool login_parse(struct str header, struct arena *arena, struct login_words *ret);

enum login_verdict { LOGIN_RIGHT, LOGIN_WRONG, LOGIN_LATER, LOGIN_PENDING };

/* Somebody who waits; theirs until `done` was called. */
struct login_waiter {
    void (*done)(void *context); /* once, from another thread, after the two below are set */
    void *context;
    enum login_verdict verdict;
    int wait_seconds;            /* with LOGIN_LATER */
    struct login_waiter *next;
};

/* Sets the waiter's verdict and returns it. LOGIN_PENDING: `done` comes later. address: who asks, 16 bytes. */
enum login_verdict login_ask(struct login *self, const struct login_words *words, const unsigned char address[16], struct login_waiter *waiter);

#endif
