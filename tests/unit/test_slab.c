/* SPDX-License-Identifier: MIT */
/*
 * Tests src/server/slab.c: items that do not overlap, blocks that come and go with them, and what
 * an idle connection costs. Blocks are counted where they are allocated (ld --wrap).
 */
#include "server/slab.h"

#include "server/connection.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS      10000
#define IDLE_BYTES 360 /* the budget is 400 */

static void *blocks[2 * ITEMS];
static size_t block_count;
static bool is_out_of_memory;

int __real_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (is_out_of_memory)
        return ENOMEM;
    int error = __real_posix_memalign(out, alignment, size);
    blocks[block_count++] = *out;
    return error;
}

/* Check frees memory of its own. */
void __wrap_free(void *memory)
{
    if ((uintptr_t)memory % SLAB_BLOCK_ALIGNMENT == 0)
        for (size_t i = 0; i < block_count; i++)
            if (blocks[i] == memory) {
                blocks[i] = blocks[--block_count];
                break;
            }
    __real_free(memory);
}

static unsigned char *items[ITEMS];

static void take_all(struct slab *slab)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        items[i] = slab_take(slab);
        if (items[i] == NULL || (uintptr_t)items[i] % sizeof(void *) != 0)
            ck_abort_msg("item %u: %p", i, (void *)items[i]);
        memset(items[i], (int)(i % 251), slab->item_bytes);
    }
}

static void check_item(const struct slab *slab, unsigned number)
{
    size_t same = 0;

    while (same < slab->item_bytes && items[number][same] == number % 251)
        same++;
    ck_assert_uint_eq(same, slab->item_bytes);
}

static void give(struct slab *slab, unsigned number)
{
    check_item(slab, number);
    slab_give(slab, items[number]);
    items[number] = NULL;
}

START_TEST(idle_connection_fits_its_budget)
{
    struct slab slab;

    slab_init(&slab, sizeof(struct connection));
    take_all(&slab);
    /* Each block costs malloc(3)'s header as well, or what aligns the next one. */
    ck_assert_uint_le(block_count * SLAB_BLOCK_ALIGNMENT / ITEMS, IDLE_BYTES);
    for (unsigned i = 0; i < ITEMS; i++)
        give(&slab, i);
    slab_fini(&slab);
    ck_assert_uint_eq(block_count, 0);
}
END_TEST

START_TEST(items_do_not_overlap)
{
    static const size_t sizes[] = {1, 8, 72, 336, 4000};
    struct slab slab;

    slab_init(&slab, sizes[_i]);
    take_all(&slab);
    for (unsigned i = 0; i < ITEMS; i += 2)
        give(&slab, i);
    for (unsigned i = 0; i < ITEMS; i += 2) {
        items[i] = slab_take(&slab);
        memset(items[i], (int)(i % 251), slab.item_bytes);
    }
    for (unsigned i = 0; i < ITEMS; i++)
        give(&slab, ITEMS - 1 - i);
    slab_fini(&slab);
    ck_assert_uint_eq(block_count, 0);
}
END_TEST

START_TEST(memory_goes_back_with_the_last_item)
{
    struct slab slab;

    slab_init(&slab, 336);
    take_all(&slab);
    size_t most = block_count;
    for (unsigned i = 1; i < ITEMS; i++)
        give(&slab, i);
    ck_assert_uint_gt(most, 100);
    ck_assert_uint_le(block_count, 2); /* that of the first item, and a vacant one */
    give(&slab, 0);
    ck_assert_uint_eq(block_count, 1);
    slab_fini(&slab);
}
END_TEST

/* A client that comes and goes, at each fill of the last block. */
START_TEST(one_more_and_one_less_cost_no_block)
{
    struct slab slab;
    void *held[200];

    slab_init(&slab, 336);
    for (unsigned i = 0; i < 200; i++) {
        slab_give(&slab, slab_take(&slab)); /* so that the next block is there */
        size_t before = block_count;
        for (unsigned turn = 0; turn < 3; turn++) {
            void *item = slab_take(&slab);
            ck_assert_uint_eq(block_count, before);
            slab_give(&slab, item);
            ck_assert_uint_eq(block_count, before);
        }
        held[i] = slab_take(&slab);
    }
    for (unsigned i = 0; i < 200; i++)
        slab_give(&slab, held[i]);
    slab_fini(&slab);
    ck_assert_uint_eq(block_count, 0);
}
END_TEST

START_TEST(no_memory_is_said)
{
    struct slab slab;

    slab_init(&slab, 8000);
    is_out_of_memory = true;
    ck_assert_ptr_null(slab_take(&slab));
    is_out_of_memory = false;
    void *first = slab_take(&slab), *second = slab_take(&slab);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    is_out_of_memory = true;
    ck_assert_ptr_null(slab_take(&slab));
    slab_give(&slab, first);
    ck_assert_ptr_eq(slab_take(&slab), first);
    is_out_of_memory = false;
    slab_give(&slab, first);
    slab_give(&slab, second);
    slab_fini(&slab);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slab");
    TCase *tests = tcase_create("slab");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, idle_connection_fits_its_budget);
    tcase_add_loop_test(tests, items_do_not_overlap, 0, 5);
    tcase_add_test(tests, memory_goes_back_with_the_last_item);
    tcase_add_test(tests, one_more_and_one_less_cost_no_block);
    tcase_add_test(tests, no_memory_is_said);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
