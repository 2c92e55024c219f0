/* SPDX-License-Identifier: MIT */
/*
 * Finds the media type of a file by its name's extension, in a file's table or the built-in one.
 * It never looks at content, and knows no content codings: an archive is served as what it is.
 * Called by the store (once, to load) and when an answer is made for the cache.
 */

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

#include "files/media_table.h"

#define EXTENSION_BYTES 32
#define FILE_BYTES_MAX  (1 << 20)

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
        row = bsearch(&key, media_table, media_table_count, sizeof(*row), compare_rows);
    return row != NULL ? row->type : types->default_type;
}

/* Type and subtype of RFC 9110 8.3.1: one slash between two tokens. */
static bool type_is_valid(const char *type, size_t length)
{
    const char *slash = memchr(type, '/', length);

    if (slash == NULL || slash == type || slash + 1 == type + length ||
        length + sizeof(MEDIA_TYPE_CHARSET) > MEDIA_TYPE_BYTES)
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

            type = append_text(types, word, length, text ? MEDIA_TYPE_CHARSET : "");
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
    types->capacity = 2 * length + lines * sizeof(MEDIA_TYPE_CHARSET) + 1;
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
