/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of place_webhdfs.c, in the order in which one builds on another; for the files webhdfs_*.c and that one alone. Any thread. Texts that are handed out point into what was
 * handed in or into the settings (place/config.h). */
#ifndef PLACE_WEBHDFS_PARTS_H
#define PLACE_WEBHDFS_PARTS_H

#include "place/place_driver.h"

#define WEBHDFS_NODES 8
#define WEBHDFS_NODE_BYTES 300
#define WEBHDFS_URL_BYTES ((size_t)32 << 10)
#define WEBHDFS_SCRATCH_BYTES ((size_t)8 << 20)
#define WEBHDFS_SMALL_BYTES ((size_t)1 << 20) /* of an answer that is no list */

/* ---- webhdfs_nodes.c: who is asked ---- */

struct webhdfs_cluster {
    char nodes[WEBHDFS_NODES][WEBHDFS_NODE_BYTES]; /* http://host:port */
    size_t count;
};

struct str webhdfs_authority(const struct place_uri *uri); /* hdfs:///path is the default file system's */
void webhdfs_find_nodes(struct webhdfs_cluster *self, const struct place_uri *uri);
/* Which node is asked first: the one that answered last, as webhdfs_note_active was told. */
size_t webhdfs_first_node(const struct webhdfs_cluster *self);
void webhdfs_note_active(const struct webhdfs_cluster *self, size_t node);

/* ---- webhdfs_ask.c: questions ---- */

/* The address of a question, with who asks. *ret_negotiate: by Kerberos. */
void webhdfs_make_url(struct buf *url, const char *node, const char *path, const char *query, bool *ret_negotiate);
/* What a question is called in messages: its operation and the host. `query` begins with "op=". */
void webhdfs_name_question(char *what, size_t room, const char *query, const char *node);
/* An answer that is not what was asked for, as an error. ERR_AWAY: another node, or a later try, may do. */
enum err_code webhdfs_refused(const char *what, int status, struct str body, struct err *err);
/* One question of metadata, to whoever answers; again and again while nobody does, as long as place_wait says. `method` NULL: GET. */
enum err_code webhdfs_ask(const struct place_uri *uri, const char *method, const char *query, struct buf *body, struct err *err);

/* ---- webhdfs_status.c: what a name node knows of files; of one that is written to it knows a part of its length ---- */

enum err_code webhdfs_status(const struct place_uri *uri, struct place_child *ret, struct err *err); /* all but the name */
enum err_code webhdfs_list_names(const struct place_uri *dir, struct place_children *ret, struct err *err);

/* ---- webhdfs_stream.c: what data nodes have ---- */

/* May it be written to at present? By its name: a single log that runs, or a part of a rolling one. */
bool webhdfs_may_be_open(const char *name);
/* A stream of the file from `offset` on, of at most `len` bytes (-1: all there are), of which the first *ret_skip lie before `offset`. `known_bytes`: its length, as the name node told. */
enum err_code webhdfs_open_at(const struct place_uri *uri, int64_t offset, int64_t len, int64_t known_bytes, struct fetch_stream **ret, int64_t *ret_skip, struct err *err);
/* How many bytes of a file can be read, of which the name node knows `bytes`. What cannot be told is what the name node says. */
enum err_code webhdfs_true_length(const struct place_uri *uri, int64_t bytes, int64_t *ret, struct err *err);

/* ---- webhdfs_view.c: as place_driver.h has them ---- */

enum err_code webhdfs_list(void *view, const struct place_uri *dir, const struct place_child *status, struct place_children *ret, struct err *err);
enum err_code webhdfs_view_new(const struct place_uri *root, void **ret, struct err *err);
enum err_code webhdfs_view_begin(void *view, struct err *err);
void webhdfs_view_free(void *view);

#endif
