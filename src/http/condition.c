/* SPDX-License-Identifier: MIT */
/*
 * Entity tags, and the preconditions of a request against what is known of a representation.
 * It does not make validators: the caller says what the representation's are.
 * Called by handlers, when the answer without preconditions would be a success.
 */
#include "http/condition.h"
#include "http/date.h"

#include <errno.h>

/* Takes one tag off the start: 0 or -EINVAL. Quotes know no escapes here (RFC 9110 8.8.3). */
static int take_tag(struct http_text *rest, struct http_etag *out)
{
    struct http_text text = *rest;
    out->is_weak = text.length >= 2 && text.data[0] == 'W' && text.data[1] == '/';
    if (out->is_weak) {
        text.data += 2;
        text.length -= 2;
    }
    if (text.length < 2 || text.data[0] != '"')
        return -EINVAL;
    size_t length = 1;
    while (length < text.length && http_byte_is(text.data[length], HTTP_BYTE_ETAG))
        length++;
    if (length == text.length || text.data[length] != '"')
        return -EINVAL;
    length++;
    out->opaque = (struct http_text){text.data, length};
    *rest = (struct http_text){text.data + length, text.length - length};
    return 0;
}

int http_etag_parse(struct http_text text, struct http_etag *out)
{
    int result = take_tag(&text, out);
    return result != 0 || text.length == 0 ? result : -EINVAL;
}

bool http_etag_equal_strong(const struct http_etag *a, const struct http_etag *b)
{
    return !a->is_weak && !b->is_weak && http_text_equal(a->opaque, b->opaque);
}

bool http_etag_equal_weak(const struct http_etag *a, const struct http_etag *b)
{
    return http_text_equal(a->opaque, b->opaque);
}

typedef bool etag_equal_fn(const struct http_etag *a, const struct http_etag *b);

/* Takes commas and white space off; false if something else than a comma was between two members.
 */
static bool take_separator(struct http_text *rest)
{
    bool comma = false;
    *rest = http_text_trim(*rest);
    while (rest->length > 0 && rest->data[0] == ',') {
        comma = true;
        rest->data++;
        rest->length--;
        *rest = http_text_trim(*rest);
    }
    return comma;
}

/*
 * Whether one line's list has the tag. What follows a malformed member is not looked at: it cannot
 * be told where the next begins.
 */
static bool line_matches(struct http_text rest, const struct http_etag *tag, etag_equal_fn *equal)
{
    struct http_etag member;
    take_separator(&rest);
    while (rest.length > 0 && take_tag(&rest, &member) == 0) {
        if (equal(&member, tag))
            return true;
        if (!take_separator(&rest))
            break;
    }
    return false;
}

/* `*` matches any representation, a list one of those tags, none where there is none. */
static bool field_matches(const struct http_request *request, enum http_field_id id,
                          const struct http_validators *validators, etag_equal_fn *equal)
{
    struct http_etag tag;
    uint16_t index = request->known[id];
    if (validators == NULL)
        return false;
    if (http_text_equal(request->fields[index - 1].value, HTTP_TEXT("*")) &&
        !http_request_field_is_repeated(request, id))
        return true;
    if (http_etag_parse(validators->etag, &tag) != 0)
        return false;
    for (; index != 0; index = request->fields[index - 1].next) {
        if (line_matches(request->fields[index - 1].value, &tag, equal))
            return true;
    }
    return false;
}

/* A date field that counts: sent once, well formed, and the representation has a date as well. */
static bool read_date(const struct http_request *request, enum http_field_id id,
                      const struct http_validators *validators, int64_t now, int64_t *out)
{
    const struct http_text *field = http_request_field_single(request, id);
    return field != NULL && validators != NULL && validators->has_modified &&
           http_date_parse(*field, now, out) == 0;
}

static bool has(const struct http_request *request, enum http_field_id id)
{
    return http_request_field(request, id) != NULL;
}

enum http_condition http_condition_evaluate(const struct http_request *request,
                                            const struct http_validators *validators, int64_t now)
{
    bool reads = request->method == HTTP_METHOD_GET || request->method == HTTP_METHOD_HEAD;
    int64_t date;
    /* Steps 1 and 2 of RFC 9110 13.2.2. */
    if (has(request, HTTP_FIELD_IF_MATCH)) {
        if (!field_matches(request, HTTP_FIELD_IF_MATCH, validators, http_etag_equal_strong))
            return HTTP_CONDITION_FAILED;
    } else if (read_date(request, HTTP_FIELD_IF_UNMODIFIED_SINCE, validators, now, &date) &&
               validators->modified > date) {
        return HTTP_CONDITION_FAILED;
    }
    /* Steps 3 and 4: the tag decides alone where there is one. */
    if (has(request, HTTP_FIELD_IF_NONE_MATCH)) {
        if (field_matches(request, HTTP_FIELD_IF_NONE_MATCH, validators, http_etag_equal_weak))
            return reads ? HTTP_CONDITION_NOT_MODIFIED : HTTP_CONDITION_FAILED;
    } else if (reads && read_date(request, HTTP_FIELD_IF_MODIFIED_SINCE, validators, now, &date) &&
               validators->modified <= date) {
        return HTTP_CONDITION_NOT_MODIFIED;
    }
    return HTTP_CONDITION_PROCEED;
}

bool http_condition_allows_range(const struct http_request *request,
                                 const struct http_validators *validators, int64_t now)
{
    struct http_etag sent, tag;
    int64_t date;
    const struct http_text *field = http_request_field(request, HTTP_FIELD_IF_RANGE);
    if (field == NULL)
        return true;
    if (validators == NULL || http_request_field_is_repeated(request, HTTP_FIELD_IF_RANGE))
        return false;
    if (http_etag_parse(*field, &sent) == 0)
        return http_etag_parse(validators->etag, &tag) == 0 && http_etag_equal_strong(&sent, &tag);
    return read_date(request, HTTP_FIELD_IF_RANGE, validators, now, &date) &&
           date == validators->modified && date < now;
}
