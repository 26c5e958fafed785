/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker over real directories. While watching it runs in a child process, as the server's does. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/db.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "ingest/worker.h"

#define HEAD \
    "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.7\"}\n" \
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{},\"Spark Properties\":{},\"Hadoop Properties\":{},\"System Properties\":{},\"Classpath Entries\":{}}\n"
#define START(id) "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"" id "\",\"Timestamp\":1700000000000,\"User\":\"u\"}\n"
#define TASK(id) \
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task End Reason\":{\"Reason\":\"Success\"}," \
    "\"Task Info\":{\"Task ID\":" id ",\"Index\":" id ",\"Attempt\":0,\"Launch Time\":1700000001000,\"Executor ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\"," \
    "\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":1700000002000,\"Failed\":false,\"Killed\":false}}\n"
#define END "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":1700000009000}\n"

static char root[64], store[80], logs[80];
static pid_t watching;               /* the worker that a test has started and not waited for; 0: none */

static int set_up(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    snprintf(root, sizeof root, "/tmp/afterglow-test-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(store, sizeof store, "%s/store", root);
    snprintf(logs, sizeof logs, "%s/logs", root);
    return mkdir(logs, 0777);
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    if (watching) {                  /* the test failed: a worker that goes on would write into what is removed here */
        kill(watching, SIGKILL);
        waitpid(watching, NULL, 0);
        watching = 0;
    }
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", logs, name);
    return path;
}

static void write_text(const char *name, const char *mode, const char *text)
{
    FILE *file = fopen(path_of(name), mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* What was told, by name of the log. */
struct told {
    char name[64], state[16], flags[64], message[256];
    int64_t tasks;
    bool fresh, complete;
};
static struct told told[64];
static size_t told_count;

static void on_result(void *context, const struct worker_result *result)
{
    (void)context;
    if (told_count == ARRAY_LENGTH(told))
        return;
    struct told *t = &told[told_count++];
    const char *slash = strrchr(result->path, '/');
    snprintf(t->name, sizeof t->name, "%s", slash ? slash + 1 : result->path);
    snprintf(t->state, sizeof t->state, "%s", log_state_name(result->state));
    snprintf(t->flags, sizeof t->flags, "%s", result->flags);
    snprintf(t->message, sizeof t->message, "%s", result->message ? result->message : "");
    t->tasks = result->task_count;
    t->fresh = result->fresh;
    t->complete = result->complete;
}

static const struct told *find_told(const char *name)
{
    for (size_t i = 0; i < told_count; i++)
        if (strcmp(told[i].name, name) == 0)
            return &told[i];
    fail_msg("nothing was told of %s", name);
    return NULL;
}

static struct worker_summary run_once(const char *path)
{
    const struct worker_place place = {.path = path};
    const struct worker_options options = {.store_dir = store, .places = &place, .place_count = 1, .jobs = 2, .interval_ms = 100, .on_result = on_result};
    struct worker_summary summary;
    struct err err = {0};
    told_count = 0;
    enum err_code rc = worker_run(&options, &summary, &err);
    if (rc)
        fail_msg("%s", err.message);
    return summary;
}

static int64_t query(const char *sql)
{
    char path[120];
    int64_t value = UNKNOWN;
    struct db db;
    snprintf(path, sizeof path, "%s/catalog.db", store);
    if (db_open(&db, path, DB_READ, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, NULL))
        return UNKNOWN;
    if (db_query_i64(&db, sql, &value, NULL))
        value = UNKNOWN;
    db_close(&db);
    return value;
}

/* Waits until the query gives `want`; the worker runs beside. */
static void wait_for(const char *sql, int64_t want)
{
    int64_t give_up_ms = time_now_ms() + 60000, value;
    while ((value = query(sql)) != want) {
        if (time_now_ms() > give_up_ms)
            fail_msg("%s gave %lld, not %lld", sql, (long long)value, (long long)want);
        usleep(20000);
    }
}

/* A watching worker; *ret_control is the write end of its standard input. */
static pid_t start_watch(int *ret_control)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[0], STDIN_FILENO);
        close(fds[0]);
        close(fds[1]);
        const struct worker_place place = {.path = logs};
        const struct worker_options options = {.store_dir = store, .places = &place, .place_count = 1, .jobs = 2, .watch = true, .control = true, .interval_ms = 100};
        struct worker_summary summary;
        struct err err = {0};
        _exit(worker_run(&options, &summary, &err) ? 1 : 0);
    }
    close(fds[0]);
    *ret_control = fds[1];
    return watching = pid;
}

static int end_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    watching = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void each_log_of_a_directory_is_told_once_with_the_truth(void **state)
{
    (void)state;
    write_text("whole", "w", HEAD START("a") TASK("0") TASK("1") END);
    write_text("cut", "w", HEAD START("b") TASK("0") "{\"Event\":\"Spark");
    write_text("running.inprogress", "w", HEAD START("c") TASK("0") "{\"Event\":\"Spark");
    write_text("empty", "w", "");
    write_text("README", "w", "hello\n");
    struct worker_summary summary = run_once(logs);
    assert_int_equal(told_count, 5);
    assert_string_equal(find_told("whole")->state, "loaded");
    assert_int_equal(find_told("whole")->tasks, 2);
    assert_true(find_told("whole")->complete);
    assert_string_equal(find_told("cut")->state, "partial");
    assert_string_equal(find_told("cut")->flags, "cut");
    assert_string_equal(find_told("running.inprogress")->state, "loaded");
    assert_false(find_told("running.inprogress")->complete);
    assert_string_equal(find_told("empty")->flags, "empty");
    assert_string_equal(find_told("README")->flags, "not-a-log");
    assert_string_equal(find_told("README")->state, "skipped");
    assert_int_equal(summary.loaded_count, 2);
    assert_int_equal(summary.partial_count, 1);
    assert_int_equal(summary.skipped_count, 2);
    assert_int_equal(query("SELECT count(*) FROM place WHERE last_scan_ms > 0 AND entry_count = 5 AND last_error IS NULL"), 1);
}

static void what_is_in_the_store_is_not_read_again(void **state)
{
    (void)state;
    write_text("a", "w", HEAD START("a") TASK("0") END);
    run_once(logs);
    int64_t generation = query("SELECT generation FROM app");
    run_once(logs);
    assert_false(find_told("a")->fresh);
    assert_string_equal(find_told("a")->state, "loaded");
    assert_int_equal(query("SELECT generation FROM app"), generation);
    write_text("a", "a", TASK("1"));
    run_once(logs);
    assert_true(find_told("a")->fresh);
    assert_int_equal(find_told("a")->tasks, 2);
    assert_true(query("SELECT generation FROM app") > generation);
}

static void a_lost_file_of_the_store_is_made_again(void **state)
{
    (void)state;
    char command[160];
    write_text("a", "w", HEAD START("a") TASK("0") END);
    run_once(logs);
    snprintf(command, sizeof command, "rm %s/apps/*.db", store);
    assert_int_equal(system(command), 0);
    run_once(logs);
    assert_true(find_told("a")->fresh);
    snprintf(command, sizeof command, "test -f %s/apps/a-*.db", store);
    assert_int_equal(system(command), 0);
}

static void a_log_named_alone_has_no_place(void **state)
{
    (void)state;
    write_text("a", "w", HEAD START("a") END);
    run_once(path_of("a"));
    assert_string_equal(find_told("a")->state, "loaded");
    assert_int_equal(query("SELECT count(*) FROM place"), 0);
    struct worker_summary summary = run_once(path_of("nothing"));
    assert_int_equal(summary.missing_count, 1);
    write_text("README", "w", "hello\n");
    assert_int_equal(run_once(path_of("README")).refused_count, 1);
}

static void a_store_that_cannot_be_written_is_an_error_with_a_reason(void **state)
{
    (void)state;
    const struct worker_place place = {.path = logs};
    const struct worker_options options = {.store_dir = "/proc/nowhere", .places = &place, .place_count = 1, .jobs = 1};
    struct worker_summary summary;
    struct err err = {0};
    assert_int_not_equal(worker_run(&options, &summary, &err), ERR_OK);
    assert_non_null(strstr(err.message, "/proc/nowhere"));
}

static void a_growing_log_is_followed_through_its_rename(void **state)
{
    (void)state;
    int control;
    pid_t pid = start_watch(&control);
    write_text("a.inprogress", "w", HEAD START("a") TASK("0") "{\"Event\":\"SparkLi");
    wait_for("SELECT task_count FROM app WHERE loaded", 1);
    int64_t generation = query("SELECT generation FROM app");
    write_text("a.inprogress", "a", "stenerFromTheFuture\"}\n" TASK("1") TASK("2"));
    wait_for("SELECT task_count FROM app", 3);
    assert_true(query("SELECT generation FROM app") > generation);
    char from[160];
    snprintf(from, sizeof from, "%s", path_of("a.inprogress"));
    write_text("a.inprogress", "a", TASK("3") END);
    assert_int_equal(rename(from, path_of("a")), 0);
    wait_for("SELECT task_count FROM app WHERE complete", 4);
    wait_for("SELECT count(*) FROM log WHERE state = 'loaded'", 1);
    assert_int_equal(query("SELECT count(*) FROM app"), 1);
    assert_int_equal(query("SELECT count(*) FROM log WHERE state = 'gone' AND path LIKE '%.inprogress'"), 1);
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    close(control);
}

static void a_replaced_log_is_read_anew_and_a_deleted_one_leaves_its_run(void **state)
{
    (void)state;
    int control;
    pid_t pid = start_watch(&control);
    write_text("a", "w", HEAD START("a") TASK("0") TASK("1") END);
    wait_for("SELECT task_count FROM app WHERE loaded", 2);
    write_text("b", "w", HEAD START("a") TASK("5") END);                    /* put in place as a whole, as rsync does */
    char from[160];
    snprintf(from, sizeof from, "%s", path_of("b"));
    assert_int_equal(rename(from, path_of("a")), 0);
    wait_for("SELECT task_count FROM app WHERE loaded", 1);
    assert_int_equal(unlink(path_of("a")), 0);
    wait_for("SELECT count(*) FROM log WHERE state = 'gone' AND path LIKE '%/a'", 1);
    assert_int_equal(query("SELECT loaded FROM app"), 1);
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    close(control);
}

/* A scan tells such logs by their keys alone (lookout.h). */
static void logs_that_did_not_change_are_seen_to_when_something_else_did(void **state)
{
    (void)state;
    int control;
    pid_t pid = start_watch(&control);
    write_text("larger", "w", HEAD START("a") TASK("0") TASK("1") END);
    write_text("b", "w", HEAD START("b") TASK("0") END);
    wait_for("SELECT count(*) FROM log WHERE state = 'loaded'", 2);
    write_text("smaller", "w", HEAD START("a") TASK("0") END);
    wait_for("SELECT count(*) FROM log WHERE state = 'skipped' AND path LIKE '%/smaller' AND reason IS NOT NULL", 1);
    int64_t last_scan_ms = query("SELECT last_scan_ms FROM place");
    char text[200], away[200];
    snprintf(text, sizeof text, "SELECT last_scan_ms > %lld FROM place", (long long)last_scan_ms);
    wait_for(text, 1);                                                      /* all were told once, and are the same */
    assert_int_equal(unlink(path_of("larger")), 0);
    wait_for("SELECT count(*) FROM log WHERE path LIKE '%/smaller' AND reason LIKE '%is gone now%'", 1);
    wait_for("SELECT count(*) FROM log WHERE state = 'gone'", 1);

    int64_t generation = query("SELECT generation FROM app WHERE app_id = 'b'");
    snprintf(away, sizeof away, "%s/b", root);
    assert_int_equal(rename(path_of("b"), away), 0);
    wait_for("SELECT count(*) FROM log WHERE state = 'gone' AND path LIKE '%/b'", 1);
    assert_int_equal(rename(away, path_of("b")), 0);
    wait_for("SELECT count(*) FROM log WHERE state = 'loaded' AND path LIKE '%/b'", 1);
    assert_int_equal(query("SELECT generation FROM app WHERE app_id = 'b'"), generation);
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    close(control);
}

static void a_database_that_is_gone_is_loaded_again_when_somebody_opens_it(void **state)
{
    (void)state;
    int control;
    pid_t pid = start_watch(&control);
    write_text("a", "w", HEAD START("a") TASK("0") END);
    wait_for("SELECT count(*) FROM log WHERE state = 'loaded'", 1);
    int64_t generation = query("SELECT generation FROM app");
    char text[160];
    snprintf(text, sizeof text, "rm %s/apps/*.db", store);
    assert_int_equal(system(text), 0);
    int len = snprintf(text, sizeof text, "want %lld\n", (long long)query("SELECT log_id FROM log"));
    assert_int_equal(write(control, text, (size_t)len), len);
    snprintf(text, sizeof text, "SELECT generation > %lld FROM app WHERE loaded", (long long)generation);
    wait_for(text, 1);
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    close(control);
}

/* What it would write on is seen by nobody. Whoever watches over it starts it again. */
static void a_worker_whose_catalogue_was_removed_ends(void **state)
{
    (void)state;
    int control;
    pid_t pid = start_watch(&control);
    wait_for("SELECT count(*) FROM place WHERE last_scan_ms > 0", 1);
    char path[120];
    snprintf(path, sizeof path, "%s/catalog.db", store);
    assert_int_equal(unlink(path), 0);
    assert_int_not_equal(end_of(pid), 0);
    close(control);
}

static void the_end_of_control_ends_the_worker(void **state)
{
    (void)state;
    int control;
    pid_t pid = start_watch(&control);
    wait_for("SELECT count(*) FROM place WHERE last_scan_ms > 0", 1);
    assert_int_equal(write(control, "want 99\nscan\nnonsense\n", 22), 22);
    close(control);
    assert_int_equal(end_of(pid), 0);
    char command[160];
    snprintf(command, sizeof command, "ls %s/worker-* > /dev/null 2>&1", store);
    assert_int_not_equal(system(command), 0);                               /* an orderly end leaves no marker */
}

static void a_place_that_is_away_says_so_and_comes_back(void **state)
{
    (void)state;
    int control;
    char away[96];
    snprintf(away, sizeof away, "%s.away", logs);
    write_text("a", "w", HEAD START("a") TASK("0") END);
    pid_t pid = start_watch(&control);
    wait_for("SELECT count(*) FROM log WHERE state = 'loaded'", 1);
    int64_t generation = query("SELECT generation FROM app");
    assert_int_equal(rename(logs, away), 0);
    wait_for("SELECT count(*) FROM place WHERE last_error IS NOT NULL", 1);
    assert_int_equal(query("SELECT count(*) FROM log WHERE state = 'loaded'"), 1);
    assert_int_equal(mkdir(logs, 0777), 0);                                 /* an empty mount point */
    wait_for("SELECT count(*) FROM log WHERE state = 'gone'", 1);
    assert_int_equal(rmdir(logs), 0);
    assert_int_equal(rename(away, logs), 0);
    wait_for("SELECT count(*) FROM log WHERE state = 'loaded'", 1);
    assert_int_equal(query("SELECT generation FROM app"), generation);      /* not loaded again */
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    close(control);
}

static void a_killed_worker_leaves_nothing_that_confuses_the_next(void **state)
{
    (void)state;
    int control;
    /* Large enough to be caught in the middle: some 40 MB of tasks. */
    FILE *file = fopen(path_of("large"), "w");
    assert_non_null(file);
    fputs(HEAD START("large"), file);
    enum { TASKS = 100000 };
    for (int i = 0; i < TASKS; i++)
        fprintf(file, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task End Reason\":{\"Reason\":\"Success\"},"
            "\"Task Info\":{\"Task ID\":%d,\"Index\":%d,\"Attempt\":0,\"Launch Time\":1700000001000,\"Executor ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\","
            "\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":1700000002000,\"Failed\":false,\"Killed\":false}}\n", i, i);
    fputs(END, file);
    fclose(file);
    for (int death = 1; death <= 2; death++) {
        pid_t pid = start_watch(&control);
        wait_for("SELECT count(*) FROM log WHERE state = 'loading'", 1);
        kill(pid, SIGKILL);
        assert_int_equal(end_of(pid), -SIGKILL);
        close(control);
        if (query("SELECT count(*) FROM log WHERE state = 'loading'") != 1)
            skip();                          /* it was faster than the signal */
        if (death == 1) {
            pid = start_watch(&control);     /* the second start finishes it: the first death is forgiven */
            wait_for("SELECT task_count FROM app WHERE loaded", TASKS);
            wait_for("SELECT tries FROM log", 0);
            kill(pid, SIGTERM);
            assert_int_equal(end_of(pid), 0);
            close(control);
            write_text("large", "a", "\n");
        }
    }
    char command[300];
    run_once(logs);
    assert_string_equal(find_told("large")->state, "loaded");
    assert_int_equal(find_told("large")->tasks, TASKS);
    snprintf(command, sizeof command, "ls %s/apps/*.loading.db* %s/apps/*.lock > /dev/null 2>&1", store, store);
    assert_int_not_equal(system(command), 0);
}

static void a_named_pipe_does_not_hold_the_scan(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of("pipe"), 0666), 0);
    write_text("a", "w", HEAD START("a") END);
    run_once(logs);
    assert_string_equal(find_told("pipe")->state, "skipped");
    assert_string_equal(find_told("a")->state, "loaded");
}

static void failed_allocations_anywhere_are_survived(void **state)
{
    (void)state;
    write_text("a", "w", HEAD START("a") TASK("0") END);
    write_text("b.inprogress", "w", HEAD START("b") TASK("0"));
    write_text("README", "w", "hello\n");
    const struct worker_place place = {.path = logs};
    const struct worker_options options = {.store_dir = store, .places = &place, .place_count = 1, .jobs = 2, .interval_ms = 100};
    bool over = false;
    for (uint64_t nth = 1; !over; nth += 1 + nth / 12) {                   /* threads make the order vary: each number is a new case anyway */
        struct worker_summary summary;
        char command[128];
        snprintf(command, sizeof command, "rm -rf %s", store);
        assert_int_equal(system(command), 0);
        mem_fail_at(nth, 0);
        enum err_code rc = worker_run(&options, &summary, NULL);
        over = mem_alloc_count() < nth;
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM);
        run_once(logs);                                                     /* and nothing stays behind that confuses the next start */
        assert_string_equal(find_told("a")->state, "loaded");
        assert_string_equal(find_told("b.inprogress")->state, "loaded");
    }
}

/* Most loads at the same time, seen from outside, of four logs that take a while. */
static int64_t most_loads_at_once(int64_t max_memory_bytes)
{
    int64_t most = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct worker_place place = {.path = logs};
        const struct worker_options options = {.store_dir = store, .places = &place, .place_count = 1, .jobs = 4, .interval_ms = 100, .policy.max_memory_bytes = max_memory_bytes};
        struct worker_summary summary;
        struct err err = {0};
        _exit(worker_run(&options, &summary, &err) || summary.loaded_count != 4 ? 1 : 0);
    }
    watching = pid;
    siginfo_t info = {0};
    while (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) && !info.si_pid) {
        int64_t now = query("SELECT count(*) FROM log WHERE state = 'loading'");
        most = MAX(most, now);
        usleep(1000);
    }
    assert_int_equal(end_of(pid), 0);
    return most;
}

static void loads_wait_for_each_other_where_memory_is_short(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        FILE *file = fopen(path_of(names[i]), "w");
        assert_non_null(file);
        fprintf(file, HEAD "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"%s\",\"Timestamp\":1700000000000,\"User\":\"u\"}\n", names[i]);
        for (int line = 0; line < 50000; line++)
            fputs(TASK("7"), file);
        fputs(END, file);
        fclose(file);
    }
    assert_int_equal(most_loads_at_once(1), 1);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", store);
    assert_int_equal(system(command), 0);
    assert_in_range(most_loads_at_once(0), 2, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_log_of_a_directory_is_told_once_with_the_truth),
        TEST(what_is_in_the_store_is_not_read_again),
        TEST(a_lost_file_of_the_store_is_made_again),
        TEST(a_log_named_alone_has_no_place),
        TEST(a_store_that_cannot_be_written_is_an_error_with_a_reason),
        TEST(a_growing_log_is_followed_through_its_rename),
        TEST(a_replaced_log_is_read_anew_and_a_deleted_one_leaves_its_run),
        TEST(logs_that_did_not_change_are_seen_to_when_something_else_did),
        TEST(a_database_that_is_gone_is_loaded_again_when_somebody_opens_it),
        TEST(a_worker_whose_catalogue_was_removed_ends),
        TEST(the_end_of_control_ends_the_worker),
        TEST(a_place_that_is_away_says_so_and_comes_back),
        TEST(a_killed_worker_leaves_nothing_that_confuses_the_next),
        TEST(a_named_pipe_does_not_hold_the_scan),
        TEST(failed_allocations_anywhere_are_survived),
        TEST(loads_wait_for_each_other_where_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
