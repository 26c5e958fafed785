/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether somebody typed a run, or it served others: shells and servers wait for people, and no wait of theirs is a fault. */
#ifndef ANALYSIS_INTERACTIVE_H
#define ANALYSIS_INTERACTIVE_H

#include "base/db.h"

/* By the class of the driver's command: real shells log deploy mode "client" as other programs do (Spark 2 to 4), and none runs in cluster mode. */
enum err_code app_is_shell(struct db *app, bool *ret, struct err *err) WARN_UNUSED;
/* Of queries, for clients: Thrift or Connect. */
enum err_code app_is_server(struct db *app, bool *ret, struct err *err) WARN_UNUSED;

#endif
