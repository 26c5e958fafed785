/* SPDX-License-Identifier: Apache-2.0
 *
 * A list as CSV (RFC 4180, UTF-8, CRLF): what its handler writes as JSON becomes a row for each item, so that both forms say the same and a list of any length takes the memory of one item.
 *
 * The first row names the columns by the JSON's keys, which carry the units (durationMs), with a full stop for a member of an object (skew.grade). The keys of the first item are
 * the columns: items of a list have all the same. Unknown is an empty cell, numbers are exact, an array of plain values is one cell with blanks between them, other arrays and objects are JSON.
 * A text that a spreadsheet would take for a formula, because it begins with = + - @ or a control character, gets an apostrophe before it; numbers stay as they are. A list without items is an empty
 * file. */
#ifndef SERVER_API_LIST_CSV_H
#define SERVER_API_LIST_CSV_H

#include "base/arena.h"
#include "server/response.h"

/* The writer for {"items":[…],…}: what follows the items is dropped. `name`: of the file, without its ending; it may be any text. */
struct json_writer *list_csv_begin(struct response *response, struct str name, struct arena *arena);

#endif
