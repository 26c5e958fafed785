/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/app_table.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "server/api/text_set.h"

#define MAX_ROWS ((size_t)1 << 24)
#define TEXT_COUNT (APP_COLUMN_COUNT - APP_NUMBER_COUNT)

struct row {
    int64_t rowid;
    int64_t numbers[APP_NUMBER_COUNT];
    uint32_t words[TEXT_COUNT];      /* ids of the words */
    uint32_t id;                     /* of the application ids */
    int8_t grade;                    /* the worse of both judgements */
    bool complete;
    bool there;                      /* false: deleted */
};

struct app_table {
    pthread_rwlock_t lock;
    dev_t device;                    /* which catalogue this is */
    ino_t inode;
    int64_t change_no;               /* newest change that is in here; UNKNOWN: nothing is */
    struct row *rows;                /* owned, by rowid */
    size_t count, capacity;
    struct text_set words, ids;
};

/* By enum app_column, from column 4 on. */
#define ROW_COLUMNS \
    "a.app_id, max(ifnull(a.skew_grade, 0), ifnull(a.gc_grade, 0)), a.complete, " \
    "a.start_ms, a.end_ms, a.duration_ms, a.task_count, a.failed_task_count, a.stage_count, a.job_count, a.task_time_ms, a.input_bytes, a.shuffle_read_bytes, " \
    "a.disk_spill_bytes, a.name, a.user, a.spark_version, l.state, l.flags, a.outcome, a.view_users, a.view_groups "
#define FIRST_COLUMN 4

static const char newest_change_sql[] = "SELECT ifnull(max(change_no), 0) FROM app_change";
static const char all_sql[] = "SELECT a.rowid, " ROW_COLUMNS "FROM app a LEFT JOIN log l ON l.log_id = a.log_id ORDER BY a.rowid";
static const char changed_sql[] =
    "SELECT c.app_rowid, " ROW_COLUMNS "FROM app_change c LEFT JOIN app a ON a.rowid = c.app_rowid LEFT JOIN log l ON l.log_id = a.log_id "
    "WHERE c.change_no > ?1 ORDER BY c.app_rowid";

static void empty(struct app_table *self)
{
    text_set_dispose(&self->words);
    text_set_dispose(&self->ids);
    self->count = 0;
    self->change_no = UNKNOWN;
}

enum err_code app_table_new(struct app_table **ret, struct err *err)
{
    struct app_table *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    /* The usual kind lets readers in while a writer waits: it would wait for good under steady load. */
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&self->lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    text_set_init(&self->words);
    text_set_init(&self->ids);
    self->change_no = UNKNOWN;
    return ERR_OK;
}

void app_table_free(struct app_table *self)
{
    if (!self)
        return;
    text_set_dispose(&self->words);
    text_set_dispose(&self->ids);
    mem_free(self->rows);
    pthread_rwlock_destroy(&self->lock);
    mem_free(self);
}

/* ---- following the catalogue ---- */

/* The place of a rowid, made where there is none: new runs have the highest ones. NULL: out of memory. */
static struct row *row_of(struct app_table *self, int64_t rowid)
{
    size_t low = 0, high = self->count;
    if (high && self->rows[high - 1].rowid < rowid)
        low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->rows[middle].rowid < rowid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < self->count && self->rows[low].rowid == rowid)
        return &self->rows[low];
    if (mem_grow((void **)&self->rows, &self->capacity, self->count + 1, MAX_ROWS, sizeof *self->rows))
        return NULL;
    memmove(&self->rows[low + 1], &self->rows[low], (self->count++ - low) * sizeof *self->rows);
    self->rows[low] = (struct row){.rowid = rowid};
    return &self->rows[low];
}

static enum err_code read_row(struct app_table *self, sqlite3_stmt *stmt, struct err *err)
{
    struct row *row = row_of(self, db_i64(stmt, 0));
    if (!row)
        return err_nomem(err);
    row->there = !db_is_null(stmt, 1);
    if (!row->there)
        return ERR_OK;
    if (text_set_add(&self->ids, db_str(stmt, 1), &row->id))
        return err_nomem(err);
    row->grade = (int8_t)MAX(MIN(db_i64(stmt, 2), INT8_MAX), 0);
    row->complete = db_i64(stmt, 3) == 1;
    for (int i = 0; i < APP_NUMBER_COUNT; i++)
        row->numbers[i] = db_i64(stmt, FIRST_COLUMN + i);
    for (int i = 0; i < TEXT_COUNT; i++)
        if (text_set_add(&self->words, db_str(stmt, FIRST_COLUMN + APP_NUMBER_COUNT + i), &row->words[i]))
            return err_nomem(err);
    return ERR_OK;
}

static bool same_catalog(const struct app_table *self, const struct db_lease *catalog)
{
    return self->device == catalog->device && self->inode == catalog->inode && known(self->change_no);
}

static enum err_code read_changes(struct app_table *self, const struct db_lease *catalog, int64_t newest, struct err *err)
{
    if (!same_catalog(self, catalog))
        empty(self);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog->db, &stmt, known(self->change_no) ? changed_sql : all_sql, err);
    if (!rc && known(self->change_no))
        db_bind_i64(stmt, 1, self->change_no);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = read_row(self, stmt, err);
    db_finalize(stmt);
    if (rc == ERR_EOF)
        rc = text_set_rank(&self->words) ? err_nomem(err) : ERR_OK;
    if (rc) {
        empty(self);
        return rc;
    }
    self->device = catalog->device;
    self->inode = catalog->inode;
    self->change_no = newest;
    return ERR_OK;
}

enum err_code app_table_refresh(struct app_table *self, const struct db_lease *catalog, struct err *err)
{
    int64_t newest;
    enum err_code rc = db_query_i64(catalog->db, newest_change_sql, &newest, err);
    if (rc)
        return rc;
    pthread_rwlock_rdlock(&self->lock);
    bool current = same_catalog(self, catalog) && self->change_no >= newest;
    pthread_rwlock_unlock(&self->lock);
    if (current)
        return ERR_OK;
    pthread_rwlock_wrlock(&self->lock);
    if (!same_catalog(self, catalog) || self->change_no < newest)
        rc = read_changes(self, catalog, newest, err);
    pthread_rwlock_unlock(&self->lock);
    return rc;
}

/* ---- a page ---- */

/* Rows that match, with what they are ordered by; no two are equal. */
struct candidate {
    int64_t key;
    uint32_t tie, row;
};

static bool before(const struct candidate *a, const struct candidate *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static int by_order(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

/* Ascending, whatever the order: all bits of a number turned over reverse it. Unknown ones are last. */
static struct candidate candidate_of(const struct app_table *self, size_t at, const struct app_order *order)
{
    const struct row *row = &self->rows[at];
    int64_t key;
    bool is_known;
    if (order->column < APP_NUMBER_COUNT) {
        key = row->numbers[order->column];
        is_known = known(key);
    } else {
        uint32_t word = row->words[order->column - APP_NUMBER_COUNT];
        key = self->words.rank[word];
        is_known = word != 0;
    }
    if (order->descending)
        key = ~key;
    return (struct candidate){is_known ? MIN(key, INT64_MAX - 1) : INT64_MAX, order->descending ? ~(uint32_t)at : (uint32_t)at, (uint32_t)at};
}

/* Quickselect: afterwards the element at `place` is the one that a sort would put there, smaller ones before it, greater ones behind. The pivot is drawn by lot, so that no
 * order that a log could bring about makes it slow. */
static void select_place(struct candidate *items, size_t count, size_t place)
{
    uint64_t lot = 0x9E3779B97F4A7C15u ^ (uint64_t)(uintptr_t)items;
    for (size_t low = 0, high = count; high - low > 1;) {
        lot ^= lot << 13;
        lot ^= lot >> 7;
        lot ^= lot << 17;
        struct candidate pivot = items[low + lot % (high - low)];
        size_t i = low, j = high - 1;
        for (;;) {
            while (before(&items[i], &pivot))
                i++;
            while (before(&pivot, &items[j]))
                j--;
            if (i >= j)
                break;
            struct candidate kept = items[i];
            items[i] = items[j];
            items[j] = kept;
        }
        /* i == j: the pivot's own place */
        if (i == place)
            return;
        if (i < place)
            low = i + 1;
        else
            high = i;
    }
}

/* May the viewer see runs of this owner and these lists: hundred thousand runs have some hundred combinations. */
struct seen {
    uint32_t owner, users, groups;
    bool known, may;
};
#define SEEN_PLACES 1024

struct search {
    const struct app_filter *filter;
    const struct text_set *words;
    struct seen *seen;               /* SEEN_PLACES, by hash; NULL: the viewer sees everything */
    uint8_t *q_words, *q_ids, *flag_words;       /* by id: the text holds what is searched for; NULL: not asked */
    uint32_t user, state, outcome;               /* 0: there is no such text */
};

static void search_dispose(struct search *self)
{
    mem_free(self->q_words);
    mem_free(self->q_ids);
    mem_free(self->flag_words);
    mem_free(self->seen);
}

/* NULL: out of memory. */
static uint8_t *found_texts(const struct text_set *texts, struct str part)
{
    uint8_t *found = mem_alloc(text_set_count(texts) + 1);
    if (found && text_set_search(texts, part, found))
        mem_free(TAKE(found));
    return found;
}

static enum err_code search_init(struct search *self, const struct app_table *table, const struct app_filter *filter, struct err *err)
{
    *self = (struct search){.filter = filter, .words = &table->words};
    if (!filter->viewer->sees_all && !(self->seen = mem_zalloc(SEEN_PLACES * sizeof *self->seen)))
        return err_nomem(err);
    if ((filter->q.len && (!(self->q_words = found_texts(&table->words, filter->q)) || !(self->q_ids = found_texts(&table->ids, filter->q)))) ||
        (filter->flags.len && !(self->flag_words = found_texts(&table->words, filter->flags))))
        return err_nomem(err);
    self->user = text_set_find(&table->words, filter->user);
    self->state = text_set_find(&table->words, filter->state);
    self->outcome = text_set_find(&table->words, filter->outcome);
    return ERR_OK;
}

static uint32_t word(const struct row *row, enum app_column column)
{
    return row->words[column - APP_NUMBER_COUNT];
}

static bool is_word(struct str wanted, uint32_t id, const struct row *row, enum app_column column)
{
    return !wanted.len || (id && word(row, column) == id);
}

static bool is_seen(const struct search *self, const struct row *row)
{
    if (!self->seen)
        return true;
    struct seen wanted = {word(row, APP_USER), word(row, APP_VIEW_USERS), word(row, APP_VIEW_GROUPS), true, false};
    uint32_t hash = (wanted.owner * 0x9E3779B1U ^ wanted.users * 0x85EBCA77U ^ wanted.groups * 0xC2B2AE3DU) >> 22;
    struct seen *place = &self->seen[hash];
    if (!place->known || place->owner != wanted.owner || place->users != wanted.users || place->groups != wanted.groups) {
        const struct access_rules rules = {text_set_text(self->words, wanted.owner), text_set_text(self->words, wanted.users), text_set_text(self->words, wanted.groups)};
        wanted.may = access_may_see(self->filter->viewer, &rules);
        *place = wanted;
    }
    return place->may;
}

static bool matches(const struct search *self, const struct row *row)
{
    const struct app_filter *f = self->filter;
    int64_t start_ms = row->numbers[APP_START], duration_ms = row->numbers[APP_DURATION];
    return row->grade >= f->grade && (f->complete < 0 || row->complete == f->complete) && is_word(f->user, self->user, row, APP_USER) && is_word(f->state, self->state, row, APP_STATE) &&
           is_word(f->outcome, self->outcome, row, APP_OUTCOME) && (!known(f->from_ms) || (known(start_ms) && start_ms >= f->from_ms)) &&
           (!known(f->to_ms) || (known(start_ms) && start_ms <= f->to_ms)) && (!known(f->least_duration_ms) || (known(duration_ms) && duration_ms >= f->least_duration_ms)) &&
           (!self->q_words || self->q_words[word(row, APP_NAME)] || self->q_ids[row->id] || self->q_words[word(row, APP_USER)]) &&
           (!self->flag_words || self->flag_words[word(row, APP_FLAGS)]);
}

/* Under the lock. */
static enum err_code find_page(const struct app_table *self, const struct app_filter *filter, const struct app_order *order, int64_t further, int64_t limit, int64_t *page,
                               struct app_page *ret, struct err *err)
{
    CLEANUP(search_dispose) struct search search;
    CLEANUP(mem_freep) struct candidate *items = NULL;
    enum err_code rc = search_init(&search, self, filter, err);
    if (rc)
        return rc;
    if (self->count && !(items = mem_alloc(self->count * sizeof *items)))
        return err_nomem(err);
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (!self->rows[i].there || !is_seen(&search, &self->rows[i]))
            continue;
        ret->all++;
        if (matches(&search, &self->rows[i]))
            items[count++] = candidate_of(self, i, order);
    }
    ret->matched = (int64_t)count;
    int64_t total = ret->matched + further, last = total > 0 ? (total - 1) / limit + 1 : 1;
    *page = MIN(*page, last);
    size_t first = MIN((size_t)((*page - 1) * limit), count);
    ret->count = MIN((size_t)limit, count - first);
    if (!ret->count)
        return ERR_OK;
    if (!(ret->rowids = mem_array(ret->count, sizeof *ret->rowids)))
        return err_nomem(err);
    select_place(items, count, first);
    if (first + ret->count < count)
        select_place(items + first, count - first, ret->count);
    qsort(items + first, ret->count, sizeof *items, by_order);
    for (size_t i = 0; i < ret->count; i++)
        ret->rowids[i] = self->rows[items[first + i].row].rowid;
    return ERR_OK;
}

enum err_code app_table_page(struct app_table *self, const struct db_lease *catalog, const struct app_filter *filter, const struct app_order *order, int64_t further, int64_t limit,
                             int64_t *page, struct app_page *ret, struct err *err)
{
    *ret = (struct app_page){0};
    enum err_code rc = app_table_refresh(self, catalog, err);
    if (rc)
        return rc;
    pthread_rwlock_rdlock(&self->lock);
    if (known(self->change_no))
        rc = find_page(self, filter, order, further, limit, page, ret, err);
    else                             /* another thread had no memory for it meanwhile */
        rc = err_nomem(err);
    pthread_rwlock_unlock(&self->lock);
    return rc;
}

void app_page_dispose(struct app_page *page)
{
    mem_free(TAKE(page->rowids));
}
