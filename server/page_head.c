/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page_head.h"

#include "analysis/regression.h"
#include "analysis/report_parts.h"
#include "analysis/verdict.h"
#include "base/attributes.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/api/handlers.h"
#include "server/app_lookup.h"
#include "server/http_text.h"
#include "server/negotiate.h"
#include "server/server.h"

#define HEAD_BYTES ((size_t)32 << 10)
#define TEXT_BYTES ((size_t)64 << 10)
#define NAME_MAX_BYTES 100  /* of a run, or of a thing in it */
#define TITLE_MAX_BYTES 240 /* what a tab, or a chat without Open Graph, has room for */
#define SAID_MAX_BYTES 500  /* two sentences; chats cut at some 300 characters */

#define SITE "Afterglow"

/* What stands at /a/{ref}/{name}, or with a statement at /a/{ref}/{name}/{id}: the entry of section "heads", findings of which kind are about it, and whether it is there (?1: the id, ?2: what
 * follows a full stop in it). */
static const struct place {
    const char *name, *head;
    enum subject_kind kind;
    const char *exists_sql;
} places[] = {
    {"", "overview", SUBJECT_APP, NULL},
    {"jobs", "jobs", SUBJECT_APP, NULL},
    {"jobs", "job", SUBJECT_JOB, "SELECT count(*) FROM job WHERE job_id = ?1"},
    {"stages", "stages", SUBJECT_APP, NULL},
    {"stages", "stage", SUBJECT_STAGE, "SELECT count(*) FROM stage WHERE stage_id = ?1 AND attempt = ?2"},
    {"executors", "executors", SUBJECT_APP, NULL},
    {"storage", "storage", SUBJECT_APP, NULL},
    {"storage", "rdd", SUBJECT_RDD, "SELECT count(*) FROM rdd WHERE rdd_id = ?1"},
    {"env", "env", SUBJECT_APP, NULL},
    {"sql", "sql", SUBJECT_APP, NULL},
    {"sql", "query", SUBJECT_SQL, "SELECT count(*) FROM sql_execution WHERE execution_id = ?1"},
    {"streaming", "streaming", SUBJECT_APP, NULL},
    {"streaming", "streaming_query", SUBJECT_QUERY, "SELECT count(*) FROM streaming_query WHERE run_id = ?1"},
    {"dstreams", "dstreams", SUBJECT_APP, NULL},
    {"sessions", "sessions", SUBJECT_APP, NULL},
    {"sessions", "session", SUBJECT_APP, "SELECT 1"},
    {"operations", "operation", SUBJECT_APP, "SELECT 1"},
    {"processes", "processes", SUBJECT_APP, NULL},
    {"log", "log", SUBJECT_APP, NULL},
    {"compare", "compare", SUBJECT_APP, NULL},
};

struct page {
    struct api_ctx *ctx;
    const struct request *request;
    enum lang lang;
    const struct place *place; /* NULL: a run's page that we do not know */
    struct str ref, id;        /* decoded; id empty: of the place as a whole */
    struct buf title, said;
};

/* ---- which page ---- */

static struct str next_segment(struct page *self, struct str *rest)
{
    const char *slash = rest->len ? memchr(rest->ptr, '/', rest->len) : NULL;
    struct str raw = {rest->ptr, slash ? (size_t)(slash - rest->ptr) : rest->len}, out = STR_LIT("");
    *rest = slash ? (struct str){slash + 1, rest->len - raw.len - 1} : STR_LIT("");
    return request_decode(self->request->arena, raw, false, &out, NULL) ? STR_LIT("") : out;
}

static const struct place *find_place(struct str name, bool has_id)
{
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
        if (str_is(name, places[i].name) && has_id == (places[i].exists_sql != NULL))
            return &places[i];
    return NULL;
}

/* False: the list of applications. */
static bool read_address(struct page *self)
{
    struct str rest = self->request->raw_path;
    if (str_starts(rest, "/compare")) {
        self->ref = request_param(self->request, "b");
        self->place = find_place(STR_LIT("compare"), false);
        return self->ref.len > 0;
    }
    if (!str_starts(rest, "/a/"))
        return false;
    rest = (struct str){rest.ptr + 3, rest.len - 3};
    self->ref = next_segment(self, &rest);
    struct str name = next_segment(self, &rest);
    self->id = next_segment(self, &rest);
    self->place = rest.len ? NULL : find_place(name, self->id.len > 0);
    return true;
}

/* ---- what is said ---- */

static void say(struct buf *out, enum lang lang, const char *what, const struct word_arg *args, size_t count)
{
    word_fill(out, message_of(lang, "heads", what), args, count);
}

static struct str cut(struct page *self, struct str text)
{
    CLEANUP(buf_dispose) struct buf out;
    struct str kept = STR_LIT("");
    buf_init(&out, TEXT_BYTES);
    word_text(&out, text, NAME_MAX_BYTES);
    return arena_str(self->request->arena, buf_str(&out), &kept) ? STR_LIT("") : kept;
}

/* The first attempt of a stage is called by the stage alone, as the pages do. */
static struct str id_name(struct page *self)
{
    bool is_first = self->place && self->place->kind == SUBJECT_STAGE && str_ends(self->id, ".0");
    return cut(self, is_first ? (struct str){self->id.ptr, self->id.len - 2} : self->id);
}

static void say_title(struct page *self, struct str run)
{
    const struct word_arg args[] = {report_text("run", cut(self, run)), report_text("id", id_name(self))};
    say(&self->title, self->lang, self->place ? self->place->head : "other", args, ARRAY_LENGTH(args));
}

static enum err_code run_name(struct page *self, struct db *app, struct str otherwise, struct str *ret, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret = otherwise;
    enum err_code rc = db_prepare(app, &row, "SELECT name FROM application WHERE name <> ''", err);
    if (!rc && !(rc = db_step(row, err)) && arena_str(self->request->arena, db_str(row, 0), ret))
        rc = err_nomem(err);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code is_there(struct page *self, struct db *app, bool *ret, struct err *err)
{
    const char *stop = self->id.len ? memchr(self->id.ptr, '.', self->id.len) : NULL;
    size_t before = stop && self->place->kind == SUBJECT_STAGE ? (size_t)(stop - self->id.ptr) : self->id.len;
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(app, &row, self->place->exists_sql, err);
    for (int i = 1; !rc && i <= sqlite3_bind_parameter_count(row); i++)
        db_bind_str(row, i, i == 1 ? (struct str){self->id.ptr, before} : stop ? (struct str){stop + 1, self->id.len - before - 1} : STR_LIT(""));
    if (!rc)
        rc = db_step(row, err);
    *ret = !rc && db_i64(row, 0) > 0;
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Nodes of a plan belong to its query. */
static bool is_about(const struct page *self, const struct finding *finding)
{
    if (finding->subject_kind == self->place->kind)
        return str_eq(finding->subject_key, self->id);
    return self->place->kind == SUBJECT_SQL && finding->subject_kind == SUBJECT_NODE && finding->subject_key.len > self->id.len &&
           memcmp(finding->subject_key.ptr, self->id.ptr, self->id.len) == 0 && finding->subject_key.ptr[self->id.len] == '/';
}

static enum err_code say_findings(struct page *self, const struct app_ref *run, struct err *err)
{
    struct report report;
    enum err_code rc = report_load(&report, run->lease.db, NULL, err);
    if (rc)
        return rc;
    if (!self->place || self->place->kind == SUBJECT_APP) {
        struct baseline usual;
        rc = usual_find(self->ctx, self->request, run->key, &usual, err);
        if (!rc || rc == ERR_NOT_FOUND)
            rc = regression_add(&report, &usual, server_store(self->ctx->server), NULL, self->lang, err);
        baseline_dispose(&usual);
        if (!rc)
            rc = verdict_app(&report, self->lang, &self->said, err);
    } else {
        size_t count = 0, *positions = mem_array(report.finding_count + 1, sizeof *positions);
        for (size_t i = 0; positions && i < report.finding_count; i++)
            if (is_about(self, &report.findings[i].finding))
                positions[count++] = i;
        rc = positions ? verdict_page(&report, self->lang, positions, count, &self->said, err) : err_nomem(err);
        mem_free(positions);
    }
    report_dispose(&report);
    return rc;
}

static enum err_code say_opened(struct page *self, const struct app_ref *run, struct err *err)
{
    bool there = true;
    struct str name;
    enum err_code rc = run_name(self, run->lease.db, self->ref, &name, err);
    if (rc)
        return rc;
    say_title(self, name);
    if (!run->loaded) {
        say(&self->said, self->lang, "reading_said", NULL, 0);
        return ERR_OK;
    }
    if (self->id.len && self->place && self->place->exists_sql && (rc = is_there(self, run->lease.db, &there, err)))
        return rc;
    if (!there) {
        say(&self->said, self->lang, "no_object_said", NULL, 0);
        return ERR_OK;
    }
    if (self->place && str_is(str_of(self->place->head), "compare"))
        rc = compare_sentence(self->ctx, self->request, request_param(self->request, "a"), run, self->lang, &self->said, err);
    else
        rc = say_findings(self, run, err);
    if (rc != ERR_NOT_FOUND && rc != ERR_BUSY)
        return rc;
    buf_clear(&self->said);
    say(&self->said, self->lang, "not_judged_said", NULL, 0);
    return ERR_OK;
}

static enum err_code say_run(struct page *self, struct err *err)
{
    struct app_ref run;
    enum err_code rc = app_lookup(self->ctx, self->request, self->ref, &run, err);
    if (!rc) {
        rc = say_opened(self, &run, err);
    } else if (rc == ERR_NOT_FOUND) {
        say(&self->title, self->lang, "no_run", NULL, 0);
        say(&self->said, self->lang, "no_run_said", NULL, 0);
        rc = ERR_OK;
    } else if (rc == ERR_BUSY) {
        say_title(self, self->ref);
        say(&self->said, self->lang, str_is(run.state, "failed") || str_is(run.state, "gone") ? "unreadable_said" : "reading_said", NULL, 0);
        rc = ERR_OK;
    }
    app_ref_dispose(self->ctx, &run);
    return rc;
}

/* ---- markup ---- */

static void put_meta(struct buf *out, const char *kind, const char *name, struct str text, size_t max)
{
    CLEANUP(buf_dispose) struct buf plain;
    buf_init(&plain, TEXT_BYTES);
    word_text(&plain, text, max);
    buf_printf(out, "<meta %s=\"%s\" content=\"", kind, name);
    html_text(out, buf_str(&plain));
    buf_text(out, "\">");
}

static void put_head(struct page *self, struct buf *out)
{
    CLEANUP(buf_dispose) struct buf line;
    struct str title = buf_str(&self->title), said = buf_str(&self->said);
    buf_init(&line, TEXT_BYTES);
    buf_append(&line, title.ptr, title.len);
    if (said.len && str_known(self->ref)) {
        buf_text(&line, self->lang == LANG_ZH_CN ? "：" : ": ");
        buf_append(&line, said.ptr, said.len);
    }
    struct str whole = buf_str(&line);
    CLEANUP(buf_dispose) struct buf plain;
    buf_init(&plain, TEXT_BYTES);
    word_text(&plain, whole, TITLE_MAX_BYTES);
    buf_text(out, "<title>");
    html_text(out, buf_str(&plain));
    buf_text(out, " · " SITE "</title>");
    put_meta(out, "name", "description", said, SAID_MAX_BYTES);
    put_meta(out, "property", "og:type", STR_LIT("website"), SAID_MAX_BYTES);
    put_meta(out, "property", "og:site_name", STR_LIT(SITE), SAID_MAX_BYTES);
    put_meta(out, "property", "og:title", title, TITLE_MAX_BYTES);
    put_meta(out, "property", "og:description", said, SAID_MAX_BYTES);
    put_meta(out, "name", "twitter:card", STR_LIT("summary"), SAID_MAX_BYTES);
}

void page_head(struct api_ctx *ctx, const struct request *request, struct buf *out)
{
    struct page page = {.ctx = ctx, .request = request, .lang = negotiate_lang(request->accept_language), .ref = STR_NONE};
    struct err err = {0};
    buf_init(out, HEAD_BYTES);
    buf_init(&page.title, TEXT_BYTES);
    buf_init(&page.said, TEXT_BYTES);
    if (!read_address(&page)) {
        say(&page.title, page.lang, "list", NULL, 0);
        say(&page.said, page.lang, "list_said", NULL, 0);
    } else if (say_run(&page, &err)) {
        log_debug("a page has no verdict in its head: %s", err.message);
        buf_clear(&page.said);
    }
    put_head(&page, out);
    buf_dispose(&page.title);
    buf_dispose(&page.said);
    if (buf_failed(out))
        buf_clear(out);
}
