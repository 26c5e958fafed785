/* SPDX-License-Identifier: Apache-2.0
 *
 * Which principal of a keytab asks. libcurl lets GSS-API choose: who the credential cache is of, else the first principal of the client's keytab. So a cache that holds a principal's name
 * and no ticket yet makes it get tickets for that one, and new ones in time. Hadoop's own login from a keytab does not look at a cache that is there either.
 * Formats: MIT Kerberos, "Keytab file format" and "Credential cache file format" (doc/formats), versions 0x0502 and 0x0504.
 *
 * Before threads are made: it sets the environment. */
#ifndef PLACE_KERBEROS_H
#define PLACE_KERBEROS_H

#include <stdbool.h>

#include "base/err.h"

#define KERBEROS_KEYTAB_MAX_BYTES (1 << 20) /* thousands of keys */

bool kerberos_is_on(void); /* by the settings of places (config.h) */

/* `keytab`: a path, "file:PATH" or "FILE:PATH". `principal`: NAME[/INSTANCE][@REALM], without a realm that of its first key; NULL: GSS-API's choice. `cache_dir` holds a file for each user
 * and principal, which stays. Sets KRB5_CLIENT_KTNAME where it is not set, and KRB5CCNAME for a principal.
 * ERR_INVALID: the keytab has no key of that principal, or is none. One that cannot be read is told by whoever asks with it. */
enum err_code kerberos_use(const char *keytab, const char *principal, const char *cache_dir, struct err *err) WARN_UNUSED;

#endif
