/* SPDX-License-Identifier: MIT */
#ifndef SERVER_PASSWORD_H
#define SERVER_PASSWORD_H

/* Hashes of passwords, as crypt(5) describes them. */

#include <stdbool.h>
#include <stddef.h>

/* NULL if the hash is of a kind that is taken: bcrypt, yescrypt, scrypt, SHA-256, SHA-512. Else
 * constant text that says what to do. */
const char *password_hash_check(const char *hash);

/*
 * Whether the hash is that of the password. Slow, by design of the hashes; allocates 32 KiB. The
 * comparison takes the same time whatever differs.
 */
bool password_matches(const char *password, const char *hash);

#endif
