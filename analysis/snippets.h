/* SPDX-License-Identifier: Apache-2.0
 *
 * Code and settings that cure something, to be copied (spec/findings.md, appendix A). Which ones a rule has, and in which order, stands in the table of rules; their titles are in
 * analysis/messages. Static, any thread. */
#ifndef ANALYSIS_SNIPPETS_H
#define ANALYSIS_SNIPPETS_H

#include "analysis/messages.h"
#include "analysis/wording.h"

struct snippet {
    const char *id;                  /* "SHUFPART" */
    const char *language;            /* python sql conf xml */
    const char *code;                /* with {placeholders} */
};
extern const struct snippet snippets[];
extern const size_t snippet_count;
const struct snippet *snippet_find(struct str id);

/* The code with placeholders filled: whole numbers, and texts that are names and nothing else, since people run this and what is in a log may be hostile. The others stay, as <name>.
 * Settings for spark-submit are followed by the same in Python. Comments are in the language of the report. */
void snippet_fill(struct buf *out, const struct snippet *snippet, enum lang lang, const struct word_arg *args, size_t count);

#endif
