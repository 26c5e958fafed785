/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/line_reader.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/block_pool.h"
#include "ingest/source/byte_source.h"
#include "ingest/source/codec.h"
#include "ingest/source/line_reader_options.h"
#include "ingest/source/log_name.h"
#include "ingest/source/log_text.h"

#define PROBLEMS_KEPT 64           /* between two line_reader_take_problems; more are counted only */
#define HEAD_BYTES ((size_t)4096)  /* looked at when a name claims a codec whose magic is not there */
#define MARK_BYTES 32              /* stored bytes before the present end, to see on resuming that the file is still the same */

const struct line_reader_options line_reader_defaults = {
    .read_bytes = LINE_READER_READ_BYTES, .block_bytes = LINE_BLOCK_BYTES, .line_max_bytes = LINE_MAX_BYTES,
};

struct reader_file {
    char *path, *name, *member;
    uint64_t device, inode;
    struct file_state state;
};

/* The text of the present file passes through `block`:
 *
 *      base                            fill          limit
 *       │ line LF line LF line LF begin of a lin│          │
 *       └──────── handed out ────┴─── carried ──┘ next bytes go here
 *
 * A block ends early at a gap, so that offsets stay true and no line is made of two halves. */
struct line_reader {
    struct line_reader_options options;
    enum log_layout layout;
    char fingerprint[LOG_FINGERPRINT_BYTES];
    struct reader_file **files;          /* each allocated by itself: file states are lent out */
    size_t file_count, file_capacity;
    size_t index;                        /* the present file */
    bool opened;                         /* it was begun */
    bool paused;                         /* at the end of the log */

    struct byte_source *source;
    bool source_ended;
    const struct codec *codec;
    struct decoder *decoder;             /* NULL: the codec is not known yet */
    uint8_t *input;
    size_t input_begin, input_end;
    char mark[MARK_BYTES];
    size_t mark_len;
    bool trailing_told;

    struct block_pool *pool;
    struct pooled_block *block;
    size_t fill, scanned, limit;
    size_t line_feed_count;              /* in the block's list: those before `scanned` */
    int64_t block_line, block_offset;    /* of base[0] */
    bool text_ended, gap;
    bool dropping;                       /* inside a line that is too long */
    bool tail_given;                     /* what is in the block was handed out as an unterminated line */

    atomic_int_fast64_t stored_position;
    struct source_problem problems[PROBLEMS_KEPT];
    size_t problems_kept;
    int64_t problem_count;
};

#ifdef __SSE2__
/* 16 bytes: −1 where there is a line feed. */
ALWAYS_INLINE __m128i lf_mask(const char *text)
{
    return _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)text), _mm_set1_epi8('\n'));
}
#endif

/* Looks at the text behind `scanned` and lists its line feeds, for line numbers and for whoever reads the lines: about a twentieth of what zstd takes to decode the same
 * text. When the list is full, `scanned` stays behind its last one. */
static void list_line_feeds(struct line_reader *self)
{
    const char *text = self->block->base, *p = text + self->scanned, *end = text + self->fill;
    uint32_t *list = self->block->line_feeds;
    size_t room = block_pool_line_feeds(self->block) - 1;   /* without the one of our own */
    size_t count = self->line_feed_count;
#ifdef __SSE2__
    for (; end - p >= 64; p += 64) {
        __m128i a = lf_mask(p), b = lf_mask(p + 16), c = lf_mask(p + 32), d = lf_mask(p + 48);
        if (LIKELY(!_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)))))
            continue;
        if (room - count < 64)
            break;
        uint64_t low = (uint64_t)_mm_movemask_epi8(a) | (uint64_t)_mm_movemask_epi8(b) << 16;
        uint64_t high = (uint64_t)_mm_movemask_epi8(c) | (uint64_t)_mm_movemask_epi8(d) << 16;
        for (uint64_t left = low | high << 32; left; left &= left - 1)
            list[count++] = (uint32_t)(p - text) + (uint32_t)__builtin_ctzll(left);
    }
#endif
    for (; p < end && count < room; p++)
        if (*p == '\n')
            list[count++] = (uint32_t)(p - text);
    self->scanned = (size_t)(p - text);
    self->line_feed_count = count;
}

/* Line feeds of the block, with those that are not listed yet. */
static int64_t lines_in_block(const struct line_reader *self)
{
    int64_t count = (int64_t)self->line_feed_count;
    const char *p = self->block->base + self->scanned, *end = self->block->base + self->fill;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        count++;
        p++;
    }
    return count;
}

static struct reader_file *present(const struct line_reader *self)
{
    return self->files[self->index];
}

static bool at_last_file(const struct line_reader *self)
{
    return self->index + 1 >= self->file_count;
}

static void add_problem(struct line_reader *self, enum source_problem_kind kind, int64_t stored_offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

static void add_problem(struct line_reader *self, enum source_problem_kind kind, int64_t stored_offset, const char *fmt, ...)
{
    self->problem_count++;
    if (self->problems_kept == PROBLEMS_KEPT)
        return;
    struct source_problem *problem = &self->problems[self->problems_kept++];
    *problem = (struct source_problem){
        .kind = kind,
        .file_no = (int32_t)self->index + 1,
        .line = self->block_line + (self->block ? lines_in_block(self) : 0),
        .text_offset = self->block_offset + (int64_t)self->fill,
        .stored_offset = stored_offset,
    };
    va_list args;
    va_start(args, fmt);
    vsnprintf(problem->reason, sizeof problem->reason, fmt, args);
    va_end(args);
}

/* ---- files */

static void free_file(struct reader_file *file)
{
    if (!file)
        return;
    mem_free(file->path);
    mem_free(file->name);
    mem_free(file->member);
    mem_free(file);
}

static int copy_text(char **ret, const char *text)
{
    *ret = text ? mem_strndup(text, strlen(text)) : NULL;
    return text && !*ret ? -1 : 0;
}

static int add_file(struct line_reader *self, const struct log_file *from)
{
    if (mem_grow((void **)&self->files, &self->file_capacity, self->file_count + 1, LOG_ENTRY_MAX_FILES, sizeof(struct reader_file *)))
        return -1;
    struct reader_file *file = mem_zalloc(sizeof *file);
    if (!file)
        return -1;
    if (copy_text(&file->path, from->path) || copy_text(&file->name, from->name) || copy_text(&file->member, from->member)) {
        free_file(file);
        return -1;
    }
    file->device = from->device;
    file->inode = from->inode;
    file->state.codec = codec_none.name;
    self->files[self->file_count++] = file;
    return 0;
}

enum err_code line_reader_open_with(struct line_reader **ret, const struct log_entry *entry, const struct line_reader_options *options, struct err *err)
{
    *ret = NULL;
    struct line_reader *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->options = *options;
    self->layout = entry->layout;
    memcpy(self->fingerprint, entry->fingerprint, sizeof self->fingerprint);
    self->pool = block_pool_new(options->block_bytes);
    bool failed = !self->pool;
    for (size_t i = 0; !failed && i < entry->file_count; i++)
        failed = add_file(self, &entry->files[i]) != 0;
    if (failed) {
        line_reader_close(self);
        return err_nomem(err);
    }
    *ret = self;
    return ERR_OK;
}

enum err_code line_reader_open(struct line_reader **ret, const struct log_entry *entry, struct err *err)
{
    return line_reader_open_with(ret, entry, &line_reader_defaults, err);
}

static void release_source(struct line_reader *self)
{
    byte_source_close(self->source);
    self->source = NULL;
    if (self->input_begin == self->input_end) {
        mem_free(self->input);
        self->input = NULL;
        self->input_begin = self->input_end = 0;
    }
}

static void forget_file(struct line_reader *self)
{
    if (self->decoder)
        self->codec->close(self->decoder);
    self->decoder = NULL;
    self->codec = NULL;
    self->input_begin = self->input_end = 0;
    self->mark_len = 0;
    self->source_ended = self->text_ended = self->gap = self->dropping = self->tail_given = self->trailing_told = false;
    self->fill = self->scanned = self->line_feed_count = 0;
    self->limit = self->options.block_bytes;
    self->block_line = 1;
    self->block_offset = 0;
    self->opened = false;
}

/* No fault of the log: no memory, its place does not answer, or all is to stop. The reading has failed, the log may be whole. */
static bool is_ours(enum err_code rc)
{
    return rc == ERR_NOMEM || rc == ERR_AWAY || rc == ERR_CANCELLED;
}

/* A file that cannot be opened is a problem and is over. */
static enum err_code open_present(struct line_reader *self, struct err *err)
{
    struct reader_file *file = present(self);
    struct err why = {0};
    int64_t bytes = UNKNOWN;
    forget_file(self);
    file->state = (struct file_state){.codec = codec_none.name};
    enum err_code rc = byte_source_open(&self->source, file->path, file->member, &why);
    if (rc == ERR_OK)
        rc = byte_source_stat(self->source, &bytes, &file->device, &file->inode, &why);
    if (rc == ERR_OK && self->index == 0 && self->options.start_offset > 0)
        rc = byte_source_seek(self->source, self->options.start_offset, &why);
    if (is_ours(rc))
        return err_set(err, rc, "%s", why.message);
    if (rc != ERR_OK) {
        file->state.failed = true;
        add_problem(self, PROBLEM_FILE, 0, "%s", why.message);
        self->source_ended = self->text_ended = true;
    }
    self->opened = true;
    return ERR_OK;
}

/* ---- stored bytes to text */

static void account(struct line_reader *self, const void *bytes, size_t len)
{
    present(self)->state.stored_bytes += (int64_t)len;
    atomic_fetch_add_explicit(&self->stored_position, (int_fast64_t)len, memory_order_relaxed);
    size_t fresh = MIN(len, (size_t)MARK_BYTES), kept = MIN(self->mark_len, MARK_BYTES - fresh);
    memmove(self->mark, self->mark + self->mark_len - kept, kept);
    memcpy(self->mark + kept, (const char *)bytes + len - fresh, fresh);
    self->mark_len = kept + fresh;
}

/* Reads; at the end, or when no more can be read of this file, source_ended is set. */
static enum err_code read_source(struct line_reader *self, void *into, size_t room, size_t *ret_len, struct err *err)
{
    struct err why = {0};
    enum err_code rc = byte_source_read(self->source, into, room, ret_len, &why);
    if (rc == ERR_OK) {
        account(self, into, *ret_len);
        return ERR_OK;
    }
    if (is_ours(rc))
        return err_set(err, rc, "%s", why.message);
    self->source_ended = true;
    if (rc != ERR_EOF) {
        struct file_state *state = &present(self)->state;
        state->failed = true;
        state->cut = rc == ERR_TRUNCATED;
        add_problem(self, PROBLEM_FILE, state->stored_bytes, "%s", why.message);
    }
    return ERR_OK;
}

/* Appends to the input, which has room for `capacity` bytes. */
static enum err_code read_input(struct line_reader *self, size_t room, struct err *err)
{
    size_t capacity = MAX(self->options.read_bytes, HEAD_BYTES);
    if (!self->input && !(self->input = mem_alloc(capacity)))
        return err_nomem(err);
    if (self->input_begin == self->input_end)
        self->input_begin = self->input_end = 0;
    size_t len;
    enum err_code rc = read_source(self, self->input + self->input_end, MIN(room, capacity - self->input_end), &len, err);
    self->input_end += len;
    return rc;
}

static void end_of_text(struct line_reader *self, enum codec_end end, const struct codec_damage *damage)
{
    struct file_state *state = &present(self)->state;
    self->text_ended = true;
    state->done = !state->failed;   /* a read error is not the end of the file */
    state->cut = state->cut || end == CODEC_END_CUT;
    state->failed = state->failed || end == CODEC_END_LOST;
    if (end == CODEC_END_TRAILING && !self->trailing_told) {
        self->trailing_told = true;
        add_problem(self, PROBLEM_TRAILING, damage->stored_offset, "%s", damage->reason);
    }
}

/* By the first bytes; by the name where these are neither a known magic nor text (the head of a compressed file is broken). */
static enum err_code choose_codec(struct line_reader *self, struct err *err)
{
    struct reader_file *file = present(self);
    struct log_name name = log_name_split(file->name);
    bool undecided;
    enum err_code rc;
    while (self->input_end < CODEC_SNIFF_BYTES && !self->source_ended)
        if ((rc = read_input(self, self->options.read_bytes, err)))
            return rc;
    self->codec = self->options.codec ? self->options.codec : codec_sniff(self->input, self->input_end, &undecided);
    if (!self->options.codec && undecided) {
        end_of_text(self, self->input_end > 0 ? CODEC_END_CUT : CODEC_END_CLEAN, NULL);
        return ERR_OK;
    }
    if (!self->options.codec && self->codec == &codec_none) {
        while (self->input_end < HEAD_BYTES && !self->source_ended)
            if ((rc = read_input(self, HEAD_BYTES - self->input_end, err)))
                return rc;
        const char *head = (const char *)self->input;
        bool text = log_text_begins_object(head, self->input_end) || log_text_has_event(head, self->input_end);
        if (!text && name.codec)
            self->codec = name.codec;
        else if (!text && log_text_is_binary(head, self->input_end))
            add_problem(self, PROBLEM_FILE, 0, "neither text nor a known compression");
    }
    if (self->codec->open(&self->decoder) != ERR_OK)
        return err_nomem(err);
    const char *claimed = name.codec ? name.codec->name : codec_none.name;
    file->state.codec = self->codec->name;
    file->state.name_disagrees = strcmp(claimed, self->codec->name) != 0;
    return ERR_OK;
}

/* One step: some more text behind `fill`, or text_ended, or gap. */
static enum err_code fill_more(struct line_reader *self, struct err *err)
{
    struct file_state *state = &present(self)->state;
    enum err_code rc = self->decoder ? ERR_OK : choose_codec(self, err);
    if (rc != ERR_OK || self->text_ended)
        return rc;
    bool empty = self->input_begin == self->input_end;
    char *into = self->block->base + self->fill;
    if (empty && !self->source_ended && self->codec == &codec_none) {
        size_t len;
        if ((rc = read_source(self, into, self->limit - self->fill, &len, err)))
            return rc;
        self->fill += len;
        state->text_bytes += (int64_t)len;
        self->tail_given = self->tail_given && len == 0;
        if (self->source_ended)
            end_of_text(self, CODEC_END_CLEAN, NULL);
        return ERR_OK;
    }
    if (empty && !self->source_ended && (rc = read_input(self, self->options.read_bytes, err)))
        return rc;
    struct codec_io io = {
        .in = self->input ? self->input + self->input_begin : NULL,
        .in_len = self->input_end - self->input_begin,
        .out = (uint8_t *)into,
        .out_len = self->limit - self->fill,
        .last = self->source_ended,
    };
    struct codec_damage damage = {0};
    enum codec_status status = self->codec->decode(self->decoder, &io, &damage);
    self->input_begin += io.in_used;
    self->fill += io.out_used;
    state->text_bytes += (int64_t)io.out_used;
    self->tail_given = self->tail_given && io.out_used == 0;
    switch (status) {
    case CODEC_OUT_OF_MEMORY:
        return err_nomem(err);
    case CODEC_DAMAGE:
        add_problem(self, PROBLEM_FRAME, damage.stored_offset + self->options.start_offset, "%s", damage.reason);
        self->gap = true;
        break;
    case CODEC_MORE:
        if (self->source_ended) {
            enum codec_end end = self->codec->end(self->decoder, &damage);
            end_of_text(self, end, &damage);
        }
        break;
    case CODEC_FULL:
        break;
    }
    return ERR_OK;
}

/* ---- text to blocks of lines */

static size_t limit_for(const struct line_reader *self, size_t carried)
{
    size_t limit = self->options.block_bytes;
    while (limit <= carried)
        limit *= 2;
    return MIN(limit, self->options.line_max_bytes + 1);
}

static size_t byte_order_mark_len(const struct line_reader *self)
{
    static const char mark[3] = {'\xEF', '\xBB', '\xBF'};
    bool at_start = self->block_offset == 0 && self->options.start_offset == 0 && self->fill >= sizeof mark;
    return at_start && memcmp(self->block->base, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

/* Behind the last line feed that is listed. */
static size_t whole_lines(const struct line_reader *self)
{
    return self->line_feed_count ? (size_t)self->block->line_feeds[self->line_feed_count - 1] + 1 : 0;
}

/* Hands out the first `len` bytes of the block, with all line feeds that are listed. What follows them is carried; of an unterminated line at the end of the log a copy is kept, to be handed out whole when
 * it has grown. */
static enum err_code deliver(struct line_reader *self, size_t len, bool unterminated, struct line_block **ret, struct err *err)
{
    struct pooled_block *out = self->block, *next = NULL;
    struct file_state *state = &present(self)->state;
    size_t keep_from = len;
    if (unterminated && at_last_file(self))
        keep_from = whole_lines(self);
    size_t carried = self->fill > keep_from ? self->fill - keep_from : 0;
    size_t not_scanned = self->fill - self->scanned;
    /* Lines that found no room in the list come first: no more text, or it would be copied for every list. */
    size_t limit = not_scanned ? MAX(carried, self->options.block_bytes) : limit_for(self, carried);
    if (carried > 0) {
        if (!(next = block_pool_take(self->pool, limit)))
            return err_nomem(err);
        memcpy(next->base, out->base + keep_from, carried);
    }
    size_t skip = byte_order_mark_len(self);
    int64_t lines = (int64_t)self->line_feed_count;
    for (size_t i = 0; skip && i < self->line_feed_count; i++)
        out->line_feeds[i] -= (uint32_t)skip;
    out->block = (struct line_block){
        .text = out->base + skip,
        .len = len - skip,
        .file_no = (int32_t)self->index + 1,
        .first_line = self->block_line,
        .text_offset = self->block_offset + (int64_t)skip,
        .unterminated = unterminated,
        .line_feeds = out->line_feeds,
        .line_feed_count = self->line_feed_count,
    };
    memset(out->base + len, 0, LINE_PADDING);
    state->line_count = self->block_line - 1 + lines + (unterminated ? 1 : 0);
    /* A line feed that was put behind a broken line is no stored text: `len` may be fill + 1. */
    self->block_line += lines;
    self->block_offset += (int64_t)MIN(keep_from, self->fill);
    self->block = next;
    self->fill = carried;
    self->scanned = carried - not_scanned;
    self->line_feed_count = 0;
    self->limit = limit;
    self->tail_given = unterminated;
    *ret = &out->block;
    return ERR_OK;
}

/* The line in the block is too long: forget it, and what follows up to its end. */
static void begin_dropping(struct line_reader *self)
{
    size_t len = self->fill;
    self->fill = self->scanned = self->line_feed_count = 0;
    add_problem(self, PROBLEM_LINE_TOO_LONG, 0, "line of more than %zu bytes left out", self->options.line_max_bytes);
    self->block_offset += (int64_t)len;
    block_pool_give(self->block);
    self->block = NULL;
    self->limit = self->options.block_bytes;
    self->dropping = true;
}

static void drop(struct line_reader *self)
{
    const char *lf = memchr(self->block->base, '\n', self->fill);
    size_t len = lf ? (size_t)(lf + 1 - self->block->base) : self->fill;
    memmove(self->block->base, self->block->base + len, self->fill - len);
    self->fill -= len;
    self->scanned = 0;
    self->block_offset += (int64_t)len;
    if (!lf && !self->gap)
        return;
    self->dropping = false;
    self->block_line++;
    present(self)->state.line_count = self->block_line - 1;
}

/* The next block of the present file; ERR_EOF at its end. */
static enum err_code next_of_file(struct line_reader *self, struct line_block **ret, struct err *err)
{
    for (;;) {
        if (!self->block && !(self->block = block_pool_take(self->pool, self->limit)))
            return err_nomem(err);
        while (self->fill < self->limit && !self->text_ended && !self->gap) {
            enum err_code rc = fill_more(self, err);
            if (rc != ERR_OK)
                return rc;
        }
        if (self->dropping) {
            bool ended = self->text_ended && !self->gap;
            drop(self);
            if (ended && self->fill == 0)
                return ERR_EOF;
            if (self->fill == 0)
                self->gap = false;
            continue;
        }
        list_line_feeds(self);
        size_t whole = whole_lines(self);
        if (self->scanned < self->fill)
            return deliver(self, whole, false, ret, err);
        if (self->gap) {
            size_t len = self->fill;
            if (len - whole > self->options.line_max_bytes) {
                begin_dropping(self);
                continue;
            }
            self->gap = false;
            if (len == 0)
                continue;
            if (whole < len) {
                self->block->base[len] = '\n';
                self->block->line_feeds[self->line_feed_count++] = (uint32_t)len++;
            }
            return deliver(self, len, false, ret, err);
        }
        if (self->text_ended) {
            if (self->fill == byte_order_mark_len(self) || self->tail_given)
                return ERR_EOF;
            if (self->fill - whole <= self->options.line_max_bytes)
                return deliver(self, self->fill, whole < self->fill, ret, err);
        }
        if (whole)
            return deliver(self, whole, false, ret, err);
        if (self->limit > self->options.line_max_bytes) {
            begin_dropping(self);
            continue;
        }
        size_t limit = MIN(self->limit * 2, self->options.line_max_bytes + 1);
        if (block_pool_grow(self->block, limit))
            return err_nomem(err);
        self->limit = limit;
    }
}

/* True: there is another file. */
static bool next_file(struct line_reader *self)
{
    bool last = at_last_file(self);
    if (!last || self->fill == 0) {
        block_pool_give(self->block);
        self->block = NULL;
    }
    if (last) {
        self->paused = true;
        release_source(self);
        block_pool_trim(self->pool);
        return false;
    }
    forget_file(self);
    self->index++;
    return true;
}

enum err_code line_reader_next(struct line_reader *self, struct line_block **ret, struct err *err)
{
    *ret = NULL;
    while (!self->paused && self->file_count > 0) {
        enum err_code rc = self->opened ? ERR_OK : open_present(self, err);
        if (rc == ERR_OK)
            rc = next_of_file(self, ret, err);
        if (rc != ERR_EOF)
            return rc;
        if (!next_file(self))
            break;
    }
    return err_set(err, ERR_EOF, "end of the log");
}

/* ---- growing logs */

static enum err_code replaced(struct err *err, const char *name, const char *how)
{
    return err_set(err, ERR_UNSUPPORTED, "%s %s; the log must be read anew", name, how);
}

/* The stored bytes before the place where reading stopped are still what was read. */
static enum err_code check_mark(struct line_reader *self, struct err *err)
{
    struct reader_file *file = present(self);
    int64_t position = file->state.stored_bytes + self->options.start_offset;
    size_t got = 0;
    char now[MARK_BYTES];
    enum err_code rc = byte_source_seek(self->source, position - (int64_t)self->mark_len, err);
    while (rc == ERR_OK && got < self->mark_len) {
        size_t len;
        rc = byte_source_read(self->source, now + got, self->mark_len - got, &len, err);
        got += len;
    }
    if (rc == ERR_EOF || (rc == ERR_OK && memcmp(now, self->mark, got) != 0))
        return replaced(err, file->name, "was replaced");
    return rc;
}

static enum err_code reopen_present(struct line_reader *self, struct err *err)
{
    struct reader_file *file = present(self);
    uint64_t device, inode;
    int64_t bytes;
    enum err_code rc = byte_source_open(&self->source, file->path, file->member, err);
    if (rc == ERR_OK)
        rc = byte_source_stat(self->source, &bytes, &device, &inode, err);
    if (rc != ERR_OK)
        return rc;
    if (device != file->device || inode != file->inode)
        return replaced(err, file->name, "was replaced");
    if (bytes < file->state.stored_bytes)
        return replaced(err, file->name, "shrank");
    return check_mark(self, err);
}

enum err_code line_reader_resume(struct line_reader *self, const struct log_entry *entry, struct err *err)
{
    if (entry->layout != self->layout || entry->file_count < self->file_count)
        return replaced(err, "the log", "has other files now");
    if (self->layout == LAYOUT_ZIP)
        return memcmp(entry->fingerprint, self->fingerprint, sizeof self->fingerprint) == 0 ? ERR_OK : replaced(err, "the archive", "was replaced");
    for (size_t i = 0; i < self->file_count; i++) {
        const struct log_file *now = &entry->files[i];
        const struct reader_file *file = self->files[i];
        bool renamed = strcmp(now->path, file->path) != 0;
        if (renamed && self->layout != LAYOUT_FILE)
            return replaced(err, "the log", "has other files now");
        bool was_read = i < self->index || (i == self->index && self->opened && !(file->state.failed && file->state.stored_bytes == 0));
        if (!was_read)
            continue;
        if (now->device != file->device || now->inode != file->inode)
            return replaced(err, file->name, "was replaced");
        if (now->bytes < file->state.stored_bytes)
            return replaced(err, file->name, "shrank");
        if (i < self->index && file->state.done && now->bytes > file->state.stored_bytes)
            return replaced(err, file->name, "grew after the next file was begun");
        if (renamed) {
            char *path = NULL, *name = NULL;
            if (copy_text(&path, now->path) || copy_text(&name, now->name)) {
                mem_free(path);
                return err_nomem(err);
            }
            mem_free(self->files[i]->path);
            mem_free(self->files[i]->name);
            self->files[i]->path = path;
            self->files[i]->name = name;
        }
    }
    if (self->paused && self->opened && self->file_count > 0) {
        struct file_state *state = &present(self)->state;
        if (state->failed && state->stored_bytes == 0) {
            self->opened = false;
        } else {
            enum err_code rc = reopen_present(self, err);
            if (rc != ERR_OK)
                return rc;
            state->done = state->cut = false;
            self->source_ended = self->text_ended = false;
        }
    }
    for (size_t i = self->file_count; i < entry->file_count; i++)
        if (add_file(self, &entry->files[i]))
            return err_nomem(err);
    self->paused = false;
    return ERR_OK;
}

/* ---- the rest */

size_t line_reader_take_problems(struct line_reader *self, struct source_problem *ret, size_t max)
{
    size_t count = MIN(max, self->problems_kept);
    if (count == 0)
        return 0;
    memcpy(ret, self->problems, count * sizeof *ret);
    memmove(self->problems, self->problems + count, (self->problems_kept - count) * sizeof *ret);
    self->problems_kept -= count;
    return count;
}

int64_t line_reader_problem_count(const struct line_reader *self)
{
    return self->problem_count;
}

const struct file_state *line_reader_file(const struct line_reader *self, size_t index)
{
    return index < self->file_count ? &self->files[index]->state : NULL;
}

int64_t line_reader_stored_position(const struct line_reader *self)
{
    return (int64_t)atomic_load_explicit(&self->stored_position, memory_order_relaxed);
}

void line_reader_close(struct line_reader *self)
{
    if (!self)
        return;
    if (self->decoder)
        self->codec->close(self->decoder);
    byte_source_close(self->source);
    mem_free(self->input);
    block_pool_give(self->block);
    block_pool_free(self->pool);
    for (size_t i = 0; i < self->file_count; i++)
        free_file(self->files[i]);
    mem_free(self->files);
    mem_free(self);
}
