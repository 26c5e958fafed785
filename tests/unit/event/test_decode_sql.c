/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/event/event_fixture.h"
#include "tests/unit/event/real_sql_start.h"
#include "tests/unit/event/real_task_end.h"

#define SQL "{'Event':'org.apache.spark.sql.execution.ui.SparkListener"

static void a_real_start_of_4_3_is_read_whole(void **state)
{
    const struct event_sql_start *e = &must_decode(*state, EVENT_SQL_START, real_sql_start())->sql_start;
    assert_i64(e->execution_id, 0);
    assert_i64(e->root_execution_id, 0);
    assert_i64(e->time_ms, 1795989120328);
    assert_true(str_starts(e->description, "collect at /") && str_ends(e->description, "/workloads.py:350"));
    assert_true(str_starts(e->details, "org.apache.spark.sql.classic.Dataset.collectToPython(Dataset.scala:2139)\njava.base/"));
    assert_true(str_starts(e->plan_text, "== Physical Plan ==\nAdaptiveSparkPlan (5)\n+- HashAggregate (4)\n"));
    assert_i64((int64_t)e->configs.count, 0);
    assert_i64((int64_t)e->tag_count, 2);
    assert_text(e->tags[1], "spark-session-56bab2b8-bcbc-4e6c-bf3e-394d0bb24f48");
    assert_text(e->job_group, NULL);
    assert_text(e->query_id, "01a2294b-24ec-76da-873c-5fa4580fc3aa");
    const struct sql_plan_info *plan = &e->plan;
    assert_i64((int64_t)plan->node_count, 5);
    static const char *const names[] = {"AdaptiveSparkPlan", "HashAggregate", "Exchange", "HashAggregate", "Range"};
    static const size_t metric_counts[] = {0, 6, 22, 6, 1};
    for (uint32_t i = 0; i < 5; i++) {           /* a chain */
        assert_text(plan->nodes[i].name, names[i]);
        assert_i64((int64_t)plan->nodes[i].metric_count, (int64_t)metric_counts[i]);
        assert_i64(plan->nodes[i].parent, i ? i - 1 : SQL_PLAN_NO_NODE);
        assert_i64(plan->nodes[i].first_child, i < 4 ? i + 1 : SQL_PLAN_NO_NODE);
        assert_i64(plan->nodes[i].next_sibling, SQL_PLAN_NO_NODE);
    }
    assert_text(plan->nodes[2].simple_string, "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=11]");
    const struct sql_plan_metric *written = plan->metrics + plan->nodes[2].first_metric;
    assert_i64(written->accumulator_id, 64);
    assert_text(written->name, "shuffle records written");
    assert_text(written->type, "sum");
}

static void the_oldest_start_has_no_root_no_configs_and_no_tags(void **state)
{
    const struct event_sql_start *e = &must_decode(*state, EVENT_SQL_START, SQL "SQLExecutionStart','executionId':3,'description':'count','details':'a\\nb','physicalPlanDescription':'p',"
        "'sparkPlanInfo':{'nodeName':'Scan text ','simpleString':'FileScan','children':[],'metadata':{'Format':'Text','Batched':'false'},'metrics':[{'name':'number of files',"
        "'accumulatorId':5,'metricType':'sum'}]},'time':1634253230128}")->sql_start;
    assert_i64(e->execution_id, 3);
    assert_i64(e->root_execution_id, UNKNOWN);
    assert_i64((int64_t)(e->configs.count + e->tag_count), 0);
    assert_text(e->plan.nodes[0].name, "Scan text ");
    assert_kv(e->plan.nodes[0].metadata, 0, "Format", "Text");
    assert_kv(e->plan.nodes[0].metadata, 1, "Batched", "false");
}

static void siblings_and_their_children_are_linked_in_the_order_of_the_log(void **state)
{
    const struct sql_plan_info *plan = &must_decode(*state, EVENT_SQL_PLAN_UPDATE, SQL "SQLAdaptiveExecutionUpdate','executionId':3,'physicalPlanDescription':null,'sparkPlanInfo':"
        "{'children':[{'nodeName':'a','children':[{'nodeName':'b'},{'nodeName':'c'}]},7,null,{'nodeName':'d','metrics':[{'accumulatorId':1},{'name':'no id'},5]}],'nodeName':'r',"
        "'explainId':{'x':[1]},'metrics':[{'accumulatorId':2,'name':'n','metricType':null,'experimental':true}]}}")->sql_plan_update.plan;
    assert_i64((int64_t)plan->node_count, 5);
    assert_text(plan->nodes[0].name, "r");
    assert_i64(plan->nodes[0].first_child, 1);
    assert_i64(plan->nodes[1].first_child, 2);
    assert_i64(plan->nodes[1].next_sibling, 4);
    assert_i64(plan->nodes[2].next_sibling, 3);
    assert_i64(plan->nodes[3].next_sibling, SQL_PLAN_NO_NODE);
    assert_text(plan->nodes[4].name, "d");
    assert_i64((int64_t)plan->nodes[4].metric_count, 1);
    assert_i64((int64_t)plan->nodes[0].metric_count, 1);
    assert_i64(plan->metrics[plan->nodes[0].first_metric].accumulator_id, 2);
    assert_text(plan->metrics[plan->nodes[0].first_metric].type, NULL);
}

static void of_children_and_plans_that_come_twice_the_last_count(void **state)
{
    const struct sql_plan_info *plan = &must_decode(*state, EVENT_SQL_START, SQL "SQLExecutionStart','executionId':1,'sparkPlanInfo':{'nodeName':'old'},'sparkPlanInfo':"
        "{'nodeName':'new','children':[{'nodeName':'x'},{'nodeName':'y'}],'children':[{'nodeName':'z'}]}}")->sql_start.plan;
    assert_text(plan->nodes[0].name, "new");
    uint32_t child = plan->nodes[0].first_child;
    assert_text(plan->nodes[child].name, "z");
    assert_i64(plan->nodes[child].next_sibling, SQL_PLAN_NO_NODE);
}

static void values_of_the_wrong_kind_read_as_unknown(void **state)
{
    const struct event_sql_start *e = &must_decode(*state, EVENT_SQL_START,
        SQL "SQLExecutionStart','executionId':1,'rootExecutionId':null,'description':7,'sparkPlanInfo':[{'nodeName':'a'}],'time':'x','modifiedConfigs':[1],'jobTags':{'a':'b'}}")->sql_start;
    assert_text(e->description, NULL);
    assert_i64(e->time_ms, UNKNOWN);
    assert_i64((int64_t)(e->plan.node_count + e->configs.count + e->tag_count), 0);
    assert_i64((int64_t)must_decode(*state, EVENT_SQL_START, SQL "SQLExecutionStart','executionId':1,'sparkPlanInfo':null}")->sql_start.plan.node_count, 0);
}

static void an_event_without_its_execution_is_invalid(void **state)
{
    static const char *const lines[] = {SQL "SQLExecutionStart','time':1}", SQL "SQLExecutionEnd','executionId':'1'}", SQL "DriverAccumUpdates','executionId':-1}",
                                        SQL "SQLAdaptiveExecutionUpdate','executionId':null}", SQL "SQLAdaptiveSQLMetricUpdates'}"};
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        assert_int_equal(decode_text(*state, lines[i]), ERR_INVALID);
}

static void an_end_tells_success_failure_and_not_said_apart(void **state)
{
    assert_text(must_decode(*state, EVENT_SQL_END, SQL "SQLExecutionEnd','executionId':0,'time':1795989122153,'errorMessage':''}")->sql_end.error, "");
    assert_text(must_decode(*state, EVENT_SQL_END, SQL "SQLExecutionEnd','executionId':0,'time':1795989122153,'errorMessage':'[A] b\\nc'}")->sql_end.error, "[A] b\nc");
    assert_text(must_decode(*state, EVENT_SQL_END, SQL "SQLExecutionEnd','executionId':0,'time':1795989122153}")->sql_end.error, NULL);
    assert_i64(((struct fixture *)*state)->event.sql_end.time_ms, 1795989122153);
}

static void driver_updates_keep_repeats_and_leave_out_what_is_no_pair(void **state)
{
    struct accumulator_update_list updates = must_decode(*state, EVENT_SQL_DRIVER_UPDATES,
        SQL "DriverAccumUpdates','executionId':2,'accumUpdates':[[61,51],[61,4],[63,-1],[5],7,[-3,1],[64,1945137399,9]]}")->sql_driver_updates.updates;
    static const int64_t want[][2] = {{61, 51}, {61, 4}, {63, -1}, {64, 1945137399}};
    assert_i64((int64_t)updates.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_i64(updates.items[i].id, want[i][0]);
        assert_i64(updates.items[i].value, want[i][1]);
    }
}

static void announced_metrics_are_read_and_may_be_none(void **state)
{
    const struct event_sql_metric_update *e = &must_decode(*state, EVENT_SQL_METRIC_UPDATE,
        SQL "SQLAdaptiveSQLMetricUpdates','executionId':2,'sqlPlanMetrics':[{'name':'a','accumulatorId':9,'metricType':'size'}]}")->sql_metric_update;
    assert_i64((int64_t)e->metric_count, 1);
    assert_text(e->metrics[0].type, "size");
    assert_i64((int64_t)must_decode(*state, EVENT_SQL_METRIC_UPDATE, SQL "SQLAdaptiveSQLMetricUpdates','executionId':2,'sqlPlanMetrics':[]}")->sql_metric_update.metric_count, 0);
}

/* A chain of `depth` nodes below a root. */
static char *deep_plan(size_t depth)
{
    static const char open[] = "{'nodeName':'N','simpleString':'S','children':[", shut[] = "],'metadata':{},'metrics':[]}";
    char *text = malloc((depth + 1) * (sizeof open + sizeof shut) + 256), *at = text;
    at += sprintf(at, SQL "SQLExecutionStart','executionId':4,'sparkPlanInfo':");
    for (size_t i = 0; i <= depth; i++)
        at += sprintf(at, "%s", open);
    for (size_t i = 0; i <= depth; i++)
        at += sprintf(at, "%s", shut);
    sprintf(at, ",'time':1700000000000}");
    return text;
}

static void a_plan_ten_thousand_nodes_deep_is_read(void **state)
{
    char *text = deep_plan(10000);
    const struct event_sql_start *e = &must_decode(*state, EVENT_SQL_START, text)->sql_start;
    assert_i64((int64_t)e->plan.node_count, 10001);
    assert_i64(e->plan.nodes[10000].parent, 9999);
    assert_i64(e->time_ms, 1700000000000);
    free(text);
}

static void a_plan_with_too_many_nodes_costs_its_graph_alone(void **state)
{
    char *text = deep_plan(SQL_PLAN_MAX_NODES);
    const struct event_sql_start *e = &must_decode(*state, EVENT_SQL_START, text)->sql_start;
    assert_true(e->plan.too_large);
    assert_i64((int64_t)e->plan.node_count, 0);
    assert_i64(e->time_ms, 1700000000000);
    free(text);
    text = deep_plan(SQL_PLAN_MAX_NODES - 1);
    e = &must_decode(*state, EVENT_SQL_START, text)->sql_start;
    assert_false(e->plan.too_large);
    assert_i64((int64_t)e->plan.node_count, SQL_PLAN_MAX_NODES);
    free(text);
}

static void a_cut_plan_is_corrupt(void **state)
{
    struct fixture *f = *state;
    size_t len = strlen(real_sql_start());
    for (size_t cut = 2000; cut < len; cut += 7)
        assert_int_equal(decode_bytes(f, real_sql_start(), cut), ERR_CORRUPT);
}

static void a_task_end_keeps_updates_of_all_but_task_metrics(void **state)
{
    struct accumulator_update_list updates = must_decode(*state, EVENT_TASK_END, real_task_end())->task_end.updates;
    static const int64_t want[][2] = {{255, 3}, {256, 262144}, {258, 10}};
    assert_true(updates.count >= 3);
    for (size_t i = 0; i < 3; i++) {
        assert_i64(updates.items[i].id, want[i][0]);
        assert_i64(updates.items[i].value, want[i][1]);
    }
    updates = must_decode(*state, EVENT_TASK_END, "{'Event':'SparkListenerTaskEnd','Stage ID':1,'Task Info':{'Task ID':2,'Index':0,'Accumulables':["
        "{'ID':1,'Name':'internal.metrics.executorRunTime','Update':5,'Value':5,'Internal':true,'Count Failed Values':true},"
        "{'ID':2,'Name':'duration','Update':'-1','Value':'9','Internal':true,'Count Failed Values':true,'Metadata':'sql'},"
        "{'ID':3,'Name':'mine','Update':'seven','Value':'8','Internal':false,'Count Failed Values':false},"
        "{'ID':4,'Name':'mine','Update':7,'Value':'8'},{'ID':5,'Update':6},{'ID':6,'Name':'no update','Value':'1'}]}}")->task_end.updates;
    assert_i64((int64_t)updates.count, 3);
    assert_i64(updates.items[0].id, 2);
    assert_i64(updates.items[0].value, -1);
    assert_i64(updates.items[1].id, 4);
    assert_i64(updates.items[1].value, 7);
    assert_i64(updates.items[2].id, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_start_of_4_3_is_read_whole), cmocka_unit_test(the_oldest_start_has_no_root_no_configs_and_no_tags),
        cmocka_unit_test(siblings_and_their_children_are_linked_in_the_order_of_the_log), cmocka_unit_test(of_children_and_plans_that_come_twice_the_last_count),
        cmocka_unit_test(values_of_the_wrong_kind_read_as_unknown), cmocka_unit_test(an_event_without_its_execution_is_invalid),
        cmocka_unit_test(an_end_tells_success_failure_and_not_said_apart), cmocka_unit_test(driver_updates_keep_repeats_and_leave_out_what_is_no_pair),
        cmocka_unit_test(announced_metrics_are_read_and_may_be_none), cmocka_unit_test(a_plan_ten_thousand_nodes_deep_is_read),
        cmocka_unit_test(a_plan_with_too_many_nodes_costs_its_graph_alone), cmocka_unit_test(a_cut_plan_is_corrupt),
        cmocka_unit_test(a_task_end_keeps_updates_of_all_but_task_metrics),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
