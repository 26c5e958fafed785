/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets inside text: what is found is a VALUE (a password, a token, a key), so that the text around it stays readable. Known forms, key words in any case:
 *
 *     password=hunter2        x.secret.key: hunter2      "token" : "hunter2"      secret -> hunter2       --password hunter2
 *     password 'hunter2'      option("password", "h")    (x.password,hunter2)     ["x.secret","hunter2"]  IDENTIFIED BY 'hunter2'
 *     scheme://user:hunter2@host    jdbc:oracle:thin:user/hunter2@host    Bearer 0123456789abcdef    AKIA0123456789ABCDEF
 *
 * A key is a run of letters, digits and _ . $ - that holds one of: secret, password, passwd, pwd, token, credential, access[._-]key, api[._-]key, account[._-]key.
 * What only looks like one is left alone: paths (/opt/secret-lib.jar:/opt/x), classes with a line number (SecretManager.scala:75), exception classes before their message,
 * columns (token#12, a.token = b.token), schemas (token:string). In doubt text is hidden, not shown. Quotes may be escaped (JSON inside text), and a quote that is never closed ends with
 * the text.
 *
 * Time is linear in the length, whatever the text. These rules need no regular expressions; an operator may add some (base/redact_pattern.h). What either finds in the text as it
 * was given is hidden.
 * Threads: no state but those. */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

#define REDACTED "*********(redacted)" /* as Spark writes it */

/* Spark 4.3's default of spark.redaction.regex, (?i)secret|password|token|access[.]?key|credential, found anywhere in the text: Spark hides the whole value of such a key or value. Also what an
 * operator's REDACT_PROPERTIES finds. */
bool redact_is_secret(struct str text);

/* A property's value as it may be shown: REDACTED where its key or itself is a secret (redact_is_secret). For those in the store, which may be older than the operator's pattern. */
struct str redact_shown(struct str key, struct str value);

/* The next secret value by the rules above at or after *position: true, *ret within text, *position behind it. False: there is none. Begin with *position 0. */
bool redact_next(struct str text, size_t *position, struct str *ret);

/* *ret: text with every secret value replaced, in the arena; or text itself, still borrowed, where there is none. 0, or -1 when the arena is full. */
int redact_text(struct arena *arena, struct str text, struct str *ret) WARN_UNUSED;

/* The same, always a copy in the arena. An unknown text stays unknown. */
int redact_copy(struct arena *arena, struct str text, struct str *ret) WARN_UNUSED;

/* redact_text into a buffer of `size` bytes with a NUL at its end, cut where it does not fit; returns its length. `text` must not lie in it. */
size_t redact_into(struct str text, char *out, size_t size);

#endif
