/* SPDX-License-Identifier: MIT */
/*
 * Paths: what decodes is safe below a root, and encodes to what decodes to itself.
 */
#include "fuzz.h"
#include "http/uri.h"

static void check_safe(const struct http_path *path)
{
    CHECK(path->length > 0 && path->data[0] == '/' && path->data[path->length] == '\0');
    CHECK(strlen(path->data) == path->length);
    CHECK(strstr(path->data, "//") == NULL);
    CHECK(strstr(path->data, "/./") == NULL && strstr(path->data, "/../") == NULL);
    CHECK(path->has_slash_at_end == (path->data[path->length - 1] == '/'));
    const char *last = strrchr(path->data, '/') + 1;
    CHECK(strcmp(last, ".") != 0 && strcmp(last, "..") != 0);
}

static void check_round_trip(const struct http_path *path)
{
    struct http_text decoded = {path->data, path->length};
    struct http_path again;
    char *encoded = malloc(HTTP_PATH_ENCODED_BYTES(path->length));
    char *out = malloc(HTTP_PATH_ENCODED_BYTES(path->length) + 1);
    CHECK(encoded != NULL && out != NULL);
    size_t length = http_path_encode(decoded, encoded);
    CHECK(length <= HTTP_PATH_ENCODED_BYTES(path->length));
    CHECK(encoded[0] == '/' && (length == 1 || encoded[1] != '/'));
    for (size_t i = 0; i < length; i++)
        CHECK(encoded[i] > ' ' && encoded[i] < 0x7f && encoded[i] != '\\' && encoded[i] != '"');
    int status = http_path_decode((struct http_text){encoded, length}, out, length + 1, &again);
    CHECK(status == 0 && http_text_equal(decoded, (struct http_text){again.data, again.length}));
    free(encoded);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_text raw = {(const char *)data, size};
    struct http_path path;
    char *out = malloc(size + 1);
    CHECK(out != NULL);
    int status = http_path_decode(raw, out, size + 1, &path);
    CHECK(status == 0 || status == 400 || status == 404);
    if (status == 0) {
        CHECK(path.length <= size);
        check_safe(&path);
        check_round_trip(&path);
    }
    free(out);
    return 0;
}
