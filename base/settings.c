/* SPDX-License-Identifier: Apache-2.0 */
#include "base/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/mem.h"
#include "base/props.h"
#include "base/units.h"

#define MAX_LIST 10000
#define MAX_REMARKS 100          /* a file with more unknown keys than that was written for something else */
#define MAX_HADOOP 10000
#define HADOOP_PREFIX "spark.hadoop."
#define DAY_MS ((int64_t)86400000)

const struct setting setting_table[SETTING_COUNT] = {
    [SETTING_STORE] = {"afterglow.store", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "AFTERGLOW_STORE", "--store", {NULL},
        "Directory of the store: catalog.db and apps/. It is made where it is missing."},
    [SETTING_LOGS] = {"spark.history.fs.logDirectory", SETTING_KIND_LIST, "file:/tmp/spark-events", NULL, 0, 0, "AFTERGLOW_LOGS", "--logs", {NULL},
        "Where event logs are looked for: one or more places, comma-separated (with --logs: repeated, or several after it): directories, hdfs://, webhdfs://, swebhdfs://, s3a://, s3://. "
        "Directories below them are looked into as well. The default is not looked at by itself: serve and ingest read where this is set or named."},
    [SETTING_LOG_NAMES] = {"spark.history.fs.logDirectory.names", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Names for the log directories, by position; as many as there are directories, no two equal. Without them a directory is shown by its path."},
    [SETTING_UPDATE_INTERVAL] = {"spark.history.fs.update.interval", SETTING_KIND_TIME, "10s", "s", 100, 36500 * DAY_MS, "AFTERGLOW_UPDATE_INTERVAL", NULL,
        {"spark.history.fs.update.interval.seconds", "spark.history.fs.updateInterval", "spark.history.updateInterval", NULL},
        "Within what time it is noticed that something came, grew or went in the log directories, where a look at them takes less than a third of it. "
        "One of this machine or of HDFS in which something was made, renamed or deleted is looked at within a tenth of it."},
    [SETTING_HADOOP_CONF] = {"afterglow.hadoop.confDir", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "HADOOP_CONF_DIR", NULL, {NULL},
        "Directory of core-site.xml and hdfs-site.xml: name services, name nodes, fs.s3a.*. Settings spark.hadoop.KEY are stronger."},
    [SETTING_HDFS_NODES] = {"afterglow.hdfs.nameNodes", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Where WebHDFS of an hdfs:// address is, as AUTHORITY=HOST:PORT or AUTHORITY=https://HOST:PORT; one AUTHORITY may have several. Without it Hadoop's own settings say so, or it is port 9870 "
        "(9871 with dfs.http.policy HTTPS_ONLY) of the host in the address."},
    [SETTING_HDFS_USER] = {"afterglow.hdfs.user", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "HADOOP_USER_NAME", NULL, {NULL},
        "User who reads from HDFS, where neither Kerberos nor a delegation token says who it is. Without it: the user who runs the program."},
    [SETTING_HDFS_TOKEN_FILE] = {"afterglow.hdfs.tokenFile", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "File with a delegation token for HDFS in its URL-safe form. It is read anew for each question, since others renew it."},
    [SETTING_KERBEROS] = {"spark.history.kerberos.enabled", SETTING_KIND_SWITCH, "false", NULL, 0, 0, NULL, NULL, {NULL},
        "Whether to log in to HDFS with Kerberos (SPNEGO), with the keytab below or what kinit left. hadoop.security.authentication in core-site.xml does the same."},
    [SETTING_KERBEROS_KEYTAB] = {"spark.history.kerberos.keytab", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Keytab to log in with."},
    [SETTING_KERBEROS_PRINCIPAL] = {"spark.history.kerberos.principal", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Whose key in the keytab that is: NAME, NAME/HOST, either with @REALM. Without it: who the ticket of kinit is of, or the keytab's first principal."},
    [SETTING_PLACES_CA_FILE] = {"afterglow.places.caFile", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Certificates (PEM) of authorities that HDFS and S3 are trusted by. Without it: the system's."},
    [SETTING_PLACES_PROXY] = {"afterglow.places.proxy", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Proxy through which HDFS and S3 are reached, for example http://proxy:3128. Variables like https_proxy are not looked at."},
    [SETTING_PLACES_TIMEOUT] = {"afterglow.places.timeout", SETTING_KIND_TIME, "10s", "s", 100, 600000, NULL, NULL, {NULL},
        "How long HDFS and S3 may take to connect, to begin an answer, and to go on with it."},
    [SETTING_JOBS] = {"spark.history.fs.numReplayThreads", SETTING_KIND_NUMBER, NULL, NULL, 1, 256, "AFTERGLOW_JOBS", "--jobs", {"afterglow.jobs", NULL},
        "How many logs are loaded at the same time. Without it: half the processors, at least two."},
    [SETTING_LOAD] = {"afterglow.load", SETTING_KIND_WORD, "all", "all opened", 0, 0, "AFTERGLOW_LOAD", NULL, {NULL},
        "all: every log is loaded as it comes. opened: a run is only listed, from the first and last lines of its log, until somebody opens it or asks /api for it; then it is loaded, and followed while it grows."},
    [SETTING_LOAD_MAX_MEMORY] = {"afterglow.load.maxMemory", SETTING_KIND_SIZE, NULL, NULL, 1, INT64_MAX, NULL, NULL, {NULL},
        "While the process that loads has more than this in memory, no load begins beside another, and growing logs are read anew instead of being kept open. One load always runs, whatever it "
        "takes. Without it as many run as spark.history.fs.numReplayThreads says."},
    [SETTING_STORE_MAX_BYTES] = {"afterglow.store.maxBytes", SETTING_KIND_SIZE, NULL, NULL, 1, INT64_MAX, "AFTERGLOW_STORE_MAX_BYTES", NULL, {"spark.history.store.maxDiskUsage", NULL},
        "What the loaded runs may take on disk. Above it runs are put away, the least useful first: those that nobody opened, the oldest of them first, then those opened longest ago; last of all "
        "runs whose log is gone. Their row, verdict and findings stay in the list, and opening one loads it again. Without it everything stays. spark.history.store.maxDiskUsage is the same setting."},
    [SETTING_STORE_MAX_AGE] = {"afterglow.store.maxAge", SETTING_KIND_TIME, NULL, "s", 1, 36500 * DAY_MS, NULL, NULL, {NULL},
        "Runs that nobody opened for so long are put away in the same way, also where there is room; not those whose log is gone. Without it they stay."},
    [SETTING_CLEANER] = {"spark.history.fs.cleaner.enabled", SETTING_KIND_SWITCH, "false", NULL, 0, 0, NULL, NULL, {NULL},
        "Whether old event logs are deleted from the log directories, by the rules of the History Server. Runs that were read stay. `afterglow clean` says what would go."},
    [SETTING_CLEANER_INTERVAL] = {"spark.history.fs.cleaner.interval", SETTING_KIND_TIME, "1d", "s", 100, 36500 * DAY_MS, NULL, NULL, {"spark.history.fs.cleaner.interval.seconds", NULL},
        "How often that is done; the first time at the start."},
    [SETTING_CLEANER_MAX_AGE] = {"spark.history.fs.cleaner.maxAge", SETTING_KIND_TIME, "7d", "s", 0, 36500 * DAY_MS, NULL, NULL, {"spark.history.fs.cleaner.maxAge.seconds", NULL},
        "Logs that ended, and logs that hold no run, go when they did not change for so long."},
    [SETTING_CLEANER_MAX_NUM] = {"spark.history.fs.cleaner.maxNum", SETTING_KIND_NUMBER, NULL, NULL, 0, INT64_MAX, NULL, NULL, {NULL},
        "Where there are more logs than that, ended ones go, application by application, the oldest first. Without it any number may stay."},
    [SETTING_CLEANER_ABANDONED] = {"afterglow.cleaner.abandoned", SETTING_KIND_SWITCH, "false", NULL, 0, 0, NULL, NULL, {NULL},
        "Whether logs of abandoned runs go, too. The History Server deletes logs without an end after its maxAge; here they stay unless this is on."},
    [SETTING_ABANDONED_AGE] = {"afterglow.abandoned.age", SETTING_KIND_TIME, "7d", "s", 1, 36500 * DAY_MS, NULL, NULL, {NULL},
        "A run without an end whose log did not grow for so long is called abandoned."},
    [SETTING_LISTEN] = {"afterglow.listen", SETTING_KIND_TEXT, "127.0.0.1", NULL, 0, 0, "AFTERGLOW_LISTEN", "--listen", {NULL},
        "Address on which the server answers: HOST, HOST:PORT, :PORT (every address) or [IPv6]:PORT."},
    [SETTING_PORT] = {"spark.history.ui.port", SETTING_KIND_NUMBER, "18080", NULL, 0, 65535, NULL, NULL, {NULL},
        "Port on which the server answers, where the address does not name one; 0: any free one."},
    [SETTING_LISTEN_INSECURE] = {"afterglow.listen.insecure", SETTING_KIND_SWITCH, "false", NULL, 0, 0, "AFTERGLOW_LISTEN_INSECURE", NULL, {NULL},
        "Whether the server may answer on an address that other machines reach although it does not know who asks: neither https with a login, nor a proxy that says the user. For places that are closed by other means, a container's network for one."},
    [SETTING_TLS_CERTIFICATE] = {"afterglow.tls.certificate", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "AFTERGLOW_TLS_CERTIFICATE", NULL, {NULL},
        "File with the server's certificate and those between it and its authority, in PEM: the server answers https with it. It is read again when it changes."},
    [SETTING_TLS_KEY] = {"afterglow.tls.key", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "AFTERGLOW_TLS_KEY", NULL, {NULL},
        "File with its private key, in PEM. Without it the key is in the certificate's file."},
    [SETTING_SSL_ENABLED] = {"spark.ssl.historyServer.enabled", SETTING_KIND_SWITCH, "false", NULL, 0, 0, NULL, NULL, {NULL},
        "Whether https is answered on a port of its own and the other port leads there. As all of spark.ssl.historyServer.* but the port it is spark.ssl.* where it is not set."},
    [SETTING_SSL_PORT] = {"spark.ssl.historyServer.port", SETTING_KIND_NUMBER, NULL, NULL, 0, 65535, NULL, NULL, {NULL},
        "That port; 0: any free one. Without it: 400 above the other one."},
    [SETTING_SSL_KEYSTORE] = {"spark.ssl.historyServer.keyStore", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "PKCS#12 file with certificate and key, where afterglow.tls.certificate is not set. A keystore of Java's own old kind (JKS) is refused, with the command that converts it."},
    [SETTING_SSL_KEYSTORE_PASSWORD] = {"spark.ssl.historyServer.keyStorePassword", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Its password, and that of the key in it."},
    [SETTING_SSL_CERTIFICATE] = {"spark.ssl.historyServer.certChain", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Certificates in PEM, where there is no keystore."},
    [SETTING_SSL_PRIVATE_KEY] = {"spark.ssl.historyServer.privateKey", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Their private key in PEM."},
    [SETTING_SSL_PRIVATE_KEY_PASSWORD] = {"spark.ssl.historyServer.privateKeyPassword", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Its password; of afterglow.tls.key, too."},
    [SETTING_SSL_CLIENTS] = {"spark.ssl.historyServer.needClientAuth", SETTING_KIND_SWITCH, "false", NULL, 0, 0, NULL, NULL, {NULL},
        "Clients are not asked for certificates: with true the server does not start, rather than let in who should not be."},
    [SETTING_LOGIN_USERS_FILE] = {"afterglow.login.usersFile", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "AFTERGLOW_LOGIN_USERS_FILE", NULL, {NULL},
        "File with users and passwords, as htpasswd -B writes it (bcrypt): everybody is asked for a name and a password then. It is read again when it changes."},
    [SETTING_FILTERS] = {"spark.ui.filters", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Classes of Java that ask users of a History Server who they are. They are not run: where there are any, and neither a login nor a proxy's header, the server warns."},
    [SETTING_PROXY_BASE] = {"spark.ui.proxyBase", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "APPLICATION_WEB_PROXY_BASE", NULL, {NULL},
        "Path under which a proxy shows the server, for example /history."},
    [SETTING_ACLS] = {"spark.history.ui.acls.enable", SETTING_KIND_SWITCH, "false", NULL, 0, 0, NULL, NULL, {NULL},
        "Whether the access lists in the logs (spark.ui.view.acls and its kin) decide who sees a run. They need a login or afterglow.auth.header: where nobody is named, everything is shown."},
    [SETTING_ADMINS] = {"spark.history.ui.admin.acls", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Users who see every run; * is everybody."},
    [SETTING_ADMIN_GROUPS] = {"spark.history.ui.admin.acls.groups", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Groups whose members see every run."},
    [SETTING_AUTH_HEADER] = {"afterglow.auth.header", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Header in which a proxy that asks for passwords says who the user is, for example X-Forwarded-User. The proxy must remove it from what clients send."},
    [SETTING_AUTH_PROXIES] = {"afterglow.auth.proxies", SETTING_KIND_LIST, "127.0.0.0/8,::1", NULL, 0, 0, NULL, NULL, {NULL},
        "Addresses or networks of proxies that are believed: in that header, and in X-Forwarded-For and X-Request-Id. While the header is set, requests from elsewhere see no run, unless they log in (afterglow.login.usersFile)."},
    [SETTING_AUTH_GROUPS_HEADER] = {"afterglow.auth.groupsHeader", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Header in which the proxy says the user's groups, comma-separated. Without it they come from afterglow.auth.groupsFile or from the system."},
    [SETTING_AUTH_GROUPS_FILE] = {"afterglow.auth.groupsFile", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "File in the form of /etc/group that says the groups of users. Without it the system is asked (NSS)."},
    [SETTING_AUDIT_FILE] = {"afterglow.audit.file", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "AFTERGLOW_AUDIT_FILE", NULL, {NULL},
        "File to which a line of JSON is added for every page, answer and download: when, who, from where, which run, allowed or not. Opened anew when it was renamed, and on SIGHUP."},
    [SETTING_METRICS_FROM] = {"afterglow.metrics.from", SETTING_KIND_LIST, "127.0.0.0/8,::1", NULL, 0, 0, "AFTERGLOW_METRICS_FROM", NULL, {NULL},
        "Addresses or networks that may read /metrics without a login; whoever sees every run may as well. Behind a proxy the client counts, where the proxy is one of afterglow.auth.proxies and says who that is."},
    [SETTING_FRAMING] = {"spark.ui.allowFramingFrom", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Address of a site that may show the pages in a frame, for example https://portal.example."},
    [SETTING_TRANSPORT_SECURITY] = {"spark.ui.strictTransportSecurity", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Value of the header Strict-Transport-Security, sent with https, ours or that of a proxy that says so (X-Forwarded-Proto)."},
    [SETTING_LOG_ADDRESS] = {"spark.history.custom.executor.log.url", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Where the logs of executors are instead of where they were while the run went on. {{NAME}} is the executor's attribute NAME, {{FILE_NAME}} each file in its LOG_FILES. "
        "Executors without these attributes keep the addresses in the log."},
    [SETTING_LOG_ADDRESS_INCOMPLETE] = {"spark.history.custom.executor.log.url.applyIncompleteApplication", SETTING_KIND_SWITCH, "true", NULL, 0, 0, NULL, NULL, {NULL},
        "Whether that holds for runs that have not ended, too."},
    [SETTING_EXACT] = {"afterglow.history.exact", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Where /api/v1 shall answer as the History Server does although we would not: lists (its lists of runs show every run to everybody, whatever the access lists say), "
        "wait (a request for a run that is not loaded waits for it, a minute at most, instead of a 503 at once)."},
    [SETTING_UPLOADS_DIR] = {"afterglow.uploads.dir", SETTING_KIND_TEXT, NULL, NULL, 0, 0, "AFTERGLOW_UPLOADS", NULL, {NULL},
        "Directory for logs that are added in the browser. It is made where it is missing, and watched like the log directories; a log is read while it arrives. Without it nobody can add a log."},
    [SETTING_UPLOADS_MAX_BYTES] = {"afterglow.uploads.maxBytes", SETTING_KIND_SIZE, "2g", NULL, 1, INT64_MAX, NULL, NULL, {NULL},
        "Largest log that can be added; a rolling log counts as one."},
    [SETTING_UPLOADS_MAX_TOTAL_BYTES] = {"afterglow.uploads.maxTotalBytes", SETTING_KIND_SIZE, "20g", NULL, 1, INT64_MAX, NULL, NULL, {NULL},
        "What all added logs together may take. Room is made by deleting logs from the directory; runs that were read stay."},
    [SETTING_UPLOADS_PER_MINUTE] = {"afterglow.uploads.perMinute", SETTING_KIND_NUMBER, "10", NULL, 1, 10000, NULL, NULL, {NULL},
        "How many logs can be added within a minute, by all users together."},
    [SETTING_UPLOADS_USERS] = {"afterglow.uploads.users", SETTING_KIND_LIST, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Users who may add logs while access lists decide, beside those who see every run; * is everybody. Without access lists everybody may."},
    [SETTING_PINS_MAX] = {"afterglow.pins.max", SETTING_KIND_NUMBER, "10000", NULL, 0, 1000000, NULL, NULL, {NULL},
        "How many views of runs can be pinned, which gives them short addresses. They are kept in the catalogue, some hundred bytes each. 0: none."},
    [SETTING_REDACT_PROPERTIES] = {"spark.redaction.regex", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Regular expression: properties whose key or value it finds are hidden, too. Spark's own default always holds. It is applied to logs that are loaded from then on, and to "
        "the environment of others when it is shown."},
    [SETTING_REDACT_SQL_OPTIONS] = {"spark.sql.redaction.options.regex", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "The same for the settings of SQL sessions. Spark's own default, (?i)url, always holds."},
    [SETTING_REDACT_TEXTS] = {"spark.redaction.string.regex", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "Regular expression: what it finds in plans, descriptions, failures and other texts is hidden, in logs that are loaded from then on."},
    [SETTING_REDACT_SQL_TEXTS] = {"spark.sql.redaction.string.regex", SETTING_KIND_TEXT, NULL, NULL, 0, 0, NULL, NULL, {NULL},
        "One more of these."},
    [SETTING_LOG_LEVEL] = {"afterglow.log.level", SETTING_KIND_WORD, "info", "error warning info debug", 0, 0, "AFTERGLOW_LOG_LEVEL", "--log-level", {NULL},
        "Least important kind of line on standard error: error, warning, info or debug."},
    [SETTING_LOG_FORMAT] = {"afterglow.log.format", SETTING_KIND_WORD, "text", "text json", 0, 0, "AFTERGLOW_LOG_FORMAT", NULL, {NULL},
        "Form of these lines: text (key=value where there are keys) or json (an object a line)."},
};

struct value {
    enum setting_origin origin;
    bool general;                /* from a key for all of Spark's services, which the own key of this one replaces */
    const char *text;            /* arena; lists: NULL */
    int64_t number;
    const char **items;          /* owned; texts in the arena */
    size_t count, capacity;
};

struct settings {
    struct arena arena;
    struct value values[SETTING_COUNT];
    const char *remarks[MAX_REMARKS], *idle[MAX_REMARKS];
    size_t remark_count, idle_count;
    struct hadoop_pair {
        struct str key, value;   /* arena */
        enum setting_origin origin;
    } *hadoop;                   /* owned; as they came */
    size_t hadoop_count, hadoop_capacity;
};

/* Splits "12min" into 12 and "min". Spark takes a whole number, then letters, blanks around, in any case. */
static bool split_number(struct str text, int64_t *ret_number, char unit[8])
{
    size_t begin = 0, end = text.len;
    while (begin < end && isspace((unsigned char)text.ptr[begin]))
        begin++;
    while (end > begin && isspace((unsigned char)text.ptr[end - 1]))
        end--;
    size_t digits = begin;
    if (digits < end && text.ptr[digits] == '-')
        digits++;
    while (digits < end && isdigit((unsigned char)text.ptr[digits]))
        digits++;
    if (!str_to_i64((struct str){text.ptr + begin, digits - begin}, ret_number) || end - digits > 7)
        return false;
    for (size_t i = digits; i < end; i++) {
        if (!isalpha((unsigned char)text.ptr[i]))
            return false;
        unit[i - digits] = (char)tolower((unsigned char)text.ptr[i]);
    }
    unit[end - digits] = '\0';
    return true;
}

struct unit {
    const char *name;
    int64_t factor;
};

static bool scale(int64_t number, const char *name, const struct unit *units, size_t count, int64_t *ret)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(units[i].name, name) == 0)
            return !__builtin_mul_overflow(number, units[i].factor, ret);
    return false;
}

bool setting_parse_time(struct str text, const char *unit, int64_t *ret_ms)
{
    static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}, {"d", DAY_MS}};
    int64_t number;
    char name[8];
    if (!text.ptr || !split_number(text, &number, name))
        return false;
    if (strcmp(name, "us") == 0) {
        *ret_ms = number / 1000;
        return true;
    }
    return scale(number, name[0] ? name : unit, units, ARRAY_LENGTH(units), ret_ms);
}

bool setting_parse_size(struct str text, int64_t *ret_bytes)
{
    static const struct unit units[] = {{"", 1}, {"b", 1}, {"k", 1024}, {"kb", 1024}, {"m", 1 << 20}, {"mb", 1 << 20}, {"g", 1 << 30}, {"gb", 1 << 30},
        {"t", (int64_t)1 << 40}, {"tb", (int64_t)1 << 40}, {"p", (int64_t)1 << 50}, {"pb", (int64_t)1 << 50}};
    int64_t number;
    char name[8];
    return text.ptr && split_number(text, &number, name) && number >= 0 && scale(number, name, units, ARRAY_LENGTH(units), ret_bytes);
}

static bool is_word_of(const char *words, const char *text)
{
    size_t len = strlen(text);
    for (const char *p = words; *p;) {
        size_t word = strcspn(p, " ");
        if (word == len && strncmp(p, text, len) == 0)
            return true;
        p += word;
        p += *p == ' ';
    }
    return false;
}

static enum err_code parse_value(const struct setting *setting, const char *text, int64_t *ret, struct err *err)
{
    bool ok = true;
    *ret = UNKNOWN;
    switch (setting->kind) {
    case SETTING_KIND_TEXT:
    case SETTING_KIND_LIST: return ERR_OK;
    case SETTING_KIND_WORD:
        return is_word_of(setting->unit, text) ? ERR_OK : err_set(err, ERR_INVALID, "%s: '%s' is none of: %s", setting->key, text, setting->unit);
    case SETTING_KIND_SWITCH:
        if (strcasecmp(text, "true") == 0)
            *ret = 1;
        else if (strcasecmp(text, "false") == 0)
            *ret = 0;
        else
            return err_set(err, ERR_INVALID, "%s: '%s' is neither true nor false", setting->key, text);
        return ERR_OK;
    case SETTING_KIND_NUMBER:
        ok = str_to_i64(str_of(text), ret);
        break;
    case SETTING_KIND_TIME:
        ok = setting_parse_time(str_of(text), setting->unit, ret);
        break;
    case SETTING_KIND_SIZE:
        ok = setting_parse_size(str_of(text), ret);
        break;
    }
    static const char *const wanted[] = {
        [SETTING_KIND_NUMBER] = "a whole number", [SETTING_KIND_TIME] = "a time such as 500ms, 10s, 5min, 2h or 7d", [SETTING_KIND_SIZE] = "a size such as 512k, 64m or 2g"};
    if (!ok)
        return err_set(err, ERR_INVALID, "%s: '%s' is not %s", setting->key, text, wanted[setting->kind]);
    if (*ret < setting->low || *ret > setting->high)
        return err_set(err, ERR_INVALID, "%s: '%s' is not within %lld and %lld%s", setting->key, text, (long long)setting->low, (long long)setting->high,
            setting->kind == SETTING_KIND_TIME ? " ms" : setting->kind == SETTING_KIND_SIZE ? " bytes" : "");
    return ERR_OK;
}

static enum err_code add_item(struct settings *self, struct value *value, struct str item, struct err *err)
{
    const char *copy = arena_strndup(&self->arena, item.ptr, item.len);
    if (!copy || mem_grow((void **)&value->items, &value->capacity, value->count + 1, MAX_LIST, sizeof *value->items))
        return err_nomem(err);
    value->items[value->count++] = copy;
    return ERR_OK;
}

static enum err_code add_list(struct settings *self, struct value *value, const char *text, struct err *err)
{
    for (const char *p = text;; p++) {
        size_t len = strcspn(p, ",");
        const char *begin = p, *end = p + len;
        while (begin < end && isspace((unsigned char)*begin))
            begin++;
        while (end > begin && isspace((unsigned char)end[-1]))
            end--;
        enum err_code rc = begin < end ? add_item(self, value, (struct str){begin, (size_t)(end - begin)}, err) : ERR_OK;
        if (rc)
            return rc;
        p += len;
        if (!*p)
            return ERR_OK;
    }
}

/* Whether a value from there gives way to the one that is there. */
static bool is_weaker(enum setting_origin origin, bool general, const struct value *there)
{
    if (there->origin == FROM_DEFAULT || general == there->general)
        return origin < there->origin;
    return general;
}

static enum err_code set_value(struct settings *self, enum setting_id id, const char *text, enum setting_origin origin, bool general, struct err *err)
{
    const struct setting *setting = &setting_table[id];
    struct value *value = &self->values[id];
    int64_t number;
    enum err_code rc = parse_value(setting, text, &number, err);
    if (rc)
        return rc;
    if (is_weaker(origin, general, value))
        return ERR_OK;
    char *copy = arena_strndup(&self->arena, text, strlen(text));
    if (!copy)
        return err_nomem(err);
    value->origin = origin;
    value->general = general;
    value->text = copy;
    value->number = number;
    value->count = 0;
    return setting->kind == SETTING_KIND_LIST ? add_list(self, value, text, err) : ERR_OK;
}

enum err_code settings_set(struct settings *self, enum setting_id id, const char *text, enum setting_origin origin, struct err *err)
{
    return set_value(self, id, text, origin, false, err);
}

enum err_code settings_add(struct settings *self, enum setting_id id, const char *item, enum setting_origin origin, struct err *err)
{
    struct value *value = &self->values[id];
    if (origin < value->origin)
        return ERR_OK;
    if (origin > value->origin) {
        value->count = 0;
        value->text = NULL;
        value->origin = origin;
    }
    return add_item(self, value, str_of(item), err);
}

enum err_code settings_new(struct settings **ret, struct err *err)
{
    struct settings *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    arena_init(&self->arena, 4 * PROPS_MAX_BYTES);
    enum err_code rc = ERR_OK;
    for (int id = 0; id < SETTING_COUNT && !rc; id++) {
        self->values[id].number = UNKNOWN;
        if (setting_table[id].otherwise)
            rc = settings_set(self, (enum setting_id)id, setting_table[id].otherwise, FROM_DEFAULT, err);
    }
    if (rc) {
        settings_free(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

void settings_free(struct settings *self)
{
    if (!self)
        return;
    for (int id = 0; id < SETTING_COUNT; id++)
        mem_free(self->values[id].items);
    mem_free(self->hadoop);
    arena_dispose(&self->arena);
    mem_free(self);
}

/* -1: no such key. */
static int find_key(struct str key)
{
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (str_is(key, setting_table[id].key))
            return id;
        for (size_t i = 0; setting_table[id].aliases[i]; i++)
            if (str_is(key, setting_table[id].aliases[i]))
                return id;
    }
    return -1;
}

/* spark.ssl.X: the key of every service's spark.ssl.SERVICE.X that is not set, but for the port (SSLOptions.parse). -1: none of ours. */
static int find_general_key(struct str key)
{
    static const char all[] = "spark.ssl.", ours[] = "spark.ssl.historyServer.";
    char own[128];
    if (!str_starts(key, all) || str_is(key, "spark.ssl.port"))
        return -1;
    int len = snprintf(own, sizeof own, "%s%.*s", ours, (int)(key.len - strlen(all)), key.ptr + strlen(all));
    return len > 0 && (size_t)len < sizeof own ? find_key(str_of(own)) : -1;
}

static void remark_unknown(struct settings *self, struct str key, const char *where)
{
    if (self->remark_count == MAX_REMARKS || !str_starts(key, "afterglow."))
        return;
    const char *text = self->remark_count == MAX_REMARKS - 1 ? "further unknown afterglow.* settings are not listed"
        : arena_printf(&self->arena, "%s: there is no setting %.*s", where, (int)MIN(key.len, (size_t)200), key.ptr);
    if (text)
        self->remarks[self->remark_count++] = text;
}

static enum err_code take_hadoop(struct settings *self, struct str key, const char *value, enum setting_origin origin, struct err *err)
{
    struct hadoop_pair pair = {.origin = origin};
    if (arena_str(&self->arena, key, &pair.key) || arena_str(&self->arena, str_of(value), &pair.value) ||
        mem_grow((void **)&self->hadoop, &self->hadoop_capacity, self->hadoop_count + 1, MAX_HADOOP, sizeof *self->hadoop))
        return err_nomem(err);
    self->hadoop[self->hadoop_count++] = pair;
    return ERR_OK;
}

bool settings_hadoop(const struct settings *self, size_t index, struct str *ret_key, struct str *ret_value)
{
    for (int origin = FROM_DEFAULT; origin <= FROM_COMMAND_LINE; origin++)
        for (size_t i = 0; i < self->hadoop_count; i++)
            if (self->hadoop[i].origin == (enum setting_origin)origin && index-- == 0) {
                *ret_key = self->hadoop[i].key;
                *ret_value = self->hadoop[i].value;
                return true;
            }
    return false;
}

/* One of the History Server's own that is not in the table. */
static void note_idle(struct settings *self, struct str key)
{
    if (self->idle_count == MAX_REMARKS || (!str_starts(key, "spark.history.") && !str_starts(key, "spark.ssl.historyServer.")))
        return;
    for (size_t i = 0; i < self->idle_count; i++)
        if (str_is(key, self->idle[i]))
            return;
    const char *copy = arena_strndup(&self->arena, key.ptr, MIN(key.len, (size_t)200));
    if (copy)
        self->idle[self->idle_count++] = copy;
}

static enum err_code take_pair(struct settings *self, struct str key, const char *value, enum setting_origin origin, const char *where, struct err *err)
{
    int id = find_key(key);
    if (id < 0 && str_starts(key, HADOOP_PREFIX))
        return take_hadoop(self, (struct str){key.ptr + strlen(HADOOP_PREFIX), key.len - strlen(HADOOP_PREFIX)}, value, origin, err);
    bool general = id < 0;
    if (general && (id = find_general_key(key)) < 0) {
        remark_unknown(self, key, where);
        note_idle(self, key);
        return ERR_OK;
    }
    enum err_code rc = set_value(self, (enum setting_id)id, value, origin, general, err);
    if (rc)
        err_prefix(err, "%s", where);
    return rc;
}

/* The next word of a shell-like text: blanks part words, '…' and "…" hold them together, a backslash takes the next character as it is (not inside '…'). */
static bool next_word(const char **text, struct buf *out)
{
    const char *p = *text;
    char quote = 0;
    buf_clear(out);
    while (isspace((unsigned char)*p))
        p++;
    if (!*p)
        return false;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
        if (quote && *p == quote)
            quote = 0;
        else if (!quote && (*p == '\'' || *p == '"'))
            quote = *p;
        else if (*p == '\\' && quote != '\'' && p[1])
            buf_char(out, *++p);
        else
            buf_char(out, *p);
    }
    *text = p;
    return true;
}

static enum err_code load_java_options(struct settings *self, const char *text, struct err *err)
{
    CLEANUP(buf_dispose) struct buf word;
    buf_init(&word, PROPS_MAX_BYTES);
    while (next_word(&text, &word)) {
        if (buf_failed(&word))
            return err_nomem(err);
        struct str pair = buf_str(&word);
        if (!str_starts(pair, "-D"))
            continue;                /* -Xmx and the like: nothing that a program without a JVM has */
        const char *equals = memchr(pair.ptr, '=', pair.len);
        if (!equals)
            continue;
        enum err_code rc = take_pair(self, (struct str){pair.ptr + 2, (size_t)(equals - pair.ptr) - 2}, equals + 1, FROM_ENVIRONMENT, "SPARK_HISTORY_OPTS", err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err_code load_environment(struct settings *self, struct err *err)
{
    const char *java = getenv("SPARK_HISTORY_OPTS");
    enum err_code rc = java ? load_java_options(self, java, err) : ERR_OK;
    for (int id = 0; id < SETTING_COUNT && !rc; id++) {           /* after the -D pairs: of equal origins the later wins */
        const char *name = setting_table[id].environment, *text = name ? getenv(name) : NULL;
        if (text && *text && (rc = settings_set(self, (enum setting_id)id, text, FROM_ENVIRONMENT, err)))
            err_prefix(err, "%s", name);
    }
    return rc;
}

enum err_code settings_load(struct settings *self, const char *properties_file, struct err *err)
{
    enum err_code rc = load_environment(self, err);
    if (rc || !properties_file)
        return rc;
    CLEANUP(props_dispose) struct props props;
    props_init(&props);
    if ((rc = props_read_file(&props, properties_file, err)))
        return rc;
    for (size_t i = 0; i < props.count && !rc; i++) {
        char where[512];
        snprintf(where, sizeof where, "%s, line %lld", properties_file, (long long)props.items[i].line);
        rc = take_pair(self, props.items[i].key, props.items[i].value.ptr, FROM_FILE, where, err);
    }
    return rc;
}

const char *settings_remark(const struct settings *self, size_t index)
{
    return index < self->remark_count ? self->remarks[index] : NULL;
}

const char *settings_idle(const struct settings *self, size_t index)
{
    return index < self->idle_count ? self->idle[index] : NULL;
}

const char *settings_text(const struct settings *self, enum setting_id id)
{
    return self->values[id].text;
}

int64_t settings_i64(const struct settings *self, enum setting_id id)
{
    return self->values[id].number;
}

size_t settings_list_count(const struct settings *self, enum setting_id id)
{
    return self->values[id].count;
}

const char *settings_list_at(const struct settings *self, enum setting_id id, size_t index)
{
    return index < self->values[id].count ? self->values[id].items[index] : NULL;
}

enum setting_origin settings_origin(const struct settings *self, enum setting_id id)
{
    return self->values[id].origin;
}

/* Cuts "[::1]:8080", "host:80", ":80" or "host" into host and port text (NULL: none). An address with several colons and no brackets is an IPv6 address alone. */
static bool split_address(const char *text, char host[256], const char **ret_port)
{
    const char *end, *colon = strrchr(text, ':');
    *ret_port = NULL;
    if (*text == '[') {
        text++;
        if (!(end = strchr(text, ']')) || (end[1] && end[1] != ':'))
            return false;
        *ret_port = end[1] ? end + 2 : NULL;
    } else if (colon && strchr(text, ':') == colon) {
        end = colon;
        *ret_port = colon + 1;
    } else {
        end = text + strlen(text);
    }
    size_t len = (size_t)(end - text);
    if (len >= 256)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (len == 0)
        memcpy(host, "0.0.0.0", sizeof "0.0.0.0");
    return true;
}

enum err_code settings_listen(const struct settings *self, char *host, int *ret_port, struct err *err)
{
    const char *text = settings_text(self, SETTING_LISTEN), *port_text = NULL;
    int64_t port = settings_i64(self, SETTING_PORT), named = UNKNOWN;
    if (!split_address(text, host, &port_text) ||
        (port_text && (!str_to_i64(str_of(port_text), &named) || named < 0 || named > 65535)))
        return err_set(err, ERR_INVALID, "%s: '%s' is not HOST, HOST:PORT, :PORT or [IPv6]:PORT", setting_table[SETTING_LISTEN].key, text);
    if (host[strspn(host, "0123456789")] == '\0')
        return err_set(err, ERR_INVALID, "%s: '%s' is a port without an address; write 0.0.0.0:%s (a properties file loses a colon at the beginning)", setting_table[SETTING_LISTEN].key, text, host);
    if (known(named) && settings_origin(self, SETTING_PORT) <= settings_origin(self, SETTING_LISTEN))
        port = named;
    *ret_port = (int)port;
    return ERR_OK;
}

void settings_markdown(struct buf *out)
{
    buf_text(out, "| setting | default | environment | option | meaning |\n|---|---|---|---|---|\n");
    for (int id = 0; id < SETTING_COUNT; id++) {
        const struct setting *s = &setting_table[id];
        buf_printf(out, "| `%s` | %s%s%s | %s%s%s | %s%s%s | %s |\n", s->key, s->otherwise ? "`" : "", s->otherwise ? s->otherwise : "–", s->otherwise ? "`" : "",
                   s->environment ? "`" : "", s->environment ? s->environment : "–", s->environment ? "`" : "", s->option ? "`" : "", s->option ? s->option : "–",
                   s->option ? "`" : "", s->help);
    }
}
