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

#include "files/media_type.h"
#include "files/root.h"
#include "files/validator.h"

/* The tag and the type by themselves, then the fields, each with its name around a value. */
#define FIELDS_BYTES (2 * 128 + MEDIA_TYPE_BYTES + VALIDATOR_ETAG_BYTES)
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

void representation_describe(struct representation **out, const struct description *description)
{
    struct representation *file = *out, *moved;
    const struct evix_stat *stat = description->stat;
    bool in_memory = file->fd < 0;
    size_t content = in_memory ? (size_t)stat->size : 0, total;
    char etag[VALIDATOR_ETAG_BYTES], fields[FIELDS_BYTES], *text;

    assert(file->references == 1 && file->kind == REPRESENTATION_FILE);
    file->size = stat->size;
    file->modified = validator_last_modified(stat, description->now);
    file->etag_length = validator_etag(etag, stat, in_memory ? representation_content(file) : NULL,
                                       description->now);
    file->media_type_length = strlen(description->media_type);
    file->fields_length = write_fields(fields, file, etag, description);
    total = sizeof(*file) + content + file->etag_length + file->media_type_length +
            file->fields_length + 3;
    assert(total <= file->memory);

    moved = realloc(file, total); /* to what it takes, which was not known before */
    if (moved != NULL)
        file = *out = moved;
    file->memory = total;
    text = representation_content(file) + content;
    file->bytes = in_memory ? representation_content(file) : NULL;
    file->etag = memcpy(text, etag, file->etag_length + 1);
    text += file->etag_length + 1;
    file->media_type = memcpy(text, description->media_type, file->media_type_length + 1);
    text += file->media_type_length + 1;
    file->fields = memcpy(text, fields, file->fields_length + 1);
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
    if (last->fd >= 0)
        close(last->fd);
    root_view_unref(&last->view);
    free(last);
}
