/* SPDX-License-Identifier: MIT */
/*
 * Timers and a signal with libevix: counts seconds until five have passed, or Ctrl+C.
 *
 * It shows what keeps a loop alive: handles that are active. When the last one stops, the loop
 * ends by itself.
 */
#include <evix/evix.h>

#include <signal.h>
#include <stdio.h>

struct counter {
    struct evix_timer timer;
    struct evix_signal interrupt;
    unsigned seconds;
};

static void stop(struct counter *counter)
{
    evix_timer_stop(&counter->timer);
    evix_signal_stop(&counter->interrupt);
}

static void on_second(struct evix_timer *timer)
{
    struct counter *counter = EVIX_CONTAINER_OF(timer, struct counter, timer);

    printf("%u\n", ++counter->seconds);
    if (counter->seconds == 5)
        stop(counter);
}

/* Not a signal handler: it runs in the loop, where everything may be called. */
static void on_interrupt(struct evix_signal *signal, int number)
{
    printf("signal %d\n", number);
    stop(EVIX_CONTAINER_OF(signal, struct counter, interrupt));
}

int main(void)
{
    struct counter counter = {0};
    struct evix_loop *loop;
    int error = evix_loop_new(&loop, NULL);

    if (error == 0) {
        evix_timer_init(&counter.timer, loop, on_second);
        evix_timer_start(&counter.timer, 1000, 1000);
        evix_signal_init(&counter.interrupt, loop, on_interrupt);
        error = evix_signal_start(&counter.interrupt, SIGINT);
        if (error == 0)
            evix_loop_run(loop, EVIX_RUN_DEFAULT);
        evix_loop_free(&loop);
    }
    if (error < 0) {
        fprintf(stderr, "timer: %s\n", evix_strerror(error));
        return 1;
    }
    return 0;
}
