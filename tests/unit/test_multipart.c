/* SPDX-License-Identifier: MIT */
/* multipart/byteranges: the bytes around the parts, and the length that was counted beforehand. */
#include "http/multipart.h"
#include "http_rows.h"

#include <stdlib.h>

/* All of it, but for the content, of which there are as many `x`. */
static size_t write_all(const struct http_multipart *multipart, const struct http_range *ranges,
                        unsigned count, char *out)
{
    size_t length = 0;
    for (unsigned i = 0; i < count; i++) {
        length += http_multipart_part(multipart, &ranges[i], out + length);
        memset(out + length, 'x', http_range_length(&ranges[i]));
        length += http_range_length(&ranges[i]);
    }
    return length + http_multipart_end(multipart, out + length);
}

START_TEST(as_the_rfc_shows_it)
{
    const struct http_range ranges[] = {{.first = 2, .last = 4}, {.first = 0, .last = 0}};
    struct http_multipart multipart;
    char out[1024];

    http_multipart_init(&multipart, HTTP_TEXT("text/plain"), 100, 0xfedcba9876543210);
    size_t length = write_all(&multipart, ranges, 2, out);
    ck_text_eq(((struct http_text){out, length}), "\r\n--0123456789abcdef\r\n"
                                                  "Content-Type: text/plain\r\n"
                                                  "Content-Range: bytes 2-4/100\r\n\r\nxxx\r\n"
                                                  "--0123456789abcdef\r\n"
                                                  "Content-Type: text/plain\r\n"
                                                  "Content-Range: bytes 0-0/100\r\n\r\nx\r\n"
                                                  "--0123456789abcdef--\r\n");
    ck_assert_uint_eq(http_multipart_length(&multipart, ranges, 2), length);
}
END_TEST

START_TEST(type_of_the_response)
{
    struct http_multipart multipart;
    struct http_writer writer;
    char out[256];

    http_multipart_init(&multipart, HTTP_TEXT("text/plain"), 100, 0);
    http_writer_init(&writer, out, sizeof(out));
    http_multipart_write_type(&multipart, &writer);
    ck_text_eq(((struct http_text){out, (size_t)(writer.at - out)}),
               "Content-Type: multipart/byteranges; boundary=0000000000000000\r\n");
}
END_TEST

/* Numbers of every length, with and without a type: what was counted is what is written. */
START_TEST(length_is_exact)
{
    struct http_multipart multipart;
    uint64_t size = 3;

    for (unsigned digits = 1; digits <= 19; digits++, size *= 10) {
        struct http_range ranges[] = {{.first = size - 3, .last = size - 1},
                                      {.first = 0, .last = 1},
                                      {.first = size / 2, .last = size / 2}};
        http_multipart_init(&multipart, digits % 2 == 0 ? HTTP_TEXT("a/b") : HTTP_TEXT(""), size,
                            digits);
        for (unsigned count = 1; count <= 3; count++) {
            char out[1024];
            size_t length = write_all(&multipart, ranges, count, out);
            ck_assert_uint_eq(http_multipart_length(&multipart, ranges, count), length);
        }
    }
}
END_TEST

START_TEST(head_fits_the_overhead)
{
    const struct http_range range = {.first = UINT64_MAX - 2, .last = UINT64_MAX - 1};
    struct http_multipart multipart;

    http_multipart_init(&multipart, HTTP_TEXT("text/plain; charset=utf-8"), UINT64_MAX, 1);
    size_t most = http_multipart_overhead(&multipart);
    char *out = malloc(most); /* of that very size, for a sanitizer to see */
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_le(http_multipart_part(&multipart, &range, out), most);
    ck_assert_uint_le(http_multipart_end(&multipart, out), most);
    free(out);
}
END_TEST

START_TEST(length_saturates)
{
    const struct http_range ranges[] = {{.first = 0, .last = UINT64_MAX - 1},
                                        {.first = 0, .last = UINT64_MAX - 1}};
    struct http_multipart multipart;

    http_multipart_init(&multipart, HTTP_TEXT("a/b"), UINT64_MAX, 1);
    ck_assert_uint_eq(http_multipart_length(&multipart, ranges, 2), UINT64_MAX);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("multipart");
    tcase_add_test(tcase, as_the_rfc_shows_it);
    tcase_add_test(tcase, type_of_the_response);
    tcase_add_test(tcase, length_is_exact);
    tcase_add_test(tcase, head_fits_the_overhead);
    tcase_add_test(tcase, length_saturates);
    return run_suite("multipart", tcase);
}
