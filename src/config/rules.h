/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_RULES_H
#define CONFIG_RULES_H

/*
 * What texts must look like. Each rule returns NULL if the text will do, else what was expected,
 * worded to follow "expected": the rows of the schema refer to these.
 */

#include <stdbool.h>

/* No byte below 0x20 and no 0x7F: nothing that would break a line of a log or a header. */
bool rules_is_printable(const char *text);

const char *rules_check_account(const char *text);
const char *rules_check_socket_name(const char *text);
const char *rules_check_media_type(const char *text);
const char *rules_check_format(const char *text);
const char *rules_check_index(const char *text);
const char *rules_check_host(const char *text);
const char *rules_check_path(const char *text);
const char *rules_check_redirect(const char *text);
const char *rules_check_realm(const char *text);

/* Patterns of names: server/glob.h says what they mean. */
const char *rules_check_pattern(const char *text);

/* A path beneath a root, taken as it is: no URL, so nothing in it is special. */
#define RULES_FILE_PATH_EXPECTED "the absolute path of a file beneath the root, not percent-encoded"
const char *rules_check_file_path(const char *text);
const char *rules_check_fallback(const char *text); /* or empty */

/* RFC 9110 sections 5.1 and 5.5, and not one of those that evixd itself answers for. */
const char *rules_check_header_name(const char *text);
const char *rules_check_header_value(const char *text);

#endif
