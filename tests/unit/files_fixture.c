/* SPDX-License-Identifier: MIT */
/* Temporary directories, stores and requests for the tests of src/files. */
#include "files_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *const index_names[] = {"index.html", "index.htm", NULL};

static struct evix_options loop_options;

/* Those that a case has made and not closed: more than a few at a time has none. */
static struct place *places[4];

static void note(struct place *place)
{
    size_t i = 0;

    while (i < COUNT(places) && places[i] != NULL)
        i++;
    ck_assert_uint_lt(i, COUNT(places));
    places[i] = place;
}

static void forget(const struct place *place)
{
    for (size_t i = 0; i < COUNT(places); i++)
        if (places[i] == place)
            places[i] = NULL;
}

/*
 * Without a callback, whose data lay on the stack of a case that failed: what is under way is cut
 * off by the loop's end, and only then is nothing of the store needed any more.
 */
static void drop(struct place *place)
{
    struct store *store = place->store;

    if (store != NULL) {
        store_hold(store);
        store_free(&place->store);
    }
    evix_loop_free(&place->loop);
    if (store != NULL) {
        while (store->in_flight > 1)
            store_release(store);
        store_release(store);
    }
    place_remove(place);
}

/* After each case: frees what one that failed has left (without CK_FORK=no the process ends then).
 */
static void tear_down(void)
{
    for (size_t i = 0; i < COUNT(places); i++)
        if (places[i] != NULL)
            drop(places[i]);
}

static int run(const char *name, TCase *tcase, bool again)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    if (again) { /* without io_uring: file operations in threads */
        loop_options = (struct evix_options){.backend = EVIX_BACKEND_POLL, .no_file_ring = true};
        srunner_run_all(runner, CK_NORMAL);
    }
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int files_run(const char *name, TCase *tcase)
{
    return run(name, tcase, false);
}

int files_run_beneath(const char *name, TCase *tcase)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));

    if (fd < 0 && errno == ENOSYS) {
        Suite *suite = suite_create(name);

        suite_add_tcase(suite, tcase);
        srunner_free(srunner_create(suite));
        printf("# skipped: %s: no openat2(2) here\n", name);
        return 77;
    }
    if (fd >= 0)
        close(fd);
    return run(name, tcase, true);
}

void place_make(struct place *place)
{
    const char *parent = getenv("TMPDIR");

    memset(place, 0, sizeof(*place));
    snprintf(place->path, sizeof(place->path), "%s/evixd-files-XXXXXX",
             parent != NULL ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(place->path));
    note(place);
    snprintf(place->folder, sizeof(place->folder), "%s/root", place->path);
    ck_assert_int_eq(mkdir(place->folder, 0755), 0);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void place_remove(struct place *place)
{
    forget(place);
    ck_assert_int_eq(nftw(place->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static int format_date(int64_t seconds, char out[30])
{
    time_t time = seconds;
    struct tm parts;

    if (gmtime_r(&time, &parts) == NULL)
        return -ERANGE;
    return strftime(out, 30, "%a, %d %b %Y %H:%M:%S GMT", &parts) == 29 ? 0 : -ERANGE;
}

static size_t encode_path(const char *path, size_t length, char *out)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)path[i];
        char escape[4];

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("-._~/", byte) != NULL)) {
            out[used++] = (char)byte;
            continue;
        }
        snprintf(escape, sizeof(escape), "%%%02X", byte);
        memcpy(out + used, escape, 3);
        used += 3;
    }
    return used;
}

struct store_options place_options(enum store_freshness freshness)
{
    return (struct store_options){
        .freshness = freshness,
        .entries = 1000,
        .descriptors = 100,
        .memory = 16 << 20,
        .small = 64 << 10,
        .format_date = format_date,
        .encode_path = encode_path,
    };
}

struct root_options place_root_options(struct place *place)
{
    return (struct root_options){.path = place->folder, .index = index_names};
}

void place_open_with(struct place *place, const struct store_options *options,
                     const struct root_options *root)
{
    place->options = *options;
    if (place->loop == NULL)
        ck_assert_int_eq(evix_loop_new(&place->loop, &loop_options), 0);
    ck_assert_int_eq(store_new(&place->store, place->loop, &place->options), 0);
    ck_assert_int_eq(store_root(place->store, root, &place->root), 0);
}

void place_open(struct place *place, enum store_freshness freshness)
{
    struct store_options options = place_options(freshness);
    struct root_options root;

    place_make(place);
    root = place_root_options(place);
    place_open_with(place, &options, &root);
}

void place_close(struct place *place)
{
    store_free(&place->store);
    ck_assert_int_eq(evix_loop_run(place->loop, EVIX_RUN_DEFAULT), 0);
    evix_loop_free(&place->loop);
    place_remove(place);
}

const char *place_path(struct place *place, const char *name)
{
    static char paths[4][8192];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", place->folder, name);
    return path;
}

static void write_bytes(struct place *place, const char *name, const char *bytes, size_t length)
{
    int fd = open(place_path(place, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
    ck_assert_int_eq(write(fd, bytes, length), (ssize_t)length);
    ck_assert_int_eq(close(fd), 0);
}

void place_write(struct place *place, const char *name, const char *text)
{
    write_bytes(place, name, text, strlen(text));
}

void place_fill(struct place *place, const char *name, size_t size, unsigned seed)
{
    char *bytes = malloc(size + 1);

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1103515245 + 12345;
        bytes[i] = (char)('A' + (seed >> 16) % 26);
    }
    write_bytes(place, name, bytes, size);
    free(bytes);
}

void place_directory(struct place *place, const char *name)
{
    ck_assert_int_eq(mkdir(place_path(place, name), 0755), 0);
}

void place_rename(struct place *place, const char *from, const char *to)
{
    ck_assert_int_eq(rename(place_path(place, from), place_path(place, to)), 0);
}

void place_unlink(struct place *place, const char *name)
{
    ck_assert_int_eq(unlink(place_path(place, name)), 0);
}

bool place_overflow_queue(struct place *place)
{
    static const char *const names[] = {"noise", "other-noise"};
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    unsigned long limit = 0;

    ck_assert(file != NULL && fscanf(file, "%lu", &limit) == 1);
    fclose(file);
    if (limit > 2000000) {
        printf("# skipped: an overflow of inotify's queue: it holds %lu events\n", limit);
        return false;
    }
    for (size_t i = 0; i < COUNT(names); i++)
        place_write(place, names[i], "");
    for (unsigned long i = 0; i <= limit; i++) /* the same twice in a row would be one event */
        ck_assert_int_eq(chmod(place_path(place, names[i % 2]), i % 4 < 2 ? 0600 : 0644), 0);
    return true;
}

static void on_done(struct lookup *lookup)
{
    ck_assert_ptr_nonnull(lookup->result);
}

struct representation *place_ask(struct place *place, const char *path)
{
    struct lookup lookup;
    char *copy = strdup(path); /* it need not stay: so it doesn't */
    bool done;

    ck_assert_ptr_nonnull(copy);
    store_refresh(place->store);
    done = lookup_start(&lookup, place->store, place->root, copy, strlen(copy), on_done);
    ck_assert(done == (lookup.result != NULL));
    memset(copy, '#', strlen(copy));
    free(copy);
    while (lookup.result == NULL)
        ck_assert_int_ge(evix_loop_run(place->loop, EVIX_RUN_ONCE), 0);
    return lookup.result;
}

char *file_content(const struct representation *file)
{
    char *content = malloc(file->size + 1);

    ck_assert_ptr_nonnull(content);
    ck_assert(file->kind == REPRESENTATION_FILE);
    if (file->bytes != NULL)
        memcpy(content, file->bytes, file->size);
    else
        ck_assert_int_eq(pread(file->fd, content, file->size, 0), (ssize_t)file->size);
    content[file->size] = '\0';
    return content;
}

void place_expect(struct place *place, const char *path, const char *text)
{
    struct representation *answer = place_ask(place, path);
    char *content;

    ck_assert_msg(answer->kind == REPRESENTATION_FILE, "%s: kind %d, status %d, %s", path,
                  answer->kind, answer->status, answer->reason != NULL ? answer->reason : "");
    content = file_content(answer);
    ck_assert_msg(strcmp(content, text) == 0, "%s is \"%s\", not \"%s\"", path, content, text);
    free(content);
    representation_unref(&answer);
}

void place_expect_status(struct place *place, const char *path, int status)
{
    struct representation *answer = place_ask(place, path);

    ck_assert_msg(answer->kind == REPRESENTATION_ABSENT && answer->status == status,
                  "%s: kind %d, status %d (%s), not %d", path, answer->kind, answer->status,
                  answer->reason != NULL ? answer->reason : "", status);
    ck_assert_ptr_nonnull(answer->reason);
    representation_unref(&answer);
}

void place_expect_kind(struct place *place, const char *path, enum representation_kind kind)
{
    struct representation *answer = place_ask(place, path);

    ck_assert_msg(answer->kind == kind, "%s: kind %d (%s), not %d", path, answer->kind,
                  answer->reason != NULL ? answer->reason : "", kind);
    representation_unref(&answer);
}

static void on_body_ready(void *data)
{
    *(bool *)data = true;
}

/* One more piece. False: it was the last. */
static bool append_piece(const struct body_piece *piece, char **text, size_t *length)
{
    *text = realloc(*text, *length + piece->length + 1);
    ck_assert_ptr_nonnull(*text);
    ck_assert_uint_gt(piece->length, 0);
    if (piece->kind == BODY_BYTES)
        memcpy(*text + *length, piece->data, piece->length);
    else
        ck_assert_int_eq(pread(piece->fd, *text + *length, piece->length, piece->offset),
                         (ssize_t)piece->length);
    *length += piece->length;
    (*text)[*length] = '\0';
    return true;
}

char *body_read(struct place *place, struct body *body, size_t *length, int *error)
{
    struct body_piece piece;
    char *text = calloc(1, 1);
    bool ready = false;

    *length = 0;
    *error = 0;
    body->ready = on_body_ready;
    body->ready_data = &ready;
    for (;;) {
        body_next(body, &piece);
        switch (piece.kind) {
        case BODY_LATER:
            while (!ready)
                ck_assert_int_ge(evix_loop_run(place->loop, EVIX_RUN_ONCE), 0);
            ready = false;
            break;
        case BODY_FAILED:
            *error = piece.error;
            return text;
        case BODY_END:
            return text;
        case BODY_BYTES:
        case BODY_FILE:
            append_piece(&piece, &text, length);
        }
    }
}

size_t open_descriptors(void)
{
    DIR *stream = opendir("/proc/self/fd");
    size_t count = 0;

    ck_assert_ptr_nonnull(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count;
}
