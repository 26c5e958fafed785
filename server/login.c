/* SPDX-License-Identifier: Apache-2.0 */
#include "server/login.h"

#include <crypt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/file_stamp.h"
#include "server/htpasswd.h"
#include "server/keyed_hash.h"
#include "server/login_limits.h"

#define MEMORY_PLACES 1024
#define MEMORY_WAYS 4
#define USER_BYTES 256
#define PASSWORD_BYTES CRYPT_MAX_PASSPHRASE_SIZE /* 512, with its NUL; bcrypt itself looks at 72 of them */
#define HASH_BYTES 64
#define LOWER_PRIORITY 10

struct memory {
    struct keyed_hash words;
    int64_t until_ms; /* 0: free; monotonic */
    bool right;
};

/* A check that is under way, or waits for its turn. */
struct check {
    struct check *next;
    struct keyed_hash words;
    char user[USER_BYTES], password[PASSWORD_BYTES], hash[HASH_BYTES];
    bool is_user; /* else `hash` is nobody's */
    unsigned char address[16];
    uint64_t generation;
    struct login_waiter *waiters;
};

struct login {
    char *path;               /* owned */
    pthread_mutex_t lock;     /* all below */
    pthread_cond_t wanted;
    pthread_t thread;
    bool running, stopping;
    struct file_stamp stamp;
    struct htpasswd *users;
    uint64_t generation;      /* of users */
    struct check *checks;     /* the first one is being made */
    size_t check_count;
    struct memory memory[MEMORY_PLACES];
    struct login_limits limits;
    struct crypt_data crypt;  /* of the thread alone */
};

/* ---- the header ---- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* False: no base64. */
static bool base64_decode(struct str in, char *out, size_t *ret_len)
{
    unsigned bits = 0, count = 0;
    size_t len = 0;
    while (in.len && in.ptr[in.len - 1] == '=')
        in.len--;
    for (size_t i = 0; i < in.len; i++) {
        int digit = base64_digit(in.ptr[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (unsigned)digit;
        if ((count += 6) >= 8) {
            count -= 8;
            out[len++] = (char)(bits >> count);
            bits &= (1u << count) - 1;
        }
    }
    *ret_len = len;
    return in.len % 4 != 1;
}

bool login_parse(struct str header, struct arena *arena, struct login_words *ret)
{
    static const char scheme[] = "Basic ";
    if (header.len < strlen(scheme) || strncasecmp(header.ptr, scheme, strlen(scheme)) != 0 || header.len > 2 * (USER_BYTES + PASSWORD_BYTES))
        return false;
    struct str coded = {header.ptr + strlen(scheme), header.len - strlen(scheme)};
    while (coded.len && coded.ptr[0] == ' ')
        coded = (struct str){coded.ptr + 1, coded.len - 1};
    size_t len;
    char *text = arena_alloc(arena, coded.len + 1);
    if (!text || !base64_decode(coded, text, &len) || memchr(text, '\0', len))
        return false;
    text[len] = '\0';
    char *colon = strchr(text, ':');
    if (!colon)
        return false;
    *ret = (struct login_words){{text, (size_t)(colon - text)}, {colon + 1, len - (size_t)(colon + 1 - text)}};
    return ret->user.len < USER_BYTES && ret->password.len < PASSWORD_BYTES;
}

/* ---- what is remembered; under the lock ---- */

static struct memory *memory_of(struct login *self, const struct keyed_hash *words)
{
    uint32_t at;
    memcpy(&at, words->bytes, sizeof at);
    return &self->memory[at % (MEMORY_PLACES / MEMORY_WAYS) * MEMORY_WAYS];
}

static const struct memory *recall(struct login *self, const struct keyed_hash *words, int64_t now_ms)
{
    const struct memory *set = memory_of(self, words);
    for (size_t i = 0; i < MEMORY_WAYS; i++)
        if (set[i].until_ms > now_ms && same_bytes(&set[i].words, words, sizeof *words))
            return &set[i];
    return NULL;
}

/* Takes the place of what is forgotten, else of a wrong one, else of the oldest: guesses do not put out users. */
static void remember(struct login *self, const struct keyed_hash *words, bool right, int64_t now_ms)
{
    struct memory *set = memory_of(self, words), *worst = set;
    for (size_t i = 1; i < MEMORY_WAYS; i++) {
        bool is_kept = set[i].right && set[i].until_ms > now_ms, worst_is_kept = worst->right && worst->until_ms > now_ms;
        if (is_kept != worst_is_kept ? worst_is_kept : set[i].until_ms < worst->until_ms)
            worst = &set[i];
    }
    *worst = (struct memory){*words, now_ms + (right ? LOGIN_REMEMBER_MS : LOGIN_REMEMBER_WRONG_MS), right};
}

/* ---- checks ---- */

static int64_t now(void)
{
    return time_monotonic_ns() / NS_PER_MS;
}

static enum login_verdict decide(struct login_waiter *waiter, enum login_verdict verdict, int wait_seconds)
{
    waiter->wait_seconds = wait_seconds;
    return waiter->verdict = verdict;
}

static void check_free(struct check *self)
{
    explicit_bzero(self, sizeof *self);
    mem_free(self);
}

/* Takes the first check off the list and tells everybody who waits for it. Under the lock, which is open while they are told. */
static void tell(struct login *self, enum login_verdict verdict)
{
    struct check *check = self->checks;
    self->checks = check->next;
    self->check_count--;
    pthread_mutex_unlock(&self->lock);
    for (struct login_waiter *waiter = check->waiters, *next; waiter; waiter = next) {
        next = waiter->next;
        decide(waiter, verdict, 1);
        waiter->done(waiter->context);
    }
    check_free(check);
    pthread_mutex_lock(&self->lock);
}

static void *make_checks(void *context)
{
    struct login *self = context;
    setpriority(PRIO_PROCESS, (id_t)gettid(), LOWER_PRIORITY);
    pthread_mutex_lock(&self->lock);
    while (!self->stopping) {
        struct check *check = self->checks;
        if (!check) {
            pthread_cond_wait(&self->wanted, &self->lock);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        const char *made = crypt_rn(check->password, check->hash, &self->crypt, sizeof self->crypt);
        bool right = made && strlen(made) == strlen(check->hash) && same_bytes(made, check->hash, strlen(made)) && check->is_user;
        explicit_bzero(&self->crypt, sizeof self->crypt);
        pthread_mutex_lock(&self->lock);
        if (right)
            login_limits_right(&self->limits, check->address, str_of(check->user));
        if (check->generation == self->generation)
            remember(self, &check->words, right, now());
        tell(self, right ? LOGIN_RIGHT : LOGIN_WRONG);
    }
    while (self->checks)
        tell(self, LOGIN_LATER);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Under the lock. */
static enum login_verdict begin_check(struct login *self, const struct login_words *words, const struct keyed_hash *hash, const unsigned char address[16], struct login_waiter *waiter)
{
    if (self->check_count == LOGIN_MOST_WAITING)
        return decide(waiter, LOGIN_LATER, 1);
    struct check *check = mem_zalloc(sizeof *check), **last = &self->checks;
    if (!check)
        return decide(waiter, LOGIN_LATER, 1);
    int64_t wait_ms = login_limits_try(&self->limits, address, words->user, now());
    if (wait_ms) {
        mem_free(check);
        return decide(waiter, LOGIN_LATER, (int)((wait_ms + 999) / 1000));
    }
    const char *known_hash = htpasswd_hash(self->users, words->user);
    check->words = *hash;
    check->generation = self->generation;
    check->is_user = known_hash != NULL;
    memcpy(check->user, words->user.ptr, words->user.len);
    memcpy(check->password, words->password.ptr, words->password.len);
    memcpy(check->address, address, sizeof check->address);
    snprintf(check->hash, sizeof check->hash, "%s", known_hash ? known_hash : htpasswd_decoy(self->users));
    check->waiters = waiter;
    while (*last)
        last = &(*last)->next;
    *last = check;
    self->check_count++;
    pthread_cond_signal(&self->wanted);
    return LOGIN_PENDING;
}

enum login_verdict login_ask(struct login *self, const struct login_words *words, const unsigned char address[16], struct login_waiter *waiter)
{
    const struct str parts[] = {words->user, words->password};
    struct keyed_hash hash;
    waiter->next = NULL;
    decide(waiter, LOGIN_PENDING, 0);
    if (keyed_hash_of(parts, ARRAY_LENGTH(parts), &hash, NULL))
        return decide(waiter, LOGIN_LATER, 1);
    pthread_mutex_lock(&self->lock);
    const struct memory *known_words = recall(self, &hash, now());
    struct check *check = self->checks;
    while (check && !(check->generation == self->generation && same_bytes(&check->words, &hash, sizeof hash)))
        check = check->next;
    enum login_verdict verdict = LOGIN_PENDING;
    if (known_words) {
        verdict = decide(waiter, known_words->right ? LOGIN_RIGHT : LOGIN_WRONG, 0);
    } else if (self->stopping) {
        verdict = decide(waiter, LOGIN_LATER, 1);
    } else if (check) {
        waiter->next = check->waiters;
        check->waiters = waiter;
    } else {
        verdict = begin_check(self, words, &hash, address, waiter);
    }
    pthread_mutex_unlock(&self->lock);
    return verdict;
}

/* ---- life ---- */

enum err_code login_new(struct login **ret, const char *users_file, struct err *err)
{
    struct keyed_hash probe;
    enum err_code rc = keyed_hash_of(NULL, 0, &probe, err);
    *ret = NULL;
    if (rc)
        return rc;
    struct login *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->wanted, NULL);
    self->stamp = file_stamp_of(users_file);
    if (!(self->path = mem_strndup(users_file, strlen(users_file))))
        rc = err_nomem(err);
    else if (!(rc = htpasswd_read(&self->users, users_file, err)) && pthread_create(&self->thread, NULL, make_checks, self))
        rc = err_set(err, ERR_IO, "the thread that checks passwords cannot be started");
    if (rc) {
        login_free(self);
        return rc;
    }
    self->running = true;
    *ret = self;
    return ERR_OK;
}

void login_stop(struct login *self)
{
    pthread_mutex_lock(&self->lock);
    bool running = self->running;
    self->running = false;
    self->stopping = true;
    pthread_cond_signal(&self->wanted);
    pthread_mutex_unlock(&self->lock);
    if (running)
        pthread_join(self->thread, NULL);
}

void login_free(struct login *self)
{
    if (!self)
        return;
    login_stop(self);
    htpasswd_free(self->users);
    pthread_cond_destroy(&self->wanted);
    pthread_mutex_destroy(&self->lock);
    mem_free(self->path);
    mem_free(self);
}

enum err_code login_refresh(struct login *self, bool *ret_changed, struct err *err)
{
    struct file_stamp stamp = file_stamp_of(self->path);
    struct htpasswd *users = NULL;
    *ret_changed = false;
    if (file_stamp_equal(&stamp, &self->stamp))
        return ERR_OK;
    self->stamp = stamp; /* only ever touched here and by login_new */
    enum err_code rc = htpasswd_read(&users, self->path, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&self->lock);
    htpasswd_free(self->users);
    self->users = users;
    self->generation++;
    memset(self->memory, 0, sizeof self->memory);
    pthread_mutex_unlock(&self->lock);
    *ret_changed = true;
    return ERR_OK;
}
