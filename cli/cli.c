/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/redact_pattern.h"
#include "cli/format.h"
#include "cli/place_setup.h"
#include "place/config.h"

static const struct cli_option common_options[] = {
    {"--properties-file", "FILE", CLI_OWN, "Settings in Spark's properties format, for example a spark-defaults.conf (environment: AFTERGLOW_PROPERTIES_FILE)."},
    {"--log-level", "WORD", SETTING_LOG_LEVEL, "How much to say on standard error: error, warning, info (default) or debug."},
    {"--help", NULL, CLI_OWN, "Show this text."},
    {NULL, NULL, 0, NULL},
};

static const struct cli_option *find_in(const struct cli_option *options, const char *name, size_t len)
{
    for (; options && options->name; options++)
        if (strlen(options->name) == len && strncmp(options->name, name, len) == 0)
            return options;
    return NULL;
}

static const struct cli_option *find_option(const struct cli_verb *verb, const char *name, size_t len)
{
    const struct cli_option *found = find_in(verb->options, name, len);
    return found ? found : find_in(common_options, name, len);
}

#define HELP_COLUMN 26
#define HELP_WIDTH 100

/* Words of `text` from HELP_COLUMN on, lines broken before HELP_WIDTH. The cursor stands at `column`. */
static void print_wrapped(const char *text, int column)
{
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + word > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        bool gap = column > HELP_COLUMN;
        printf("%s%.*s", gap ? " " : "", word, text);
        column += word + gap;
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Columns that a text of ours takes: "DIR…" takes four. */
static int shown(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += (*text & 0xC0) != 0x80;
    return columns;
}

static void print_options(const struct cli_option *options)
{
    for (; options && options->name; options++) {
        int column = 2 + shown(options->name) + (options->value ? 1 + shown(options->value) : 0);
        printf("  %s%s%s", options->name, options->value ? " " : "", options->value ? options->value : "");
        if (column >= HELP_COLUMN - 1) {
            putchar('\n');
            column = 0;
        }
        printf("%*s", HELP_COLUMN - column, "");
        print_wrapped(options->help, HELP_COLUMN);
    }
}

static void print_help(const struct cli_verb *verb)
{
    printf("%s\n\nUsage: afterglow %s\n\n", verb->summary, verb->usage);
    if (verb->details)
        printf("%s\n", verb->details);
    puts("Options:");
    print_options(verb->options);
    print_options(common_options);
}

int cli_usage_error(const struct cli_verb *verb, const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "afterglow %s: ", verb->name);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nUsage: afterglow %s\n'afterglow %s --help' says more.\n", verb->usage, verb->name);
    return EXIT_USAGE;
}

int cli_failed(const struct cli_verb *verb, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "afterglow %s: ", verb->name);
    print_clean(stderr, str_of(text), sizeof text);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

static int take_setting(struct cli *self, const struct cli_option *option, const char *value)
{
    struct err err = {0};
    enum setting_id id = (enum setting_id)option->setting;
    enum err_code rc = setting_table[id].kind == SETTING_KIND_LIST ? settings_add(self->settings, id, value, FROM_COMMAND_LINE, &err)
                                                                   : settings_set(self->settings, id, value, FROM_COMMAND_LINE, &err);
    return rc ? cli_usage_error(self->verb, "%s: %s", option->name, err.message) : -1;
}

static int take_own(struct cli *self, const struct cli_option *option, const char *value)
{
    if (self->given_count == CLI_MAX_GIVEN)
        return cli_usage_error(self->verb, "too many options");
    self->given[self->given_count].name = option->name;
    self->given[self->given_count++].value = value;
    return -1;
}

/* Reads the option at argv[*at] with its values; *at ends on the last word used. */
static int take_option(struct cli *self, int argc, char **argv, int *at)
{
    const char *word = argv[*at], *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct cli_option *option = strcmp(word, "-h") == 0 ? &common_options[2] : find_option(self->verb, word, len);
    if (!option)
        return cli_usage_error(self->verb, "there is no option %.*s", (int)len, word);
    if (!option->value)
        return equals ? cli_usage_error(self->verb, "%s takes no value", option->name) : take_own(self, option, NULL);
    const char *value = equals ? equals + 1 : *at + 1 < argc ? argv[++*at] : NULL;
    if (!value || !*value)
        return cli_usage_error(self->verb, "%s needs a value: %s", option->name, option->value);
    if (option->setting == CLI_OWN)
        return take_own(self, option, value);
    int status = take_setting(self, option, value);
    if (setting_table[option->setting].kind == SETTING_KIND_LIST && !equals)
        while (status < 0 && *at + 1 < argc && argv[*at + 1][0] != '-')
            status = take_setting(self, option, argv[++*at]);
    return status;
}

static int parse(struct cli *self, int argc, char **argv)
{
    bool options_ended = false;
    for (int at = 1; at < argc; at++) {
        const char *word = argv[at];
        int status = -1;
        if (!options_ended && strcmp(word, "--") == 0)
            options_ended = true;
        else if (!options_ended && word[0] == '-' && word[1])
            status = take_option(self, argc, argv, &at);
        else
            self->arguments[self->argument_count++] = word;
        if (status >= 0)
            return status;
    }
    return -1;
}

static void set_log(const struct settings *settings)
{
    static const struct {
        const char *word;
        enum log_level level;
    } levels[] = {{"error", LOG_ERROR}, {"warning", LOG_WARNING}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}};
    for (size_t i = 0; i < ARRAY_LENGTH(levels); i++)
        if (strcmp(settings_text(settings, SETTING_LOG_LEVEL), levels[i].word) == 0)
            log_set_level(levels[i].level);
    log_set_format(strcmp(settings_text(settings, SETTING_LOG_FORMAT), "json") == 0 ? LOG_JSON : LOG_TEXT);
}

static enum err_code set_patterns(const struct settings *settings, struct err *err)
{
    static const struct {
        enum redact_pattern pattern;
        enum setting_id id;
    } patterns[] = {{REDACT_PROPERTIES, SETTING_REDACT_PROPERTIES}, {REDACT_SQL_OPTIONS, SETTING_REDACT_SQL_OPTIONS},
                    {REDACT_TEXTS, SETTING_REDACT_TEXTS}, {REDACT_SQL_TEXTS, SETTING_REDACT_SQL_TEXTS}};
    for (size_t i = 0; i < ARRAY_LENGTH(patterns); i++) {
        struct err reason = {0};
        enum err_code rc = redact_pattern_set(patterns[i].pattern, settings_text(settings, patterns[i].id), &reason);
        if (rc)
            return err_set(err, rc, "%s: %s", setting_table[patterns[i].id].key, reason.message);
    }
    return ERR_OK;
}

int cli_begin(struct cli *self, const struct cli_verb *verb, int argc, char **argv)
{
    struct err err = {0};
    *self = (struct cli){.verb = verb};
    self->arguments = mem_array((size_t)argc + 1, sizeof *self->arguments);
    if (!self->arguments || settings_new(&self->settings, &err)) {
        fprintf(stderr, "afterglow %s: out of memory\n", verb->name);
        cli_end(self);
        return EXIT_FAILED;
    }
    int status = parse(self, argc, argv);
    if (status < 0 && cli_switch(self, "--help")) {
        print_help(verb);
        status = EXIT_DONE;
    }
    const char *file = cli_value(self, "--properties-file");
    if (status < 0 && settings_load(self->settings, file ? file : getenv("AFTERGLOW_PROPERTIES_FILE"), &err))
        status = cli_usage_error(verb, "%s", err.message);
    if (status < 0 && (set_patterns(self->settings, &err) || place_setup(self->settings, &err)))
        status = cli_usage_error(verb, "%s", err.message);
    if (status >= 0) {
        cli_end(self);
        return status;
    }
    set_log(self->settings);
    for (size_t i = 0; settings_remark(self->settings, i); i++)
        log_warning("%s", settings_remark(self->settings, i));
    return -1;
}

bool cli_switch(const struct cli *self, const char *name)
{
    for (size_t i = 0; i < self->given_count; i++)
        if (strcmp(self->given[i].name, name) == 0)
            return true;
    return false;
}

const char *cli_value(const struct cli *self, const char *name)
{
    for (size_t i = self->given_count; i > 0; i--)
        if (strcmp(self->given[i - 1].name, name) == 0)
            return self->given[i - 1].value;
    return NULL;
}

const char *cli_store(const struct cli *self)
{
    const char *store = settings_text(self->settings, SETTING_STORE);
    if (!store || !*store) {
        cli_usage_error(self->verb, "no store is named: --store DIR, AFTERGLOW_STORE, or afterglow.store in a properties file");
        return NULL;
    }
    return store;
}

void cli_end(struct cli *self)
{
    mem_free(self->arguments);
    settings_free(self->settings);
    place_config_clear();
    *self = (struct cli){0};
}
