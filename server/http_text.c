/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http_text.h"

#include "base/mem.h"

#define PAGE_BYTES ((size_t)64 << 10) /* an address has 8192 bytes, of which every one may become six */

void html_text(struct buf *out, struct str text)
{
    while (text.len) {
        size_t valid = utf8_valid_prefix(text.ptr, text.len);
        for (size_t i = 0; i < valid; i++) {
            char c = text.ptr[i];
            switch (c) {
            case '&': buf_text(out, "&amp;"); break;
            case '<': buf_text(out, "&lt;"); break;
            case '>': buf_text(out, "&gt;"); break;
            case '"': buf_text(out, "&quot;"); break;
            case '\'': buf_text(out, "&#39;"); break;
            default: buf_char(out, (unsigned char)c < 0x20 || c == 0x7F ? ' ' : c);
            }
        }
        if (valid == text.len)
            return;
        buf_text(out, "\xEF\xBF\xBD");
        text = (struct str){text.ptr + valid + 1, text.len - valid - 1};
    }
}

void url_segment(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain)
            buf_char(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

static bool has_cookie(struct str cookies, const char *name)
{
    size_t len = strlen(name);
    while (cookies.len) {
        while (cookies.len && (cookies.ptr[0] == ' ' || cookies.ptr[0] == ';'))
            cookies = (struct str){cookies.ptr + 1, cookies.len - 1};
        if (cookies.len > len && memcmp(cookies.ptr, name, len) == 0 && cookies.ptr[len] == '=')
            return true;
        const char *end = cookies.len ? memchr(cookies.ptr, ';', cookies.len) : NULL;
        cookies = end ? (struct str){end, cookies.len - (size_t)(end - cookies.ptr)} : STR_LIT("");
    }
    return false;
}

/* A name or address with a port and nothing else, so that it stays one in front of our path. */
static bool plain_host(struct str host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':' || c == '[' || c == ']'))
            return false;
    }
    return host.len > 0 && host.len < 256;
}

static enum err_code answer_html(const struct request *request, struct response *response, int status, struct buf *page, struct err *err)
{
    struct str body;
    if (buf_failed(page) || arena_str(request->arena, buf_str(page), &body))
        return err_nomem(err);
    response_static(response, "text/html;charset=utf-8", body, STR_NONE);
    response_cache(response, "no-cache, no-store, must-revalidate");
    response_status(response, status);
    return ERR_OK;
}

static const char head_html[] = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">";

enum err_code response_redirect(const struct request *request, struct response *response, struct str path, struct err *err)
{
    CLEANUP(buf_dispose) struct buf to;
    CLEANUP(buf_dispose) struct buf page;
    buf_init(&to, PAGE_BYTES);
    buf_init(&page, PAGE_BYTES);
    bool by_page = has_cookie(request->cookies, "proxy-user");
    /* The browser has the proxy's address in front of it: only a whole address leads out of it. */
    if (by_page && plain_host(request->host)) {
        buf_text(&to, "http://");
        buf_append(&to, request->host.ptr, request->host.len);
    }
    buf_append(&to, request->prefix.ptr, request->prefix.len);
    buf_append(&to, path.ptr, path.len);
    buf_text(&page, head_html);
    if (by_page) {
        buf_text(&page, "<meta http-equiv=\"refresh\" content=\"0; url=");
        html_text(&page, buf_str(&to));
        buf_text(&page, "\">");
    }
    buf_text(&page, "<title>Moved</title><p>This page is <a href=\"");
    html_text(&page, buf_str(&to));
    buf_text(&page, "\">here</a>.</p></html>\n");
    enum err_code rc = buf_failed(&to) ? err_nomem(err) : answer_html(request, response, by_page ? 200 : 302, &page, err);
    if (!rc && !by_page)
        response_header(response, "Location", buf_str(&to));
    return rc;
}

enum err_code response_page(const struct request *request, struct response *response, int status, const char *title, struct str sentence, struct err *err)
{
    CLEANUP(buf_dispose) struct buf page;
    buf_init(&page, PAGE_BYTES);
    buf_text(&page, head_html);
    buf_printf(&page, "<title>%s</title><h1>%s</h1><p>", title, title);
    html_text(&page, sentence);
    buf_text(&page, "</p><p><a href=\"");
    html_text(&page, request->prefix);
    buf_text(&page, "/\">All applications</a></p></html>\n");
    return answer_html(request, response, status, &page, err);
}
