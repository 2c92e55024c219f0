/* SPDX-License-Identifier: MIT */
/*
 * What finding and parsing a head costs, in nanoseconds, the best of some rounds.
 * It asserts nothing: machines differ.
 * Run by hand, before and after a change to the parser.
 */
#include "http/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, TURNS = 200000 };

static const struct {
    const char *name;
    const char *head;
} heads[] = {
    {"wrk", "GET /index.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"},
    {"curl", "GET /index.html HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: curl/7.88.1\r\n"
             "Accept: */*\r\n\r\n"},
    {"browser",
     "GET /assets/app.css?v=3 HTTP/1.1\r\nHost: www.example.org\r\nConnection: keep-alive\r\n"
     "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
     "Chrome/120.0.0.0 Safari/537.36\r\nAccept: text/css,*/*;q=0.1\r\n"
     "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: style\r\n"
     "Referer: https://www.example.org/\r\nAccept-Encoding: gzip, deflate, br\r\n"
     "Accept-Language: en-US,en;q=0.9\r\nIf-None-Match: \"5f3e-1a2b3c\"\r\n\r\n"},
};

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double measure(const char *head, struct http_request *request)
{
    static const struct http_limits limits = {8192, 32768, 100};
    size_t length = strlen(head);
    double start = now_ns();
    for (int i = 0; i < TURNS; i++) {
        size_t scanned = 0;
        size_t end = http_head_end(head, length, &scanned);
        if (end != length || http_head_parse(head, end, &limits, NULL, request) != 0)
            abort();
    }
    return (now_ns() - start) / TURNS;
}

int main(void)
{
    static struct http_field fields[100];
    struct http_request request;
    http_request_init(&request, fields, 100);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        double best = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            double ns = measure(heads[i].head, &request);
            best = ns < best ? ns : best;
        }
        printf("%-8s %4zu bytes %7.1f ns\n", heads[i].name, strlen(heads[i].head), best);
    }
    return 0;
}
