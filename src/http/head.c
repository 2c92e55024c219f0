/* SPDX-License-Identifier: MIT */
/*
 * Finds the end of a head and parses it in place: llhttp drives, the guard decides.
 * It does not read content, and never lets llhttp see any: framing.c says how long that is.
 * Called by the server for each request.
 */
#include "http/head.h"
#include "http/framing.h"
#include "http/syntax.h"
#include "http/target.h"

#include <assert.h>
#include <llhttp.h>

/* A method, a version and spaces: what a request line may have beside its target. */
#define REQUEST_LINE_REST 64

/* What llhttp reports while it runs over one head. */
struct reader {
    llhttp_t parser; /* first: its callbacks get its address */
    struct http_request *request;
    unsigned field_lines; /* as the guard counted them: llhttp must find neither more nor fewer */
    bool in_name;
    bool is_known; /* the header section came before: llhttp has read it then */
};

static size_t skip_empty_lines(const char *data, size_t length)
{
    size_t at = 0;
    for (int i = 0; i < HTTP_HEAD_EMPTY_LINES; i++) {
        if (length - at < 2 || data[at] != '\r' || data[at + 1] != '\n')
            break;
        at += 2;
    }
    return at;
}

size_t http_head_end(const char *data, size_t length, size_t *scanned)
{
    size_t start = skip_empty_lines(data, length);
    const char *end = data + length;
    assert(*scanned <= length); /* kept from a call with fewer of the same bytes */
    if (start == length || (data[start] == '\r' && start + 1 == length))
        return 0;
    if (!http_byte_is(data[start], HTTP_BYTE_TOKEN))
        return start + 1;
    const char *at = data + (*scanned > start ? *scanned : start);
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        *scanned = (size_t)(at - data); /* a line end is looked at again until its next two bytes
                                           are here */
        if (end - at < 2)
            return 0;
        if (at[1] == '\n')
            return (size_t)(at - data) + 2; /* malformed, but it is the end of what was meant */
        if (at[1] == '\r') {
            if (end - at < 3)
                return 0;
            /* Without an LF behind it, it is malformed, whatever else comes: no need to wait. */
            return (size_t)(at - data) + 3;
        }
        at++;
    }
    *scanned = length;
    return 0;
}

int http_head_overflow(const char *data, size_t length, const struct http_limits *limits)
{
    size_t line_most = limits->target_bytes + REQUEST_LINE_REST;
    if (length <= limits->target_bytes && length <= limits->head_bytes)
        return 0;
    size_t start = skip_empty_lines(data, length);
    size_t seen = length - start;
    bool in_request_line = memchr(data + start, '\n', seen < line_most ? seen : line_most) == NULL;
    if (in_request_line && seen >= line_most)
        return 414;
    if (seen <= limits->head_bytes)
        return 0;
    return in_request_line ? 414 : 431;
}

static struct reader *reader_of(llhttp_t *parser)
{
    static_assert(offsetof(struct reader, parser) == 0, "the parser is the reader's start");
    return (struct reader *)(void *)parser;
}

/* Appends to a slice; llhttp hands a span over in one piece unless something lies within it. */
static int extend(struct http_text *text, const char *at, size_t length)
{
    if (text->length == 0)
        *text = (struct http_text){at, length};
    else if (text->data + text->length == at)
        text->length += length;
    else
        return HPE_USER;
    return 0;
}

static int on_field_name(llhttp_t *parser, const char *at, size_t length)
{
    struct reader *reader = reader_of(parser);
    struct http_request *request = reader->request;
    if (!reader->in_name) {
        if (request->field_count == reader->field_lines)
            return HPE_USER;
        reader->in_name = true;
        request->fields[request->field_count++] = (struct http_field){.name = {at, 0}};
    }
    return extend(&request->fields[request->field_count - 1].name, at, length);
}

static int on_field_value(llhttp_t *parser, const char *at, size_t length)
{
    struct reader *reader = reader_of(parser);
    struct http_request *request = reader->request;
    if (request->field_count == 0)
        return HPE_USER;
    reader->in_name = false;
    return extend(&request->fields[request->field_count - 1].value, at, length);
}

/* An empty value has no span in some versions: the end of the name's and value's is told too. */
static int on_field_complete(llhttp_t *parser)
{
    reader_of(parser)->in_name = false;
    return 0;
}

/* Nothing behind the head is llhttp's: it stops here. */
static int on_head_complete(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_header_field = on_field_name,
    .on_header_value = on_field_value,
    .on_header_value_complete = on_field_complete,
    .on_headers_complete = on_head_complete,
};

/* llhttp's refusals in our words; the guard has let all but these through. */
static const char *reason_of(enum llhttp_errno error)
{
    switch (error) {
    case HPE_INVALID_CONTENT_LENGTH:
        return "malformed Content-Length";
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        return "more than one Content-Length, or one together with Transfer-Encoding";
    case HPE_INVALID_TRANSFER_ENCODING:
        return "the last transfer coding is not chunked, or is so twice";
    default:
        return llhttp_errno_name(error);
    }
}

/*
 * Runs llhttp over the request line and, unless it is known, the header section. The method is
 * handed to it apart, and as POST unless it is CONNECT, whose target is another: llhttp knows
 * dozens, refuses the others without a distinction, and treats those of RTSP as another protocol.
 * Versions that it does not know are let through: the guard has them.
 */
static int run_llhttp(struct reader *reader, struct http_text section)
{
    struct http_request *out = reader->request;
    const char *rest = out->method_text.data + out->method_text.length;
    const char *end = section.data + (reader->is_known ? 0 : section.length);
    struct http_text method =
        out->method == HTTP_METHOD_CONNECT ? HTTP_TEXT("CONNECT") : HTTP_TEXT("POST");
    llhttp_init(&reader->parser, HTTP_REQUEST, &settings);
    reader->parser.lenient_flags |= LENIENT_VERSION; /* 8.1 has no function for it */
    enum llhttp_errno error = llhttp_execute(&reader->parser, method.data, method.length);
    if (error == HPE_OK)
        error = llhttp_execute(&reader->parser, rest, (size_t)(end - rest));
    if (reader->is_known ? error == HPE_OK
                         : error == HPE_PAUSED && out->field_count == reader->field_lines)
        return 0;
    if (error == HPE_PAUSED || error == HPE_OK || error == HPE_USER)
        out->reason = "the head reads differently in two ways";
    else
        out->reason = reason_of(error);
    return 400;
}

/* Trims the values, names the known fields and chains those that repeat. */
static void index_fields(struct http_request *out)
{
    uint16_t last[HTTP_FIELD_COUNT];
    for (uint16_t i = 0; i < out->field_count; i++) {
        struct http_field *field = &out->fields[i];
        field->value = http_text_trim(field->value);
        field->id = (uint16_t)http_field_find(field->name);
        if (field->id == HTTP_FIELD_OTHER)
            continue;
        if (out->known[field->id] == 0)
            out->known[field->id] = (uint16_t)(i + 1);
        else
            out->fields[last[field->id] - 1].next = (uint16_t)(i + 1);
        last[field->id] = (uint16_t)(i + 1);
    }
}

/* What the fields say, once they are known one by one. */
static int read_fields(struct http_request *out)
{
    index_fields(out);
    int status = http_host_parse(out);
    if (status != 0)
        return status;
    status = http_framing_decide(out);
    if (status != 400 && out->method == HTTP_METHOD_OTHER) {
        out->reason = "unknown method";
        return 501;
    }
    return status;
}

/* The guard's look at the head: all of it, but a section that has passed it before. */
static int check_syntax(const struct http_limits *limits, struct http_header_cache *cache,
                        struct reader *reader, struct http_text *section)
{
    struct http_request *out = reader->request;
    int status = http_syntax_check_line(limits, out, section);
    if (status == 0 && cache != NULL)
        reader->is_known = http_header_cache_find(cache, *section, out);
    if (status == 0 && !reader->is_known)
        status = http_syntax_check_section(limits, *section, out, &reader->field_lines);
    if (status != 400 && status != 414 && out->head.length > limits->head_bytes) {
        out->reason = "the head is longer than the limit";
        return 431;
    }
    return status;
}

int http_head_parse(const char *data, size_t length, const struct http_limits *limits,
                    struct http_header_cache *cache, struct http_request *out)
{
    struct reader reader = {.request = out};
    struct http_text section;
    assert(out->fields != NULL || out->field_capacity == 0);
    size_t start = skip_empty_lines(data, length);
    http_request_init(out, out->fields, out->field_capacity);
    out->head = (struct http_text){data + start, length - start};
    int status = check_syntax(limits, cache, &reader, &section);
    if (status == 0)
        status = http_target_parse(out);
    if (status == 0)
        status = run_llhttp(&reader, section);
    if (status != 0 || reader.is_known)
        return status;
    status = read_fields(out);
    if (status == 0 && cache != NULL)
        http_header_cache_note(cache, section, out);
    return status;
}
