/* SPDX-License-Identifier: MIT */
/*
 * The table of status codes: reason phrases and prebuilt status lines.
 * It does not decide which code answers what.
 * Called by response.c, by error pages and by the log.
 */
#include "http/status.h"

/* RFC 9110 15 and, where named, the RFC that adds the code. */
#define STATUS_MAP(XX)                                                                             \
    XX(100, "Continue")                                                                            \
    XX(101, "Switching Protocols")                                                                 \
    XX(103, "Early Hints") /* RFC 8297 */                                                          \
    XX(200, "OK")                                                                                  \
    XX(201, "Created")                                                                             \
    XX(202, "Accepted")                                                                            \
    XX(203, "Non-Authoritative Information")                                                       \
    XX(204, "No Content")                                                                          \
    XX(205, "Reset Content")                                                                       \
    XX(206, "Partial Content")                                                                     \
    XX(300, "Multiple Choices")                                                                    \
    XX(301, "Moved Permanently")                                                                   \
    XX(302, "Found")                                                                               \
    XX(303, "See Other")                                                                           \
    XX(304, "Not Modified")                                                                        \
    XX(307, "Temporary Redirect")                                                                  \
    XX(308, "Permanent Redirect")                                                                  \
    XX(400, "Bad Request")                                                                         \
    XX(401, "Unauthorized")                                                                        \
    XX(402, "Payment Required")                                                                    \
    XX(403, "Forbidden")                                                                           \
    XX(404, "Not Found")                                                                           \
    XX(405, "Method Not Allowed")                                                                  \
    XX(406, "Not Acceptable")                                                                      \
    XX(407, "Proxy Authentication Required")                                                       \
    XX(408, "Request Timeout")                                                                     \
    XX(409, "Conflict")                                                                            \
    XX(410, "Gone")                                                                                \
    XX(411, "Length Required")                                                                     \
    XX(412, "Precondition Failed")                                                                 \
    XX(413, "Content Too Large")                                                                   \
    XX(414, "URI Too Long")                                                                        \
    XX(415, "Unsupported Media Type")                                                              \
    XX(416, "Range Not Satisfiable")                                                               \
    XX(417, "Expectation Failed")                                                                  \
    XX(421, "Misdirected Request")                                                                 \
    XX(422, "Unprocessable Content")                                                               \
    XX(426, "Upgrade Required")                                                                    \
    XX(428, "Precondition Required") /* RFC 6585, as the next two */                               \
    XX(429, "Too Many Requests")                                                                   \
    XX(431, "Request Header Fields Too Large")                                                     \
    XX(451, "Unavailable For Legal Reasons") /* RFC 7725 */                                        \
    XX(500, "Internal Server Error")                                                               \
    XX(501, "Not Implemented")                                                                     \
    XX(502, "Bad Gateway")                                                                         \
    XX(503, "Service Unavailable")                                                                 \
    XX(504, "Gateway Timeout")                                                                     \
    XX(505, "HTTP Version Not Supported")                                                          \
    XX(507, "Insufficient Storage") /* RFC 4918 */

enum {
    PREFIX_LENGTH = sizeof("HTTP/1.1 404 ") - 1,
    SUFFIX_LENGTH = sizeof("\r\n") - 1,
    FIRST_CODE = 100,
    LAST_CODE = 507,
};

static const struct http_text status_lines[LAST_CODE - FIRST_CODE + 1] = {
#define STATUS_LINE(code, reason)                                                                  \
    [code - FIRST_CODE] = HTTP_TEXT("HTTP/1.1 " #code " " reason "\r\n"),
    STATUS_MAP(STATUS_LINE)
#undef STATUS_LINE
};

struct http_text http_status_line(int status)
{
    if (status < FIRST_CODE || status > LAST_CODE)
        return HTTP_TEXT("");
    return status_lines[status - FIRST_CODE];
}

struct http_text http_status_reason(int status)
{
    struct http_text line = http_status_line(status);
    if (line.length == 0)
        return HTTP_TEXT("Unknown");
    return (struct http_text){line.data + PREFIX_LENGTH,
                              line.length - PREFIX_LENGTH - SUFFIX_LENGTH};
}
