/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_CONFIG_FIXTURE_H
#define TESTS_UNIT_CONFIG_FIXTURE_H

/* A folder for files, and a sink that keeps messages: what tests of the configuration share. */

#include <stddef.h>

#include "config/config.h"

/* The folder that a test works in, absolute; in it are empty directories "www" and "logs".
 */
extern char fixture_folder[256];

void fixture_setup(void);
void fixture_teardown(void);

/* Writes FOLDER/name. */
void fixture_write(const char *name, const char *text);

/* Replaces each '@' of the text by the folder; the result is the caller's to free. */
char *fixture_expand(const char *text);

/* All messages of the last load, each with a newline, the folder's path and slash left out. */
extern char fixture_messages[16384];
extern const struct config_errors fixture_errors;

/* Loads the text, expanded, as FOLDER/test.conf; checks that the result is the expected one and
 * returns the configuration or NULL. */
struct config *fixture_load(const char *text, const struct config_overrides *overrides,
                            int expected);

/* Loads the text and checks that it fails with exactly these messages. */
void fixture_refuse(const char *text, const char *messages);

/* The location with that path of the host; fails the test if there is none. */
const struct config_location *fixture_location(const struct config *config, size_t host,
                                               const char *path);

/* The dump, to be freed. */
char *fixture_dump(const struct config *config);

#endif
