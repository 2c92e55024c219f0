/* SPDX-License-Identifier: MIT */
/*
 * Several ranges of a file in turn, each behind a head of its own. One file body serves them all,
 * aimed at one after the other, so that what is cold is read as for any other file. Small ones that
 * are in memory are gathered, with their heads, to leave together.
 * It does not choose ranges. Called by static_content.c.
 */
#include "server/body_parts.h"

#include <errno.h>
#include <stdlib.h>

#define GATHERED_BYTES (64 * 1024)

struct parts_body {
    struct body body;
    struct body *file;
    struct http_multipart multipart;
    unsigned count;
    unsigned begun;    /* parts of which the head was given */
    bool is_in_range;  /* the file body is not at the end of the last of them */
    bool is_ended;     /* what follows the last part was given */
    size_t used, room; /* of `gathered`; each text between ranges fits in, alone */
    char *gathered;    /* behind the ranges */
    struct http_range ranges[];
};

static struct parts_body *parts_of(struct body *body)
{
    return EVIX_CONTAINER_OF(body, struct parts_body, body);
}

/* False: it does not fit, or is not in memory. */
static bool gather_range(struct parts_body *parts)
{
    size_t taken;

    if (!body_file_take(parts->file, parts->gathered + parts->used, parts->room - parts->used,
                        &taken))
        return false;
    parts->used += taken;
    parts->is_in_range = false;
    return true;
}

/* The next part's head, or what follows the last part. False: it does not fit, or all was given. */
static bool gather_text(struct parts_body *parts)
{
    char *at = parts->gathered + parts->used;

    if (parts->is_ended || parts->room - parts->used < http_multipart_overhead(&parts->multipart))
        return false;
    if (parts->begun == parts->count) {
        parts->used += http_multipart_end(&parts->multipart, at);
        parts->is_ended = true;
        return true;
    }
    const struct http_range *range = &parts->ranges[parts->begun++];

    parts->used += http_multipart_part(&parts->multipart, range, at);
    body_file_aim(parts->file, range->first, http_range_length(range));
    parts->is_in_range = true;
    return true;
}

static void next_of_parts(struct body *body, struct body_piece *out)
{
    struct parts_body *parts = parts_of(body);

    parts->used = 0;
    while (parts->is_in_range ? gather_range(parts) : gather_text(parts))
        continue;
    if (parts->used > 0)
        *out =
            (struct body_piece){.kind = BODY_BYTES, .data = parts->gathered, .length = parts->used};
    else if (parts->is_in_range)
        body_next(parts->file, out);
    else
        *out = (struct body_piece){.kind = BODY_END};
}

static void take_back_to_parts(struct body *body, size_t length)
{
    body_take_back(parts_of(body)->file, length);
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

static const struct body_ops parts_ops = {
    .next = next_of_parts, .take_back = take_back_to_parts, .release = release_parts};

int body_from_parts(struct body **out, struct store *store, struct representation *file,
                    const struct http_multipart *multipart, const struct http_ranges *ranges)
{
    uint64_t length = http_multipart_length(multipart, ranges->at, ranges->count);
    size_t range_bytes = ranges->count * sizeof(ranges->at[0]);
    size_t overhead = http_multipart_overhead(multipart);
    size_t room = length < GATHERED_BYTES ? (size_t)length + overhead : GATHERED_BYTES;
    struct parts_body *parts;

    *out = NULL;
    if (length > INT64_MAX)
        return -EOVERFLOW;
    parts = malloc(sizeof(*parts) + range_bytes + room);
    if (parts == NULL)
        return -ENOMEM;
    *parts = (struct parts_body){
        .body = {.ops = &parts_ops, .length = (int64_t)length},
        .multipart = *multipart,
        .count = ranges->count,
        .room = room,
        .gathered = (char *)parts->ranges + range_bytes,
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
