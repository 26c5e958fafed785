/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph of one version of a plan, in pieces of at most 2,000 nodes: members nodes, nextNode, nodeCount and edges of the caller's open object. Metrics are those of the
 * whole execution, in the unit that is named beside them. */
#ifndef SERVER_API_SQL_GRAPH_H
#define SERVER_API_SQL_GRAPH_H

#include "server/api/api.h"

/* Nodes from first_node on, and with the first of them all edges. Of no plan (UNKNOWN): empty. */
enum err_code sql_graph(struct json_writer *json, struct db *db, int64_t execution_id, int64_t graph_plan_id, int64_t first_node, struct err *err) WARN_UNUSED;

#endif
