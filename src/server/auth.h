/* SPDX-License-Identifier: MIT */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

/*
 * Names and passwords, checked without holding the loop: hashing is slow on purpose, so it is done
 * by a thread of the work pool, one at a time, so that guessing leaves the others to files. What
 * was right is remembered, by a hash with a key of this process's own, as long as the file of
 * passwords is the same; that is looked at once a second.
 */

#include <evix/evix.h>

#include "http/authorization.h"
#include "server/keyed_hash.h"

struct auth;
struct auth_realm; /* one file of passwords */

enum auth_verdict {
    AUTH_GRANTED,
    AUTH_DENIED,
    AUTH_PENDING, /* the function that was given will be called */
    AUTH_BUSY,    /* too many wait already, or there is no memory */
};

struct auth_wait;
/* AUTH_GRANTED, AUTH_DENIED or AUTH_BUSY. */
typedef void auth_fn(struct auth_wait *wait, enum auth_verdict verdict);

/* A question under way; embedded by the caller, not touched until it is answered. */
struct auth_wait {
    struct auth_wait *next, **link; /* private, as all here */
    struct auth_realm *realm;
    auth_fn *fn;
    struct hash_value value;
    char *secret; /* the name, a NUL, the password, a NUL; malloc(3)ed */
    size_t secret_bytes;
};

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

/* Whether the credentials are right: at once if that is known, else later by `fn`. */
enum auth_verdict auth_ask(struct auth_wait *wait, struct auth_realm *realm,
                           const struct http_credentials *credentials, auth_fn *fn);

/* Gives a pending question up. */
void auth_forget(struct auth_wait *wait);

#endif
