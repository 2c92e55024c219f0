/* SPDX-License-Identifier: MIT */
/*
 * Reads files of names and hashes, and notices that they have changed.
 * It hashes nothing: password.c does.
 * Called by auth.c, at the start and from threads of the work pool.
 */
#include "server/password_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/password.h"

/* Of half a million users. */
#define BYTES_MOST (64 * 1024 * 1024)

/* A file that changed so shortly before it was read may change again within one tick of its clock:
 * its times alone do not tell. */
#define YOUNG_SECONDS 2

struct password_entry {
    const char *user;
    const char *hash;
};

/* ---- content ----------------------------------------------------------------------------- */

static int read_all(int fd, struct password_file *file)
{
    size_t capacity = (size_t)file->status.st_size;

    file->text = malloc(capacity + 1);
    if (file->text == NULL)
        return -ENOMEM;
    while (file->length < capacity) {
        ssize_t length = read(fd, file->text + file->length, capacity - file->length);

        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return -errno;
        if (length == 0)
            break;
        file->length += (size_t)length;
    }
    file->text[file->length] = '\0';
    return 0;
}

static int read_content(const char *path, struct password_file *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = 0;

    if (fd < 0)
        return -errno;
    (void)clock_gettime(CLOCK_REALTIME, &file->read_at);
    if (fstat(fd, &file->status) != 0)
        error = -errno;
    else if (!S_ISREG(file->status.st_mode))
        error = -EINVAL;
    else if (file->status.st_size > BYTES_MOST)
        error = -EFBIG;
    else
        error = read_all(fd, file);
    close(fd);
    return error;
}

/* ---- lines ------------------------------------------------------------------------------- */

static void add_problem(struct password_file *file, unsigned line, const char *text)
{
    if (file->problem_count < PASSWORD_FILE_PROBLEMS)
        file->problems[file->problem_count++] = (struct password_problem){line, text};
}

/* A line without its end. What follows a second colon is for others. */
static void take_line(struct password_file *file, char *line, unsigned number)
{
    char *colon, *end;
    const char *amiss;

    if (line[0] == '\0' || line[0] == '#')
        return;
    colon = strchr(line, ':');
    if (colon == NULL || colon == line) {
        add_problem(file, number, "no line of the form NAME:HASH");
        return;
    }
    *colon = '\0';
    end = colon + 1 + strcspn(colon + 1, ":");
    *end = '\0';
    amiss = password_hash_check(colon + 1);
    if (amiss != NULL)
        add_problem(file, number, amiss);
    else
        file->entries[file->count++] = (struct password_entry){line, colon + 1};
}

/* By name; of one name the first of the file first, which lies lower in its text. */
static int compare(const void *left, const void *right)
{
    const struct password_entry *a = left, *b = right;
    int order = strcmp(a->user, b->user);

    if (order != 0)
        return order;
    return a->user < b->user ? -1 : a->user > b->user;
}

/* Takes a copy of the text apart, which lies behind it: the text itself is compared later. */
static int parse(struct password_file *file)
{
    size_t lines = 1;
    unsigned number = 1;
    char *text = realloc(file->text, 2 * (file->length + 1));

    if (text == NULL)
        return -ENOMEM;
    file->text = text;
    text += file->length + 1;
    memcpy(text, file->text, file->length + 1);
    for (size_t i = 0; i < file->length; i++)
        lines += text[i] == '\n';
    file->entries = calloc(lines, sizeof(*file->entries));
    if (file->entries == NULL)
        return -ENOMEM;
    for (char *line = text; line < text + file->length; number++) {
        size_t length = strcspn(line, "\n");
        char *next = line + length + 1;

        line[length] = '\0';
        while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
            line[--length] = '\0';
        take_line(file, line, number);
        line = next;
    }
    qsort(file->entries, file->count, sizeof(*file->entries), compare);
    return 0;
}

static bool has_same_content(const struct password_file *a, const struct password_file *b)
{
    return a->error == b->error && a->length == b->length &&
           (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

struct password_file *password_file_read(const char *path, const struct password_file *before,
                                         uint64_t serial)
{
    struct password_file *file = calloc(1, sizeof(*file));

    if (file == NULL)
        return NULL;
    file->references = 1;
    file->serial = serial;
    file->error = read_content(path, file);
    if (file->error == 0)
        file->error = parse(file);
    if (file->error == -ENOMEM) {
        password_file_unref(&file);
        return NULL;
    }
    if (before != NULL && has_same_content(file, before))
        file->serial = before->serial;
    return file;
}

bool password_file_is_current(const struct password_file *file, const char *path)
{
    struct stat now;
    const struct stat *then = &file->status;

    if (file->error != 0 || stat(path, &now) != 0)
        return false;
    return now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == then->st_ctim.tv_nsec &&
           then->st_ctim.tv_sec + YOUNG_SECONDS < file->read_at.tv_sec;
}

const char *password_file_find(const struct password_file *file, const char *user, bool *out_known)
{
    size_t low = 0, high = file->count;

    while (low < high) { /* the first that is not before it */
        size_t middle = low + (high - low) / 2;

        if (strcmp(file->entries[middle].user, user) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_known = low < file->count && strcmp(file->entries[low].user, user) == 0;
    if (*out_known)
        return file->entries[low].hash;
    return file->count != 0 ? file->entries[0].hash : NULL;
}

void password_file_unref(struct password_file **file)
{
    struct password_file *last = *file;

    *file = NULL;
    if (last == NULL)
        return;
    assert(last->references > 0);
    if (--last->references > 0)
        return;
    free(last->entries);
    free(last->text);
    free(last);
}
