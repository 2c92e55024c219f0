/* SPDX-License-Identifier: MIT */
/*
 * Checks texts: names, paths, media types, headers, log formats.
 * Does not look at the machine: whether a path or account exists is for others to find out.
 * Called by value.c through the schema, by headers.c and by override.c.
 */
#include "config/rules.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool is_token_byte(char byte)
{
    return byte != '\0' &&
           (isalnum((unsigned char)byte) || strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

static size_t token_length(const char *text)
{
    size_t length = 0;

    while (is_token_byte(text[length]))
        length++;
    return length;
}

bool rules_is_printable(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return false;
    }
    return true;
}

const char *rules_check_account(const char *text)
{
    static const char expected[] = "the name of an account or group";

    if (strlen(text) > 255)
        return expected;
    for (const char *at = text; *at != '\0'; at++) {
        if (isspace((unsigned char)*at) || *at == ':' || *at == '/')
            return expected;
    }
    return rules_is_printable(text) ? NULL : expected;
}

/* As systemd.socket(5) has FileDescriptorName=; LISTEN_FDNAMES separates them by colons. */
const char *rules_check_socket_name(const char *text)
{
    bool is_one = strlen(text) <= 255 && rules_is_printable(text) && strchr(text, ':') == NULL;

    return is_one ? NULL : "the name of a socket, without a colon";
}

/* type "/" subtype, perhaps parameters, which are taken as they are (RFC 9110 section 8.3.1). */
const char *rules_check_media_type(const char *text)
{
    static const char expected[] = "a media type such as text/plain";
    size_t type = token_length(text), subtype;
    const char *rest;

    if (type == 0 || text[type] != '/')
        return expected;
    subtype = token_length(text + type + 1);
    rest = text + type + 1 + subtype;
    rest += strspn(rest, " ");
    if (subtype == 0 || (*rest != '\0' && *rest != ';') || !rules_is_printable(text))
        return expected;
    return NULL;
}

/* Without a directive every line would be the same: then it is a mistyped name. */
const char *rules_check_format(const char *text)
{
    if (strchr(text, '%') == NULL)
        return "\"common\", \"combined\", \"json\" or a text with % directives";
    return rules_is_printable(text) ? NULL : "a text without control bytes";
}

const char *rules_check_index(const char *text)
{
    if (text[0] == '\0' || strcmp(text, ".") == 0 || strcmp(text, "..") == 0 ||
        strchr(text, '/') != NULL || strlen(text) > 255 || !rules_is_printable(text))
        return "the name of a file, without a slash";
    return NULL;
}

/* "[" IPv6 "]": what stands between the brackets is compared with the request's text. */
static bool is_bracketed(const char *text)
{
    size_t length = strlen(text);

    return length > 2 && text[0] == '[' && text[length - 1] == ']' &&
           strspn(text + 1, "0123456789abcdefABCDEF:.") == length - 2;
}

/* Labels of letters, digits, hyphens and underscores (which names in use do have). */
const char *rules_check_host(const char *text)
{
    static const char expected[] = "a host name such as example.org or *.example.org, without port";
    size_t label = 0;

    if (strlen(text) > 253)
        return expected;
    if (is_bracketed(text))
        return NULL;
    if (strncmp(text, "*.", 2) == 0)
        text += 2;
    for (; *text != '\0'; text++) {
        if (*text == '.' && (label == 0 || text[1] == '\0'))
            return expected;
        label = *text == '.' ? 0 : label + 1;
        if (*text != '.' && *text != '-' && *text != '_' && !isalnum((unsigned char)*text))
            return expected;
        if (label > 63)
            return expected;
    }
    return label == 0 ? expected : NULL;
}

/* It is compared with decoded paths that have no empty or dot segments: one that has could never
 * match, and its settings would silently protect nothing. */
static const char *check_segments(const char *text)
{
    for (const char *at = text; *at == '/';) {
        size_t length = strcspn(at + 1, "/");

        if ((length == 0 && at[1] != '\0') || (length == 1 && at[1] == '.') ||
            (length == 2 && at[1] == '.' && at[2] == '.'))
            return "a path without \"//\", \"/.\" and \"/..\"";
        at += 1 + length;
    }
    return NULL;
}

const char *rules_check_path(const char *text)
{
    if (text[0] != '/')
        return "a path that begins with a slash";
    if (!rules_is_printable(text) || strpbrk(text, "?#%") != NULL)
        return "a path without query, not percent-encoded";
    return check_segments(text);
}

const char *rules_check_file_path(const char *text)
{
    if (text[0] != '/' || text[strlen(text) - 1] == '/' || !rules_is_printable(text))
        return RULES_FILE_PATH_EXPECTED;
    return check_segments(text);
}

const char *rules_check_fallback(const char *text)
{
    return text[0] == '\0' ? NULL : rules_check_file_path(text);
}

/* It stands in quotes in WWW-Authenticate. */
const char *rules_check_realm(const char *text)
{
    if (!rules_is_printable(text) || strpbrk(text, "\"\\") != NULL || strlen(text) > 255)
        return "a text without quotes and backslashes";
    return NULL;
}

/* Sets are of ASCII: one that held half of a UTF-8 character would match half of another. */
static const char *check_set(const char *text, size_t *out_length)
{
    size_t at = 1;

    if (text[at] == '!')
        at++;
    if (text[at] == ']')
        at++;
    for (; text[at] != ']'; at++) {
        if (text[at] == '\0')
            return "a pattern whose brackets are closed";
        if ((unsigned char)text[at] >= 0x80)
            return "a pattern with nothing but ASCII in brackets";
    }
    *out_length = at;
    return NULL;
}

const char *rules_check_pattern(const char *text)
{
    if (text[0] == '\0' || strchr(text, '/') != NULL || !rules_is_printable(text))
        return "a pattern of a file's name, such as *.css, without a slash";
    if (strpbrk(text, "{}") != NULL)
        return "a pattern without braces: name the alternatives one by one";
    for (; *text != '\0'; text++) {
        size_t length = 0;
        const char *amiss = *text == '[' ? check_set(text, &length) : NULL;

        if (amiss != NULL)
            return amiss;
        text += length;
    }
    return NULL;
}

/* Two slashes at the start, or a backslash that browsers take for one, would lead to another
 * host. */
const char *rules_check_redirect(const char *text)
{
    static const char expected[] =
        "an absolute path, or a URL that begins with http:// or https://";
    const char *host = strncasecmp(text, "http://", 7) == 0    ? text + 7
                       : strncasecmp(text, "https://", 8) == 0 ? text + 8
                                                               : NULL;

    if (!rules_is_printable(text) || strpbrk(text, " \"<>\\^`{|}#?") != NULL)
        return "a path or URL without query, as it is to be sent (percent-encoded)";
    if (host != NULL)
        return *host == '\0' || *host == '/' ? expected : NULL;
    return text[0] == '/' && text[1] != '/' ? NULL : expected;
}

const char *rules_check_header_name(const char *text)
{
    static const char *const own[] = {
        "Accept-Ranges",
        "Allow",
        "Connection",
        "Content-Encoding",
        "Content-Length",
        "Content-Range",
        "Content-Type",
        "Date",
        "ETag",
        "Keep-Alive",
        "Last-Modified",
        "Location",
        "Server",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "WWW-Authenticate",
    };
    size_t length = token_length(text);

    if (length == 0 || text[length] != '\0')
        return "the name of a header field";
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcasecmp(text, own[i]) == 0)
            return "a field that evixd does not set by itself";
    }
    return NULL;
}

const char *rules_check_header_value(const char *text)
{
    size_t length = strlen(text);

    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\r' || *at == '\n')
            return "a value without line breaks (CR, LF)";
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7F)
            return "a value without control bytes";
    }
    if (length > 4096)
        return "a value of at most 4096 bytes";
    if (length > 0 && (strchr(" \t", text[0]) != NULL || strchr(" \t", text[length - 1]) != NULL))
        return "a value without blanks around it";
    return NULL;
}
