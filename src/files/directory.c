/* SPDX-License-Identifier: MIT */
/*
 * Reads a directory whole: names, sizes and times of what may be served, in order.
 * It writes no page (listing_page.c does). Called in a thread of the work pool by listing.c.
 */

#include "files/directory.h"

#include <evix/file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/hash.h"

/* Of a link what it leads to counts, if a request could get there. */
static bool stat_link(const struct directory_source *source, const char *name, struct stat *status)
{
    struct evix_open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = source->resolve};
    char path[2 * PATH_MAX];
    bool there;
    int fd;

    if (snprintf(path, sizeof(path), "%s%s", source->path, name) >= PATH_MAX)
        return false;
    fd = evix_open(source->root, path, &how);
    if (fd < 0)
        return false;
    there = fstat(fd, status) == 0;
    close(fd);
    return there;
}

static bool is_served(const struct directory_source *source, int fd, const char *name,
                      struct stat *status)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (name[0] == '.' && !source->dotfiles))
        return false;
    if (fstatat(fd, name, status, AT_SYMLINK_NOFOLLOW) < 0)
        return false; /* gone again, or not for us */
    if (S_ISLNK(status->st_mode) && !stat_link(source, name, status))
        return false;
    return S_ISREG(status->st_mode) || S_ISDIR(status->st_mode);
}

/* One array of the rows'; `cost` of an item is what the budget is charged for it. */
struct array {
    void *memory;
    size_t room, item, cost;
};

/* -EFBIG: a listing that grows on would leave too little for any other. */
static int charge(struct directory_rows *rows, size_t bytes)
{
    if (bytes > rows->budget->most / 4 * 3 - rows->taken)
        return -EFBIG;
    if (!memory_budget_take(rows->budget, bytes))
        return -EBUSY;
    rows->taken += bytes;
    return 0;
}

static int grow(struct directory_rows *rows, struct array *array, size_t wanted)
{
    size_t more = array->room == 0 ? 256 : array->room;
    void *grown;
    int error;

    if (wanted <= array->room)
        return 0;
    while (more < wanted)
        more *= 2;
    error = charge(rows, (more - array->room) * array->cost);
    if (error < 0)
        return error;
    grown = reallocarray(array->memory, more, array->item);
    if (grown == NULL)
        return -ENOMEM;
    array->memory = grown;
    array->room = more;
    return 0;
}

/* The C library sorts by merging, in as much memory again. */
static int grow_rows(struct directory_rows *rows)
{
    struct array array = {rows->rows, rows->room, sizeof(*rows->rows), 2 * sizeof(*rows->rows)};
    int error = grow(rows, &array, rows->count + 1);

    rows->rows = array.memory;
    rows->room = array.room;
    return error;
}

static int grow_names(struct directory_rows *rows, size_t length)
{
    struct array array = {rows->names, rows->names_room, 1, 1};
    int error = grow(rows, &array, rows->used + length);

    rows->names = array.memory;
    rows->names_room = array.room;
    return error;
}

static int add_row(struct directory_rows *rows, const char *name, const struct stat *status)
{
    size_t length = strlen(name);
    int error = grow_rows(rows);

    if (error == 0)
        error = grow_names(rows, length + 1);
    if (error < 0)
        return error;
    memcpy(rows->names + rows->used, name, length + 1);
    rows->rows[rows->count++] = (struct directory_row){
        .size = S_ISDIR(status->st_mode) ? 0 : (uint64_t)status->st_size,
        .modified = status->st_mtim.tv_sec,
        .length = (uint16_t)length,
        .is_directory = S_ISDIR(status->st_mode),
    };
    rows->used += length + 1;
    return 0;
}

/* Names move while they are gathered; now that they don't, rows can point to them. */
static void point_to_names(struct directory_rows *rows)
{
    const char *name = rows->names;

    for (size_t i = 0; i < rows->count; i++) {
        rows->rows[i].name = name;
        name += rows->rows[i].length + 1;
    }
}

/* Case-blind for ASCII alone: no locale decides the order. Equal but for case: by bytes. */
static int compare_names(const char *a, const char *b)
{
    for (size_t i = 0;; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];

        x = x >= 'A' && x <= 'Z' ? (unsigned char)(x | 0x20) : x;
        y = y >= 'A' && y <= 'Z' ? (unsigned char)(y | 0x20) : y;
        if (x != y)
            return x < y ? -1 : 1;
        if (x == '\0')
            return strcmp(a, b);
    }
}

/* A negative number if the left one comes first by the key alone. */
static int compare_keys(const struct directory_row *left, const struct directory_row *right,
                        enum listing_key key)
{
    switch (key) {
    case LISTING_BY_SIZE:
        return (left->size > right->size) - (left->size < right->size);
    case LISTING_BY_TIME:
        return (left->modified > right->modified) - (left->modified < right->modified);
    case LISTING_BY_NAME:
        break;
    }
    return compare_names(left->name, right->name);
}

/* Directories have no size; those and equals are in the order of their names. */
static int compare_rows(const void *a, const void *b, void *data)
{
    const struct directory_row *left = a, *right = b;
    const struct directory_source *source = data;
    int order;

    if (left->is_directory != right->is_directory)
        return left->is_directory ? -1 : 1;
    order = compare_keys(left, right, source->key);
    if (order == 0)
        return compare_names(left->name, right->name);
    return source->descending ? -order : order;
}

static void *shrink(void *memory, size_t bytes)
{
    void *less = realloc(memory, bytes);

    return less != NULL ? less : memory;
}

/* Of one row at least. What it has beyond its need would be held as long as the page is sent. */
static void sort(struct directory_rows *rows, const struct directory_source *source)
{
    size_t needed = rows->count * sizeof(*rows->rows) + rows->used;

    rows->names = shrink(rows->names, rows->used);
    point_to_names(rows);
    qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare_rows, (void *)(uintptr_t)source);
    rows->rows = shrink(rows->rows, rows->count * sizeof(*rows->rows));
    rows->room = rows->count;
    rows->names_room = rows->used;
    memory_budget_give(rows->budget, rows->taken - needed);
    rows->taken = needed;
}

static int gather(struct directory_rows *rows, const struct directory_source *source, DIR *stream)
{
    struct stat status;
    int error;

    for (;;) {
        const struct dirent *entry;

        if (atomic_load_explicit(source->stop, memory_order_relaxed))
            return -ECANCELED;
        errno = 0;
        entry = readdir(stream);
        if (entry == NULL)
            return -errno;
        if (!is_served(source, dirfd(stream), entry->d_name, &status))
            continue;
        error = rows->count == DIRECTORY_NAMES_MAX ? -EFBIG : add_row(rows, entry->d_name, &status);
        if (error == -EFBIG) {
            rows->cut = true;
            return 0;
        }
        if (error < 0)
            return error;
    }
}

static uint64_t hash_rows(const struct directory_rows *rows)
{
    uint64_t hash = hash_mix(rows->count, rows->cut);

    for (size_t i = 0; i < rows->count; i++) {
        const struct directory_row *row = &rows->rows[i];

        hash =
            hash_mix(hash_bytes(hash, row->name, row->length), row->size * 2 + row->is_directory);
        hash = hash_mix(hash, (uint64_t)row->modified);
    }
    return hash;
}

int directory_read(struct directory_rows *rows, const struct directory_source *source)
{
    /* Anew, as reading moves a descriptor's position, and several may read at once. */
    int fd = openat(source->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream;
    int error;

    *rows = (struct directory_rows){.budget = source->budget};
    if (fd < 0)
        return -errno;
    stream = fdopendir(fd);
    if (stream == NULL) {
        error = -errno;
        close(fd);
        return error;
    }
    error = gather(rows, source, stream);
    closedir(stream);
    if (error < 0) {
        directory_rows_fini(rows);
        return error;
    }
    if (rows->count > 0)
        sort(rows, source);
    rows->hash = hash_rows(rows);
    return 0;
}

void directory_rows_fini(struct directory_rows *rows)
{
    free(rows->rows);
    free(rows->names);
    if (rows->taken > 0)
        memory_budget_give(rows->budget, rows->taken);
    *rows = (struct directory_rows){.count = 0};
}
