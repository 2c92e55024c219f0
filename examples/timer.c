/* SPDX-License-Identifier: MIT */
/*
 * The smallest program on libevix: a timer that ticks, a signal that ends it.
 *
 *     cc timer.c -o timer $(pkg-config --cflags --libs evix)
 */
#include <evix/evix.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* A handle is embedded in a struct of yours; the library never allocates or frees it. */
struct ticker {
    struct evix_timer timer;
    int count;
};

/* From the handle that a callback is given to the struct that it is embedded in. */
static void on_tick(struct evix_timer *timer)
{
    struct ticker *ticker = EVIX_CONTAINER_OF(timer, struct ticker, timer);
    printf("tick %d\n", ++ticker->count);
    if (ticker->count == 5)
        evix_timer_stop(timer); /* stopping is allowed anywhere, also here */
}

/* An ordinary callback in the loop's thread: unlike in a signal handler, anything may be done. */
static void on_interrupt(struct evix_signal *signal, int number)
{
    printf("signal %d: no more ticks\n", number);
    evix_loop_stop(signal->handle.loop);
}

int main(void)
{
    struct evix_loop *loop;
    struct ticker ticker = {.count = 0};
    struct evix_signal interrupt;

    int error = evix_loop_new(&loop, NULL);
    if (error < 0) {
        fprintf(stderr, "no loop: %s\n", evix_strerror(error));
        return EXIT_FAILURE;
    }
    printf("running on %s\n", evix_backend_name(evix_loop_backend(loop)));

    evix_timer_init(&ticker.timer, loop, on_tick);
    evix_timer_start(&ticker.timer, 0, 200); /* now, then every 200 ms */

    evix_signal_init(&interrupt, loop, on_interrupt);
    error = evix_signal_start(&interrupt, SIGINT);
    if (error < 0)
        fprintf(stderr, "SIGINT is not watched: %s\n", evix_strerror(error));

    /*
     * The loop runs until no handle that counts is active. The signal's does not count: the program
     * is over when the ticks are.
     */
    evix_unref(&interrupt.handle);
    error = evix_loop_run(loop, EVIX_RUN_DEFAULT);

    evix_signal_stop(&interrupt);
    evix_timer_stop(&ticker.timer);
    evix_loop_free(&loop);
    return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
