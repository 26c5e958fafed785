/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/stage_operators.h"

#include <stdlib.h>

#include "base/units.h"

#define METRICS_MOST ((size_t)1 << 20) /* of all plans of an answer: some 50 MiB */
#define EXECUTIONS_MOST ((size_t)1 << 20)
#define STAGE_NODES 256 /* of one stage; generated code has some ten */

struct node {
    int64_t node_id;
    struct str name;
};

void stage_operators_init(struct stage_operators *self, struct db *db, struct arena *arena)
{
    *self = (struct stage_operators){.db = db, .arena = arena};
    imap_init(&self->nodes, METRICS_MOST);
    imap_init(&self->executions, EXECUTIONS_MOST);
}

void stage_operators_dispose(struct stage_operators *self)
{
    imap_dispose(&self->nodes);
    imap_dispose(&self->executions);
    db_finalize(self->plan);
    db_finalize(self->uses);
}

/* ERR_LIMIT: there is no more room. */
static enum err_code add_node(struct stage_operators *self, sqlite3_stmt *row, struct err *err)
{
    struct node *node = arena_alloc(self->arena, sizeof *node);
    if (!node || arena_str(self->arena, db_str(row, 1), &node->name))
        return err_set(err, ERR_LIMIT, "the plans of these stages take too much room");
    node->node_id = db_i64(row, 0);
    struct str rest = db_str(row, 2);
    while (rest.len) {
        int64_t id;
        if (str_to_i64(str_word(&rest, ' '), &id) && imap_put(&self->nodes, id, node))
            return err_set(err, ERR_LIMIT, "the plans of these stages have more than a million metrics");
    }
    return ERR_OK;
}

static enum err_code read_plan(struct stage_operators *self, int64_t execution_id, struct err *err)
{
    static const char sql[] =
        "SELECT n.node_id, n.name, n.accumulator_ids FROM sql_execution e JOIN sql_plan p ON p.plan_id = e.plan_id JOIN sql_node n ON n.plan_id = p.graph_plan_id "
        "WHERE e.execution_id = ?1 AND NOT n.is_cluster AND n.accumulator_ids <> ''";
    enum err_code rc = self->plan ? ERR_OK : db_prepare(self->db, &self->plan, sql, err);
    if (rc)
        return rc;
    db_bind_i64(self->plan, 1, execution_id);
    while ((rc = db_step(self->plan, err)) == ERR_OK && !(rc = add_node(self, self->plan, err)))
        ;
    db_reset(self->plan);
    if (rc == ERR_EOF)
        rc = imap_put(&self->executions, execution_id, self) ? err_nomem(err) : ERR_OK;
    return rc;
}

static int by_depth(const void *a, const void *b)
{
    const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
    return x->node_id > y->node_id ? -1 : x->node_id < y->node_id;
}

static enum err_code find_nodes(struct stage_operators *self, int64_t stage_ref, const struct node **nodes, size_t *ret_count, struct err *err)
{
    enum err_code rc = self->uses ? ERR_OK : db_prepare(self->db, &self->uses, "SELECT accumulable_id FROM stage_accumulable WHERE stage_ref = ?1 AND metadata = 'sql'", err);
    *ret_count = 0;
    if (rc)
        return rc;
    db_bind_i64(self->uses, 1, stage_ref);
    while (*ret_count < STAGE_NODES && (rc = db_step(self->uses, err)) == ERR_OK) {
        const struct node *node = imap_get(&self->nodes, db_i64(self->uses, 0));
        bool known_already = !node;
        for (size_t i = 0; i < *ret_count && !known_already; i++)
            known_already = nodes[i] == node;
        if (!known_already)
            nodes[(*ret_count)++] = node;
    }
    db_reset(self->uses);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void write_names(struct json_writer *json, const struct node *const *nodes, size_t count)
{
    size_t written = 0;
    json_array_begin(json);
    for (size_t i = 0; i < count && written < STAGE_OPERATORS_MOST; i++) {
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = str_eq(nodes[j]->name, nodes[i]->name);
        if (!again) {
            json_str(json, nodes[i]->name);
            written++;
        }
    }
    json_array_end(json);
}

enum err_code stage_operators_write(struct stage_operators *self, struct json_writer *json, int64_t stage_ref, int64_t execution_id, struct err *err)
{
    const struct node *nodes[STAGE_NODES];
    size_t count = 0;
    bool is_known = known(execution_id);
    enum err_code rc = !is_known || imap_get(&self->executions, execution_id) ? ERR_OK : read_plan(self, execution_id, err);
    is_known &= rc != ERR_LIMIT;
    if (rc == ERR_LIMIT)
        rc = ERR_OK;
    if (!rc && is_known)
        rc = find_nodes(self, stage_ref, nodes, &count, err);
    if (rc)
        return rc;
    json_key(json, "operators");
    if (!is_known) {
        json_null(json);
        return ERR_OK;
    }
    if (count)
        qsort(nodes, count, sizeof *nodes, by_depth);
    write_names(json, nodes, count);
    return ERR_OK;
}
