/* SPDX-License-Identifier: MIT */
/*
 * What a lookup found, in one piece of memory: metadata, the text of its fields, small content.
 * It opens and reads nothing. Made by fill.c, shared by the cache and by whoever sends it.
 */

#include "files/describe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/closing.h"
#include "files/media_type.h"
#include "files/root.h"
#include "files/validator.h"

/* The tag and the type by themselves, then the fields, each with its name around a value. */
#define FIELDS_BYTES (2 * 128 + 32 + MEDIA_TYPE_BYTES + VALIDATOR_ETAG_BYTES)
#define TEXT_BYTES   (VALIDATOR_ETAG_BYTES + MEDIA_TYPE_BYTES + FIELDS_BYTES)

static struct representation *make(enum representation_kind kind, size_t extra)
{
    size_t total;
    struct representation *representation;

    if (__builtin_add_overflow(sizeof(*representation), extra, &total))
        return NULL;
    representation = malloc(total);
    if (representation != NULL)
        *representation = (struct representation){
            .references = 1, .kind = kind, .fd = -1, .modified = -1, .memory = total};
    return representation;
}

struct representation *representation_absent(int status, int error, const char *reason)
{
    struct representation *absent = make(REPRESENTATION_ABSENT, 0);

    if (absent != NULL) {
        absent->status = status;
        absent->error = error;
        absent->reason = reason;
    }
    return absent;
}

struct representation *representation_redirect(void)
{
    return make(REPRESENTATION_REDIRECT, 0);
}

struct representation *representation_directory(int fd, struct root_view *view)
{
    struct representation *directory = make(REPRESENTATION_DIRECTORY, 0);

    if (directory != NULL) {
        directory->fd = fd;
        directory->view = root_view_ref(view);
    }
    return directory;
}

struct representation *representation_file(size_t bytes, int fd)
{
    struct representation *file = make(REPRESENTATION_FILE, bytes + TEXT_BYTES);

    if (file != NULL) {
        file->fd = fd;
        file->size = bytes;
    }
    return file;
}

char *representation_content(struct representation *file)
{
    return (char *)(file + 1);
}

static size_t write_fields(char *out, const struct representation *file, const char *etag,
                           const struct description *description)
{
    char date[30];
    int length = snprintf(out, FIELDS_BYTES, "Content-Type: %s\r\nContent-Length: %" PRIu64 "\r\n",
                          description->media_type, file->size);

    if (description->coding != CODING_NONE)
        length += snprintf(out + length, FIELDS_BYTES - (size_t)length, "Content-Encoding: %s\r\n",
                           coding_name(description->coding));
    if (file->modified >= 0)
        length += description->format_date(file->modified, date) == 0
                      ? snprintf(out + length, FIELDS_BYTES - (size_t)length,
                                 "Last-Modified: %s\r\n", date)
                      : 0;
    length += snprintf(out + length, FIELDS_BYTES - (size_t)length,
                       "ETag: %s\r\nAccept-Ranges: bytes\r\n", etag);
    assert(length < FIELDS_BYTES);
    return (size_t)length;
}

/*
 * Equal bytes under two codings are two representations, and equal times and sizes, which is all
 * that the tag of a large file may hold, are common among siblings. Returns how much longer it is.
 */
static size_t name_coding(char etag[VALIDATOR_ETAG_BYTES], size_t length, enum coding coding)
{
    const char *name = coding_name(coding);
    size_t more = strlen(name);

    if (more == 0)
        return 0;
    assert(length > 0 && length + more + 1 < VALIDATOR_ETAG_BYTES);
    etag[length - 1] = '-'; /* in place of the closing quote */
    memcpy(etag + length, name, more);
    memcpy(etag + length + more, "\"", 2);
    return more + 1;
}

/* Copies a text and its NUL, and moves on behind it. */
static const char *put(char **at, const char *text, size_t length)
{
    char *start = memcpy(*at, text, length);

    start[length] = '\0';
    *at += length + 1;
    return start;
}

static void put_path(struct representation *file, char **at, const char *path)
{
    size_t length = strlen(path);

    *(*at)++ = '/';
    file->path = put(at, path, length) - 1;
    file->path_length = length + 1;
}

void representation_describe(struct representation **out, const struct description *description)
{
    struct representation *file = *out, *moved;
    const struct evix_stat *stat = description->stat;
    bool in_memory = file->fd < 0;
    size_t content = in_memory ? (size_t)stat->size : 0, text;
    char etag[VALIDATOR_ETAG_BYTES], fields[FIELDS_BYTES], *at;

    assert(file->references == 1 && file->kind == REPRESENTATION_FILE);
    file->size = stat->size;
    file->coding = description->coding;
    file->siblings = description->siblings;
    file->is_negotiated = description->is_negotiated;
    file->modified = validator_last_modified(stat, description->now);
    file->etag_length = validator_etag(etag, stat, in_memory ? representation_content(file) : NULL,
                                       description->sample, description->now);
    file->etag_length += name_coding(etag, file->etag_length, file->coding);
    file->media_type_length = strlen(description->media_type);
    file->fields_length = write_fields(fields, file, etag, description);
    text = file->fields_length + file->etag_length + file->media_type_length + 3;
    assert(sizeof(*file) + text + content <= file->memory);
    if (file->siblings != 0)
        text += strlen(description->path) + 2;

    moved = realloc(file, sizeof(*file) + text + content); /* now that it is known */
    if (moved != NULL) {
        file = *out = moved;
    } else if (sizeof(*file) + text + content > file->memory) {
        file->siblings = 0; /* no room for the path: then it goes by itself */
        text -= strlen(description->path) + 2;
    }
    file->memory = sizeof(*file) + text + content;
    /* The fields beside what says where they are, and the content, which leaves next, behind. */
    at = representation_content(file) + text;
    memmove(at, representation_content(file), content);
    file->bytes = in_memory ? at : NULL;
    at = representation_content(file);
    file->fields = put(&at, fields, file->fields_length);
    file->etag = put(&at, etag, file->etag_length);
    file->media_type = put(&at, description->media_type, file->media_type_length);
    if (file->siblings != 0)
        put_path(file, &at, description->path);
}

struct representation *representation_ref(struct representation *representation)
{
    representation->references++;
    return representation;
}

void representation_unref(struct representation **representation)
{
    struct representation *last = *representation;

    *representation = NULL;
    if (last == NULL)
        return;
    assert(last->references > 0);
    if (--last->references > 0)
        return;
    if (last->fd >= 0 && last->closer != NULL)
        closing_start(last->closer, last->fd);
    else if (last->fd >= 0)
        close(last->fd);
    root_view_unref(&last->view);
    free(last);
}
