/* SPDX-License-Identifier: Apache-2.0
 *
 * What `report` and `compare` are asked for alike: --format, --lang, --out, --fail-on; and where what they made goes. */
#ifndef CLI_REPORT_WISH_H
#define CLI_REPORT_WISH_H

#include "analysis/report.h"
#include "cli/cli.h"

struct report_wish {
    struct report_style style;
    const char *out;    /* borrowed from the command line; NULL: standard output */
    enum grade fail_on; /* GRADE_COUNT: none */
};

#define REPORT_WISH_OPTIONS                                                                                                               \
    {"--format", "WORD", CLI_OWN, "text (default), json, html or markdown (md)."}, {"--lang", "WORD", CLI_OWN, "en (default) or zh-CN."}, \
    {                                                                                                                                     \
        "--out", "FILE", CLI_OWN, "Write to FILE instead of standard output."                                                             \
    }

/* -1: all is well, else the exit status. */
int report_wish_read(const struct cli *cli, struct report_wish *ret);
enum err_code report_wish_put(const struct report_wish *wish, const struct buf *text, struct err *err) WARN_UNUSED;

#endif
