/* SPDX-License-Identifier: Apache-2.0
 *
 * The line reader on a hostile log that grows. Byte 0: sizes and the name's suffix; byte 1: how much of the rest is there at first. The log is an anonymous file in memory, since a
 * reader opens by path. Blocks must be whole lines, padded, numbered without a hole, and within the limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ingest/source/line_reader.h"
#include "ingest/source/line_reader_options.h"

#define TEXT_MAX ((int64_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t len = write(fd, data, size);
        require(len > 0);
        data += len;
        size -= (size_t)len;
    }
}

struct place {
    int64_t line, offset;        /* where the next block begins */
};

static void check_block(const struct line_block *block, const struct line_reader_options *options, struct place *place, bool damaged)
{
    static const char zeros[LINE_PADDING];
    int64_t lines = 0;
    require(block->len > 0 && block->file_no == 1 && memcmp(block->text + block->len, zeros, sizeof zeros) == 0);
    require(block->unterminated == (block->text[block->len - 1] != '\n'));
    require(block->len <= 2 * options->line_max_bytes + 1);
    for (const char *p = block->text, *end = p + block->len; p < end; lines++) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        require((size_t)((lf ? lf : end) - p) <= options->line_max_bytes);
        p = lf ? lf + 1 : end;
        if (!lf)
            lines--;
    }
    if (!damaged)
        require(block->first_line == place->line && block->text_offset >= place->offset);
    require(block->first_line >= place->line || damaged);
    place->line = block->first_line + lines;
    place->offset = block->text_offset;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct line_reader_options sizes[] = {
        {.read_bytes = 1, .block_bytes = 16, .line_max_bytes = 64}, {.read_bytes = 7, .block_bytes = 100, .line_max_bytes = 100},
        {.read_bytes = 100, .block_bytes = 1000, .line_max_bytes = 5000}, {.read_bytes = 4096, .block_bytes = 4096, .line_max_bytes = 100000},
    };
    static const char *const names[] = {"log", "log.zstd", "log.lz4", "log.snappy", "log.lzf", "log.gz.inprogress", "log.zstd.compact"};
    if (size < 2 || size > 1 << 20)
        return 0;
    const struct line_reader_options *options = &sizes[data[0] % 4];
    char name[32], path[64];
    int fd = memfd_create("log", MFD_CLOEXEC);
    require(fd >= 0);
    snprintf(name, sizeof name, "%s", names[data[0] / 4 % 7]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct log_file file = {.path = path, .name = name};
    struct log_entry entry = {.layout = LAYOUT_FILE, .path = path, .files = &file, .file_count = 1};
    struct line_reader *reader;
    struct line_block *block;
    struct err err;
    size_t first = (size - 2) * data[1] / 255, given = 0;
    require(line_reader_open_with(&reader, &entry, options, &err) == ERR_OK);
    struct place place = {.line = 1};
    int64_t total = 0;
    for (int round = 0; round < 3 && total < TEXT_MAX; round++) {
        size_t end = round == 0 ? first : size - 2;
        write_all(fd, data + 2 + given, end - given);
        given = end;
        struct stat st;
        require(fstat(fd, &st) == 0);
        file.bytes = st.st_size;
        file.device = (uint64_t)st.st_dev;
        file.inode = (uint64_t)st.st_ino;
        if (round > 0)
            require(line_reader_resume(reader, &entry, &err) == ERR_OK);
        enum err_code rc;
        while ((rc = line_reader_next(reader, &block, &err)) == ERR_OK && total < TEXT_MAX) {
            check_block(block, options, &place, line_reader_problem_count(reader) > 0);
            total += (int64_t)block->len;
            require(round < 2);                  /* nothing new came */
            line_block_free(block);
        }
        if (rc == ERR_OK)
            line_block_free(block);
        else
            require(rc == ERR_EOF && line_reader_stored_position(reader) == (int64_t)given);
    }
    line_reader_close(reader);
    char *tail = NULL;
    size_t len = 0;
    enum err_code rc = total < TEXT_MAX ? line_reader_tail(&entry, data[1], &tail, &len, &err) : ERR_UNSUPPORTED;
    require(rc == ERR_OK || rc == ERR_UNSUPPORTED);
    mem_free(tail);
    close(fd);
    return 0;
}
