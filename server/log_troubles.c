/* SPDX-License-Identifier: Apache-2.0 */
#include "server/log_troubles.h"

const char *const log_troubles[LOG_TROUBLE_COUNT] = {"crashed", "unreadable", "damaged", "put_off", "not_permitted", "not_a_log", "empty", "forgotten"};
