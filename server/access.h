/* SPDX-License-Identifier: Apache-2.0
 *
 * Who asks, and which runs they may see: the History Server's rule (spec/files.md §7.1, §7.2), in one place for lists, pages, both interfaces and downloads.
 *
 * A run may be seen when any of these holds: access lists are off (spark.history.ui.acls.enable); nobody is named; the user is an administrator of this server, the run's own user, or
 * in its spark.ui.view.acls or spark.admin.acls; one of the user's groups is in the lists of groups; a list holds *.
 *
 * The name comes from a header (afterglow.auth.header) that a proxy sets after it has asked for a password, or from a password that we asked for (login.h); the proxy's word goes first. The header is believed from the
 * addresses in afterglow.auth.proxies only. Whether access lists are on or off: while there is a header, a request from elsewhere went past the proxy and sees no run at all, unless it comes with a password;
 * and where passwords are asked for, who has none sees nothing. doAs=NAME speaks for another: administrators may, and everybody for themselves.
 *
 * Groups come from a second header, else from a file, else from the system (getgrouplist, in a thread of its own with a time limit); never from a shell. What was found is kept for a
 * minute. A lookup that fails gives no groups. Threads: safe. */
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/db.h"
#include "base/err.h"
#include "base/str.h"

/* All borrowed. */
struct access_settings {
    bool enabled;
    const char *const *admins, *const *admin_groups, *const *proxies;
    size_t admin_count, admin_group_count, proxy_count;
    const char *header, *groups_header; /* names of headers; NULL: none */
    const char *groups_file;            /* lines as in /etc/group; NULL: the system is asked */
    bool login;                         /* passwords are asked for */
};

struct access;

/* ERR_INVALID: an item of `proxies` is no address, or a name of a header none. */
enum err_code access_new(struct access **ret, const struct access_settings *settings, struct err *err) WARN_UNUSED;
void access_free(struct access *self);

bool access_enabled(const struct access *self);
const char *access_header(const struct access *self); /* NULL: none, and nobody is ever named */
const char *access_groups_header(const struct access *self);
bool access_believes(const struct access *self, const unsigned char peer[16]); /* it is a proxy of afterglow.auth.proxies */

/* Who sent the request, as the proxies that are believed say: the last address in X-Forwarded-For that is none of theirs, else the peer. STR_NONE: no such header. */
void access_client(const struct access *self, const unsigned char peer[16], struct str forwarded_for, unsigned char ret[16]);

/* Who asks. Texts in the request's arena. */
struct viewer {
    bool sees_all;
    bool must_log_in;    /* with a refusal: a password would help */
    const char *refusal; /* not NULL: sees nothing, and why */
    struct str user;     /* STR_NONE: nobody is named */
    struct str asker;    /* the same, but who it was that spoke for `user` (doAs) */
    struct str groups;   /* comma-separated */
};

/* peer: the address of the connection, 16 bytes, IPv4 as ::ffff:a.b.c.d. login: whose password was right. Header values and doAs: STR_NONE where absent. */
enum err_code access_identify(struct access *self, const unsigned char peer[16], struct str login, struct str header, struct str groups_header, struct str do_as, struct arena *arena,
                              struct viewer *ret, struct err *err) WARN_UNUSED;

/* What table app says of a run. */
struct access_rules {
    struct str owner, view_users, view_groups;
};
bool access_may_see(const struct viewer *viewer, const struct access_rules *rules);

/* Adds the SQL function may_see(user, groups, owner, view_users, view_groups): access_may_see. Bind access_sql_user, which is NULL for a viewer who sees everything; lists write
 * "(?1 IS NULL OR may_see(?1, ?2, …))", so that nothing is looked at for those. */
struct str access_sql_user(const struct viewer *viewer);
enum err_code access_register(struct db *db, struct err *err) WARN_UNUSED;

/* An address of 16 bytes (network.h) as text. */
#define ACCESS_ADDRESS_BYTES 48
const char *access_address_text(const unsigned char address[16], char out[ACCESS_ADDRESS_BYTES]);

#endif
