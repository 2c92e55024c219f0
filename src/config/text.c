/* SPDX-License-Identifier: MIT */
/*
 * Joins a configuration file and its includes into one text for libconfig.
 * Does not parse settings: it knows comments, strings, numbers and @include, nothing else.
 * Called by load.c; errors.c asks where a line came from.
 */
#include "config/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/arena.h"
#include "config/errors.h"

/* Where we are in one file. */
struct scan {
    struct text *text;
    struct errors *errors;
    const char *file;
    const char *at, *end;
    unsigned file_line;
    unsigned depth;
};

static void add_file(struct text *text, const char *path, unsigned line, unsigned depth,
                     struct errors *errors, int *out_error);

void text_init(struct text *text, struct config_arena *arena)
{
    *text = (struct text){.arena = arena, .line = 1};
}

/* Memory of the arena grows by copies; what is left behind goes with the arena. */
static void append(struct scan *scan, const char *bytes, size_t length)
{
    struct text *text = scan->text;

    if (text->capacity - text->length <= length) {
        size_t capacity = 2 * text->capacity + length + 4096;
        char *grown = arena_array(text->arena, capacity, 1);

        if (grown == NULL) {
            errors_add_memory(scan->errors);
            return;
        }
        if (text->length > 0)
            memcpy(grown, text->bytes, text->length);
        text->bytes = grown;
        text->capacity = capacity;
    }
    assert(text->length + length < text->capacity);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void start_segment(struct scan *scan)
{
    struct text *text = scan->text;

    assert(text->segment_count == 0 || text->segments[text->segment_count - 1].line <= text->line);
    if (text->segment_count == text->segment_capacity) {
        size_t capacity = 2 * text->segment_capacity + 8;
        struct text_segment *grown = arena_array(text->arena, capacity, sizeof(*grown));

        if (grown == NULL) {
            errors_add_memory(scan->errors);
            return;
        }
        if (text->segment_count > 0)
            memcpy(grown, text->segments, text->segment_count * sizeof(*grown));
        text->segments = grown;
        text->segment_capacity = capacity;
    }
    text->segments[text->segment_count++] =
        (struct text_segment){text->line, scan->file, scan->file_line};
}

const char *text_place(const struct text *text, unsigned line, unsigned *out_line)
{
    size_t low = 0, high = text->segment_count;

    assert(line > 0);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (text->segments[middle].line <= line)
            low = middle;
        else
            high = middle;
    }
    if (text->segment_count == 0) {
        *out_line = line;
        return "command line";
    }
    *out_line = text->segments[low].file_line + (line - text->segments[low].line);
    return text->segments[low].file;
}

/* Takes bytes as they are, counting lines. */
static void copy(struct scan *scan, size_t length)
{
    append(scan, scan->at, length);
    for (const char *to = scan->at + length; scan->at < to; scan->at++) {
        if (*scan->at == '\n') {
            scan->file_line++;
            scan->text->line++;
        }
    }
}

static void copy_line_comment(struct scan *scan)
{
    const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));

    copy(scan, (size_t)((newline == NULL ? scan->end : newline) - scan->at));
}

static void copy_block_comment(struct scan *scan)
{
    const char *close = scan->at + 2;

    while (close < scan->end - 1 && (close[0] != '*' || close[1] != '/'))
        close++;
    if (close >= scan->end - 1) {
        errors_add(scan->errors, scan->text->line, "a comment begins here and is never closed");
        scan->text->broken = true;
        scan->at = scan->end;
        return;
    }
    copy(scan, (size_t)(close + 2 - scan->at));
}

/* An escaped NUL would cut the value short where nobody sees it. */
static void copy_string(struct scan *scan)
{
    const char *at = scan->at + 1;

    while (at < scan->end && *at != '"') {
        if (*at == '\\' && scan->end - at > 3 && memcmp(at, "\\x00", 4) == 0)
            errors_add(scan->errors, scan->text->line, "a string cannot hold a NUL byte (\\x00)");
        at += *at == '\\' && scan->end - at > 1 ? 2 : 1;
    }
    if (at == scan->end) {
        errors_add(scan->errors, scan->text->line, "a string begins here and is never closed");
        scan->text->broken = true;
        scan->at = scan->end;
        return;
    }
    copy(scan, (size_t)(at + 1 - scan->at));
}

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '*' || byte == '-';
}

static void copy_word(struct scan *scan)
{
    size_t length = 1;

    while (scan->at + length < scan->end && is_word(scan->at[length]))
        length++;
    copy(scan, length);
}

/* Digits, perhaps hexadecimal: what is wider than 32 bits gets libconfig's mark for 64 bits. A
 * minus sign was copied before; the one value that only fits with it becomes 64 bits wide, too,
 * which does no harm. A fraction or exponent, if any, is copied later as what it is. */
static void copy_number(struct scan *scan)
{
    bool hex = scan->end - scan->at > 2 && scan->at[0] == '0' && (scan->at[1] | 0x20) == 'x';
    unsigned base = hex ? 16 : 10;
    size_t length = hex ? 2 : 0;
    uint64_t value = 0;
    bool overflow = false;

    for (; scan->at + length < scan->end && isxdigit((unsigned char)scan->at[length]); length++) {
        char digit = scan->at[length];

        if (!hex && !isdigit((unsigned char)digit))
            break;
        overflow |= __builtin_mul_overflow(value, base, &value);
        value += isdigit((unsigned char)digit) ? (uint64_t)(digit - '0')
                                               : (uint64_t)((digit | 0x20) - 'a' + 10);
    }
    char next = scan->at + length < scan->end ? scan->at[length] : '\0';
    bool fraction = !hex && (next == '.' || next == 'e' || next == 'E');

    if (!fraction && (overflow || value > INT64_MAX))
        errors_add(scan->errors, scan->text->line, "the number %.*s is too large",
                   length > 40 ? 40 : (int)length, scan->at);
    copy(scan, length);
    if (!fraction && next != 'L' && value > INT32_MAX)
        append(scan, "L", 1);
    if (fraction) /* digits behind the point are no integer of their own */
        while (scan->at < scan->end && (isalnum((unsigned char)*scan->at) || *scan->at == '.'))
            copy(scan, 1);
}

/* The path of an include directive at the start of a line: from the quote on, or NULL if this is
 * none. Its place is libconfig's: only blanks before it. */
static const char *find_include(const struct scan *scan)
{
    static const char directive[] = "@include";
    const char *at = scan->at;

    if (at > scan->end || (size_t)(scan->end - at) < sizeof(directive) ||
        memcmp(at, directive, sizeof(directive) - 1) != 0)
        return NULL;
    at += sizeof(directive) - 1;
    while (at < scan->end && (*at == ' ' || *at == '\t'))
        at++;
    return at < scan->end && *at == '"' ? at : NULL;
}

static void include(struct scan *scan, const char *quote)
{
    const char *from = quote + 1, *slash = strrchr(scan->file, '/');
    const char *newline = memchr(from, '\n', (size_t)(scan->end - from));
    size_t left = (size_t)((newline == NULL ? scan->end : newline) - from);
    const char *close = memchr(from, '"', left);
    int folder = 0;
    char *path;

    scan->at = close == NULL ? from + left : close + 1;
    if (close == NULL || close == from) {
        errors_add(scan->errors, scan->text->line, "@include: expected a path in quotes");
        scan->text->broken = true;
        return;
    }
    if (from[0] != '/' && slash != NULL)
        folder = (int)(slash + 1 - scan->file);
    path =
        arena_print(scan->text->arena, "%.*s%.*s", folder, scan->file, (int)(close - from), from);
    if (path == NULL) {
        errors_add_memory(scan->errors);
        return;
    }
    add_file(scan->text, path, scan->text->line, scan->depth + 1, scan->errors, NULL);
    start_segment(scan);
}

/* No at sign may reach libconfig, whose own includes can end the process. */
static void refuse_at(struct scan *scan)
{
    errors_add(scan->errors, scan->text->line,
               "unexpected \"@\": expected @include \"PATH\" at the start of a line");
    scan->text->broken = true;
    scan->at++;
}

static void scan_file(struct scan *scan)
{
    bool line_start = true;

    start_segment(scan);
    while (scan->at < scan->end && !scan->errors->out_of_memory) {
        char byte = *scan->at, next = scan->end - scan->at > 1 ? scan->at[1] : '\0';
        const char *quote = line_start && byte == '@' ? find_include(scan) : NULL;

        line_start = byte == '\n' || (line_start && (byte == ' ' || byte == '\t'));
        if (quote != NULL)
            include(scan, quote);
        else if (byte == '#' || (byte == '/' && next == '/'))
            copy_line_comment(scan);
        else if (byte == '/' && next == '*')
            copy_block_comment(scan);
        else if (byte == '"')
            copy_string(scan);
        else if (isdigit((unsigned char)byte))
            copy_number(scan);
        else if (is_word(byte))
            copy_word(scan);
        else if (byte == '@')
            refuse_at(scan);
        else
            copy(scan, 1);
    }
    if (scan->text->length > 0 && scan->text->bytes[scan->text->length - 1] != '\n') {
        append(scan, "\n", 1);
        scan->text->line++;
    }
}

static void add_text(struct text *text, const char *file, const char *bytes, size_t length,
                     unsigned depth, struct errors *errors)
{
    struct scan scan = {text, errors, file, bytes, bytes + length, 1, depth};
    const char *nul = memchr(bytes, '\0', length);

    if (length > TEXT_LIMIT_BYTES || text->length + length > TEXT_LIMIT_BYTES) {
        errors_add(errors, 0, "%.400s: more than %d bytes of configuration", file,
                   TEXT_LIMIT_BYTES);
        return;
    }
    if (nul != NULL) {
        errors_add(errors, 0, "%.400s: not a text file: a NUL byte after %zu bytes", file,
                   (size_t)(nul - bytes));
        return;
    }
    scan_file(&scan);
}

void text_add(struct text *text, const char *name, const char *bytes, size_t length,
              struct errors *errors)
{
    const char *file = arena_string(text->arena, name);

    if (file == NULL)
        errors_add_memory(errors);
    else
        add_text(text, file, bytes, length, 0, errors);
}

/* The whole of a regular file, at most limit bytes and one more, so that the caller sees that there
 * are more. Anything else is refused unread: a directory, a device or a FIFO may never end. */
static int read_whole(const char *path, size_t limit, char **out, size_t *out_length)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *bytes = NULL;
    size_t length = 0;
    struct stat attributes;
    int error = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &attributes) != 0)
        error = -errno;
    else if (S_ISDIR(attributes.st_mode))
        error = -EISDIR;
    else if (!S_ISREG(attributes.st_mode))
        error = -EINVAL;
    if (error != 0)
        goto close_fd;
    bytes = malloc(limit + 1);
    if (bytes == NULL) {
        error = -ENOMEM;
        goto close_fd;
    }
    while (length <= limit) {
        ssize_t count = read(fd, bytes + length, limit + 1 - length);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            error = -errno;
            goto free_bytes;
        }
        if (count == 0)
            break;
        length += (size_t)count;
    }
    *out = bytes;
    *out_length = length;
    goto close_fd;
free_bytes:
    free(bytes);
close_fd:
    close(fd);
    return error;
}

/* line is that of the directive, 0 for the first file; path is the arena's. */
static void add_file(struct text *text, const char *path, unsigned line, unsigned depth,
                     struct errors *errors, int *out_error)
{
    char *bytes = NULL;
    size_t length = 0;
    int error = depth > TEXT_DEPTH ? -ELOOP : read_whole(path, TEXT_LIMIT_BYTES, &bytes, &length);

    if (error == -ENOMEM)
        errors_add_memory(errors);
    else if (error == -ELOOP && depth > TEXT_DEPTH)
        errors_add(errors, line, "@include: more than %d files deep", TEXT_DEPTH);
    else if (error == -EINVAL)
        errors_add(errors, line, "%.400s: not a regular file", path);
    else if (error != 0)
        errors_add(errors, line, "%.400s: %s", path, strerror(-error));
    else
        add_text(text, path, bytes, length, depth, errors);
    free(bytes);
    if (out_error != NULL)
        *out_error = error;
}

int text_add_file(struct text *text, const char *path, struct errors *errors)
{
    const char *file = arena_string(text->arena, path);
    int error;

    if (file == NULL) {
        errors_add_memory(errors);
        return -ENOMEM;
    }
    add_file(text, file, 0, 0, errors, &error);
    return error;
}
