/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"

#define MAX_PATTERN_BYTES ((size_t)16 << 10)
#define MAX_DEPTH 100           /* of parentheses: the compiler recurses */
#define HEAP_KIB 4096           /* for the way back */
#define STEP ((size_t)16 << 10) /* a match begins within so many bytes of a look: what one look may cost at most is known, whatever the pattern */
#define ITEMS_PER_BYTE 64       /* of the pattern, tried: an honest one needs a few */

static pcre2_code *codes[REDACT_PATTERN_COUNT];

static void *allocate(PCRE2_SIZE bytes, void *context UNUSED)
{
    return mem_alloc(bytes);
}

static void release(void *p, void *context UNUSED)
{
    mem_free(p);
}

static enum err_code refuse(int code, PCRE2_SIZE at, struct err *err)
{
    PCRE2_UCHAR text[128] = "";
    pcre2_get_error_message(code, text, sizeof text);
    return err_set(err, ERR_INVALID, "not a regular expression: %s (at character %zu)", (const char *)text, (size_t)at);
}

enum err_code redact_pattern_set(enum redact_pattern which, const char *pattern, struct err *err)
{
    pcre2_code_free(codes[which]);
    codes[which] = NULL;
    if (!pattern || !pattern[0])
        return ERR_OK;
    pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_compile_context *limits = memory ? pcre2_compile_context_create(memory) : NULL;
    enum err_code rc = ERR_OK;
    if (limits) {
        int code;
        PCRE2_SIZE at;
        pcre2_set_max_pattern_length(limits, MAX_PATTERN_BYTES);
        pcre2_set_parens_nest_limit(limits, MAX_DEPTH);
        /* A callout before each item, and a repeat that may be given back step by step, so that all work is seen and counted. */
        uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT | PCRE2_NO_AUTO_POSSESS | PCRE2_USE_OFFSET_LIMIT;
        codes[which] = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &at, limits);
        if (!codes[which])
            rc = refuse(code, at, err);
    } else {
        rc = err_nomem(err);
    }
    pcre2_compile_context_free(limits);
    pcre2_general_context_free(memory);
    return rc;
}

bool redact_pattern_is_set(enum redact_pattern which)
{
    return codes[which] != NULL;
}

static int count(pcre2_callout_block *block UNUSED, void *left)
{
    return --*(size_t *)left ? 0 : PCRE2_ERROR_CALLOUT;
}

/* One look for a match that begins in [from, from + STEP). The number of PCRE2: above 0, or an error. */
static int look(const pcre2_code *code, struct str text, size_t from, struct str *ret)
{
    size_t end = MIN(text.len, from + STEP + REDACT_PATTERN_REACH), left = (end - from + 1) * ITEMS_PER_BYTE;
    pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
    pcre2_match_context *limits = memory ? pcre2_match_context_create(memory) : NULL;
    pcre2_match_data *data = limits ? pcre2_match_data_create(1, memory) : NULL;
    int found = PCRE2_ERROR_NOMEMORY;
    if (data) {
        pcre2_set_callout(limits, count, &left);
        pcre2_set_offset_limit(limits, from + STEP - 1);
        pcre2_set_heap_limit(limits, HEAP_KIB);
        found = pcre2_match(code, (PCRE2_SPTR)text.ptr, end, from, PCRE2_NOTEMPTY, data, limits);
        if (found >= 0) {
            const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
            size_t begin = MIN(at[0], at[1]); /* \K may stand anywhere */
            *ret = (struct str){text.ptr + begin, MAX(at[0], at[1]) - begin};
        }
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    pcre2_general_context_free(memory);
    return found;
}

bool redact_pattern_next(enum redact_pattern which, struct str text, size_t from, struct str *ret)
{
    for (; codes[which] && from < text.len; from += STEP) {
        int found = look(codes[which], text, from, ret);
        if (found >= 0)
            return true;
        if (found != PCRE2_ERROR_NOMATCH) {
            *ret = (struct str){text.ptr + from, text.len - from};
            return true;
        }
    }
    return false;
}

bool redact_pattern_finds(enum redact_pattern which, struct str text)
{
    struct str match;
    return redact_pattern_next(which, text, 0, &match);
}
