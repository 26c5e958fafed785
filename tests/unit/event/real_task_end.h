/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole TaskEnd as Spark 4.3.0 wrote it, from our own corpus (workload connect_ops), with ' for ". In two halves: a compiler need not take longer strings. */
#ifndef TESTS_EVENT_REAL_TASK_END_H
#define TESTS_EVENT_REAL_TASK_END_H

#include <stdio.h>

static const char *real_task_end(void)
{
    static char line[8192];
    static const char first[] =
        "{'Event':'SparkListenerTaskEnd','Stage ID':4,'Stage Attempt ID':0,'Task Type':'ShuffleMapTask','Task End Reason':{'Reason':'Success'},'Task Info':{'Ta"
        "sk ID':6,'Index':0,'Attempt':0,'Partition ID':0,'Launch Time':1795989948105,'Executor ID':'driver','Host':'localhost','Locality':'PROCESS_LOCAL','Spec"
        "ulative':false,'Getting Result Time':0,'Finish Time':1795989948254,'Failed':false,'Killed':false,'Accumulables':[{'ID':255,'Name':'number of output ro"
        "ws','Update':'3','Value':'3','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':256,'Name':'peak memory','Update':'262144','Value':'26"
        "2144','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':258,'Name':'time in aggregation build','Update':'10','Value':'10','Internal':"
        "true,'Count Failed Values':true,'Metadata':'sql'},{'ID':261,'Name':'number of output rows','Update':'25000','Value':'25000','Internal':true,'Count Fai"
        "led Values':true,'Metadata':'sql'},{'ID':268,'Name':'data size','Update':'72','Value':'72','Internal':true,'Count Failed Values':true,'Metadata':'sql'"
        "},{'ID':287,'Name':'shuffle bytes written','Update':'136','Value':'136','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':288,'Name':"
        "'shuffle records written','Update':'3','Value':'3','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':289,'Name':'shuffle write time',"
        "'Update':'4368778','Value':'4368778','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':290,'Name':'duration','Update':'39','Value':'3"
        "9','Internal':true,'Count Failed Values':true,'Metadata':'sql'},{'ID':291,'Name':'internal.metrics.executorDeserializeTime','Update':7,'Value':7,'Inte"
        "rnal':true,'Count Failed Values':true},{'ID':292,'Name':'internal.metrics.executorDeserializeCpuTime','Update':3230432,'Value':3230432,'Internal':true"
        ",'Count Failed Values':true},{'ID':293,'Name':'internal.metrics.executorRunTime','Update':131,'Value':131,'Internal':true,'Count Failed Values':true},"
        "{'ID':294,'Name':'internal.metrics.executorCpuTime','Update':33227785,'Value':33227785,'Internal':true,'Count Failed Values':true},{'ID':295,'Name':'i"
        "nternal.metrics.resultSize','Update':2305,'Value':2305,'Internal':true,'Count Failed Values':true},{'ID':300,'Name':'internal.metrics.peakExecutionMem"
        "ory','Update':262144,'Value':262144,'Internal':true,'Count Failed Values':true},{'ID':301,'Name':'internal.metrics.peakOnHeapExecutionMemory','Update'";
    static const char second[] =
        ":8650736,'Value':8650736,'Internal':true,'Count Failed Values':true},{'ID':321,'Name':'internal.metrics.shuffle.write.bytesWritten','Update':136,'Valu"
        "e':136,'Internal':true,'Count Failed Values':true},{'ID':322,'Name':'internal.metrics.shuffle.write.recordsWritten','Update':3,'Value':3,'Internal':tr"
        "ue,'Count Failed Values':true},{'ID':323,'Name':'internal.metrics.shuffle.write.writeTime','Update':4368778,'Value':4368778,'Internal':true,'Count Fai"
        "led Values':true},{'ID':325,'Name':'internal.metrics.input.recordsRead','Update':25000,'Value':25000,'Internal':true,'Count Failed Values':true}]},'Ta"
        "sk Executor Metrics':{'JVMHeapMemory':0,'JVMOffHeapMemory':0,'OnHeapExecutionMemory':0,'OffHeapExecutionMemory':0,'OnHeapStorageMemory':0,'OffHeapStor"
        "ageMemory':0,'OnHeapUnifiedMemory':0,'OffHeapUnifiedMemory':0,'DirectPoolMemory':0,'MappedPoolMemory':0,'ProcessTreeJVMVMemory':0,'ProcessTreeJVMRSSMe"
        "mory':0,'ProcessTreePythonVMemory':0,'ProcessTreePythonRSSMemory':0,'ProcessTreeOtherVMemory':0,'ProcessTreeOtherRSSMemory':0,'MinorGCCount':0,'MinorG"
        "CTime':0,'MajorGCCount':0,'MajorGCTime':0,'TotalGCTime':0,'ConcurrentGCCount':0,'ConcurrentGCTime':0},'Task Metrics':{'Executor Deserialize Time':7,'E"
        "xecutor Deserialize CPU Time':3230432,'Executor Run Time':131,'Executor CPU Time':33227785,'Peak Execution Memory':262144,'Peak On Heap Execution Memo"
        "ry':8650736,'Peak Off Heap Execution Memory':0,'Result Size':2305,'JVM GC Time':0,'Result Serialization Time':0,'Memory Bytes Spilled':0,'Disk Bytes S"
        "pilled':0,'Shuffle Read Metrics':{'Remote Blocks Fetched':0,'Local Blocks Fetched':0,'Fetch Wait Time':0,'Remote Bytes Read':0,'Remote Bytes Read To D"
        "isk':0,'Local Bytes Read':0,'Total Records Read':0,'Remote Requests Duration':0,'Push Based Shuffle':{'Corrupt Merged Block Chunks':0,'Merged Fetch Fa"
        "llback Count':0,'Merged Remote Blocks Fetched':0,'Merged Local Blocks Fetched':0,'Merged Remote Chunks Fetched':0,'Merged Local Chunks Fetched':0,'Mer"
        "ged Remote Bytes Read':0,'Merged Local Bytes Read':0,'Merged Remote Requests Duration':0}},'Shuffle Write Metrics':{'Shuffle Bytes Written':136,'Shuff"
        "le Write Time':4368778,'Shuffle Records Written':3},'Input Metrics':{'Bytes Read':0,'Records Read':25000},'Output Metrics':{'Bytes Written':0,'Records"
        " Written':0},'Updated Blocks':[]}}";
    snprintf(line, sizeof line, "%s%s", first, second);
    return line;
}

#endif
