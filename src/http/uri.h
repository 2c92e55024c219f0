/* SPDX-License-Identifier: MIT */
#ifndef HTTP_URI_H
#define HTTP_URI_H

/* Paths of request targets: from what was sent to a name below a root, and back (RFC 3986). */

#include "http/text.h"

/* A decoded path, in the caller's buffer. */
struct http_path {
    const char *data; /* begins with one `/`, NUL-terminated, never holds a NUL or an empty name */
    size_t length;
    bool has_slash_at_end; /* true for "/" itself and for what ended in "/." or "/.." */
};

/*
 * Percent-decodes `raw` once, removes dot segments (also those written with %2e), and joins runs of
 * slashes into one. `out` needs raw.length + 1 bytes. 0; 400 (a NUL, a malformed escape, no slash
 * at the start); 404 (an encoded slash: no name on disk has one); 414 (`out` too small).
 *
 * ".." at the root stays at the root (RFC 3986 5.2.4). A backslash is a byte like others. Only the
 * segments "." and ".." are special: "..x" and "..." are names.
 */
int http_path_decode(struct http_text raw, char *out, size_t capacity, struct http_path *path);

/*
 * The length that http_path_encode() needs at most for `length` bytes.
 */
#define HTTP_PATH_ENCODED_BYTES(length) (3 * (length))

/*
 * Percent-encodes a decoded path for a Location or a link, slashes kept, and returns its length.
 * What is not unreserved (RFC 3986 2.3) is escaped, control bytes, `:` and `\` among it; leading
 * slashes are reduced to one, so that it never names another host. `out` needs
 * HTTP_PATH_ENCODED_BYTES(path.length).
 */
size_t http_path_encode(struct http_text path, char *out);

/* The same for one name, whose slashes are escaped too. */
size_t http_name_encode(struct http_text name, char *out);

#endif
