/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static enum err_code bind_one(const struct addrinfo *at, int *ret_fd)
{
    int one = 1, zero = 0;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return ERR_IO;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);       /* ":port" means both families */
    if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, HTTP_BACKLOG)) {
        int kept = errno;
        close(fd);
        errno = kept;
        return ERR_IO;
    }
    *ret_fd = fd;
    return ERR_OK;
}

unsigned http_port(int fd)
{
    struct sockaddr_storage real;
    socklen_t len = sizeof real;
    unsigned port = 0;
    if (getsockname(fd, (struct sockaddr *)&real, &len) == 0) {
        struct sockaddr_in6 six;
        struct sockaddr_in four;
        memcpy(&six, &real, sizeof six);
        memcpy(&four, &real, sizeof four);
        port = ntohs(real.ss_family == AF_INET6 ? six.sin6_port : four.sin_port);
    }
    return port;
}

enum err_code http_listen(const char *host, int port, int *ret_fd, char *ret_address, struct err *err)
{
    *ret_fd = -1;
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
    int code = getaddrinfo(host[0] ? host : NULL, service, &hints, &found);
    if (code)
        return err_set(err, ERR_INVALID, "cannot listen on %s: %s", host, gai_strerror(code));
    errno = 0;
    int first_errno = 0;
    /* Without a host both families are there; the IPv6 one serves both, IPv4 alone where the machine has no IPv6. */
    for (int family = host[0] ? AF_UNSPEC : AF_INET6; *ret_fd < 0; family = AF_INET) {
        for (struct addrinfo *at = found; at && *ret_fd < 0; at = at->ai_next)
            if ((family == AF_UNSPEC || at->ai_family == family) && bind_one(at, ret_fd) && !first_errno)
                first_errno = errno;
        if (family != AF_INET6)
            break;
    }
    freeaddrinfo(found);
    if (*ret_fd < 0 && first_errno == EADDRINUSE)
        return err_set(err, ERR_BUSY, "cannot listen on %s port %d: another program has it; choose another with --listen, or stop that program",
                       host[0] ? host : "all addresses", port);
    if (*ret_fd < 0)
        return err_set_errno(err, first_errno, "cannot listen on %s port %d", host[0] ? host : "all addresses", port);
    snprintf(ret_address, HTTP_ADDRESS_BYTES, strchr(host, ':') ? "[%.64s]:%u" : "%.64s:%u", host[0] ? host : "localhost", http_port(*ret_fd));
    return ERR_OK;
}
