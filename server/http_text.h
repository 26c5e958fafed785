/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of a request inside what we send: HTML, addresses, redirects. */
#ifndef SERVER_HTTP_TEXT_H
#define SERVER_HTTP_TEXT_H

#include "base/buf.h"
#include "server/request.h"
#include "server/response.h"

/* As text of a page or a quoted attribute. Control characters become blanks, bad UTF-8 U+FFFD. */
void html_text(struct buf *out, struct str text);

/* As one segment of a path: all but letters, digits and - _ . ~ is percent-encoded. Not for "." and "..", which browsers take for steps in either form; no reference is one. */
void url_segment(struct buf *out, struct str text);

/* 302 to `path` of ours ("/a/x?sort=id"), below the prefix of a proxy. Through YARN's proxy, which follows redirects itself and would come back for ever (it sends the cookie
 * proxy-user), 200 with a page that makes the browser go there (spec/files.md §6.7). */
enum err_code response_redirect(const struct request *request, struct response *response, struct str path, struct err *err) WARN_UNUSED;

/* A small page with one sentence and a way to the list, as the whole answer. The sentence is text. */
enum err_code response_page(const struct request *request, struct response *response, int status, const char *title, struct str sentence, struct err *err) WARN_UNUSED;

#endif
