/* SPDX-License-Identifier: Apache-2.0
 *
 * afterglow serve: settings in, a running server until a signal says stop. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cli.h"
#include "place/place.h"
#include "server/server.h"

static const struct cli_option options[] = {
    {"--logs", "DIR_OR_URI…", SETTING_LOGS, "Where event logs lie (directories, hdfs://, webhdfs://, s3a://); they are watched. Without it only what the store holds already is served."},
    {"--store", "DIR", SETTING_STORE, "Where the results are kept."},
    {"--listen", "HOST:PORT", SETTING_LISTEN, "Address to answer on; default 127.0.0.1:18080. Port 0 takes a free one and tells it."},
    {"--jobs", "N", SETTING_JOBS, "How many logs are loaded at the same time."},
    {"--assets", "DIR", CLI_OWN, "Serve the pages from this directory instead of the program (while developing them)."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_verb verb = {"serve", "serve --logs DIR_OR_URI… --store DIR [--listen 127.0.0.1:18080] [--properties-file FILE]",
                                     "Answer HTTP: pages and REST interface over the store, and keep the store up to date.", options,
                                     "Starts and watches one 'afterglow ingest --watch' beside itself. SIGTERM or Ctrl-C ends both in order.\n"};

/* What was given on our command line is given on the child's; environment and files it reads itself. */
static size_t ingest_options(const struct cli *cli, const char **out)
{
    static const struct {
        const char *name;
        enum setting_id id;
    } passed[] = {{"--jobs", SETTING_JOBS}, {"--log-level", SETTING_LOG_LEVEL}};
    size_t n = 0;
    const char *file = cli_value(cli, "--properties-file");
    if (file) {
        out[n++] = "--properties-file";
        out[n++] = file;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(passed); i++) {
        if (settings_origin(cli->settings, passed[i].id) == FROM_COMMAND_LINE) {
            out[n++] = passed[i].name;
            out[n++] = settings_text(cli->settings, passed[i].id);
        }
    }
    return n;
}

static const char *text_setting(const struct cli *cli, enum setting_id id)
{
    const char *text = settings_text(cli->settings, id);
    return text && text[0] ? text : NULL;
}

/* False: an unknown word, which was told. */
static bool exact_words(const struct cli *cli, unsigned *ret)
{
    *ret = 0;
    for (size_t i = 0; i < settings_list_count(cli->settings, SETTING_EXACT); i++) {
        const char *word = settings_list_at(cli->settings, SETTING_EXACT, i);
        if (strcmp(word, "lists") == 0) {
            *ret |= EXACT_LISTS;
        } else if (strcmp(word, "wait") == 0) {
            *ret |= EXACT_WAIT;
        } else {
            cli_usage_error(cli->verb, "%s: '%s' is neither lists nor wait", setting_table[SETTING_EXACT].key, word);
            return false;
        }
    }
    return true;
}

/* The lists of users and addresses, in one array that the caller frees; NULL: out of memory. */
static const char **lists_of(const struct cli *cli, struct server_settings *settings)
{
    const struct {
        enum setting_id id;
        const char *const **items;
        size_t *count;
    } lists[] = {{SETTING_ADMINS, &settings->access.admins, &settings->access.admin_count},
                 {SETTING_ADMIN_GROUPS, &settings->access.admin_groups, &settings->access.admin_group_count},
                 {SETTING_AUTH_PROXIES, &settings->access.proxies, &settings->access.proxy_count},
                 {SETTING_METRICS_FROM, &settings->metrics_from, &settings->metrics_from_count},
                 {SETTING_UPLOADS_USERS, &settings->uploads.users, &settings->uploads.user_count}};
    size_t total = 1, at = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        total += settings_list_count(cli->settings, lists[i].id);
    const char **all = mem_array(total, sizeof *all);
    for (size_t i = 0; all && i < ARRAY_LENGTH(lists); i++) {
        *lists[i].items = all + at;
        *lists[i].count = settings_list_count(cli->settings, lists[i].id);
        for (size_t item = 0; item < *lists[i].count; item++)
            all[at++] = settings_list_at(cli->settings, lists[i].id, item);
    }
    return all;
}

/* As the History Server: 400 above the other port, and round within 1024 to 65535 (Utils.userPort); any free one where that is. */
static int64_t https_port(int port)
{
    return port == 0 ? 0 : (port + 400 - 1024 + 64512) % 64512 + 1024;
}

/* False: what was asked for cannot be, which was told. */
static bool tls_settings(const struct cli *cli, struct server_settings *settings)
{
    struct tls_settings *tls = &settings->tls;
    *tls = (struct tls_settings){.certificate = text_setting(cli, SETTING_TLS_CERTIFICATE), .key = text_setting(cli, SETTING_TLS_KEY), .key_password = text_setting(cli, SETTING_SSL_PRIVATE_KEY_PASSWORD)};
    settings->https_port = UNKNOWN;
    if (settings_i64(cli->settings, SETTING_SSL_ENABLED) != 1)
        return true;
    settings->https_port = known_or(settings_i64(cli->settings, SETTING_SSL_PORT), https_port(settings->port));
    if (!tls->certificate && !(tls->keystore = text_setting(cli, SETTING_SSL_KEYSTORE))) {
        tls->certificate = text_setting(cli, SETTING_SSL_CERTIFICATE);
        tls->key = text_setting(cli, SETTING_SSL_PRIVATE_KEY);
    }
    tls->keystore_password = text_setting(cli, SETTING_SSL_KEYSTORE_PASSWORD);
    if (settings_i64(cli->settings, SETTING_SSL_CLIENTS) == 1)
        cli_usage_error(cli->verb, "%s is true, and clients cannot be asked for certificates here: use afterglow.login.usersFile, or a proxy", setting_table[SETTING_SSL_CLIENTS].key);
    else if (!tls->certificate && !tls->keystore)
        cli_usage_error(cli->verb, "%s is true, and there is no certificate: set afterglow.tls.certificate, or %s", setting_table[SETTING_SSL_ENABLED].key, setting_table[SETTING_SSL_KEYSTORE].key);
    else
        return true;
    return false;
}

/* What an administrator may expect to hold. */
static void tell_idle(const struct settings *settings)
{
    const char *key;
    for (size_t i = 0; (key = settings_idle(settings, i)); i++)
        log_info("%s does nothing here", key);
}

static int run(const struct server_settings *settings)
{
    struct err err = {0};
    struct server *server = NULL;
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    if (settings->audit_file) /* else it ends us, as it does when a terminal is closed */
        sigaddset(&stops, SIGHUP);
    /* Before any thread is made: all of them inherit the mask, and only sigwait below sees the signals. */
    pthread_sigmask(SIG_BLOCK, &stops, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (server_new(&server, settings, &err) || server_start(server, &err)) {
        fprintf(stderr, "afterglow serve: %s\n", err.message);
        server_free(server);
        return EXIT_FAILED;
    }
    log_info("listening on %s", server_address(server));
    if (server_plain_address(server))
        log_info("%s leads there", server_plain_address(server));
    int signal_number = 0;
    while (sigwait(&stops, &signal_number) == 0 && signal_number == SIGHUP)
        server_reopen(server);
    log_info("stopping (%s)", strsignal(signal_number));
    server_free(server);
    return EXIT_DONE;
}

int cmd_serve(int argc, char **argv)
{
    struct cli cli;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    struct err err = {0};
    char host[256];
    const char *options_for_ingest[8];
    /* The History Server's default place is for those who ask for it by its key: a server that was given none serves its store. */
    size_t place_count = settings_origin(cli.settings, SETTING_LOGS) == FROM_DEFAULT ? 0 : settings_list_count(cli.settings, SETTING_LOGS);
    const char **places = mem_array(place_count + 1, sizeof *places);
    struct server_settings settings = {.store_dir = cli_store(&cli),
                                       .host = host,
                                       .listen_insecure = settings_i64(cli.settings, SETTING_LISTEN_INSECURE) == 1,
                                       .login_users_file = text_setting(&cli, SETTING_LOGIN_USERS_FILE),
                                       .audit_file = text_setting(&cli, SETTING_AUDIT_FILE),
                                       .proxy_base = settings_text(cli.settings, SETTING_PROXY_BASE),
                                       .access = {.enabled = settings_i64(cli.settings, SETTING_ACLS) == 1,
                                                  .header = text_setting(&cli, SETTING_AUTH_HEADER),
                                                  .groups_header = text_setting(&cli, SETTING_AUTH_GROUPS_HEADER),
                                                  .groups_file = text_setting(&cli, SETTING_AUTH_GROUPS_FILE),
                                                  .login = text_setting(&cli, SETTING_LOGIN_USERS_FILE) != NULL},
                                       .framing_from = text_setting(&cli, SETTING_FRAMING),
                                       .transport_security = text_setting(&cli, SETTING_TRANSPORT_SECURITY),
                                       .log_addresses = {.pattern = text_setting(&cli, SETTING_LOG_ADDRESS),
                                                         .complete_only = settings_i64(cli.settings, SETTING_LOG_ADDRESS_INCOMPLETE) == 0},
                                       .uploads = {.dir = text_setting(&cli, SETTING_UPLOADS_DIR),
                                                   .most_bytes = settings_i64(cli.settings, SETTING_UPLOADS_MAX_BYTES),
                                                   .most_total_bytes = settings_i64(cli.settings, SETTING_UPLOADS_MAX_TOTAL_BYTES),
                                                   .most_per_minute = settings_i64(cli.settings, SETTING_UPLOADS_PER_MINUTE)},
                                       .most_pins = settings_i64(cli.settings, SETTING_PINS_MAX),
                                       .redaction = text_setting(&cli, SETTING_REDACT_PROPERTIES),
                                       .all = cli.settings,
                                       .assets_dir = cli_value(&cli, "--assets"),
                                       .places = places,
                                       .place_count = place_count,
                                       .ingest_options = options_for_ingest};
    const char **lists = lists_of(&cli, &settings);
    if (!places || !lists) {
        fputs("afterglow serve: out of memory\n", stderr);
        status = EXIT_FAILED;
    } else if (!settings.store_dir || !exact_words(&cli, &settings.exact)) {
        status = EXIT_USAGE;
    } else if (cli.argument_count) {
        status = cli_usage_error(&verb, "what is '%s'? directories of logs follow --logs", cli.arguments[0]);
    } else if (settings_listen(cli.settings, host, &settings.port, &err)) {
        status = cli_usage_error(&verb, "%s", err.message);
    } else if (!tls_settings(&cli, &settings)) {
        status = EXIT_USAGE;
    } else {
        for (size_t i = 0; i < place_count && status < 0; i++) {
            struct stat st;
            char *address = NULL;
            places[i] = settings_list_at(cli.settings, SETTING_LOGS, i);
            if (place_address(places[i], &address, &err))
                status = cli_usage_error(&verb, "%s: %s", place_shown(places[i]), err.message);
            else if (!place_is_remote(address) && stat(address, &st) != 0)
                log_warning("%s: %s; it is looked for again at every scan", address, strerror(errno));
            mem_free(address);
        }
        tell_idle(cli.settings);
        if (settings.access.enabled && !settings.access.header && !settings.access.login)
            log_warning("access lists are on and neither afterglow.login.usersFile nor afterglow.auth.header is set: nobody is named, so everything is shown to everybody");
        if (settings_list_count(cli.settings, SETTING_FILTERS) && !settings.access.header && !settings.access.login)
            log_warning("spark.ui.filters names Java classes, which are not run here: nobody is asked who they are; see afterglow.login.usersFile and afterglow.auth.header");
        if (status < 0) {
            settings.ingest_option_count = ingest_options(&cli, options_for_ingest);
            status = run(&settings);
        }
    }
    mem_free(lists);
    mem_free(places);
    cli_end(&cli);
    return status;
}
