/* SPDX-License-Identifier: Apache-2.0 */
#include "server/negotiate.h"

#include <strings.h>

static struct str trim(struct str s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = (struct str){s.ptr + 1, s.len - 1};
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static struct str next_item(struct str *rest, char separator)
{
    const char *p = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
    struct str item = {rest->ptr, p ? (size_t)(p - rest->ptr) : rest->len};
    *rest = p ? (struct str){p + 1, rest->len - item.len - 1} : (struct str){rest->ptr + rest->len, 0};
    return trim(item);
}

static bool same_word(struct str s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.ptr, word, s.len) == 0;
}

/* "q=0", "q=0.000": refused. */
static bool weight_is_zero(struct str weight)
{
    if (weight.len < 3 || (weight.ptr[0] != 'q' && weight.ptr[0] != 'Q') || weight.ptr[1] != '=')
        return false;
    for (size_t i = 2; i < weight.len; i++)
        if (weight.ptr[i] != '0' && weight.ptr[i] != '.')
            return false;
    return true;
}

bool negotiate_gzip(struct str accept_encoding)
{
    bool star = false;
    while (accept_encoding.len) {
        struct str item = next_item(&accept_encoding, ',');
        struct str coding = next_item(&item, ';');
        bool refused = weight_is_zero(trim(item));
        if (same_word(coding, "gzip") || same_word(coding, "x-gzip"))
            return !refused;
        if (same_word(coding, "*"))
            star = !refused;
    }
    return star;
}

/* Thousandths; without a weight all of them. */
static int weight_of(struct str parameters)
{
    while (parameters.len) {
        struct str item = next_item(&parameters, ';');
        if (item.len < 3 || (item.ptr[0] | 0x20) != 'q' || item.ptr[1] != '=')
            continue;
        int weight = item.ptr[2] == '1' ? 1000 : 0, place = 100;
        for (size_t i = 4; i < item.len && weight < 1000 && item.ptr[i] >= '0' && item.ptr[i] <= '9'; i++, place /= 10)
            weight += (item.ptr[i] - '0') * place;
        return weight;
    }
    return 1000;
}

int negotiate_type(struct str accept, const struct negotiable *types, size_t count, int otherwise)
{
    int best = -1, best_weight = 0;
    size_t best_place = count;
    if (!str_known(accept))
        return otherwise;
    while (accept.len) {
        struct str item = next_item(&accept, ',');
        struct str type = next_item(&item, ';');
        int weight = weight_of(item);
        for (size_t i = 0; i < count; i++)
            if (same_word(type, types[i].type) && weight > 0 && (weight > best_weight || (weight == best_weight && i < best_place))) {
                best = types[i].value;
                best_weight = weight;
                best_place = i;
            }
    }
    return best;
}

enum lang negotiate_lang(struct str accept_language)
{
    enum lang best = LANG_EN;
    int best_weight = 0;
    while (accept_language.len) {
        struct str item = next_item(&accept_language, ',');
        struct str range = next_item(&item, ';');
        struct str language = next_item(&range, '-'); /* zh-TW reads zh-CN better than English */
        int weight = weight_of(item);
        bool is_chinese = same_word(language, "zh");
        if (weight <= best_weight || (!is_chinese && !same_word(language, "en")))
            continue;
        best = is_chinese ? LANG_ZH_CN : LANG_EN;
        best_weight = weight;
    }
    return best;
}

static struct str without_weak(struct str tag)
{
    return tag.len >= 2 && tag.ptr[0] == 'W' && tag.ptr[1] == '/' ? (struct str){tag.ptr + 2, tag.len - 2} : tag;
}

bool negotiate_etag(struct str if_none_match, struct str etag)
{
    if (!etag.len)
        return false;
    etag = without_weak(etag);
    while (if_none_match.len) {
        struct str item = next_item(&if_none_match, ',');
        if (str_is(item, "*") || str_eq(without_weak(item), etag))
            return true;
    }
    return false;
}
