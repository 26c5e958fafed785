/* SPDX-License-Identifier: Apache-2.0
 *
 * Cached blocks. In a log only with spark.eventLog.logBlockUpdates.enabled, unpersist always. */
#include "ingest/event/decode.h"

static const struct json_key block_updated_keys[] = {JSON_KEY("Block Updated Info", 0)};
static const struct json_key block_info_keys[] = {
    JSON_KEY("Block Manager ID", 0), JSON_KEY("Block ID", 1), JSON_KEY("Storage Level", 2), JSON_KEY("Memory Size", 3), JSON_KEY("Disk Size", 4),
};

const char *decode_block_updated(struct json_pull *in, struct event *event)
{
    struct event_block_updated *ret = &event->block_updated;
    struct json_object o, info;
    *ret = (struct event_block_updated){.manager.port = UNKNOWN, .level.replication = UNKNOWN, .memory_bytes = UNKNOWN, .disk_bytes = UNKNOWN};
    json_object_at(&o, KEYS(block_updated_keys));
    for (int key; (key = json_next(in, &o)) >= 0;) {
        if (key != 0) {
            decode_other(in);
            continue;
        }
        if (json_object_begin(in, &info, KEYS(block_info_keys)))
            for (int part; (part = json_next(in, &info)) >= 0;)
                switch (part) {
                case 0: ret->manager = decode_block_manager_id(in); break;
                case 1: ret->block_id = json_str(in); break;
                case 2: ret->level = decode_storage_level(in); break;
                case 3: ret->memory_bytes = json_count(in); break;
                case 4: ret->disk_bytes = json_count(in); break;
                default: json_skip(in);
                }
    }
    return str_known(ret->block_id) && str_known(ret->manager.executor_id) ? NULL : "block update without a block id or an executor id";
}

static const struct json_key unpersist_keys[] = {JSON_KEY("RDD ID", 0)};

const char *decode_unpersist(struct json_pull *in, struct event *event)
{
    struct event_unpersist *ret = &event->unpersist;
    struct json_object o;
    ret->rdd_id = UNKNOWN;
    json_object_at(&o, KEYS(unpersist_keys));
    for (int key; (key = json_next(in, &o)) >= 0;)
        if (key == 0)
            ret->rdd_id = json_id(in);
        else
            decode_other(in);
    return known(ret->rdd_id) ? NULL : "unpersist without an rdd id";
}
