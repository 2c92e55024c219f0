/* SPDX-License-Identifier: MIT */
/*
 * Access to the fields of a parsed request, and its deep copy.
 * It does not parse: head.c fills the request in.
 * Called by handlers, and by the other files of this room.
 */
#include "http/request.h"

#include <assert.h>
#include <stdlib.h>

void http_request_init(struct http_request *request, struct http_field *fields, unsigned capacity)
{
    *request = (struct http_request){
        .fields = fields,
        .field_capacity = (uint16_t)(capacity < UINT16_MAX ? capacity : UINT16_MAX - 1),
    };
}

bool http_request_field_is_repeated(const struct http_request *request, enum http_field_id id)
{
    uint16_t index = request->known[id];
    assert(index <= request->field_count);
    return index != 0 && request->fields[index - 1].next != 0;
}

const struct http_text *http_request_field_single(const struct http_request *request,
                                                  enum http_field_id id)
{
    return http_request_field_is_repeated(request, id) ? NULL : http_request_field(request, id);
}

void http_list_start(struct http_list *list, const struct http_request *request,
                     enum http_field_id id)
{
    *list = (struct http_list){.request = request, .next = request->known[id]};
}

bool http_list_next(struct http_list *list, struct http_text *member)
{
    while (!http_text_next_member(&list->rest, member)) {
        if (list->next == 0)
            return false;
        const struct http_field *field = &list->request->fields[list->next - 1];
        list->rest = field->value;
        list->next = field->next;
    }
    return true;
}

bool http_request_lists(const struct http_request *request, enum http_field_id id,
                        struct http_text token)
{
    struct http_list list;
    struct http_text member;
    http_list_start(&list, request, id);
    while (http_list_next(&list, &member)) {
        if (http_text_equal_nocase(member, token))
            return true;
    }
    return false;
}

/* Makes a slice of the original's head one of the copy's; slices of constants stay. */
static void rebase(struct http_text *text, struct http_text from, const char *to)
{
    uintptr_t start = (uintptr_t)from.data;
    uintptr_t at = (uintptr_t)text->data;
    if (text->data != NULL && at >= start && at <= start + from.length)
        text->data = to + (at - start);
}

struct http_request *http_request_clone(const struct http_request *request)
{
    size_t fields_bytes = request->field_count * sizeof(request->fields[0]);
    size_t total;
    if (__builtin_add_overflow(sizeof(*request) + fields_bytes, request->head.length, &total))
        return NULL;
    struct http_request *copy = malloc(total);
    if (copy == NULL)
        return NULL;
    static_assert(sizeof(struct http_request) % _Alignof(struct http_field) == 0,
                  "the fields follow the request in one allocation");
    *copy = *request;
    copy->fields = (struct http_field *)(void *)(copy + 1);
    copy->field_capacity = request->field_count;
    char *head = (char *)(copy->fields + request->field_count);
    if (fields_bytes > 0)
        memcpy(copy->fields, request->fields, fields_bytes);
    if (request->head.length > 0)
        memcpy(head, request->head.data, request->head.length);

    struct http_text *slices[] = {&copy->method_text, &copy->target, &copy->path,
                                  &copy->query,       &copy->host,   &copy->head};
    for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
        rebase(slices[i], request->head, head);
    for (unsigned i = 0; i < copy->field_count; i++) {
        rebase(&copy->fields[i].name, request->head, head);
        rebase(&copy->fields[i].value, request->head, head);
    }
    return copy;
}
