/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a server may answer on an address at all: on one that only this machine reaches, yes; on any other, only where it knows who asks, or where somebody said that it need not (afterglow.listen.insecure).
 * The three ways are in the error's text. A password that goes over the network in clear is none of them. */
#ifndef SERVER_EXPOSURE_H
#define SERVER_EXPOSURE_H

#include <stdbool.h>

#include "base/err.h"

struct exposure {
    bool tls, login, proxy, insecure; /* https with a password asked for; a proxy that says who asks; told so */
};

/* fd: a bound socket; address: as people know it. ERR_PERMISSION. */
enum err_code exposure_check(int fd, const char *address, const struct exposure *exposure, struct err *err) WARN_UNUSED;

#endif
