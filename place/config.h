/* SPDX-License-Identifier: Apache-2.0
 *
 * How remote places are reached: Hadoop's own keys without "spark.hadoop." ("fs.s3a.endpoint", "dfs.nameservices"), and those of ours that speak of places. Filled once, before
 * threads are made (cli/place_setup.c says from what); later values replace earlier ones. Texts are borrowed until place_config_clear. Some are secrets: they are never told. */
#ifndef PLACE_CONFIG_H
#define PLACE_CONFIG_H

#include "base/err.h"
#include "base/str.h"

#define PLACE_CONFIG_MAX 20000

enum err_code place_config_set(struct str key, struct str value, struct err *err) WARN_UNUSED;
const char *place_config(const char *key);                          /* NULL: not set */
const char *place_config_f(const char *fmt, ...) PRINTF_LIKE(1, 2); /* of the key that is printed */
bool place_config_true(const char *key, bool otherwise);

/* The properties of a Hadoop *-site.xml. ERR_CORRUPT, ERR_LIMIT: it is none; ERR_NOT_FOUND and others: it cannot be read. ${…} in values is left as it is. */
enum err_code place_config_read_site(const char *path, struct err *err) WARN_UNUSED;

void place_config_clear(void);

#endif
