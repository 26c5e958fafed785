/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/app_table.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/messages.h"
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
    uint32_t job, rules;             /* of the run keys, of the lists of rules; 0: not known */
    int8_t grade;                    /* of the worst finding; 0: not judged, too */
    bool complete, damaged;
    bool there;                      /* false: deleted */
};

struct app_table {
    pthread_rwlock_t lock;
    dev_t device;                    /* which catalogue this is */
    ino_t inode;
    int64_t change_no;               /* newest change that is in here; UNKNOWN: nothing is */
    struct row *rows;                /* owned, by rowid */
    size_t count, capacity;
    struct text_set words, ids, jobs;
    struct text_set rule_lists;      /* runs with the same findings share one */
    struct rule_bits {
        uint64_t of[2];
    } *rule_bits;                    /* owned; by id of rule_lists: the same as a set */
    size_t rule_bits_count, rule_bits_capacity;
    uint32_t *by_job;                /* owned: places of rows with a job, by job, start and place */
    size_t by_job_count, by_job_capacity;
};

#define MAX_RULES 128

/* By enum app_column, from column FIRST_COLUMN on. Severity is made of grade and saving. An added run stands in no job's history: its log says itself whose it is. */
#define ROW_COLUMNS \
    "a.app_id, a.complete, s.grade, s.rules, iif(" DB_IS_ADDED("a.app_key") ", NULL, h.run_key), " LOG_IS_DAMAGED ", " \
    "a.start_ms, a.end_ms, a.duration_ms, a.task_count, a.failed_task_count, a.stage_count, a.job_count, a.task_time_ms, a.input_bytes, a.shuffle_read_bytes, " \
    "a.disk_spill_bytes, NULL, s.saving_ms, CAST(s.busy_share * 1000000 AS INTEGER), s.completeness, " \
    "a.name, a.user, a.spark_version, a.queue, l.state, l.flags, a.outcome, coalesce(p.name, p.uri), a.view_users, a.view_groups "
#define ROW_TABLES \
    "LEFT JOIN log l ON l.log_id = a.log_id LEFT JOIN place p ON p.place_id = l.place_id LEFT JOIN run_summary s ON s.app_key = a.app_key " \
    "LEFT JOIN run_history h ON h.app_key = a.app_key "
#define FIRST_COLUMN 7

static const char newest_change_sql[] = "SELECT ifnull(max(change_no), 0) FROM app_change";
static const char all_sql[] = "SELECT a.rowid, " ROW_COLUMNS "FROM app a " ROW_TABLES "ORDER BY a.rowid";
static const char changed_sql[] =
    "SELECT c.app_rowid, " ROW_COLUMNS "FROM app_change c LEFT JOIN app a ON a.rowid = c.app_rowid " ROW_TABLES "WHERE c.change_no > ?1 ORDER BY c.app_rowid";

static void empty(struct app_table *self)
{
    text_set_dispose(&self->words);
    text_set_dispose(&self->ids);
    text_set_dispose(&self->jobs);
    text_set_dispose(&self->rule_lists);
    self->count = self->by_job_count = self->rule_bits_count = 0;
    self->change_no = UNKNOWN;
}

enum err_code app_table_new(struct app_table **ret, struct err *err)
{
    *ret = NULL;
    if (rule_count > MAX_RULES)
        return err_set(err, ERR_LIMIT, "%zu rules; the list of runs is made for %d", rule_count, MAX_RULES);
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
    text_set_init(&self->jobs);
    text_set_init(&self->rule_lists);
    self->change_no = UNKNOWN;
    return ERR_OK;
}

void app_table_free(struct app_table *self)
{
    if (!self)
        return;
    empty(self);
    mem_free(self->rows);
    mem_free(self->rule_bits);
    mem_free(self->by_job);
    pthread_rwlock_destroy(&self->lock);
    mem_free(self);
}

/* ---- following the catalogue ---- */

/* The first place whose rowid is not below: new runs have the highest ones. */
static size_t place_of(const struct app_table *self, int64_t rowid)
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
    return low;
}

/* The row of a rowid, made where there is none. NULL: out of memory. */
static struct row *row_of(struct app_table *self, int64_t rowid)
{
    size_t low = place_of(self, rowid);
    if (low < self->count && self->rows[low].rowid == rowid)
        return &self->rows[low];
    if (mem_grow((void **)&self->rows, &self->capacity, self->count + 1, MAX_ROWS, sizeof *self->rows))
        return NULL;
    memmove(&self->rows[low + 1], &self->rows[low], (self->count++ - low) * sizeof *self->rows);
    self->rows[low] = (struct row){.rowid = rowid};
    return &self->rows[low];
}

static void add_rule(struct rule_bits *bits, const struct rule *rule)
{
    size_t at = (size_t)(rule - rules);
    bits->of[at / 64] |= (uint64_t)1 << at % 64;
}

/* Ids of rules with blanks between. One of another version of the program, which we do not know, cannot be asked for. */
static enum err_code read_rules(struct app_table *self, struct str text, uint32_t *ret_id, struct err *err)
{
    if (text_set_add(&self->rule_lists, text, ret_id) ||
        mem_grow((void **)&self->rule_bits, &self->rule_bits_capacity, text_set_count(&self->rule_lists) + 1, MAX_ROWS, sizeof *self->rule_bits))
        return err_nomem(err);
    for (; self->rule_bits_count <= *ret_id; self->rule_bits_count++) {
        struct rule_bits *bits = &self->rule_bits[self->rule_bits_count];
        *bits = (struct rule_bits){{0}};
        for (size_t begin = 0, end; self->rule_bits_count == *ret_id && begin < text.len; begin = end + 1) {
            for (end = begin; end < text.len && text.ptr[end] != ' '; end++)
                continue;
            const struct rule *rule = rule_find((struct str){text.ptr + begin, end - begin});
            if (rule)
                add_rule(bits, rule);
        }
    }
    return ERR_OK;
}

#define SAVING_BITS 48
static int64_t severity(int64_t grade, int64_t saving_ms)
{
    return known(grade) ? (grade << SAVING_BITS) + MIN(MAX(known_or(saving_ms, 0), 0), ((int64_t)1 << SAVING_BITS) - 1) : UNKNOWN;
}

static enum err_code read_row(struct app_table *self, sqlite3_stmt *stmt, struct err *err)
{
    struct row *row = row_of(self, db_i64(stmt, 0));
    if (!row)
        return err_nomem(err);
    row->there = !db_is_null(stmt, 1);
    if (!row->there)
        return ERR_OK;
    if (text_set_add(&self->ids, db_str(stmt, 1), &row->id) || text_set_add(&self->jobs, db_str(stmt, 5), &row->job))
        return err_nomem(err);
    int64_t grade = db_i64(stmt, 3);
    row->complete = db_i64(stmt, 2) == 1;
    row->damaged = db_i64(stmt, 6) == 1;
    row->grade = (int8_t)MAX(MIN(known_or(grade, 0), GRADE_SEVERE), 0);
    for (int i = 0; i < APP_NUMBER_COUNT; i++)
        row->numbers[i] = db_i64(stmt, FIRST_COLUMN + i);
    row->numbers[APP_SEVERITY] = severity(known(grade) ? row->grade : UNKNOWN, row->numbers[APP_SAVING]);
    for (int i = 0; i < TEXT_COUNT; i++)
        if (text_set_add(&self->words, db_str(stmt, FIRST_COLUMN + APP_NUMBER_COUNT + i), &row->words[i]))
            return err_nomem(err);
    return read_rules(self, db_str(stmt, 4), &row->rules, err);
}

/* Of a job by start, unknown first; runs of the same moment by their place. */
static int compare_in_job(const void *a, const void *b, void *rows)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct row *r = &((const struct row *)rows)[x], *s = &((const struct row *)rows)[y];
    int64_t r_start = known_or(r->numbers[APP_START], INT64_MIN), s_start = known_or(s->numbers[APP_START], INT64_MIN);
    if (r->job != s->job)
        return r->job < s->job ? -1 : 1;
    return r_start != s_start ? (r_start < s_start ? -1 : 1) : (x > y) - (x < y);
}

static enum err_code order_by_job(struct app_table *self, struct err *err)
{
    if (mem_grow((void **)&self->by_job, &self->by_job_capacity, self->count + 1, MAX_ROWS, sizeof *self->by_job))
        return err_nomem(err);
    self->by_job_count = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->rows[i].there && self->rows[i].job)
            self->by_job[self->by_job_count++] = (uint32_t)i;
    if (self->by_job_count)
        qsort_r(self->by_job, self->by_job_count, sizeof *self->by_job, compare_in_job, self->rows);
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
        rc = text_set_rank(&self->words) ? err_nomem(err) : order_by_job(self, err);
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
    struct rule_bits q_rules, rule;              /* rule: none where not asked */
    uint32_t user, state, outcome, queue, place; /* 0: there is no such text */
    uint32_t job;                                /* 0: not asked, or that run's job is not known */
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

/* Where a word begins, so that somebody called Eve does not find all that is uneven; letters of ASCII in either case. */
static bool has_words(struct str text, struct str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++)
        if ((i == 0 || !isalnum((unsigned char)text.ptr[i - 1])) && strncasecmp(text.ptr + i, part.ptr, part.len) == 0)
            return true;
    return false;
}

/* Rules whose id or name, in any language, has the text. The family of an id counts only before its dot: "sql" is not all that SQL.* found. */
static void find_rules(struct str part, struct rule_bits *ret)
{
    bool with_family = memchr(part.ptr, '.', part.len);
    for (size_t i = 0; i < rule_count; i++) {
        const char *dot = strchr(rules[i].id, '.');
        bool found = has_words(str_of(with_family || !dot ? rules[i].id : dot + 1), part);
        for (int lang = 0; lang < LANG_COUNT && !found; lang++)
            found = has_words(str_of(message((enum lang)lang, "rules", str_of(rules[i].id), "name")), part);
        if (found)
            add_rule(ret, &rules[i]);
    }
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
        const struct access_rules lists = {text_set_text(self->words, wanted.owner), text_set_text(self->words, wanted.users), text_set_text(self->words, wanted.groups)};
        wanted.may = access_may_see(self->filter->viewer, &lists);
        *place = wanted;
    }
    return place->may;
}

static enum err_code search_init(struct search *self, const struct app_table *table, const struct app_filter *filter, struct err *err)
{
    *self = (struct search){.filter = filter, .words = &table->words};
    if (!filter->viewer->sees_all && !(self->seen = mem_zalloc(SEEN_PLACES * sizeof *self->seen)))
        return err_nomem(err);
    if ((filter->q.len && (!(self->q_words = found_texts(&table->words, filter->q)) || !(self->q_ids = found_texts(&table->ids, filter->q)))) ||
        (filter->flags.len && !(self->flag_words = found_texts(&table->words, filter->flags))))
        return err_nomem(err);
    if (filter->q.len)
        find_rules(filter->q, &self->q_rules);
    if (filter->rule)
        add_rule(&self->rule, filter->rule);
    size_t model = known(filter->same_job_as) ? place_of(table, filter->same_job_as) : table->count;
    self->job = model < table->count && table->rows[model].rowid == filter->same_job_as && is_seen(self, &table->rows[model]) ? table->rows[model].job : 0;
    self->user = text_set_find(&table->words, filter->user);
    self->state = text_set_find(&table->words, filter->state);
    self->outcome = text_set_find(&table->words, filter->outcome);
    self->queue = text_set_find(&table->words, filter->queue);
    self->place = text_set_find(&table->words, filter->place);
    return ERR_OK;
}

static bool has_rule(const struct app_table *table, const struct row *row, const struct rule_bits *wanted)
{
    const struct rule_bits *bits = &table->rule_bits[row->rules];
    return (bits->of[0] & wanted->of[0]) || (bits->of[1] & wanted->of[1]);
}

static bool matches(const struct app_table *table, const struct search *self, const struct row *row)
{
    const struct app_filter *f = self->filter;
    int64_t start_ms = row->numbers[APP_START], duration_ms = row->numbers[APP_DURATION];
    return row->grade >= f->grade && (!known(f->same_job_as) || row->rowid == f->same_job_as || (self->job && row->job == self->job)) && (f->complete < 0 || row->complete == f->complete) && (!f->damaged || row->damaged) && is_word(f->user, self->user, row, APP_USER) && is_word(f->state, self->state, row, APP_STATE) &&
           is_word(f->outcome, self->outcome, row, APP_OUTCOME) && is_word(f->queue, self->queue, row, APP_QUEUE) && is_word(f->place, self->place, row, APP_PLACE) &&
           (!known(f->from_ms) || (known(start_ms) && start_ms >= f->from_ms)) && (!known(f->to_ms) || (known(start_ms) && start_ms <= f->to_ms)) &&
           (!known(f->least_duration_ms) || (known(duration_ms) && duration_ms >= f->least_duration_ms)) && (!f->rule || has_rule(table, row, &self->rule)) &&
           (!self->q_words || self->q_words[word(row, APP_NAME)] || self->q_ids[row->id] || self->q_words[word(row, APP_USER)] || has_rule(table, row, &self->q_rules)) &&
           (!self->flag_words || self->flag_words[word(row, APP_FLAGS)]);
}

/* ---- the runs of a job */

/* First place of by_job whose job is `job` or a later one. */
static size_t job_begin(const struct app_table *self, uint32_t job)
{
    size_t low = 0, high = self->by_job_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->rows[self->by_job[middle]].job < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t count_seen(const struct app_table *self, const struct search *search, size_t begin, size_t end, int64_t enough)
{
    if (!search->seen)
        return (int64_t)(end - begin);
    int64_t count = 0;
    for (size_t i = begin; i < end && count < enough; i++)
        count += is_seen(search, &self->rows[self->by_job[i]]);
    return count;
}

/* The newest runs of its job, or those that end with it; written behind page->runs[ret->first]. */
static void find_history(const struct app_table *self, const struct search *search, uint32_t at, int64_t most, struct app_page *page, struct app_history *ret)
{
    uint32_t job = self->rows[at].job;
    size_t begin = job_begin(self, job), end = job_begin(self, job + 1), own = begin;
    if (!job)
        return;
    for (size_t low = begin, high = end; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (compare_in_job(&self->by_job[middle], &at, self->rows) < 0)
            own = low = middle + 1;
        else
            high = middle;
    }
    ret->total = count_seen(self, search, begin, end, INT64_MAX);
    size_t i = count_seen(self, search, own + 1, end, most) < most ? end : own + 1;
    while (i-- > begin && (int64_t)ret->count < most)
        if (is_seen(search, &self->rows[self->by_job[i]]))
            page->runs[ret->first + ret->count++] = self->rows[self->by_job[i]].rowid;
    for (size_t low = ret->first, high = ret->first + ret->count; low + 1 < high; low++) {
        int64_t kept = page->runs[low];
        page->runs[low] = page->runs[--high];
        page->runs[high] = kept;
    }
}

static enum err_code find_histories(const struct app_table *self, const struct search *search, const struct candidate *items, int64_t most, struct app_page *page, struct err *err)
{
    if (!(page->histories = mem_array(page->count, sizeof *page->histories)) || !(page->runs = mem_array(page->count * (size_t)most, sizeof *page->runs)))
        return err_nomem(err);
    size_t used = 0;
    for (size_t i = 0; i < page->count; i++) {
        page->histories[i] = (struct app_history){.first = used};
        find_history(self, search, items[i].row, most, page, &page->histories[i]);
        used += page->histories[i].count;
    }
    return ERR_OK;
}

/* ---- a page */

/* Of the runs of one job that were found the newest alone. Returns how many are left. */
static enum err_code fold(const struct app_table *self, struct candidate *items, size_t *count, struct err *err)
{
    uint32_t *newest = mem_zalloc((text_set_count(&self->jobs) + 1) * sizeof *newest);   /* by job: place of the row, from 1 */
    if (!newest)
        return err_nomem(err);
    for (size_t i = 0; i < *count; i++) {
        uint32_t at = items[i].row, job = self->rows[at].job, so_far = newest[job] - 1;
        if (job && (!newest[job] || compare_in_job(&so_far, &at, self->rows) < 0))
            newest[job] = at + 1;
    }
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        uint32_t job = self->rows[items[i].row].job;
        if (!job || newest[job] == items[i].row + 1)
            items[kept++] = items[i];
    }
    *count = kept;
    mem_free(newest);
    return ERR_OK;
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
        if (matches(self, &search, &self->rows[i]))
            items[count++] = candidate_of(self, i, order);
    }
    if (order->folded && (rc = fold(self, items, &count, err)))
        return rc;
    ret->matched = (int64_t)count;
    int64_t total = ret->matched + further, last = total > 0 ? (total - 1) / limit + 1 : 1;
    *page = MIN(*page, last);
    size_t first = MIN((size_t)((*page - 1) * limit), count);
    ret->count = MIN((size_t)limit, count - first);
    if (!ret->count)
        return ERR_OK;
    if (!(ret->rowids = mem_array(ret->count, sizeof *ret->rowids)))
        return err_nomem(err);
    if (first)
        select_place(items, count, first);
    if (first + ret->count < count)
        select_place(items + first, count - first, ret->count);
    qsort(items + first, ret->count, sizeof *items, by_order);
    for (size_t i = 0; i < ret->count; i++)
        ret->rowids[i] = self->rows[items[first + i].row].rowid;
    return order->history > 0 ? find_histories(self, &search, items + first, order->history, ret, err) : ERR_OK;
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
    mem_free(TAKE(page->histories));
    mem_free(TAKE(page->runs));
}

/* ---- what can be filtered by ---- */

struct tally {
    uint32_t id;
    int64_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static const enum app_column facet_columns[FACET_KIND_COUNT] = {[FACET_USER] = APP_USER, [FACET_QUEUE] = APP_QUEUE, [FACET_PLACE] = APP_PLACE};

/* tallies: by id of the words, of the rules their place in the table. */
static void tally_row(const struct app_table *self, const struct row *row, enum app_facet_kind kind, struct tally *tallies)
{
    if (kind != FACET_RULE) {
        tallies[word(row, facet_columns[kind])].count++;
        return;
    }
    const struct rule_bits *bits = &self->rule_bits[row->rules];
    for (size_t i = 0; i < rule_count; i++)
        tallies[i + 1].count += (bits->of[i / 64] & (uint64_t)1 << i % 64) != 0;
}

static enum err_code find_facets(const struct app_table *self, const struct search *search, enum app_facet_kind kind, app_facet_fn *each, void *context, int64_t *ret_total,
                                 struct err *err)
{
    size_t count = (kind == FACET_RULE ? rule_count : text_set_count(&self->words)) + 1;
    CLEANUP(mem_freep) struct tally *tallies = mem_array(count, sizeof *tallies);
    if (!tallies)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        tallies[i] = (struct tally){(uint32_t)i, 0};
    for (size_t i = 0; i < self->count; i++)
        if (self->rows[i].there && is_seen(search, &self->rows[i]))
            tally_row(self, &self->rows[i], kind, tallies);
    tallies[0].count = 0;            /* runs of which it is not known */
    qsort(tallies, count, sizeof *tallies, by_count);
    *ret_total = 0;
    for (size_t i = 0; i < count && tallies[i].count > 0; i++) {
        uint32_t id = tallies[i].id;
        const struct app_facet facet = {kind == FACET_RULE ? str_of(rules[id - 1].id) : text_set_text(&self->words, id), tallies[i].count};
        if ((*ret_total)++ < APP_FACETS)
            each(context, kind, &facet);
    }
    return ERR_OK;
}

enum err_code app_table_facets(struct app_table *self, const struct db_lease *catalog, const struct viewer *viewer, app_facet_fn *each, void *context, int64_t ret_totals[FACET_KIND_COUNT],
                               struct err *err)
{
    CLEANUP(search_dispose) struct search search = {0};
    const struct app_filter all = {.viewer = viewer, .complete = -1, .same_job_as = UNKNOWN};
    enum err_code rc = app_table_refresh(self, catalog, err);
    if (rc)
        return rc;
    pthread_rwlock_rdlock(&self->lock);
    rc = known(self->change_no) ? search_init(&search, self, &all, err) : err_nomem(err);
    for (int kind = 0; kind < FACET_KIND_COUNT && !rc; kind++)
        rc = find_facets(self, &search, (enum app_facet_kind)kind, each, context, &ret_totals[kind], err);
    pthread_rwlock_unlock(&self->lock);
    return rc;
}
