/* SPDX-License-Identifier: MIT */
/*
 * A body that is memory of its own: one piece, then the end.
 * Small cached files are not sent so (body_file.c): they share their bytes. Called by the server.
 */

#include "files/store.h"

#include <errno.h>
#include <stdlib.h>

struct memory_body {
    struct body body;
    char *data;
    size_t left;
};

static void next_of_memory(struct body *body, struct body_piece *out)
{
    struct memory_body *memory = EVIX_CONTAINER_OF(body, struct memory_body, body);

    *out = (struct body_piece){.kind = BODY_END};
    if (memory->left == 0)
        return;
    *out = (struct body_piece){.kind = BODY_BYTES, .data = memory->data, .length = memory->left};
    memory->left = 0;
}

static void release_memory(struct body *body)
{
    struct memory_body *memory = EVIX_CONTAINER_OF(body, struct memory_body, body);

    free(memory->data);
    free(memory);
}

static const struct body_ops memory_ops = {.next = next_of_memory, .release = release_memory};

int body_from_memory(struct body **out, char *data, size_t length)
{
    struct memory_body *memory = calloc(1, sizeof(*memory));

    *out = NULL;
    if (memory == NULL) {
        free(data);
        return -ENOMEM;
    }
    memory->body.ops = &memory_ops;
    memory->body.length = (int64_t)length;
    memory->data = data;
    memory->left = length;
    *out = &memory->body;
    return 0;
}
