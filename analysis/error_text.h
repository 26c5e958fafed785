/* SPDX-License-Identifier: Apache-2.0
 *
 * What a failure text says: which class failed, which family of errors that is, and a form in which equal failures are equal (spec/findings.md 10.1). The texts are those of end reasons
 * and removed executors: any bytes. Pure; nothing is allocated. */
#ifndef ANALYSIS_ERROR_TEXT_H
#define ANALYSIS_ERROR_TEXT_H

#include <stdbool.h>

#include "base/str.h"

/* What Spark's own processes end with (SparkExitCode, ExecutorExitCode). */
enum { EXIT_OUT_OF_MEMORY = 52, EXIT_NO_DIRECTORY = 53, EXIT_NO_HEARTBEAT = 56 };
/* The exit code that a text names ("exit code 137", "Exit status: 143", "exitCode=52"); UNKNOWN. */
int64_t exit_code_of(struct str text);

enum error_kind { ERROR_CANCELLED, ERROR_OOM_HEAP, ERROR_OOM_CONTAINER, ERROR_OOM_PYTHON, ERROR_FETCH, ERROR_DISK_FULL, ERROR_CORRUPT, ERROR_FILE_GONE, ERROR_PERMISSION, ERROR_TIMEOUT, ERROR_PYTHON,
                  ERROR_COMMIT_DENIED, ERROR_CLASS_NOT_FOUND, ERROR_ASSERTION, ERROR_OTHER, ERROR_KIND_COUNT };
extern const char *const error_kind_names[ERROR_KIND_COUNT];

/* First match wins, in the order of the enum. Only the first 64 KiB are looked at. */
enum error_kind error_kind_of(struct str text);
bool error_is_oom(enum error_kind kind);
/* The application ended under a job: not why it ended, nor anybody's wish that the job did. */
bool error_is_shutdown(struct str text);

/* Of a Python traceback, class and message are those of its last line ("ValueError: no such key"), not of the exception that Spark wraps it in. */

/* The first word that is a class name ending in Exception or Error (with its package), a part of `text`; STR_NONE. */
struct str error_class_of(struct str text);

/* The first line with something to say: what stands behind the class name, or the first line as it is; a part of `text`. */
struct str error_message_of(struct str text);

/* Both as one line, "ValueError: no such key"; empty where the text is unknown. NUL-terminated, UTF-8 where the text is. */
#define ERROR_SUMMARY_BYTES 301
void error_summary(struct str text, char ret[ERROR_SUMMARY_BYTES]);

/* Class and message with numbers, hex, paths and ids as '#': NUL-terminated, UTF-8 where the text is. */
#define ERROR_SIGNATURE_BYTES 201
void error_signature(struct str text, char ret[ERROR_SIGNATURE_BYTES]);

/* Where it came from, for somebody who looks for the line to correct: Python's innermost call with its line of code ("workloads.py, line 171, in flaky: raise ..."); else the innermost
 * cause and the first call of it that is neither Spark's, Scala's nor Java's own, or either. Folders are left out, calls of the driver too. Empty: the text names neither. NUL-terminated,
 * UTF-8 where the text is. */
#define ERROR_ORIGIN_BYTES 241
void error_origin(struct str text, char ret[ERROR_ORIGIN_BYTES]);

#endif
