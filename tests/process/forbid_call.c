/* SPDX-License-Identifier: MIT */
/*
 * Runs a program to which a system call is forbidden, as by a container's filter or an old kernel:
 * forbid_call CALL ERRNO PROGRAM [ARGUMENT...], where CALL is setup, enter, register, openat2 or
 * readlink. Started by test_fallback.py and test_upgrade.py.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_readlink /* newer architectures have one call for both */
#define SYS_readlink SYS_readlinkat
#endif

static unsigned number_of(const char *name)
{
    if (strcmp(name, "readlink") == 0)
        return SYS_readlink;
    if (strcmp(name, "openat2") == 0)
        return SYS_openat2;
    if (strcmp(name, "setup") == 0)
        return SYS_io_uring_setup;
    return strcmp(name, "enter") == 0 ? SYS_io_uring_enter : SYS_io_uring_register;
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    unsigned error = (unsigned)atoi(arguments[2]);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(arguments[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("prctl");
        return 77;
    }
    execv(arguments[3], arguments + 3);
    perror(arguments[3]);
    return 2;
}
