/* SPDX-License-Identifier: Apache-2.0
 *
 * Who answers an address: health, the two APIs by their route tables, pages, assets, or an honest 404. And how errors look there. */
#ifndef SERVER_DISPATCH_H
#define SERVER_DISPATCH_H

#include "server/request.h"
#include "server/response.h"
#include "server/server.h"

#define HTTP_METHODS "GET, HEAD, OPTIONS"

/* Nothing that belongs to a run is answered before it is clear that the request's viewer may see it (access.h). Another code than ERR_OK: the store failed, and the response is good for dispatch_refuse only. */
enum err_code dispatch(struct server *server, struct request *request, struct response *response, struct err *err) WARN_UNUSED;

/* 403 to the request's viewer, in the form of whatever lives at the address. */
enum err_code dispatch_forbid(const struct request *request, struct response *response, struct err *err) WARN_UNUSED;

/* 401 likewise: a name and a password are asked for. */
enum err_code dispatch_ask_login(const struct request *request, struct response *response, struct err *err) WARN_UNUSED;

/* Whether nobody is asked for a password here: whatever watches the server has none. */
bool dispatch_is_open(const struct server *server, const struct request *request);

/* An error in the form of whatever lives at `path`: JSON for our API, bare text elsewhere. */
void dispatch_refuse(struct str path, struct response *response, int status, const char *error, const char *detail);

#endif
