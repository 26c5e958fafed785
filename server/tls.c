/* SPDX-License-Identifier: Apache-2.0 */
#include "server/tls.h"

#include <errno.h>
#include <gnutls/pkcs12.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "base/units.h"
#include "server/file_stamp.h"

#define MOST_CERTIFICATES 16 /* from the server's to its authority: three or four */
#define KEY_ID_BYTES 64
#define OLD_NS ((int64_t)120 * 1000 * NS_PER_MS) /* a handshake that takes longer was closed (http.c) */

/* What was read, not changed while it is shown. */
struct pair {
    gnutls_pcert_st chain[MOST_CERTIFICATES];
    unsigned count;
    gnutls_privkey_t key;
    bool run_out;
    struct pair *next;      /* of the old ones, the newest first */
    int64_t replaced_ns;
};

/* On the way there. */
struct parsed {
    gnutls_x509_crt_t *chain; /* gnutls_free */
    unsigned count;
    gnutls_x509_privkey_t key;
};

struct tls {
    struct tls_settings settings;
    struct file_stamp stamps[3]; /* certificate, key, keystore */
    struct pair *old;
};

static _Atomic(struct pair *) current;

int tls_retrieve(gnutls_session_t session UNUSED, const gnutls_datum_t *authorities UNUSED, int authority_count UNUSED, const gnutls_pk_algorithm_t *algorithms UNUSED, int algorithm_count UNUSED,
                 gnutls_pcert_st **ret_chain, unsigned *ret_chain_count, gnutls_privkey_t *ret_key)
{
    struct pair *pair = atomic_load(&current);
    if (!pair)
        return -1;
    *ret_chain = pair->chain;
    *ret_chain_count = pair->count;
    *ret_key = pair->key;
    return 0;
}

/* ---- reading ---- */

static void pair_free(struct pair *self)
{
    if (!self)
        return;
    for (unsigned i = 0; i < self->count; i++)
        gnutls_pcert_deinit(&self->chain[i]);
    if (self->key)
        gnutls_privkey_deinit(self->key);
    mem_free(self);
}

static void parsed_dispose(struct parsed *self)
{
    for (unsigned i = 0; i < self->count; i++)
        gnutls_x509_crt_deinit(self->chain[i]);
    gnutls_free(self->chain);
    if (self->key)
        gnutls_x509_privkey_deinit(self->key);
}

static void datum_dispose(gnutls_datum_t *self)
{
    if (self->data)
        gnutls_memset(self->data, 0, self->size);
    gnutls_free(self->data);
}

static enum err_code load_file(const char *path, gnutls_datum_t *ret, struct err *err)
{
    errno = 0; /* gnutls says only that it was a file's fault; why is what an administrator needs, who gave the key to another user */
    if (gnutls_load_file(path, ret))
        return err_set_errno(err, errno ? errno : EIO, "%s: cannot be read", path);
    return ERR_OK;
}

static enum err_code read_key(struct parsed *parsed, const struct tls_settings *s, struct err *err)
{
    CLEANUP(datum_dispose) gnutls_datum_t text = {0};
    const char *path = s->key ? s->key : s->certificate;
    enum err_code rc = load_file(path, &text, err);
    if (rc)
        return rc;
    if (gnutls_x509_privkey_init(&parsed->key))
        return err_nomem(err);
    int code = gnutls_x509_privkey_import2(parsed->key, &text, GNUTLS_X509_FMT_PEM, s->key_password, 0);
    if (code == GNUTLS_E_DECRYPTION_FAILED)
        return err_set(err, ERR_INVALID, "%s: the key is encrypted, and %s", path, s->key_password ? "the password is not its" : "there is no password");
    return code ? err_set(err, ERR_INVALID, "%s: is no private key in PEM (%s)", path, gnutls_strerror(code)) : ERR_OK;
}

static enum err_code read_pem(struct parsed *parsed, const struct tls_settings *s, struct err *err)
{
    CLEANUP(datum_dispose) gnutls_datum_t text = {0};
    enum err_code rc = load_file(s->certificate, &text, err);
    if (rc)
        return rc;
    int code = gnutls_x509_crt_list_import2(&parsed->chain, &parsed->count, &text, GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
    if (code == GNUTLS_E_CERTIFICATE_LIST_UNSORTED)
        return err_set(err, ERR_INVALID, "%s: the certificates are not in order: the server's first, each followed by the one that signed it", s->certificate);
    return code < 0 ? err_set(err, ERR_INVALID, "%s: is no certificate in PEM (%s)", s->certificate, gnutls_strerror(code)) : read_key(parsed, s, err);
}

static enum err_code read_keystore(struct parsed *parsed, const struct tls_settings *s, struct err *err)
{
    static const unsigned char java[] = {0xFE, 0xED, 0xFE, 0xED}, java_crypto[] = {0xCE, 0xCE, 0xCE, 0xCE};
    CLEANUP(datum_dispose) gnutls_datum_t bytes = {0};
    gnutls_pkcs12_t store;
    enum err_code rc = load_file(s->keystore, &bytes, err);
    if (rc)
        return rc;
    if (bytes.size >= sizeof java && (memcmp(bytes.data, java, sizeof java) == 0 || memcmp(bytes.data, java_crypto, sizeof java_crypto) == 0))
        return err_set(err, ERR_UNSUPPORTED, "%.80s is a Java keystore (JKS), which only Java reads; convert it: keytool -importkeystore -srckeystore OLD -destkeystore NEW.p12 -deststoretype PKCS12",
                       s->keystore);
    if (gnutls_pkcs12_init(&store))
        return err_nomem(err);
    const char *password = s->keystore_password ? s->keystore_password : "";
    bool is_store = gnutls_pkcs12_import(store, &bytes, GNUTLS_X509_FMT_DER, 0) == 0, fits = is_store && gnutls_pkcs12_verify_mac(store, password) == 0;
    /* Of certificates that are in no chain (a trusted authority) nothing is wanted: NULL, and they are left out. */
    int code = fits ? gnutls_pkcs12_simple_parse(store, password, &parsed->key, &parsed->chain, &parsed->count, NULL, NULL, NULL, 0) : 0;
    gnutls_pkcs12_deinit(store);
    if (!is_store)
        return err_set(err, ERR_INVALID, "%s: is no PKCS#12 keystore", s->keystore);
    if (!fits)
        return err_set(err, ERR_INVALID, "%s: the password (spark.ssl.historyServer.keyStorePassword) is not its, or it is damaged", s->keystore);
    return code || !parsed->key || !parsed->count ? err_set(err, ERR_INVALID, "%s: holds no certificate with its key (%s)", s->keystore, gnutls_strerror(code)) : ERR_OK;
}

static bool belong_together(const struct parsed *parsed)
{
    unsigned char of_certificate[KEY_ID_BYTES], of_key[KEY_ID_BYTES];
    size_t a = sizeof of_certificate, b = sizeof of_key;
    return gnutls_x509_crt_get_key_id(parsed->chain[0], 0, of_certificate, &a) == 0 && gnutls_x509_privkey_get_key_id(parsed->key, 0, of_key, &b) == 0 && a == b && memcmp(of_certificate, of_key, a) == 0;
}

static enum err_code make_pair(const struct parsed *parsed, struct pair *pair, struct err *err)
{
    time_t now = time(NULL);
    pair->run_out = now > gnutls_x509_crt_get_expiration_time(parsed->chain[0]) || now < gnutls_x509_crt_get_activation_time(parsed->chain[0]);
    pair->count = parsed->count;
    int code = gnutls_pcert_import_x509_list(pair->chain, parsed->chain, &pair->count, 0);
    if (code)
        pair->count = 0;
    if (!code)
        code = gnutls_privkey_init(&pair->key);
    if (!code)
        code = gnutls_privkey_import_x509(pair->key, parsed->key, GNUTLS_PRIVKEY_IMPORT_COPY);
    return code ? err_set(err, ERR_INVALID, "the certificate cannot be used (%s)", gnutls_strerror(code)) : ERR_OK;
}

static enum err_code read_pair(const struct tls_settings *s, struct pair **ret, struct err *err)
{
    CLEANUP(parsed_dispose) struct parsed parsed = {0};
    *ret = NULL;
    enum err_code rc = s->certificate ? read_pem(&parsed, s, err) : read_keystore(&parsed, s, err);
    if (rc)
        return rc;
    if (parsed.count > MOST_CERTIFICATES)
        return err_set(err, ERR_LIMIT, "the chain has more than %d certificates", MOST_CERTIFICATES);
    if (!belong_together(&parsed))
        return err_set(err, ERR_INVALID, "%s: the key is not that of the certificate", s->key ? s->key : s->certificate ? s->certificate : s->keystore);
    struct pair *pair = mem_zalloc(sizeof *pair);
    if (!pair)
        return err_nomem(err);
    if ((rc = make_pair(&parsed, pair, err))) {
        pair_free(pair);
        return rc;
    }
    *ret = pair;
    return ERR_OK;
}

/* ---- life ---- */

static void take_stamps(const struct tls_settings *s, struct file_stamp out[3])
{
    out[0] = file_stamp_of(s->certificate);
    out[1] = file_stamp_of(s->key);
    out[2] = file_stamp_of(s->keystore);
}

enum err_code tls_new(struct tls **ret, const struct tls_settings *settings, bool *ret_run_out, struct err *err)
{
    struct pair *pair;
    *ret = NULL;
    struct tls *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->settings = *settings;
    take_stamps(settings, self->stamps);
    enum err_code rc = read_pair(settings, &pair, err);
    if (rc) {
        mem_free(self);
        return rc;
    }
    *ret_run_out = pair->run_out;
    atomic_store(&current, pair);
    *ret = self;
    return ERR_OK;
}

/* Those that no handshake can be using any more. */
static void free_old(struct tls *self, int64_t before_ns)
{
    struct pair **at = &self->old;
    while (*at && (*at)->replaced_ns >= before_ns)
        at = &(*at)->next;
    for (struct pair *pair = TAKE(*at), *next; pair; pair = next) {
        next = pair->next;
        pair_free(pair);
    }
}

enum err_code tls_refresh(struct tls *self, bool *ret_changed, struct err *err)
{
    struct file_stamp stamps[3];
    struct pair *pair;
    *ret_changed = false;
    int64_t now_ns = time_monotonic_ns();
    free_old(self, now_ns - OLD_NS);
    take_stamps(&self->settings, stamps);
    bool same = true;
    for (size_t i = 0; i < ARRAY_LENGTH(stamps); i++)
        same = same && file_stamp_equal(&stamps[i], &self->stamps[i]);
    if (same)
        return ERR_OK;
    memcpy(self->stamps, stamps, sizeof stamps);
    enum err_code rc = read_pair(&self->settings, &pair, err);
    if (!rc && pair->run_out) {
        pair_free(pair);
        rc = err_set(err, ERR_INVALID, "the new certificate has run out, or is not valid yet");
    }
    if (rc)
        return rc;
    struct pair *old = atomic_exchange(&current, pair);
    old->replaced_ns = now_ns;
    old->next = self->old;
    self->old = old;
    *ret_changed = true;
    return ERR_OK;
}

void tls_free(struct tls *self)
{
    if (!self)
        return;
    pair_free(atomic_exchange(&current, NULL));
    free_old(self, INT64_MAX);
    mem_free(self);
}
