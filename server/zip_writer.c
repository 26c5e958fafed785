/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts and numbers are those of PKWARE's APPNOTE 6.3; the extra field with the time in UTC is Info-ZIP's. */
#include "server/zip_writer.h"

#define ZLIB_CONST                   /* deflate does not write to what it reads */
#include <limits.h>
#include <time.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/units.h"

#define DIRECTORY_MAX_BYTES ((size_t)64 << 20)       /* some 100 bytes and the name of each entry: 100,000 parts of a rolling log take 15 MB */
#define PACKED_BYTES ((size_t)64 << 10)
#define NAME_MAX_BYTES ((size_t)UINT16_MAX)
#define TEXT_LEVEL 3                                 /* tenfold for JSON at some 200 MB/s a core, as for answers (response_body.h) */
#define STORE_LEVEL 0                                /* stored blocks */

#define LOCAL_SIGNATURE 0x04034B50u
#define DESCRIPTOR_SIGNATURE 0x08074B50u
#define CENTRAL_SIGNATURE 0x02014B50u
#define END64_SIGNATURE 0x06064B50u
#define END64_LOCATOR_SIGNATURE 0x07064B50u
#define END_SIGNATURE 0x06054B50u

#define VERSION_DEFLATE 20
#define VERSION_ZIP64 45
#define MADE_BY_UNIX (3 << 8)
#define FLAG_LENGTHS_BEHIND 0x0008
#define FLAG_UTF8 0x0800
#define METHOD_DEFLATED 8
#define EXTRA_ZIP64 0x0001
#define EXTRA_TIME 0x5455
#define EXTRA_TIME_BYTES 9
#define FILE_MODE 0100644u
#define DIRECTORY_MODE 0040755u
#define DOS_DIRECTORY 0x10u

struct zip_writer {
    struct buf *out;
    int64_t offset;                  /* bytes written, all in all */
    z_stream deflate;
    struct buf directory;
    int64_t entry_count;
    /* the running entry */
    struct buf name;
    int64_t entry_offset, modified_s, plain_bytes, packed_bytes;
    unsigned long crc;
    bool failed;
    unsigned char packed[PACKED_BYTES];
};

/* ---- numbers, the lowest byte first ---- */

static void put_number(struct buf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        buf_char(out, (char)(value & 0xFF));
}

static void put16(struct buf *out, unsigned value)
{
    put_number(out, value, 2);
}

static void put32(struct buf *out, uint64_t value)
{
    put_number(out, value, 4);
}

static void put64(struct buf *out, int64_t value)
{
    put_number(out, (uint64_t)value, 8);
}

/* All bits set mean: too large for this field, look into the extra one. */
static void put32_or_extra(struct buf *out, int64_t value)
{
    put32(out, (uint64_t)MIN(value, (int64_t)UINT32_MAX));
}

/* ---- fields that local headers and the directory share ---- */

/* Seconds of UTC as two 16-bit numbers, from 1980 to 2107, by twos. */
static void put_dos_time(struct buf *out, int64_t modified_s)
{
    static const int64_t first_s = 315532800, last_s = 4354819198;
    time_t time = (time_t)MAX(MIN(modified_s, last_s), first_s);
    struct tm tm;
    gmtime_r(&time, &tm);
    put16(out, (unsigned)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2));
    put16(out, (unsigned)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday));
}

static void put_time_extra(struct buf *out, int64_t modified_s)
{
    put16(out, EXTRA_TIME);
    put16(out, EXTRA_TIME_BYTES - 4);
    buf_char(out, 1);                /* a time of change follows */
    put32(out, (uint64_t)MAX(MIN(modified_s, (int64_t)INT32_MAX), 0));
}

static void put_kind(struct buf *out, const struct zip_writer *self, unsigned version)
{
    struct str name = buf_str(&self->name);
    bool is_utf8 = utf8_valid_prefix(name.ptr, name.len) == name.len;
    put16(out, version);
    put16(out, FLAG_LENGTHS_BEHIND | (is_utf8 ? FLAG_UTF8 : 0));
    put16(out, METHOD_DEFLATED);
    put_dos_time(out, self->modified_s);
}

/* ---- the stream ---- */

enum err_code zip_writer_new(struct zip_writer **ret, struct buf *out, struct err *err)
{
    struct zip_writer *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->out = out;
    buf_init(&self->directory, DIRECTORY_MAX_BYTES);
    buf_init(&self->name, NAME_MAX_BYTES);
    if (deflateInit2(&self->deflate, TEXT_LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        zip_writer_free(TAKE(*ret));
        return err_nomem(err);
    }
    return ERR_OK;
}

void zip_writer_free(struct zip_writer *self)
{
    if (!self)
        return;
    deflateEnd(&self->deflate);
    buf_dispose(&self->directory);
    buf_dispose(&self->name);
    mem_free(self);
}

bool zip_writer_failed(const struct zip_writer *self)
{
    return self->failed || buf_failed(self->out) || buf_failed(&self->directory) || buf_failed(&self->name);
}

/* `len` bytes more in out than `before`. */
static void count_from(struct zip_writer *self, size_t before)
{
    self->offset += (int64_t)(self->out->len - before);
}

void zip_writer_begin(struct zip_writer *self, struct str name, int64_t modified_s, bool compressed)
{
    size_t before = self->out->len;
    buf_clear(&self->name);
    buf_append(&self->name, name.ptr, name.len);
    self->failed = self->failed || buf_failed(&self->name);
    self->entry_offset = self->offset;
    self->modified_s = modified_s;
    self->plain_bytes = self->packed_bytes = 0;
    self->crc = crc32(0, NULL, 0);
    if (deflateReset(&self->deflate) != Z_OK || deflateParams(&self->deflate, compressed ? STORE_LEVEL : TEXT_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        self->failed = true;

    put32(self->out, LOCAL_SIGNATURE);
    put_kind(self->out, self, VERSION_DEFLATE);
    put32(self->out, 0);             /* checksum and lengths stand behind */
    put32(self->out, 0);
    put32(self->out, 0);
    put16(self->out, (unsigned)self->name.len);
    put16(self->out, EXTRA_TIME_BYTES);
    buf_append(self->out, self->name.data, self->name.len);
    put_time_extra(self->out, modified_s);
    count_from(self, before);
}

/* All input that is set, until deflate has nothing more to give. */
static void pack(struct zip_writer *self, int flush)
{
    size_t before = self->out->len;
    int rc;
    do {
        self->deflate.next_out = self->packed;
        self->deflate.avail_out = (unsigned)sizeof self->packed;
        rc = deflate(&self->deflate, flush);
        buf_append(self->out, self->packed, sizeof self->packed - self->deflate.avail_out);
    } while (rc == Z_OK && self->deflate.avail_out == 0);
    if (rc == Z_STREAM_ERROR || (flush == Z_FINISH && rc != Z_STREAM_END))
        self->failed = true;
    count_from(self, before);
    self->packed_bytes += (int64_t)(self->out->len - before);
}

void zip_writer_write(struct zip_writer *self, const void *bytes, size_t len)
{
    while (len && !zip_writer_failed(self)) {
        unsigned part = (unsigned)MIN(len, (size_t)INT_MAX);
        self->crc = crc32(self->crc, bytes, part);
        self->plain_bytes += part;
        self->deflate.next_in = bytes;
        self->deflate.avail_in = part;
        pack(self, Z_NO_FLUSH);
        bytes = (const char *)bytes + part;
        len -= part;
    }
}

static void add_to_directory(struct zip_writer *self)
{
    struct buf *out = &self->directory;
    bool is_dir = self->name.len && self->name.data[self->name.len - 1] == '/';
    const int64_t numbers[] = {self->plain_bytes, self->packed_bytes, self->entry_offset};
    unsigned wide = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        wide += numbers[i] >= UINT32_MAX;

    put32(out, CENTRAL_SIGNATURE);
    put16(out, MADE_BY_UNIX | VERSION_ZIP64);
    put_kind(out, self, wide ? VERSION_ZIP64 : VERSION_DEFLATE);
    put32(out, self->crc);
    put32_or_extra(out, self->packed_bytes);
    put32_or_extra(out, self->plain_bytes);
    put16(out, (unsigned)self->name.len);
    put16(out, EXTRA_TIME_BYTES + (wide ? 4 + 8 * wide : 0));
    put16(out, 0);                   /* comment */
    put16(out, 0);                   /* disk */
    put16(out, 0);                   /* text or not */
    put32(out, (is_dir ? DIRECTORY_MODE : FILE_MODE) << 16 | (is_dir ? DOS_DIRECTORY : 0));
    put32_or_extra(out, self->entry_offset);
    buf_append(out, self->name.data, self->name.len);
    put_time_extra(out, self->modified_s);
    if (wide) {
        put16(out, EXTRA_ZIP64);
        put16(out, 8 * wide);
        for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
            if (numbers[i] >= UINT32_MAX)
                put64(out, numbers[i]);
    }
    self->entry_count++;
}

void zip_writer_end(struct zip_writer *self)
{
    self->deflate.avail_in = 0;
    pack(self, Z_FINISH);
    size_t before = self->out->len;
    put32(self->out, DESCRIPTOR_SIGNATURE);
    put32(self->out, self->crc);
    /* As readers from the front expect it: 64 bits when what they have read needs them. */
    size_t bytes = self->packed_bytes > UINT32_MAX || self->plain_bytes > UINT32_MAX ? 8 : 4;
    put_number(self->out, (uint64_t)self->packed_bytes, bytes);
    put_number(self->out, (uint64_t)self->plain_bytes, bytes);
    count_from(self, before);
    add_to_directory(self);
}

void zip_writer_finish(struct zip_writer *self)
{
    struct buf *out = self->out;
    int64_t directory_offset = self->offset, directory_bytes = (int64_t)self->directory.len;
    buf_append(out, self->directory.data, self->directory.len);
    if (self->entry_count >= UINT16_MAX || directory_offset + directory_bytes >= UINT32_MAX) {
        put32(out, END64_SIGNATURE);
        put64(out, 44);              /* bytes of this record that follow */
        put16(out, MADE_BY_UNIX | VERSION_ZIP64);
        put16(out, VERSION_ZIP64);
        put32(out, 0);               /* this disk, and that of the directory */
        put32(out, 0);
        put64(out, self->entry_count);
        put64(out, self->entry_count);
        put64(out, directory_bytes);
        put64(out, directory_offset);
        put32(out, END64_LOCATOR_SIGNATURE);
        put32(out, 0);
        put64(out, directory_offset + directory_bytes);
        put32(out, 1);               /* disks */
    }
    unsigned count = (unsigned)MIN(self->entry_count, (int64_t)UINT16_MAX);
    put32(out, END_SIGNATURE);
    put16(out, 0);
    put16(out, 0);
    put16(out, count);
    put16(out, count);
    put32_or_extra(out, directory_bytes);
    put32_or_extra(out, directory_offset);
    put16(out, 0);                   /* comment */
}
