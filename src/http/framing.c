/* SPDX-License-Identifier: MIT */
/*
 * Decides what frames a request's content, and whether the connection goes on after it.
 * It does not read the content (chunked.c) nor compare its length with limits: the server does.
 * Called by head.c, when all fields are known; llhttp's own opinion is not asked.
 */
#include "http/framing.h"

#include <errno.h>

static int refuse(struct http_request *out, int status, const char *reason)
{
    out->reason = reason;
    return status;
}

/* Whether a tab is in the white space behind a value. */
static bool is_tab_behind(struct http_text value)
{
    const char *at = value.data + value.length;
    while (*at == ' ')
        at++;
    return *at == '\t';
}

/*
 * One line, one number. A list of equal numbers could be taken as one (RFC 9110 8.6), and a tab may
 * follow it; but nobody sends either, the versions of llhttp differ there, and so may proxies.
 */
static int read_length(struct http_request *out)
{
    const struct http_text *field = http_request_field(out, HTTP_FIELD_CONTENT_LENGTH);
    if (field == NULL)
        return 0;
    if (http_request_field_is_repeated(out, HTTP_FIELD_CONTENT_LENGTH))
        return refuse(out, 400, "more than one Content-Length");
    uint64_t length;
    int result = http_text_to_number(*field, &length);
    if (result == -ERANGE)
        return refuse(out, 400, "Content-Length is too large for any message");
    if (result != 0 || is_tab_behind(*field))
        return refuse(out, 400, "malformed Content-Length");
    out->content_length = length;
    out->has_content_length = true;
    out->body = length > 0 ? HTTP_BODY_LENGTH : HTTP_BODY_NONE;
    return 0;
}

/*
 * Only "chunked" is implemented. It has to be last, once; then another coding before it leaves the
 * framing known, and is merely not implemented (RFC 9112 6.1). All else could be read in two ways.
 */
static int read_transfer_coding(struct http_request *out)
{
    struct http_list list;
    struct http_text member;
    unsigned codings = 0, chunked = 0;
    bool chunked_is_last = false;
    http_list_start(&list, out, HTTP_FIELD_TRANSFER_ENCODING);
    while (http_list_next(&list, &member)) {
        codings++;
        chunked_is_last = http_text_equal_nocase(member, HTTP_TEXT("chunked"));
        chunked += chunked_is_last;
    }
    if (out->minor_version == 0)
        return refuse(out, 400, "Transfer-Encoding in HTTP/1.0");
    if (http_request_field(out, HTTP_FIELD_CONTENT_LENGTH) != NULL)
        return refuse(out, 400, "Transfer-Encoding together with Content-Length");
    if (http_request_field_is_repeated(out, HTTP_FIELD_TRANSFER_ENCODING))
        return refuse(out, 400, "more than one Transfer-Encoding");
    if (chunked != 1 || !chunked_is_last)
        return refuse(out, 400, "the last transfer coding is not chunked, or is so twice");
    out->body = HTTP_BODY_CHUNKED;
    if (codings > 1)
        return refuse(out, 501, "transfer coding other than chunked");
    const struct http_text *field = http_request_field(out, HTTP_FIELD_TRANSFER_ENCODING);
    if (field->length != sizeof("chunked") - 1)
        return refuse(out, 400, "empty members around the transfer coding");
    return 0;
}

/* RFC 9112 9.3. What follows a CONNECT may be anything but a request, so nothing is read after it.
 */
static bool decide_keep_alive(const struct http_request *out)
{
    if (out->method == HTTP_METHOD_CONNECT)
        return false;
    if (http_request_field(out, HTTP_FIELD_CONNECTION) == NULL)
        return out->minor_version != 0;
    if (http_request_lists(out, HTTP_FIELD_CONNECTION, HTTP_TEXT("close")))
        return false;
    return out->minor_version != 0 ||
           http_request_lists(out, HTTP_FIELD_CONNECTION, HTTP_TEXT("keep-alive"));
}

/* RFC 9110 10.1.1: an expectation from HTTP/1.0 is ignored, whatever it is. */
static int read_expectation(struct http_request *out)
{
    struct http_list list;
    struct http_text member;
    if (out->minor_version == 0)
        return 0;
    http_list_start(&list, out, HTTP_FIELD_EXPECT);
    while (http_list_next(&list, &member)) {
        if (!http_text_equal_nocase(member, HTTP_TEXT("100-continue")))
            return refuse(out, 417, "expectation other than 100-continue");
        out->expect_continue = out->body != HTTP_BODY_NONE;
    }
    return 0;
}

int http_framing_decide(struct http_request *out)
{
    int status;
    if (http_request_field(out, HTTP_FIELD_TRANSFER_ENCODING) != NULL)
        status = read_transfer_coding(out);
    else
        status = read_length(out);
    if (status == 400)
        return status;
    out->keep_alive = status == 0 && decide_keep_alive(out);
    int expectation = read_expectation(out);
    return status != 0 ? status : expectation;
}
