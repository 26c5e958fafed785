/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole logs: lines to events to the model, in whatever order and number they come; SQL plans, their new versions and metrics above all, since these refer to each other. Beside the sanitizers: what comes out is
 * numbered without a hole, counts are no less than 0, and a second end changes nothing but the rows of tasks without one. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_pull.h"
#include "ingest/event/event_decode.h"
#include "ingest/model/app_model.h"

#define LINES_MAX 400
#define SCRATCH_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static enum err_code on_task(void *context, const struct task_row *row, struct err *err)
{
    (void)context, (void)err;
    require(row->task_seq > 0 && row->stage_ref > 0);
    return ERR_OK;
}

static enum err_code on_accumulable(void *context, int64_t task_seq, int64_t ordinal, const struct accumulable *accumulable, struct err *err)
{
    (void)context, (void)err;
    require(task_seq > 0 && ordinal >= 0 && accumulable->id >= 0);
    return ERR_OK;
}

static enum err_code on_text(void *context, int64_t text_id, struct str body, struct err *err)
{
    int64_t *last = context;
    (void)err;
    require(text_id == *last + 1 && utf8_valid_prefix(body.ptr, body.len) == body.len);
    *last = text_id;
    return ERR_OK;
}

static enum err_code on_progress(void *context, const struct streaming_progress_row *row, struct err *err)
{
    (void)context, (void)err;
    require(row->run_ref > 0 && row->progress_no > 0 && row->progress);
    return ERR_OK;
}

static enum err_code on_stage(void *context, struct stage *stage, struct err *err)
{
    (void)context, (void)err;
    require(stage->stage_ref > 0 && stage->done);
    return ERR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > (size_t)256 << 10)
        return 0;
    int64_t last_text = 0;
    struct arena scratch;
    struct buf line;
    struct err err = {0};
    struct event_memory memory = {0};
    struct app_model *model = app_model_new((struct row_sink){&last_text, on_task, on_accumulable, on_text, on_progress, on_stage});
    require(model);
    arena_init(&scratch, SCRATCH_BYTES);
    buf_init(&line, ((size_t)256 << 10) + 2 * JSON_PADDING);
    const char *p = (const char *)data, *end = p + size;
    for (int n = 0; p < end && n < LINES_MAX; n++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((newline ? newline : end) - p);
        struct event event;
        buf_clear(&line);
        buf_append(&line, p, len);
        require(buf_reserve(&line, JSON_PADDING));
        memset(line.data + line.len, 0, JSON_PADDING);
        arena_reset(&scratch);
        if (event_decode(buf_str(&line), &scratch, &memory, &event, &err) == ERR_OK)
            require(app_model_apply(model, &event, &err) == ERR_OK);
        p += len + 1;
    }
    for (int twice = 0; twice < 2; twice++)
        require(app_model_finish(model, &err) == ERR_OK);
    app_model_free(model);
    buf_dispose(&line);
    arena_dispose(&scratch);
    return 0;
}
