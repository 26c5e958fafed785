/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <strings.h>

#include "base/redact_pattern.h"

static bool word_at(struct str text, size_t at, const char *word)
{
    size_t len = strlen(word);
    return at <= text.len && text.len - at >= len && strncasecmp(text.ptr + at, word, len) == 0;
}

/* ---- characters ---- */

enum { KEY = 1, SPACE = 2, BLANK = 4, QUOTE = 8, CLOSING = 16, DIGIT = 32, CAPITAL = 64 };

static unsigned class_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return KEY;
    if (c >= 'A' && c <= 'Z')
        return KEY | CAPITAL;
    if (c >= '0' && c <= '9')
        return KEY | DIGIT;
    switch (c) {
    case '_':
    case '.':
    case '$':
    case '-': return KEY;
    case ' ':
    case '\t': return SPACE | BLANK;
    case '\n':
    case '\r': return BLANK;
    case '"':
    case '\'':
    case '`': return QUOTE;
    case ')':
    case ']':
    case '}':
    case '>': return CLOSING;
    default: return 0;
    }
}

static bool is(struct str text, size_t at, unsigned class)
{
    return at < text.len && (class_of(text.ptr[at]) & class);
}

static char at_or_nul(struct str text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

static size_t skip(struct str text, size_t at, unsigned class)
{
    while (is(text, at, class))
        at++;
    return at;
}

static size_t skip_char(struct str text, size_t at, char c)
{
    while (at < text.len && text.ptr[at] == c)
        at++;
    return at;
}

static struct str piece(struct str text, size_t begin, size_t end)
{
    return (struct str){text.ptr + begin, end - begin};
}

static bool same_word(struct str a, struct str b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* ---- values ---- */

struct key {
    struct str name;
    char before, before_that; /* the character in front of it and its quote, and the one before that and blanks; NUL at the begin of the text */
    bool quoted;
};

/* "x", 'x', also with backslashes before the quotes. *at is on the first character of the opening, afterwards on the closing quote. False: there is no quote. */
static bool quoted_value(struct str text, size_t *at, struct str *ret)
{
    size_t open = skip_char(text, *at, '\\'), depth = open - *at, run = 0, i;
    if (!is(text, open, QUOTE))
        return false;
    char quote = text.ptr[open];
    for (i = open + 1; i < text.len; i++) {
        if (text.ptr[i] == '\\') {
            run++;
            continue;
        }
        if (text.ptr[i] == quote && (depth ? run <= depth : run % 2 == 0)) {
            if (quote != '\'' || depth || at_or_nul(text, i + 1) != quote)
                break;
            i++; /* '' inside an SQL literal */
        }
        run = 0;
    }
    *ret = piece(text, open + 1, i < text.len ? i - MIN(run, depth) : i);
    *at = i;
    return true;
}

/* Does another key begin here, as in "password=x,user=y"? What separates is no part of a key, so no byte is looked at twice. */
static bool another_key(struct str text, size_t at)
{
    size_t end = skip(text, at, KEY);
    char c = at_or_nul(text, end);
    return end > at && (c == '=' || c == ':' || (c == ' ' && at_or_nul(text, end + 1) == '-' && at_or_nul(text, end + 2) == '>'));
}

/* A value without quotes: up to blank or quote, or to what separates the key from others. `pair`: (name,value). */
static struct str bare_value(struct str text, size_t *at, char before, bool pair)
{
    size_t begin = *at, i = begin;
    if (at_or_nul(text, i) == '{') {
        while (i < text.len && text.ptr[i] != '}')
            i++; /* SQL Server: password={a;b} */
        *at = i;
        return piece(text, begin + 1, i);
    }
    for (; i < text.len && !is(text, i, BLANK | QUOTE); i++) {
        char c = text.ptr[i], next = at_or_nul(text, i + 1);
        bool ends = next == '\0' || is(text, i + 1, BLANK | QUOTE | CLOSING);
        if ((c == '&' || c == '#') && (before == '?' || before == '&'))
            break;
        if (c == ';' && before == ';')
            break;
        if ((c == ',' || c == ';') && (ends || another_key(text, i + 1)))
            break;
        if (c == '\\' && is(text, i + 1, QUOTE))
            break;
        if (is(text, i, CLOSING) && (ends || pair || next == ',' || next == ';'))
            break;
    }
    *at = i;
    return piece(text, begin, i);
}

/* The last part of a dotted name. */
static struct str last_segment(struct str name)
{
    for (size_t i = name.len; i-- > 0;)
        if (name.ptr[i] == '.' || name.ptr[i] == '$')
            return piece(name, i + 1, name.len);
    return name;
}

static bool ends_with_one_of(struct str name, const char *const *ends)
{
    for (; *ends; ends++)
        if (str_ends(name, *ends))
            return true;
    return false;
}

/* org.apache.x.SecretManager, SecretManager$InvalidToken, TokenManager, SecretManager.scala */
static bool is_class(struct str name)
{
    static const char *const sources[] = {".scala", ".java", ".py", ".kt", ".jar", ".sql", NULL};
    static const char *const classes[] = {"Exception", "Error", "Manager", "Provider", NULL};
    struct str last = last_segment(name);
    bool camel = last.len >= 2 && is(last, 0, CAPITAL) && !is(last, 1, CAPITAL);
    return ends_with_one_of(name, sources) || (camel && (last.len < name.len || ends_with_one_of(name, classes)));
}

/* What tells nothing: nothing, a word of SQL, the type of a column in a schema, or what is hidden already. */
static bool harmless(struct str value)
{
    static const char *const words[] = {"null",    "none",   "true", "false",     "string",        "int",   "integer",  "bigint", "long",    "double", "float",
                                        "boolean", "binary", "date", "timestamp", "timestamp_ntz", "short", "smallint", "byte",   "tinyint", "void",   "variant"};
    static const char *const types[] = {"decimal(", "array<", "map<", "struct<", "varchar(", "char("};
    while (value.len && (is(value, value.len - 1, CLOSING) || value.ptr[value.len - 1] == ',' || value.ptr[value.len - 1] == ';'))
        value.len--;
    if (!value.len || word_at(value, 0, "*********(redacted"))
        return true;
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
        if (word_at(value, 0, types[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (same_word(value, str_of(words[i])))
            return true;
    return false;
}

/* Behind the separator after a key. */
static bool separated_value(struct str text, const struct key *key, size_t *at, struct str *ret)
{
    if (quoted_value(text, at, ret))
        return !harmless(*ret);
    *ret = bare_value(text, at, key->before, false);
    bool path = at_or_nul(*ret, 0) == '/' && str_ends(key->name, "PWD");
    bool column = same_word(last_segment(*ret), last_segment(key->name));
    return !path && !column && !harmless(*ret);
}

/* Without a separator: password 'x', --password x. *at is behind the blanks. */
static bool adjacent_value(struct str text, const struct key *key, size_t *at, struct str *ret)
{
    static const char *const words[] = {"token", "tokens", "secret", "credential", "credentials"};
    bool prose = false; /* unexpected token 'x' */
    for (size_t i = 0; i < ARRAY_LENGTH(words) && !key->quoted && key->before == ' ' && (class_of(key->before_that) & KEY); i++)
        prose |= same_word(key->name, str_of(words[i]));
    if (prose)
        return false;
    if (quoted_value(text, at, ret))
        return !harmless(*ret);
    if (key->quoted || key->name.ptr[0] != '-' || at_or_nul(text, *at) == '-')
        return false;
    *ret = bare_value(text, at, key->before, false);
    return !harmless(*ret);
}

/* The value that follows a key, *at being behind the key. False: none does, and *at is where to go on. */
static bool value_of(struct str text, const struct key *key, size_t *at, struct str *ret)
{
    size_t behind = *at, sign = skip(text, behind, SPACE), value = sign;
    char c = at_or_nul(text, sign), next = at_or_nul(text, sign + 1);
    if (c == '=') {
        value = skip_char(text, sign, '=');
        value += at_or_nul(text, value) == '>';
    } else if (c == ':' && next != ':') {
        bool path = key->before == '/' || key->before == '\\'; /* an entry of a class path */
        if (!key->quoted && (path || is_class(key->name)))
            return false;
        value = sign + (next == '=' ? 2 : 1);
    } else if (c == '-' && next == '>') {
        value = sign + 2;
    } else if (c == ',' && key->quoted && (key->before == '(' || key->before == '[')) {
        value = skip(text, sign + 1, SPACE);
        if (!quoted_value(text, &value, ret))
            return false;
        *at = value;
        return !harmless(*ret) && (key->before == '(' || is(text, skip(text, value + 1, SPACE), CLOSING));
    } else if (c == ',' && sign == behind && !key->quoted && key->before == '(' && strchr("(,[", key->before_that)) {
        *at = sign + 1;
        *ret = bare_value(text, at, key->before, true);
        return !harmless(*ret) && is(text, *at, CLOSING);
    } else if (sign > behind && sign < text.len) {
        *at = sign;
        return adjacent_value(text, key, at, ret);
    }
    if (value == sign)
        return false;
    *at = skip(text, value, SPACE);
    return separated_value(text, key, at, ret);
}

/* ---- triggers ---- */

/* A character that every trigger has and that is rare in text: most bytes cost one look at this table. */
static const bool is_mark[256] = {[':'] = true, ['I'] = true, ['b'] = true, ['B'] = true, ['c'] = true, ['C'] = true, ['k'] = true, ['K'] = true, ['w'] = true, ['W'] = true};

static const struct key_word {
    const char *word;
    size_t mark;   /* where its rare character is */
    bool of_spark; /* in Spark's rule for keys and values */
} key_words[] = {
    {"secret", 2, true},    {"credential", 0, true}, {"token", 2, true},       {"password", 4, true},     {"passwd", 4, false},      {"pwd", 1, false},
    {"accesskey", 6, true}, {"access.key", 7, true}, {"access_key", 7, false}, {"access-key", 7, false},  {"apikey", 3, false},      {"api_key", 4, false},
    {"api-key", 4, false},  {"api.key", 4, false},   {"accountkey", 7, false}, {"account.key", 8, false}, {"account_key", 8, false}, {"account-key", 8, false},
};

/* The key word that has its rare character at `at`; NULL: there is none. */
static const struct key_word *key_word_at(struct str text, size_t at)
{
    char mark = (char)(text.ptr[at] | 0x20), next = (char)(at_or_nul(text, at + 1) | 0x20);
    if (!(mark == 'c' ? next == 'r' : mark == 'k' ? next == 'e' : mark == 'w' ? next == 'o' || next == 'd' : false))
        return NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(key_words); i++)
        if (key_words[i].word[key_words[i].mark] == mark && key_words[i].mark <= at && word_at(text, at - key_words[i].mark, key_words[i].word))
            return &key_words[i];
    return NULL;
}

/* Whether key_word_at could say yes anywhere: every trigger of it is two characters. Without branches, so that the compiler looks at many bytes at once. Most texts end here. */
static bool may_hold_key_word(struct str text)
{
    unsigned char found = 0;
    for (size_t i = 0; i + 1 < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i] | 0x20, next = (unsigned char)text.ptr[i + 1] | 0x20;
        found |= (unsigned char)(((c == 'c') & (next == 'r')) | ((c == 'k') & (next == 'e')) | ((c == 'w') & ((next == 'o') | (next == 'd'))));
    }
    return found;
}

bool redact_is_secret(struct str text)
{
    if (redact_pattern_finds(REDACT_PROPERTIES, text))
        return true;
    if (!may_hold_key_word(text))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const struct key_word *found = is_mark[(unsigned char)text.ptr[i]] ? key_word_at(text, i) : NULL;
        if (found && found->of_spark)
            return true;
    }
    return false;
}

struct str redact_shown(struct str key, struct str value)
{
    return str_known(value) && (redact_is_secret(key) || redact_is_secret(value)) ? STR_LIT(REDACTED) : value;
}

/* What follows the key around a key word. Nothing before `from` is looked at: it was answered for. */
static bool keyed(struct str text, size_t from, size_t begin, size_t *at, struct str *ret)
{
    size_t end = skip(text, *at, KEY);
    while (begin > from && is(text, begin - 1, KEY))
        begin--;
    while (end > *at && text.ptr[end - 1] == '-')
        end--; /* of "password->x" */
    struct key key = {.name = piece(text, begin, end)};
    size_t quote = skip_char(text, end, '\\');
    *at = end;
    if (is(text, quote, QUOTE)) {
        key.quoted = true;
        *at = quote + 1;
        if (begin > from && text.ptr[begin - 1] == text.ptr[quote])
            begin--;
        while (begin > from && text.ptr[begin - 1] == '\\')
            begin--;
    }
    key.before = begin > 0 ? text.ptr[begin - 1] : '\0';
    for (begin -= begin > 0; begin > from && is(text, begin - 1, SPACE); begin--)
        continue;
    key.before_that = begin > 0 ? text.ptr[begin - 1] : '\0';
    return value_of(text, &key, at, ret);
}

/* scheme://user:password@host, *at being behind the slashes and staying there where there is none. Looks no further than the next "://". */
static bool user_info(struct str text, size_t *at, struct str *ret)
{
    size_t begin = *at, colon = begin, end, slash = 0, last = 0, first = 0;
    while (colon < text.len && !is(text, colon, BLANK | QUOTE) && text.ptr[colon] != ':' && text.ptr[colon] != '/' && text.ptr[colon] != '@' && text.ptr[colon] != '[')
        colon++;
    if (at_or_nul(text, colon) != ':')
        return false;
    size_t port = skip(text, colon + 1, DIGIT);
    if (port == text.len || is(text, port, BLANK | QUOTE | CLOSING) || strchr("/?#,;\\", text.ptr[port]))
        return false;
    for (end = colon + 1; end < text.len && !is(text, end, BLANK | QUOTE) && text.ptr[end] != '<' && text.ptr[end] != '>' && !word_at(text, end, "://"); end++) {
        if (text.ptr[end] == '@') {
            first = first ? first : end;
            last = slash ? last : end;
        } else if (!slash && (text.ptr[end] == '/' || text.ptr[end] == '?')) {
            slash = end;
        }
    }
    if (!first)
        return false;
    *at = last ? last : first;
    *ret = piece(text, colon + 1, *at);
    return !harmless(*ret);
}

/* jdbc:oracle:thin:user/password@…, *at being behind "jdbc:oracle:". */
static bool oracle(struct str text, size_t *at, struct str *ret)
{
    size_t begin = skip(text, *at, KEY);
    if (at_or_nul(text, begin) != ':')
        return false;
    size_t slash = skip(text, begin + 1, KEY);
    *at = slash;
    if (slash == begin + 1 || at_or_nul(text, slash) != '/')
        return false;
    size_t end = slash + 1;
    while (end < text.len && text.ptr[end] != '@' && !is(text, end, BLANK | QUOTE))
        end++;
    *at = end;
    *ret = piece(text, slash + 1, end);
    return at_or_nul(text, end) == '@' && !harmless(*ret);
}

static bool access_key_id(struct str text, size_t begin, size_t *at, struct str *ret)
{
    size_t end = skip(text, begin, DIGIT | CAPITAL);
    if (end - begin != 20 || (begin > 0 && is(text, begin - 1, DIGIT | CAPITAL)) || is(text, end, KEY))
        return false;
    *at = end;
    *ret = piece(text, begin, end);
    return true;
}

/* What the mark at `i` belongs to, if to anything. *at: where to go on. `from`: end of what was answered for. */
static bool look(struct str text, size_t from, size_t i, size_t *at, struct str *ret)
{
    const struct key_word *word;
    char mark = (char)(text.ptr[i] | 0x20), next = (char)(at_or_nul(text, i + 1) | 0x20);
    *at = i + 1;
    if (mark == ':') {
        if (at_or_nul(text, i + 1) == '/' && at_or_nul(text, i + 2) == '/') {
            *at = i + 3;
            return user_info(text, at, ret);
        }
        if (i >= 4 && (text.ptr[i - 1] | 0x20) == 'c' && word_at(text, i - 4, "jdbc:oracle:")) {
            *at = i + 8;
            return oracle(text, at, ret);
        }
    } else if (text.ptr[i] == 'I') {
        bool id = i >= from + 2 && text.len - i >= 2 && text.ptr[i - 2] == 'A' && text.ptr[i + 1] == 'A' && (text.ptr[i - 1] == 'K' || text.ptr[i - 1] == 'S');
        return id && access_key_id(text, i - 2, at, ret);
    } else if (mark == 'b') {
        if (next == 'e' && word_at(text, i, "bearer ")) {
            *at = skip(text, i + 7, SPACE);
            *ret = bare_value(text, at, '\0', false);
            return ret->len >= 16 && !harmless(*ret); /* shorter: a word of prose */
        }
        if (next == 'y' && i >= from + 11 && word_at(text, i - 11, "identified by ")) {
            *at = skip(text, i + 3, SPACE);
            return quoted_value(text, at, ret) && !harmless(*ret);
        }
    } else if ((word = key_word_at(text, i)) && i >= from + word->mark) {
        *at = i - word->mark + strlen(word->word);
        return keyed(text, from, i - word->mark, at, ret);
    }
    return false;
}

bool redact_next(struct str text, size_t *position, struct str *ret)
{
    size_t from = *position;
    for (size_t i = from, at; i < text.len; i++) {
        if (!is_mark[(unsigned char)text.ptr[i]])
            continue;
        if (look(text, from, i, &at, ret)) {
            *position = at;
            return true;
        }
        if (at > i + 1) {
            from = at;
            i = at - 1;
        }
    }
    *position = text.len;
    return false;
}

/* ---- replacing ---- */

/* What is hidden in a text, in order: what the rules above and what the operator's patterns find, each in the text as it was given, so that none hides from another what it would have
 * found. Where two overlap or stand side by side they are one; so "." does not make a text longer. */
enum source { BY_RULES, BY_PATTERN, BY_SQL_PATTERN, SOURCE_COUNT };

struct secrets {
    struct str text;
    size_t position[SOURCE_COUNT];
    struct str next[SOURCE_COUNT]; /* STR_NONE: no more */
};

static void look_on(struct secrets *self, enum source source)
{
    static const enum redact_pattern patterns[] = {[BY_PATTERN] = REDACT_TEXTS, [BY_SQL_PATTERN] = REDACT_SQL_TEXTS};
    struct str *next = &self->next[source];
    size_t *position = &self->position[source];
    if (!(source == BY_RULES ? redact_next(self->text, position, next) : redact_pattern_next(patterns[source], self->text, *position, next)))
        *next = STR_NONE;
    else if (source != BY_RULES)
        *position = (size_t)(next->ptr - self->text.ptr) + next->len;
}

static struct secrets secrets_of(struct str text)
{
    struct secrets self = {.text = text};
    for (int source = 0; source < SOURCE_COUNT; source++)
        look_on(&self, (enum source)source);
    return self;
}

/* The source whose next one comes first; SOURCE_COUNT: there is none. */
static enum source first_source(const struct secrets *self)
{
    enum source first = SOURCE_COUNT;
    for (int source = 0; source < SOURCE_COUNT; source++)
        if (str_known(self->next[source]) && (first == SOURCE_COUNT || self->next[source].ptr < self->next[first].ptr))
            first = (enum source)source;
    return first;
}

static bool secrets_next(struct secrets *self, struct str *ret)
{
    enum source source = first_source(self);
    if (source == SOURCE_COUNT)
        return false;
    *ret = self->next[source];
    do {
        const char *end = self->next[source].ptr + self->next[source].len;
        ret->len = MAX(ret->len, (size_t)(end - ret->ptr));
        look_on(self, source);
        source = first_source(self);
    } while (source != SOURCE_COUNT && self->next[source].ptr <= ret->ptr + ret->len);
    return true;
}

int redact_text(struct arena *arena, struct str text, struct str *ret)
{
    struct str secret;
    size_t removed = 0, count = 0;
    for (struct secrets secrets = secrets_of(text); secrets_next(&secrets, &secret); count++)
        removed += secret.len;
    *ret = text;
    if (!count)
        return 0;
    const size_t mark = sizeof REDACTED - 1;
    char *out = arena_alloc(arena, text.len - removed + count * mark + 1);
    if (!out)
        return -1;
    size_t len = 0, copied = 0;
    for (struct secrets secrets = secrets_of(text); secrets_next(&secrets, &secret);) {
        size_t begin = (size_t)(secret.ptr - text.ptr);
        memcpy(out + len, text.ptr + copied, begin - copied);
        len += begin - copied;
        memcpy(out + len, REDACTED, mark);
        len += mark;
        copied = begin + secret.len;
    }
    memcpy(out + len, text.ptr + copied, text.len - copied);
    len += text.len - copied;
    out[len] = '\0';
    *ret = (struct str){out, len};
    return 0;
}

int redact_copy(struct arena *arena, struct str text, struct str *ret)
{
    struct str hidden;
    if (redact_text(arena, text, &hidden))
        return -1;
    *ret = hidden;
    return hidden.ptr == text.ptr ? arena_str(arena, text, ret) : 0;
}

static size_t add(char *out, size_t size, size_t len, const char *bytes, size_t count)
{
    count = MIN(count, size - 1 - len);
    if (count)
        memcpy(out + len, bytes, count);
    return len + count;
}

size_t redact_into(struct str text, char *out, size_t size)
{
    struct str secret;
    size_t len = 0, copied = 0;
    for (struct secrets secrets = secrets_of(text); secrets_next(&secrets, &secret);) {
        size_t begin = (size_t)(secret.ptr - text.ptr);
        len = add(out, size, len, text.ptr + copied, begin - copied);
        len = add(out, size, len, REDACTED, sizeof REDACTED - 1);
        copied = begin + secret.len;
    }
    len = add(out, size, len, text.ptr + copied, text.len - copied);
    out[len] = '\0';
    return len;
}
