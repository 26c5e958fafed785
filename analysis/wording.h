/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers and names as people read them, put into the sentences of analysis/messages. What comes from a log is made harmless for any reader on the way: control characters and those
 * that turn the direction of text become blanks; escaping for HTML or Markdown is the writer's. Pure functions that append to a buffer; any thread. */
#ifndef ANALYSIS_WORDING_H
#define ANALYSIS_WORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define WORDING_UNKNOWN "—"

/* To nothing, or next to it: digits of a larger ratio mean nothing, and are not told. */
#define WORDING_RATIO_MAX 9999

/* One placeholder's value: `text` when it is known, else the number in its unit. */
struct word_arg {
    struct str name, text, unit;
    double value;
};

void word_duration(struct buf *out, double ms);              /* "87 ms" "7.4 s" "2 m 05 s" "5 h 07 m" "2 d 03 h"; slower than that in days */
void word_bytes(struct buf *out, double bytes);              /* "532 B" "12.3 MiB" */
void word_count(struct buf *out, double count);              /* "1,234,567" */
void word_share(struct buf *out, double share);              /* "3.4 %", "42 %" */
void word_time(struct buf *out, double epoch_ms);            /* "2026-11-29 20:57:00", UTC */
/* Any number by its unit: ms s h ns time bytes bytes_per_s share id (no separators) and what is counted. NaN: a dash. */
void word_value(struct buf *out, double value, struct str unit);
/* Text from a log, at most `max` bytes, with … where it was cut. */
void word_text(struct buf *out, struct str text, size_t max);

/* `sentence` with each {name} filled from `args`; a name without a value is a dash. {n?task|tasks} is the first word where n is 1. Texts are cut after 300
 * bytes. */
/* A placeholder of the sentence has no value. */
bool word_lacks(const char *sentence, const struct word_arg *args, size_t count);
void word_fill(struct buf *out, const char *sentence, const struct word_arg *args, size_t count);

#endif
