/* SPDX-License-Identifier: Apache-2.0
 *
 * From argv to a verb. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/confine.h"
#include "base/db.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/cli.h"

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    {"serve", cmd_serve, "Answer HTTP: pages and REST interface over the store, and keep the store up to date."},
    {"ingest", cmd_ingest, "Read event logs into the store."},
    {"analyze", cmd_analyze, "Run the rules again over the facts of a store, without the logs."},
    {"report", cmd_report, "Say what was wrong with a run, what it cost and what to change."},
    {"compare", cmd_compare, "Say where the difference between two runs of a job comes from."},
    {"list", cmd_list, "Show every log the store knows, its state, and the run in it."},
    {"clean", cmd_clean, "Say which logs and which loaded runs would go, and why; or delete them."},
    {"dump", cmd_dump, "Print the stored tables of one run as sorted text."},
    {"settings", cmd_settings, "Print the table of all settings as Markdown."},
};

static void print_help(FILE *out)
{
    fputs("Afterglow opens Apache Spark event logs after the run.\n\nUsage: afterglow VERB [OPTION…] [ARGUMENT…]\n\nVerbs:\n", out);
    for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++)
        fprintf(out, "  %-10s%s\n", verbs[i].name, verbs[i].summary);
    fputs("\n'afterglow VERB --help' explains a verb; 'afterglow --version' names the version.\n\n"
          "From a directory of logs to pages in a browser:\n  afterglow serve --logs /var/log/spark --store /var/lib/afterglow\n\n"
          "Exit status: 0 done; 1 failed; 2 the command line is wrong; 3 done, but some input was damaged (what was readable is stored);\n"
          "4 a finding at or above --fail-on.\n", out);
}

int cmd_settings(int argc, char **argv)
{
    static const struct cli_verb verb = {"settings", "settings", "Print the table of all settings as Markdown.", NULL, NULL};
    struct cli cli;
    int status = cli_begin(&cli, &verb, argc, argv);
    if (status >= 0)
        return status;
    if (cli.argument_count) {
        status = cli_usage_error(&verb, "%s is not expected here", cli.arguments[0]);
        cli_end(&cli);
        return status;
    }
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, (size_t)1 << 20);
    settings_markdown(&text);
    cli_end(&cli);
    if (buf_failed(&text))
        return EXIT_FAILED;
    return fputs(text.data, stdout) < 0 || fflush(stdout) ? EXIT_FAILED : EXIT_DONE;
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LENGTH(verbs); i++)
        if (strcmp(name, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
}

int main(int argc, char **argv)
{
    mem_begin();
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word && strcmp(word, "help") == 0 && argc == 3 && find_verb(argv[2])) {
        char help[] = "--help";
        return find_verb(argv[2])->run(2, (char *[]){argv[2], help, NULL});
    }
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (word && strcmp(word, "--version") == 0) {
        puts("afterglow " AFTERGLOW_VERSION);
        return EXIT_DONE;
    }
    signal(SIGXFSZ, SIG_IGN);   /* a file-size limit is a write that fails, with a message, and no death */
    confine_privileges();
    db_setup();
    const struct verb *verb = find_verb(word);
    if (verb)
        return verb->run(argc - 1, argv + 1);
    if (word)
        fprintf(stderr, "afterglow: there is no verb '%s'; 'afterglow --help' names them all\n", word);
    else
        print_help(stderr);
    return EXIT_USAGE;
}
