/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the model that are not about tasks: feeds lines (' for ") in any order and keeps the texts and progress rows that come out. */
#ifndef TESTS_MODEL_FIXTURE_H
#define TESTS_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/event/event_decode.h"
#include "ingest/model/app_model.h"

struct model_fixture {
    struct app_model *model;
    struct arena scratch;
    char texts[32][200];
    struct {
        int64_t run_ref, progress_no, batch_id, sink_text_id, first_source_text_id;
    } progress[32];
    size_t progress_count;
};

static inline enum err_code fixture_task(void *context UNUSED, const struct task_row *row UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static inline enum err_code fixture_accumulable(void *context UNUSED, int64_t seq UNUSED, int64_t ordinal UNUSED, const struct accumulable *a UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static inline enum err_code fixture_text(void *context, int64_t id, struct str body, struct err *err UNUSED)
{
    struct model_fixture *self = context;
    assert_true(id > 0 && (size_t)id < ARRAY_LENGTH(self->texts));
    snprintf(self->texts[id], sizeof self->texts[id], "%.*s", (int)body.len, body.ptr);
    return ERR_OK;
}

static inline enum err_code fixture_progress(void *context, const struct streaming_progress_row *row, struct err *err UNUSED)
{
    struct model_fixture *self = context;
    assert_true(self->progress_count < ARRAY_LENGTH(self->progress));
    self->progress[self->progress_count].run_ref = row->run_ref;
    self->progress[self->progress_count].progress_no = row->progress_no;
    self->progress[self->progress_count].batch_id = row->progress->batch_id;
    self->progress[self->progress_count].sink_text_id = row->sink_text_id;
    self->progress[self->progress_count++].first_source_text_id = row->progress->source_count ? row->source_text_ids[0] : UNKNOWN;
    return ERR_OK;
}

static inline enum err_code fixture_done(void *context UNUSED, struct stage *stage UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static inline struct model_fixture *fixture_new(void)
{
    struct model_fixture *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->model = app_model_new((struct row_sink){self, fixture_task, fixture_accumulable, fixture_text, fixture_progress, fixture_done});
    assert_non_null(self->model);
    arena_init(&self->scratch, 1 << 20);
    return self;
}

static inline void fixture_free(struct model_fixture *self)
{
    app_model_free(self->model);
    arena_dispose(&self->scratch);
    free(self);
}

static inline void fixture_apply(struct model_fixture *self, const char *text)
{
    size_t len = strlen(text);
    char *line = calloc(1, len + EVENT_LINE_PADDING);
    for (size_t i = 0; i < len; i++)
        line[i] = text[i] == '\'' ? '"' : text[i];
    struct event event;
    struct err err = {0};
    arena_reset(&self->scratch);
    if (event_decode((struct str){line, len}, &self->scratch, NULL, &event, &err))
        fail_msg("%s: %s", err.message, text);
    assert_int_equal(app_model_apply(self->model, &event, &err), ERR_OK);
    free(line);
}

/* All lines in one of count! / … orders: order n of many, each different enough. n = 0: as they stand, 1: backwards, else by a small generator. */
static inline void fixture_play(struct model_fixture *self, const char *const *lines, size_t count, unsigned n)
{
    size_t at[32];
    assert_true(count <= ARRAY_LENGTH(at));
    for (size_t i = 0; i < count; i++)
        at[i] = n == 1 ? count - 1 - i : i;
    uint32_t random = n;
    for (size_t i = count; n > 1 && i-- > 1;) {
        random = random * 1664525 + 1013904223;
        size_t with = (random >> 8) % (i + 1), kept = at[i];
        at[i] = at[with];
        at[with] = kept;
    }
    for (size_t i = 0; i < count; i++)
        fixture_apply(self, lines[at[i]]);
}

static inline void assert_str_(struct str got, const char *want, const char *file, int line)
{
    if (want ? str_known(got) && str_is(got, want) : !str_known(got))
        return;
    print_error("got \"%.*s\", want %s\n", (int)got.len, got.ptr ? got.ptr : "(none)", want ? want : "(none)");
    _fail(file, line);
}
#define assert_str(got, want) assert_str_((got), (want), __FILE__, __LINE__)

#endif
