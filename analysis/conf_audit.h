/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings (spec/findings.md 10.4): those that differ from what Spark takes by itself, how far, and whether they took effect at all; settings that contradict each other; the class path.
 * Values are those of the last environment, and what sessions changed later (JobStart, SQL executions). One thread. */
#ifndef ANALYSIS_CONF_AUDIT_H
#define ANALYSIS_CONF_AUDIT_H

#include "analysis/facts.h"
#include "base/buf.h"

struct findings;
struct judged;

/* ---- the table of defaults: conf_defaults.c */

enum conf_kind { CONF_BOOL, CONF_COUNT, CONF_NUMBER, CONF_TEXT, CONF_BYTES, CONF_KIB, CONF_MIB /* a bare number counts KiB, MiB */, CONF_MS, CONF_S /* likewise ms, s */ };
struct conf_default {
    const char *key;
    enum conf_kind kind;
    const char *values;            /* by version */
    const char *rules;             /* blank-separated */
    const char *english, *chinese; /* what it means, in a line */
};
extern const struct conf_default conf_defaults[];
extern const size_t conf_default_count;
const struct conf_default *conf_default_find(struct str key);
/* Of that version; STR_NONE: Spark has no value there. *ret_state: whether that Spark knows the key. */
enum conf_known { CONF_KNOWN, CONF_TOO_NEW, CONF_REMOVED };
struct str conf_default_value(const struct conf_default *entry, int major, int minor, enum conf_known *ret_state);
/* |log₂ of the ratio| of numbers, 1 for a switch or a text that differs, at most 64; 0: equal in effect. */
double conf_distance(enum conf_kind kind, struct str value, struct str otherwise);

/* ---- the audit */

enum conf_state { CONF_EFFECTIVE, CONF_OVERRIDDEN /* by a session, later */, CONF_NOT_YET, CONF_GONE, CONF_MISSPELT, CONF_IRRELEVANT /* in this deploy mode */, CONF_STATE_COUNT };
extern const char *const conf_state_names[CONF_STATE_COUNT];

struct conf_row {
    struct str key, value;
    const struct conf_default *entry; /* of a misspelt one: what is meant */
    struct str otherwise;             /* the default; STR_NONE: none */
    bool at_run_time;                 /* a session set it; value is that one's, the last of several */
    double distance;
    enum conf_state state;
};

struct conf_conflict {
    const char *key, *other; /* static: the key named first, and what it contradicts */
    struct str value;
};
#define CONFLICTS_MAX 16

/* One library twice. Kinds: another version of it, or made for another Scala. */
struct jar_conflict {
    struct str name, first, second; /* artefact; versions, or Scala versions */
    bool scala, sparks_own;         /* one of the libraries that Spark itself is made of */
};

struct conf_audit {
    struct arena arena;
    struct conf_row *rows; /* by key; owned */
    size_t count;
    size_t far_count; /* of them, that differ from their default and took effect */
    struct conf_conflict conflicts[CONFLICTS_MAX];
    size_t conflict_count;
    struct jar_conflict *jars; /* owned */
    size_t jar_count;
};

enum err_code conf_audit_make(struct conf_audit *ret, const struct facts *facts, struct err *err) WARN_UNUSED;
void conf_audit_dispose(struct conf_audit *self);
/* Into tables conf_audit and jar_conflict. With `findings`, for each setting, how many of its rules fired. */
enum err_code conf_audit_store(const struct conf_audit *self, const struct judged *judged, const struct findings *findings, struct db *db, struct err *err) WARN_UNUSED;

/* "x-core_2.12-1.4.0-tests.jar" → x-core, 2.12, 1.4.0; false: no version in it. Parts of `file`. */
struct jar_name {
    struct str folder, artefact, scala, version;
};
bool jar_name_of(struct str file, struct jar_name *ret);

#endif
