/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/match.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/fingerprint.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"

/* One thing of one run, to be paired with one of the other run that has the same keys: the k-th with the k-th. */
struct item {
    int64_t keys[3];
    uint32_t position;
};

struct side {
    struct item *items; /* owned */
    size_t count;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    for (size_t i = 0; i < ARRAY_LENGTH(x->keys); i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] < y->keys[i] ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static int compare_keys(const struct item *x, const struct item *y)
{
    for (size_t i = 0; i < ARRAY_LENGTH(x->keys); i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] < y->keys[i] ? -1 : 1;
    return 0;
}

static void pair_up(struct side *base, struct side *new_run, uint32_t *in_new, uint32_t *in_base)
{
    qsort(base->items, base->count, sizeof *base->items, compare_items);
    qsort(new_run->items, new_run->count, sizeof *new_run->items, compare_items);
    for (size_t i = 0, k = 0; i < base->count && k < new_run->count;) {
        int order = compare_keys(&base->items[i], &new_run->items[k]);
        if (order == 0) {
            in_new[base->items[i].position] = new_run->items[k].position;
            in_base[new_run->items[k].position] = base->items[i].position;
        }
        i += order <= 0;
        k += order >= 0;
    }
    base->count = new_run->count = 0;
}

static void add(struct side *side, int64_t first, int64_t second, int64_t third, size_t position)
{
    side->items[side->count++] = (struct item){{first, second, third}, (uint32_t)position};
}

/* --- queries */

static int64_t description_hash(struct str description, struct buf *scratch)
{
    buf_clear(scratch);
    clean_call_site(scratch, description, STR_NONE);
    return (int64_t)fingerprint_of(buf_str(scratch));
}

static void match_queries(struct run_match *self, const struct run_record *base, const struct run_record *new_run, struct side *sides, struct buf *scratch)
{
    for (size_t i = 0; i < base->query_count; i++)
        add(&sides[0], base->queries[i].first, 0, 0, i);
    for (size_t i = 0; i < new_run->query_count; i++)
        add(&sides[1], new_run->queries[i].first, 0, 0, i);
    pair_up(&sides[0], &sides[1], self->query_in_new, self->query_in_base);
    for (size_t i = 0; i < base->query_count; i++)
        if (self->query_in_new[i] == NO_MATCH)
            add(&sides[0], description_hash(base->queries[i].description, scratch), 0, 0, i);
    for (size_t i = 0; i < new_run->query_count; i++)
        if (self->query_in_base[i] == NO_MATCH)
            add(&sides[1], description_hash(new_run->queries[i].description, scratch), 0, 0, i);
    pair_up(&sides[0], &sides[1], self->query_in_new, self->query_in_base);
}

static int by_execution(const void *key, const void *item)
{
    int64_t id = *(const int64_t *)key, other = ((const struct run_query *)item)->execution_id;
    return (id > other) - (id < other);
}

uint32_t run_query_of(const struct run_record *record, const struct run_stage *stage)
{
    const struct run_query *query =
        known(stage->execution_id) && record->query_count ? bsearch(&stage->execution_id, record->queries, record->query_count, sizeof *query, by_execution) : NULL;
    return query ? (uint32_t)(query - record->queries) : NO_MATCH;
}

/* --- stages */

/* Steps 1 (`in_queries`: in the same pair of queries only) and 2. A pair of queries goes by the position of the base's. */
static void match_fingerprints(struct run_match *self, const struct run_record *base, const struct run_record *new_run, bool in_queries, struct side *sides)
{
    for (size_t i = 0; i < base->stage_count; i++) {
        uint32_t query = run_query_of(base, &base->stages[i]);
        bool paired = query != NO_MATCH && self->query_in_new[query] != NO_MATCH;
        if (self->stage_in_new[i] == NO_MATCH && (paired || !in_queries))
            add(&sides[0], in_queries ? (int64_t)query : 0, base->stages[i].fingerprint, 0, i);
    }
    for (size_t i = 0; i < new_run->stage_count; i++) {
        uint32_t query = run_query_of(new_run, &new_run->stages[i]), paired = query == NO_MATCH ? NO_MATCH : self->query_in_base[query];
        if (self->stage_in_base[i] == NO_MATCH && (paired != NO_MATCH || !in_queries))
            add(&sides[1], in_queries ? (int64_t)paired : 0, new_run->stages[i].fingerprint, 0, i);
    }
    pair_up(&sides[0], &sides[1], self->stage_in_new, self->stage_in_base);
}

/* A pair of stages, with the base's job. */
struct anchor {
    int64_t job_id;
    uint32_t base, new_run;
};

static int compare_anchors(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;
    if (x->job_id != y->job_id)
        return x->job_id < y->job_id ? -1 : 1;
    return (x->base > y->base) - (x->base < y->base);
}

/* Of anchors of one job in the base's order, the longest run that is in the new run's order too: the longest common subsequence of what both have. Marks the others by
 * base = NO_MATCH. `tails`, `previous`: scratch of `count` places. */
static void keep_common_order(struct anchor *anchors, size_t count, uint32_t *tails, uint32_t *previous)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t low = 0, high = longest;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (anchors[tails[middle]].new_run < anchors[i].new_run)
                low = middle + 1;
            else
                high = middle;
        }
        previous[i] = low ? tails[low - 1] : NO_MATCH;
        tails[low] = i;
        longest = MAX(longest, low + 1);
    }
    uint32_t at = longest ? tails[longest - 1] : NO_MATCH;
    for (uint32_t i = (uint32_t)count; i-- > 0;) {
        if (i == at)
            at = previous[i];
        else
            anchors[i].base = NO_MATCH;
    }
}

/* Two jobs that are one job, with the anchors that hold them together. */
struct job_pair {
    int64_t base_job, new_job;
    size_t first, count; /* of anchors, ascending in both runs */
};

struct job_pairs {
    struct anchor *anchors; /* owned */
    struct job_pair *items; /* owned */
    size_t count;
    struct imap by_base, by_new; /* job_id → number of the pair, from 1 */
};

static void job_pairs_dispose(struct job_pairs *self)
{
    mem_free(self->anchors);
    mem_free(self->items);
    imap_dispose(&self->by_base);
    imap_dispose(&self->by_new);
}

/* A job of the base goes with the job of the new run in which its first matched stage ran, unless another one has that already. */
static enum err_code add_job_pair(struct job_pairs *self, const struct run_record *new_run, size_t first, size_t count, uint32_t *scratch, size_t scratch_half, struct err *err)
{
    struct anchor *anchors = self->anchors + first;
    int64_t new_job = new_run->stages[anchors[0].new_run].job_id;
    size_t kept = 0;
    if (imap_get(&self->by_new, new_job))
        return ERR_OK;
    for (size_t i = 0; i < count; i++)
        if (new_run->stages[anchors[i].new_run].job_id == new_job)
            anchors[kept++] = anchors[i];
    keep_common_order(anchors, kept, scratch, scratch + scratch_half);
    count = kept;
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (anchors[i].base != NO_MATCH)
            anchors[kept++] = anchors[i];
    self->items[self->count++] = (struct job_pair){anchors[0].job_id, new_job, first, kept};
    void *number = (void *)(uintptr_t)self->count;
    return imap_put(&self->by_base, anchors[0].job_id, number) || imap_put(&self->by_new, new_job, number) ? err_nomem(err) : ERR_OK;
}

static enum err_code job_pairs_make(struct job_pairs *self, const struct run_match *match, const struct run_record *base, const struct run_record *new_run, struct err *err)
{
    size_t most = MIN(base->stage_count, new_run->stage_count), count = 0;
    CLEANUP(mem_freep) uint32_t *scratch = mem_array(2 * most + 2, sizeof *scratch);
    *self = (struct job_pairs){.anchors = mem_array(most + 1, sizeof *self->anchors), .items = mem_array(most + 1, sizeof *self->items)};
    imap_init(&self->by_base, most + 1);
    imap_init(&self->by_new, most + 1);
    if (!scratch || !self->anchors || !self->items)
        return err_nomem(err);
    for (size_t i = 0; i < base->stage_count; i++)
        if (match->stage_in_new[i] != NO_MATCH)
            self->anchors[count++] = (struct anchor){base->stages[i].job_id, (uint32_t)i, match->stage_in_new[i]};
    qsort(self->anchors, count, sizeof *self->anchors, compare_anchors);
    enum err_code rc = ERR_OK;
    for (size_t first = 0, next; first < count && !rc; first = next) {
        for (next = first + 1; next < count && self->anchors[next].job_id == self->anchors[first].job_id; next++)
            continue;
        rc = add_job_pair(self, new_run, first, next - first, scratch, most + 1, err);
    }
    return rc;
}

/* How many of the pair's anchors come before position `at`. */
static size_t anchors_before(const struct job_pairs *self, const struct job_pair *pair, uint32_t at, bool in_new)
{
    size_t low = 0, high = pair->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct anchor *anchor = &self->anchors[pair->first + middle];
        if ((in_new ? anchor->new_run : anchor->base) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The call site alone, or with the power of two of what the stage read. */
static int64_t site_of(const struct run_stage *stage, bool by_size)
{
    if (!by_size)
        return stage->call_site;
    return (int64_t)fingerprint_join((const uint64_t[]){(uint64_t)stage->call_site, stage->bytes >= 1 ? 1 + (uint64_t)log2(stage->bytes) : 0}, 2);
}

/* A stage in a pair of jobs goes by its place between their anchors; one of another job by its pair of queries, or by the program's order alone. */
static void add_place(struct side *side, const struct job_pairs *pairs, const struct run_stage *stage, size_t position, uint32_t query, bool in_new, bool by_size)
{
    size_t number = (size_t)(uintptr_t)imap_get(in_new ? &pairs->by_new : &pairs->by_base, stage->job_id);
    if (number)
        add(side, (int64_t)number, (int64_t)anchors_before(pairs, &pairs->items[number - 1], (uint32_t)position, in_new), site_of(stage, by_size), position);
    else
        add(side, query == NO_MATCH ? -1 : -2 - (int64_t)query, 0, site_of(stage, by_size), position);
}

/* Steps 3a (`by_size`) and 3b, between the same anchors. */
static void match_places(struct run_match *self, const struct run_record *base, const struct run_record *new_run, const struct job_pairs *pairs, bool by_size, struct side *sides)
{
    for (size_t i = 0; i < base->stage_count; i++) {
        uint32_t query = run_query_of(base, &base->stages[i]);
        if (self->stage_in_new[i] == NO_MATCH && (query == NO_MATCH || self->query_in_new[query] != NO_MATCH))
            add_place(&sides[0], pairs, &base->stages[i], i, query, false, by_size);
    }
    for (size_t i = 0; i < new_run->stage_count; i++) {
        uint32_t query = run_query_of(new_run, &new_run->stages[i]), paired = query == NO_MATCH ? NO_MATCH : self->query_in_base[query];
        if (self->stage_in_base[i] == NO_MATCH && (query == NO_MATCH || paired != NO_MATCH))
            add_place(&sides[1], pairs, &new_run->stages[i], i, paired, true, by_size);
    }
    pair_up(&sides[0], &sides[1], self->stage_in_new, self->stage_in_base);
}

/* Step 3. */
static enum err_code match_left_over(struct run_match *self, const struct run_record *base, const struct run_record *new_run, struct side *sides, struct err *err)
{
    CLEANUP(job_pairs_dispose) struct job_pairs pairs;
    enum err_code rc = job_pairs_make(&pairs, self, base, new_run, err);
    if (rc)
        return rc;
    match_places(self, base, new_run, &pairs, true, sides);
    match_places(self, base, new_run, &pairs, false, sides);
    return ERR_OK;
}

/* --- all of it */

static double matched_share(const struct run_match *self, const struct run_record *base, const struct run_record *new_run)
{
    double matched = 0, all = 0;
    for (size_t i = 0; i < base->stage_count; i++) {
        uint32_t query = run_query_of(base, &base->stages[i]);
        all += (double)base->stages[i].work_ms;
        matched += self->stage_in_new[i] != NO_MATCH || (query != NO_MATCH && self->query_in_new[query] != NO_MATCH) ? (double)base->stages[i].work_ms : 0;
    }
    for (size_t i = 0; i < new_run->stage_count; i++) {
        uint32_t query = run_query_of(new_run, &new_run->stages[i]);
        all += (double)new_run->stages[i].work_ms;
        matched += self->stage_in_base[i] != NO_MATCH || (query != NO_MATCH && self->query_in_base[query] != NO_MATCH) ? (double)new_run->stages[i].work_ms : 0;
    }
    return all > 0 ? matched / all : 1;
}

static uint32_t *unmatched(size_t count)
{
    uint32_t *array = mem_array(count + 1, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = NO_MATCH;
    return array;
}

enum err_code run_match_make(struct run_match *ret, const struct run_record *base, const struct run_record *new_run, struct err *err)
{
    struct side sides[2] = {{mem_array(MAX(base->stage_count, base->query_count) + 1, sizeof(struct item)), 0},
                            {mem_array(MAX(new_run->stage_count, new_run->query_count) + 1, sizeof(struct item)), 0}};
    CLEANUP(buf_dispose) struct buf scratch;
    buf_init(&scratch, (size_t)1 << 24);
    *ret = (struct run_match){.stage_in_new = unmatched(base->stage_count),
                              .stage_in_base = unmatched(new_run->stage_count),
                              .query_in_new = unmatched(base->query_count),
                              .query_in_base = unmatched(new_run->query_count)};
    enum err_code rc = ERR_OK;
    if (!sides[0].items || !sides[1].items || !ret->stage_in_new || !ret->stage_in_base || !ret->query_in_new || !ret->query_in_base)
        rc = err_nomem(err);
    if (!rc) {
        match_queries(ret, base, new_run, sides, &scratch);
        match_fingerprints(ret, base, new_run, true, sides);
        match_fingerprints(ret, base, new_run, false, sides);
        rc = match_left_over(ret, base, new_run, sides, err);
    }
    if (!rc)
        ret->share = matched_share(ret, base, new_run);
    mem_free(sides[0].items);
    mem_free(sides[1].items);
    if (rc)
        run_match_dispose(ret);
    return rc;
}

void run_match_dispose(struct run_match *self)
{
    mem_free(TAKE(self->stage_in_new));
    mem_free(TAKE(self->stage_in_base));
    mem_free(TAKE(self->query_in_new));
    mem_free(TAKE(self->query_in_base));
}

/* --- subjects of findings */

static int by_stage_id(const void *key, const void *item)
{
    int64_t id = *(const int64_t *)key, other = ((const struct run_stage *)item)->stage_id;
    return (id > other) - (id < other);
}

static const struct run_stage *counterpart(const struct run_match *self, const struct run_record *base, const struct run_record *new_run, int64_t stage_id)
{
    const struct run_stage *stage = base->stage_count ? bsearch(&stage_id, base->stages, base->stage_count, sizeof *stage, by_stage_id) : NULL;
    uint32_t other = stage ? self->stage_in_new[stage - base->stages] : NO_MATCH;
    return other == NO_MATCH ? NULL : &new_run->stages[other];
}

static bool put_job(const struct run_match *self, const struct run_record *base, const struct run_record *new_run, int64_t job_id, struct buf *out)
{
    for (size_t i = 0; i < base->stage_count; i++)
        if (base->stages[i].job_id == job_id && self->stage_in_new[i] != NO_MATCH && known(new_run->stages[self->stage_in_new[i]].job_id)) {
            buf_printf(out, "%lld", (long long)new_run->stages[self->stage_in_new[i]].job_id);
            return true;
        }
    return false;
}

static bool put_query(const struct run_match *self, const struct run_record *base, const struct run_record *new_run, int64_t execution_id, struct buf *out)
{
    const struct run_query *query = base->query_count ? bsearch(&execution_id, base->queries, base->query_count, sizeof *query, by_execution) : NULL;
    uint32_t other = query ? self->query_in_new[query - base->queries] : NO_MATCH;
    if (other != NO_MATCH)
        buf_printf(out, "%lld", (long long)new_run->queries[other].execution_id);
    return other != NO_MATCH;
}

bool run_match_subject(const struct run_match *self, const struct run_record *base, const struct run_record *new_run, enum subject_kind kind, struct str key, struct buf *out)
{
    int64_t id;
    struct str rest;
    switch (kind) {
    case SUBJECT_APP:
    case SUBJECT_EXECUTOR:
    case SUBJECT_HOST:
    case SUBJECT_CONF:
    case SUBJECT_LOG: buf_append(out, key.ptr, key.len); return true;
    case SUBJECT_STAGE: {
        const struct run_stage *stage = subject_key_split(key, '.', &id, &rest) ? counterpart(self, base, new_run, id) : NULL;
        if (stage) {
            buf_printf(out, "%lld", (long long)stage->stage_id);
            buf_append(out, rest.ptr, rest.len);
        }
        return stage != NULL;
    }
    case SUBJECT_JOB: return str_to_i64(key, &id) && put_job(self, base, new_run, id, out);
    case SUBJECT_SQL: return str_to_i64(key, &id) && put_query(self, base, new_run, id, out);
    case SUBJECT_NODE:
        if (!subject_key_split(key, '/', &id, &rest) || !put_query(self, base, new_run, id, out))
            return false;
        buf_append(out, rest.ptr, rest.len);
        return true;
    case SUBJECT_RDD: /* see run_finding.identity */
    case SUBJECT_TASK:
    case SUBJECT_QUERY:
    case SUBJECT_BATCH:
    case SUBJECT_KIND_COUNT: break;
    }
    return false;
}
