/* SPDX-License-Identifier: Apache-2.0
 *
 * HDFS over its REST interface (WebHDFS, also HttpFS and gateways): hdfs://, webhdfs://, swebhdfs://.
 *
 * Who is asked. hdfs://AUTHORITY names the RPC port, which we do not speak. Where WebHDFS is comes, first found first, from afterglow.hdfs.nameNodes (AUTHORITY=HOST:PORT, several for
 * one AUTHORITY), from dfs.ha.namenodes.AUTHORITY with dfs.namenode.http(s)-address.AUTHORITY.NODE, from dfs.namenode.http(s)-address, else AUTHORITY's host and the default port.
 * webhdfs:// and swebhdfs:// name the HTTP port themselves; several name nodes are parted by commas. A node in standby, in safe mode, starting or away makes us ask the next; when all
 * have been asked, all again after a pause (place_wait). The one that answered is asked first the next time.
 *
 * Who asks. user.name; or SPNEGO; or the delegation token in afterglow.hdfs.tokenFile, which is read each time, since it is renewed by others.
 *
 * Growing files. A name node learns the length of an open file's last block when that is full; Spark flushes into it after most events. Only a data node knows how much can be read:
 * its answer to OPEN announces all of it. So the true length of a file that may be open (….inprogress, the newest part of a rolling log without its end marker) is asked of a data node,
 * and reading goes on to where the data node ends. A name node refuses an offset at or behind the length it knows, so it is asked for one before that, and the real offset is put into
 * the address it answers with. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "place/webhdfs_parts.h"

static enum err_code check(const struct place_uri *uri, struct err *err)
{
    struct webhdfs_cluster cluster;
    webhdfs_find_nodes(&cluster, uri);
    if (cluster.count == 0)
        return err_set(err, ERR_INVALID, "which name node? hdfs://HOST/PATH, or fs.defaultFS in core-site.xml");
    return ERR_OK;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void note_length(char *validator, const struct place_child *child)
{
    snprintf(validator, PLACE_VALIDATOR_BYTES, "%lld", (long long)known_or(child->bytes, 0));
}

static enum err_code webhdfs_stat(const struct place_uri *uri, struct place_child *ret, char validator[PLACE_VALIDATOR_BYTES], struct err *err)
{
    enum err_code rc = webhdfs_status(uri, ret, err);
    if (!rc && validator && ret->kind == CHILD_FILE)
        note_length(validator, ret);
    if (!rc && ret->kind == CHILD_FILE && webhdfs_may_be_open(last_name(uri->path)))
        rc = webhdfs_true_length(uri, known_or(ret->bytes, 0), &ret->bytes, err);
    return rc;
}

/* `validator` holds the length that the name node told, asked once a file. A file that was closed ends there; one that may be open ends where a data node says. */
static enum err_code webhdfs_read(const struct place_uri *uri, int64_t offset, int64_t len, char validator[PLACE_VALIDATOR_BYTES], struct fetch_stream **ret, struct err *err)
{
    int64_t known_bytes, skip;
    *ret = NULL;
    if (!validator[0]) {
        struct place_child child;
        enum err_code rc = webhdfs_status(uri, &child, err);
        if (rc)
            return rc;
        if (child.kind != CHILD_FILE)
            return err_set(err, ERR_INVALID, "not a regular file");
        note_length(validator, &child);
    }
    if (!str_to_i64(str_of(validator), &known_bytes))
        return err_set(err, ERR_INVALID, "not a length");
    if (offset >= known_bytes && !webhdfs_may_be_open(last_name(uri->path)))
        return err_set(err, ERR_EOF, "end of file");
    enum err_code rc = webhdfs_open_at(uri, offset, len, known_bytes, ret, &skip, err);
    if (rc)
        /* A data node refuses an offset behind what it has, which is the end as well. */
        return offset >= known_bytes && (rc == ERR_IO || rc == ERR_UNSUPPORTED) ? err_set(err, ERR_EOF, "end of file") : rc;
    char gone[16384];
    while (skip > 0) {
        size_t got;
        if ((rc = fetch_read(*ret, gone, (size_t)MIN(skip, (int64_t)sizeof gone), &got, err))) {
            fetch_close(TAKE(*ret));
            return rc;
        }
        skip -= (int64_t)got;
    }
    return ERR_OK;
}

static enum err_code webhdfs_remove(const struct place_uri *uri, enum child_kind kind, struct err *err)
{
    CLEANUP(buf_dispose) struct buf body;
    buf_init(&body, WEBHDFS_SMALL_BYTES);
    (void)kind;
    enum err_code rc = webhdfs_ask(uri, "DELETE", "op=DELETE&recursive=false", &body, err);
    if (rc)
        return rc;
    return body.len && memmem(body.data, body.len, "true", 4) ? ERR_OK : err_set(err, ERR_NOT_FOUND, "DELETE: it is not there");
}

const struct place_driver place_webhdfs = {
    .schemes = {"hdfs", "webhdfs", "swebhdfs", NULL},
    .check = check,
    .stat = webhdfs_stat,
    .list = webhdfs_list,
    .read = webhdfs_read,
    .remove = webhdfs_remove,
    .view_new = webhdfs_view_new,
    .view_begin = webhdfs_view_begin,
    .view_free = webhdfs_view_free,
};
