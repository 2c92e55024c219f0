/* SPDX-License-Identifier: MIT */
/*
 * Tells the four forms of a request target apart and finds the host that the request is for.
 * It does not decode paths (uri.c) nor know which hosts exist.
 * Called by head.c, when all fields are known.
 */
#include "http/target.h"

#include <arpa/inet.h>
#include <errno.h>

static int refuse(struct http_request *out, const char *reason)
{
    out->reason = reason;
    return 400;
}

/* What is said to be https came unsecured, whoever took the security off (RFC 9110 7.4). */
static int misdirect(struct http_request *out)
{
    out->reason = "an https target on a connection that is not secured";
    return 421;
}

/* "[" IPv6address "]"; the future forms of RFC 3986 3.2.2 have no users and are refused. */
static bool is_ipv6_literal(struct http_text text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    if (text.length < 4 || text.length - 2 >= sizeof(address) ||
        memchr(text.data, '\0', text.length) != NULL)
        return false;
    memcpy(address, text.data + 1, text.length - 2);
    address[text.length - 2] = '\0';
    return inet_pton(AF_INET6, address, &binary) == 1;
}

/*
 * reg-name or IPv4 (RFC 3986 3.2.2), except that a label cannot be empty: "..", ".a" and "a..b"
 * name no host, and are dangerous to whoever makes a file name of one. One dot at the end is well.
 */
static bool is_host_name(struct http_text text)
{
    bool label = false;
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        if (byte == '.') {
            if (!label)
                return false;
            label = false;
            continue;
        }
        if (byte == '%' && text.length - i > 2 && http_byte_hex(text.data[i + 1]) >= 0 &&
            http_byte_hex(text.data[i + 2]) >= 0)
            i += 2;
        else if (!http_byte_is(byte, HTTP_BYTE_HOST))
            return false;
        label = true;
    }
    return true;
}

static int parse_port(struct http_text text, uint16_t *port)
{
    uint64_t number = 0;
    if (text.length > 0 && (http_text_to_number(text, &number) != 0 || number > UINT16_MAX))
        return -EINVAL;
    *port = (uint16_t)number;
    return 0;
}

int http_authority_parse(struct http_text text, struct http_text *host, uint16_t *port,
                         bool *has_port)
{
    size_t length;
    if (text.length > 0 && text.data[0] == '[') {
        const char *bracket = memchr(text.data, ']', text.length);
        if (bracket == NULL)
            return -EINVAL;
        length = (size_t)(bracket - text.data) + 1;
        if (!is_ipv6_literal((struct http_text){text.data, length}))
            return -EINVAL;
    } else {
        const char *colon = text.length > 0 ? memchr(text.data, ':', text.length) : NULL;
        length = colon != NULL ? (size_t)(colon - text.data) : text.length;
        if (!is_host_name((struct http_text){text.data, length}))
            return -EINVAL;
    }
    struct http_text rest = {text.data + length, text.length - length};
    if (rest.length > 0 && rest.data[0] != ':')
        return -EINVAL;
    *has_port = rest.length > 1;
    if (rest.length > 0)
        rest = (struct http_text){rest.data + 1, rest.length - 1};
    *host = (struct http_text){text.data, length};
    return parse_port(rest, port);
}

/* Splits what follows the authority, or the whole in origin-form. */
static void split_query(struct http_text text, struct http_request *out)
{
    const char *mark = text.length > 0 ? memchr(text.data, '?', text.length) : NULL;
    out->path = text;
    out->has_query = mark != NULL;
    if (mark != NULL) {
        out->path.length = (size_t)(mark - text.data);
        out->query = (struct http_text){mark + 1, text.length - out->path.length - 1};
    }
}

/* Takes the scheme off, in any case. */
static bool take_scheme(struct http_text *target, struct http_text scheme)
{
    if (target->length < scheme.length ||
        !http_text_equal_nocase((struct http_text){target->data, scheme.length}, scheme))
        return false;
    target->data += scheme.length;
    target->length -= scheme.length;
    return true;
}

static int parse_absolute(struct http_request *out)
{
    struct http_text rest = out->target;
    bool has_port;
    size_t length = 0;
    out->form = HTTP_TARGET_ABSOLUTE;
    if (take_scheme(&rest, HTTP_TEXT("https://")))
        return misdirect(out);
    if (!take_scheme(&rest, HTTP_TEXT("http://")))
        return refuse(out, "the target is of none of the four forms");
    while (length < rest.length && rest.data[length] != '/' && rest.data[length] != '?')
        length++;
    struct http_text authority = {rest.data, length};
    if (http_authority_parse(authority, &out->host, &out->port, &has_port) != 0 ||
        out->host.length == 0)
        return refuse(out, "the target has no host, an invalid one, or user information");
    rest = (struct http_text){rest.data + length, rest.length - length};
    if (rest.length == 0 && out->method == HTTP_METHOD_OPTIONS) {
        out->form = HTTP_TARGET_ASTERISK; /* RFC 9112 3.2.4: that is how a client spells it */
        return 0;
    }
    split_query(rest, out);
    if (out->path.length == 0)
        out->path = HTTP_TEXT("/");
    return 0;
}

int http_target_parse(struct http_request *out)
{
    struct http_text target = out->target;
    bool has_port;
    if (out->method == HTTP_METHOD_CONNECT) {
        out->form = HTTP_TARGET_AUTHORITY;
        if (http_authority_parse(target, &out->host, &out->port, &has_port) != 0 ||
            out->host.length == 0 || !has_port || out->port == 0)
            return refuse(out, "CONNECT needs a host and a port");
        return 0;
    }
    if (target.data[0] == '/') {
        out->form = HTTP_TARGET_ORIGIN;
        split_query(target, out);
        return 0;
    }
    if (target.length == 1 && target.data[0] == '*') {
        out->form = HTTP_TARGET_ASTERISK;
        if (out->method != HTTP_METHOD_OPTIONS && out->method != HTTP_METHOD_OTHER)
            return refuse(out, "the target `*` is for OPTIONS");
        return 0;
    }
    return parse_absolute(out);
}

/*
 * Host has to be there once in HTTP/1.1, and valid whenever it is there, even where the target's
 * own authority wins (RFC 9112 3.2, 3.2.2). An empty one is well formed, but the http scheme has no
 * URI without a host (RFC 9110 4.2.1), so it cannot stand for an origin-form target.
 */
int http_host_parse(struct http_request *out)
{
    const struct http_text *field = http_request_field(out, HTTP_FIELD_HOST);
    struct http_text host;
    uint16_t port;
    bool has_port;
    if (field == NULL)
        return out->minor_version == 0 ? 0 : refuse(out, "HTTP/1.1 without Host");
    if (http_request_field_is_repeated(out, HTTP_FIELD_HOST))
        return refuse(out, "more than one Host");
    if (http_authority_parse(*field, &host, &port, &has_port) != 0)
        return refuse(out, "invalid Host");
    if (host.length == 0 && (out->form == HTTP_TARGET_ORIGIN || has_port))
        return refuse(out, "empty Host");
    if (out->host.length == 0) {
        out->host = host;
        out->port = port;
    }
    return 0;
}
