/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/error_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/attributes.h"
#include "base/units.h"

#define LOOKED_AT_BYTES ((size_t)64 << 10)
#define CAUSE_BYTES ((size_t)120) /* of the innermost cause, so that where it was thrown is not cut off */
#define EXIT_LOOKED_AT_BYTES 8192

const char *const error_kind_names[ERROR_KIND_COUNT] = {"cancelled",  "oom_heap", "oom_container", "oom_python",    "fetch",           "disk_full", "corrupt",
                                                        "file_gone",  "permission", "timeout",     "python",        "commit_denied",   "class_not_found", "assertion", "other"};

/* Spark's, the JVM's and the resource managers' own words. A word may stand in one line only: the first match decides. Exit code 137 alone is a kill, not a proof of memory. */
static const struct {
    enum error_kind kind;
    const char *word;
} words[] = {
    {ERROR_OOM_HEAP, "OutOfMemoryError"},
    {ERROR_OOM_HEAP, "GC overhead limit"},
    {ERROR_OOM_HEAP, "Java heap space"},
    {ERROR_OOM_CONTAINER, "exceeding memory limits"},
    {ERROR_OOM_CONTAINER, "exceeding physical memory"},
    {ERROR_OOM_CONTAINER, "exceeding virtual memory"},
    {ERROR_OOM_CONTAINER, "running beyond physical memory"},
    {ERROR_OOM_CONTAINER, "running beyond virtual memory"},
    {ERROR_OOM_CONTAINER, "OOMKilled"},
    {ERROR_OOM_PYTHON, "MemoryError"},
    {ERROR_OOM_PYTHON, "Cannot allocate memory"},
    {ERROR_FETCH, "FetchFailed"},
    {ERROR_FETCH, "MetadataFetchFailedException"},
    {ERROR_DISK_FULL, "No space left"},
    {ERROR_CORRUPT, "ChecksumException"},
    {ERROR_CORRUPT, "is not a Parquet file"},
    {ERROR_CORRUPT, "Malformed records"},
    {ERROR_CORRUPT, "Corrupt"},
    {ERROR_FILE_GONE, "FILE_NOT_EXIST"}, /* since 4.0; before, Spark's hint alone tells a table's file from one of its own */
    {ERROR_FILE_GONE, "It is possible the underlying files have been updated"},
    {ERROR_PERMISSION, "AccessControlException"},
    {ERROR_PERMISSION, "Permission denied"},
    {ERROR_PERMISSION, "AccessDenied"},
    {ERROR_TIMEOUT, "TimeoutException"},
    {ERROR_TIMEOUT, "timed out"},
    {ERROR_PYTHON, "PythonException"},
    {ERROR_PYTHON, "[PYTHON_EXCEPTION]"}, /* since 4.0 */
    {ERROR_COMMIT_DENIED, "CommitDenied"},
    {ERROR_CLASS_NOT_FOUND, "ClassNotFoundException"},
    {ERROR_CLASS_NOT_FOUND, "NoClassDefFoundError"},
    {ERROR_CLASS_NOT_FOUND, "NoSuchMethodError"},
    {ERROR_ASSERTION, "AssertionError"},
    {ERROR_ASSERTION, "requirement failed"},
};

int64_t exit_code_of(struct str text)
{
    static const char *const before[] = {"exit code", "exit status", "exitcode", "exited with code"};
    size_t len = str_known(text) ? MIN(text.len, (size_t)EXIT_LOOKED_AT_BYTES) : 0;
    for (size_t at = 0; at < len; at++)
        for (size_t w = 0; w < ARRAY_LENGTH(before); w++) {
            size_t word = strlen(before[w]), begin = at + word, end;
            if (begin >= len || strncasecmp(text.ptr + at, before[w], word) != 0)
                continue;
            while (begin < len && (text.ptr[begin] == ' ' || text.ptr[begin] == ':' || text.ptr[begin] == '='))
                begin++;
            end = begin + (begin < len && text.ptr[begin] == '-');
            while (end < len && isdigit((unsigned char)text.ptr[end]) && end - begin < 8)
                end++;
            int64_t code;
            if (str_to_i64((struct str){text.ptr + begin, end - begin}, &code))
                return code;
        }
    return UNKNOWN;
}

static bool contains(struct str text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

bool error_is_shutdown(struct str text)
{
    text.len = str_known(text) ? MIN(text.len, LOOKED_AT_BYTES) : 0;
    return text.len && contains(text, "SparkContext was shut down");
}

/* Somebody asked for it: "Job 6 cancelled" and why (DAGScheduler, all versions), or a query whose thread was interrupted. A context that was shut down takes its jobs along, and nobody asked. */
static bool is_cancelled(struct str text)
{
    const char *job = memmem(text.ptr, text.len, "Job ", 4);
    size_t at = job ? (size_t)(job - text.ptr) + 4 : 0, end = at;
    while (end < text.len && isdigit((unsigned char)text.ptr[end]))
        end++;
    if (end > at && str_starts((struct str){text.ptr + end, text.len - end}, " cancelled"))
        return !error_is_shutdown(text);
    return str_is(error_class_of(text), "java.lang.InterruptedException");
}

enum error_kind error_kind_of(struct str text)
{
    if (!str_known(text))
        return ERROR_OTHER;
    text.len = MIN(text.len, LOOKED_AT_BYTES);
    if (is_cancelled(text))
        return ERROR_CANCELLED;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (contains(text, words[i].word))
            return words[i].kind;
    switch (exit_code_of(text)) {
    case EXIT_OUT_OF_MEMORY: return ERROR_OOM_HEAP;
    case EXIT_NO_DIRECTORY: return ERROR_DISK_FULL;
    default: return ERROR_OTHER;
    }
}

bool error_is_oom(enum error_kind kind)
{
    return kind == ERROR_OOM_HEAP || kind == ERROR_OOM_CONTAINER || kind == ERROR_OOM_PYTHON;
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '$';
}

/* From the head of Python's traceback on; NULL: there is none. `text` is bounded. */
static const char *traceback_in(struct str text)
{
    static const char head[] = "Traceback (most recent call last):";
    return text.len ? memmem(text.ptr, text.len, head, sizeof head - 1) : NULL;
}

/* What Python said: its own error stands on the first line of the traceback that is not indented, below the calls. Other texts come back as they are. */
static struct str innermost(struct str text)
{
    text.len = str_known(text) ? MIN(text.len, LOOKED_AT_BYTES) : 0;
    const char *found = traceback_in(text);
    for (const char *end = text.ptr + text.len; found && (found = memchr(found, '\n', (size_t)(end - found))) != NULL && ++found < end;)
        if (!isspace((unsigned char)*found))
            return (struct str){found, (size_t)(end - found)};
    return text;
}

struct str error_class_of(struct str text)
{
    text = innermost(text);
    text.len = str_known(text) ? MIN(text.len, LOOKED_AT_BYTES) : 0;
    for (size_t begin = 0; begin < text.len;) {
        size_t end = begin;
        while (end < text.len && is_name_byte(text.ptr[end]))
            end++;
        struct str word = {text.ptr + begin, end - begin};
        while (word.len && word.ptr[word.len - 1] == '.')
            word.len--;
        if (str_ends(word, "Exception") || str_ends(word, "Error"))
            return word;
        begin = end + 1;
    }
    return STR_NONE;
}

static struct str line_at(struct str text, size_t begin)
{
    size_t end = begin;
    while (end < text.len && text.ptr[end] != '\n')
        end++;
    while (end > begin && isspace((unsigned char)text.ptr[end - 1]))
        end--;
    return (struct str){text.ptr + begin, end - begin};
}

struct str error_message_of(struct str text)
{
    text = innermost(text);
    struct str class = error_class_of(text);
    if (str_known(class)) {
        size_t at = (size_t)(class.ptr + class.len - text.ptr);
        while (at < text.len && (text.ptr[at] == ':' || text.ptr[at] == ' '))
            at++;
        struct str rest = line_at(text, at);
        if (rest.len)
            return rest;
    }
    return str_known(text) ? line_at(text, 0) : STR_NONE;
}

void error_summary(struct str text, char ret[ERROR_SUMMARY_BYTES])
{
    struct str class = error_class_of(text), message = error_message_of(text);
    int len = snprintf(ret, ERROR_SUMMARY_BYTES, "%.*s%s%.*s", (int)MIN(class.len, (size_t)ERROR_SUMMARY_BYTES), class.len ? class.ptr : "", class.len && message.len ? ": " : "",
                       (int)MIN(message.len, (size_t)ERROR_SUMMARY_BYTES), message.len ? message.ptr : "");
    ret[len < 0 ? 0 : utf8_valid_prefix(ret, strlen(ret))] = '\0';
}

/* A word that differs from run to run: a number, hex, a path, an id with a digit in it. */
static bool varies(struct str word)
{
    bool digit = false;
    for (size_t i = 0; i < word.len; i++) {
        digit |= isdigit((unsigned char)word.ptr[i]) != 0;
        if (word.ptr[i] == '/')
            return true;
    }
    return digit;
}

static bool is_word_byte(char c)
{
    return is_name_byte(c) || c == '/' || c == '-' || (unsigned char)c >= 0x80;
}

void error_signature(struct str text, char ret[ERROR_SIGNATURE_BYTES])
{
    struct str parts[2] = {error_class_of(text), error_message_of(text)};
    size_t len = 0, most = ERROR_SIGNATURE_BYTES - 1;
    for (size_t p = 0; p < ARRAY_LENGTH(parts); p++) {
        if (p && parts[0].len && parts[1].len && len + 2 <= most) {
            ret[len++] = ':';
            ret[len++] = ' ';
        }
        for (size_t begin = 0; begin < parts[p].len && len < most;) {
            size_t end = begin;
            while (end < parts[p].len && is_word_byte(parts[p].ptr[end]))
                end++;
            struct str word = {parts[p].ptr + begin, end - begin};
            if (word.len && p && varies(word)) {
                if (!len || ret[len - 1] != '#')
                    ret[len++] = '#';
            } else {
                size_t taken = MIN(word.len, most - len);
                memcpy(ret + len, word.ptr, taken);
                len += taken;
            }
            if (end < parts[p].len && len < most) {
                char c = parts[p].ptr[end];
                ret[len++] = (unsigned char)c < 0x20 ? ' ' : c;
            }
            begin = end + 1;
        }
    }
    len = utf8_valid_prefix(ret, len);
    ret[len] = '\0';
}

/* ---- where it came from */

static struct str next_line(struct str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    struct str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t taken = line.len + (end != NULL);
    rest->ptr += taken;
    rest->len -= taken;
    return line;
}

static struct str trimmed(struct str line)
{
    while (line.len && isspace((unsigned char)line.ptr[0])) {
        line.ptr++;
        line.len--;
    }
    return line_at(line, 0);
}

/* `File "/a/b.py", line 3, in f` as "b.py, line 3, in f"; STR_NONE: it is no such line. */
static struct str python_call(struct str line)
{
    static const char head[] = "File \"";
    line = trimmed(line);
    const char *quote = str_starts(line, head) ? memchr(line.ptr + sizeof head - 1, '"', line.len - (sizeof head - 1)) : NULL;
    return quote ? (struct str){line.ptr + sizeof head - 1, line.len - (sizeof head - 1)} : STR_NONE;
}

static void put(char ret[ERROR_ORIGIN_BYTES], struct str a, struct str b, const char *between, struct str c)
{
    const size_t most = ERROR_ORIGIN_BYTES;
    snprintf(ret, ERROR_ORIGIN_BYTES, "%.*s%.*s%s%.*s", (int)MIN(a.len, most), a.len ? a.ptr : "", (int)MIN(b.len, most), b.len ? b.ptr : "", between, (int)MIN(c.len, most),
             c.len ? c.ptr : "");
    ret[utf8_valid_prefix(ret, strlen(ret))] = '\0';
}

/* The last call of the traceback that begins `rest`; its line of code is the next one, unless marks stand there. */
static void python_origin(struct str rest, char ret[ERROR_ORIGIN_BYTES])
{
    struct str call = STR_NONE, code = STR_NONE;
    bool is_code_next = false;
    next_line(&rest);
    while (rest.len) {
        struct str line = next_line(&rest), found = python_call(line);
        if (line.len && !isspace((unsigned char)line.ptr[0]))
            break;
        if (str_known(found)) {
            call = found;
            code = STR_NONE;
        } else if (is_code_next) {
            code = trimmed(line);
        }
        is_code_next = str_known(found);
    }
    if (!str_known(call))
        return;
    const char *quote = memchr(call.ptr, '"', call.len), *name = quote;
    while (name > call.ptr && name[-1] != '/' && name[-1] != '\\')
        name--;
    put(ret, (struct str){name, (size_t)(quote - name)}, (struct str){quote + 1, call.len - (size_t)(quote + 1 - call.ptr)}, code.len ? ": " : "", code);
}

static bool is_of_a_library(struct str call)
{
    static const char *const owners[] = {"java.", "javax.", "jdk.", "sun.", "scala.", "org.apache.spark.", "org.apache.hadoop.", "py4j."};
    const char *module = call.len ? memchr(call.ptr, '/', call.len) : NULL; /* "java.base/java.lang.Thread" */
    if (module)
        call = (struct str){module + 1, call.len - (size_t)(module + 1 - call.ptr)};
    for (size_t i = 0; i < ARRAY_LENGTH(owners); i++)
        if (str_starts(call, owners[i]))
            return true;
    return false;
}

/* Of each "Caused by" the calls begin anew; the driver's own, behind "Driver stacktrace:", only wait for it. */
/* What somebody typed into a shell is in a class that Scala's shell made up, "$line16.$read$$iw$$iw$$anonfun$1.apply(<console>:26)": the line is all that says anything. */
static struct str shown_call(struct str call)
{
    const char *open = str_starts(call, "$line") ? memchr(call.ptr, '(', call.len) : NULL;
    const char *close = open ? memchr(open, ')', (size_t)(call.ptr + call.len - open)) : NULL;
    return close ? (struct str){open + 1, (size_t)(close - open - 1)} : call;
}

static void java_origin(struct str rest, char ret[ERROR_ORIGIN_BYTES])
{
    struct str cause = STR_NONE, own = STR_NONE;
    while (rest.len) {
        struct str line = trimmed(next_line(&rest));
        if (str_starts(line, "Driver stacktrace:"))
            break;
        if (str_starts(line, "Caused by: ")) {
            cause = (struct str){line.ptr + strlen("Caused by: "), line.len - strlen("Caused by: ")};
            own = STR_NONE;
        } else if (str_starts(line, "at ")) {
            struct str call = {line.ptr + 3, line.len - 3};
            own = str_known(own) || is_of_a_library(call) ? own : shown_call(call);
        }
    }
    if (str_known(cause) || str_known(own))
        put(ret, (struct str){cause.ptr, MIN(cause.len, CAUSE_BYTES)}, STR_NONE, cause.len && own.len ? ", at " : "", own);
}

void error_origin(struct str text, char ret[ERROR_ORIGIN_BYTES])
{
    text.len = str_known(text) ? MIN(text.len, LOOKED_AT_BYTES) : 0;
    const char *found = traceback_in(text);
    ret[0] = '\0';
    if (found)
        python_origin((struct str){found, (size_t)(text.ptr + text.len - found)}, ret);
    if (!ret[0])
        java_origin(text, ret);
}
