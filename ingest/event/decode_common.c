/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "ingest/event/decode.h"

#define FIRST_ITEMS ((size_t)8)

void *list_push(struct json_pull *in, void **items, size_t *count, size_t *capacity, size_t each_bytes)
{
    if (*count == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : FIRST_ITEMS;
        char *grown = json_scratch(in, wanted * each_bytes);     /* cannot overflow: a line has fewer items than bytes */
        if (!grown)
            return NULL;
        if (*count)
            memcpy(grown, *items, *count * each_bytes);
        *items = grown;
        *capacity = wanted;
    }
    return (char *)*items + (*count)++ * each_bytes;
}

void decode_other(struct json_pull *in)
{
    if (str_eq(in->key, STR_LIT("Event")))
        in->event_again = true;
    json_skip(in);
}

int64_t decode_time(struct json_pull *in)
{
    int64_t ms = json_i64(in);
    if (known(ms) && ms < 0)
        return ms == -1 ? UNKNOWN : json_out_of_range(in);
    return ms;
}

/* Duplicate keys of an object: the last value wins, at the place of the first. Found by sorting, not by a table: a hostile line cannot make it quadratic. */
struct kv_rank { uint64_t hash; size_t at; };

static int rank_compare(const struct kv *items, const struct kv_rank *a, const struct kv_rank *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    int c = str_compare(items[a->at].name, items[b->at].name);
    return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

static void rank_sort(const struct kv *items, struct kv_rank *ranks, struct kv_rank *room, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t from = 0; from < count; from += 2 * width) {
            size_t a = from, middle = MIN(from + width, count), b = middle, end = MIN(from + 2 * width, count);
            for (size_t o = from; o < end; o++)
                room[o] = b == end || (a < middle && rank_compare(items, ranks + a, ranks + b) <= 0) ? ranks[a++] : ranks[b++];
        }
        memcpy(ranks, room, count * sizeof *ranks);
    }
}

static void drop_duplicates(struct json_pull *in, struct kv_list *list)
{
    if (list->count < 2)
        return;
    struct kv *items = list->items;
    struct kv_rank *ranks = json_scratch(in, 2 * list->count * sizeof *ranks);
    if (!ranks)
        return;
    for (size_t i = 0; i < list->count; i++)
        ranks[i] = (struct kv_rank){hash_bytes(items[i].name.ptr, items[i].name.len), i};
    rank_sort(items, ranks, ranks + list->count, list->count);
    bool any = false;
    for (size_t i = 0, first = 0; i < list->count; i++) {
        if (ranks[i].hash != ranks[first].hash || !str_eq(items[ranks[i].at].name, items[ranks[first].at].name))
            first = i;
        if (i == first)
            continue;
        items[ranks[first].at].value = items[ranks[i].at].value;
        items[ranks[i].at].name = STR_NONE;
        any = true;
    }
    if (!any)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (str_known(items[i].name))
            items[kept++] = items[i];
    list->count = kept;
}

struct kv_list decode_kv(struct json_pull *in, bool *ret_object)
{
    struct kv_list list = {NULL, 0};
    void *items = NULL;
    size_t capacity = 0;
    struct json_object unused;
    bool object = json_object_begin(in, &unused, NULL, 0);
    if (ret_object)
        *ret_object = object;
    while (object && json_next_any(in)) {
        struct str name = in->key;
        struct kv *item = list_push(in, &items, &list.count, &capacity, sizeof *item);
        if (!item)
            return (struct kv_list){NULL, 0};
        *item = (struct kv){name, json_str(in)};
    }
    list.items = items;
    drop_duplicates(in, &list);
    return list;
}

struct str decode_words(struct json_pull *in)
{
    void *items = NULL;
    size_t count = 0, capacity = 0, bytes = 0;
    if (json_array_begin(in))
        while (json_array_next(in)) {
            struct str word = json_str(in), *item;
            if (!word.len)
                continue;
            if (!(item = list_push(in, &items, &count, &capacity, sizeof *item)))
                return STR_NONE;
            *item = word;
            bytes += word.len + 1;
        }
    if (!count)
        return STR_NONE;
    char *text = json_scratch(in, bytes);
    if (!text)
        return STR_NONE;
    const struct str *words = items;
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (i)
            text[len++] = ',';
        memcpy(text + len, words[i].ptr, words[i].len);
        len += words[i].len;
    }
    return (struct str){text, len};
}

struct id_list decode_ids(struct json_pull *in)
{
    struct id_list list = {NULL, 0};
    void *items = NULL;
    size_t capacity = 0;
    if (json_array_begin(in))
        while (json_array_next(in)) {
            int64_t id = json_id(in);
            if (!known(id))
                continue;
            int64_t *item = list_push(in, &items, &list.count, &capacity, sizeof *item);
            if (!item)
                return (struct id_list){NULL, 0};
            *item = id;
        }
    list.items = items;
    return list;
}

static const struct json_key level_keys[] = {
    JSON_KEY("Use Disk", 0), JSON_KEY("Use Memory", 1), JSON_KEY("Use Off Heap", 2), JSON_KEY("Deserialized", 3), JSON_KEY("Replication", 4),
};

struct storage_level decode_storage_level(struct json_pull *in)
{
    struct storage_level level = {.replication = UNKNOWN};
    struct json_object o;
    if (json_object_begin(in, &o, KEYS(level_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: level.use_disk = json_bool(in, false); break;
            case 1: level.use_memory = json_bool(in, false); break;
            case 2: level.use_off_heap = json_bool(in, false); break;
            case 3: level.deserialized = json_bool(in, false); break;
            case 4: level.replication = json_count(in); break;
            default: json_skip(in);      /* Use Tachyon, Use ExternalBlockStore: 1.x */
            }
    return level;
}

static const struct json_key manager_keys[] = {JSON_KEY("Executor ID", 0), JSON_KEY("Host", 1), JSON_KEY("Port", 2)};

struct block_manager_id decode_block_manager_id(struct json_pull *in)
{
    struct block_manager_id id = {STR_NONE, STR_NONE, UNKNOWN};
    struct json_object o;
    if (json_object_begin(in, &o, KEYS(manager_keys)))
        for (int key; (key = json_next(in, &o)) >= 0;)
            switch (key) {
            case 0: id.executor_id = json_str(in); break;
            case 1: id.host = json_str(in); break;
            case 2: id.port = json_count(in); break;
            default: json_skip(in);
            }
    return id;
}

static const struct json_key peak_keys[] = {
#define X(id, column, key) JSON_KEY(key, PEAK_##id),
    EXECUTOR_METRICS(X)
#undef X
};

void peaks_unknown(int64_t peaks[EXECUTOR_METRIC_COUNT])
{
    for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++)
        peaks[i] = UNKNOWN;
}

bool decode_peaks(struct json_pull *in, int64_t peaks[EXECUTOR_METRIC_COUNT])
{
    struct json_object o;
    peaks_unknown(peaks);
    if (!json_object_begin(in, &o, KEYS(peak_keys)))
        return false;
    for (int key; (key = json_next_counts(in, &o, peaks, EXECUTOR_METRIC_COUNT)) >= 0;)
        if (key < EXECUTOR_METRIC_COUNT)
            peaks[key] = json_count(in);
        else
            json_skip(in);
    return true;
}

static const struct json_key accumulable_keys[] = {
    JSON_KEY("ID", 0), JSON_KEY("Name", 1), JSON_KEY("Update", 2), JSON_KEY("Value", 3), JSON_KEY("Internal", 4), JSON_KEY("Count Failed Values", 5), JSON_KEY("Metadata", 6),
};

bool decode_accumulable(struct json_pull *in, struct accumulable *ret)
{
    struct json_object o;
    *ret = (struct accumulable){.id = UNKNOWN};
    if (!json_object_begin(in, &o, KEYS(accumulable_keys)))
        return false;
    for (int key; (key = json_next(in, &o)) >= 0;)
        switch (key) {
        case 0: ret->id = json_count(in); break;
        case 1: ret->name = json_str(in); break;
        case 2: ret->update = json_text(in); break;
        case 3: ret->value = json_text(in); break;
        case 4: ret->internal = json_bool(in, false); break;
        case 5: (void)json_bool(in, false); break;
        case 6: ret->metadata = json_str(in); break;
        default: json_skip(in);
        }
    return known(ret->id);
}

struct accumulable_list decode_accumulables(struct json_pull *in)
{
    struct accumulable_list list = {NULL, 0};
    void *items = NULL;
    size_t capacity = 0;
    if (json_array_begin(in))
        while (json_array_next(in)) {
            struct accumulable one;
            if (!decode_accumulable(in, &one))
                continue;
            struct accumulable *item = list_push(in, &items, &list.count, &capacity, sizeof *item);
            if (!item)
                return (struct accumulable_list){NULL, 0};
            *item = one;
        }
    list.items = items;
    return list;
}
