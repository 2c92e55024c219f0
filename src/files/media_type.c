/* SPDX-License-Identifier: MIT */
/*
 * Finds the media type of a file by its name's extension, in a file's table or the built-in one.
 * It never looks at content, and knows no content codings: an archive is served as what it is.
 * Called by the store (once, to load) and when an answer is made for the cache.
 */

#include <config.h>

#include "files/media_type.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define EXTENSION_BYTES 32
#define FILE_BYTES_MAX  (1 << 20)
#define UTF8            "; charset=utf-8"

struct media_row {
    const char *extension;
    const char *type;
};

/* Sorted by extension, for bsearch(3); a test holds the order. */
static const struct media_row builtin[] = {
    {"3gp", "video/3gpp"},
    {"7z", "application/x-7z-compressed"},
    {"aac", "audio/aac"},
    {"ai", "application/postscript"},
    {"apk", "application/vnd.android.package-archive"},
    {"apng", "image/apng"},
    {"appcache", "text/cache-manifest" UTF8},
    {"asc", "text/plain" UTF8},
    {"atom", "application/atom+xml"},
    {"avi", "video/x-msvideo"},
    {"avif", "image/avif"},
    {"bin", "application/octet-stream"},
    {"bmp", "image/bmp"},
    {"br", "application/x-brotli"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/x-c" UTF8},
    {"cab", "application/vnd.ms-cab-compressed"},
    {"cbor", "application/cbor"},
    {"cc", "text/x-c" UTF8},
    {"cfg", "text/plain" UTF8},
    {"cjs", "text/javascript" UTF8},
    {"conf", "text/plain" UTF8},
    {"cpp", "text/x-c" UTF8},
    {"crt", "application/x-x509-ca-cert"},
    {"crx", "application/x-chrome-extension"},
    {"css", "text/css" UTF8},
    {"csv", "text/csv" UTF8},
    {"deb", "application/vnd.debian.binary-package"},
    {"diff", "text/x-diff" UTF8},
    {"dll", "application/octet-stream"},
    {"dmg", "application/x-apple-diskimage"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eot", "application/vnd.ms-fontobject"},
    {"eps", "application/postscript"},
    {"epub", "application/epub+zip"},
    {"exe", "application/vnd.microsoft.portable-executable"},
    {"flac", "audio/flac"},
    {"flv", "video/x-flv"},
    {"geojson", "application/geo+json"},
    {"gif", "image/gif"},
    {"glb", "model/gltf-binary"},
    {"gltf", "model/gltf+json"},
    {"gpx", "application/gpx+xml"},
    {"gz", "application/gzip"},
    {"h", "text/x-c" UTF8},
    {"heic", "image/heic"},
    {"heif", "image/heif"},
    {"hpp", "text/x-c" UTF8},
    {"htm", "text/html" UTF8},
    {"html", "text/html" UTF8},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar" UTF8},
    {"img", "application/octet-stream"},
    {"ini", "text/plain" UTF8},
    {"ipynb", "application/x-ipynb+json"},
    {"iso", "application/vnd.efi.iso"},
    {"jar", "application/java-archive"},
    {"java", "text/x-java-source" UTF8},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript" UTF8},
    {"json", "application/json"},
    {"jsonld", "application/ld+json"},
    {"jxl", "image/jxl"},
    {"kml", "application/vnd.google-earth.kml+xml"},
    {"kmz", "application/vnd.google-earth.kmz"},
    {"log", "text/plain" UTF8},
    {"lz", "application/x-lzip"},
    {"lzma", "application/x-lzma"},
    {"m3u", "audio/x-mpegurl"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"m4a", "audio/mp4"},
    {"m4s", "video/iso.segment"},
    {"m4v", "video/mp4"},
    {"map", "application/json"},
    {"markdown", "text/markdown" UTF8},
    {"md", "text/markdown" UTF8},
    {"mid", "audio/midi"},
    {"midi", "audio/midi"},
    {"mjs", "text/javascript" UTF8},
    {"mka", "audio/x-matroska"},
    {"mkv", "video/x-matroska"},
    {"mml", "text/mathml" UTF8},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"mpd", "application/dash+xml"},
    {"mpeg", "video/mpeg"},
    {"mpg", "video/mpeg"},
    {"msi", "application/x-msi"},
    {"ndjson", "application/x-ndjson"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opus", "audio/ogg"},
    {"otf", "font/otf"},
    {"patch", "text/x-diff" UTF8},
    {"pdf", "application/pdf"},
    {"pem", "application/x-pem-file"},
    {"pl", "text/x-perl" UTF8},
    {"png", "image/png"},
    {"pps", "application/vnd.ms-powerpoint"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"ps", "application/postscript"},
    {"py", "text/x-python" UTF8},
    {"qcow2", "application/octet-stream"},
    {"rar", "application/vnd.rar"},
    {"rb", "text/x-ruby" UTF8},
    {"rdf", "application/rdf+xml"},
    {"rpm", "application/x-rpm"},
    {"rs", "text/x-rust" UTF8},
    {"rss", "application/rss+xml"},
    {"rtf", "application/rtf"},
    {"sh", "text/x-shellscript" UTF8},
    {"sha256", "text/plain" UTF8},
    {"sha512", "text/plain" UTF8},
    {"shtml", "text/html" UTF8},
    {"sig", "application/pgp-signature"},
    {"sql", "application/sql"},
    {"sqlite", "application/vnd.sqlite3"},
    {"srt", "application/x-subrip"},
    {"svg", "image/svg+xml"},
    {"svgz", "image/svg+xml"},
    {"swf", "application/vnd.adobe.flash.movie"},
    {"tar", "application/x-tar"},
    {"tbz2", "application/x-bzip2"},
    {"text", "text/plain" UTF8},
    {"tgz", "application/gzip"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"torrent", "application/x-bittorrent"},
    {"ts", "video/mp2t"},
    {"tsv", "text/tab-separated-values" UTF8},
    {"ttc", "font/collection"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain" UTF8},
    {"txz", "application/x-xz"},
    {"usdz", "model/vnd.usdz+zip"},
    {"vcf", "text/vcard" UTF8},
    {"vtt", "text/vtt" UTF8},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"wmv", "video/x-ms-wmv"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xht", "application/xhtml+xml"},
    {"xhtml", "application/xhtml+xml"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xpi", "application/x-xpinstall"},
    {"xsd", "application/xml"},
    {"xsl", "application/xml"},
    {"xslt", "application/xslt+xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

/* The rows of a file, sorted by extension; strings live in `text`. */
struct media_types {
    const char *default_type;
    char *text;
    size_t used, capacity; /* of text */
    struct media_row *rows;
    size_t count, room; /* of rows */
};

static int compare_rows(const void *a, const void *b)
{
    const struct media_row *left = a, *right = b;

    return strcmp(left->extension, right->extension);
}

/* Lower-cases the extension of the last segment into `out`. False: there is none to look for. */
static bool extension_of(const char *name, size_t length, char out[EXTENSION_BYTES])
{
    size_t start = length;

    while (start > 0 && name[start - 1] != '.' && name[start - 1] != '/')
        start--;
    if (start == 0 || name[start - 1] == '/' || start == length ||
        length - start >= EXTENSION_BYTES)
        return false;
    for (size_t i = start; i < length; i++)
        out[i - start] = (char)tolower((unsigned char)name[i]);
    out[length - start] = '\0';
    return true;
}

const char *media_type_find(const struct media_types *types, const char *name, size_t length)
{
    char extension[EXTENSION_BYTES];
    const struct media_row key = {extension, NULL}, *row = NULL;

    if (!extension_of(name, length, extension))
        return types->default_type;
    if (types->count > 0)
        row = bsearch(&key, types->rows, types->count, sizeof(*row), compare_rows);
    if (row == NULL)
        row =
            bsearch(&key, builtin, sizeof(builtin) / sizeof(*builtin), sizeof(*row), compare_rows);
    return row != NULL ? row->type : types->default_type;
}

/* Type and subtype of RFC 9110 8.3.1: one slash between two tokens. */
static bool type_is_valid(const char *type, size_t length)
{
    const char *slash = memchr(type, '/', length);

    if (slash == NULL || slash == type || slash + 1 == type + length ||
        length + sizeof(UTF8) > MEDIA_TYPE_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)type[i];

        if (type + i != slash && !isalnum(byte) && strchr("!#$&^_.+-", byte) == NULL)
            return false;
    }
    return true;
}

/* The file's text was reserved in full, with room for a charset a line: this cannot run out. */
static const char *append_text(struct media_types *types, const char *text, size_t length,
                               const char *tail)
{
    char *start = types->text + types->used;

    memcpy(start, text, length);
    strcpy(start + length, tail);
    types->used += length + strlen(tail) + 1;
    return start;
}

static int add_row(struct media_types *types, const char *extension, size_t length,
                   const char *type)
{
    char lower[EXTENSION_BYTES];

    if (length >= EXTENSION_BYTES)
        return 0;
    if (types->count == types->room) {
        size_t room = types->room == 0 ? 256 : 2 * types->room;
        struct media_row *rows = reallocarray(types->rows, room, sizeof(*rows));

        if (rows == NULL)
            return -ENOMEM;
        types->rows = rows;
        types->room = room;
    }
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)tolower((unsigned char)extension[i]);
    types->rows[types->count].extension = append_text(types, lower, length, "");
    types->rows[types->count++].type = type;
    return 0;
}

static const char *next_word(const char **line, const char *end, size_t *length)
{
    const char *start = *line;

    while (start < end && isspace((unsigned char)*start))
        start++;
    *line = start;
    while (*line < end && !isspace((unsigned char)**line))
        (*line)++;
    *length = (size_t)(*line - start);
    return start;
}

/* `type extension extension ...`; lines that are no such thing are passed over. */
static int parse_line(struct media_types *types, const char *line, const char *end)
{
    const char *comment = memchr(line, '#', (size_t)(end - line));
    const char *word, *type = NULL;
    size_t length;

    if (comment != NULL)
        end = comment;
    word = next_word(&line, end, &length);
    if (!type_is_valid(word, length))
        return 0;
    for (;;) {
        size_t extension_length;
        const char *extension = next_word(&line, end, &extension_length);
        int error;

        if (extension_length == 0)
            return 0;
        if (type == NULL) {
            bool text = length > 5 && strncasecmp(word, "text/", 5) == 0;

            type = append_text(types, word, length, text ? UTF8 : "");
        }
        error = add_row(types, extension, extension_length, type);
        if (error < 0)
            return error;
    }
}

/* Of rows with the same extension the last one wins, as in the order of the file. */
static void sort_rows(struct media_types *types)
{
    size_t kept = 0;

    for (size_t i = 1; i < types->count; i++) { /* stable, and nearly sorted files are common */
        struct media_row row = types->rows[i];
        size_t low = 0, high = i;

        while (low < high) {
            size_t middle = (low + high) / 2;

            if (strcmp(types->rows[middle].extension, row.extension) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(types->rows + low + 1, types->rows + low, (i - low) * sizeof(row));
        types->rows[low] = row;
    }
    for (size_t i = 0; i < types->count; i++) {
        if (kept > 0 && strcmp(types->rows[kept - 1].extension, types->rows[i].extension) == 0)
            kept--;
        types->rows[kept++] = types->rows[i];
    }
    types->count = kept;
}

static int parse_text(struct media_types *types, const char *text, size_t length)
{
    const char *end = text + length;
    size_t lines = 1;
    int error = 0;

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    types->capacity = 2 * length + lines * sizeof(UTF8) + 1;
    types->text = malloc(types->capacity);
    if (types->text == NULL)
        return -ENOMEM;
    while (text < end && error == 0) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;

        error = parse_line(types, text, stop);
        text = stop + 1;
    }
    sort_rows(types);
    return error;
}

static int load(struct media_types *types, const char *path)
{
    struct stat status;
    char *text = NULL;
    int error = 0;
    size_t length;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return -errno;
    if (fstat(fileno(file), &status) < 0)
        error = -errno;
    else if (!S_ISREG(status.st_mode))
        error = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
    else if (status.st_size > FILE_BYTES_MAX)
        error = -EFBIG;
    if (error < 0)
        goto close;
    text = malloc((size_t)status.st_size + 1);
    if (text == NULL) {
        error = -ENOMEM;
        goto close;
    }
    length = fread(text, 1, (size_t)status.st_size, file);
    error = ferror(file) ? -EIO : parse_text(types, text, length);
    free(text);
close:
    fclose(file);
    return error;
}

int media_types_new(struct media_types **out, const char *path, const char *default_type)
{
    struct media_types *types;
    int error = 0;

    *out = NULL;
    if (default_type != NULL && strlen(default_type) >= MEDIA_TYPE_BYTES)
        return -EINVAL;
    types = calloc(1, sizeof(*types));
    if (types == NULL)
        return -ENOMEM;
    types->default_type = default_type != NULL ? default_type : "application/octet-stream";
    if (path != NULL)
        error = load(types, path);
    if (error < 0) {
        media_types_free(&types);
        return error;
    }
    *out = types;
    return 0;
}

void media_types_free(struct media_types **types)
{
    if (*types == NULL)
        return;
    free((*types)->rows);
    free((*types)->text);
    free(*types);
    *types = NULL;
}
