/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/network.h"

#define USER_MAX_BYTES ((size_t)256)    /* of a name in a header: a mail address or a Kerberos principal fits */
#define GROUPS_MAX_BYTES ((size_t)8192) /* of all groups of a user, comma-separated */
#define CACHE_ENTRIES 256               /* users at the same time; a second one in the same place is asked for again */
#define KEEP_FOUND_MS 60000
#define KEEP_FAILED_MS 10000
#define LOOKUP_MS 2000 /* a directory service that takes longer counts as failed */
#define MAX_LOOKUPS 8  /* running at the same time, hanging ones included */
#define MAX_GROUPS 1024

struct known_groups {
    char user[USER_MAX_BYTES];
    int64_t until_ms;
    char *groups; /* owned; NULL: none */
};

struct access {
    struct access_settings settings;
    struct network *proxies;
    pthread_mutex_t lock;
    struct known_groups cache[CACHE_ENTRIES];
};

/* ---- lists ---- */

static struct str trimmed(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return (struct str){begin, (size_t)(end - begin)};
}

/* Takes the next item off a comma-separated list. */
static bool next_item(struct str *list, struct str *ret)
{
    while (list->len) {
        struct str item = str_word(list, ',');
        *ret = trimmed(item.ptr, item.ptr + item.len);
        if (ret->len)
            return true;
    }
    return false;
}

static bool list_has(struct str list, struct str wanted)
{
    for (struct str item; next_item(&list, &item);)
        if (str_eq(item, wanted))
            return true;
    return false;
}

static bool lists_meet(struct str a, struct str b)
{
    for (struct str item; next_item(&a, &item);)
        if (list_has(b, item))
            return true;
    return false;
}

bool access_may_see(const struct viewer *viewer, const struct access_rules *rules)
{
    if (viewer->refusal)
        return false;
    if (viewer->sees_all || !str_known(viewer->user))
        return true;
    return (rules->owner.len && str_eq(viewer->user, rules->owner)) || list_has(rules->view_users, viewer->user) || list_has(rules->view_users, STR_LIT("*")) ||
           list_has(rules->view_groups, STR_LIT("*")) || lists_meet(viewer->groups, rules->view_groups);
}

struct str access_sql_user(const struct viewer *viewer)
{
    return viewer->sees_all ? STR_NONE : viewer->user;
}

static struct str sql_text(sqlite3_value *value)
{
    const unsigned char *text = sqlite3_value_text(value);
    return text ? (struct str){(const char *)text, (size_t)sqlite3_value_bytes(value)} : STR_NONE;
}

static void may_see(sqlite3_context *context, int count UNUSED, sqlite3_value **values)
{
    const struct viewer viewer = {.user = sql_text(values[0]), .groups = sql_text(values[1])};
    const struct access_rules rules = {sql_text(values[2]), sql_text(values[3]), sql_text(values[4])};
    sqlite3_result_int(context, access_may_see(&viewer, &rules));
}

enum err_code access_register(struct db *db, struct err *err)
{
    if (sqlite3_create_function_v2(db->handle, "may_see", 5, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, may_see, NULL, NULL, NULL))
        return db_error(db->handle, err, "cannot add an SQL function");
    return ERR_OK;
}

/* ---- addresses ---- */

const char *access_address_text(const unsigned char address[16], char out[ACCESS_ADDRESS_BYTES])
{
    static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    bool four = memcmp(address, mapped, sizeof mapped) == 0;
    if (!inet_ntop(four ? AF_INET : AF_INET6, four ? address + sizeof mapped : address, out, ACCESS_ADDRESS_BYTES))
        out[0] = '\0';
    return out;
}

/* ---- groups ---- */

static void add_group(char *out, size_t *len, struct str name)
{
    if (!name.len || *len + name.len + 1 >= GROUPS_MAX_BYTES || memchr(name.ptr, ',', name.len))
        return;
    if (*len)
        out[(*len)++] = ',';
    memcpy(out + *len, name.ptr, name.len);
    *len += name.len;
    out[*len] = '\0';
}

/* Lines of /etc/group: name:password:number:user,user */
static bool groups_from_file(const char *path, struct str user, char *out)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t len = 0, room = 0;
    char *line = NULL;
    for (ssize_t n; (n = getline(&line, &room, file)) > 0;) {
        char *name_end = memchr(line, ':', (size_t)n), *members = name_end;
        for (int colons = 1; members && colons < 3; colons++)
            members = strchr(members + 1, ':');
        if (members && line[0] != '#' && list_has(str_of(members + 1), user))
            add_group(out, &len, trimmed(line, name_end));
    }
    free(line);
    fclose(file);
    return true;
}

/* One question to the system. Belongs to two threads: the last one frees it. */
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int owners;
    bool done, found;
    char user[USER_MAX_BYTES], groups[GROUPS_MAX_BYTES];
};

static int running_lookups;
static pthread_mutex_t running_lock = PTHREAD_MUTEX_INITIALIZER;

static void count_lookup(int by)
{
    pthread_mutex_lock(&running_lock);
    running_lookups += by;
    pthread_mutex_unlock(&running_lock);
}

static void lookup_release(struct lookup *self)
{
    pthread_mutex_lock(&self->lock);
    bool last = --self->owners == 0;
    pthread_mutex_unlock(&self->lock);
    if (!last)
        return;
    pthread_cond_destroy(&self->answered);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}

static bool groups_from_system(const char *user, char *out)
{
    char text[16384];
    struct passwd entry, *found = NULL;
    gid_t ids[MAX_GROUPS];
    int count = MAX_GROUPS;
    if (getpwnam_r(user, &entry, text, sizeof text, &found) || !found || getgrouplist(user, entry.pw_gid, ids, &count) < 0)
        return false;
    size_t len = 0;
    for (int i = 0; i < count; i++) {
        struct group group, *named = NULL;
        if (getgrgid_r(ids[i], &group, text, sizeof text, &named) == 0 && named)
            add_group(out, &len, str_of(group.gr_name));
    }
    return true;
}

static void *ask_system(void *context)
{
    struct lookup *self = context;
    char groups[GROUPS_MAX_BYTES] = "";
    bool found = groups_from_system(self->user, groups);
    pthread_mutex_lock(&self->lock);
    memcpy(self->groups, groups, sizeof groups);
    self->found = found;
    self->done = true;
    pthread_cond_signal(&self->answered);
    pthread_mutex_unlock(&self->lock);
    lookup_release(self);
    count_lookup(-1);
    return NULL;
}

static bool may_start_lookup(void)
{
    pthread_mutex_lock(&running_lock);
    bool free_place = running_lookups < MAX_LOOKUPS;
    running_lookups += free_place;
    pthread_mutex_unlock(&running_lock);
    return free_place;
}

static bool groups_in_time(const char *user, char *out)
{
    struct lookup *self = may_start_lookup() ? mem_zalloc(sizeof *self) : NULL;
    if (!self)
        return false;
    pthread_t thread;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    self->owners = 2;
    snprintf(self->user, sizeof self->user, "%s", user);
    if (pthread_create(&thread, NULL, ask_system, self)) {
        self->owners = 1;
        lookup_release(self);
        count_lookup(-1);
        return false;
    }
    pthread_detach(thread);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOKUP_MS / 1000;
    pthread_mutex_lock(&self->lock);
    while (!self->done && pthread_cond_timedwait(&self->answered, &self->lock, &until) != ETIMEDOUT)
        continue;
    bool found = self->done && self->found;
    if (found)
        memcpy(out, self->groups, sizeof self->groups);
    pthread_mutex_unlock(&self->lock);
    lookup_release(self);
    return found;
}

/* Of a user whose name fits and holds no NUL. */
static enum err_code groups_of(struct access *self, struct str user, struct arena *arena, struct str *ret, struct err *err)
{
    struct known_groups *entry = &self->cache[hash_bytes(user.ptr, user.len) % CACHE_ENTRIES];
    int64_t now = time_monotonic_ns() / NS_PER_MS;
    bool failed = false, kept = false;
    pthread_mutex_lock(&self->lock);
    if (str_is(user, entry->user) && now < entry->until_ms) {
        kept = true;
        failed = arena_str(arena, entry->groups ? str_of(entry->groups) : STR_LIT(""), ret) != 0;
    }
    pthread_mutex_unlock(&self->lock);
    if (kept)
        return failed ? err_nomem(err) : ERR_OK;

    char name[USER_MAX_BYTES], groups[GROUPS_MAX_BYTES] = "";
    memcpy(name, user.ptr, user.len);
    name[user.len] = '\0';
    bool found = self->settings.groups_file ? groups_from_file(self->settings.groups_file, user, groups) : groups_in_time(name, groups);
    char *copy = mem_strndup(groups, strlen(groups));
    if (!copy || arena_str(arena, str_of(groups), ret)) {
        mem_free(copy);
        return err_nomem(err);
    }
    pthread_mutex_lock(&self->lock);
    mem_free(entry->groups);
    entry->groups = copy;
    memcpy(entry->user, name, user.len + 1);
    entry->until_ms = now + (found ? KEEP_FOUND_MS : KEEP_FAILED_MS);
    pthread_mutex_unlock(&self->lock);
    return ERR_OK;
}

/* ---- who asks ---- */

bool access_believes(const struct access *self, const unsigned char peer[16])
{
    return networks_have(self->proxies, self->settings.proxy_count, peer);
}

/* An item of X-Forwarded-For: an address, some write a port behind it ("10.0.0.7:4711", "[::1]:4711"). */
static bool parse_forwarded(struct str item, unsigned char out[16])
{
    char text[64];
    if (item.len >= sizeof text || item.len == 0)
        return false;
    bool bracket = item.ptr[0] == '[';
    memcpy(text, item.ptr + bracket, item.len - bracket);
    text[item.len - bracket] = '\0';
    char *colon = strchr(text, ':'), *end = bracket ? strchr(text, ']') : colon && colon == strrchr(text, ':') ? colon : NULL; /* an IPv6 address has two colons at least */
    if (end)
        *end = '\0';
    return network_parse_address(text, out);
}

void access_client(const struct access *self, const unsigned char peer[16], struct str forwarded_for, unsigned char ret[16])
{
    memcpy(ret, peer, 16);
    /* From the last to the first: each proxy adds whom it was asked by, and only those that are believed are asked on. */
    while (forwarded_for.len && access_believes(self, ret)) {
        size_t begin = forwarded_for.len;
        while (begin > 0 && forwarded_for.ptr[begin - 1] != ',')
            begin--;
        struct str item = trimmed(forwarded_for.ptr + begin, forwarded_for.ptr + forwarded_for.len);
        forwarded_for.len = begin ? begin - 1 : 0;
        unsigned char address[16];
        if (!parse_forwarded(item, address))
            return;
        memcpy(ret, address, sizeof address);
    }
}

static bool sound_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7F || name.ptr[i] == ',')
            return false;
    return name.len > 0 && name.len < USER_MAX_BYTES && utf8_valid_prefix(name.ptr, name.len) == name.len;
}

static bool any_in(const char *const *items, size_t count, struct str list)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i], "*") == 0 || list_has(list, str_of(items[i])))
            return true;
    return false;
}

static enum err_code find_groups(struct access *self, bool said, struct str header, struct arena *arena, struct viewer *viewer, struct err *err)
{
    if (!said)
        return groups_of(self, viewer->user, arena, &viewer->groups, err);
    header.len = MIN(header.len, GROUPS_MAX_BYTES);
    return arena_str(arena, str_known(header) ? header : STR_LIT(""), &viewer->groups) ? err_nomem(err) : ERR_OK;
}

static bool is_admin(const struct access *self, const struct viewer *viewer)
{
    return any_in(self->settings.admins, self->settings.admin_count, viewer->user) || any_in(self->settings.admin_groups, self->settings.admin_group_count, viewer->groups);
}


enum err_code access_identify(struct access *self, const unsigned char peer[16], struct str login, struct str header, struct str groups_header, struct str do_as, struct arena *arena,
                              struct viewer *ret, struct err *err)
{
    *ret = (struct viewer){.user = STR_NONE, .asker = STR_NONE, .groups = STR_LIT("")};
    /* An empty name is one, as there; but where passwords are asked for nobody gets in without. */
    bool from_proxy = self->settings.header && access_believes(self, peer), by_proxy = from_proxy && str_known(header) && (header.len || !self->settings.login);
    bool named = by_proxy || str_known(login), groups_are_said = self->settings.groups_header && (by_proxy || !named);
    if (by_proxy && header.len && !sound_name(header)) {
        ret->refusal = "the name of the user is not one";
        return ERR_OK;
    }
    if (named && arena_str(arena, by_proxy ? header : login, &ret->user))
        return err_nomem(err);
    ret->asker = ret->user;
    if (!named && (self->settings.login || (self->settings.header && !from_proxy))) {
        ret->must_log_in = self->settings.login;
        ret->refusal = ret->must_log_in ? "a name and a password are needed" : "this address is not one of afterglow.auth.proxies";
        return ERR_OK;
    }
    if ((ret->sees_all = !self->settings.enabled))
        return ERR_OK;
    enum err_code rc;
    if (named && (rc = find_groups(self, groups_are_said, groups_header, arena, ret, err)))
        return rc;
    if (str_known(do_as) && !str_eq(do_as, ret->user)) {
        if (named && !is_admin(self, ret)) {
            const char *text = arena_printf(arena, "User %.*s is not allowed to impersonate others.", (int)ret->user.len, ret->user.ptr);
            ret->refusal = text;
            return text ? ERR_OK : err_nomem(err);
        }
        if (!sound_name(do_as)) {
            ret->refusal = "the name of the user is not one";
            return ERR_OK;
        }
        ret->user = do_as;
        ret->groups = STR_LIT("");
        /* A header with groups speaks of who asked, not of whom they speak for. */
        if (!groups_are_said && (rc = groups_of(self, do_as, arena, &ret->groups, err)))
            return rc;
    }
    ret->sees_all = !str_known(ret->user) || is_admin(self, ret);
    return ERR_OK;
}

/* ---- life ---- */

static bool header_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return strlen(name) < 100 && name[0] && name[strspn(name, letters)] == '\0';
}

enum err_code access_new(struct access **ret, const struct access_settings *settings, struct err *err)
{
    struct access *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    pthread_mutex_init(&self->lock, NULL);
    self->settings = *settings;
    const char *const headers[] = {settings->header, settings->groups_header};
    for (size_t i = 0; i < ARRAY_LENGTH(headers); i++)
        if (headers[i] && !header_name(headers[i]))
            return err_set(err, ERR_INVALID, "afterglow.auth: '%s' is not the name of a header", headers[i]);
    return networks_parse(&self->proxies, settings->proxies, settings->proxy_count, "afterglow.auth.proxies", err);
}

void access_free(struct access *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < CACHE_ENTRIES; i++)
        mem_free(self->cache[i].groups);
    mem_free(self->proxies);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}

bool access_enabled(const struct access *self)
{
    return self->settings.enabled;
}

const char *access_header(const struct access *self)
{
    return self->settings.header;
}

const char *access_groups_header(const struct access *self)
{
    return self->settings.groups_header;
}
