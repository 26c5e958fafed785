/* SPDX-License-Identifier: Apache-2.0
 *
 * Every text that analysis says to people, in each language: analysis/messages/{en,zh-CN}.json, compiled in. A text is found by its path in those files, "rules/APP.SCALING/name";
 * a test holds both files to the same paths and placeholders, and to an entry for every rule, bucket, cause, verdict, grade, mute and kind. All static, any thread. */
#ifndef ANALYSIS_MESSAGES_H
#define ANALYSIS_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum lang { LANG_EN, LANG_ZH_CN, LANG_COUNT };
extern const char *const lang_names[LANG_COUNT];             /* "en" "zh-CN": also valid in HTML's lang */

/* "en", "zh", "zh-CN" in any case; false: another one. */
bool lang_find(struct str name, enum lang *ret);

/* The text at section/entry/part (`part` may be NULL: section/entry). NULL: there is none. */
const char *message(enum lang lang, const char *section, struct str entry, const char *part);
/* The same for an entry that is known to be there: a missing one gives its own name, which a test would have seen. */
const char *message_of(enum lang lang, const char *section, const char *entry);

struct message {
    const char *path, *text;
};
/* All of a language, by path, for tests. */
const struct message *messages_all(enum lang lang, size_t *ret_count);

/* Made by tools/embed_messages.cmake. */
extern const struct message messages_en[], messages_zh_cn[];
extern const size_t messages_en_count, messages_zh_cn_count;

#endif
