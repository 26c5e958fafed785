/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/framed.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static enum codec_status damaged(struct codec_damage *damage, int64_t stored_offset, const char *reason)
{
    damage->stored_offset = stored_offset;
    snprintf(damage->reason, sizeof damage->reason, "%s", reason);
    return CODEC_DAMAGE;
}

static bool flush_pending(struct framed *self, struct codec_io *io)
{
    size_t len = MIN(self->pending_end - self->pending_begin, io->out_len - io->out_used);
    if (len > 0)
        memcpy(io->out + io->out_used, self->pending + self->pending_begin, len);
    io->out_used += len;
    self->pending_begin += len;
    return self->pending_begin == self->pending_end;
}

uint8_t *framed_room(struct framed *self, struct codec_io *io, size_t len)
{
    if (io->out_len - io->out_used >= len)
        return io->out + io->out_used;
    assert(self->pending_begin == self->pending_end);
    self->pending_begin = self->pending_end = 0;
    if (mem_grow((void **)&self->pending, &self->pending_capacity, len, FRAMED_TEXT_MAX, 1))
        return NULL;
    return self->pending;
}

void framed_commit(struct framed *self, struct codec_io *io, const uint8_t *text, size_t len)
{
    if (text != self->pending) {
        io->out_used += len;
        return;
    }
    self->pending_end = len;
    flush_pending(self, io);
}

enum unit_status framed_bad(struct framed *self, size_t bad_bytes, const char *reason)
{
    self->bad_bytes = bad_bytes;
    self->reason = reason;
    return UNIT_BAD;
}

static bool may_search_on(const struct framed *self)
{
    return self->reread_bytes <= RESYNC_FREE_BYTES + RESYNC_FACTOR * self->unit.position;
}

/* Zero bytes are dropped and counted; true: something else is in front. */
static bool skip_padding(struct framed *self, struct codec_io *io, size_t keep)
{
    for (;;) {
        size_t held = unit_collect(&self->unit, io, 4096);
        const uint8_t *bytes = self->unit.data + self->unit.begin;
        size_t zeros = 0;
        while (zeros < held && bytes[zeros] == 0)
            zeros++;
        size_t drop = zeros - MIN(zeros, keep);
        unit_drop(&self->unit, io, drop);
        self->padding_bytes += (int64_t)drop;
        if (zeros < held)
            return true;
        if (drop == 0)
            return false;
    }
}

/* The input ends inside a unit that has good units in it. */
static bool is_swallowing(const struct framed *self, const struct framed_format *format)
{
    size_t held = unit_held(&self->unit);
    return format->contains && held > 1 && format->contains(self->unit.data + self->unit.begin + 1, held - 1);
}

enum codec_status framed_decode(struct framed *self, const struct framed_format *format, struct codec_io *io, struct codec_damage *damage)
{
    for (;;) {
        if (!flush_pending(self, io))
            return CODEC_FULL;
        switch (self->state) {
        case FRAMED_GIVEN_UP: {
            size_t rest = io->in_len - io->in_used + unit_held(&self->unit);
            unit_drop(&self->unit, io, rest);
            return CODEC_MORE;
        }
        case FRAMED_PADDING: {
            bool ended = skip_padding(self, io, format->padding_keep);
            if (self->unit.failed)
                return CODEC_OUT_OF_MEMORY;
            if (!ended)
                return CODEC_MORE;
            self->state = FRAMED_SEARCHING;
            self->bad_end = 0;
            self->search_need = 0;
            return damaged(damage, self->padding_offset, "zero bytes in the middle of the file");
        }
        case FRAMED_SEARCHING: {
            bool found = may_search_on(self) && format->find(self, io);
            if (self->unit.failed)
                return CODEC_OUT_OF_MEMORY;
            if (!may_search_on(self)) {
                self->state = FRAMED_GIVEN_UP;
                return damaged(damage, self->unit.position, "too many broken pieces; the rest of the file is left out");
            }
            if (!found)
                return CODEC_MORE;
            self->reread_bytes += MAX(self->bad_end - self->unit.position, 0);
            self->state = FRAMED_UNITS;
            self->tentative = true;
            break;
        }
        case FRAMED_UNITS: {
            size_t given = io->out_used;
            enum unit_status status = format->step(self, io);
            if (status == UNIT_MORE && io->last && !self->unit.failed && is_swallowing(self, format))
                status = framed_bad(self, unit_held(&self->unit), "a length leads behind the end of the file");
            if (status == UNIT_DONE || io->out_used > given)
                self->tentative = false;   /* text was handed out: what fails from here on is a gap of its own */
            switch (status) {
            case UNIT_DONE:
                break;
            case UNIT_MORE:
                return self->unit.failed ? CODEC_OUT_OF_MEMORY : CODEC_MORE;
            case UNIT_FULL:
                return CODEC_FULL;
            case UNIT_OUT_OF_MEMORY:
                return CODEC_OUT_OF_MEMORY;
            case UNIT_PADDING:
                self->state = FRAMED_PADDING;
                self->padding_offset = self->unit.position;
                self->padding_bytes = 0;
                break;
            case UNIT_BAD: {
                int64_t offset = self->unit.position;
                bool known = self->tentative;
                self->state = FRAMED_SEARCHING;
                self->tentative = false;
                self->bad_end = offset + (int64_t)self->bad_bytes;
                self->search_need = 0;
                /* 0: what was bad has gone already, and what is in front may be good. Never twice at one place. */
                if (self->bad_bytes > 0 || offset == self->bad_offset)
                    unit_drop(&self->unit, io, 1);
                self->bad_offset = offset;
                if (format->restart)
                    format->restart(self);
                if (!known)
                    return damaged(damage, offset, self->reason);
                break;
            }
            }
            break;
        }
        }
    }
}

enum codec_end framed_end(const struct framed *self, bool between_units, struct codec_damage *damage)
{
    switch (self->state) {
    case FRAMED_GIVEN_UP:
    case FRAMED_SEARCHING:
        return CODEC_END_LOST;
    case FRAMED_PADDING:
        damage->stored_offset = self->padding_offset;
        snprintf(damage->reason, sizeof damage->reason, "%lld zero bytes after the end", (long long)self->padding_bytes + (long long)unit_held(&self->unit));
        return CODEC_END_TRAILING;
    case FRAMED_UNITS:
        break;
    }
    return between_units ? CODEC_END_CLEAN : CODEC_END_CUT;
}

bool framed_find_verified(struct framed *self, struct codec_io *io, framed_verify_fn *verify)
{
    for (;;) {
        size_t held = unit_collect(&self->unit, io, SEARCH_WINDOW);
        if (self->unit.failed || held == 0)
            return false;
        bool input_left = io->in_used < io->in_len;
        if (held < self->search_need && !input_left && !io->last)
            return false;
        const uint8_t *bytes = self->unit.data + self->unit.begin;
        size_t undecided = held, smallest_need = SIZE_MAX, worked = 0;
        for (size_t i = 0; i < held; i++) {
            size_t need = 0, work = 0;
            int verdict = verify(bytes + i, held - i, &need, &work);
            if (verdict > 0) {
                self->reread_bytes += (int64_t)worked;
                unit_drop(&self->unit, io, i);
                return true;
            }
            worked += work;
            if (verdict < 0) {
                undecided = MIN(undecided, i);
                smallest_need = MIN(smallest_need, i - undecided + need);
            }
        }
        if (undecided == 0 && held >= SEARCH_WINDOW)
            undecided = 1;   /* longer than what is searched for */
        /* What stays will be looked at again. */
        self->reread_bytes += (int64_t)(worked + held - undecided);
        self->search_need = smallest_need == SIZE_MAX ? 0 : smallest_need;
        unit_drop(&self->unit, io, undecided);
        if (!input_left || !may_search_on(self))
            return false;
    }
}

bool framed_contains_verified(const uint8_t *bytes, size_t len, framed_verify_fn *verify)
{
    for (size_t i = 0, worked = 0; i < len && worked < 16 * SEARCH_WINDOW; i++) {
        size_t need = 0, work = 0;
        if (verify(bytes + i, len - i, &need, &work) > 0)
            return true;
        worked += work;
    }
    return false;
}

void framed_dispose(struct framed *self)
{
    unit_dispose(&self->unit);
    mem_free(self->pending);
    self->pending = NULL;
}
