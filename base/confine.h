/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving up what a program does not need, so that a fault in it is worth little to who wrote what it reads. For good: nothing of this can be taken back, and children inherit it.
 *
 * Files and network by Landlock (kernel 5.13 and later; landlock(7), Documentation/userspace-api/landlock.rst), without a library: only what was allowed can be opened, made or removed from then on, nothing can be
 * executed, and processes outside cannot be traced. What a kernel does not know it does not hold, and the rest holds all the same: confine_apply says which. What is open already stays open; looking at a
 * file's size and times is always allowed.
 *
 * A rule is about the directory that lay at the path when it was allowed, not about the path: one that is made, mounted or moved there later has none. confine_hides tells.
 *
 *   struct confine confine;
 *   confine_begin(&confine, network);
 *   confine_allow(&confine, "/var/log/spark", CONFINE_READ); …
 *   int level = confine_apply(&confine);
 *
 * Threads: before others are made (Landlock confines the thread that calls and those it makes); confine_hides from any. */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

enum { CONFINE_READ = 1, CONFINE_REMOVE = 2, CONFINE_WRITE = 4 /* and make and rename; with READ and REMOVE */ };

struct confine {
    int level; /* as confine_level */
    int fd;
};

/* No process begins with more rights than its parent has (set-user-id), and no memory image with secrets is left on a disk. For every verb. */
void confine_privileges(void);

/* The kernel's Landlock ABI, as far as we know them; 0: none. */
int confine_level(void);

/* network false: no TCP connection in or out, where the kernel holds that (ABI 4); true: only out. Names are asked for by UDP, which no ABI holds. */
void confine_begin(struct confine *self, bool network);

/* The directory or file at `path` and all below. What is not there is not allowed, and nothing is said. */
void confine_allow(struct confine *self, const char *path, int rights);

/* The level that holds from now on; 0: files are not confined. */
int confine_apply(struct confine *self);

/* Whether a directory is there and cannot be opened because it is another one than was allowed. */
bool confine_hides(const char *directory);

#endif
