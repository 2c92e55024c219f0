/* SPDX-License-Identifier: MIT */
/*
 * Weights of media types and content codings in the Accept fields.
 * It does not choose: the caller compares the weights of what it has.
 * Called by handlers that have more than one representation.
 */
#include "http/negotiate.h"

/* "0", "0.5", "1.000" in thousandths (RFC 9110 12.4.2), or -1. */
static int read_weight(struct http_text text)
{
    int weight = 0, scale = 1000;
    if (text.length == 0 || text.length > 5 || (text.data[0] != '0' && text.data[0] != '1') ||
        (text.length > 1 && text.data[1] != '.'))
        return -1;
    weight = (text.data[0] - '0') * scale;
    for (size_t i = 2; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return -1;
        scale /= 10;
        weight += (text.data[i] - '0') * scale;
    }
    return weight <= 1000 ? weight : -1;
}

/* What many clients append, and all of our text fulfils: it does not narrow a range here. */
static bool is_charset(struct http_text parameter)
{
    struct http_text name = HTTP_TEXT("charset=");
    return parameter.length >= name.length &&
           http_text_equal_nocase((struct http_text){parameter.data, name.length}, name);
}

/* Splits "name;q=0.5": the name is left in `*member`. The weight, or -1 if the member is no match.
 */
static int split_weight(struct http_text *member)
{
    struct http_text rest = *member, parameter;
    int weight = 1000;
    http_text_next_parameter(&rest, member);
    while (http_text_next_parameter(&rest, &parameter)) {
        if (parameter.length == 0 || is_charset(parameter))
            continue;
        if (parameter.length < 2 || (parameter.data[0] | 0x20) != 'q' || parameter.data[1] != '=')
            return -1;
        weight = read_weight((struct http_text){parameter.data + 2, parameter.length - 2});
        if (weight < 0)
            return -1;
        break; /* what follows q are extensions of old, RFC 9110 12.5.1 */
    }
    return weight;
}

/* How exactly a media range names the type: 0 not at all, 1 by "*" and "*", 2 by "text" and "*". */
static int match_range(struct http_text range, struct http_text type, struct http_text subtype)
{
    const char *slash = memchr(range.data, '/', range.length);
    if (slash == NULL)
        return 0;
    struct http_text before = {range.data, (size_t)(slash - range.data)};
    struct http_text after = {slash + 1, range.length - before.length - 1};
    bool any_subtype = http_text_equal(after, HTTP_TEXT("*"));
    if (http_text_equal(before, HTTP_TEXT("*")))
        return any_subtype ? 1 : 0;
    if (!http_text_equal_nocase(before, type))
        return 0;
    if (any_subtype)
        return 2;
    return http_text_equal_nocase(after, subtype) ? 3 : 0;
}

unsigned http_accept_weight(const struct http_request *request, struct http_text type,
                            struct http_text subtype)
{
    struct http_list list;
    struct http_text member;
    int best = 0, best_match = 0;
    if (http_request_field(request, HTTP_FIELD_ACCEPT) == NULL)
        return 1000;
    http_list_start(&list, request, HTTP_FIELD_ACCEPT);
    while (http_list_next(&list, &member)) {
        int weight = split_weight(&member);
        int match = weight >= 0 ? match_range(member, type, subtype) : 0;
        if (match > best_match) {
            best_match = match;
            best = weight;
        }
    }
    return (unsigned)best;
}

bool http_accept_prefers_json(const struct http_request *request)
{
    return http_accept_weight(request, HTTP_TEXT("application"), HTTP_TEXT("json")) >
           http_accept_weight(request, HTTP_TEXT("text"), HTTP_TEXT("html"));
}

/* What a browser would navigate to: the values for frames are destinations, too. */
static bool is_navigation(struct http_text destination)
{
    static const char *const pages[] = {"document", "iframe", "frame"};

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (http_text_equal(destination, http_text_of(pages[i])))
            return true;
    return false;
}

bool http_accept_names_page(const struct http_request *request)
{
    struct http_list list;
    struct http_text member;

    http_list_start(&list, request, HTTP_FIELD_ACCEPT);
    while (http_list_next(&list, &member))
        if (split_weight(&member) > 0 &&
            (http_text_equal_nocase(member, HTTP_TEXT("text/html")) ||
             http_text_equal_nocase(member, HTTP_TEXT("application/xhtml+xml"))))
            return true;
    return false;
}

bool http_asks_for_document(const struct http_request *request)
{
    const struct http_text *destination = http_request_field(request, HTTP_FIELD_SEC_FETCH_DEST);

    if (destination != NULL)
        return is_navigation(*destination);
    return http_accept_names_page(request);
}

/* "x-gzip" is an old name of gzip (RFC 9110 8.4.1.3). */
static bool names_coding(struct http_text member, struct http_text coding)
{
    if (http_text_equal_nocase(member, coding))
        return true;
    return http_text_equal_nocase(member, HTTP_TEXT("x-gzip")) &&
           http_text_equal_nocase(coding, HTTP_TEXT("gzip"));
}

/* What a coding weighs that no member names, where `*` weighs `any` (-1: there was none). */
static int weight_unnamed(struct http_text coding, int any)
{
    if (http_text_equal_nocase(coding, HTTP_TEXT("identity")))
        return any == 0 ? 0 : 1;
    return any > 0 ? any : 0;
}

void http_coding_weights(const struct http_request *request, const struct http_text *codings,
                         size_t count, int *weights)
{
    bool is_sent = http_request_field(request, HTTP_FIELD_ACCEPT_ENCODING) != NULL;
    struct http_list list;
    struct http_text member;
    int any = -1;
    for (size_t i = 0; i < count; i++)
        weights[i] = -1;
    http_list_start(&list, request, HTTP_FIELD_ACCEPT_ENCODING);
    while (http_list_next(&list, &member)) {
        int weight = split_weight(&member);
        if (weight < 0)
            continue;
        if (http_text_equal(member, HTTP_TEXT("*")))
            any = weight;
        for (size_t i = 0; i < count; i++)
            if (names_coding(member, codings[i]))
                weights[i] = weight;
    }
    for (size_t i = 0; i < count; i++) {
        if (weights[i] < 0)
            weights[i] = weight_unnamed(codings[i], any);
        if (!is_sent && weights[i] > 0)
            weights[i] = 1000;
    }
}

bool http_identity_is_refused(const struct http_request *request)
{
    const struct http_text *field = http_request_field(request, HTTP_FIELD_ACCEPT_ENCODING);
    struct http_text identity = HTTP_TEXT("identity");
    int weight;
    /* Refusing takes a weight; browsers send none. */
    if (field == NULL || (memchr(field->data, ';', field->length) == NULL &&
                          !http_request_field_is_repeated(request, HTTP_FIELD_ACCEPT_ENCODING)))
        return false;
    http_coding_weights(request, &identity, 1, &weight);
    return weight == 0;
}
