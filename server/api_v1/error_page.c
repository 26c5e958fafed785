/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/error_page.h"

#include "server/http_text.h"
#include "server/negotiate.h"

#define PAGE_BYTES ((size_t)64 << 10) /* an address of 8 KiB, every byte of it escaped */

enum form { HTML, PLAIN, JSON, TEXT_JSON };

static const struct negotiable forms[] = {{"text/html", HTML}, {"text/plain", PLAIN}, {"application/json", JSON}, {"text/json", TEXT_JSON}, {"text/*", HTML}, {"*/*", HTML}};

static const char *const types[] = {[HTML] = "text/html;charset=iso-8859-1", [PLAIN] = "text/plain;charset=iso-8859-1", [JSON] = "application/json", [TEXT_JSON] = "text/json"};

static void write_address(struct buf *out, const struct request *request)
{
    buf_text(out, "http://");
    html_text(out, str_known(request->host) ? request->host : STR_LIT(""));
    for (struct str rest = request->address; rest.len;) {
        const char *p = memchr(rest.ptr, '\\', rest.len); /* would be half of an escape in JSON */
        size_t len = p ? (size_t)(p - rest.ptr) : rest.len;
        html_text(out, (struct str){rest.ptr, len});
        if (p)
            buf_text(out, "%5C");
        rest = (struct str){rest.ptr + len + (p != NULL), rest.len - len - (p != NULL)};
    }
}

enum err_code v1_error_page(const struct request *request, struct response *response, int status, const char *message, struct err *err)
{
    int form = negotiate_type(request->accept, forms, ARRAY_LENGTH(forms), HTML);
    CLEANUP(buf_dispose) struct buf page;
    buf_init(&page, PAGE_BYTES);
    response_status(response, status);
    switch (form) {
    case HTML:
        buf_printf(&page, "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n<title>Error %d %s</title>\n</head>\n<body>\n", status,
                   message);
        buf_printf(&page, "<h2>HTTP ERROR %d %s</h2>\n<table>\n<tr><th>URI:</th><td>", status, message);
        write_address(&page, request);
        buf_printf(&page, "</td></tr>\n<tr><th>STATUS:</th><td>%d</td></tr>\n<tr><th>MESSAGE:</th><td>%s</td></tr>\n</table>\n\n</body>\n</html>\n", status, message);
        break;
    case PLAIN:
        buf_printf(&page, "HTTP ERROR %d %s\nURI: ", status, message);
        write_address(&page, request);
        buf_printf(&page, "\nSTATUS: %d\nMESSAGE: %s\n", status, message);
        break;
    case JSON:
    case TEXT_JSON:
        buf_printf(&page, "{\n\"message\":\"%s\",\n\"url\":\"", message);
        write_address(&page, request);
        buf_printf(&page, "\",\n\"status\":\"%d\"\n}", status);
        break;
    default: return ERR_OK; /* takes none of them: no body */
    }
    response_content_type(response, types[form]);
    return buf_failed(&page) ? err_nomem(err) : response_write(response, buf_str(&page).ptr, buf_str(&page).len);
}
