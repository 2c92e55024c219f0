/* SPDX-License-Identifier: MIT */
/*
 * The codings that siblings may have, by name and suffix, and the types that gain nothing by them.
 * It looks at no file (sibling.c does) and weighs no request (the handler does).
 * Called where answers are filled and where events are judged.
 */

#include "files/coding.h"

#include <string.h>

static const struct {
    const char *name, *suffix;
} rows[CODING_COUNT] = {
    [CODING_NONE] = {"", ""},
    [CODING_BR] = {"br", ".br"},
    [CODING_ZSTD] = {"zstd", ".zst"},
    [CODING_GZIP] = {"gzip", ".gz"},
};

/* Prefixes, but for the exceptions before them. */
static const struct {
    const char *prefix;
    bool possible;
} types[] = {
    {"image/svg+xml", true},
    {"image/bmp", true},
    {"image/vnd.microsoft.icon", true},
    {"image/x-icon", true},
    {"image/", false},
    {"audio/", false},
    {"video/", false},
    {"font/woff", false},
    {"application/zip", false},
    {"application/gzip", false},
    {"application/zstd", false},
    {"application/x-brotli", false},
    {"application/x-bzip2", false},
    {"application/x-xz", false},
    {"application/x-lz", false}, /* and x-lzip, x-lzma */
    {"application/x-7z-compressed", false},
    {"application/vnd.rar", false},
    {"application/java-archive", false},
    {"application/vnd.android.package-archive", false},
    {"application/vnd.debian.binary-package", false},
    {"application/x-rpm", false},
    {"application/epub+zip", false},
    {"application/vnd.openxmlformats-", false},
    {"application/vnd.oasis.opendocument.", false},
    {"application/vnd.comicbook", false},
    {"application/msix", false},
};

const char *coding_name(enum coding coding)
{
    return rows[coding].name;
}

const char *coding_suffix(enum coding coding)
{
    return rows[coding].suffix;
}

size_t coding_base(const char *name, size_t length)
{
    for (enum coding i = CODING_NONE + 1; i < CODING_COUNT; i++) {
        size_t suffix = strlen(rows[i].suffix);

        if (length > suffix && memcmp(name + length - suffix, rows[i].suffix, suffix) == 0)
            return length - suffix;
    }
    return 0;
}

bool coding_is_possible(const char *media_type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (strncmp(media_type, types[i].prefix, strlen(types[i].prefix)) == 0)
            return types[i].possible;
    return true;
}
