/* SPDX-License-Identifier: MIT */
/*
 * Finds the known field names, in any case, by one switch and one comparison.
 * It does not look at values.
 * Called for each field line that is parsed, and by response.c for the names that we write.
 */
#include "http/field.h"

#include <assert.h>

static const struct http_text names[HTTP_FIELD_COUNT] = {[HTTP_FIELD_OTHER] = HTTP_TEXT(""),
#define FIELD_NAME(id, name, first, last) [HTTP_FIELD_##id] = HTTP_TEXT(name),
                                                         HTTP_FIELD_MAP(FIELD_NAME)
#undef FIELD_NAME
};

/* Two names with the same key would be two cases with the same value: the compiler refuses them. */
#define FIELD_KEY(length, first, last) (((length) << 16) | ((first) << 8) | (last))

enum http_field_id http_field_find(struct http_text name)
{
    enum http_field_id id;
    if (name.length == 0 || name.length > 64)
        return HTTP_FIELD_OTHER;
    unsigned first = (unsigned char)name.data[0] | 0x20u;
    unsigned last = (unsigned char)name.data[name.length - 1] | 0x20u;
    switch (FIELD_KEY((unsigned)name.length, first, last)) {
#define FIELD_CASE(id_, name_, first_, last_)                                                      \
    case FIELD_KEY(sizeof(name_) - 1, first_, last_):                                              \
        id = HTTP_FIELD_##id_;                                                                     \
        break;
        HTTP_FIELD_MAP(FIELD_CASE)
#undef FIELD_CASE
    default:
        return HTTP_FIELD_OTHER;
    }
    return http_text_equal_nocase(name, names[id]) ? id : HTTP_FIELD_OTHER;
}

struct http_text http_field_name(enum http_field_id id)
{
    assert(id < HTTP_FIELD_COUNT);
    return names[id];
}
