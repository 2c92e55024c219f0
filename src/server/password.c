/* SPDX-License-Identifier: MIT */
/*
 * Compares a password with a hash by crypt(3), in a thread of the work pool: it takes as long as
 * whoever made the hash thought good.
 * It reads no file. Called by password_file.c and auth.c.
 */
#include "server/password.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBCRYPT
#include <crypt.h>
#endif

/* Those that withstand guessing; what is older falls in hours to whoever gets the file. */
static const char *const taken[] = {"$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$gy$", "$y$"};

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *password_hash_check(const char *hash)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (begins_with(hash, taken[i]))
            return NULL;
    if (begins_with(hash, "$apr1$"))
        return "a hash of Apache's own kind (apr1), which crypt(3) does not know: make it anew by "
               "htpasswd -B";
    if (begins_with(hash, "$1$") || begins_with(hash, "{SHA}"))
        return "a hash of a kind that is too weak (MD5, SHA-1): make it anew by htpasswd -B";
    return "no hash by bcrypt, yescrypt, SHA-256 or SHA-512: make one by htpasswd -B or mkpasswd";
}

#ifdef HAVE_LIBCRYPT

/* What differs does not show in the time that it takes. */
static bool is_equal(const char *a, const char *b)
{
    size_t length = strlen(a);
    unsigned char difference = 0;

    if (strlen(b) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

bool password_matches(const char *password, const char *hash)
{
    struct crypt_data *data = calloc(1, sizeof(*data));
    bool matches = false;

    if (data == NULL)
        return false;
    const char *made = crypt_r(password, hash, data);
    /* "*0" and "*1" stand for failure. */
    if (made != NULL && made[0] != '*')
        matches = is_equal(made, hash);
    explicit_bzero(data, sizeof(*data));
    free(data);
    return matches;
}

#else

/* The configuration refuses `auth` in such a build. */
bool password_matches(const char *password, const char *hash)
{
    (void)password;
    (void)hash;
    return false;
}

#endif
