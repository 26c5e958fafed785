/* SPDX-License-Identifier: Apache-2.0 */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static const char *at(const char *below)
{
    static char paths[4][128];
    static int n;
    n = (n + 1) % 4;
    snprintf(paths[n], sizeof paths[n], "%s/%s", root, below);
    return paths[n];
}

static void put(const char *below)
{
    int fd = open(at(below), O_CREAT | O_WRONLY, 0666);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/test_confine.XXXXXX");
    if (!mkdtemp(root))
        return -1;
    static const char *const dirs[] = {"logs", "logs/sub", "store", "store/apps", "elsewhere", "cleaned"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        mkdir(at(dirs[i]), 0777);
    put("logs/log");
    put("logs/sub/log");
    put("elsewhere/secret");
    put("cleaned/log");
    return symlink("../elsewhere/secret", at("logs/link"));
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

/* Line of the first thing that was not so, as the exit status; a child cannot report to cmocka. */
#define MUST(condition)                                                                                                                                                                  \
    do {                                                                                                                                                                                 \
        if (!(condition))                                                                                                                                                                \
            return __LINE__ % 200 + 10;                                                                                                                                                  \
    } while (0)

static int open_code(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int code_of(int result)
{
    return result ? errno : 0;
}

static int level_of_rights(bool network)
{
    struct confine confine;
    confine_begin(&confine, network);
    confine_allow(&confine, at("logs"), CONFINE_READ);
    confine_allow(&confine, at("cleaned"), CONFINE_READ | CONFINE_REMOVE);
    confine_allow(&confine, at("store"), CONFINE_WRITE);
    confine_allow(&confine, at("missing"), CONFINE_READ);
    return confine_apply(&confine);
}

static int inside(void)
{
    int before = open(at("elsewhere/secret"), O_RDONLY | O_CLOEXEC);
    int level = level_of_rights(false);
    MUST(level > 0);
    /* logs are read and nothing else */
    MUST(open_code(at("logs/log"), O_RDONLY) == 0);
    MUST(open_code(at("logs/sub/log"), O_RDONLY) == 0);
    MUST(open_code(at("logs"), O_RDONLY | O_DIRECTORY) == 0);
    MUST(open_code(at("logs/log"), O_WRONLY) == EACCES);
    MUST(open_code(at("logs/new"), O_WRONLY | O_CREAT) == EACCES);
    MUST(code_of(unlink(at("logs/log"))) == EACCES);
    /* nor is what lies elsewhere, whatever leads there */
    MUST(open_code(at("elsewhere/secret"), O_RDONLY) == EACCES);
    MUST(open_code(at("logs/link"), O_RDONLY) == EACCES);
    MUST(open_code(at("logs/../elsewhere/secret"), O_RDONLY) == EACCES);
    MUST(open_code(at("elsewhere"), O_RDONLY | O_DIRECTORY) == EACCES);
    MUST(open_code("/etc/passwd", O_RDONLY) == EACCES);
    /* the cleaner deletes and does not write */
    MUST(open_code(at("cleaned/log"), O_WRONLY) == EACCES);
    MUST(unlink(at("cleaned/log")) == 0);
    /* the store is written, and files in it get other names */
    MUST(open_code(at("store/new"), O_RDWR | O_CREAT) == 0);
    MUST(truncate(at("store/new"), 10) == 0);
    MUST(rename(at("store/new"), at("store/newer")) == 0);
    MUST(mkdir(at("store/made"), 0777) == 0);
    if (level >= 2)
        MUST(rename(at("store/newer"), at("store/apps/newest")) == 0);
    MUST(code_of(rename(at("store/apps/newest"), at("elsewhere/taken"))) != 0);
    MUST(code_of(symlink("/etc/passwd", at("store/link"))) == EACCES);
    /* nothing is executed, no one outside is met */
    char *const arguments[] = {(char[]){"true"}, NULL};
    MUST(execv("/bin/true", arguments) == -1 && errno == EACCES);
    if (level >= 4) {
        int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        MUST(code_of(connect(s, (const struct sockaddr *)&address, sizeof address)) == EACCES);
        MUST(code_of(bind(s, (const struct sockaddr *)&address, sizeof address)) == EACCES);
    }
    if (level >= 6)
        MUST(code_of(kill(getppid(), 0)) == EPERM);
    /* what was open stays open; sizes can be asked for */
    char byte;
    struct stat st;
    MUST(read(before, &byte, 1) == 1);
    MUST(stat(at("elsewhere/secret"), &st) == 0 && st.st_size == 1);
    return 0;
}

static int network_stays(void)
{
    int level = level_of_rights(true);
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    MUST(code_of(connect(s, (const struct sockaddr *)&address, sizeof address)) != EACCES);
    if (level >= 4)
        MUST(code_of(bind(s, (const struct sockaddr *)&address, sizeof address)) == EACCES);
    return 0;
}

static int other_directories_are_told(void)
{
    MUST(!confine_hides(at("missing")) && !confine_hides(at("elsewhere")));      /* not confined */
    MUST(level_of_rights(false) > 0);
    MUST(!confine_hides(at("logs")));
    MUST(!confine_hides(at("logs/sub")));
    MUST(!confine_hides(at("missing")));
    MUST(confine_hides(at("elsewhere")));
    return 0;
}

static int privileges(void)
{
    struct rlimit limit;
    confine_privileges();
    MUST(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    MUST(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0);
    return 0;
}

static int in_child(int (*what)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(what());
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static int has_landlock(void)
{
    struct confine confine;
    confine_begin(&confine, true);
    if (confine.fd >= 0)
        close(confine.fd);
    return confine.level > 0;
}

static void nothing_but_what_was_allowed(void **state)
{
    (void)state;
    if (!has_landlock())
        skip();
    assert_int_equal(in_child(inside), 0);
}

static void with_a_network_connections_go_out_only(void **state)
{
    (void)state;
    assert_int_equal(in_child(network_stays), 0);
}

static void a_directory_that_was_not_allowed_is_told(void **state)
{
    (void)state;
    if (!has_landlock())
        skip();
    assert_int_equal(in_child(other_directories_are_told), 0);
}

static void no_new_privileges_and_no_memory_image(void **state)
{
    (void)state;
    assert_int_equal(in_child(privileges), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_but_what_was_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(with_a_network_connections_go_out_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_directory_that_was_not_allowed_is_told, set_up, tear_down),
        cmocka_unit_test(no_new_privileges_and_no_memory_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
