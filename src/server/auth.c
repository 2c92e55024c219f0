/* SPDX-License-Identifier: MIT */
/*
 * Questions wait in queues; one job at a time looks at the file and hashes the password.
 * It does not know requests: guard.c does, and is the caller.
 */
#include "server/auth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "server/password.h"
#include "server/password_file.h"

/* Questions that wait at most, of a realm: beyond, guessing would cost memory and patience. */
#define WAITING_MOST 128

/* The same of all realms, of credentials that are known: they cost no hash, so they go first. */
#define WAITING_MOST_KNOWN 128

/* How long a file is taken to be what it was. */
#define FILE_TRUSTED_MS 1000

/* Credentials that are remembered: sets of a few, found by their hash. */
#define KNOWN_SETS 64
#define KNOWN_WAYS 4

/* One job at a time: a guess may burn one core, and no more. */
static const struct evix_work_class passwords = {.threads = 1};

struct known {
    struct hash_value value;
    uint64_t serial; /* of the file that they were found in; 0: none */
};

struct auth_realm {
    struct auth_realm *next;
    struct auth *auth;
    struct password_file *file; /* never NULL */
    uint64_t number;
    uint64_t checked_ms;
    struct auth_queue waiting;
    char path[];
};

/* What the thread works on: nobody else touches it meanwhile. */
struct job {
    struct evix_work work;
    struct auth_realm *realm;
    struct password_file *file;    /* a reference */
    struct password_file *renewed; /* NULL: it is the same */
    struct hash_value value;
    char *secret;
    size_t secret_bytes;
    uint64_t serial; /* for what is read anew */
    uint64_t started_ms;
    bool is_known;
    bool is_granted;
    bool is_running;
};

struct auth {
    struct evix_loop *loop;
    struct auth_realm *realms;
    struct auth_queue known_waiting;
    struct auth_queue refused; /* to be told so by `refusal` */
    struct evix_post refusal;
    struct auth_realm *latest; /* that had its turn */
    uint64_t next_serial;
    struct hash_key key;
    struct job job;
    unsigned next_way;
    bool speaks; /* of lines that are left out: one worker of all does */
    struct known known[KNOWN_SETS][KNOWN_WAYS];
};

static bool start_job(struct auth *auth, struct auth_wait *wait);
static void start_next(struct auth *auth);
static struct auth_wait *take_turn(struct auth *auth);

/* ---- what is known ----------------------------------------------------------------------- */

static struct known *set_of(struct auth *auth, const struct hash_value *value)
{
    return auth->known[value->words[0] % KNOWN_SETS];
}

static bool is_known(struct auth *auth, const struct hash_value *value, uint64_t serial)
{
    const struct known *set = set_of(auth, value);
    bool found = false;

    for (unsigned i = 0; i < KNOWN_WAYS; i++)
        found |= set[i].serial == serial && hash_value_equal(&set[i].value, value);
    return found;
}

static void remember(struct auth *auth, const struct hash_value *value, uint64_t serial)
{
    struct known *set = set_of(auth, value);
    unsigned way = auth->next_way++ % KNOWN_WAYS;

    if (is_known(auth, value, serial))
        return;
    for (unsigned i = 0; i < KNOWN_WAYS; i++)
        if (set[i].serial == 0)
            way = i;
    set[way] = (struct known){*value, serial};
}

/* ---- files ------------------------------------------------------------------------------- */

static void say_problems(const struct auth_realm *realm)
{
    const struct password_file *file = realm->file;

    if (file->error != 0)
        log_event(LOG_LEVEL_ERROR, "%s: cannot be read, so nobody is let in by it: %s", realm->path,
                  strerror(-file->error));
    for (unsigned i = 0; realm->auth->speaks && i < file->problem_count; i++)
        log_event(LOG_LEVEL_WARNING, "%s:%u: left out: %s", realm->path, file->problems[i].line,
                  file->problems[i].text);
}

/* Takes over the file. */
static void install(struct auth_realm *realm, struct password_file *file)
{
    bool is_new = file->serial != realm->file->serial;

    password_file_unref(&realm->file);
    realm->file = file;
    if (!is_new)
        return;
    if (realm->auth->speaks && file->error == 0)
        log_event(LOG_LEVEL_NOTICE, "%s: has changed and was read anew", realm->path);
    say_problems(realm);
}

int auth_realm(struct auth *auth, const char *path, struct auth_realm **out)
{
    size_t length = strlen(path);
    struct auth_realm *realm = auth->realms;

    while (realm != NULL && strcmp(realm->path, path) != 0)
        realm = realm->next;
    *out = realm;
    if (realm != NULL)
        return 0;
    realm = calloc(1, sizeof(*realm) + length + 1);
    if (realm == NULL)
        return -ENOMEM;
    memcpy(realm->path, path, length);
    realm->auth = auth;
    realm->number = auth->next_serial++;
    auth_queue_init(&realm->waiting);
    realm->file = password_file_read(path, NULL, auth->next_serial++);
    if (realm->file == NULL) {
        free(realm);
        return -ENOMEM;
    }
    realm->next = auth->realms;
    auth->realms = realm;
    *out = realm;
    if (auth->speaks)
        say_problems(realm);
    return 0;
}

int auth_realm_error(const struct auth_realm *realm)
{
    return realm->file->error;
}

/* ---- waiting ----------------------------------------------------------------------------- */

static void forget_secret(struct auth_wait *wait)
{
    if (wait->secret != NULL)
        explicit_bzero(wait->secret, wait->secret_bytes);
    free(wait->secret);
    wait->secret = NULL;
}

static bool keep_secret(struct auth_wait *wait, const struct http_credentials *credentials)
{
    struct http_text user = credentials->user, password = credentials->password;

    wait->secret_bytes = user.length + password.length + 2;
    wait->secret = malloc(wait->secret_bytes);
    if (wait->secret == NULL)
        return false;
    memcpy(wait->secret, user.data, user.length);
    wait->secret[user.length] = '\0';
    memcpy(wait->secret + user.length + 1, password.data, password.length);
    wait->secret[wait->secret_bytes - 1] = '\0';
    return true;
}

/* What made way for another is told in the next turn: its callback may ask something itself. */
static void on_refusal(struct evix_post *post)
{
    struct auth *auth = EVIX_CONTAINER_OF(post, struct auth, refusal);
    struct auth_wait *wait;

    while ((wait = auth->refused.first) != NULL) {
        auth_forget(wait);
        wait->fn(wait, AUTH_BUSY);
    }
}

/* A client that asks the same gets the same answer, at no cost: it is not one more that waits. */
static bool is_asked(const struct auth_queue *queue, const struct auth_wait *wait)
{
    const struct auth_wait *other = queue->first;

    for (unsigned i = 0; other != NULL && i < WAITING_MOST_KNOWN; i++, other = other->next)
        if (other->realm == wait->realm && hash_value_equal(&other->value, &wait->value))
            return true;
    return false;
}

static bool join_queue(struct auth *auth, struct auth_wait *wait, bool is_known)
{
    struct auth_wait *evicted;

    if (is_known) {
        if (auth->known_waiting.count >= WAITING_MOST_KNOWN &&
            !is_asked(&auth->known_waiting, wait))
            return false;
        auth_queue_append(&auth->known_waiting, wait);
        return true;
    }
    if (!auth_queue_add(&wait->realm->waiting, wait, WAITING_MOST, &evicted))
        return false;
    if (evicted != NULL) {
        auth_queue_append(&auth->refused, evicted);
        evix_post(&auth->refusal);
    }
    return true;
}

enum auth_verdict auth_ask(struct auth_wait *wait, struct auth_realm *realm,
                           const struct in6_addr *client,
                           const struct http_credentials *credentials, auth_fn *fn)
{
    struct auth *auth = realm->auth;
    struct http_text user = credentials->user;
    /* They lie behind one another, a colon between. */
    struct hash_value value = keyed_hash(&auth->key, realm->number, user.data,
                                         user.length + 1 + credentials->password.length);
    bool known = is_known(auth, &value, realm->file->serial);

    if (known && evix_now_ms(auth->loop) - realm->checked_ms < FILE_TRUSTED_MS)
        return AUTH_GRANTED;
    *wait = (struct auth_wait){
        .realm = realm, .fn = fn, .value = value, .from = auth_queue_network(client)};
    if (!keep_secret(wait, credentials))
        return AUTH_BUSY;
    if (!join_queue(auth, wait, known)) {
        forget_secret(wait);
        return AUTH_BUSY;
    }
    if (auth->job.is_running || start_job(auth, take_turn(auth)))
        return AUTH_PENDING;
    auth_forget(wait);
    return AUTH_BUSY;
}

void auth_forget(struct auth_wait *wait)
{
    auth_queue_remove(wait);
    forget_secret(wait);
}

/* ---- the job ----------------------------------------------------------------------------- */

/* In a thread of the pool. */
static void run_job(struct evix_work *work)
{
    struct job *job = EVIX_CONTAINER_OF(work, struct job, work);
    const struct password_file *file = job->file;
    const char *user = job->secret, *password = user + strlen(user) + 1;
    bool is_user = false;

    if (!password_file_is_current(file, job->realm->path)) {
        job->renewed = password_file_read(job->realm->path, file, job->serial);
        if (job->renewed == NULL)
            return; /* no memory: nobody is let in by a file that may be another by now */
        job->is_known = job->is_known && job->renewed->serial == file->serial;
        file = job->renewed;
    }
    if (job->is_known) {
        job->is_granted = true;
        return;
    }
    const char *hash = password_file_find(file, user, &is_user);
    job->is_granted = hash != NULL && password_matches(password, hash) && is_user;
}

static void take_same(struct auth_queue *same, struct auth_queue *from,
                      const struct auth_realm *realm, const struct hash_value *value)
{
    struct auth_wait *wait, *next;

    for (wait = from->first; wait != NULL; wait = next) {
        next = wait->next;
        if (wait->realm != realm || !hash_value_equal(&wait->value, value))
            continue;
        auth_queue_remove(wait);
        auth_queue_append(same, wait);
    }
}

/* All that asked the same get the same answer. The queues may change with each call. */
static void answer(struct auth *auth, struct auth_realm *realm, const struct hash_value *value,
                   enum auth_verdict verdict)
{
    struct auth_queue same;
    struct auth_wait *wait;

    auth_queue_init(&same);
    take_same(&same, &auth->known_waiting, realm, value);
    take_same(&same, &realm->waiting, realm, value);
    while ((wait = same.first) != NULL) {
        auth_forget(wait);
        wait->fn(wait, verdict);
    }
}

static struct auth_realm *realm_after(const struct auth *auth, const struct auth_realm *realm)
{
    return realm != NULL && realm->next != NULL ? realm->next : auth->realms;
}

/* Whose turn it is: what is known, then one realm after the other. NULL: nothing waits. */
static struct auth_wait *take_turn(struct auth *auth)
{
    struct auth_realm *first = realm_after(auth, auth->latest), *realm = first;

    if (auth->known_waiting.first != NULL)
        return auth->known_waiting.first;
    do {
        if (realm->waiting.first != NULL) {
            auth->latest = realm;
            return auth_queue_begin(&realm->waiting);
        }
        realm = realm_after(auth, realm);
    } while (realm != first);
    return NULL;
}

static void on_job(struct evix_work *work, int error)
{
    struct auth *auth = EVIX_CONTAINER_OF(work, struct auth, job.work);
    struct job *job = &auth->job;
    bool is_granted = error == 0 && job->is_granted;
    struct auth_realm *realm = job->realm;
    struct hash_value value = job->value;

    if (job->renewed != NULL)
        install(realm, job->renewed);
    realm->checked_ms = job->started_ms;
    if (is_granted)
        remember(auth, &value, realm->file->serial);
    password_file_unref(&job->file);
    explicit_bzero(job->secret, job->secret_bytes);
    free(job->secret);
    job->is_running = false;
    answer(auth, realm, &value, is_granted ? AUTH_GRANTED : AUTH_DENIED);
    start_next(auth);
}

/*
 * The secret goes over to the job; the question stays in its queue until the answer. Whether it is
 * known is asked only now: while it waited, the file may have become another. False: there is no
 * thread for it.
 */
static bool start_job(struct auth *auth, struct auth_wait *wait)
{
    struct job *job = &auth->job;

    *job = (struct job){
        .realm = wait->realm,
        .file = wait->realm->file,
        .value = wait->value,
        .secret = wait->secret,
        .secret_bytes = wait->secret_bytes,
        .serial = auth->next_serial++,
        .started_ms = evix_now_ms(auth->loop),
        .is_known = is_known(auth, &wait->value, wait->realm->file->serial),
    };
    if (evix_work_start_in(&job->work, auth->loop, &passwords, run_job, on_job) != 0) {
        log_event(LOG_LEVEL_ERROR, "no thread to check a password");
        return false;
    }
    job->is_running = true;
    job->file->references++;
    wait->secret = NULL;
    return true;
}

/* Answers may have started one already. */
static void start_next(struct auth *auth)
{
    struct auth_wait *wait;

    while (!auth->job.is_running && (wait = take_turn(auth)) != NULL && !start_job(auth, wait)) {
        auth_forget(wait);
        wait->fn(wait, AUTH_BUSY);
    }
}

/* ---- life -------------------------------------------------------------------------------- */

int auth_new(struct auth **out, struct evix_loop *loop, bool speaks)
{
    struct auth *auth = calloc(1, sizeof(*auth));
    int error = auth == NULL ? -ENOMEM : hash_key_make(&auth->key);

    if (error != 0) {
        free(auth);
        return error;
    }
    auth->loop = loop;
    auth->speaks = speaks;
    auth_queue_init(&auth->known_waiting);
    auth_queue_init(&auth->refused);
    evix_post_init(&auth->refusal, loop, on_refusal);
    auth->next_serial = 1;
    *out = auth;
    return 0;
}

void auth_free(struct auth **auth)
{
    struct auth *last = *auth;

    *auth = NULL;
    if (last == NULL)
        return;
    if (last->job.is_running) {
        password_file_unref(&last->job.file);
        password_file_unref(&last->job.renewed);
        explicit_bzero(last->job.secret, last->job.secret_bytes);
        free(last->job.secret);
    }
    while (last->realms != NULL) {
        struct auth_realm *realm = last->realms;

        last->realms = realm->next;
        password_file_unref(&realm->file);
        free(realm);
    }
    explicit_bzero(last, sizeof(*last));
    free(last);
}
