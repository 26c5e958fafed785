/* SPDX-License-Identifier: Apache-2.0
 *
 * What failure texts and values of settings say. */
#include "analysis/conf_value.h"
#include "analysis/error_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"

static void kinds_of_errors(void **state)
{
    static const struct {
        const char *text;
        enum error_kind kind;
    } cases[] = {
        {"java.lang.OutOfMemoryError: Java heap space\n\tat x.y", ERROR_OOM_HEAP},
        {"ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB",
         ERROR_OOM_CONTAINER},
        {"MemoryError\n  File \"a.py\"", ERROR_OOM_PYTHON},
        {"Command exited with code 137", ERROR_OTHER}, /* a kill is no proof of memory */
        {"Command exited with code 52", ERROR_OOM_HEAP},
        {"ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Command exited with code 53", ERROR_DISK_FULL},
        {"FetchFailed(BlockManagerId(3, host, 1, None), shuffleId=0", ERROR_FETCH},
        {"java.io.IOException: No space left on device", ERROR_DISK_FULL},
        {"org.apache.spark.SparkException: [FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file file:///t/part-0. File does not exist.", ERROR_FILE_GONE},
        {"java.io.FileNotFoundException: \nFile file:/t/part-0 does not exist\n\nIt is possible the underlying files have been updated.", ERROR_FILE_GONE},
        {"java.io.FileNotFoundException: /tmp/blockmgr-1/0c/temp_shuffle_2 (No such file or directory)", ERROR_OTHER}, /* Spark's own */
        {"org.apache.spark.api.python.PythonException: Traceback", ERROR_PYTHON},
        {"[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):\n  File \"a.py\"\nValueError: bad", ERROR_PYTHON},
        {"java.lang.ClassNotFoundException: a.B", ERROR_CLASS_NOT_FOUND},
        {"", ERROR_OTHER},
        {"[SPARK_JOB_CANCELLED] Job 6 cancelled A job with the same tag x has failed. SQLSTATE: XXKDA", ERROR_CANCELLED},
        {"Job 12 cancelled part of cancelled job group nightly", ERROR_CANCELLED},
        {"Job 3 cancelled ", ERROR_CANCELLED},
        {"Job 3 cancelled because SparkContext was shut down", ERROR_OTHER},
        {"Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times: java.util.concurrent.TimeoutException", ERROR_TIMEOUT},
        {"java.lang.InterruptedException", ERROR_CANCELLED},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_int_equal(error_kind_of(str_of(cases[i].text)), cases[i].kind);
    assert_int_equal(error_kind_of(STR_NONE), ERROR_OTHER);
    assert_true(error_is_shutdown(STR_LIT("Job 3 cancelled because SparkContext was shut down")) && !error_is_shutdown(STR_LIT("Job 3 cancelled ")) &&
                !error_is_shutdown(STR_NONE));
    assert_true(error_is_oom(ERROR_OOM_PYTHON) && !error_is_oom(ERROR_FETCH));
}

static void classes_and_messages(void **state)
{
    struct str text = STR_LIT("Job aborted due to stage failure: Task 3 failed 4 times, most recent failure: java.lang.IllegalStateException: bad row 17\n\tat a.b(C.scala:3)");
    (void)state;
    assert_true(str_is(error_class_of(text), "java.lang.IllegalStateException"));
    assert_true(str_is(error_message_of(text), "bad row 17"));
    assert_false(str_known(error_class_of(STR_LIT("nothing to see"))));
    assert_true(str_is(error_message_of(STR_LIT("nothing to see\nmore")), "nothing to see"));
    assert_false(str_known(error_class_of(STR_NONE)));
    assert_false(str_known(error_message_of(STR_NONE)));
}

/* Texts of real logs (failures of 4.3.0, and a write that failed), shortened. */
static void origins(void **state)
{
    static const struct {
        const char *text, *origin;
    } cases[] = {
        {"org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):\n"
         "  File \"/opt/spark-4.3.0/python/lib/pyspark.zip/pyspark/worker.py\", line 4220, in process\n    out_iter = func(index, iterator)\n               ^^^^^^^^^^^^^^^^^^^^^\n"
         "  File \"/opt/jobs/workloads.py\", line 171, in flaky\n    raise RuntimeError(\"planted\")\n    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
         "RuntimeError: planted\n SQLSTATE: 38000\n\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1097)",
         "workloads.py, line 171, in flaky: raise RuntimeError(\"planted\")"},
        {"Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <lambda>\nZeroDivisionError: division by zero", "<stdin>, line 1, in <lambda>"},
        {"org.apache.spark.SparkException: Task failed while writing rows.\n\tat org.apache.spark.sql.errors.X.y(X.scala:1)\n"
         "Caused by: java.io.IOException: No space left on device\n\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)\n\tat com.acme.etl.Sink.flush(Sink.scala:88)\n"
         "\tat com.acme.etl.Job.run(Job.scala:12)\n\nDriver stacktrace:\n\tat com.acme.Main.main(Main.scala:3)\nCaused by: a.B: of the driver",
         "java.io.IOException: No space left on device, at com.acme.etl.Sink.flush(Sink.scala:88)"},
        {"java.lang.IllegalStateException: bad\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:1)\n\tat scala.Option.get(Option.scala:2)", ""},
        {"java.lang.RuntimeException: bad exec\n\tat $line14.$read$$iw.f(<console>:25)\n\tat org.apache.spark.scheduler.Task.run(Task.scala:99)",
         "<console>:25"},
        {"FetchFailed(BlockManagerId(3, host, 1, None), shuffleId=0", ""},
        {"Traceback (most recent call last):", ""},
        {"Traceback (most recent call last):\n  File \"", ""},
        {"", ""},
        {"java.lang.RuntimeException: bad exec\n\tat $line16.$read$$iw$$iw$$anonfun$1.apply$mcII$sp(<console>:26)\n\tat scala.collection.Iterator.next(Iterator.scala:1)", "<console>:26"},
        {"E: m\n\tat $line16.$read$$iw.apply", "$line16.$read$$iw.apply"},
    };
    char origin[ERROR_ORIGIN_BYTES];
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        error_origin(str_of(cases[i].text), origin);
        assert_string_equal(origin, cases[i].origin);
    }
    error_origin(STR_NONE, origin);
    assert_string_equal(origin, "");
    /* However long its cause is, where it was thrown is said. */
    char *long_text = malloc(5000);
    memset(long_text, 'x', 5000);
    memcpy(long_text, "Caused by: ", 11);
    memcpy(long_text + 4000, "\n\tat a.B.c(D.java:5)\n\xff", 23);
    error_origin((struct str){long_text, 5000}, origin);
    assert_non_null(strstr(origin, "xxx, at a.B.c(D.java:5)"));
    memset(long_text + 14, '\xe4', 4000);
    error_origin((struct str){long_text, 5000}, origin);
    assert_int_equal(utf8_valid_prefix(origin, strlen(origin)), strlen(origin));
    free(long_text);
}

static void signatures(void **state)
{
    char a[ERROR_SIGNATURE_BYTES], b[ERROR_SIGNATURE_BYTES];
    (void)state;
    error_signature(STR_LIT("a.BadException: row 17 of /data/x/part-0001 at 0x7f3a"), a);
    error_signature(STR_LIT("a.BadException: row 99 of /data/y/part-0002 at 0xdead1"), b);
    assert_string_equal(a, "a.BadException: row # of # at #");
    assert_string_equal(a, b);
    error_signature(STR_NONE, a);
    assert_string_equal(a, "");
    /* As long as it gets, and with bytes that are no text. */
    char *long_text = malloc(100000);
    memset(long_text, 'x', 100000);
    memcpy(long_text, "E: \xff\xfe", 5);
    error_signature((struct str){long_text, 100000}, a);
    assert_true(strlen(a) < ERROR_SIGNATURE_BYTES);
    assert_int_equal(utf8_valid_prefix(a, strlen(a)), strlen(a));
    free(long_text);
}

static void settings(void **state)
{
    const int64_t mib = BYTES_PER_MIB;
    (void)state;
    assert_int_equal(conf_bytes(STR_LIT("4g"), mib), 4096 * mib);
    assert_int_equal(conf_bytes(STR_LIT("512M"), 1), 512 * mib);
    assert_int_equal(conf_bytes(STR_LIT("384"), mib), 384 * mib);
    assert_int_equal(conf_bytes(STR_LIT("10mb"), 1), 10 * mib);
    assert_int_equal(conf_bytes(STR_LIT("-1"), 1), UNKNOWN);
    assert_int_equal(conf_bytes(STR_LIT("4x"), 1), UNKNOWN);
    assert_int_equal(conf_bytes(STR_LIT("9223372036854775807t"), 1), UNKNOWN);
    assert_int_equal(conf_bytes(STR_LIT(""), 1), UNKNOWN);
    assert_int_equal(conf_bytes(STR_NONE, 1), UNKNOWN);
    assert_int_equal(conf_duration_ms(STR_LIT("60s"), 1000), 60000);
    assert_int_equal(conf_duration_ms(STR_LIT("100ms"), 1000), 100);
    assert_int_equal(conf_duration_ms(STR_LIT("5"), 1000), 5000);
    assert_int_equal(conf_duration_ms(STR_LIT("2m"), 1000), 120000);
    assert_int_equal(conf_count(STR_LIT("12")), 12);
    assert_int_equal(conf_count(STR_LIT("many")), UNKNOWN);
    assert_true(conf_true(STR_LIT("TRUE"), false));
    assert_false(conf_true(STR_LIT("yes"), true));
    assert_true(conf_true(STR_NONE, true));
    assert_true(fabs(conf_number(STR_LIT("0.6")) - 0.6) < 1e-12);
    assert_true(isnan(conf_number(STR_LIT("inf"))));
    assert_true(isnan(conf_number(STR_LIT("0.6x"))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_of_errors), cmocka_unit_test(classes_and_messages), cmocka_unit_test(origins), cmocka_unit_test(signatures),
                                       cmocka_unit_test(settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
