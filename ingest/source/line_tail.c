/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a log without its middle: the reader is started late in the last file, and earlier until there is enough. Codecs that find their way by themselves begin at any
 * stored byte and skip to the next frame, block or chunk, as after damage. */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "ingest/source/byte_source.h"
#include "ingest/source/codec.h"
#include "ingest/source/line_reader_options.h"

#define FIRST_STEP_BYTES ((int64_t)64 << 10)    /* stored bytes looked at first; four times as many each time it was not enough */
#define STEP_FACTOR 4
#define SLACK_BYTES ((size_t)4 << 20)           /* collected beyond what is wanted before the front is dropped */

/* Drops lines from the front while `want` bytes stay. */
static void drop_front(struct buf *text, size_t want)
{
    if (text->len <= want)
        return;
    size_t spare = text->len - want;
    const char *lf = memrchr(text->data, '\n', spare);
    if (lf)
        buf_consume(text, (size_t)(lf + 1 - text->data));
}

/* Text of one file from `offset` on, its last `want` bytes at least; appended to `text`. Stops with ERR_UNSUPPORTED when more than `stored_max` stored bytes had to be decoded. */
static enum err_code read_from(const struct log_file *file, const struct codec *codec, int64_t offset, size_t want, int64_t stored_max, struct buf *text, struct err *err)
{
    struct log_file copy = *file;
    struct log_entry one = {.layout = LAYOUT_FILE, .files = &copy, .file_count = 1};
    struct line_reader_options options = line_reader_defaults;
    options.start_offset = offset;
    options.codec = offset > 0 ? codec : NULL;
    struct line_reader *reader = NULL;
    struct line_block *block = NULL;
    enum err_code rc = line_reader_open_with(&reader, &one, &options, err);
    bool in_line = offset > 0;      /* the first line begins before the offset, or may */
    while (rc == ERR_OK && (rc = line_reader_next(reader, &block, err)) == ERR_OK) {
        const char *from = block->text, *end = block->text + block->len;
        if (in_line) {
            const char *lf = memchr(from, '\n', block->len);
            from = lf ? lf + 1 : end;
            in_line = !lf;
        }
        buf_append(text, from, (size_t)(end - from));
        line_block_free(block);
        if (text->len > want + SLACK_BYTES)
            drop_front(text, want);
        if (buf_failed(text))
            rc = err_nomem(err);
        else if (line_reader_stored_position(reader) > stored_max && strcmp(line_reader_file(reader, 0)->codec, codec_none.name) != 0)
            rc = err_set(err, ERR_UNSUPPORTED, "its end cannot be read without reading most of it");
    }
    line_reader_close(reader);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The codec and the size of a file. */
static enum err_code look(const struct log_file *file, const struct codec **ret_codec, int64_t *ret_bytes, struct err *err)
{
    struct byte_source *source = NULL;
    uint8_t head[CODEC_SNIFF_BYTES];
    uint64_t device, inode;
    size_t len = 0;
    bool undecided;
    enum err_code rc = byte_source_open(&source, file->path, file->member, err);
    if (rc == ERR_OK)
        rc = byte_source_stat(source, ret_bytes, &device, &inode, err);
    if (rc == ERR_OK)
        rc = byte_source_read(source, head, sizeof head, &len, err);
    byte_source_close(source);
    *ret_codec = codec_sniff(head, len, &undecided);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The last `want` bytes at least of a file, as far as `*stored_left` allows. */
static enum err_code tail_of_file(const struct log_file *file, size_t want, int64_t *stored_left, struct buf *text, struct err *err)
{
    const struct codec *codec;
    int64_t bytes;
    enum err_code rc = look(file, &codec, &bytes, err);
    if (rc != ERR_OK)
        return rc;
    bool seekable = known(bytes) && codec->can_start_anywhere;
    if (!seekable) {
        if (known(bytes) && bytes > *stored_left)
            return err_set(err, ERR_UNSUPPORTED, "its end cannot be read without reading most of it");
        rc = read_from(file, codec, 0, want, *stored_left, text, err);
        *stored_left -= known(bytes) ? bytes : 0;
        return rc;
    }
    /* Text is not shorter than what is stored, save for plain files, where a line's start has to be found before it. */
    int64_t step = codec == &codec_none ? (int64_t)want + FIRST_STEP_BYTES : FIRST_STEP_BYTES;
    int64_t most = codec == &codec_none ? (int64_t)want + (int64_t)LINE_MAX_BYTES : *stored_left;
    for (;; step *= STEP_FACTOR) {
        step = MIN(step, MAX(most, 1));
        int64_t offset = MAX(bytes - step, 0);
        buf_clear(text);
        rc = read_from(file, codec, offset, want, INT64_MAX, text, err);
        if (rc != ERR_OK || text->len >= want || offset == 0 || step >= most)
            break;
    }
    if (codec != &codec_none)
        *stored_left -= MIN(step, bytes);
    if (rc == ERR_OK && text->len == 0 && bytes > step)
        return err_set(err, ERR_UNSUPPORTED, "no frame begins in the last %lld bytes", (long long)step);
    return rc;
}

enum err_code line_reader_tail(const struct log_entry *entry, size_t want_bytes, char **ret_text, size_t *ret_len, struct err *err)
{
    *ret_text = NULL;
    *ret_len = 0;
    struct buf all, one;
    size_t max = want_bytes + 2 * (LINE_MAX_BYTES + SLACK_BYTES);
    buf_init(&all, max);
    buf_init(&one, max);
    int64_t stored_left = TAIL_DECODE_MAX;
    enum err_code rc = ERR_OK;
    for (size_t i = entry->file_count; i-- > 0 && all.len < want_bytes;) {
        buf_clear(&one);
        rc = tail_of_file(&entry->files[i], want_bytes - all.len, &stored_left, &one, err);
        if (rc != ERR_OK) {
            /* What later files hold is an end, too. */
            if (all.len > 0 && rc != ERR_NOMEM)
                rc = ERR_OK;
            break;
        }
        if (one.len > 0 && all.len > 0 && one.data[one.len - 1] != '\n')
            buf_char(&one, '\n');
        buf_append(&one, all.data, all.len);
        if (buf_failed(&one)) {
            rc = err_nomem(err);
            break;
        }
        struct buf swap = all;
        all = one;
        one = swap;
    }
    if (rc == ERR_OK) {
        drop_front(&all, want_bytes);
        char *text = mem_alloc(all.len + LINE_PADDING);
        if (text) {
            if (all.len > 0)
                memcpy(text, all.data, all.len);
            memset(text + all.len, 0, LINE_PADDING);
            *ret_text = text;
            *ret_len = all.len;
        } else {
            rc = err_nomem(err);
        }
    }
    buf_dispose(&all);
    buf_dispose(&one);
    return rc;
}
