// SPDX-License-Identifier: Apache-2.0
/** SQL. */

export const sql = {
  "sql.title": "No page for queries yet",
  "sql.text": "The queries of this run, their plans and metrics are stored, and the interface for programs answers them. What Spark ran for them is here:",
  "sql.data": "The queries as JSON",
  "sql.jobs": "Jobs, with the number of the query that they belong to",
  "sql.stages": "Stages, slowest first",

};
