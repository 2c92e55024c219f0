/* SPDX-License-Identifier: MIT */
/* The shared counters: slots over the lives of workers, sums, spans of seconds, latencies. */
#include "server/counters.h"
#include "server/counters_read.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct counters *counters;

static void set_up(void)
{
    ck_assert_int_eq(counters_new(&counters), 0);
}

static void tear_down(void)
{
    counters_free(&counters);
    ck_assert_ptr_null(counters);
}

static uint64_t total(enum counter counter)
{
    struct counters_data sum;

    counters_sum(counters, &sum);
    return sum.counts[counter];
}

/* What another process counts is seen, and stays when that process is gone. */
START_TEST(other_process)
{
    struct counters_slot *slot = counters_take(counters, 0, 1);
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        counters_start(slot, 5);
        counters_add(&slot->data.counts[COUNTER_SENT], 1000);
        counters_add(&slot->data.connections[WAIT_KEEP_ALIVE], 3);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(slot->pid, pid);
    ck_assert_uint_eq(slot->started_ns, 5);
    ck_assert_uint_eq(total(COUNTER_SENT), 1000);
    ck_assert_uint_eq(counters_connections(&slot->data), 3);
    ck_assert_uint_eq(counters_workers(counters), 1);
    counters_give_back(slot);
    ck_assert_uint_eq(counters_workers(counters), 0);
    ck_assert_uint_eq(total(COUNTER_SENT), 1000);
    ck_assert_uint_eq(counters_connections(&slot->data), 0);
}
END_TEST

/* A successor goes on in the same slot; a new generation beside the old one has its own. */
START_TEST(lives)
{
    struct counters_slot *first = counters_take(counters, 0, 1);
    struct counters_slot *second = counters_take(counters, 1, 1);

    ck_assert_ptr_ne(first, second);
    counters_add(&first->data.counts[COUNTER_ACCEPTED], 7);
    counters_add(&second->data.counts[COUNTER_ACCEPTED], 1);
    counters_give_back(second);
    counters_give_back(first);
    ck_assert_ptr_eq(counters_take(counters, 1, 1), second);
    ck_assert_ptr_eq(counters_take(counters, 0, 1), first);
    ck_assert_uint_eq(first->data.counts[COUNTER_ACCEPTED], 7);
    ck_assert_int_eq(first->pid, 0);

    struct counters_slot *newer = counters_take(counters, 0, 2);
    ck_assert_ptr_ne(newer, first);
    ck_assert_ptr_ne(newer, second);
    ck_assert_uint_eq(newer->generation, 2);
    counters_add(&newer->data.counts[COUNTER_ACCEPTED], 2);
    counters_give_back(first);
    ck_assert_uint_eq(total(COUNTER_ACCEPTED), 10);
    ck_assert_ptr_null(counters_taken(counters, 0));
    ck_assert_ptr_eq(counters_taken(counters, 2), newer);
}
END_TEST

/* More processes than slots: the last ones get none, and one that is given back is used again. */
START_TEST(all_taken)
{
    for (unsigned i = 0; i < COUNTERS_SLOTS; i++)
        ck_assert_ptr_nonnull(counters_take(counters, i, 0));
    ck_assert_ptr_null(counters_take(counters, 0, 0));
    counters_give_back(NULL);
    counters_give_back(&counters->slots[5]);
    ck_assert_ptr_eq(counters_take(counters, 9999, 0), &counters->slots[5]);
    ck_assert_ptr_null(counters_take(counters, 0, 0));
}
END_TEST

START_TEST(slots_share_no_line)
{
    ck_assert_uint_eq((uintptr_t)&counters->slots[0] % 4096, 0);
    ck_assert_uint_eq((uintptr_t)&counters->slots[1] % 4096, 0);
    ck_assert_uint_eq((uintptr_t)&counters->slots[0].data % 64, 0);
}
END_TEST

static void serve(struct counters_slot *slot, unsigned requests)
{
    counters_add(&slot->data.requests[HTTP_METHOD_GET][2], requests);
    counters_add(&slot->data.counts[COUNTER_SENT], 10 * (uint64_t)requests);
}

static struct counters_span span(uint64_t from, uint64_t to)
{
    struct counters_span out;

    counters_span_sum(counters, from, to, &out);
    return out;
}

#define SECOND(number) ((number)*COUNTERS_SECOND_NS)

/* Seconds in which nothing happened are noted by nobody, and count as nothing. */
START_TEST(spans)
{
    struct counters_slot *slot = counters_take(counters, 0, 0);

    counters_note_second(slot, SECOND(100) + 5, 0);
    serve(slot, 3);
    counters_note_second(slot, SECOND(101), 40);
    serve(slot, 5);
    counters_note_second(slot, SECOND(110) + 999, 70);
    serve(slot, 1);
    ck_assert_uint_eq(span(100, 101).requests, 3);
    ck_assert_uint_eq(span(101, 102).requests, 5);
    ck_assert_uint_eq(span(102, 110).requests, 0);
    ck_assert_uint_eq(span(110, 111).requests, 1);
    ck_assert_uint_eq(span(111, 112).requests, 0);
    ck_assert_uint_eq(span(50, 200).requests, 9);
    ck_assert_uint_eq(span(50, 200).sent, 90);
    ck_assert_uint_eq(span(100, 101).lag_ns, 40);
    ck_assert_uint_eq(span(100, 200).lag_ns, 70);
    ck_assert_uint_eq(span(101, 109).lag_ns, 0);

    struct counters_slot *other = counters_take(counters, 1, 0);
    counters_note_second(other, SECOND(101), 50);
    serve(other, 100);
    ck_assert_uint_eq(span(101, 102).requests, 105);
    ck_assert_uint_eq(span(100, 101).lag_ns, 50);
}
END_TEST

/* The ring is written over, and the successor of a worker may begin within its last second. */
START_TEST(spans_over_lives)
{
    struct counters_slot *slot = counters_take(counters, 0, 0);

    for (unsigned second = 1000; second < 1200; second++) {
        counters_note_second(slot, SECOND(second), 0);
        serve(slot, second - 999);
    }
    counters_give_back(slot);
    ck_assert_ptr_eq(counters_take(counters, 0, 0), slot);
    counters_note_second(slot, SECOND(1199) + 1, 0);
    serve(slot, 1000);
    for (unsigned second = 1140; second < 1199; second++)
        ck_assert_uint_eq(span(second, second + 1).requests, second - 999);
    ck_assert_uint_eq(span(1199, 1200).requests, 1200);
}
END_TEST

/* Each value lies in its bucket, buckets touch, and none is wider than a sixteenth of its start. */
START_TEST(buckets)
{
    uint64_t start = 0;

    for (unsigned i = 0; i < COUNTERS_BUCKETS - 1; i++) {
        uint64_t end = counters_bucket_end(i);

        ck_assert_uint_gt(end, start);
        ck_assert_uint_eq(counters_bucket(start), i);
        ck_assert_uint_eq(counters_bucket(end - 1), i);
        ck_assert(end - start == 1 || (end - start) * 16 <= start);
        start = end;
    }
    ck_assert_uint_eq(start, UINT64_C(65011712));
    ck_assert_uint_eq(counters_bucket(start), COUNTERS_BUCKETS - 1);
    ck_assert_uint_eq(counters_bucket(UINT64_MAX), COUNTERS_BUCKETS - 1);
    ck_assert_uint_eq(counters_bucket_end(COUNTERS_BUCKETS - 1), UINT64_MAX);
}
END_TEST

/* Against the exact quantiles of the values. */
START_TEST(quantiles)
{
    static const double shares[] = {0.01, 0.5, 0.9, 0.99, 0.999, 1};
    uint64_t histogram[COUNTERS_BUCKETS] = {0};

    ck_assert(counters_quantile(histogram, 0.5) == 0);
    for (unsigned value = 1; value <= 100000; value++)
        histogram[counters_bucket(value)]++;
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        double exact = shares[i] * 100000, found = counters_quantile(histogram, shares[i]);

        ck_assert_msg(found > exact * 0.95 && found < exact * 1.05, "%g: %g", shares[i], found);
    }
}
END_TEST

/* Of the last minute, not of all times. */
START_TEST(recent_latency)
{
    struct counters_slot *slot = counters_take(counters, 0, 0);
    uint64_t recent[COUNTERS_BUCKETS];

    counters_note_second(slot, SECOND(1000), 0);
    counters_note_latency(slot, 5000);
    counters_note_second(slot, SECOND(1100), 0);
    counters_note_latency(slot, 7000);
    counters_note_latency(slot, 7999);
    counters_recent_latency(counters, SECOND(1030), recent);
    ck_assert_uint_eq(recent[5], 1);
    counters_recent_latency(counters, SECOND(1150), recent);
    ck_assert_uint_eq(recent[5], 0);
    ck_assert_uint_eq(recent[7], 2);
    counters_recent_latency(counters, SECOND(1300), recent);
    ck_assert_uint_eq(recent[7], 0);
    ck_assert_uint_eq(total(COUNTER_LATENCY_NS), 19999);
}
END_TEST

/* A machine that has just been started, and the daemon with it. */
START_TEST(recent_latency_after_the_start)
{
    struct counters_slot *slot = counters_take(counters, 0, 0);
    uint64_t recent[COUNTERS_BUCKETS];

    counters_note_second(slot, SECOND(COUNTERS_PERIOD_S), 0);
    counters_note_latency(slot, 5000);
    counters_recent_latency(counters, SECOND(2 * COUNTERS_PERIOD_S), recent);
    ck_assert_uint_eq(recent[5], 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counters");
    TCase *tests = tcase_create("counters");
    SRunner *runner;
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, other_process);
    tcase_add_test(tests, lives);
    tcase_add_test(tests, all_taken);
    tcase_add_test(tests, slots_share_no_line);
    tcase_add_test(tests, spans);
    tcase_add_test(tests, spans_over_lives);
    tcase_add_test(tests, buckets);
    tcase_add_test(tests, quantiles);
    tcase_add_test(tests, recent_latency);
    tcase_add_test(tests, recent_latency_after_the_start);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
