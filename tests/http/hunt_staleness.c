/* SPDX-License-Identifier: MIT */
/*
 * Hunts for stale answers of a running daemon: changes something in its root, and then asks for it
 * on a connection that has long been open, while other connections keep the daemon busy. What the
 * kernel says of the path by then is what the answer has to be.
 * Started by test_staleness.py: hunt_staleness PORT FOLDER ROUNDS SEED. The daemon's root is
 * FOLDER/current, a symbolic link; as root, the daemon has to run as user 65534.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hunt_changes.h"

#define NOBODY  65534
#define HOT     "/hot/page.txt"
#define NOISE   4 /* connections that are busy besides, */
#define AT_ONCE 4 /* with so many requests each in a round */

static in_port_t port;
static atomic_bool done;
static unsigned long requests;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- the client ---- */

struct client {
    int fd;
    unsigned long answers;
    struct timespec asked;
    size_t used;
    char buffer[131072];
};

struct answer {
    int status;
    bool gzip;
    char etag[128];
    size_t length;
    char body[1024];
};

static void client_open(struct client *client)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int one = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->used = 0;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 || connect(client->fd, (void *)&address, sizeof(address)) < 0)
        die("connect");
    (void)setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void client_send(struct client *client, const char *data, size_t length)
{
    clock_gettime(CLOCK_MONOTONIC, &client->asked);
    if (send(client->fd, data, length, MSG_NOSIGNAL) != (ssize_t)length)
        die("send");
}

/* Whether it was the daemon's own wish, or somebody (a debugger, a suspended machine) slept. */
static void die_closed(const struct client *client)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr,
            "the daemon has closed a connection after %lu answers, %.3f s after the last request; "
            "%zu bytes of an answer are here: %.*s\n",
            client->answers,
            (double)(now.tv_sec - client->asked.tv_sec) +
                (double)(now.tv_nsec - client->asked.tv_nsec) / 1e9,
            client->used, (int)client->used, client->buffer);
    exit(1);
}

static void client_fill(struct client *client)
{
    ssize_t got = recv(client->fd, client->buffer + client->used,
                       sizeof(client->buffer) - 1 - client->used, 0);

    if (got == 0 || (got < 0 && errno == ECONNRESET))
        die_closed(client);
    if (got < 0)
        die("recv");
    client->used += (size_t)got;
    client->buffer[client->used] = '\0';
}

static const char *field(const char *head, const char *name)
{
    const char *at = strstr(head, name);

    return at != NULL ? at + strlen(name) : NULL;
}

/* One whole answer to a GET. */
static void client_read(struct client *client, struct answer *out)
{
    const char *value;
    size_t head, whole;
    char *end;

    while (client->used == 0 || (end = strstr(client->buffer, "\r\n\r\n")) == NULL)
        client_fill(client);
    end[2] = '\0';
    head = (size_t)(end - client->buffer) + 4;
    *out = (struct answer){.status = atoi(client->buffer + sizeof("HTTP/1.1"))};
    value = field(client->buffer, "\r\nContent-Length: ");
    out->length = value != NULL ? strtoul(value, NULL, 10) : 0;
    out->gzip = field(client->buffer, "\r\nContent-Encoding: gzip") != NULL;
    value = field(client->buffer, "\r\nETag: ");
    if (value != NULL)
        snprintf(out->etag, sizeof(out->etag), "%.*s", (int)strcspn(value, "\r"), value);
    whole = head + out->length;
    while (client->used < whole)
        client_fill(client);
    if (out->status == 200) {
        out->length = out->length < sizeof(out->body) ? out->length : sizeof(out->body) - 1;
        memcpy(out->body, client->buffer + head, out->length);
    }
    client->answers++;
    client->used -= whole;
    memmove(client->buffer, client->buffer + whole, client->used + 1);
}

/* ---- noise ---- */

/* One more for a round that is to be noisy, or for the end. */
static sem_t noisy_rounds;

static void begin_noise(void)
{
    int behind;

    if (sem_getvalue(&noisy_rounds, &behind) == 0 && behind == 0)
        sem_post(&noisy_rounds);
}

static void *make_noise(void *data)
{
    static const char request[] = "GET " HOT " HTTP/1.1\r\nHost: test\r\n\r\n";
    struct client *clients = calloc(NOISE, sizeof(*clients));
    struct answer answer;

    (void)data;
    if (clients == NULL)
        die("calloc");
    for (int i = 0; i < NOISE; i++)
        client_open(&clients[i]);
    while (sem_wait(&noisy_rounds) == 0 && !atomic_load(&done)) {
        for (int i = 0; i < NOISE; i++)
            for (int j = 0; j < AT_ONCE; j++)
                client_send(&clients[i], request, sizeof(request) - 1);
        for (int i = 0; i < NOISE * AT_ONCE; i++) {
            client_read(&clients[i / AT_ONCE], &answer);
            if (answer.status != 200)
                die("the hot page has gone");
        }
    }
    for (int i = 0; i < NOISE; i++)
        close(clients[i].fd);
    free(clients);
    return NULL;
}

/* ---- the truth ---- */

/* Opens as the daemon may: beneath the root as it is now, as its user. */
static int open_beneath(const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_NONBLOCK | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int root = open("current", O_PATH | O_DIRECTORY | O_CLOEXEC), fd, error;

    if (root < 0)
        return -errno;
    if (flags & O_PATH)
        how.flags &= ~(uint64_t)O_NONBLOCK;
    do { /* EAGAIN: a rename anywhere on the machine, at the moment that a ".." was walked */
        fd = (int)syscall(SYS_openat2, root, path[1] != '\0' ? path + 1 : ".", &how, sizeof(how));
        error = errno;
    } while (fd < 0 && error == EAGAIN);
    close(root);
    return fd >= 0 ? fd : -error;
}

static int status_of(int error)
{
    return error == -EACCES ? 403 : 404;
}

/* The rule for siblings: not older, as finely as the sibling's own time is. */
static bool is_current(const struct timespec *sibling, const struct timespec *whole)
{
    long grain = sibling->tv_nsec == 0 ? 1000000000 : sibling->tv_nsec % 1000 == 0 ? 1000 : 1;

    if (sibling->tv_sec != whole->tv_sec)
        return sibling->tv_sec > whole->tv_sec;
    return sibling->tv_nsec >= whole->tv_nsec - whole->tv_nsec % grain;
}

static void read_content(int fd, struct answer *out)
{
    ssize_t got = read(fd, out->body, sizeof(out->body) - 1);

    if (got < 0)
        die("read");
    out->status = 200;
    out->length = (size_t)got;
}

static void prefer_sibling(const char *path, const struct stat *whole, struct answer *out)
{
    char name[256];
    struct stat status;
    int fd;

    snprintf(name, sizeof(name), "%s.gz", path);
    fd = open_beneath(name, O_PATH);
    if (fd < 0)
        return;
    if (fstat(fd, &status) < 0)
        die("fstat");
    close(fd);
    if (!S_ISREG(status.st_mode) || !is_current(&status.st_mtim, &whole->st_mtim))
        return;
    fd = open_beneath(name, O_RDONLY);
    if (fd < 0)
        return;
    read_content(fd, out);
    out->gzip = true;
    close(fd);
}

static void tell_truth(const char *path, bool gzip, struct answer *out)
{
    size_t length = strlen(path);
    struct stat status;
    int fd = open_beneath(path, O_RDONLY);

    *out = (struct answer){.status = status_of(fd)};
    if (fd < 0)
        return;
    if (fstat(fd, &status) < 0)
        die("fstat");
    if (S_ISREG(status.st_mode)) {
        read_content(fd, out);
        if (gzip)
            prefer_sibling(path, &status, out);
    } else if (S_ISDIR(status.st_mode)) {
        out->status = path[length - 1] == '/' ? 403 : 301;
    }
    close(fd);
}

/* A folder's index file stands for it; without one there is no listing here. */
static void tell_truth_of_folder(const char *path, bool gzip, struct answer *out)
{
    char index[256];
    struct stat status;
    int fd;

    if (path[strlen(path) - 1] == '/') {
        snprintf(index, sizeof(index), "%sindex.html", path);
        fd = open_beneath(index, O_RDONLY);
        if (fd >= 0 && fstat(fd, &status) < 0)
            die("fstat");
        if (fd >= 0)
            close(fd);
        if ((fd >= 0 && !S_ISDIR(status.st_mode)) || (fd < 0 && fd != -ENOENT)) {
            tell_truth(index, gzip, out);
            return;
        }
    }
    tell_truth(path, gzip, out);
}

/* ---- asking ---- */

/* What was last got for a path: to ask with its tag, and to see whether a change made any. */
static struct answer known[CHANGE_PATHS][2];

/* A request and what it has to get. */
struct question {
    unsigned which;
    bool gzip, conditional;
    struct answer want;
};

static void fail(const struct question *question, unsigned long round, const struct answer *got)
{
    const struct answer *want = &question->want, *last = &known[question->which][question->gzip];
    char path[256];
    struct stat status;

    snprintf(path, sizeof(path), "current%s%s", change_path(question->which),
             want->gzip ? ".gz" : "");
    printf("STALE in round %lu, after \"%s\": %s is %d%s \"%.*s\", not %d%s \"%.*s\"", round,
           change_last(), change_path(question->which), got->status, got->gzip ? " gzip" : "",
           (int)got->length, got->body, want->status, want->gzip ? " gzip" : "", (int)want->length,
           want->body);
    printf("; known before: %d %s \"%.*s\"", last->status, last->etag, (int)last->length,
           last->body);
    if (lstat(path, &status) == 0)
        printf("; now %ju bytes, inode %ju, modified %jd.%09ld, changed %jd.%09ld",
               (uintmax_t)status.st_size, (uintmax_t)status.st_ino, (intmax_t)status.st_mtim.tv_sec,
               status.st_mtim.tv_nsec, (intmax_t)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    printf("; tag of the answer: %s\n", got->etag);
    exit(1);
}

static bool same(const struct answer *a, const struct answer *b)
{
    return a->status == b->status &&
           (a->status != 200 || (a->gzip == b->gzip && a->length == b->length &&
                                 memcmp(a->body, b->body, a->length) == 0));
}

static void compare(const struct question *question, const struct answer *got, unsigned long round)
{
    struct answer *last = &known[question->which][question->gzip];

    if (question->conditional && got->status == 304) {
        if (!same(last, &question->want))
            fail(question, round, got);
        return;
    }
    if (!same(got, &question->want))
        fail(question, round, got);
    *last = *got;
}

static void become(unsigned id)
{
    if (geteuid() == 0) {
        syscall(SYS_setfsgid, id);
        syscall(SYS_setfsuid, id);
    }
}

static size_t write_question(const struct question *question, char *out)
{
    const char *etag = question->conditional ? known[question->which][question->gzip].etag : "";

    return (size_t)sprintf(
        out, "GET %s HTTP/1.1\r\nHost: test\r\n%s%s%s%s\r\n", change_path(question->which),
        question->gzip ? "Accept-Encoding: gzip\r\n" : "",
        question->conditional ? "If-None-Match: " : "", etag, question->conditional ? "\r\n" : "");
}

/* Asks all of it in one segment, behind a hot request or not; and compares the answers. */
static void ask(struct client *client, struct question *questions, unsigned count,
                unsigned long round)
{
    static char data[CHANGE_PATHS * 512];
    unsigned hot = change_pick(2);
    struct answer got;
    size_t length = hot ? (size_t)sprintf(data, "GET " HOT " HTTP/1.1\r\nHost: test\r\n\r\n") : 0;

    become(NOBODY);
    for (unsigned i = 0; i < count; i++)
        tell_truth_of_folder(change_path(questions[i].which), questions[i].gzip,
                             &questions[i].want);
    become(0);
    for (unsigned i = 0; i < count; i++)
        length += write_question(&questions[i], data + length);
    client_send(client, data, length);
    if (hot)
        client_read(client, &got);
    for (unsigned i = 0; i < count; i++) {
        client_read(client, &got);
        compare(&questions[i], &got, round);
    }
    requests += hot + count;
}

static struct question question_about(unsigned which)
{
    struct question question = {.which = which, .gzip = change_pick(2) == 0};

    question.conditional = known[which][question.gzip].etag[0] != '\0' && change_pick(2) == 0;
    return question;
}

/* The very next request is for what was changed. */
static void ask_changed(struct client *client, unsigned which, unsigned long round)
{
    struct question question = question_about(which);
    struct answer before = known[which][question.gzip];

    ask(client, &question, 1, round);
    if (before.status != 0 && !same(&before, &question.want))
        change_was_seen();
}

/* Sees to it that whatever is changed next was cached, and that the last change did not reach
 * further than was thought. */
static void ask_all(struct client *client, unsigned long round)
{
    struct question questions[CHANGE_PATHS];

    for (unsigned i = 0; i < CHANGE_PATHS; i++)
        questions[i] = question_about(i);
    ask(client, questions, CHANGE_PATHS, round);
}

int main(int argc, char **argv)
{
    static struct client client;
    unsigned long rounds;
    pthread_t noise;

    if (argc != 5) {
        printf("# skipped: hunt_staleness is started by test_staleness.py\n");
        return 77;
    }
    port = (in_port_t)strtoul(argv[1], NULL, 10);
    rounds = strtoul(argv[3], NULL, 10);
    if (chdir(argv[2]) < 0)
        die(argv[2]);
    umask(022);
    changes_begin((unsigned)strtoul(argv[4], NULL, 10));
    client_open(&client);
    if (sem_init(&noisy_rounds, 0, 0) < 0 || pthread_create(&noise, NULL, make_noise, NULL) != 0)
        die("noise");
    for (unsigned long round = 0; round < rounds; round++) {
        /* In turns: where others' requests have the daemon look around all the time, it would not
         * be noticed if one's own did not. */
        if (round / 64 % 2 == 0)
            begin_noise();
        ask_changed(&client, change_make(), round);
        if (change_pick(5) != 0)
            continue;
        changes_heal();
        ask_all(&client, round);
        if (change_pick(2) == 0)
            ask_all(&client, round); /* the other half of conditions and codings */
    }
    atomic_store(&done, true);
    sem_post(&noisy_rounds);
    pthread_join(noise, NULL);
    close(client.fd);
    printf("%lu rounds, %lu requests, none stale; changes that made the next answer another:\n",
           rounds, requests);
    changes_end();
    return 0;
}
