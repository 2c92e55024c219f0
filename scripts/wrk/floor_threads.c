/* SPDX-License-Identifier: MIT */
/*
 * The yardstick with a thread for each connection, which blocks in its receive. The stacks are as
 * small as the C library allows with the buffer on them.
 */
#include "floor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

static void *serve(void *argument)
{
    int fd = (int)(intptr_t)argument;
    while (floor_serve(fd) >= 0)
        ;
    close(fd);
    return NULL;
}

int floor_run_threads(int listener)
{
    pthread_attr_t attributes;
    if (fcntl(listener, F_SETFL, 0) < 0) /* this way, waiting is blocking */
        return -errno;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (;;) {
        pthread_t thread;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE)
                sleep(1); /* until some have gone */
            continue;
        }
        if (fd < FLOOR_DESCRIPTORS)
            floor_reset(fd);
        if (fd >= FLOOR_DESCRIPTORS ||
            pthread_create(&thread, &attributes, serve, (void *)(intptr_t)fd) != 0)
            close(fd);
    }
}
