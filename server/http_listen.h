/* SPDX-License-Identifier: Apache-2.0
 *
 * Sockets that clients come to: one address, one family or both. Knows nothing of HTTP. */
#ifndef SERVER_HTTP_LISTEN_H
#define SERVER_HTTP_LISTEN_H

#include "base/err.h"

#define HTTP_ADDRESS_BYTES 128
#define HTTP_BACKLOG 511             /* clients that stand there and were not let in yet */

/* To a bound, listening socket, owned by the caller. host: a name, an IPv4 or a bare IPv6 address, "" for all; port 0: a free one. Text of the real address to `ret_address`
 * ("127.0.0.1:18080", HTTP_ADDRESS_BYTES). ERR_BUSY: the port is taken. */
enum err_code http_listen(const char *host, int port, int *ret_fd, char *ret_address, struct err *err) WARN_UNUSED;

/* The port of a socket; 0: it has none. */
unsigned http_port(int fd);

#endif
