/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/worker_rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/confine.h"
#include "base/db.h"
#include "base/log.h"
#include "base/mem.h"
#include "ingest/store/catalog_arrivals.h"
#include "place/config.h"
#include "place/kerberos.h"
#include "place/place.h"

#define PATH_BYTES 4096

/* The directory of a file that others replace, by a rename or a link of theirs beside it: a right to the file alone would end with the next one. Of one that is not there yet, the nearest directory that is. */
static void allow_around(struct confine *confine, const char *file, int rights)
{
    char path[PATH_BYTES];
    struct stat st;
    if (!file || snprintf(path, sizeof path, "%s", file) >= (int)sizeof path)
        return;
    for (char *slash; (slash = strrchr(path, '/')) && slash > path;) {
        *slash = '\0';
        if (stat(path, &st) == 0) {
            confine_allow(confine, path, rights);
            return;
        }
    }
}

/* What libraries read as they please, whatever we do: themselves, zones of time, numbers of processors. */
static void allow_system(struct confine *confine)
{
    static const char *const read[] = {"/usr", "/lib", "/lib64", "/proc", "/sys/devices/system", "/sys/fs/cgroup", "/dev/null", "/dev/urandom"};
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++)
        confine_allow(confine, read[i], CONFINE_READ);
}

/* Names, certificates, Kerberos. */
static void allow_network(struct confine *confine)
{
    static const char *const read[] = {"/etc", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/var/lib/sss", "/var/lib/ca-certificates"};
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++)
        confine_allow(confine, read[i], CONFINE_READ);
}

/* The tickets: MIT Kerberos writes those that it gets with a keytab into the cache, by default /tmp/krb5cc_UID; krb5.conf may say /run/user/UID. Caches of other kinds (KEYRING:, KCM:) are no files. */
static void allow_tickets(struct confine *confine)
{
    const char *cache = getenv("KRB5CCNAME");
    char run[64];
    if (cache && strncmp(cache, "DIR:", 4) == 0 && cache[4] == '/') {
        confine_allow(confine, cache + 4, CONFINE_WRITE);
    } else if (cache) {
        allow_around(confine, strchr(cache, '/'), CONFINE_WRITE); /* a path, FILE:path, DIR::path */
    } else {
        snprintf(run, sizeof run, "/run/user/%ld", (long)getuid());
        confine_allow(confine, "/tmp", CONFINE_WRITE);
        confine_allow(confine, run, CONFINE_WRITE);
    }
    const char *keytab = getenv("KRB5_CLIENT_KTNAME");
    allow_around(confine, keytab ? strchr(keytab, '/') : NULL, CONFINE_READ);
    allow_around(confine, getenv("KRB5_CONFIG"), CONFINE_READ);
}

static void allow_identity(struct confine *confine)
{
    static const char *const variables[] = {"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE"};
    static const char *const settings[] = {"afterglow.hdfs.tokenFile", "afterglow.places.caFile"};
    char path[PATH_BYTES];
    const char *home = getenv("HOME");
    for (size_t i = 0; i < ARRAY_LENGTH(variables); i++)
        allow_around(confine, getenv(variables[i]), CONFINE_READ);
    for (size_t i = 0; i < ARRAY_LENGTH(settings); i++)
        allow_around(confine, place_config(settings[i]), CONFINE_READ);
    if (home && snprintf(path, sizeof path, "%s/.aws", home) < (int)sizeof path)
        confine_allow(confine, path, CONFINE_READ);
    if (kerberos_is_on())
        allow_tickets(confine);
}

/* A directory, or what a log may become: its file gets another name when its run ends. */
static void allow_place(struct confine *confine, const char *address, int rights)
{
    struct stat st;
    if (stat(address, &st) == 0 && !S_ISDIR(st.st_mode))
        allow_around(confine, address, rights);
    else
        confine_allow(confine, address, rights);
}

/* To SQLite, for what it cannot hold in memory; its other directories are closed now. */
static void allow_temporary(struct confine *confine, const char *otherwise)
{
    const char *temporary = getenv("SQLITE_TMPDIR");
    if (temporary)
        confine_allow(confine, temporary, CONFINE_WRITE);
    else
        db_temporary_directory(otherwise);
}

static void allow_remote(struct confine *confine)
{
    allow_network(confine);
    allow_identity(confine);
}

int worker_rights_confine(const struct worker_options *options)
{
    struct confine confine;
    bool remote = false;
    int place_rights = options->policy.cleaner ? CONFINE_READ | CONFINE_REMOVE : CONFINE_READ;
    for (size_t i = 0; i < options->place_count; i++)
        remote |= place_is_remote(options->places[i].path);
    confine_begin(&confine, remote);
    for (size_t i = 0; i < options->place_count; i++) {
        char *address = NULL;
        if (!place_address(options->places[i].path, &address, NULL) && !place_is_remote(address))
            allow_place(&confine, address, place_rights);
        mem_free(address);
    }
    confine_allow(&confine, options->store_dir, CONFINE_WRITE);
    allow_temporary(&confine, options->store_dir);
    allow_system(&confine);
    if (remote)
        allow_remote(&confine);
    int level = confine_apply(&confine);
    if (level)
        log_info("confined to the log directories and the store%s (Landlock %d)", remote ? ", and to what remote places need" : "", level);
    else
        log_warning("the process that reads logs is not confined: this kernel has no Landlock, or it is off");
    return level;
}

void worker_rights_confine_load(const char *address, const char *store_dir, const char *scratch)
{
    struct confine confine;
    char path[PATH_BYTES];
    const char *member = place_member(address);
    bool remote = place_is_remote(address);
    confine_begin(&confine, remote);
    if (!remote && snprintf(path, sizeof path, "%.*s", (int)(member ? member - address : (ptrdiff_t)strlen(address)), address) < (int)sizeof path) {
        allow_place(&confine, path, CONFINE_READ);
        confine_allow(&confine, path, CONFINE_READ); /* where it is a link: somebody named it */
    }
    confine_allow(&confine, store_dir, CONFINE_READ);
    if (snprintf(path, sizeof path, "%s/" ARRIVALS_DIR, store_dir) < (int)sizeof path)
        confine_allow(&confine, path, CONFINE_WRITE);
    confine_allow(&confine, scratch, CONFINE_WRITE);
    allow_temporary(&confine, scratch);
    allow_system(&confine);
    if (remote)
        allow_remote(&confine);
    if (!confine_apply(&confine)) { /* told once, before the first log */
    }
}
