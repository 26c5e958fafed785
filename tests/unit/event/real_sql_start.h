/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole SQLExecutionStart as Spark 4.3.0 wrote it, from our own corpus (workload tiny_app), with ' for ". In two halves: a compiler need not take longer strings. */
#ifndef TESTS_EVENT_REAL_SQL_START_H
#define TESTS_EVENT_REAL_SQL_START_H

#include <stdio.h>

static const char *real_sql_start(void)
{
    static char line[8192];
    static const char first[] =
        "{'Event':'org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart','executionId':0,'rootExecutionId':0,'description':'collect at /home/spark/"
        "jobs/workloads.py:350','details':'org.apache.spark.sql.classic.Dataset.collectToPython(Dataset.scala:2139)\\njava.base/jdk.internal.reflect.NativeMeth"
        "odAccessorImpl.invoke0(Native Method)\\njava.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke(NativeMethodAccessorImpl.java:77)\\njava.base/j"
        "dk.internal.reflect.DelegatingMethodAccessorImpl.invoke(DelegatingMethodAccessorImpl.java:43)\\njava.base/java.lang.reflect.Method.invoke(Method.java:"
        "569)\\npy4j.reflection.MethodInvoker.invoke(MethodInvoker.java:244)\\npy4j.reflection.ReflectionEngine.invoke(ReflectionEngine.java:374)\\npy4j.Gatewa"
        "y.invoke(Gateway.java:282)\\npy4j.commands.AbstractCommand.invokeMethod(AbstractCommand.java:132)\\npy4j.commands.CallCommand.execute(CallCommand.java"
        ":79)\\npy4j.ClientServerConnection.waitForCommands(ClientServerConnection.java:184)\\npy4j.ClientServerConnection.run(ClientServerConnection.java:108)"
        "\\njava.base/java.lang.Thread.run(Thread.java:840)','physicalPlanDescription':'== Physical Plan ==\\nAdaptiveSparkPlan (5)\\n+- HashAggregate (4)\\n  "
        " +- Exchange (3)\\n      +- HashAggregate (2)\\n         +- Range (1)\\n\\n\\n(1) Range\\nOutput [1]: [id#0L]\\nArguments: Range (0, 1000, step=1, spl"
        "its=Some(2))\\n\\n(2) HashAggregate\\nInput [1]: [id#0L]\\nKeys: []\\nFunctions [1]: [partial_sum(id#0L)]\\nAggregate Attributes [1]: [sum#3L]\\nResul"
        "ts [1]: [sum#4L]\\n\\n(3) Exchange\\nInput [1]: [sum#4L]\\nArguments: SinglePartition, ENSURE_REQUIREMENTS, [plan_id=11]\\n\\n(4) HashAggregate\\nInpu"
        "t [1]: [sum#4L]\\nKeys: []\\nFunctions [1]: [sum(id#0L)]\\nAggregate Attributes [1]: [sum(id#0L)#1L]\\nResults [1]: [sum(id#0L)#1L AS sum(id)#2L]\\n"
        "\\n(5) AdaptiveSparkPlan\\nOutput [1]: [sum(id)#2L]\\nArguments: isFinalPlan=false\\n\\n','sparkPlanInfo':{'nodeName':'AdaptiveSparkPlan','simpleStrin"
        "g':'AdaptiveSparkPlan isFinalPlan=false','children':[{'nodeName':'HashAggregate','simpleString':'HashAggregate(keys=[], functions=[sum(id#0L)])','chil"
        "dren':[{'nodeName':'Exchange','simpleString':'Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=11]','children':[{'nodeName':'HashAggregate','si"
        "mpleString':'HashAggregate(keys=[], functions=[partial_sum(id#0L)])','children':[{'nodeName':'Range','simpleString':'Range (0, 1000, step=1, splits=2)"
        "','children':[],'metadata':{},'metrics':[{'name':'number of output rows','accumulatorId':72,'metricType':'sum'}]}],'metadata':{},'metrics':[{'name':'s"
        "pill size','accumulatorId':68,'metricType':'size'},{'name':'time in aggregation build','accumulatorId':69,'metricType':'timing'},{'name':'peak memory'";
    static const char second[] =
        ",'accumulatorId':67,'metricType':'size'},{'name':'number of output rows','accumulatorId':66,'metricType':'sum'},{'name':'number of sort fallback tasks"
        "','accumulatorId':71,'metricType':'sum'},{'name':'avg hash probes per key','accumulatorId':70,'metricType':'average'}]}],'metadata':{},'metrics':[{'na"
        "me':'shuffle records written','accumulatorId':64,'metricType':'sum'},{'name':'remote merged reqs duration','accumulatorId':62,'metricType':'timing'},{"
        "'name':'remote merged blocks fetched','accumulatorId':55,'metricType':'sum'},{'name':'records read','accumulatorId':52,'metricType':'sum'},{'name':'lo"
        "cal bytes read','accumulatorId':50,'metricType':'size'},{'name':'merged fetch fallback count','accumulatorId':54,'metricType':'sum'},{'name':'local bl"
        "ocks read','accumulatorId':47,'metricType':'sum'},{'name':'remote merged chunks fetched','accumulatorId':57,'metricType':'sum'},{'name':'remote blocks"
        " read','accumulatorId':46,'metricType':'sum'},{'name':'data size','accumulatorId':44,'metricType':'size'},{'name':'local merged bytes read','accumulat"
        "orId':60,'metricType':'size'},{'name':'local merged chunks fetched','accumulatorId':58,'metricType':'sum'},{'name':'shuffle write time','accumulatorId"
        "':65,'metricType':'nsTiming'},{'name':'remote merged bytes read','accumulatorId':59,'metricType':'size'},{'name':'local merged blocks fetched','accumu"
        "latorId':56,'metricType':'sum'},{'name':'corrupt merged block chunks','accumulatorId':53,'metricType':'sum'},{'name':'fetch wait time','accumulatorId'"
        ":51,'metricType':'timing'},{'name':'remote bytes read','accumulatorId':48,'metricType':'size'},{'name':'number of partitions','accumulatorId':45,'metr"
        "icType':'sum'},{'name':'remote reqs duration','accumulatorId':61,'metricType':'timing'},{'name':'remote bytes read to disk','accumulatorId':49,'metric"
        "Type':'size'},{'name':'shuffle bytes written','accumulatorId':63,'metricType':'size'}]}],'metadata':{},'metrics':[{'name':'spill size','accumulatorId'"
        ":40,'metricType':'size'},{'name':'time in aggregation build','accumulatorId':41,'metricType':'timing'},{'name':'peak memory','accumulatorId':39,'metri"
        "cType':'size'},{'name':'number of output rows','accumulatorId':38,'metricType':'sum'},{'name':'number of sort fallback tasks','accumulatorId':43,'metr"
        "icType':'sum'},{'name':'avg hash probes per key','accumulatorId':42,'metricType':'average'}]}],'metadata':{},'metrics':[]},'time':1795989120328,'modif"
        "iedConfigs':{},'jobTags':['spark-session-56bab2b8-bcbc-4e6c-bf3e-394d0bb24f48-execution-root-id-0','spark-session-56bab2b8-bcbc-4e6c-bf3e-394d0bb24f48"
        "'],'jobGroupId':null,'queryId':'01a2294b-24ec-76da-873c-5fa4580fc3aa'}";
    snprintf(line, sizeof line, "%s%s", first, second);
    return line;
}

#endif
