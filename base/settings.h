/* SPDX-License-Identifier: Apache-2.0
 *
 * Every setting of the program: one table (setting_table) with key, kind, default, unit, environment variable, option and help, from which `afterglow settings` and the
 * README's table are made. Keys are Spark's own where Spark has one, so that the spark-defaults.conf of a History Server works as it is; the rest is afterglow.*.
 * Where several places name a setting: command line, then environment (the variable in the table, then the -D pairs of SPARK_HISTORY_OPTS), then the properties file, then the
 * default.
 * spark.ssl.X stands for each of Spark's services whose own key, such as spark.ssl.historyServer.X, is not set, wherever either stands.
 * Unknown afterglow.* keys are remarked on (settings_remark), foreign spark.* keys are left alone: that file belongs to many programs.
 *
 *   settings_new(&s, &err); settings_set(s, SETTING_STORE, "/var/lib/afterglow", FROM_COMMAND_LINE, &err); settings_load(s, "spark-defaults.conf", &err);
 *
 * The order of the calls does not matter. Texts are borrowed from the struct. One thread while it is filled; reading is safe from many. */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum setting_kind {
    SETTING_KIND_TEXT,
    SETTING_KIND_LIST,       /* comma-separated, blanks around items dropped, empty items skipped */
    SETTING_KIND_NUMBER,     /* whole, within low … high */
    SETTING_KIND_SWITCH,     /* true or false */
    SETTING_KIND_TIME,       /* Spark's times: a whole number with us ms s m min h d; the unit of the table where it has none. Kept in ms */
    SETTING_KIND_SIZE,       /* Spark's sizes: a whole number with b k kb m mb g gb t tb p pb (binary). Kept in bytes */
    SETTING_KIND_WORD,       /* one of the words in `unit`, blank-separated */
};

enum setting_origin { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_COMMAND_LINE };

enum setting_id {            /* in the order of setting_table */
    SETTING_STORE,
    SETTING_LOGS,
    SETTING_LOG_NAMES,
    SETTING_UPDATE_INTERVAL,
    SETTING_HADOOP_CONF,
    SETTING_HDFS_NODES,
    SETTING_HDFS_USER,
    SETTING_HDFS_TOKEN_FILE,
    SETTING_KERBEROS,
    SETTING_KERBEROS_KEYTAB,
    SETTING_KERBEROS_PRINCIPAL,
    SETTING_PLACES_CA_FILE,
    SETTING_PLACES_PROXY,
    SETTING_PLACES_TIMEOUT,
    SETTING_JOBS,
    SETTING_LOAD,
    SETTING_LOAD_MAX_MEMORY,
    SETTING_STORE_MAX_BYTES,
    SETTING_STORE_MAX_AGE,
    SETTING_CLEANER,
    SETTING_CLEANER_INTERVAL,
    SETTING_CLEANER_MAX_AGE,
    SETTING_CLEANER_MAX_NUM,
    SETTING_CLEANER_ABANDONED,
    SETTING_ABANDONED_AGE,
    SETTING_LISTEN,
    SETTING_PORT,
    SETTING_LISTEN_INSECURE,
    SETTING_TLS_CERTIFICATE,
    SETTING_TLS_KEY,
    SETTING_SSL_ENABLED,
    SETTING_SSL_PORT,
    SETTING_SSL_KEYSTORE,
    SETTING_SSL_KEYSTORE_PASSWORD,
    SETTING_SSL_CERTIFICATE,
    SETTING_SSL_PRIVATE_KEY,
    SETTING_SSL_PRIVATE_KEY_PASSWORD,
    SETTING_SSL_CLIENTS,
    SETTING_LOGIN_USERS_FILE,
    SETTING_FILTERS,
    SETTING_PROXY_BASE,
    SETTING_ACLS,
    SETTING_ADMINS,
    SETTING_ADMIN_GROUPS,
    SETTING_AUTH_HEADER,
    SETTING_AUTH_PROXIES,
    SETTING_AUTH_GROUPS_HEADER,
    SETTING_AUTH_GROUPS_FILE,
    SETTING_AUDIT_FILE,
    SETTING_METRICS_FROM,
    SETTING_FRAMING,
    SETTING_TRANSPORT_SECURITY,
    SETTING_LOG_ADDRESS,
    SETTING_LOG_ADDRESS_INCOMPLETE,
    SETTING_EXACT,
    SETTING_UPLOADS_DIR,
    SETTING_UPLOADS_MAX_BYTES,
    SETTING_UPLOADS_MAX_TOTAL_BYTES,
    SETTING_UPLOADS_PER_MINUTE,
    SETTING_UPLOADS_USERS,
    SETTING_PINS_MAX,
    SETTING_REDACT_PROPERTIES,
    SETTING_REDACT_SQL_OPTIONS,
    SETTING_REDACT_TEXTS,
    SETTING_REDACT_SQL_TEXTS,
    SETTING_LOG_LEVEL,
    SETTING_LOG_FORMAT,
    SETTING_COUNT
};

struct setting {
    const char *key;
    enum setting_kind kind;
    const char *otherwise;       /* default as text; NULL: none */
    const char *unit;            /* time: unit of a bare number; word: the words; else NULL */
    int64_t low, high;           /* number, time (ms), size (bytes) */
    const char *environment;     /* variable; NULL: none */
    const char *option;          /* option of the command line; NULL: none */
    const char *aliases[4];      /* older spellings of the key, ended by NULL */
    const char *help;            /* one or two sentences */
};
extern const struct setting setting_table[SETTING_COUNT];

struct settings;

enum err_code settings_new(struct settings **ret, struct err *err) WARN_UNUSED;

/* Sets one value unless a stronger origin has. ERR_INVALID: the text is no such value; the message begins with `key`. */
enum err_code settings_set(struct settings *self, enum setting_id id, const char *text, enum setting_origin origin, struct err *err) WARN_UNUSED;
/* One more item of a list, taken as it is (it may hold commas). The first call of an origin replaces what weaker origins said. */
enum err_code settings_add(struct settings *self, enum setting_id id, const char *item, enum setting_origin origin, struct err *err) WARN_UNUSED;

/* Reads the environment and, where not NULL, a properties file. */
enum err_code settings_load(struct settings *self, const char *properties_file, struct err *err) WARN_UNUSED;

/* Things to tell the user, one line each: unknown afterglow.* keys. NULL: no more. */
const char *settings_remark(const struct settings *self, size_t index);
/* Keys of the History Server that were set and do nothing here (docker/README.md says of each why), as they came, each once, 100 at most. NULL: no more. */
const char *settings_idle(const struct settings *self, size_t index);

const char *settings_text(const struct settings *self, enum setting_id id);          /* NULL: not set and no default */
int64_t settings_i64(const struct settings *self, enum setting_id id);               /* number; time in ms; size in bytes; switch 0 or 1; UNKNOWN: not set */
size_t settings_list_count(const struct settings *self, enum setting_id id);
const char *settings_list_at(const struct settings *self, enum setting_id id, size_t index);
enum setting_origin settings_origin(const struct settings *self, enum setting_id id);

/* Hadoop's settings, given as spark.hadoop.KEY, weakest origin first; keys without "spark.hadoop.". They may be secrets. False: no more. */
bool settings_hadoop(const struct settings *self, size_t index, struct str *ret_key, struct str *ret_value);

/* Where the server listens. `afterglow.listen` is HOST, HOST:PORT, :PORT or [IPv6]:PORT; a port that it does not name, or that a stronger origin names, comes from
 * spark.history.ui.port. `host` has room for 256 bytes. ERR_INVALID. */
enum err_code settings_listen(const struct settings *self, char *host, int *ret_port, struct err *err) WARN_UNUSED;

/* The table as Markdown, for the README. */
void settings_markdown(struct buf *out);

void settings_free(struct settings *self);

/* Spark's times and sizes (JavaUtils.timeStringAs, byteStringAs). False: none. */
bool setting_parse_time(struct str text, const char *unit, int64_t *ret_ms);
bool setting_parse_size(struct str text, int64_t *ret_bytes);

#endif
