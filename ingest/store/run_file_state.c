/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/run_file_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/db.h"

#define PATH_BYTES 4400
#define HEAD_BYTES 100

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* SQLite's file format, 1.3: page size at 16 (1 is 65536), number of pages at 28, which holds when the change counter at 24 is that at 92; user_version at 60, application_id at 68. */
static bool is_whole(const unsigned char *head, int64_t file_bytes)
{
    int64_t page_bytes = head[16] << 8 | head[17];
    bool counted = big_endian(head + 24) == big_endian(head + 92);
    return !counted || file_bytes >= (page_bytes == 1 ? 65536 : page_bytes) * (int64_t)big_endian(head + 28);
}

static enum run_file_state look_inside(const char *path)
{
    struct db db;
    enum err_code rc = db_open(&db, path, DB_READ, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL);
    if (!rc)
        db_close(&db);
    return !rc ? RUN_FILE_GOOD : rc == ERR_UNSUPPORTED ? RUN_FILE_OTHER_VERSION : rc == ERR_CORRUPT || rc == ERR_INVALID || rc == ERR_NOT_FOUND ? RUN_FILE_DAMAGED : RUN_FILE_MISSING;
}

enum run_file_state run_file_look(const char *store_dir, const char *app_key)
{
    char path[PATH_BYTES];
    unsigned char head[HEAD_BYTES];
    struct stat file;
    snprintf(path, sizeof path, "%s/apps/%s.db", store_dir, app_key);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return RUN_FILE_MISSING;
    ssize_t got = fstat(fd, &file) ? -1 : pread(fd, head, sizeof head, 0);
    close(fd);
    if (got != (ssize_t)sizeof head || big_endian(head + 60) != DB_APP_VERSION || big_endian(head + 68) != DB_APP_ID)
        return look_inside(path);
    return is_whole(head, file.st_size) ? RUN_FILE_GOOD : RUN_FILE_DAMAGED;
}

enum err_code run_file_set_aside(const char *store_dir, const char *app_key, struct err *err)
{
    static const char *const companions[] = {"-wal", "-shm", ""};
    char from[PATH_BYTES], to[PATH_BYTES];
    snprintf(to, sizeof to, "%s/damaged", store_dir);
    if (mkdir(to, 0777) && errno != EEXIST)
        return err_set_errno(err, errno, "cannot make %s", to);
    for (size_t i = 0; i < ARRAY_LENGTH(companions); i++) {
        snprintf(from, sizeof from, "%s/apps/%s.db%s", store_dir, app_key, companions[i]);
        snprintf(to, sizeof to, "%s/damaged/%s.db%s", store_dir, app_key, companions[i]);
        if (rename(from, to) && (errno != ENOENT || !companions[i][0]))
            return err_set_errno(err, errno, "cannot set %s.db aside", app_key);
    }
    return ERR_OK;
}

enum err_code run_file_settle(const char *path, struct err *err)
{
    struct db db;
    enum err_code rc = db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, err);
    return rc ? rc : db_seal(&db, err);
}
