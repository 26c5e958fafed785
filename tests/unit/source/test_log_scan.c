/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include "base/units.h"
#include "ingest/source/line_reader.h"
#include "ingest/source/log_entry.h"
#include "ingest/source/log_name.h"
#include "ingest/source/log_text.h"

#define EVENT "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.7\"}\n"

/* What a scan said, one line each, in its order: "+ name layout files" and "- name kind". Names are below the directory that was scanned. */
struct seen {
    struct buf lines;
    struct log_entry entries[64];
    size_t count;
    const char *root;
    int stop_after;              /* 0: never */
    const char *known;           /* fingerprint of a known log */
    const char *known_reason;    /* it is none */
    char rejected[LOG_FINGERPRINT_BYTES], reason[80];    /* of the last reject that had a fingerprint */
};

static enum err_code on_entry(void *context, struct log_entry *entry)
{
    struct seen *seen = context;
    size_t root = strlen(seen->root);
    assert_memory_equal(entry->path, seen->root, root);
    buf_printf(&seen->lines, "+ %s %s %zu\n", entry->path + root + (entry->path[root] == '/'), log_layout_name(entry->layout), entry->file_count);
    if (seen->count == 64) {
        log_entry_dispose(entry);
        return ERR_OK;
    }
    seen->entries[seen->count++] = *entry;
    return (int)seen->count == seen->stop_after ? ERR_CANCELLED : ERR_OK;
}

static enum err_code on_reject(void *context, const struct log_reject *reject)
{
    static const char *const kinds[] = {"not-a-log", "empty", "unreadable"};
    struct seen *seen = context;
    size_t root = strlen(seen->root);
    assert_true(strlen(reject->reason) > 0 && !strchr(reject->reason, '\n'));
    if (reject->fingerprint) {
        snprintf(seen->rejected, sizeof seen->rejected, "%s", reject->fingerprint);
        snprintf(seen->reason, sizeof seen->reason, "%s", reject->reason);
    }
    buf_printf(&seen->lines, "- %s %s\n", strlen(reject->path) > root ? reject->path + root + 1 : ".", kinds[reject->kind]);
    return ERR_OK;
}

static bool is_known(void *context, const char *path, const char *fingerprint, const char **ret_reason)
{
    (void)path;
    const struct seen *seen = context;
    *ret_reason = seen->known_reason;
    return seen->known && strcmp(seen->known, fingerprint) == 0;
}

/* What a scan passed over: single files by their stamps, as the scan before told them. */
struct passing {
    struct seen seen;                /* first: what the other callbacks take it for */
    struct seen *before;
    size_t passed_count;
};

static enum err_code pass_over(void *context, int64_t stamp, bool *ret_passed)
{
    struct passing *passing = context;
    assert_true(stamp != 0);
    for (size_t i = 0; i < passing->before->count; i++)
        *ret_passed |= passing->before->entries[i].stamp == stamp;
    passing->passed_count += *ret_passed;
    return ERR_OK;
}

static struct seen scan(const char *path)
{
    struct seen seen = {.lines = buf_new(), .root = path};
    struct log_scan what = {.context = &seen, .on_entry = on_entry, .on_reject = on_reject};
    struct err err = {0};
    assert_int_equal(log_scan(path, &what, &err), ERR_OK);
    return seen;
}

static void seen_dispose(struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        log_entry_dispose(&seen->entries[i]);
    buf_dispose(&seen->lines);
}

static void expect_seen(struct seen *seen, const char *lines)
{
    buf_char(&seen->lines, '\0');
    assert_string_equal(seen->lines.data, lines);
}

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

static void make_directory(const char *name)
{
    assert_int_equal(mkdir(in_dir(dir, name), 0700), 0);
}

static void put(const char *name, const char *text)
{
    put_text(in_dir(dir, name), text);
}

static void single_files_are_judged_by_their_first_bytes(void **state)
{
    (void)state;
    struct buf zstd = buf_new(), garbage = noise(20000, 9), late = buf_new();
    put("app-1", EVENT);
    put("app-2.inprogress", EVENT "{\"Ev");
    put("a strange name, 100% <b>.log", EVENT);
    put("bad-first-line", "garbage \x01 here\n" EVENT);
    put("blanks", "\xEF\xBB\xBF \t\r\n{ \"Timestamp\" : 1 , \"Event\" : \"x\" }\n");
    put("zeros", "");
    put_bytes(in_dir(dir, "zeros"), "\0\0\0\0" EVENT, 4 + sizeof EVENT - 1, "wb");
    put("README.md", "# About\n\nRecords look like `{\"Event\":\"SparkListenerLogStart\"}`.\n");
    put("labels.json", "{\n \"events\": 3,\n \"Event log\": {}\n}\n");
    put("_SUCCESS", "");
    put("app-3", "");
    put(".app-1.crc", "crc");
    add_zstd_frame(&zstd, EVENT, sizeof EVENT - 1, false, 0);
    put_bytes(in_dir(dir, "app-4.zstd"), zstd.data, zstd.len, "wb");
    put_bytes(in_dir(dir, "app-5.zstd.inprogress"), zstd.data, zstd.len - 8, "wb");     /* no text of it yet */
    put_bytes(in_dir(dir, "notes"), zstd.data, zstd.len - 8, "wb");
    zstd.len = 0;
    add_zstd_frame(&zstd, "plain words\n", 12, false, 0);
    put_bytes(in_dir(dir, "words.zstd"), zstd.data, zstd.len, "wb");
    put_bytes(in_dir(dir, "core"), garbage.data, garbage.len, "wb");
    for (int i = 0; i < 70000; i++)
        buf_char(&late, i % 100 ? 'x' : '\n');
    buf_text(&late, EVENT);
    put_bytes(in_dir(dir, "server.log"), late.data, late.len, "wb");
    struct seen seen = scan(dir);
    expect_seen(&seen, "- README.md not-a-log\n"
                       "- _SUCCESS not-a-log\n"
                       "+ a strange name, 100% <b>.log file 1\n"
                       "+ app-1 file 1\n"
                       "+ app-2.inprogress file 1\n"
                       "- app-3 empty\n"
                       "+ app-4.zstd file 1\n"
                       "+ app-5.zstd.inprogress file 1\n"
                       "+ bad-first-line file 1\n"
                       "+ blanks file 1\n"
                       "- core not-a-log\n"
                       "- labels.json not-a-log\n"
                       "- notes not-a-log\n"
                       "- server.log not-a-log\n"
                       "- words.zstd not-a-log\n"
                       "+ zeros file 1\n");
    const struct log_entry *running = &seen.entries[2];
    assert_string_equal(running->id_from_name, "app-2");
    assert_false(running->finished_name);
    assert_string_equal(seen.entries[3].id_from_name, "app-4");
    assert_true(seen.entries[3].finished_name);
    assert_string_equal(running->files[0].path, running->path);
    assert_string_equal(running->files[0].name, "app-2.inprogress");
    assert_int_equal(running->files[0].roll_index, UNKNOWN);
    assert_int_equal(running->bytes, sizeof EVENT - 1 + 4);
    assert_string_equal(running->dir, dir);
    seen_dispose(&seen);
    buf_dispose(&zstd);
    buf_dispose(&garbage);
    buf_dispose(&late);
}

static void the_finished_file_stands_for_its_in_progress_file(void **state)
{
    (void)state;
    put("app-1", EVENT EVENT);
    put("app-1-2", EVENT);
    put("app-1.inprogress", EVENT);
    put("app-2", "a copy that is not there yet\n");
    put("app-2.inprogress", EVENT);
    struct seen seen = scan(dir);
    expect_seen(&seen, "+ app-1 file 1\n+ app-1-2 file 1\n- app-2 not-a-log\n+ app-2.inprogress file 1\n");
    assert_int_equal(seen.entries[0].remarks, ENTRY_SUPERSEDES_INPROGRESS);
    assert_int_equal(seen.entries[1].remarks, 0);
    seen_dispose(&seen);
}

static void links_pipes_and_loops_end_and_are_named(void **state)
{
    (void)state;
    make_directory("sub");
    put("sub/app-1", EVENT);
    assert_int_equal(symlink("..", in_dir(dir, "sub/up")), 0);
    assert_int_equal(symlink("self", in_dir(dir, "self")), 0);
    assert_int_equal(symlink("nowhere", in_dir(dir, "dangling")), 0);
    assert_int_equal(symlink("sub/app-1", in_dir(dir, "linked")), 0);
    assert_int_equal(mkfifo(in_dir(dir, "pipe"), 0600), 0);
    struct seen seen = scan(dir);
    expect_seen(&seen, "- dangling not-a-log\n+ linked file 1\n- pipe not-a-log\n- self not-a-log\n- sub/up not-a-log\n");     /* app-1 is linked's file */
    seen_dispose(&seen);
    seen = scan(in_dir(dir, "pipe"));
    expect_seen(&seen, "- . not-a-log\n");
    seen_dispose(&seen);
    struct log_scan what = {.context = &seen, .on_entry = on_entry, .on_reject = on_reject};
    struct err err;
    assert_int_equal(log_scan(in_dir(dir, "absent"), &what, &err), ERR_NOT_FOUND);
}

static void a_file_without_permission_is_unreadable(void **state)
{
    (void)state;
    if (getuid() == 0)
        skip();
    put("app-1", EVENT);
    assert_int_equal(chmod(in_dir(dir, "app-1"), 0), 0);
    struct seen seen = scan(dir);
    expect_seen(&seen, "- app-1 unreadable\n");
    seen_dispose(&seen);
}

static void directories_are_walked_so_deep_and_no_deeper(void **state)
{
    (void)state;
    char path[200] = "d";
    make_directory(path);
    for (int i = 1; i < LOG_SCAN_MAX_DEPTH + 1; i++) {
        strcat(path, "/d");
        make_directory(path);
    }
    make_directory("app-20260101000047-7047");
    make_directory("nothing");
    make_directory(".hidden");
    put(".hidden/app-1", EVENT);
    struct seen seen = scan(dir);
    expect_seen(&seen, "- app-20260101000047-7047 not-a-log\n- d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d not-a-log\n");
    seen_dispose(&seen);
    seen = scan(in_dir(dir, "app-20260101000047-7047"));
    expect_seen(&seen, "- . not-a-log\n");
    seen_dispose(&seen);
}

#define ROLL "eventlog_v2_app-1/"

static void rolling_files_are_ordered_by_number_and_the_last_compact_one_wins(void **state)
{
    (void)state;
    make_directory(ROLL);
    make_directory(ROLL "events_13_dir");
    static const char *const names[] = {"appstatus_app-1", ".appstatus_app-1.crc", "events_1_app-1.zstd", "events_2_app-1.zstd", "events_2_app-1.zstd.compact",
        "events_9_app-1.zstd", "events_9_app-1.zstd.compact", "events_10_app-1.zstd",
        "events_11_app-1.zstd.compact.inprogress", "events_zz_x", "events_12_app-1.zstd", "notes.txt"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        char path[200];
        snprintf(path, sizeof path, ROLL "%s", names[i]);
        put(path, i ? EVENT : "");
    }
    struct seen seen = scan(dir);
    expect_seen(&seen, "+ eventlog_v2_app-1 rolling 3\n");
    const struct log_entry *entry = &seen.entries[0];
    assert_string_equal(entry->files[0].name, "events_9_app-1.zstd.compact");
    assert_true(entry->files[0].compact);
    assert_int_equal(entry->files[0].roll_index, 9);
    assert_string_equal(entry->files[1].name, "events_10_app-1.zstd");
    assert_string_equal(entry->files[2].name, "events_12_app-1.zstd");
    assert_int_equal(entry->missing_count, 1);
    assert_int_equal(entry->missing[0], 11);
    assert_int_equal(entry->remarks, ENTRY_COMPACTED | ENTRY_GAP);
    assert_true(entry->finished_name);
    assert_string_equal(entry->id_from_name, "app-1");
    assert_string_equal(entry->dir, dir);
    seen_dispose(&seen);
}

static void what_a_rolling_directory_lacks_is_remarked(void **state)
{
    (void)state;
    make_directory(ROLL);
    put(ROLL "events_3_app-1", EVENT);
    put(ROLL "events_4_app-1", EVENT);
    struct seen seen = scan(in_dir(dir, "eventlog_v2_app-1"));
    expect_seen(&seen, "+  rolling 2\n");
    assert_int_equal(seen.entries[0].missing_count, 2);
    assert_int_equal(seen.entries[0].missing[0], 1);
    assert_int_equal(seen.entries[0].missing[1], 2);
    assert_int_equal(seen.entries[0].remarks, ENTRY_GAP | ENTRY_NO_APPSTATUS);
    assert_false(seen.entries[0].finished_name);
    char before[LOG_FINGERPRINT_BYTES];
    memcpy(before, seen.entries[0].fingerprint, sizeof before);
    seen_dispose(&seen);
    put(ROLL "appstatus_app-1.inprogress", "");
    seen = scan(dir);
    assert_int_equal(seen.entries[0].remarks, ENTRY_GAP);
    assert_false(seen.entries[0].finished_name);
    seen_dispose(&seen);
    put(ROLL "appstatus_app-1", "");
    seen = scan(dir);
    assert_int_equal(seen.entries[0].remarks, ENTRY_GAP | ENTRY_BOTH_APPSTATUS);
    assert_true(seen.entries[0].finished_name);
    assert_string_not_equal(seen.entries[0].fingerprint, before);
    seen_dispose(&seen);
    /* Renamed by hand: still a rolling log. */
    assert_int_equal(rename(in_dir(dir, "eventlog_v2_app-1"), in_dir(dir, "copy")), 0);
    seen = scan(dir);
    expect_seen(&seen, "+ copy rolling 2\n");
    assert_string_equal(seen.entries[0].id_from_name, "app-1");
    seen_dispose(&seen);
}

static void a_huge_gap_is_listed_up_to_a_thousand(void **state)
{
    (void)state;
    make_directory(ROLL);
    put(ROLL "events_1_app-1", EVENT);
    put(ROLL "events_9223372036854775807_app-1", EVENT);
    put(ROLL "events_9223372036854775808_app-1", EVENT);      /* no 64-bit number */
    put(ROLL "events_-1_app-1", EVENT);
    struct seen seen = scan(dir);
    expect_seen(&seen, "+ eventlog_v2_app-1 rolling 2\n");
    assert_int_equal(seen.entries[0].missing_count, 1000);
    assert_int_equal(seen.entries[0].missing[999], 1001);
    seen_dispose(&seen);
}

static void rolling_directories_without_text_are_empty(void **state)
{
    (void)state;
    make_directory(ROLL);
    make_directory("eventlog_v2_app-2");
    put(ROLL "appstatus_app-1.inprogress", "");
    put(ROLL "events_1_app-1", "");
    struct seen seen = scan(dir);
    expect_seen(&seen, "- eventlog_v2_app-1 empty\n- eventlog_v2_app-2 empty\n");
    seen_dispose(&seen);
}

static void a_legacy_directory_is_one_log(void **state)
{
    (void)state;
    make_directory("spark-pi-1415000000000");
    put("spark-pi-1415000000000/EVENT_LOG_1", "{\"Event\":\"SparkListenerApplicationStart\"}\n");
    put("spark-pi-1415000000000/SPARK_VERSION_1.1.0", "");
    put("spark-pi-1415000000000/COMPRESSION_CODEC_org.apache.spark.io.SnappyCompressionCodec", "");
    struct seen seen = scan(dir);
    expect_seen(&seen, "+ spark-pi-1415000000000 legacy 1\n");
    assert_string_equal(seen.entries[0].files[0].name, "EVENT_LOG_1");
    assert_string_equal(seen.entries[0].id_from_name, "spark-pi-1415000000000");
    assert_false(seen.entries[0].finished_name);
    seen_dispose(&seen);
    put("spark-pi-1415000000000/APPLICATION_COMPLETE", "");
    seen = scan(dir);
    assert_true(seen.entries[0].finished_name);
    seen_dispose(&seen);
}

static void databricks_parts_are_one_log_in_time_order(void **state)
{
    (void)state;
    make_directory("db");
    put("db/eventlog", EVENT);
    put("db/eventlog-2026-01-02--03-00.gz", EVENT);
    put("db/eventlog-2025-12-31--23-00.gz", EVENT);
    put("db/stderr", "noise\n");
    put("eventlog_dsv2", EVENT);                /* names that only begin so are logs by themselves */
    put("eventlog_other.zstd", EVENT);
    put("eventlog", EVENT);
    struct seen seen = scan(dir);
    expect_seen(&seen, "+ db databricks 3\n- db/stderr not-a-log\n+ eventlog file 1\n+ eventlog_dsv2 file 1\n+ eventlog_other.zstd file 1\n");
    assert_string_equal(seen.entries[0].files[0].name, "eventlog-2025-12-31--23-00.gz");
    assert_string_equal(seen.entries[0].files[1].name, "eventlog-2026-01-02--03-00.gz");
    assert_string_equal(seen.entries[0].files[2].name, "eventlog");
    seen_dispose(&seen);
}

/* ---- zip */

static void put_zip(const char *path, const char *const *members, size_t count)
{
    struct archive *archive = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    archive_write_set_format_zip(archive);
    assert_int_equal(archive_write_open_filename(archive, path), ARCHIVE_OK);
    for (size_t i = 0; i < count; i += 2) {
        size_t len = strlen(members[i]), text_len = strlen(members[i + 1]);
        archive_entry_clear(entry);
        archive_entry_set_pathname(entry, members[i]);
        archive_entry_set_filetype(entry, members[i][len - 1] == '/' ? AE_IFDIR : AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)text_len);
        assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
        assert_int_equal(archive_write_data(archive, members[i + 1], text_len), text_len);
    }
    archive_entry_free(entry);
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    archive_write_free(archive);
}

static struct buf read_entry(const struct log_entry *entry)
{
    struct buf text = buf_new();
    struct line_reader *reader;
    struct line_block *block;
    assert_int_equal(line_reader_open(&reader, entry, NULL), ERR_OK);
    while (line_reader_next(reader, &block, NULL) == ERR_OK) {
        buf_append(&text, block->text, block->len);
        line_block_free(block);
    }
    line_reader_close(reader);
    buf_char(&text, '\0');
    return text;
}

static void a_zip_archive_holds_one_log_an_attempt(void **state)
{
    (void)state;
    static const char *const members[] = {
        "application_1_2.inprogress", EVENT "two\n", "application_1_1", EVENT "one\n", "eventlog_v2_app-9/", "", "eventlog_v2_app-9/appstatus_app-9", "",
        "eventlog_v2_app-9/events_10_app-9", "{\"Event\":\"ten\"}\n", "eventlog_v2_app-9/events_1_app-9", "{\"Event\":\"1\"}\n",
        "eventlog_v2_app-9/events_2_app-9", "{\"Event\":\"2\"}\n",
        "../../../etc/passwd", EVENT, "readme.txt", "text\n", "empty", "", "eventlog_v2_none/", "",
    };
    put_zip(in_dir(dir, "logs.zip"), members, ARRAY_LENGTH(members));
    struct seen seen = scan(dir);
    expect_seen(&seen, "+ logs.zip//application_1_2.inprogress zip 1\n+ logs.zip//application_1_1 zip 1\n+ logs.zip//../../../etc/passwd zip 1\n"
                       "+ logs.zip//eventlog_v2_app-9 zip 3\n- logs.zip//eventlog_v2_none empty\n");
    assert_string_equal(seen.entries[0].id_from_name, "application_1_2");
    assert_false(seen.entries[0].finished_name);
    assert_string_equal(seen.entries[0].dir, dir);
    const struct log_entry *rolling = &seen.entries[3];
    assert_string_equal(rolling->id_from_name, "app-9");
    assert_true(rolling->finished_name);
    assert_int_equal(rolling->missing_count, 7);
    assert_string_equal(rolling->files[2].member, "eventlog_v2_app-9/events_10_app-9");
    assert_string_equal(rolling->files[2].name, "events_10_app-9");
    struct buf text = read_entry(rolling);
    assert_string_equal(text.data, "{\"Event\":\"1\"}\n{\"Event\":\"2\"}\n{\"Event\":\"ten\"}\n");
    buf_dispose(&text);
    text = read_entry(&seen.entries[1]);
    assert_string_equal(text.data, EVENT "one\n");
    buf_dispose(&text);
    char *tail;
    size_t len;
    assert_int_equal(line_reader_tail(&seen.entries[1], 4, &tail, &len, NULL), ERR_OK);
    assert_string_equal(tail, "one\n");
    mem_free(tail);
    /* A known log again, by its path. */
    struct log_entry again;
    assert_int_equal(log_entry_probe(rolling->path, &again, NULL), ERR_OK);
    assert_string_equal(again.path, rolling->path);
    assert_string_equal(again.fingerprint, rolling->fingerprint);
    log_entry_dispose(&again);
    assert_int_equal(log_entry_probe(in_dir(dir, "logs.zip//nothing"), &again, NULL), ERR_NOT_FOUND);
    seen_dispose(&seen);
}

static void zip_archives_without_logs_and_broken_ones_are_named(void **state)
{
    (void)state;
    static const char *const text[] = {"a.txt", "words\n"};
    static const char *const log[] = {"app-1", EVENT EVENT EVENT EVENT};
    put_zip(in_dir(dir, "text.zip"), text, 2);
    put_bytes(in_dir(dir, "broken.zip"), "PK\3\4 and then something else", 29, "wb");
    put_zip(in_dir(dir, "whole"), log, 2);
    struct seen seen = scan(dir);
    expect_seen(&seen, "- broken.zip not-a-log\n- text.zip not-a-log\n+ whole//app-1 zip 1\n");
    seen_dispose(&seen);
    /* A download that broke off: what is there is read. */
    struct stat st;
    assert_int_equal(stat(in_dir(dir, "whole"), &st), 0);
    assert_int_equal(truncate(in_dir(dir, "whole"), st.st_size - 60), 0);
    seen = scan(in_dir(dir, "whole"));
    assert_int_equal(seen.count, 1);
    struct buf lines = read_entry(&seen.entries[0]);
    assert_memory_equal(lines.data, EVENT, sizeof EVENT - 1);
    buf_dispose(&lines);
    seen_dispose(&seen);
}

/* ---- probe and the rest */

static void a_known_log_is_looked_at_again_by_its_path(void **state)
{
    (void)state;
    struct log_entry entry;
    struct err err;
    put("app-1.inprogress", EVENT);
    assert_int_equal(log_entry_probe(in_dir(dir, "app-1.inprogress"), &entry, &err), ERR_OK);
    assert_false(entry.finished_name);
    log_entry_dispose(&entry);
    assert_int_equal(rename(in_dir(dir, "app-1.inprogress"), in_dir(dir, "app-1")), 0);
    assert_int_equal(log_entry_probe(in_dir(dir, "app-1.inprogress"), &entry, &err), ERR_OK);
    assert_string_equal(entry.path, in_dir(dir, "app-1"));
    assert_true(entry.finished_name);
    log_entry_dispose(&entry);
    put("app-1", "");
    assert_int_equal(log_entry_probe(in_dir(dir, "app-1"), &entry, &err), ERR_INVALID);
    assert_null(entry.path);
    assert_int_equal(log_entry_probe(in_dir(dir, "app-2"), &entry, &err), ERR_NOT_FOUND);
    assert_int_equal(log_entry_probe(dir, &entry, &err), ERR_INVALID);       /* a directory of logs is none itself */
    make_directory(ROLL);
    put(ROLL "events_1_app-1", EVENT);
    assert_int_equal(log_entry_probe(in_dir(dir, "eventlog_v2_app-1"), &entry, &err), ERR_OK);
    assert_int_equal(entry.layout, LAYOUT_ROLLING);
    log_entry_dispose(&entry);
}

static void what_was_found_to_be_no_log_needs_no_look_either(void **state)
{
    (void)state;
    put("README", "no log\n");
    struct seen first = scan(dir);
    expect_seen(&first, "- README not-a-log\n");
    assert_true(first.rejected[0]);
    struct seen second = {.lines = buf_new(), .root = dir, .known = first.rejected, .known_reason = "remembered"};
    struct log_scan what = {.context = &second, .on_entry = on_entry, .on_reject = on_reject, .is_known = is_known};
    assert_int_equal(log_scan(dir, &what, NULL), ERR_OK);
    expect_seen(&second, "- README not-a-log\n");
    assert_string_equal(second.reason, "remembered");
    seen_dispose(&first);
    seen_dispose(&second);
}

static void fingerprints_change_with_the_log_and_known_ones_need_no_look(void **state)
{
    (void)state;
    put("app-1", EVENT);
    struct seen first = scan(dir), second = scan(dir);
    assert_string_equal(first.entries[0].fingerprint, second.entries[0].fingerprint);
    seen_dispose(&second);
    /* The first bytes are not looked at when the fingerprint is known: the same size and time with other content passes. */
    struct stat st;
    assert_int_equal(stat(in_dir(dir, "app-1"), &st), 0);
    char filler[sizeof EVENT];
    memset(filler, 'x', sizeof filler);
    FILE *file = fopen(in_dir(dir, "app-1"), "r+b");
    fwrite(filler, 1, sizeof EVENT - 1, file);
    fclose(file);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, in_dir(dir, "app-1"), times, 0), 0);
    struct seen third = {.lines = buf_new(), .root = dir, .known = first.entries[0].fingerprint};
    struct log_scan what = {.context = &third, .on_entry = on_entry, .on_reject = on_reject, .is_known = is_known};
    assert_int_equal(log_scan(dir, &what, NULL), ERR_OK);
    expect_seen(&third, "+ app-1 file 1\n");
    seen_dispose(&third);
    put_bytes(in_dir(dir, "app-1"), EVENT, sizeof EVENT - 1, "ab");
    third = (struct seen){.lines = buf_new(), .root = dir, .known = first.entries[0].fingerprint};
    what.context = &third;
    assert_int_equal(log_scan(dir, &what, NULL), ERR_OK);
    assert_string_not_equal(third.entries[0].fingerprint, first.entries[0].fingerprint);
    seen_dispose(&third);
    seen_dispose(&first);
}

static void single_files_that_are_as_before_are_passed_over(void **state)
{
    (void)state;
    put("app-1", EVENT);
    put("app-2.inprogress", EVENT);
    put("app-3", EVENT);
    put("app-3.inprogress", EVENT);
    put("README", "no log\n");
    make_directory("eventlog_v2_app-4");
    put("eventlog_v2_app-4/events_1_app-4", EVENT);
    put("eventlog_v2_app-4/appstatus_app-4", "");
    struct seen first = scan(dir);
    expect_seen(&first, "- README not-a-log\n+ app-1 file 1\n+ app-2.inprogress file 1\n+ app-3 file 1\n+ eventlog_v2_app-4 rolling 1\n");
    put_bytes(in_dir(dir, "app-2.inprogress"), EVENT, sizeof EVENT - 1, "ab");
    assert_int_equal(unlink(in_dir(dir, "app-3.inprogress")), 0);
    struct passing passing = {.seen = {.lines = buf_new(), .root = dir}, .before = &first};
    struct log_scan what = {.context = &passing, .on_entry = on_entry, .on_reject = on_reject, .pass_over = pass_over};
    assert_int_equal(log_scan(dir, &what, NULL), ERR_OK);
    /* What grew, what lost the file beside it, and what are several files is told again. */
    expect_seen(&passing.seen, "- README not-a-log\n+ app-2.inprogress file 1\n+ app-3 file 1\n+ eventlog_v2_app-4 rolling 1\n");
    assert_int_equal(passing.passed_count, 1);
    seen_dispose(&passing.seen);
    seen_dispose(&first);
}

static void paths_are_absolute_and_as_the_user_wrote_them(void **state)
{
    (void)state;
    char before[1024], odd[1100];
    struct log_entry entry;
    assert_non_null(getcwd(before, sizeof before));
    make_directory("real");
    put("real/app-1", EVENT);
    assert_int_equal(symlink("real", in_dir(dir, "link")), 0);
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(log_entry_probe("./link/./app-1", &entry, NULL), ERR_OK);
    assert_int_equal(chdir(before), 0);
    assert_string_equal(entry.path, in_dir(dir, "link/app-1"));
    assert_string_equal(entry.dir, in_dir(dir, "real"));
    log_entry_dispose(&entry);
    snprintf(odd, sizeof odd, "%s//link/", dir);
    struct seen seen = {.lines = buf_new(), .root = in_dir(dir, "link")};
    struct log_scan what = {.context = &seen, .on_entry = on_entry, .on_reject = on_reject};
    assert_int_equal(log_scan(odd, &what, NULL), ERR_OK);
    expect_seen(&seen, "+ app-1 file 1\n");
    seen_dispose(&seen);
}

static void a_callback_can_stop_the_scan(void **state)
{
    (void)state;
    put("app-1", EVENT);
    put("app-2", EVENT);
    struct seen seen = {.lines = buf_new(), .root = dir, .stop_after = 1};
    struct log_scan what = {.context = &seen, .on_entry = on_entry, .on_reject = on_reject};
    assert_int_equal(log_scan(dir, &what, NULL), ERR_CANCELLED);
    expect_seen(&seen, "+ app-1 file 1\n");
    seen_dispose(&seen);
}

static void names_are_split_into_id_codec_and_state(void **state)
{
    (void)state;
    static const struct {
        const char *name, *id;
        bool codec, in_progress, compact;
    } names[] = {
        {"local-1422981759269", "local-1422981759269", false, false, false},
        {"application_1553914137147_0018_1.zstd", "application_1553914137147_0018_1", true, false, false},
        {"spark-110be3a8424d4a2789cb88134418217b.lz4.inprogress", "spark-110be3a8424d4a2789cb88134418217b", true, true, false},
        {"x.zstd.compact", "x", true, false, true},
        {"x.inprogress.gz", "x", true, true, false},
        {"my.app.log", "my.app.log", false, false, false},
        {".zstd", ".zstd", false, false, false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        struct log_name split = log_name_split(names[i].name);
        assert_true(str_is(split.id, names[i].id));
        assert_int_equal(split.codec != NULL, names[i].codec);
        assert_int_equal(split.in_progress, names[i].in_progress);
        assert_int_equal(split.compact, names[i].compact);
    }
    assert_int_equal(log_name_databricks("eventlog"), 0);
    assert_int_equal(log_name_databricks("eventlog-2026-01-02--03-00.gz"), 1);
    assert_int_equal(log_name_databricks("eventlog-2026-01-02--03-00"), 1);
    assert_int_equal(log_name_databricks("eventlog-2026"), -1);
    assert_int_equal(log_name_databricks("eventlog_v2_x"), -1);
}

/* The shared corpus: every log in it and nothing else, each readable from its first record to its last. */
static void the_shared_corpus_is_found_whole(void **state)
{
    (void)state;
    /* Files outside rolling directories, and rolling directories, counted with find. */
    static const struct {
        const char *version;
        int files, rolling;
    } parts[] = {{"3.5.7", 45, 7}, {"4.3.0", 27, 8}};
    const char *shared = shared_directory();
    char path[1100], resolved[4096];
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        snprintf(path, sizeof path, "%s/logs/%s", shared ? shared : "", parts[i].version);
        if (!shared || !realpath(path, resolved))
            skip();
        struct seen seen = scan(resolved);
        int files = 0, rolling = 0;
        for (size_t k = 0; k < seen.count; k++) {
            const struct log_entry *entry = &seen.entries[k];
            struct buf text = read_entry(entry);
            files += entry->layout == LAYOUT_FILE;
            rolling += entry->layout == LAYOUT_ROLLING;
            assert_true(text.len > 1);
            assert_memory_equal(text.data, "{\"Event\":\"SparkListenerLogStart\"", 32);
            if (entry->finished_name) {
                char *tail;
                size_t len;
                assert_non_null(strstr(text.data, "\n{\"Event\":\"SparkListenerApplicationEnd\""));
                assert_int_equal(line_reader_tail(entry, 1 << 16, &tail, &len, NULL), ERR_OK);
                assert_memory_equal(tail, text.data + text.len - 1 - len, len);
                mem_free(tail);
            }
            buf_dispose(&text);
        }
        assert_int_equal(files, parts[i].files);
        assert_int_equal(rolling, parts[i].rolling);
        assert_int_equal(files + rolling, seen.count);
        if (seen.lines.data)
            assert_null(strstr(seen.lines.data, "\n- "));
        seen_dispose(&seen);
    }
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    static const char *const members[] = {"application_1_2", EVENT, "eventlog_v2_app-9/events_10_app-9", EVENT, "eventlog_v2_app-9/events_1_app-9", EVENT};
    make_directory(ROLL);
    make_directory("legacy");
    put(ROLL "events_1_app-1", EVENT);
    put(ROLL "events_5_app-1", EVENT);
    put("legacy/EVENT_LOG_1", EVENT);
    put("app-1", EVENT);
    put("app-1.inprogress", EVENT);
    put_zip(in_dir(dir, "logs.zip"), members, ARRAY_LENGTH(members));
    for (uint64_t n = 1;; n++) {
        struct seen seen = {.lines = buf_new(), .root = dir};
        buf_append(&seen.lines, "", 0);
        assert_true(buf_reserve(&seen.lines, 10000));       /* the test's own allocations are not walked */
        struct log_scan what = {.context = &seen, .on_entry = on_entry, .on_reject = on_reject};
        mem_fail_at(n, 0);
        enum err_code rc = log_scan(dir, &what, NULL);
        bool finished = mem_alloc_count() < n;
        mem_fail_at(0, 0);
        assert_int_equal(rc, finished ? ERR_OK : ERR_NOMEM);
        if (finished)
            assert_int_equal(seen.count, 5);
        seen_dispose(&seen);
        if (finished)
            break;
    }
    for (uint64_t n = 1;; n++) {
        struct log_entry entry;
        mem_fail_at(n, 0);
        enum err_code rc = log_entry_probe(in_dir(dir, "app-1.inprogress"), &entry, NULL);
        bool finished = mem_alloc_count() < n;
        mem_fail_at(0, 0);
        assert_int_equal(rc, finished ? ERR_OK : ERR_NOMEM);
        log_entry_dispose(&entry);
        if (finished)
            break;
    }
}

#define TEST_IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, drop_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_DIR(single_files_are_judged_by_their_first_bytes),
        TEST_IN_DIR(the_finished_file_stands_for_its_in_progress_file),
        TEST_IN_DIR(links_pipes_and_loops_end_and_are_named),
        TEST_IN_DIR(a_file_without_permission_is_unreadable),
        TEST_IN_DIR(directories_are_walked_so_deep_and_no_deeper),
        TEST_IN_DIR(rolling_files_are_ordered_by_number_and_the_last_compact_one_wins),
        TEST_IN_DIR(what_a_rolling_directory_lacks_is_remarked),
        TEST_IN_DIR(a_huge_gap_is_listed_up_to_a_thousand),
        TEST_IN_DIR(rolling_directories_without_text_are_empty),
        TEST_IN_DIR(a_legacy_directory_is_one_log),
        TEST_IN_DIR(databricks_parts_are_one_log_in_time_order),
        TEST_IN_DIR(a_zip_archive_holds_one_log_an_attempt),
        TEST_IN_DIR(zip_archives_without_logs_and_broken_ones_are_named),
        TEST_IN_DIR(a_known_log_is_looked_at_again_by_its_path),
        TEST_IN_DIR(what_was_found_to_be_no_log_needs_no_look_either),
        TEST_IN_DIR(fingerprints_change_with_the_log_and_known_ones_need_no_look),
        TEST_IN_DIR(single_files_that_are_as_before_are_passed_over),
        TEST_IN_DIR(paths_are_absolute_and_as_the_user_wrote_them),
        TEST_IN_DIR(a_callback_can_stop_the_scan),
        cmocka_unit_test(names_are_split_into_id_codec_and_state),
        cmocka_unit_test(the_shared_corpus_is_found_whole),
        TEST_IN_DIR(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
