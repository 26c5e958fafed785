/* SPDX-License-Identifier: Apache-2.0
 *
 * One question to a cluster: who asks, what a refusal means, and which node answers. */
#include "place/webhdfs_parts.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_pull.h"
#include "base/units.h"
#include "place/config.h"
#include "place/kerberos.h"

#define TOKEN_BYTES 8192

static bool read_token(char *token)
{
    const char *path = place_config("afterglow.hdfs.tokenFile");
    FILE *file = path && *path ? fopen(path, "re") : NULL;
    size_t len = file ? fread(token, 1, TOKEN_BYTES - 1, file) : 0;
    if (file)
        fclose(file);
    token[len] = '\0';
    token[strcspn(token, " \t\r\n")] = '\0';
    return token[0] != '\0';
}

static void add_identity(struct buf *url, bool *ret_negotiate)
{
    char token[TOKEN_BYTES], names[1024];
    *ret_negotiate = false;
    if (read_token(token)) {
        buf_text(url, "&delegation=");
        place_escape(url, str_of(token), false);
    } else if (kerberos_is_on()) {
        *ret_negotiate = true;
    } else {
        const char *user = place_config("afterglow.hdfs.user");
        struct passwd entry, *found = NULL;
        if (!user || !*user)
            user = getpwuid_r(geteuid(), &entry, names, sizeof names, &found) == 0 && found ? found->pw_name : "afterglow";
        buf_text(url, "&user.name=");
        place_escape(url, str_of(user), false);
    }
    memset(token, 0, sizeof token);
}

static const char *const transient[] = {"StandbyException", "RetriableException", "SafeModeException", "ConnectException", "ObserverRetryOnActiveException"};

struct remote_exception {
    char name[80], message[160];
};

static void read_exception(struct str text, struct remote_exception *ret)
{
    enum { REMOTE };
    enum { EXCEPTION, MESSAGE };
    static const struct json_key outer[] = {JSON_KEY("RemoteException", REMOTE)};
    static const struct json_key inner[] = {JSON_KEY("exception", EXCEPTION), JSON_KEY("message", MESSAGE)};
    struct arena scratch;
    struct json_pull in;
    struct json_object o, e;
    *ret = (struct remote_exception){0};
    arena_init(&scratch, WEBHDFS_SCRATCH_BYTES);
    json_pull_init(&in, text, &scratch);
    if (text.len && json_object_begin(&in, &o, KEYS(outer)))
        for (int key; (key = json_next(&in, &o)) >= 0;) {
            if (key != REMOTE || !json_object_begin(&in, &e, KEYS(inner))) {
                if (key != REMOTE)
                    json_skip(&in);
                continue;
            }
            for (int part; (part = json_next(&in, &e)) >= 0;) {
                struct str value = part == EXCEPTION || part == MESSAGE ? json_str(&in) : (json_skip(&in), STR_NONE);
                if (value.ptr)
                    snprintf(part == EXCEPTION ? ret->name : ret->message, part == EXCEPTION ? sizeof ret->name : sizeof ret->message, "%.*s", (int)MIN(value.len, (size_t)159),
                             value.ptr);
            }
        }
    arena_dispose(&scratch);
    for (char *p = ret->message; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
}

enum err_code webhdfs_refused(const char *what, int status, struct str body, struct err *err)
{
    struct remote_exception e;
    read_exception(body, &e);
    enum err_code code = ERR_IO;
    for (size_t i = 0; i < ARRAY_LENGTH(transient); i++)
        if (strcmp(e.name, transient[i]) == 0)
            code = ERR_AWAY;
    if (code != ERR_AWAY) {
        if (strcmp(e.name, "FileNotFoundException") == 0 || (status == 404 && !e.name[0]))
            code = ERR_NOT_FOUND;
        else if (status == 401 || strcmp(e.name, "AccessControlException") == 0 || strcmp(e.name, "SecurityException") == 0 || (status == 403 && !e.name[0]))
            code = ERR_PERMISSION;
        else if (strcmp(e.name, "PathIsNotEmptyDirectoryException") == 0)
            code = ERR_BUSY;
        else if (status == 400 && (strcmp(e.name, "IllegalArgumentException") == 0 || !e.name[0]))
            code = ERR_UNSUPPORTED;
        else if (status == 502 || status == 503 || status == 504 || strstr(e.message, "startup mode"))
            code = ERR_AWAY;
    }
    if (e.name[0])
        return err_set(err, code, "%s: %s: %s", what, e.name, e.message);
    return err_set(err, code, "%s: HTTP status %d", what, status);
}

void webhdfs_make_url(struct buf *url, const char *node, const char *path, const char *query, bool *ret_negotiate)
{
    buf_clear(url);
    buf_text(url, node);
    buf_text(url, "/webhdfs/v1");
    place_escape(url, str_of(path), true);
    buf_text(url, path[0] ? "?" : "/?");
    buf_text(url, query);
    add_identity(url, ret_negotiate);
}

void webhdfs_name_question(char *what, size_t room, const char *query, const char *node)
{
    size_t op = strcspn(query, "&");
    const char *host = strstr(node, "://");
    snprintf(what, room, "%.*s of %s", (int)(op > 3 ? op - 3 : 0), query + (op > 3 ? 3 : 0), host ? host + 3 : node);
}

enum err_code webhdfs_ask(const struct place_uri *uri, const char *method, const char *query, struct buf *body, struct err *err)
{
    struct webhdfs_cluster cluster;
    struct place_patience patience = {0};
    CLEANUP(buf_dispose) struct buf url;
    buf_init(&url, WEBHDFS_URL_BYTES);
    webhdfs_find_nodes(&cluster, uri);
    struct err why = {0};
    do {
        for (size_t i = 0, first = webhdfs_first_node(&cluster); i < cluster.count; i++) {
            size_t node = (first + i) % cluster.count;
            struct fetch_request request = {.method = method};
            struct fetch_head head;
            char what[128];
            webhdfs_make_url(&url, cluster.nodes[node], uri->path, query, &request.negotiate);
            if (buf_failed(&url))
                return err_set(err, ERR_LIMIT, "the address is too long");
            webhdfs_name_question(what, sizeof what, query, cluster.nodes[node]);
            request.url = url.data;
            request.what = what;
            enum err_code rc = fetch_whole(&request, &head, body, &why);
            if (!rc && head.status == 200) {
                webhdfs_note_active(&cluster, node);
                return ERR_OK;
            }
            if (!rc)
                rc = webhdfs_refused(what, head.status, buf_str(body), &why);
            if (rc != ERR_AWAY)
                return err_set(err, rc, "%s", why.message);
        }
    } while (place_wait(&patience));
    return err_set(err, fetch_stopped() ? ERR_CANCELLED : ERR_AWAY, "%s", why.message);
}
