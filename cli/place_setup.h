/* SPDX-License-Identifier: Apache-2.0
 *
 * From settings to place/config.h: Hadoop's files, spark.hadoop.*, and ours. Before threads are made. */
#ifndef CLI_PLACE_SETUP_H
#define CLI_PLACE_SETUP_H

#include "base/settings.h"

/* ERR_INVALID: a file of Hadoop's that is none. */
enum err_code place_setup(const struct settings *settings, struct err *err) WARN_UNUSED;

#endif
