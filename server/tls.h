/* SPDX-License-Identifier: Apache-2.0
 *
 * The certificate and key that the server shows: from PEM files, or from a PKCS#12 keystore, which is also what Java's keytool writes since Java 9. The TLS itself is the HTTP library's (http.c), by GnuTLS;
 * TLS 1.2 and 1.3 only.
 *
 * The files are read again when they change. What is read replaces the old only when it is whole, certificate and key belong together and the certificate has not run out; else the old one holds on, and the
 * reason is told once. A replaced one is kept for two minutes, since handshakes may be using it.
 *
 * One at a time in a process: the callback that GnuTLS asks has no context. Threads: tls_retrieve any; the others one. */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include <gnutls/abstract.h>
#include <stdbool.h>

#include "base/err.h"

/* For the HTTP library. */
#define TLS_PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

/* Paths and passwords, borrowed; NULL: none. `certificate` wins over `keystore`; `key` NULL: it is in the certificate's file. */
struct tls_settings {
    const char *certificate, *key, *key_password;
    const char *keystore, *keystore_password;
};

struct tls;

/* ERR_INVALID says which file is what and, of a Java keystore, how to convert it. *ret_run_out: the certificate has, or is not valid yet; a server that starts shows it all the same. */
enum err_code tls_new(struct tls **ret, const struct tls_settings *settings, bool *ret_run_out, struct err *err) WARN_UNUSED;
enum err_code tls_refresh(struct tls *self, bool *ret_changed, struct err *err) WARN_UNUSED;
void tls_free(struct tls *self); /* NULL is fine; nobody may ask any more */

/* gnutls_certificate_retrieve_function2 */
int tls_retrieve(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count, const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **ret_chain,
                 unsigned *ret_chain_count, gnutls_privkey_t *ret_key);

#endif
