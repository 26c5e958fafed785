/* SPDX-License-Identifier: Apache-2.0
 *
 * A zip archive of anybody's, from the scan that finds logs in it to their lines. The archive is an anonymous file in memory, since archives are opened by path. Byte 0: which member is looked for. Beside the
 * sanitizers: nothing is read without end, blocks are as long as they say, member names are none that lead out when they become a log's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "ingest/source/line_reader.h"
#include "ingest/source/line_reader_options.h"
#include "ingest/source/zip.h"

#define TEXT_MAX ((size_t)4 << 20)
#define MEMBERS_MAX 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* All of an archive's members, and all bytes up to TEXT_MAX. */
static void read_members(const char *path)
{
    static char bytes[65536];
    struct zip *zip;
    struct zip_member member;
    struct err err = {0};
    size_t total = 0;
    if (zip_open(&zip, path, &err))
        return;
    for (int n = 0; n < MEMBERS_MAX && total < TEXT_MAX && zip_next(zip, &member, &err) == ERR_OK; n++) {
        size_t len = 0;
        require(member.name && (member.bytes >= 0 || !known(member.bytes)));
        while (total < TEXT_MAX && zip_read(zip, bytes, sizeof bytes, &len, &err) == ERR_OK) {
            require(len > 0 && len <= sizeof bytes);
            total += len;
        }
    }
    if (zip_find(zip, "eventlog_v2_a/events_1_a", &err) == ERR_OK && zip_read(zip, bytes, sizeof bytes, &(size_t){0}, &err)) { /* whatever it says */ }
    zip_close(zip);
}

static enum err_code on_entry(void *context, struct log_entry *entry)
{
    static const struct line_reader_options options = {.read_bytes = 4096, .block_bytes = 4096, .line_max_bytes = 100000};
    struct line_reader *reader;
    struct line_block *block;
    struct err err = {0};
    size_t *total = context;
    require(entry->file_count > 0 && strstr(entry->path, "//"));
    if (line_reader_open_with(&reader, entry, &options, &err) == ERR_OK) {
        while (*total < TEXT_MAX && line_reader_next(reader, &block, &err) == ERR_OK) {
            require(block->len > 0 && block->len <= 2 * options.line_max_bytes + 1);
            *total += block->len;
            line_block_free(block);
        }
        line_reader_close(reader);
    }
    log_entry_dispose(entry);
    return ERR_OK;
}

static enum err_code on_reject(void *context, const struct log_reject *reject)
{
    (void)context;
    require(reject->path && reject->reason);
    return ERR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > (size_t)1 << 20)
        return 0;
    char path[64];
    int fd = memfd_create("zip", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_members(path);
    size_t total = 0;
    const struct log_scan scan = {.context = &total, .on_entry = on_entry, .on_reject = on_reject};
    struct err err = {0};
    if (log_scan(path, &scan, &err)) { /* no archive, or damaged */ }
    close(fd);
    return 0;
}
