/* SPDX-License-Identifier: MIT */
/* Bodies of memory: one piece, or none; freed whether it was asked for or not. */
#include "files_fixture.h"

START_TEST(one_piece)
{
    struct body_piece piece;
    struct body *body;

    ck_assert_int_eq(body_from_memory(&body, strdup("hello"), 5), 0);
    ck_assert_int_eq(body->length, 5);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_BYTES);
    ck_assert_uint_eq(piece.length, 5);
    ck_assert_mem_eq(piece.data, "hello", 5);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_END);
    body_release(body);
}
END_TEST

START_TEST(nothing)
{
    struct body_piece piece;
    struct body *body;

    ck_assert_int_eq(body_from_memory(&body, NULL, 0), 0);
    ck_assert_int_eq(body->length, 0);
    body_next(body, &piece);
    ck_assert_int_eq(piece.kind, BODY_END);
    body_release(body);
}
END_TEST

START_TEST(released_unread)
{
    struct body *body;

    ck_assert_int_eq(body_from_memory(&body, strdup("hello"), 5), 0);
    body_release(body);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("body_memory");

    tcase_add_test(tcase, one_piece);
    tcase_add_test(tcase, nothing);
    tcase_add_test(tcase, released_unread);
    return files_run("body_memory", tcase);
}
