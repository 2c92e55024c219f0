/* SPDX-License-Identifier: MIT */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

/*
 * Names and passwords, checked without holding the loop: hashing is slow on purpose, so it is done
 * by a thread of the work pool, one at a time, so that guessing leaves the others to files. What
 * was right is remembered, by a hash with a key of this process's own, as long as the file of
 * passwords is the same; that is looked at once a second. Realms take turns, and the clients of a
 * realm do, so that guessing holds up neither other realms nor other clients.
 */

#include <evix/evix.h>

#include "http/authorization.h"
#include "server/auth_queue.h"

struct auth;
struct auth_realm; /* one file of passwords */

/* `speaks`: of lines in the files that are left out. 0 or a negative errno. */
int auth_new(struct auth **out, struct evix_loop *loop, bool speaks);

/* Frees it; the loop must have been freed before, since a thread may be at work. NULL is fine. */
void auth_free(struct auth **auth);

/*
 * The realm of a file, which is read now. A file that cannot be read lets nobody in, which is
 * logged; one place's file must not keep all the others from being served. 0 or -ENOMEM.
 */
int auth_realm(struct auth *auth, const char *path, struct auth_realm **out);

/* 0, or the negative errno for which the file could not be read when it was looked at last. */
int auth_realm_error(const struct auth_realm *realm);

/*
 * Whether the credentials are right: at once if that is known, else later by `fn`. `client`: the
 * address that asks; NULL where it has none.
 */
enum auth_verdict auth_ask(struct auth_wait *wait, struct auth_realm *realm,
                           const struct in6_addr *client,
                           const struct http_credentials *credentials, auth_fn *fn);

/* Gives a pending question up. */
void auth_forget(struct auth_wait *wait);

#endif
