/* SPDX-License-Identifier: Apache-2.0 */
#include "server/answer_cache.h"

#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "server/negotiate.h"

#define MAX_ANSWERS ((size_t)1 << 16)

static const char json_type[] = "application/json";

struct answer {
    struct answer *older, *newer;    /* by last use */
    int64_t hash;
    bool gzip;
    size_t key_bytes, body_bytes;
    char bytes[];                    /* key, then body */
};

struct answer_cache {
    pthread_mutex_t lock;
    struct imap answers;             /* by the hash of the key: of two keys with one hash the later stays */
    struct answer *newest, *oldest;
    size_t bytes;                    /* of all answers */
    int64_t hit_count, miss_count;
};

enum err_code answer_cache_new(struct answer_cache **ret, struct err *err)
{
    struct answer_cache *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    pthread_mutex_init(&self->lock, NULL);
    imap_init(&self->answers, MAX_ANSWERS);
    return ERR_OK;
}

static size_t size_of(const struct answer *answer)
{
    return sizeof *answer + answer->key_bytes + answer->body_bytes;
}

static void unlink_answer(struct answer_cache *self, struct answer *answer)
{
    *(answer->newer ? &answer->newer->older : &self->newest) = answer->older;
    *(answer->older ? &answer->older->newer : &self->oldest) = answer->newer;
    answer->newer = answer->older = NULL;
}

static void link_newest(struct answer_cache *self, struct answer *answer)
{
    answer->older = self->newest;
    *(self->newest ? &self->newest->newer : &self->oldest) = answer;
    self->newest = answer;
}

static void drop(struct answer_cache *self, struct answer *answer)
{
    unlink_answer(self, answer);
    imap_remove(&self->answers, answer->hash);
    self->bytes -= size_of(answer);
    mem_free(answer);
}

void answer_cache_free(struct answer_cache *self)
{
    if (!self)
        return;
    while (self->newest)
        drop(self, self->newest);
    imap_dispose(&self->answers);
    pthread_mutex_destroy(&self->lock);
    mem_free(self);
}

/* STR_NONE: out of memory. Blanks are in no tag and no address. */
static struct str key_of(const struct request *request, const char *etag, bool gzip)
{
    return str_of(arena_printf(request->arena, "%s %s %.*s", etag, gzip ? "gzip" : "plain", (int)request->address.len, request->address.ptr));
}

/* Under the lock. NULL: not here. */
static struct answer *find(struct answer_cache *self, struct str key)
{
    struct answer *answer = imap_get(&self->answers, (int64_t)hash_bytes(key.ptr, key.len));
    return answer && str_eq((struct str){answer->bytes, answer->key_bytes}, key) ? answer : NULL;
}

/* An answer below the least size for compression is plain for everybody: both keys are tried. */
bool answer_cache_recall(struct answer_cache *self, const struct request *request, const char *etag, struct response *response)
{
    if (!request->viewer.sees_all)
        return false;
    struct str plain = key_of(request, etag, false), gzip = request->accepts_gzip ? key_of(request, etag, true) : STR_NONE;
    bool recalled = false;
    pthread_mutex_lock(&self->lock);
    struct answer *answer = str_known(gzip) ? find(self, gzip) : NULL;
    if (!answer && str_known(plain))
        answer = find(self, plain);
    if (answer && request->accepts_gzip && !answer->gzip && answer->body_bytes >= RESPONSE_GZIP_LEAST_BYTES)
        answer = NULL;               /* another client's, who takes no gzip */
    if (answer) {
        unlink_answer(self, answer);
        link_newest(self, answer);
        recalled = response_made(response, json_type, (struct str){answer->bytes + answer->key_bytes, answer->body_bytes}, answer->gzip) == ERR_OK;
    }
    *(recalled ? &self->hit_count : &self->miss_count) += 1;
    pthread_mutex_unlock(&self->lock);
    return recalled;
}

void answer_cache_usage(struct answer_cache *self, struct answer_cache_usage *ret)
{
    pthread_mutex_lock(&self->lock);
    *ret = (struct answer_cache_usage){(int64_t)self->answers.count, (int64_t)self->bytes, self->hit_count, self->miss_count};
    pthread_mutex_unlock(&self->lock);
}

bool answer_cache_tag(struct answer_cache *self, const struct request *request, const char *etag, struct response *response)
{
    response_etag(response, str_of(etag));
    return negotiate_etag(request->if_none_match, str_of(etag)) || answer_cache_recall(self, request, etag, response);
}

void answer_cache_keep(struct answer_cache *self, const struct request *request, const struct response_parts *parts)
{
    if (!request->viewer.sees_all || parts->status != 200 || parts->kind != RESPONSE_MEMORY || !parts->etag || !parts->content_type || strcmp(parts->content_type, json_type) != 0 ||
        parts->memory.len > ANSWER_CACHE_LARGEST)
        return;
    bool weak = strncmp(parts->etag, "W/", 2) == 0;
    struct str key = key_of(request, parts->etag + (weak ? 2 : 0), parts->gzip);
    pthread_mutex_lock(&self->lock);
    bool here = !str_known(key) || find(self, key);
    pthread_mutex_unlock(&self->lock);
    struct answer *answer = here ? NULL : mem_alloc(sizeof *answer + key.len + parts->memory.len);
    if (!answer)
        return;
    *answer = (struct answer){.hash = (int64_t)hash_bytes(key.ptr, key.len), .gzip = parts->gzip, .key_bytes = key.len, .body_bytes = parts->memory.len};
    memcpy(answer->bytes, key.ptr, key.len);
    memcpy(answer->bytes + key.len, parts->memory.ptr, parts->memory.len);

    pthread_mutex_lock(&self->lock);
    struct answer *same = imap_get(&self->answers, answer->hash);
    if (same)
        drop(self, same);
    while (self->oldest && (self->bytes + size_of(answer) > ANSWER_CACHE_BYTES || self->answers.count == MAX_ANSWERS))
        drop(self, self->oldest);
    if (imap_put(&self->answers, answer->hash, answer)) {
        mem_free(answer);
    } else {
        link_newest(self, answer);
        self->bytes += size_of(answer);
    }
    pthread_mutex_unlock(&self->lock);
}
