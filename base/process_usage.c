/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process_usage.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

#define STAT_BYTES 1024

static int64_t resident_bytes_of(const char *statm)
{
    long long pages = 0;
    FILE *file = fopen(statm, "re");
    bool read = file && fscanf(file, "%*d %lld", &pages) == 1;
    if (file)
        fclose(file);
    return read ? (int64_t)pages * sysconf(_SC_PAGESIZE) : UNKNOWN;
}

int64_t process_resident_bytes(void)
{
    return known_or(resident_bytes_of("/proc/self/statm"), 0);
}

/* proc(5): utime and stime are the 14th and 15th field, num_threads the 20th; the second is a name that may hold anything, in brackets. */
static void read_stat(const char *path, struct process_usage *ret)
{
    char text[STAT_BYTES] = "";
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    const char *behind_name = strrchr(text, ')');
    long long user, system, threads;
    if (!behind_name || sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %*d %*d %*d %*d %lld", &user, &system, &threads) != 3)
        return;
    ret->cpu_ms = (int64_t)(user + system) * 1000 / sysconf(_SC_CLK_TCK);
    ret->thread_count = threads;
}

static int64_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return UNKNOWN;
    int64_t count = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

void process_usage(pid_t pid, struct process_usage *ret)
{
    char path[64];
    *ret = (struct process_usage){UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    ret->resident_bytes = resident_bytes_of(path);
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    read_stat(path, ret);
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    ret->open_file_count = count_entries(path);
}
