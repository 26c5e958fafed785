/* SPDX-License-Identifier: Apache-2.0
 *
 * Which principal of a keytab asks. libcurl lets GSS-API choose: who the credential cache is of, else the first principal of the client's keytab. So a cache in this process's memory that
 * holds a principal's name and no ticket yet makes it get tickets for that one, and new ones in time. (One in a file would not do: while a thread renews it there is none, and another thread
 * takes the first of the keytab.) Hadoop's own login from a keytab does not look at a cache that is there either.
 *
 * The library is the one that libcurl brings along; nothing is linked. The keytab's format: MIT Kerberos, doc/formats/keytab_file_format.rst, version 0x0502.
 *
 * Before threads are made: it sets the environment. */
#ifndef PLACE_KERBEROS_H
#define PLACE_KERBEROS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define KERBEROS_KEYTAB_MAX_BYTES ((size_t)1 << 20) /* thousands of keys */
#define KERBEROS_CACHE "MEMORY:afterglow"

bool kerberos_is_on(void); /* by the settings of places (config.h) */

/* `keytab`: a path, or "file:PATH". `principal`: NAME[/INSTANCE][@REALM], without a realm that of its first key; NULL: GSS-API's choice.
 * Sets KRB5_CLIENT_KTNAME where it is not set, and KRB5CCNAME for a principal.
 * ERR_INVALID: the keytab has no key of that principal, or is none. ERR_UNSUPPORTED: libcurl has no Kerberos. A keytab that cannot be read is told by whoever asks with it. */
enum err_code kerberos_use(const char *keytab, const char *principal, struct err *err) WARN_UNUSED;

#endif
