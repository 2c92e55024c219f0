/* SPDX-License-Identifier: MIT */
/* Eviction: order, second chances, removal under the hand, and resistance to scans. */
#include "files_fixture.h"

#include "files/evict.h"

static struct evict_link links[8];

static size_t index_of(const struct evict_link *link)
{
    return (size_t)(link - links);
}

static size_t evict(struct evict_queue *queue)
{
    struct evict_link *link = evict_choose(queue);

    ck_assert_ptr_nonnull(link);
    evict_remove(queue, link);
    return index_of(link);
}

START_TEST(oldest_first)
{
    struct evict_queue queue = {.count = 0};

    ck_assert_ptr_null(evict_choose(&queue));
    for (size_t i = 0; i < 8; i++)
        evict_add(&queue, &links[i]);
    ck_assert_uint_eq(queue.count, 8);
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_eq(evict(&queue), i);
    ck_assert_ptr_null(evict_choose(&queue));
    ck_assert_uint_eq(queue.count, 0);
}
END_TEST

START_TEST(visited_are_spared_once)
{
    struct evict_queue queue = {.count = 0};

    for (size_t i = 0; i < 4; i++)
        evict_add(&queue, &links[i]);
    links[0].visited = links[1].visited = true;
    ck_assert_uint_eq(evict(&queue), 2);
    evict_add(&queue, &links[4]);
    ck_assert_uint_eq(evict(&queue), 3); /* the hand goes on where it was */
    ck_assert_uint_eq(evict(&queue), 4);
    ck_assert_uint_eq(evict(&queue), 0); /* and round: the mark is gone */
    ck_assert_uint_eq(evict(&queue), 1);
}
END_TEST

START_TEST(all_visited)
{
    struct evict_queue queue = {.count = 0};

    for (size_t i = 0; i < 5; i++) {
        evict_add(&queue, &links[i]);
        links[i].visited = true;
    }
    ck_assert_uint_eq(evict(&queue), 0);
}
END_TEST

START_TEST(removal_under_the_hand)
{
    struct evict_queue queue = {.count = 0};

    for (size_t i = 0; i < 4; i++)
        evict_add(&queue, &links[i]);
    links[0].visited = true;
    ck_assert_ptr_eq(evict_choose(&queue), &links[1]);
    evict_remove(&queue, &links[1]);
    ck_assert_uint_eq(evict(&queue), 2);
    evict_remove(&queue, &links[3]); /* the newest, with the hand beyond it */
    ck_assert_uint_eq(evict(&queue), 0);
    ck_assert_ptr_null(queue.newest);
    ck_assert_ptr_null(queue.oldest);
}
END_TEST

/* 100 that are asked for all the time, and 100,000 that are asked for once, in room for 200. */
START_TEST(scan)
{
    enum { HOT = 100, ROOM = 200, SCAN = 100000 };
    struct evict_link *pool = calloc(HOT + SCAN, sizeof(*pool));
    bool *inside = calloc(HOT + SCAN, sizeof(*inside));
    struct evict_queue queue = {.count = 0};
    unsigned misses = 0, asked = 0;

    for (size_t i = 0; i < SCAN; i++) {
        const size_t wanted[] = {HOT + i, (i * 31) % HOT, (i * 17) % HOT};

        for (size_t j = 0; j < 3; j++) {
            size_t which = wanted[j];

            asked += which < HOT;
            if (inside[which]) {
                pool[which].visited = true;
                continue;
            }
            misses += which < HOT;
            if (queue.count == ROOM) {
                struct evict_link *victim = evict_choose(&queue);

                evict_remove(&queue, victim);
                inside[victim - pool] = false;
            }
            evict_add(&queue, &pool[which]);
            inside[which] = true;
        }
    }
    ck_assert_msg(misses < asked / 100, "%u of %u requests for hot ones missed", misses, asked);
    free(pool);
    free(inside);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("evict");

    tcase_add_test(tcase, oldest_first);
    tcase_add_test(tcase, visited_are_spared_once);
    tcase_add_test(tcase, all_visited);
    tcase_add_test(tcase, removal_under_the_hand);
    tcase_add_test(tcase, scan);
    return files_run("evict", tcase);
}
