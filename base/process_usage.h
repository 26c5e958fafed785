/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process uses, from /proc. Unknown where it cannot be read: it is another user's, or has ended. */
#ifndef BASE_PROCESS_USAGE_H
#define BASE_PROCESS_USAGE_H

#include <stdint.h>
#include <sys/types.h>

struct process_usage {
    int64_t resident_bytes, thread_count, open_file_count, cpu_ms;   /* UNKNOWN each */
};

void process_usage(pid_t pid, struct process_usage *ret);

/* Of this process; 0 where /proc is not there. Cheap. */
int64_t process_resident_bytes(void);

#endif
