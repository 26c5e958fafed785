/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exposure.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static bool is_loopback(int fd)
{
    struct sockaddr_storage bound;
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    socklen_t len = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &len))
        return false;
    memcpy(&six, &bound, sizeof six);
    memcpy(&four, &bound, sizeof four);
    if (bound.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) || (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) && six.sin6_addr.s6_addr[12] == 127);
    return bound.ss_family == AF_INET && ntohl(four.sin_addr.s_addr) >> 24 == 127;
}

enum err_code exposure_check(int fd, const char *address, const struct exposure *exposure, struct err *err)
{
    if (exposure->insecure || exposure->proxy || (exposure->tls && exposure->login) || is_loopback(fd))
        return ERR_OK;
    const char *what = exposure->login ? "passwords would cross the network in clear" : "everybody could see every run";
    return err_set(err, ERR_PERMISSION, "%.51s is open to others: %s; set afterglow.tls.certificate and afterglow.login.usersFile, or afterglow.auth.header, or afterglow.listen.insecure (AFTERGLOW_LISTEN_INSECURE=true)", address,
                   what);
}
