/* SPDX-License-Identifier: Apache-2.0
 *
 * Which findings came, went, got worse or better between two runs (spec/findings.md 9.5). A finding of the base stands for one of the new run when it is of the same rule and its subject has the
 * other's as its counterpart. Nodes of a plan, whose numbers change with it, go by what they are and do within their query; of several that are alike the worst with the worst. Where subjects are never the same again (tasks, batches) it is the rule alone, and the worst of each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/mem.h"

const char *const finding_news_names[FINDING_NEWS_COUNT] = {"new", "gone", "worse", "better", "same"};

struct entry {
    const struct run_finding *finding;
    struct str key; /* in the new run's terms; STR_NONE: it has no counterpart there */
};

/* By what makes two of them one; the worst of those that are alike first. */
static int compare_identity(const struct entry *x, const struct entry *y)
{
    if (x->finding->rule != y->finding->rule)
        return x->finding->rule < y->finding->rule ? -1 : 1;
    if (x->finding->kind != y->finding->kind)
        return x->finding->kind < y->finding->kind ? -1 : 1;
    if (str_known(x->key) != str_known(y->key))
        return str_known(x->key) ? -1 : 1;
    return str_compare(x->key, y->key);
}

static int by_identity(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = compare_identity(x, y);
    if (order)
        return order;
    if (x->finding->grade != y->finding->grade)
        return x->finding->grade > y->finding->grade ? -1 : 1;
    return str_compare(x->finding->key, y->finding->key);
}

/* Keeps the first of those that are alike; what has no counterpart is like nothing else. Nodes that are alike are several all the same. */
static size_t keep_first(struct entry *entries, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || !str_known(entries[i].key) || entries[i].finding->kind == SUBJECT_NODE || compare_identity(&entries[kept - 1], &entries[i]) != 0)
            entries[kept++] = entries[i];
    return kept;
}

static int by_news(const void *a, const void *b)
{
    const struct compare_finding *x = a, *y = b;
    if (x->news != y->news)
        return x->news < y->news ? -1 : 1;
    enum grade x_grade = MAX(x->base_grade, x->new_grade), y_grade = MAX(y->base_grade, y->new_grade);
    if (x_grade != y_grade)
        return x_grade > y_grade ? -1 : 1;
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    return str_compare(str_known(x->new_key) ? x->new_key : x->base_key, str_known(y->new_key) ? y->new_key : y->base_key);
}

/* "3/17" → "3/" and what the node is. */
static enum err_code node_key(struct comparison *self, struct str key, uint64_t node, struct str *ret, struct err *err)
{
    int64_t execution_id;
    struct str rest;
    if (!subject_key_split(key, '/', &execution_id, &rest))
        return ERR_OK;
    const char *text = arena_printf(&self->arena, "%" PRId64 "/%016" PRIx64, execution_id, node);
    if (!text)
        return err_nomem(err);
    *ret = str_of(text);
    return ERR_OK;
}

static enum err_code base_key(struct comparison *self, const struct run_match *match, const struct run_finding *finding, struct buf *scratch, struct str *ret, struct err *err)
{
    *ret = STR_NONE;
    buf_clear(scratch);
    if (str_known(finding->identity)) {
        *ret = finding->identity;
        return ERR_OK;
    }
    if (!run_match_subject(match, &self->base, &self->new_run, finding->kind, finding->key, scratch))
        return ERR_OK;
    if (finding->node && !buf_failed(scratch))
        return node_key(self, buf_str(scratch), finding->node, ret, err);
    return buf_failed(scratch) || arena_str(&self->arena, buf_str(scratch), ret) ? err_nomem(err) : ERR_OK;
}

enum err_code compare_findings(struct comparison *self, const struct run_match *match, struct err *err)
{
    size_t base_count = self->base.finding_count, new_count = self->new_run.finding_count;
    CLEANUP(mem_freep) struct entry *base = mem_array(base_count + 1, sizeof *base);
    CLEANUP(mem_freep) struct entry *new_run = mem_array(new_count + 1, sizeof *new_run);
    CLEANUP(buf_dispose) struct buf scratch;
    buf_init(&scratch, 65536);
    if (!base || !new_run || !(self->findings = mem_array(base_count + new_count + 1, sizeof *self->findings)))
        return err_nomem(err);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < base_count && !rc; i++) {
        base[i].finding = &self->base.findings[i];
        rc = base_key(self, match, base[i].finding, &scratch, &base[i].key, err);
    }
    if (rc)
        return rc;
    for (size_t i = 0; i < new_count; i++) {
        const struct run_finding *finding = &self->new_run.findings[i];
        new_run[i] = (struct entry){finding, str_known(finding->identity) ? finding->identity : finding->key};
        if (finding->node && (rc = node_key(self, finding->key, finding->node, &new_run[i].key, err)))
            return rc;
    }
    qsort(base, base_count, sizeof *base, by_identity);
    qsort(new_run, new_count, sizeof *new_run, by_identity);
    base_count = keep_first(base, base_count);
    new_count = keep_first(new_run, new_count);
    for (size_t i = 0, k = 0; i < base_count || k < new_count;) {
        int order = i == base_count ? 1 : k == new_count ? -1 : str_known(base[i].key) ? compare_identity(&base[i], &new_run[k]) : -1;
        const struct run_finding *before = order <= 0 ? base[i].finding : NULL, *after = order >= 0 ? new_run[k].finding : NULL;
        const struct run_finding *either = after ? after : before;
        struct compare_finding *out = &self->findings[self->finding_count++];
        *out = (struct compare_finding){.rule = either->rule,
                                        .kind = either->kind,
                                        .base_key = before ? before->key : STR_NONE,
                                        .new_key = after ? after->key : STR_NONE,
                                        .base_grade = before ? before->grade : GRADE_OK,
                                        .new_grade = after ? after->grade : GRADE_OK,
                                        .base_price_ms = before ? before->price_ms : UNKNOWN,
                                        .new_price_ms = after ? after->price_ms : UNKNOWN};
        out->news = !before ? FINDING_NEW : !after ? FINDING_GONE : after->grade > before->grade ? FINDING_WORSE : after->grade < before->grade ? FINDING_BETTER : FINDING_SAME;
        i += order <= 0;
        k += order >= 0;
    }
    qsort(self->findings, self->finding_count, sizeof *self->findings, by_news);
    return ERR_OK;
}
