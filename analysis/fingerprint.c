/* SPDX-License-Identifier: Apache-2.0
 *
 * Fingerprints of all stages and queries of one application, from its rows. Three lists that are ordered by stage (stages, their RDDs, their metrics) are walked side by side, and each long text is
 * cleaned once however many rows name it. */
#include "analysis/fingerprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/attributes.h"
#include "base/map.h"
#include "base/mem.h"

#define CLEAN_MAX_BYTES ((size_t)1 << 20) /* of one text: a plan node's description is some hundred bytes; what a hostile log has beyond does not take part */
#define NAME_MAX_BYTES 256
#define NAMES_MAX ((size_t)1 << 16)
#define STAGE_MAX_PARTS ((size_t)1 << 20) /* RDDs or plan nodes of one stage */

uint64_t fingerprint_of(struct str text)
{
    return XXH3_64bits(text.len ? text.ptr : "", text.len);
}

uint64_t fingerprint_join(const uint64_t *parts, size_t count)
{
    return XXH3_64bits(count ? (const void *)parts : "", count * sizeof *parts);
}

struct writer {
    struct db *db;
    struct imap texts;   /* text_id → hash of the cleaned text */
    struct smap names;   /* short text as it is → hash of the cleaned text: scopes and call sites are few, however many stages name them */
    struct imap plans;   /* plan_id whose graph it is → hash of its nodes */
    struct imap metrics; /* accumulator_id → hash of the node it belongs to, in the latest plan that has it */
    struct imap scopes;  /* rdd_id → hash of its scope's name */
    struct buf clean;
    bool out_of_memory;              /* a text could not be cleaned: sticks */
    uint64_t *parts; /* scratch */
    size_t part_count, part_capacity;
};

/* Maps hold pointers; a hash is one as long as it is not NULL, which says "not there". */
static void *pointer_of(uint64_t hash)
{
    return (void *)(uintptr_t)(hash ? hash : 1);
}

static uint64_t hash_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static enum err_code add_part(struct writer *self, uint64_t part, struct err *err)
{
    if (self->part_count == STAGE_MAX_PARTS)
        return ERR_OK;
    if (mem_grow((void **)&self->parts, &self->part_capacity, self->part_count + 1, STAGE_MAX_PARTS, sizeof *self->parts))
        return err_nomem(err);
    self->parts[self->part_count++] = part;
    return ERR_OK;
}

/* Of what stands in `clean`. */
static uint64_t cleaned_hash(struct writer *self)
{
    self->out_of_memory |= buf_failed(&self->clean);
    return fingerprint_of(buf_str(&self->clean));
}

static uint64_t clean_hash(struct writer *self, struct str text)
{
    buf_clear(&self->clean);
    text.len = MIN(text.len, CLEAN_MAX_BYTES / 4);
    clean_plan(&self->clean, text);
    return cleaned_hash(self);
}

/* Where there are too many different ones, they are cleaned again next time. */
static void remember(struct writer *self, struct str name, uint64_t hash)
{
    if (name.len && name.len <= NAME_MAX_BYTES + 32) {
        int full = smap_put(&self->names, name, pointer_of(hash));
        (void)full;
    }
}

/* The same for a short text that comes again and again. */
static uint64_t clean_name_hash(struct writer *self, struct str name)
{
    void *there = name.len && name.len <= NAME_MAX_BYTES ? smap_get(&self->names, name) : NULL;
    if (there)
        return hash_of(there);
    uint64_t hash = hash_of(pointer_of(clean_hash(self, name)));
    remember(self, name, hash);
    return hash;
}

/* Of a stage; calls from one place have one stack and one name. */
static uint64_t call_site_hash(struct writer *self, struct str name, int64_t details_id, struct str details)
{
    char key[NAME_MAX_BYTES + 32];
    int len = name.len <= NAME_MAX_BYTES ? snprintf(key, sizeof key, "\n%lld\n%.*s", (long long)details_id, (int)name.len, name.len ? name.ptr : "") : 0;
    struct str whole = {key, (size_t)len};
    void *there = len ? smap_get(&self->names, whole) : NULL;
    if (there)
        return hash_of(there);
    buf_clear(&self->clean);
    clean_call_site(&self->clean, name, details);
    uint64_t hash = hash_of(pointer_of(cleaned_hash(self)));
    remember(self, whole, hash);
    return hash;
}

/* The same for a text that has an id, once for each. `id` UNKNOWN: there is none. */
static uint64_t clean_text_hash(struct writer *self, int64_t id, struct str text)
{
    if (!known(id))
        return 0;
    void *there = imap_get(&self->texts, id);
    if (!there) {
        there = pointer_of(clean_hash(self, text));
        if (imap_put(&self->texts, id, there))
            return hash_of(there); /* too many different ones: cleaned again next time */
    }
    return hash_of(there);
}

/* --- plans */

static enum err_code map_metrics(struct writer *self, struct str ids, uint64_t node, struct err *err)
{
    for (size_t i = 0; i < ids.len;) {
        size_t n = 0;
        int64_t id;
        while (i + n < ids.len && ids.ptr[i + n] != ' ')
            n++;
        if (str_to_i64((struct str){ids.ptr + i, n}, &id) && self->metrics.count < FINGERPRINT_MAX_METRICS && imap_put(&self->metrics, id, pointer_of(node)))
            return err_nomem(err);
        i += n + 1;
    }
    return ERR_OK;
}

static enum err_code end_plan(struct writer *self, int64_t plan_id, struct err *err)
{
    uint64_t hash = fingerprint_join(self->parts, self->part_count);
    self->part_count = 0;
    return known(plan_id) && imap_put(&self->plans, plan_id, pointer_of(hash)) ? err_nomem(err) : ERR_OK;
}

/* Groups of generated code are left out: how nodes are fused is not what they do. */
static enum err_code hash_plans(struct writer *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int64_t plan_id = UNKNOWN;
    enum err_code rc = db_prepare(self->db, &row,
                                  "SELECT n.plan_id, n.name, n.description_text_id, t.body, n.accumulator_ids, n.is_cluster "
                                  "FROM sql_node AS n LEFT JOIN text AS t ON t.text_id = n.description_text_id ORDER BY n.plan_id, n.node_id",
                                  err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        if (db_i64(row, 0) != plan_id && (rc = end_plan(self, plan_id, err)))
            break;
        plan_id = db_i64(row, 0);
        if (db_i64(row, 5))
            continue;
        const uint64_t node[] = {fingerprint_of(db_str(row, 1)), clean_text_hash(self, db_i64(row, 2), db_str(row, 3))};
        uint64_t hash = fingerprint_join(node, ARRAY_LENGTH(node));
        if (!(rc = add_part(self, hash, err)))
            rc = map_metrics(self, db_str(row, 4), hash, err);
    }
    db_finalize(row);
    return rc == ERR_EOF ? end_plan(self, plan_id, err) : rc;
}

/* A query without a plan is told by its description. */
static enum err_code write_queries(struct writer *self, struct err *err)
{
    sqlite3_stmt *row = NULL, *insert = NULL;
    enum err_code rc;
    if (!(rc = db_prepare(self->db, &row,
                          "SELECT e.execution_id, e.description, first.graph_plan_id, last.graph_plan_id FROM sql_execution AS e "
                          "LEFT JOIN sql_plan AS first ON first.execution_id = e.execution_id AND first.version = "
                          "(SELECT min(version) FROM sql_plan WHERE execution_id = e.execution_id) LEFT JOIN sql_plan AS last ON last.plan_id = e.plan_id",
                          err)))
        rc = db_prepare(self->db, &insert, "INSERT INTO sql_fingerprint VALUES (?1, ?2, ?3)", err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK) {
        uint64_t first = known(db_i64(row, 2)) ? hash_of(imap_get(&self->plans, db_i64(row, 2))) : 0,
                 last = known(db_i64(row, 3)) ? hash_of(imap_get(&self->plans, db_i64(row, 3))) : 0;
        if (!first) {
            buf_clear(&self->clean);
            clean_call_site(&self->clean, db_str(row, 1), STR_NONE);
            first = cleaned_hash(self);
        }
        db_bind_i64(insert, 1, db_i64(row, 0));
        sqlite3_bind_int64(insert, 2, (int64_t)first); /* any bits, also those of UNKNOWN */
        sqlite3_bind_int64(insert, 3, (int64_t)(last ? last : first));
        rc = db_run(insert, err);
    }
    db_finalize(row);
    db_finalize(insert);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* --- stages */

static enum err_code hash_scopes(struct writer *self, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(self->db, &row, "SELECT r.rdd_id, coalesce(s.name, r.name) FROM rdd AS r LEFT JOIN rdd_scope AS s ON s.scope_id = r.scope_id", err);
    while (!rc && (rc = db_step(row, err)) == ERR_OK)
        if (imap_put(&self->scopes, db_i64(row, 0), pointer_of(clean_name_hash(self, db_str(row, 1)))))
            rc = err_nomem(err);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A list by stage that is read along with the stages. */
struct beside {
    sqlite3_stmt *row;
    int64_t stage_ref, id; /* of the row it stands at; UNKNOWN: at its end */
};

static enum err_code advance(struct beside *self, struct err *err)
{
    enum err_code rc = db_step(self->row, err);
    self->stage_ref = rc ? UNKNOWN : db_i64(self->row, 0);
    self->id = rc ? UNKNOWN : db_i64(self->row, 1);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The ids of one stage, ascending: ids are handed out in the order of the program, while the order of the log is that of a hash set. */
static enum err_code take_ids(struct writer *self, struct beside *list, int64_t stage_ref, struct err *err)
{
    enum err_code rc = ERR_OK;
    self->part_count = 0;
    while (!rc && known(list->stage_ref) && list->stage_ref <= stage_ref) {
        if (list->stage_ref == stage_ref && known(list->id))
            rc = add_part(self, (uint64_t)list->id ^ (uint64_t)1 << 63, err);
        if (!rc)
            rc = advance(list, err);
    }
    if (self->part_count)
        qsort(self->parts, self->part_count, sizeof *self->parts, compare_ids);
    return rc;
}

/* Ids become the hashes that `map` has for them. Neighbours that are alike count once where `once` is set: a node has many metrics. */
static uint64_t hash_ids(struct writer *self, const struct imap *map, bool once)
{
    size_t count = 0;
    for (size_t i = 0; i < self->part_count; i++) {
        uint64_t hash = hash_of(imap_get(map, (int64_t)(self->parts[i] ^ (uint64_t)1 << 63)));
        if (hash)
            self->parts[count++] = hash;
    }
    if (once && count) {
        qsort(self->parts, count, sizeof *self->parts, compare_ids);
        size_t kept = 1;
        for (size_t i = 1; i < count; i++)
            if (self->parts[i] != self->parts[kept - 1])
                self->parts[kept++] = self->parts[i];
        count = kept;
    }
    return fingerprint_join(self->parts, count);
}

static enum err_code write_stages(struct writer *self, struct err *err)
{
    sqlite3_stmt *stage = NULL, *insert = NULL;
    struct beside rdds = {0}, metrics = {0};
    enum err_code rc;
    /* A stage writes for others when another one names it as its parent or when it did write. */
    if ((rc = db_prepare(self->db, &stage,
                         "SELECT s.stage_ref, s.name, t.body, s.shuffle_write_records > 0 OR s.stage_id IN (SELECT parent_id FROM stage_parent), s.details_text_id "
                         "FROM stage AS s LEFT JOIN text AS t ON t.text_id = s.details_text_id ORDER BY s.stage_ref",
                         err)) ||
        (rc = db_prepare(self->db, &rdds.row, "SELECT stage_ref, rdd_id FROM stage_rdd ORDER BY stage_ref", err)) ||
        (rc = db_prepare(self->db, &metrics.row, "SELECT stage_ref, accumulable_id FROM stage_accumulable WHERE metadata = 'sql' ORDER BY stage_ref", err)) ||
        (rc = db_prepare(self->db, &insert, "INSERT INTO stage_fingerprint VALUES (?1, ?2, ?3)", err)) || (rc = advance(&rdds, err)) || (rc = advance(&metrics, err)))
        goto done;
    while ((rc = db_step(stage, err)) == ERR_OK) {
        int64_t stage_ref = db_i64(stage, 0);
        uint64_t parts[4];
        parts[0] = call_site_hash(self, db_str(stage, 1), db_i64(stage, 4), db_str(stage, 2));
        if ((rc = take_ids(self, &rdds, stage_ref, err)))
            break;
        parts[1] = hash_ids(self, &self->scopes, false);
        parts[2] = db_i64(stage, 3) == 1;
        if ((rc = take_ids(self, &metrics, stage_ref, err)))
            break;
        parts[3] = hash_ids(self, &self->metrics, true);
        db_bind_i64(insert, 1, stage_ref);
        sqlite3_bind_int64(insert, 2, (int64_t)fingerprint_join(parts, ARRAY_LENGTH(parts)));
        sqlite3_bind_int64(insert, 3, (int64_t)parts[0]);
        if ((rc = db_run(insert, err)))
            break;
    }
done:
    db_finalize(stage);
    db_finalize(insert);
    db_finalize(rdds.row);
    db_finalize(metrics.row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code fingerprints_write(struct db *app, struct err *err)
{
    struct writer self = {.db = app};
    imap_init(&self.texts, (size_t)1 << 22);
    smap_init(&self.names, NAMES_MAX, NAMES_MAX * NAME_MAX_BYTES);
    imap_init(&self.plans, (size_t)1 << 22);
    imap_init(&self.metrics, FINGERPRINT_MAX_METRICS);
    imap_init(&self.scopes, (size_t)1 << 26);
    buf_init(&self.clean, CLEAN_MAX_BYTES);
    enum err_code rc;
    if (!(rc = db_exec(app, "DELETE FROM stage_fingerprint; DELETE FROM sql_fingerprint", err)) && !(rc = hash_plans(&self, err)) && !(rc = write_queries(&self, err)) &&
        !(rc = hash_scopes(&self, err)))
        rc = write_stages(&self, err);
    if (!rc && self.out_of_memory)
        rc = err_nomem(err);
    smap_dispose(&self.names);
    imap_dispose(&self.texts);
    imap_dispose(&self.plans);
    imap_dispose(&self.metrics);
    imap_dispose(&self.scopes);
    buf_dispose(&self.clean);
    mem_free(self.parts);
    return rc;
}
