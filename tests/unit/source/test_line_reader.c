/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <pthread.h>
#include <sys/resource.h>

#include "ingest/source/codec.h"
#include "ingest/source/line_reader.h"
#include "ingest/source/line_reader_options.h"

static char *dir;

static int make_dir(void **state)
{
    (void)state;
    dir = temporary_directory();
    return dir ? 0 : -1;
}

static int drop_dir(void **state)
{
    (void)state;
    mem_fail_at(0, 0);
    remove_directory(dir);
    return 0;
}

/* An entry as log_scan makes it, without looking at content. Up to 4 files of `dir`. */
static struct log_entry entry_of(const char *const *names, size_t count)
{
    struct log_entry entry = {.layout = count > 1 ? LAYOUT_ROLLING : LAYOUT_FILE, .files = mem_array(count, sizeof *entry.files), .file_count = count};
    for (size_t i = 0; i < count; i++) {
        struct stat st = {0};
        const char *path = in_dir(dir, names[i]);
        stat(path, &st);
        entry.files[i] = (struct log_file){.path = mem_strndup(path, strlen(path)), .name = mem_strndup(names[i], strlen(names[i])), .bytes = st.st_size,
            .device = (uint64_t)st.st_dev, .inode = (uint64_t)st.st_ino};
    }
    return entry;
}

static struct log_entry entry_of_one(const char *name)
{
    return entry_of(&name, 1);
}

static struct line_reader *open_one(const char *name, const struct line_reader_options *options)
{
    struct log_entry entry = entry_of_one(name);
    struct line_reader *reader;
    struct err err;
    assert_int_equal(line_reader_open_with(&reader, &entry, options ? options : &line_reader_defaults, &err), ERR_OK);
    log_entry_dispose(&entry);
    return reader;
}

static void check_block(const struct line_block *block)
{
    for (size_t i = 0; i < LINE_PADDING; i++)
        assert_int_equal(block->text[block->len + i], 0);
    assert_true(block->len > 0);
    assert_int_equal(block->unterminated, block->text[block->len - 1] != '\n');
    size_t line_feeds = 0;
    for (size_t i = 0; i < block->len; i++)
        if (block->text[i] == '\n') {
            assert_true(line_feeds < block->line_feed_count);
            assert_int_equal(block->line_feeds[line_feeds++], i);
        }
    assert_int_equal(line_feeds, block->line_feed_count);
}

/* All text that comes until the end; line numbers and offsets must follow each other within a file unless there is a gap. */
static struct buf read_all(struct line_reader *reader)
{
    struct buf text = buf_new();
    struct line_block *block;
    struct err err;
    enum err_code rc;
    int64_t line = 0;
    int32_t file_no = 0;
    while ((rc = line_reader_next(reader, &block, &err)) == ERR_OK) {
        check_block(block);
        if (block->file_no != file_no)
            line = 1;
        file_no = block->file_no;
        if (line_reader_problem_count(reader) == 0)
            assert_int_equal(block->first_line, line);
        for (size_t i = 0; i < block->len; i++)
            line += block->text[i] == '\n';
        buf_append(&text, block->text, block->len);
        line_block_free(block);
    }
    assert_int_equal(rc, ERR_EOF);
    return text;
}

static void expect(struct buf text, const char *wanted, size_t len)
{
    assert_int_equal(text.len, len);
    assert_memory_equal(buf_str(&text).ptr, wanted, len);
    buf_dispose(&text);
}

static struct source_problem only_problem(struct line_reader *reader)
{
    struct source_problem problem;
    assert_int_equal(line_reader_problem_count(reader), 1);
    assert_int_equal(line_reader_take_problems(reader, &problem, 1), 1);
    return problem;
}

static void a_plain_file_comes_back_line_for_line(void **state)
{
    (void)state;
    struct buf text = event_lines(0, 30000);
    assert_true(text.len > 2 * LINE_BLOCK_BYTES);
    put_bytes(in_dir(dir, "log"), text.data, text.len, "wb");
    struct line_reader *reader = open_one("log", NULL);
    expect(read_all(reader), text.data, text.len);
    const struct file_state *file = line_reader_file(reader, 0);
    assert_string_equal(file->codec, "none");
    assert_int_equal(file->line_count, 30000);
    assert_int_equal(file->text_bytes, text.len);
    assert_int_equal(file->stored_bytes, text.len);
    assert_true(file->done && !file->cut && !file->failed && !file->name_disagrees);
    assert_int_equal(line_reader_stored_position(reader), text.len);
    assert_int_equal(line_reader_problem_count(reader), 0);
    line_reader_close(reader);
    buf_dispose(&text);
}

static void every_codec_gives_the_same_lines_for_all_sizes_of_reads_and_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *name, *codec;
    } files[] = {{"p", "none"}, {"z.zstd", "zstd"}, {"l.lz4", "lz4"}, {"f.lz4", "lz4"}, {"s.snappy", "snappy"}, {"v.lzf", "lzf"}, {"g.gz", "gzip"}};
    struct buf text = event_lines(0, 700), stored[ARRAY_LENGTH(files)];
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++)
        stored[i] = buf_new();
    buf_append(&stored[0], text.data, text.len);
    add_snappy_header(&stored[4]);
    for (size_t at = 0; at < text.len; at += 32768) {
        size_t len = MIN(text.len - at, (size_t)32768);
        add_zstd_frame(&stored[1], text.data + at, len, false, 0);
        add_lz4_block(&stored[2], text.data + at, len, false);
        add_lz4_frame(&stored[3], text.data + at, len);
        add_snappy_chunk(&stored[4], text.data + at, len);
        add_lzf_chunk(&stored[5], text.data + at, len, false);
        add_gzip_member(&stored[6], text.data + at, len);
    }
    static const struct line_reader_options sizes[] = {
        {.read_bytes = 1, .block_bytes = 300, .line_max_bytes = 300}, {.read_bytes = 7, .block_bytes = 64, .line_max_bytes = 4096},
        {.read_bytes = 4096, .block_bytes = 1000, .line_max_bytes = 100000}, {.read_bytes = 1 << 20, .block_bytes = 1 << 20, .line_max_bytes = 1 << 20},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        put_buf(in_dir(dir, files[i].name), stored[i]);
        for (size_t j = 0; j < ARRAY_LENGTH(sizes); j++) {
            struct line_reader *reader = open_one(files[i].name, &sizes[j]);
            expect(read_all(reader), text.data, text.len);
            assert_string_equal(line_reader_file(reader, 0)->codec, files[i].codec);
            assert_false(line_reader_file(reader, 0)->name_disagrees);
            assert_int_equal(line_reader_file(reader, 0)->line_count, 700);
            line_reader_close(reader);
        }
    }
    buf_dispose(&text);
}

static void files_follow_each_other_and_blocks_do_not_span_them(void **state)
{
    (void)state;
    put_text(in_dir(dir, "1"), "a\nb\n");
    put_text(in_dir(dir, "2"), "c\nbroken off");
    put_text(in_dir(dir, "3"), "");
    put_text(in_dir(dir, "4"), "d\n");
    static const char *const names[] = {"1", "2", "3", "4"};
    static const struct {
        const char *text;
        int file_no;
        bool unterminated;
    } wanted[] = {{"a\nb\n", 1, false}, {"c\nbroken off", 2, true}, {"d\n", 4, false}};
    struct log_entry entry = entry_of(names, 4);
    struct line_reader *reader;
    struct line_block *block;
    assert_int_equal(line_reader_open(&reader, &entry, NULL), ERR_OK);
    for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
        assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
        check_block(block);
        assert_string_equal(block->text, wanted[i].text);
        assert_int_equal(block->file_no, wanted[i].file_no);
        assert_int_equal(block->first_line, 1);
        assert_int_equal(block->text_offset, 0);
        assert_int_equal(block->unterminated, wanted[i].unterminated);
        line_block_free(block);
    }
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    assert_int_equal(line_reader_file(reader, 1)->line_count, 2);
    assert_true(line_reader_file(reader, 2)->done);
    line_reader_close(reader);
    log_entry_dispose(&entry);
}

static void a_byte_order_mark_is_dropped_and_crlf_stays(void **state)
{
    (void)state;
    put_text(in_dir(dir, "bom"), "\xEF\xBB\xBF{\"Event\":1}\r\n{}\r\n");
    struct line_reader *reader = open_one("bom", NULL);
    struct line_block *block;
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
    assert_string_equal(block->text, "{\"Event\":1}\r\n{}\r\n");
    assert_int_equal(block->text_offset, 3);
    assert_int_equal(block->first_line, 1);
    line_block_free(block);
    line_reader_close(reader);
    put_text(in_dir(dir, "bom"), "\xEF\xBB\xBF");
    reader = open_one("bom", NULL);
    expect(read_all(reader), "", 0);
    line_reader_close(reader);
    /* Not at the start: text as any. */
    put_text(in_dir(dir, "bom"), "a\n\xEF\xBB\xBF\n");
    reader = open_one("bom", &(struct line_reader_options){.read_bytes = 1, .block_bytes = 2, .line_max_bytes = 10});
    expect(read_all(reader), "a\n\xEF\xBB\xBF\n", 6);
    line_reader_close(reader);
}

static void a_line_that_is_too_long_is_left_out_and_named(void **state)
{
    (void)state;
    static const struct line_reader_options options = {.read_bytes = 100, .block_bytes = 64, .line_max_bytes = 1000};
    struct buf stored = buf_new();
    buf_text(&stored, "first\n");
    for (int i = 0; i < 1000; i++)
        buf_char(&stored, 'k');
    buf_text(&stored, "\n");
    for (int i = 0; i < 1001; i++)
        buf_char(&stored, 'd');
    buf_text(&stored, "\nlast\n");
    put_bytes(in_dir(dir, "long"), stored.data, stored.len, "wb");
    struct line_reader *reader = open_one("long", &options);
    struct buf text = read_all(reader);
    assert_int_equal(text.len, 6 + 1001 + 5);
    assert_memory_equal(text.data, "first\nkkkk", 10);
    assert_memory_equal(text.data + 1006, "\nlast\n", 6);
    buf_dispose(&text);
    struct source_problem problem = only_problem(reader);
    assert_int_equal(problem.kind, PROBLEM_LINE_TOO_LONG);
    assert_int_equal(problem.line, 3);
    assert_int_equal(problem.text_offset, 1007);
    assert_int_equal(line_reader_file(reader, 0)->line_count, 4);
    line_reader_close(reader);
    /* The last block of the same file has the right line number and offset. */
    reader = open_one("long", &options);
    struct line_block *block, *last = NULL;
    while (line_reader_next(reader, &block, NULL) == ERR_OK) {
        line_block_free(last);
        last = block;
    }
    assert_string_equal(last->text, "last\n");
    assert_int_equal(last->first_line, 4);
    assert_int_equal(last->text_offset, 1007 + 1002);
    line_block_free(last);
    line_reader_close(reader);
    buf_dispose(&stored);
}

/* A list of line ends has room for a line of 32 bytes and more: empty lines make more blocks, behind a long line (a large block) as well. */
static void empty_lines_make_more_blocks_and_keep_their_numbers(void **state)
{
    (void)state;
    enum { BEGINNING = 300000, LONG = 3000000, END = 200000 };
    struct buf stored = buf_new();
    for (int i = 0; i < BEGINNING; i++)
        buf_char(&stored, '\n');
    for (int i = 0; i < LONG; i++)
        buf_char(&stored, 'l');
    for (int i = 0; i < END; i++)
        buf_char(&stored, '\n');
    buf_text(&stored, "last");
    put_bytes(in_dir(dir, "empty"), stored.data, stored.len, "wb");
    struct line_reader *reader = open_one("empty", NULL);
    expect(read_all(reader), stored.data, stored.len);
    assert_int_equal(line_reader_problem_count(reader), 0);
    assert_int_equal(line_reader_file(reader, 0)->line_count, BEGINNING + END + 1);
    line_reader_close(reader);
    buf_dispose(&stored);
    /* The same where a gap follows: the line that it breaks keeps its number. */
    struct buf broken = buf_new();
    add_lz4_block(&broken, "\n\n\n\n\n\n\n\n\n\nhalf", 14, true);
    add_lz4_block(&broken, "bad\n", 4, true);
    broken.data[broken.len - 2] ^= 1;
    add_lz4_block(&broken, "our\n\n", 5, true);
    put_buf(in_dir(dir, "empty.lz4"), broken);
    reader = open_one("empty.lz4", &(struct line_reader_options){.read_bytes = 1000, .block_bytes = 64, .line_max_bytes = 1000});
    expect(read_all(reader), "\n\n\n\n\n\n\n\n\n\nhalf\nour\n\n", 20);
    struct source_problem problem = only_problem(reader);
    assert_int_equal(problem.line, 11);
    assert_int_equal(problem.text_offset, 14);
    line_reader_close(reader);
}

static void a_very_long_line_does_not_cost_its_length_in_memory(void **state)
{
    (void)state;
    /* 512 MiB of one line, from 64 KiB of zstd: RLE blocks of 128 KiB. */
    struct buf stored = from_hex("28b52ffd 00 38");
    for (int i = 0; i < 4096; i++) {
        uint32_t header = (131072u << 3 | 1u << 1) | (i == 4095);
        buf_char(&stored, (char)header);
        buf_char(&stored, (char)(header >> 8));
        buf_char(&stored, (char)(header >> 16));
        buf_char(&stored, 'x');
    }
    add_zstd_frame(&stored, "\n{}\n", 4, false, 0);
    put_buf(in_dir(dir, "long.zstd"), stored);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    struct line_reader *reader = open_one("long.zstd", NULL);
    expect(read_all(reader), "{}\n", 3);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(only_problem(reader).kind, PROBLEM_LINE_TOO_LONG);
    assert_true(after.ru_maxrss - before.ru_maxrss < 280 * 1024);    /* 64 MiB, and what the sanitizer holds back of grown blocks */
    line_reader_close(reader);
}

static void a_gap_ends_the_broken_line_and_the_next_one_begins_a_block(void **state)
{
    (void)state;
    struct buf stored = buf_new();
    add_lz4_block(&stored, "one\ntwo begi", 12, true);
    add_lz4_block(&stored, "ns\nthree\n", 9, true);
    stored.data[stored.len - 2] ^= 1;
    add_lz4_block(&stored, "our\nfive\n", 9, true);
    put_buf(in_dir(dir, "gap.lz4"), stored);
    struct line_reader *reader = open_one("gap.lz4", NULL);
    struct line_block *block;
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
    assert_string_equal(block->text, "one\ntwo begi\n");
    assert_false(block->unterminated);
    line_block_free(block);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
    assert_string_equal(block->text, "our\nfive\n");
    assert_int_equal(block->first_line, 3);
    assert_int_equal(block->text_offset, 12);
    line_block_free(block);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    struct source_problem problem = only_problem(reader);
    assert_int_equal(problem.kind, PROBLEM_FRAME);
    assert_int_equal(problem.line, 2);
    assert_int_equal(problem.text_offset, 12);
    assert_int_equal(problem.stored_offset, 33);
    assert_string_equal(problem.reason, "an lz4 block fails its checksum");
    assert_false(line_reader_file(reader, 0)->failed);
    line_reader_close(reader);
}

static void a_gap_inside_a_line_that_is_too_long_ends_it(void **state)
{
    (void)state;
    struct buf stored = buf_new();
    char filler[200];
    memset(filler, 'x', sizeof filler);
    add_lz4_block(&stored, filler, sizeof filler, true);
    add_lz4_block(&stored, "gone\n", 5, true);
    stored.data[stored.len - 2] ^= 1;
    add_lz4_block(&stored, "kept\n", 5, true);
    put_buf(in_dir(dir, "longgap.lz4"), stored);
    struct line_reader *reader = open_one("longgap.lz4", &(struct line_reader_options){.read_bytes = 10, .block_bytes = 50, .line_max_bytes = 100});
    expect(read_all(reader), "kept\n", 5);
    assert_int_equal(line_reader_problem_count(reader), 2);
    assert_int_equal(line_reader_file(reader, 0)->line_count, 2);
    line_reader_close(reader);
}

static void content_decides_and_a_wrong_name_is_said(void **state)
{
    (void)state;
    struct buf stored = buf_new();
    add_zstd_frame(&stored, "{\"Event\":1}\n", 12, false, 0);
    put_bytes(in_dir(dir, "x.lz4"), stored.data, stored.len, "wb");
    put_bytes(in_dir(dir, "x"), stored.data, stored.len, "wb");
    put_bytes(in_dir(dir, "x.zstd.inprogress"), stored.data, stored.len, "wb");
    put_text(in_dir(dir, "y.zstd.compact"), "{\"Event\":1}\n");
    static const struct {
        const char *name, *codec;
        bool disagrees;
    } files[] = {{"x.lz4", "zstd", true}, {"x", "zstd", true}, {"x.zstd.inprogress", "zstd", false}, {"y.zstd.compact", "none", true}};
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        struct line_reader *reader = open_one(files[i].name, NULL);
        expect(read_all(reader), "{\"Event\":1}\n", 12);
        assert_string_equal(line_reader_file(reader, 0)->codec, files[i].codec);
        assert_int_equal(line_reader_file(reader, 0)->name_disagrees, files[i].disagrees);
        line_reader_close(reader);
    }
    /* A broken head: the name says where to look for the next frame. */
    struct buf broken = noise(500, 3);
    broken.data[0] = '!';
    buf_append(&broken, stored.data, stored.len);
    put_buf(in_dir(dir, "z.zstd"), broken);
    struct line_reader *reader = open_one("z.zstd", NULL);
    expect(read_all(reader), "{\"Event\":1}\n", 12);
    assert_int_equal(only_problem(reader).kind, PROBLEM_FRAME);
    line_reader_close(reader);
    buf_dispose(&stored);
}

static void noise_and_files_that_cannot_be_opened_are_problems_of_that_file_only(void **state)
{
    (void)state;
    put_text(in_dir(dir, "n1"), "a\n");
    put_buf(in_dir(dir, "n2"), noise(5000, 9));
    put_text(in_dir(dir, "n4"), "d\n");
    static const char *const names[] = {"n1", "n2", "absent", "n4"};
    struct log_entry entry = entry_of(names, 4);
    struct line_reader *reader;
    struct source_problem problems[4];
    assert_int_equal(line_reader_open(&reader, &entry, NULL), ERR_OK);
    struct buf text = read_all(reader);
    assert_memory_equal(text.data, "a\n", 2);
    assert_memory_equal(text.data + text.len - 2, "d\n", 2);
    buf_dispose(&text);
    assert_int_equal(line_reader_take_problems(reader, problems, 4), 2);
    assert_int_equal(problems[0].kind, PROBLEM_FILE);
    assert_int_equal(problems[0].file_no, 2);
    assert_int_equal(problems[1].kind, PROBLEM_FILE);
    assert_int_equal(problems[1].file_no, 3);
    assert_string_equal(problems[1].reason, "cannot open: No such file or directory");
    assert_true(line_reader_file(reader, 2)->failed);
    assert_int_equal(line_reader_take_problems(reader, problems, 4), 0);
    line_reader_close(reader);
    log_entry_dispose(&entry);
}

static void a_pipe_in_place_of_a_file_does_not_block(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_dir(dir, "pipe"), 0600), 0);
    struct line_reader *reader = open_one("pipe", NULL);
    expect(read_all(reader), "", 0);
    assert_int_equal(only_problem(reader).kind, PROBLEM_FILE);
    line_reader_close(reader);
}

static void a_cut_compressed_file_is_cut_and_not_damaged(void **state)
{
    (void)state;
    struct buf stored = buf_new(), lines = event_lines(0, 50);
    add_zstd_frame(&stored, "whole\n", 6, false, 0);
    add_zstd_frame(&stored, lines.data, lines.len, false, 0);
    put_bytes(in_dir(dir, "cut.zstd"), stored.data, stored.len - 3, "wb");
    struct line_reader *reader = open_one("cut.zstd", NULL);
    expect(read_all(reader), "whole\n", 6);
    assert_true(line_reader_file(reader, 0)->cut && line_reader_file(reader, 0)->done && !line_reader_file(reader, 0)->failed);
    assert_int_equal(line_reader_problem_count(reader), 0);
    line_reader_close(reader);
    /* Cut inside the magic. */
    put_bytes(in_dir(dir, "cut.zstd"), stored.data, 2, "wb");
    reader = open_one("cut.zstd", NULL);
    expect(read_all(reader), "", 0);
    assert_true(line_reader_file(reader, 0)->cut);
    line_reader_close(reader);
    buf_dispose(&stored);
    buf_dispose(&lines);
}

static void zero_padding_is_a_trailing_problem(void **state)
{
    (void)state;
    static const char zeros[4096];
    struct buf stored = buf_new();
    add_zstd_frame(&stored, "whole\n", 6, false, 0);
    buf_append(&stored, zeros, sizeof zeros);
    put_buf(in_dir(dir, "padded.zstd"), stored);
    struct line_reader *reader = open_one("padded.zstd", NULL);
    expect(read_all(reader), "whole\n", 6);
    assert_int_equal(only_problem(reader).kind, PROBLEM_TRAILING);
    assert_false(line_reader_file(reader, 0)->failed);
    line_reader_close(reader);
}

/* ---- growing logs */

static void resume_one(struct line_reader *reader, const char *name, enum err_code wanted)
{
    struct log_entry entry = entry_of_one(name);
    struct err err;
    assert_int_equal(line_reader_resume(reader, &entry, &err), wanted);
    log_entry_dispose(&entry);
}

static void only_new_lines_come_after_a_file_grew(void **state)
{
    (void)state;
    put_text(in_dir(dir, "grow.inprogress"), "one\ntwo\nthr");
    struct line_reader *reader = open_one("grow.inprogress", NULL);
    struct line_block *block;
    expect(read_all(reader), "one\ntwo\nthr", 11);
    assert_int_equal(line_reader_file(reader, 0)->line_count, 3);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    resume_one(reader, "grow.inprogress", ERR_OK);               /* nothing new */
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    put_bytes(in_dir(dir, "grow.inprogress"), "ee\nfo", 5, "ab");
    resume_one(reader, "grow.inprogress", ERR_OK);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
    assert_string_equal(block->text, "three\nfo");
    assert_int_equal(block->first_line, 3);
    assert_int_equal(block->text_offset, 8);
    assert_true(block->unterminated);
    line_block_free(block);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    assert_int_equal(line_reader_file(reader, 0)->line_count, 4);
    /* The finished run: another name, the same file. */
    put_bytes(in_dir(dir, "grow.inprogress"), "ur\n", 3, "ab");
    assert_int_equal(rename(in_dir(dir, "grow.inprogress"), in_dir(dir, "grow")), 0);
    resume_one(reader, "grow", ERR_OK);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
    assert_string_equal(block->text, "four\n");
    assert_int_equal(block->first_line, 4);
    line_block_free(block);
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    assert_int_equal(line_reader_stored_position(reader), 19);
    line_reader_close(reader);
}

static void a_compressed_file_that_grows_byte_by_byte_gives_every_line_once(void **state)
{
    (void)state;
    struct buf stored = buf_new(), text = buf_new(), got = buf_new();
    for (int i = 0; i < 20; i++) {
        struct buf lines = event_lines(i * 3, 3);
        add_zstd_frame(&stored, lines.data, lines.len, i % 2, 0);
        buf_append(&text, lines.data, lines.len);
        buf_dispose(&lines);
    }
    put_text(in_dir(dir, "bytes.zstd"), "");
    struct line_reader *reader = open_one("bytes.zstd", NULL);
    struct line_block *block;
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    for (size_t i = 0; i < stored.len; i++) {
        put_bytes(in_dir(dir, "bytes.zstd"), stored.data + i, 1, "ab");
        resume_one(reader, "bytes.zstd", ERR_OK);
        while (line_reader_next(reader, &block, NULL) == ERR_OK) {
            assert_false(block->unterminated);
            buf_append(&got, block->text, block->len);
            line_block_free(block);
        }
    }
    assert_string_equal(line_reader_file(reader, 0)->codec, "zstd");
    assert_false(line_reader_file(reader, 0)->cut);
    assert_int_equal(line_reader_problem_count(reader), 0);
    expect(got, text.data, text.len);
    line_reader_close(reader);
    buf_dispose(&stored);
    buf_dispose(&text);
}

static void new_rolling_files_are_followed(void **state)
{
    (void)state;
    static const char *const names[] = {"events_1_r", "events_2_r", "events_3_r"};
    put_text(in_dir(dir, names[0]), "a\nbe");
    struct log_entry entry = entry_of(names, 1);
    struct line_reader *reader;
    struct line_block *block;
    entry.layout = LAYOUT_ROLLING;
    assert_int_equal(line_reader_open(&reader, &entry, NULL), ERR_OK);
    log_entry_dispose(&entry);
    expect(read_all(reader), "a\nbe", 4);
    put_text(in_dir(dir, names[0]), "a\nbee\n");
    put_text(in_dir(dir, names[1]), "c\n");
    put_text(in_dir(dir, names[2]), "d\n");
    entry = entry_of(names, 3);
    assert_int_equal(line_reader_resume(reader, &entry, NULL), ERR_OK);
    static const char *const wanted[] = {"bee\n", "c\n", "d\n"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(line_reader_next(reader, &block, NULL), ERR_OK);
        assert_string_equal(block->text, wanted[i]);
        assert_int_equal(block->file_no, i + 1);
        assert_int_equal(block->first_line, i == 0 ? 2 : 1);
        line_block_free(block);
    }
    assert_int_equal(line_reader_next(reader, &block, NULL), ERR_EOF);
    log_entry_dispose(&entry);
    /* A history server compacted it meanwhile. */
    entry = entry_of(names, 2);
    assert_int_equal(line_reader_resume(reader, &entry, NULL), ERR_UNSUPPORTED);
    log_entry_dispose(&entry);
    line_reader_close(reader);
}

static void a_log_that_shrank_or_was_replaced_is_read_anew(void **state)
{
    (void)state;
    put_text(in_dir(dir, "anew"), "one\ntwo\n");
    struct line_reader *reader = open_one("anew", NULL);
    expect(read_all(reader), "one\ntwo\n", 8);
    put_text(in_dir(dir, "anew"), "one\n");
    resume_one(reader, "anew", ERR_UNSUPPORTED);
    put_text(in_dir(dir, "anew"), "one\ntwX\nthree\n");                /* the same inode, other content */
    resume_one(reader, "anew", ERR_UNSUPPORTED);
    put_text(in_dir(dir, "other"), "one\ntwo\nthree\n");
    assert_int_equal(rename(in_dir(dir, "other"), in_dir(dir, "anew")), 0);
    resume_one(reader, "anew", ERR_UNSUPPORTED);
    line_reader_close(reader);
}

static void a_file_that_could_not_be_opened_is_tried_again(void **state)
{
    (void)state;
    struct line_reader *reader = open_one("later", NULL);
    expect(read_all(reader), "", 0);
    put_text(in_dir(dir, "later"), "here\n");
    resume_one(reader, "later", ERR_OK);
    expect(read_all(reader), "here\n", 5);
    assert_false(line_reader_file(reader, 0)->failed);
    line_reader_close(reader);
}

/* ---- the end of a log */

static void expect_tail(const char *const *names, size_t count, size_t want, struct buf text)
{
    struct log_entry entry = entry_of(names, count);
    struct err err;
    char *tail;
    size_t len;
    assert_int_equal(line_reader_tail(&entry, want, &tail, &len, &err), ERR_OK);
    assert_true(len >= MIN(want, text.len) && len <= text.len);
    assert_memory_equal(tail, text.data + text.len - len, len);
    assert_true(len == text.len || text.data[text.len - len - 1] == '\n');
    assert_true(len < want + 70000 || len == text.len);
    for (size_t i = 0; i < LINE_PADDING; i++)
        assert_int_equal(tail[len + i], 0);
    mem_free(tail);
    log_entry_dispose(&entry);
}

static void the_tail_begins_at_a_line_and_is_long_enough(void **state)
{
    (void)state;
    static const char *const names[] = {"t", "t.zstd", "t.lz4", "t.snappy", "t.lzf", "t.gz"};
    struct buf text = event_lines(0, 20000), stored[6];
    for (size_t i = 0; i < 6; i++)
        stored[i] = buf_new();
    buf_append(&stored[0], text.data, text.len);
    add_snappy_header(&stored[3]);
    for (size_t at = 0; at < text.len; at += 32768) {
        size_t len = MIN(text.len - at, (size_t)32768);
        add_zstd_frame(&stored[1], text.data + at, len, false, 0);
        add_lz4_block(&stored[2], text.data + at, len, at % 65536 == 0);
        add_snappy_chunk(&stored[3], text.data + at, len);
        add_lzf_chunk(&stored[4], text.data + at, len, false);
        add_gzip_member(&stored[5], text.data + at, len);
    }
    for (size_t i = 0; i < 6; i++) {
        put_buf(in_dir(dir, names[i]), stored[i]);
        expect_tail(&names[i], 1, 1, text);
        expect_tail(&names[i], 1, 10000, text);
        expect_tail(&names[i], 1, 500000, text);
        expect_tail(&names[i], 1, text.len + 1, text);
    }
    buf_dispose(&text);
}

static void the_tail_of_many_files_goes_back_as_far_as_needed(void **state)
{
    (void)state;
    static const char *const names[] = {"m1", "m2", "m3"};
    struct buf text = event_lines(0, 30), part = event_lines(0, 10);
    put_bytes(in_dir(dir, "m1"), text.data, part.len, "wb");
    put_bytes(in_dir(dir, "m2"), text.data + part.len, text.len - part.len, "wb");
    put_text(in_dir(dir, "m3"), "");
    expect_tail(names, 3, 10, text);
    expect_tail(names, 3, text.len - part.len + 1, text);
    expect_tail(names, 3, 100000, text);
    buf_dispose(&part);
    buf_dispose(&text);
}

static void the_tail_of_a_long_last_line_is_that_line(void **state)
{
    (void)state;
    struct buf text = buf_of("first\n", 6);
    for (int i = 0; i < 1000000; i++)
        buf_char(&text, 'x');
    put_bytes(in_dir(dir, "longlast"), text.data, text.len, "wb");
    struct log_entry entry = entry_of_one("longlast");
    char *tail;
    size_t len;
    assert_int_equal(line_reader_tail(&entry, 1000, &tail, &len, NULL), ERR_OK);
    assert_int_equal(len, 1000000);
    assert_int_equal(tail[0], 'x');
    mem_free(tail);
    log_entry_dispose(&entry);
    buf_dispose(&text);
}

static void the_tail_of_a_big_single_frame_is_refused(void **state)
{
    (void)state;
    /* Raw blocks of noise: 9 MB stored in one frame. */
    struct buf stored = from_hex("28b52ffd 00 38"), body = noise(131072, 5);
    for (int i = 0; i < 72; i++) {
        uint32_t header = 131072u << 3 | (i == 71);
        buf_char(&stored, (char)header);
        buf_char(&stored, (char)(header >> 8));
        buf_char(&stored, (char)(header >> 16));
        buf_append(&stored, body.data, body.len);
    }
    put_buf(in_dir(dir, "big.zstd"), stored);
    buf_dispose(&body);
    struct log_entry entry = entry_of_one("big.zstd");
    char *tail;
    size_t len;
    assert_int_equal(line_reader_tail(&entry, 1000, &tail, &len, NULL), ERR_UNSUPPORTED);
    assert_null(tail);
    log_entry_dispose(&entry);
}

/* ---- memory and threads */

static void *free_blocks(void *context)
{
    struct line_block **blocks = context;
    for (size_t i = 0; blocks[i]; i++)
        line_block_free(blocks[i]);
    return NULL;
}

static void blocks_outlive_their_reader_and_may_be_freed_by_another_thread(void **state)
{
    (void)state;
    struct buf text = event_lines(0, 20000);
    put_bytes(in_dir(dir, "blocks"), text.data, text.len, "wb");
    struct line_reader *reader = open_one("blocks", &(struct line_reader_options){.read_bytes = 100000, .block_bytes = 50000, .line_max_bytes = 50000});
    struct line_block *blocks[100] = {0};
    size_t count = 0, total = 0;
    while (count < 99 && line_reader_next(reader, &blocks[count], NULL) == ERR_OK)
        total += blocks[count++]->len;
    assert_int_equal(total, text.len);
    line_reader_close(reader);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_blocks, blocks), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    buf_dispose(&text);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    static const char *const names[] = {"w1.zstd", "w2.lz4", "w3.gz", "w4"};
    struct buf text = event_lines(0, 600), stored[3];
    for (size_t i = 0; i < 3; i++)
        stored[i] = buf_new();
    add_zstd_frame(&stored[0], text.data, text.len, true, 0);
    buf_append(&stored[0], "damage", 6);
    add_zstd_frame(&stored[0], text.data, text.len, true, 0);
    add_lz4_block(&stored[1], text.data, text.len, false);
    add_gzip_member(&stored[2], text.data, text.len);
    for (size_t i = 0; i < 3; i++)
        put_buf(in_dir(dir, names[i]), stored[i]);
    put_bytes(in_dir(dir, names[3]), text.data, text.len - 10, "wb");
    static const struct line_reader_options options = {.read_bytes = 3000, .block_bytes = 128, .line_max_bytes = 100000};
    struct log_entry entry = entry_of(names, 4);
    bool finished = false;
    uint64_t walked = 0;
    for (uint64_t n = 1; !finished; n++) {
        struct line_reader *reader;
        struct line_block *block;
        mem_fail_at(n, 0);
        enum err_code rc = line_reader_open_with(&reader, &entry, &options, NULL);
        while (rc == ERR_OK && (rc = line_reader_next(reader, &block, NULL)) == ERR_OK)
            line_block_free(block);
        if (rc == ERR_EOF)
            rc = line_reader_resume(reader, &entry, NULL);
        finished = mem_alloc_count() < n;
        mem_fail_at(0, 0);
        assert_int_equal(rc, finished ? ERR_OK : ERR_NOMEM);
        line_reader_close(reader);
        walked = n;
    }
    assert_true(walked > 20);
    for (uint64_t n = 1; n < 100; n++) {
        char *tail = NULL;
        size_t len;
        mem_fail_at(n, 0);
        enum err_code rc = line_reader_tail(&entry, 200000, &tail, &len, NULL);
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM);
        mem_free(tail);
    }
    log_entry_dispose(&entry);
    buf_dispose(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_comes_back_line_for_line),
        cmocka_unit_test(every_codec_gives_the_same_lines_for_all_sizes_of_reads_and_blocks),
        cmocka_unit_test(files_follow_each_other_and_blocks_do_not_span_them),
        cmocka_unit_test(a_byte_order_mark_is_dropped_and_crlf_stays),
        cmocka_unit_test(a_line_that_is_too_long_is_left_out_and_named),
        cmocka_unit_test(empty_lines_make_more_blocks_and_keep_their_numbers),
        cmocka_unit_test(a_very_long_line_does_not_cost_its_length_in_memory),
        cmocka_unit_test(a_gap_ends_the_broken_line_and_the_next_one_begins_a_block),
        cmocka_unit_test(a_gap_inside_a_line_that_is_too_long_ends_it),
        cmocka_unit_test(content_decides_and_a_wrong_name_is_said),
        cmocka_unit_test(noise_and_files_that_cannot_be_opened_are_problems_of_that_file_only),
        cmocka_unit_test(a_pipe_in_place_of_a_file_does_not_block),
        cmocka_unit_test(a_cut_compressed_file_is_cut_and_not_damaged),
        cmocka_unit_test(zero_padding_is_a_trailing_problem),
        cmocka_unit_test(only_new_lines_come_after_a_file_grew),
        cmocka_unit_test(a_compressed_file_that_grows_byte_by_byte_gives_every_line_once),
        cmocka_unit_test(new_rolling_files_are_followed),
        cmocka_unit_test(a_log_that_shrank_or_was_replaced_is_read_anew),
        cmocka_unit_test(a_file_that_could_not_be_opened_is_tried_again),
        cmocka_unit_test(the_tail_begins_at_a_line_and_is_long_enough),
        cmocka_unit_test(the_tail_of_many_files_goes_back_as_far_as_needed),
        cmocka_unit_test(the_tail_of_a_long_last_line_is_that_line),
        cmocka_unit_test(the_tail_of_a_big_single_frame_is_refused),
        cmocka_unit_test(blocks_outlive_their_reader_and_may_be_freed_by_another_thread),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
