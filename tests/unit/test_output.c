/* SPDX-License-Identifier: MIT */
/*
 * Tests src/server/output.c: gathering, joining, and what the buffer is too small for.
 */
#include "server/output.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct output_pool pool;
static struct output *output;

static void setup(void)
{
    pool = (struct output_pool){0};
    output = output_get(&pool);
    ck_assert_ptr_nonnull(output);
}

static void teardown(void)
{
    output_put(&pool, output);
    output_pool_fini(&pool);
}

/* What the pieces hold, one after the other. */
static size_t gathered(char *out)
{
    size_t length = 0;

    for (unsigned i = 0; i < output->piece_count; i++) {
        memcpy(out + length, output->pieces[i].iov_base, output->pieces[i].iov_len);
        length += output->pieces[i].iov_len;
    }
    return length;
}

START_TEST(copies_that_follow_each_other_are_one_piece)
{
    char text[32];

    ck_assert(output_is_empty(output));
    ck_assert(output_copy(output, "abc", 3));
    ck_assert(output_copy(output, "def", 3));
    ck_assert_uint_eq(output->piece_count, 1);
    ck_assert_uint_eq(gathered(text), 6);
    ck_assert_mem_eq(text, "abcdef", 6);
    ck_assert_uint_eq(output->queued_bytes, 6);
}
END_TEST

START_TEST(references_keep_the_order)
{
    static const char one[] = "one", two[] = "two";
    char text[32];

    ck_assert(output_copy(output, "<", 1));
    output_refer(output, one, 3);
    ck_assert(output_copy(output, "|", 1));
    output_refer(output, two, 3);
    output_refer(output, two, 0);
    ck_assert(output_copy(output, ">", 1));
    ck_assert_uint_eq(gathered(text), 9);
    ck_assert_mem_eq(text, "<one|two>", 9);
    ck_assert_uint_eq(output->piece_count, 5);
}
END_TEST

START_TEST(what_is_reserved_need_not_be_used)
{
    char text[32];
    char *memory = output_reserve(output, 1000);

    memcpy(memory, "head", 4);
    output_commit(output, memory, 4);
    ck_assert(output_copy(output, "more", 4));
    ck_assert_uint_eq(gathered(text), 8);
    ck_assert_mem_eq(text, "headmore", 8);
}
END_TEST

START_TEST(more_than_the_buffer_has_memory_of_its_own)
{
    size_t length = 3 * OUTPUT_BYTES;
    char *large = malloc(length), *text = malloc(2 * length);

    memset(large, 'x', length);
    ck_assert(output_copy(output, "a", 1));
    ck_assert(output_copy(output, large, length));
    ck_assert(output_copy(output, "b", 1));
    ck_assert_uint_eq(gathered(text), length + 2);
    ck_assert_int_eq(text[0], 'a');
    ck_assert_mem_eq(text + 1, large, length);
    ck_assert_int_eq(text[length + 1], 'b');
    free(large);
    free(text);
}
END_TEST

START_TEST(a_pool_gives_back_what_it_got)
{
    ck_assert(output_copy(output, "abc", 3));
    struct output *first = output;
    output_put(&pool, output);
    output = output_get(&pool);
    ck_assert_ptr_eq(output, first);
    ck_assert(output_is_empty(output));
    ck_assert_uint_eq(output->piece_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *tests = tcase_create("output");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, copies_that_follow_each_other_are_one_piece);
    tcase_add_test(tests, references_keep_the_order);
    tcase_add_test(tests, what_is_reserved_need_not_be_used);
    tcase_add_test(tests, more_than_the_buffer_has_memory_of_its_own);
    tcase_add_test(tests, a_pool_gives_back_what_it_got);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
