/* SPDX-License-Identifier: MIT */
/*
 * Says how heads are judged that nobody would send: each is made from the corpus of fuzz_head by
 * chance, but by the same chance in each build, so that builds with different versions of llhttp
 * can be compared. It judges nothing itself. Run by tests/fuzz/differ and scripts/differ.
 */
#include "http/head.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SEEDS = 256, INPUT_BYTES = 4096, BLOCK = 1000 };

struct input {
    size_t length;
    char data[INPUT_BYTES];
};

static struct input seeds[MOST_SEEDS];
static unsigned seed_count;

/* Lines and pieces on which parsers are known to part. */
static const struct http_text pieces[] = {
    HTTP_TEXT("Content-Length: 5\r\n"),
    HTTP_TEXT("Content-Length: +5\r\n"),
    HTTP_TEXT("content-length:5 \t\r\n"),
    HTTP_TEXT("Content-Length: 5, 5\r\n"),
    HTTP_TEXT("Transfer-Encoding: chunked\r\n"),
    HTTP_TEXT("Transfer-Encoding: gzip, chunked\r\n"),
    HTTP_TEXT("transfer-encoding:chunked,\r\n"),
    HTTP_TEXT("Transfer-Encoding: \"chunked\"\r\n"),
    HTTP_TEXT("Transfer-Encoding : chunked\r\n"),
    HTTP_TEXT("Connection: upgrade\r\nUpgrade: h2c\r\n"),
    HTTP_TEXT("Connection: close, keep-alive\r\n"),
    HTTP_TEXT("Proxy-Connection: close\r\n"),
    HTTP_TEXT("Host: a\r\n"),
    HTTP_TEXT("Expect: 100-continue\r\n"),
    HTTP_TEXT("X:\r\n"),
    HTTP_TEXT("X: a\r\n b\r\n"),
    HTTP_TEXT("\r\n"),
    HTTP_TEXT("\n"),
    HTTP_TEXT("\r"),
    HTTP_TEXT("\r\r\n"),
    HTTP_TEXT(" "),
    HTTP_TEXT("\t"),
    HTTP_TEXT(":"),
    HTTP_TEXT(","),
    HTTP_TEXT("\0"),
    HTTP_TEXT("\x0b"),
    HTTP_TEXT("\x7f"),
    HTTP_TEXT("\x80"),
    HTTP_TEXT("HTTP/1.0"),
    HTTP_TEXT("HTTP/2.0"),
    HTTP_TEXT("ICE/1.0"),
    HTTP_TEXT("RTSP/1.0"),
    HTTP_TEXT("CONNECT a:80 HTTP/1.1\r\n"),
    HTTP_TEXT("PRI * HTTP/2.0\r\n"),
    HTTP_TEXT("OPTIONS * HTTP/1.1\r\n"),
    HTTP_TEXT("GET http://b:81/c?d HTTP/1.1\r\n"),
    HTTP_TEXT("SOURCE"),
    HTTP_TEXT("M-SEARCH"),
};

enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

static uint64_t chance;

/* A number below `end`, by xorshift: the same sequence on every machine. */
static size_t draw(size_t end)
{
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return (size_t)((chance * UINT64_C(2685821657736338717)) >> 33) % end;
}

static void remove_bytes(struct input *input, size_t at, size_t length)
{
    if (length > input->length - at)
        length = input->length - at;
    memmove(input->data + at, input->data + at + length, input->length - at - length);
    input->length -= length;
}

static void insert_bytes(struct input *input, size_t at, struct http_text text)
{
    if (input->length + text.length > INPUT_BYTES)
        return;
    memmove(input->data + at + text.length, input->data + at, input->length - at);
    memcpy(input->data + at, text.data, text.length);
    input->length += text.length;
}

/* Where a line begins; most of what can go wrong lies there. */
static size_t draw_line(const struct input *input)
{
    size_t at = draw(input->length + 1);
    while (at > 0 && input->data[at - 1] != '\n')
        at--;
    return at;
}

static void mutate(struct input *input)
{
    size_t at = draw(2) == 0 ? draw(input->length + 1) : draw_line(input);
    char line[64];
    struct http_text copy = {line, 0};

    switch (draw(5)) {
    case 0:
        remove_bytes(input, at, 1 + draw(3));
        break;
    case 1:
        remove_bytes(input, at, draw(40));
        break;
    case 2: /* a piece of the input itself, somewhere else */
        copy.length = draw(input->length - at + 1);
        copy.length = copy.length < sizeof(line) ? copy.length : sizeof(line);
        memcpy(line, input->data + at, copy.length);
        insert_bytes(input, draw_line(input), copy);
        break;
    default:
        insert_bytes(input, at, pieces[draw(PIECES)]);
        break;
    }
}

static void make_input(uint64_t number, struct input *out)
{
    chance = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    *out = seeds[draw(seed_count)];
    for (size_t i = 1 + draw(3); i > 0; i--)
        mutate(out);
}

/* One line: all that the server goes by. */
static int judge(const struct input *input, char *line, size_t capacity)
{
    static const struct http_limits limits = {1024, INPUT_BYTES, 20};
    struct http_field fields[20];
    struct http_request request;
    size_t scanned = 0;
    size_t end = http_head_end(input->data, input->length, &scanned);

    if (end == 0)
        return snprintf(line, capacity, "incomplete");
    http_request_init(&request, fields, 20);
    int status = http_head_parse(input->data, end, &limits, NULL, &request);
    if (status != 0)
        return snprintf(line, capacity, "%zu %d keep %d", end, status, request.keep_alive);
    int length = snprintf(
        line, capacity,
        "%zu ok method %d form %d minor %d body %d %llu keep %d expect %d host %.*s:%u path %.*s "
        "query %.*s",
        end, request.method, request.form, request.minor_version, request.body,
        (unsigned long long)request.content_length, request.keep_alive, request.expect_continue,
        (int)request.host.length, request.host.data != NULL ? request.host.data : "", request.port,
        (int)request.path.length, request.path.data, (int)request.query.length,
        request.query.data != NULL ? request.query.data : "");
    for (unsigned i = 0; i < request.field_count && length < (int)capacity; i++)
        length += snprintf(line + length, capacity - (size_t)length, " [%.*s|%.*s]",
                           (int)fields[i].name.length, fields[i].name.data,
                           (int)fields[i].value.length, fields[i].value.data);
    return length;
}

static uint64_t mix(uint64_t hash, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* in any locale the same */
}

static int load_seeds(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, by_name);

    for (int i = 0; i < count; i++) {
        char path[4096];
        struct input *seed = &seeds[seed_count];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        FILE *file = names[i]->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        /* The first byte is fuzz_head's own. */
        if (file != NULL && seed_count < MOST_SEEDS && fgetc(file) != EOF) {
            seed->length = fread(seed->data, 1, INPUT_BYTES / 2, file);
            seed_count += seed->length != 0;
        }
        if (file != NULL)
            fclose(file);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return seed_count != 0 ? 0 : -1;
}

/* Where nothing is said, as under valgrind, the corpus of the source tree. */
static int load_own_seeds(void)
{
    const char *srcdir = getenv("srcdir");
    char path[4096];

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/head", srcdir != NULL ? srcdir : ".");
    return load_seeds(path);
}

/* A sum a block; or, where a block is named, all of its inputs and verdicts. */
int main(int argc, char **argv)
{
    static char line[4 * INPUT_BYTES];
    static struct input input;

    if ((argc < 2 ? load_own_seeds() : load_seeds(argv[1])) != 0) {
        fprintf(stderr, "usage: %s [CORPUS [BLOCKS [BLOCK]]]\n", argv[0]);
        return 2;
    }
    uint64_t blocks = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool says = argc > 3;
    uint64_t first = says ? strtoull(argv[3], NULL, 10) : 0;
    for (uint64_t block = first; block < (says ? first + 1 : blocks); block++) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        for (uint64_t number = block * BLOCK; number < (block + 1) * BLOCK; number++) {
            make_input(number, &input);
            int length = judge(&input, line, sizeof(line));
            hash = mix(hash, line, (size_t)length + 1);
            if (says)
                printf("%llu: %s\n", (unsigned long long)number, line);
        }
        if (!says)
            printf("%llu %016llx\n", (unsigned long long)block, (unsigned long long)hash);
    }
    return 0;
}
