/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line: one verb a file, cmd_<verb>.c, with argv[0] the verb itself. A verb returns the exit status (design.md 2): 0 done, 1 failed, 2 usage,
 * 3 done but some input was damaged, 4 a finding at or above --fail-on. What all verbs share is here: options, help, settings.
 *
 *   static const struct cli_option options[] = {{"--store", "DIR", SETTING_STORE, "…"}, {"--watch", NULL, CLI_OWN, "…"}, {NULL, NULL, 0, NULL}};
 *   static const struct cli_verb verb = {"ingest", "…usage…", "…what it does…", options};
 *   struct cli cli;
 *   int status = cli_begin(&cli, &verb, argc, argv);
 *   if (status >= 0) return status;                  (help was asked for, or a mistake was told)
 *   … cli_switch(&cli, "--watch") … cli_value(&cli, "--format") … cli.argument_count …
 *   cli_end(&cli);
 *
 * Every verb understands --help, --properties-file FILE and --log-level WORD. "--" ends the options; "--name=value" is the same as "--name value". */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/settings.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_DAMAGED = 3, EXIT_FINDING = 4 };

#define CLI_OWN (-1)                 /* an option of the verb alone, no setting */

struct cli_option {
    const char *name;                /* with its dashes; NULL ends the table */
    const char *value;               /* what help calls the value; NULL: a switch */
    int setting;                     /* enum setting_id, or CLI_OWN. A list setting takes all following words up to the next option, and may be repeated */
    const char *help;
};

struct cli_verb {
    const char *name;
    const char *usage;               /* what follows "afterglow " */
    const char *summary;             /* one sentence, for `afterglow --help` too */
    const struct cli_option *options;
    const char *details;             /* further lines of the verb's help; NULL: none */
};

#define CLI_MAX_GIVEN 64

struct cli {
    const struct cli_verb *verb;
    struct settings *settings;       /* owned */
    const char **arguments;          /* owned array, texts borrowed from argv: what is no option */
    size_t argument_count;
    struct {
        const char *name, *value;
    } given[CLI_MAX_GIVEN];          /* own options that were given, in order */
    size_t given_count;
};

/* Reads options, environment and properties file; sets the log level; tells remarks. Returns -1 to go on, or the exit status when all is said (help, a mistake). */
int cli_begin(struct cli *self, const struct cli_verb *verb, int argc, char **argv);
bool cli_switch(const struct cli *self, const char *name);
const char *cli_value(const struct cli *self, const char *name);      /* last one given; NULL: none */
void cli_end(struct cli *self);

/* "afterglow VERB: message" and where help is; returns EXIT_USAGE. */
int cli_usage_error(const struct cli_verb *verb, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "afterglow VERB: message"; returns EXIT_FAILED. */
int cli_failed(const struct cli_verb *verb, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* --store, AFTERGLOW_STORE or afterglow.store; NULL after telling that it is missing. */
const char *cli_store(const struct cli *self);

/* What the settings say of loading, keeping and deleting. */
struct worker_policy;
void cli_policy(const struct cli *self, struct worker_policy *ret);

/* The verbs; main.c has their table. */
int cmd_serve(int argc, char **argv);
int cmd_ingest(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_analyze(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_settings(int argc, char **argv);

#endif
