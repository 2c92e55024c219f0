/* SPDX-License-Identifier: MIT */
/*
 * Several ranges of a file in turn, each behind a head of its own. One file body serves them all,
 * aimed at one after the other, so that what is cold is read as for any other file.
 * It does not choose ranges. Called by static_content.c.
 */
#include "server/body_parts.h"

#include <errno.h>
#include <stdlib.h>

struct parts_body {
    struct body body;
    struct body *file;
    struct http_multipart multipart;
    unsigned count;
    unsigned begun;   /* parts of which the head was given */
    bool is_in_range; /* the file body is not at the end of the last of them */
    bool is_ended;    /* what follows the last part was given */
    char *text;       /* room for a head, behind the ranges */
    struct http_range ranges[];
};

static struct parts_body *parts_of(struct body *body)
{
    return EVIX_CONTAINER_OF(body, struct parts_body, body);
}

static void begin_part(struct parts_body *parts, struct body_piece *out)
{
    const struct http_range *range = &parts->ranges[parts->begun];
    size_t length = http_multipart_part(&parts->multipart, range, parts->text);

    body_file_aim(parts->file, range->first, http_range_length(range));
    parts->begun++;
    parts->is_in_range = true;
    *out = (struct body_piece){.kind = BODY_BYTES, .data = parts->text, .length = length};
}

static void next_of_parts(struct body *body, struct body_piece *out)
{
    struct parts_body *parts = parts_of(body);

    if (parts->is_in_range) {
        body_next(parts->file, out);
        if (out->kind != BODY_END)
            return;
        parts->is_in_range = false;
    }
    if (parts->begun < parts->count) {
        begin_part(parts, out);
    } else if (!parts->is_ended) {
        size_t length = http_multipart_end(&parts->multipart, parts->text);

        parts->is_ended = true;
        *out = (struct body_piece){.kind = BODY_BYTES, .data = parts->text, .length = length};
    } else {
        *out = (struct body_piece){.kind = BODY_END};
    }
}

static void release_parts(struct body *body)
{
    struct parts_body *parts = parts_of(body);

    body_release(parts->file);
    free(parts);
}

static void on_file_ready(void *data)
{
    struct parts_body *parts = data;

    parts->body.ready(parts->body.ready_data);
}

static const struct body_ops parts_ops = {.next = next_of_parts, .release = release_parts};

int body_from_parts(struct body **out, struct store *store, struct representation *file,
                    const struct http_multipart *multipart, const struct http_ranges *ranges)
{
    uint64_t length = http_multipart_length(multipart, ranges->at, ranges->count);
    size_t range_bytes = ranges->count * sizeof(ranges->at[0]);
    struct parts_body *parts;

    *out = NULL;
    if (length > INT64_MAX)
        return -EOVERFLOW;
    parts = malloc(sizeof(*parts) + range_bytes + http_multipart_overhead(multipart));
    if (parts == NULL)
        return -ENOMEM;
    *parts = (struct parts_body){
        .body = {.ops = &parts_ops, .length = (int64_t)length},
        .multipart = *multipart,
        .count = ranges->count,
        .text = (char *)parts->ranges + range_bytes,
    };
    memcpy(parts->ranges, ranges->at, range_bytes);
    if (body_from_file(&parts->file, store, file, 0, 0) != 0) {
        free(parts);
        return -ENOMEM;
    }
    parts->file->ready = on_file_ready;
    parts->file->ready_data = parts;
    *out = &parts->body;
    return 0;
}
