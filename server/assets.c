/* SPDX-License-Identifier: Apache-2.0 */
#include "server/assets.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"

#define FOREVER "public, max-age=31536000, immutable"
#define LARGEST_FILE_BYTES ((off_t)8 << 20) /* of a development directory: a source map has some MB */
#define LONGEST_PATH 200

static const char base_tag[] = "<base href=\"/\">", title_tag[] = "<title>Afterglow</title>";

static const struct {
    const char *suffix, *type;
} types[] = {
    {".html", "text/html;charset=utf-8"},
    {".js", "text/javascript;charset=utf-8"},
    {".css", "text/css;charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".txt", "text/plain;charset=utf-8"},
};

static const char *type_of(struct str path)
{
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
        if (str_ends(path, types[i].suffix))
            return types[i].type;
    return "application/octet-stream";
}

/* Letters, digits, _ - and single full stops inside names: nothing that leaves the directory or names a hidden file. */
static bool plain_path(struct str path)
{
    bool begin = true;
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!word && (begin || (c != '.' && c != '/')))
            return false;
        begin = c == '/' || c == '.';
    }
    return path.len > 0 && path.len <= LONGEST_PATH && !begin;
}

static const struct asset *find(struct str path)
{
    for (const struct asset *asset = assets_table; asset->path; asset++)
        if (str_is(path, asset->path))
            return asset;
    return NULL;
}

static bool read_file(const char *dir, struct str path, struct arena *arena, struct str *ret)
{
    char name[4096];
    if (!plain_path(path) || (size_t)snprintf(name, sizeof name, "%s/%.*s", dir, (int)path.len, path.ptr) >= sizeof name)
        return false;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    char *bytes = fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > LARGEST_FILE_BYTES ? NULL : arena_alloc(arena, (size_t)st.st_size + 1);
    size_t len = 0;
    for (ssize_t n = 1; bytes && n > 0 && len<(size_t)st.st_size; len += n> 0 ? (size_t)n : 0)
        n = read(fd, bytes + len, (size_t)st.st_size - len);
    close(fd);
    *ret = (struct str){bytes, len};
    return bytes != NULL;
}

bool assets_respond(const char *dir, struct str path, struct response *response, struct arena *arena)
{
    struct str body;
    if (dir) {
        if (!read_file(dir, path, arena, &body))
            return false;
        response_static(response, type_of(path), body, STR_NONE);
        return true;
    }
    const struct asset *asset = find(path);
    if (!asset)
        return false;
    char tag[64];
    snprintf(tag, sizeof tag, "\"%s\"", asset->tag);
    response_etag(response, str_of(tag));
    response_cache(response, asset->hashed_name ? FOREVER : "no-cache");
    response_static(response, asset->type, (struct str){(const char *)asset->bytes, asset->len}, (struct str){(const char *)asset->gzip, asset->gzip_len});
    return true;
}

/* Writes the page up to `tag` and `instead` of it; *page is what follows. A page without the tag stays as it is. */
static void put_instead(struct response *response, struct str *page, const char *tag, const struct str *instead, size_t count)
{
    const char *at = memmem(page->ptr, page->len, tag, strlen(tag));
    if (!at)
        return;
    size_t before = (size_t)(at - page->ptr);
    enum err_code rc = response_write(response, page->ptr, before); /* the response keeps a failure */
    for (size_t i = 0; i < count && !rc; i++)
        rc = response_write(response, instead[i].ptr, instead[i].len);
    *page = (struct str){at + strlen(tag), page->len - before - strlen(tag)};
}

void assets_respond_page(const char *dir, const struct request *request, struct str head, struct response *response)
{
    struct str page;
    const struct asset *asset = dir ? NULL : find(STR_LIT("index.html"));
    if (dir && !read_file(dir, STR_LIT("index.html"), request->arena, &page)) {
        response_plain(response, 500, "no readable index.html in the --assets directory");
        return;
    }
    if (!dir && !asset) {
        response_plain(response, 200, "This afterglow was built without pages (AFTERGLOW_WEB=OFF). Its interfaces are below %.*s/api/v1 and %.*s/api/afterglow/v1.\n",
                       (int)request->prefix.len, request->prefix.ptr, (int)request->prefix.len, request->prefix.ptr);
        return;
    }
    if (asset) {
        char tag[96];
        snprintf(tag, sizeof tag, "\"%s-%016" PRIx64 "%016" PRIx64 "\"", asset->tag, hash_bytes(request->prefix.ptr, request->prefix.len), hash_bytes(head.ptr, head.len));
        response_etag(response, str_of(tag));
        page = (struct str){(const char *)asset->bytes, asset->len};
    }
    response_content_type(response, types[0].type);
    const struct str base[] = {STR_LIT("<base href=\""), request->prefix, STR_LIT("/\">")};
    put_instead(response, &page, base_tag, base, ARRAY_LENGTH(base));
    if (head.len)
        put_instead(response, &page, title_tag, &head, 1);
    if (response_write(response, page.ptr, page.len))
        return;
}
