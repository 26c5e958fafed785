/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of an event log to one struct event. A table maps event names to decoders; a pull reader (json_pull.h) walks the line once without
 * building a tree and skips what nobody reads. Any legal JSON is accepted: blanks, any key order ("Event" need not come first), escapes; of duplicate
 * keys the last wins; text after the object is ignored. Nesting is bounded without recursion.
 *
 * `line` need not be NUL-terminated, but EVENT_LINE_PADDING bytes after it must be readable (line_reader provides them).
 * Strings of the event point into the line or into `scratch` (reset by the caller after each event).
 *
 *   ERR_OK           ret_event is filled; kind may be EVENT_UNKNOWN, an event nobody reads here (its rest is still checked for balance)
 *   ERR_CORRUPT      not JSON
 *   ERR_INVALID      JSON, but no event: no object, no "Event" text, or without the ids that say what it is about
 *   ERR_LIMIT        deeper than EVENT_MAX_DEPTH, or more than scratch holds
 *   ERR_NOMEM
 * Never touches global state; safe from many threads with separate scratch arenas and memories. */
#ifndef EVENT_EVENT_DECODE_H
#define EVENT_EVENT_DECODE_H

#include "base/arena.h"
#include "base/err.h"
#include "ingest/event/event.h"

#define EVENT_LINE_PADDING 64
#define EVENT_MAX_DEPTH 10000       /* plans of generated queries are hundreds to thousands deep; 100,000 brackets are damage */

/* How the accumulables of the task end before began, by their place: Spark writes the same names in the same order for every task of a stage, and what is the same need
 * not be read. Zeroed before the first line of a log; a line that is different is read all the same. */
#define EVENT_HEADS ((size_t)64)
#define EVENT_HEAD_BYTES 96
struct event_memory {
    struct accumulable_head {
        char text[EVENT_HEAD_BYTES];     /* ,"Name":"internal.metrics.resultSize","Update": */
        size_t len;                      /* 0: none */
        unsigned id_len;                 /* digits of the id before it; the ids themselves differ from stage to stage */
        struct str name;                 /* in text */
    } heads[EVENT_HEADS];
};

/* `memory` NULL: nothing is remembered. */
enum err_code event_decode(struct str line, struct arena *scratch, struct event_memory *memory, struct event *ret_event, struct err *err) WARN_UNUSED;

/* The short word for an event name as logged: strips the package. Static table; NULL for names that are not read here. For tests and log health. */
enum event_kind event_kind_of(struct str name);

#endif
