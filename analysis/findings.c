/* SPDX-License-Identifier: Apache-2.0
 *
 * The list that rules write to. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/judge.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/mem.h"

#define KEY_BYTES 300
#define TEXT_BYTES 300
#define JSON_BYTES ((size_t)64 << 10) /* of one finding's args, measures or evidence: 50 rows of some cells */

/* What findings_consider knows of one rule: the stakes of those it let through, smallest first (a heap), and how near the others came. */
struct rule_seen {
    double *stakes; /* FINDINGS_PER_RULE places, owned; NULL: none yet */
    size_t count;
    size_t refused;                /* would have fired, and had less at stake */
    double nearest, nearest_muted; /* margin + 1; 0: none yet */
};

static void buffers_ready(struct findings *self)
{
    if (self->args.max_bytes)
        return;
    buf_init(&self->args, JSON_BYTES);
    buf_init(&self->measures, JSON_BYTES);
    buf_init(&self->evidence, JSON_BYTES);
    buf_init(&self->formula, JSON_BYTES);
    buf_init(&self->filter, JSON_BYTES);
}

static struct str take_object(struct findings *self, struct buf *members, char open, char close)
{
    struct str out = STR_NONE;
    char *text = buf_failed(members) ? NULL : arena_alloc(self->arena, members->len + 2);
    if (!text) {
        self->out_of_memory = true;
        return out;
    }
    text[0] = open;
    if (members->len)
        memcpy(text + 1, members->data, members->len);
    text[members->len + 1] = close;
    out = (struct str){text, members->len + 2};
    buf_clear(members);
    return out;
}

void findings_close(struct findings *self)
{
    if (!self->open)
        return;
    struct finding *last = self->count ? &self->items[self->count - 1] : &self->spare;
    if (self->formula.len) {
        if (self->evidence.len)
            buf_char(&self->evidence, ',');
        buf_append(&self->evidence, self->formula.data, self->formula.len);
        buf_clear(&self->formula);
    }
    if (self->filter.len) {
        if (self->evidence.len)
            buf_char(&self->evidence, ',');
        buf_printf(&self->evidence, "{\"filter\":\"%s\"}", self->filter.data); /* percent-encoded: nothing that JSON would escape */
        buf_clear(&self->filter);
    }
    last->args = take_object(self, &self->args, '{', '}');
    last->measures = take_object(self, &self->measures, '{', '}');
    last->evidence = take_object(self, &self->evidence, '[', ']');
    self->open = false;
}

static const struct finding finding_none = {.measure = (double)NAN,
                                            .price = {UNKNOWN, UNKNOWN, UNKNOWN},
                                            .confidence = 2,
                                            .at_most = GRADE_SEVERE,
                                            .local_saving_ms = (double)NAN,
                                            .stage = NO_ENTITY,
                                            .executor = NO_ENTITY,
                                            .cause_share = (double)NAN};

static struct finding *add(struct findings *self, const struct rule *rule, enum subject_kind kind, const char *key_format, va_list values)
{
    char key[KEY_BYTES];
    findings_close(self);
    buffers_ready(self);
    self->spare = finding_none;
    self->evidence_count = self->change_capacity = 0;
    struct str kept = STR_NONE;
    int len = vsnprintf(key, sizeof key, key_format, values);
    if (!rule || len < 0 || self->out_of_memory || mem_grow((void **)&self->items, &self->capacity, self->count + 1, FINDINGS_MAX, sizeof *self->items) ||
        arena_str(self->arena, (struct str){key, utf8_valid_prefix(key, strlen(key))}, &kept)) {
        self->out_of_memory = true;
        self->spare.rule = rule ? rule : &rules[0];
        return &self->spare;
    }
    struct finding *out = &self->items[self->count++];
    *out = finding_none;
    out->rule = rule;
    out->subject_kind = kind;
    out->subject_key = kept;
    self->open = true;
    return out;
}

struct finding *findings_add(struct findings *self, const char *rule_id, enum subject_kind kind, const char *key_format, ...)
{
    va_list values;
    va_start(values, key_format);
    struct finding *out = add(self, rule_find(str_of(rule_id)), kind, key_format, values);
    va_end(values);
    return out;
}

static void sift_down(double *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[at] <= heap[child])
            return;
        double swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
    }
}

/* Whether one with this at stake belongs to the FINDINGS_PER_RULE best so far. Stakes come in any order, so few get in late: n ln(count / n) of them. */
static bool among_best(struct findings *self, struct rule_seen *seen, double stake)
{
    if (!seen->stakes && !(seen->stakes = mem_array(FINDINGS_PER_RULE, sizeof *seen->stakes))) {
        self->out_of_memory = true;
        return false;
    }
    if (seen->count < FINDINGS_PER_RULE) {
        size_t at = seen->count++;
        for (; at && seen->stakes[(at - 1) / 2] > stake; at = (at - 1) / 2)
            seen->stakes[at] = seen->stakes[(at - 1) / 2];
        seen->stakes[at] = stake;
        return true;
    }
    if (stake <= seen->stakes[0]) {
        seen->refused++;
        return false;
    }
    seen->stakes[0] = stake;
    sift_down(seen->stakes, seen->count, 0);
    return true;
}

struct finding *findings_consider(struct findings *self, const struct rule *rule, enum mute mute, double measure, double saving_ms, enum subject_kind kind, const char *key_format,
                                  ...)
{
    if (!self->seen && !(self->seen = mem_array(rule_count, sizeof *self->seen)))
        self->out_of_memory = true;
    if (isnan(measure) || self->out_of_memory)
        return NULL;
    struct rule_seen *seen = &self->seen[rule - rules];
    struct finding tried = finding_none;
    tried.rule = rule;
    tried.measure = measure;
    bool fires = ladder_grade(&rule->ladder, measure) > GRADE_OK, counts = fires && !mute_is_early(mute);
    double margin = finding_margin(&tried, NULL);
    if (counts) {
        if (!among_best(self, seen, isnan(saving_ms) ? margin : saving_ms))
            return NULL;
    } else {
        double *nearest = mute_is_early(mute) ? &seen->nearest_muted : &seen->nearest;
        if (seen->count || margin + 1 <= *nearest) /* the nearest of a rule that fires is one that does */
            return NULL;
        *nearest = margin + 1;
    }
    va_list values;
    va_start(values, key_format);
    struct finding *out = add(self, rule, kind, key_format, values);
    va_end(values);
    out->measure = measure;
    out->mute = mute;
    out->local_saving_ms = saving_ms;
    return out;
}

size_t findings_refused(const struct findings *self, const struct rule *rule)
{
    return self->seen ? self->seen[rule - rules].refused : 0;
}

void findings_say_unknown(struct findings *self, const struct rule *rule)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->items[i].rule == rule)
            return;
    findings_add(self, rule->id, SUBJECT_APP, "-")->mute = MUTE_NO_METRIC;
}

/* ---- texts of the newest */

static void member(struct buf *into, const char *name, double value, struct str text, const char *unit)
{
    struct json_writer writer;
    json_writer_init(&writer, json_sink_buf, into, false);
    if (into->len)
        buf_char(into, ',');
    buf_printf(into, "\"%s\":", name); /* names are ours */
    json_object_begin(&writer);
    if (str_known(text))
        json_kv_str(&writer, "v", text);
    else
        json_kv_f64(&writer, "v", value);
    if (unit)
        json_kv_text(&writer, "u", unit);
    json_object_end(&writer);
    if (json_writer_end(&writer))
        into->failed = true;
}

void finding_arg(struct findings *self, const char *name, double value, const char *unit)
{
    if (self->open)
        member(&self->args, name, value, STR_NONE, unit);
}

void finding_arg_text(struct findings *self, const char *name, struct str text)
{
    if (!self->open)
        return;
    struct str cut = text;
    if (cut.len > TEXT_BYTES)
        cut.len = utf8_valid_prefix(cut.ptr, TEXT_BYTES);
    member(&self->args, name, (double)NAN, cut, NULL); /* null: unknown, which sentences tell from empty */
}

void finding_measure(struct findings *self, const char *name, double value, const char *unit)
{
    if (self->open)
        member(&self->measures, name, value, STR_NONE, unit);
}

void finding_evidence(struct findings *self, enum subject_kind kind, struct str key, const char *role, const struct evidence_cell *cells, size_t count)
{
    if (!self->open || self->evidence_count == FINDING_EVIDENCE_MAX)
        return;
    if (self->evidence_count++)
        buf_char(&self->evidence, ',');
    struct json_writer writer;
    json_writer_init(&writer, json_sink_buf, &self->evidence, false);
    json_object_begin(&writer);
    json_kv_text(&writer, "kind", subject_kind_names[kind]);
    json_kv_str(&writer, "key", key);
    json_kv_text(&writer, "role", role);
    json_key(&writer, "cols");
    json_array_begin(&writer);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(&writer);
        json_kv_text(&writer, "n", cells[i].name);
        json_kv_f64(&writer, "v", cells[i].value);
        json_kv_text(&writer, "u", cells[i].unit);
        json_object_end(&writer);
    }
    json_array_end(&writer);
    json_object_end(&writer);
    if (json_writer_end(&writer))
        self->evidence.failed = true;
}

void finding_formula(struct findings *self, const char *variant, const struct evidence_cell *numbers, size_t count, double threshold, const char *source)
{
    if (!self->open)
        return;
    struct json_writer writer;
    buf_clear(&self->formula);
    json_writer_init(&writer, json_sink_buf, &self->formula, false);
    json_object_begin(&writer);
    json_key(&writer, "formula");
    json_object_begin(&writer);
    json_kv_text(&writer, "variant", variant);
    json_key(&writer, "numbers");
    json_object_begin(&writer);
    for (size_t i = 0; i < count; i++) {
        json_key(&writer, numbers[i].name);
        json_object_begin(&writer);
        json_kv_f64(&writer, "v", numbers[i].value);
        json_kv_text(&writer, "u", numbers[i].unit);
        json_object_end(&writer);
    }
    json_object_end(&writer);
    json_object_end(&writer);
    json_kv_f64(&writer, "threshold", threshold);
    json_kv_text(&writer, "source", source);
    json_object_end(&writer);
    if (json_writer_end(&writer))
        self->formula.failed = true;
}

void finding_filter(struct findings *self, const char *name, struct str value)
{
    if (!self->open)
        return;
    if (self->filter.len)
        buf_char(&self->filter, '&');
    buf_printf(&self->filter, "%s=", name);
    for (size_t i = 0; str_known(value) && i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain)
            buf_char(&self->filter, (char)c);
        else
            buf_printf(&self->filter, "%%%02X", c);
    }
}

void finding_change(struct findings *self, const char *scenario, enum band band, struct change change)
{
    if (!self->open)
        return;
    struct finding *last = &self->items[self->count - 1];
    if (last->change_count == self->change_capacity) {
        size_t capacity = self->change_capacity ? 4 * self->change_capacity : 2;
        struct change *grown = arena_zalloc(self->arena, capacity, sizeof *grown);
        if (!grown) {
            self->out_of_memory = true;
            return;
        }
        if (last->change_count)
            memcpy(grown, last->changes, last->change_count * sizeof *grown);
        last->changes = grown;
        self->change_capacity = capacity;
    }
    ((struct change *)(uintptr_t)last->changes)[last->change_count++] = change;
    last->scenario = scenario;
    last->band = (int)band;
    last->weak = band == BAND_WEAK;
}

void findings_dispose(struct findings *self)
{
    for (size_t i = 0; self->seen && i < rule_count; i++)
        mem_free(self->seen[i].stakes);
    mem_free(self->seen);
    buf_dispose(&self->args);
    buf_dispose(&self->measures);
    buf_dispose(&self->evidence);
    buf_dispose(&self->formula);
    buf_dispose(&self->filter);
    mem_free(self->items);
    self->items = NULL;
    self->seen = NULL;
    self->count = self->capacity = 0;
}
