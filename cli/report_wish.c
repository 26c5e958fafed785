/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_wish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int word_index(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

int report_wish_read(const struct cli *cli, struct report_wish *ret)
{
    const char *format = cli_value(cli, "--format"), *lang = cli_value(cli, "--lang"), *fail_on = cli_value(cli, "--fail-on");
    int which = format && strcmp(format, "md") == 0 ? (int)REPORT_MARKDOWN : format ? word_index(format, report_format_names, REPORT_FORMAT_COUNT) : REPORT_TEXT;
    int grade = fail_on ? word_index(fail_on, grade_names, GRADE_COUNT) : GRADE_COUNT;
    *ret = (struct report_wish){.out = cli_value(cli, "--out"), .fail_on = (enum grade)grade};
    if (which < 0)
        return cli_usage_error(cli->verb, "--format: '%s' is none of text, json, html, markdown", format);
    if (lang && !lang_find(str_of(lang), &ret->style.lang))
        return cli_usage_error(cli->verb, "--lang: '%s' is neither en nor zh-CN", lang);
    if (grade < 0 || grade == GRADE_OK)
        return cli_usage_error(cli->verb, "--fail-on: '%s' is none of info, low, moderate, severe", fail_on);
    ret->style.format = (enum report_format)which;
    ret->style.colour = which == REPORT_TEXT && !ret->out && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    return -1;
}

enum err_code report_wish_put(const struct report_wish *wish, const struct buf *text, struct err *err)
{
    FILE *to = wish->out ? fopen(wish->out, "w") : stdout;
    if (!to)
        return err_set_errno(err, errno, "cannot write %s", wish->out);
    bool failed = fwrite(text->data, 1, text->len, to) != text->len;
    failed |= (wish->out ? fclose(to) : fflush(to)) != 0;
    return failed ? err_set(err, ERR_IO, "cannot write to %s", wish->out ? wish->out : "standard output") : ERR_OK;
}
