/* SPDX-License-Identifier: Apache-2.0
 *
 * What the History Server's HTTP library (Jetty 12) says where no resource of /api/v1 spoke: a page that names address, status and message, in the form that the client's
 * Accept likes best: HTML (also without one), JSON, text; or nothing where it takes none of them. Seen on a 4.3.0. */
#ifndef API_V1_ERROR_PAGE_H
#define API_V1_ERROR_PAGE_H

#include "server/request.h"
#include "server/response.h"

/* `message`: "Not Found". */
enum err_code v1_error_page(const struct request *request, struct response *response, int status, const char *message, struct err *err) WARN_UNUSED;

#endif
