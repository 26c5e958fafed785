/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "base/units.h"

struct store_usage_watch {
    const char *store_dir; /* borrowed */
    pthread_mutex_t lock;  /* of `found` */
    pthread_mutex_t look;  /* who has it looks */
    struct store_usage found;
    int64_t fresh_until_ns; /* monotonic; 0: nothing was found yet */
};

enum err_code store_usage_new(struct store_usage_watch **ret, const char *store_dir, struct err *err)
{
    struct store_usage_watch *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->store_dir = store_dir;
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->look, NULL);
    return ERR_OK;
}

void store_usage_free(struct store_usage_watch *self)
{
    if (!self)
        return;
    pthread_mutex_destroy(&self->look);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}

static void note_largest(struct store_usage *usage, struct str key, int64_t bytes)
{
    size_t at = usage->largest_count;
    if (key.len >= STORE_USAGE_KEY_BYTES || (at == STORE_USAGE_LARGEST && bytes <= usage->largest[at - 1].bytes))
        return;
    if (at == STORE_USAGE_LARGEST)
        at--;
    else
        usage->largest_count++;
    for (; at > 0 && usage->largest[at - 1].bytes < bytes; at--)
        usage->largest[at] = usage->largest[at - 1];
    memcpy(usage->largest[at].key, key.ptr, key.len);
    usage->largest[at].key[key.len] = '\0';
    usage->largest[at].bytes = bytes;
}

/* Blocks that are there, not lengths: a database may have holes. */
static int64_t disk_bytes(const struct stat *st)
{
    return (int64_t)st->st_blocks * 512;
}

static void look_at_runs(const char *store_dir, struct store_usage *usage)
{
    static const char ending[] = ".db";
    char path[4096];
    snprintf(path, sizeof path, "%s/apps", store_dir);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        struct stat st;
        struct str name = str_of(entry->d_name);
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        usage->run_bytes += disk_bytes(&st);
        if (!str_ends(name, ending) || str_ends(name, ".loading.db"))
            continue;
        usage->run_count++;
        note_largest(usage, (struct str){name.ptr, name.len - strlen(ending)}, disk_bytes(&st));
    }
    closedir(dir);
}

/* Files of one directory of the store whose names begin like that; the companions of a database count with it. */
static void look_aside(const char *store_dir, const char *below, const char *beginning, struct store_usage *usage)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", store_dir, below);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        struct stat st;
        struct str name = str_of(entry->d_name);
        if (!str_starts(name, beginning) || fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        usage->aside_bytes += disk_bytes(&st);
        if (str_ends(name, "-wal") || str_ends(name, "-shm"))
            continue;
        if (usage->aside_count < STORE_USAGE_ASIDE)
            snprintf(usage->aside[usage->aside_count], STORE_USAGE_KEY_BYTES, "%s%s%.200s", below, *below ? "/" : "", entry->d_name);
        usage->aside_count++;
    }
    closedir(dir);
}

static void look(const char *store_dir, struct store_usage *ret)
{
    static const char *const files[] = {"catalog.db", "catalog.db-wal", "catalog.db-shm"};
    char path[4096];
    struct stat st;
    struct statvfs disk;
    *ret = (struct store_usage){.measured_ms = time_now_ms(), .free_bytes = UNKNOWN};
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        snprintf(path, sizeof path, "%s/%s", store_dir, files[i]);
        if (stat(path, &st) == 0)
            ret->catalog_bytes += disk_bytes(&st);
    }
    if (statvfs(store_dir, &disk) == 0)
        ret->free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    look_at_runs(store_dir, ret);
    look_aside(store_dir, "damaged", "", ret);
    look_aside(store_dir, "", "catalog.db.old-", ret);
}

/* True: it is fresh. */
static bool copy_found(struct store_usage_watch *self, struct store_usage *ret)
{
    pthread_mutex_lock(&self->lock);
    *ret = self->found;
    bool fresh = time_monotonic_ns() < self->fresh_until_ns;
    pthread_mutex_unlock(&self->lock);
    return fresh;
}

void store_usage_get(struct store_usage_watch *self, struct store_usage *ret)
{
    if (copy_found(self, ret))
        return;
    if (!ret->measured_ms) /* nothing to give meanwhile */
        pthread_mutex_lock(&self->look);
    else if (pthread_mutex_trylock(&self->look))
        return;
    if (!copy_found(self, ret)) {
        int64_t begin_ns = time_monotonic_ns();
        look(self->store_dir, ret);
        int64_t end_ns = time_monotonic_ns();
        pthread_mutex_lock(&self->lock);
        self->found = *ret;
        self->fresh_until_ns = end_ns + MAX((int64_t)STORE_USAGE_KEEP_MS * NS_PER_MS, (end_ns - begin_ns) * STORE_USAGE_KEEP_TIMES);
        pthread_mutex_unlock(&self->lock);
    }
    pthread_mutex_unlock(&self->look);
}
