/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/event/event_fixture.h"

static void a_block_is_cached(void **state)
{
    struct fixture *f = *state;
    struct event_block_updated *b = &must_decode(f, EVENT_BLOCK_UPDATED,      /* a line of Spark 4.3.0 */
        "{'Event':'SparkListenerBlockUpdated','Block Updated Info':{'Block Manager ID':{'Executor ID':'0','Host':'localhost','Port':37697},'Block ID':'rdd_10_0"
        "','Storage Level':{'Use Disk':false,'Use Memory':true,'Use Off Heap':false,'Deserialized':true,'Replication':1},'Memory Size':16,'Disk Size':0}}")->block_updated;
    assert_text(b->manager.executor_id, "0");
    assert_text(b->manager.host, "localhost");
    assert_i64(b->manager.port, 37697);
    assert_text(b->block_id, "rdd_10_0");
    assert_false(b->level.use_disk);
    assert_true(b->level.use_memory);
    assert_false(b->level.use_off_heap);
    assert_true(b->level.deserialized);
    assert_i64(b->level.replication, 1);
    assert_i64(b->memory_bytes, 16);
    assert_i64(b->disk_bytes, 0);
}

static void a_block_id_of_any_pattern_is_taken_and_none_is_refused(void **state)
{
    struct fixture *f = *state;
    struct event_block_updated *b = &must_decode(f, EVENT_BLOCK_UPDATED,
        "{'Event':'SparkListenerBlockUpdated','Block Updated Info':{'Block Manager ID':{'Executor ID':'0'},'Block ID':'from_the_future','Memory Size':-1}}")->block_updated;
    assert_text(b->block_id, "from_the_future");
    assert_i64(b->memory_bytes, UNKNOWN);
    assert_i64(b->disk_bytes, UNKNOWN);
    assert_i64(b->level.replication, UNKNOWN);
    assert_i64(b->manager.port, UNKNOWN);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerBlockUpdated','Block Updated Info':{'Block Manager ID':{'Executor ID':'0'}}}"), ERR_INVALID);
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerBlockUpdated','Block Updated Info':[]}"), ERR_INVALID);
}

static void an_rdd_is_unpersisted(void **state)
{
    struct fixture *f = *state;
    assert_i64(must_decode(f, EVENT_UNPERSIST_RDD, "{'Event':'SparkListenerUnpersistRDD','RDD ID':13}")->unpersist.rdd_id, 13);      /* 3.5.7 */
    assert_int_equal(decode_text(f, "{'Event':'SparkListenerUnpersistRDD','RDD ID':'13'}"), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_cached), cmocka_unit_test(a_block_id_of_any_pattern_is_taken_and_none_is_refused), cmocka_unit_test(an_rdd_is_unpersisted),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
