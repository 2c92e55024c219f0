/* SPDX-License-Identifier: MIT */
/*
 * The list of system calls that a serving worker needs, and the filter that is made of it.
 * It does not decide whether there is to be a filter, nor when: worker_process.c does.
 * worker_process.c calls it.
 *
 * The list was made by running all tests with every other call ending the process, on each backend:
 * `make check-sandbox`, where SANDBOX_AUDIT is defined.
 * What a ring does is not seen by a filter: libevix restricts its rings by itself.
 */

#include "daemon/sandbox.h"

#include <errno.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(HAVE_LIBSECCOMP) && !defined(SANITIZED)

#include <linux/io_uring.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Not in the headers of every kernel that evixd is built on; the number is the same everywhere. */
#define CACHESTAT 451

/* What becomes of a call that is on no list. */
#ifdef SANDBOX_AUDIT
#define OTHERWISE SCMP_ACT_TRAP
#else
#define OTHERWISE SCMP_ACT_ERRNO(ENOSYS)
#endif

/* Names, since the library may be older than the call; what it does not know is left out. */
static const char *const allowed[] = {
    /* sockets that there are */
    "accept",
    "accept4",
    "recvfrom",
    "recvmsg",
    "sendto",
    "sendmsg",
    "sendfile",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "getsockname",
    "getpeername",
    /* files and logs */
    "openat",
    "openat2",
    "close",
    "read",
    "readv",
    "pread64",
    "preadv",
    "preadv2",
    "write",
    "writev",
    "pwritev2",
    "lseek",
    "fstat",
    "fstatfs",
    "newfstatat",
    "statx",
    "getdents64",
    "readlinkat",
    "fadvise64",
    "readahead",
    "fcntl",
    /* waiting */
    "epoll_wait",
    "epoll_pwait",
    "epoll_ctl",
    "poll",
    "ppoll",
    "io_uring_enter",
    "inotify_add_watch",
    "inotify_rm_watch",
    /* memory; see `limited` for more */
    "brk",
    "munmap",
    "mremap",
    "madvise",
    /* threads of the work pool, their locks, and what the C library does around them */
    "futex",
    "set_robust_list",
    "rseq",
    "sched_yield",
    "sched_getaffinity",
    "gettid",
    "getpid",
    "exit",
    "exit_group",
    /* signals */
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "restart_syscall",
    /* time and chance */
    "clock_gettime",
    "clock_nanosleep",
    "gettimeofday",
    "time",
    "getrandom",
    /* how large the machine is, which sorting asks */
    "sysinfo",
    /* its name, for the status page */
    "uname",
};

/* Nobody makes these by mistake. */
static const char *const fatal[] = {
    "execve",
    "execveat",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "add_key",
    "request_key",
    "keyctl",
    "open_by_handle_at",
    "personality",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "setfsuid",
    "setfsgid",
    "capset",
    "reboot",
    "swapon",
    "swapoff",
    "iopl",
    "ioperm",
};

static int add(scmp_filter_ctx filter, uint32_t action, const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    return number == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(filter, action, number, 0);
}

static int allow(scmp_filter_ctx filter, int number, struct scmp_arg_cmp argument)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 1, argument);
}

static struct scmp_arg_cmp argument_is(unsigned number, scmp_datum_t value)
{
    return (struct scmp_arg_cmp){.arg = number, .op = SCMP_CMP_EQ, .datum_a = value};
}

/* A thread of this process, never a process; clone3(2) hides its flags, and is done without. */
static int allow_threads(scmp_filter_ctx filter)
{
    const uint64_t thread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
#ifdef SANDBOX_AUDIT /* else it is refused like the rest */
    (void)add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
#endif
    return allow(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, thread, thread));
}

static int allow_memory(scmp_filter_ctx filter)
{
    struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    int error = allow(filter, SCMP_SYS(mmap), no_code);
    return error < 0 ? error : allow(filter, SCMP_SYS(mprotect), no_code);
}

/* abort(3), and a fatal signal that is raised again: for nobody but this process. */
static int allow_itself(scmp_filter_ctx filter)
{
    int error = allow(filter, SCMP_SYS(tgkill), argument_is(0, (scmp_datum_t)getpid()));
    if (error == 0)
        error = allow(filter, SCMP_SYS(prlimit64), argument_is(2, 0)); /* asks, sets not */
    if (error == 0)
        error = allow(filter, SCMP_SYS(prctl), argument_is(0, PR_SET_NAME));
    return error;
}

/* The rings are there, but wait disabled for the loop to run; others could not be restricted. */
static int allow_rings(scmp_filter_ctx filter)
{
    static const unsigned operations[] = {IORING_REGISTER_ENABLE_RINGS, IORING_REGISTER_RING_FDS,
                                          IORING_UNREGISTER_RING_FDS};
    int error = 0;
    for (size_t i = 0; error == 0 && i < COUNT(operations); i++)
        error = allow(filter, SCMP_SYS(io_uring_register), argument_is(1, operations[i]));
    return error;
}

/* A connected datagram socket cannot leave the machine: it finds files only. */
static int allow_syslog(scmp_filter_ctx filter)
{
    int error = allow(filter, SCMP_SYS(socket), argument_is(0, AF_UNIX));
    return error < 0 ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(connect), 0);
}

static int add_all(scmp_filter_ctx filter, const struct sandbox_options *options)
{
    int error = 0;
    for (size_t i = 0; error == 0 && i < COUNT(allowed); i++)
        error = add(filter, SCMP_ACT_ALLOW, allowed[i]);
    for (size_t i = 0; error == 0 && i < COUNT(fatal); i++)
        error = add(filter, SCMP_ACT_KILL_PROCESS, fatal[i]);
    if (error == 0)
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, CACHESTAT, 0);
    if (error == 0)
        error = allow_threads(filter);
    if (error == 0)
        error = allow_memory(filter);
    if (error == 0)
        error = allow_itself(filter);
    if (error == 0)
        error = allow_rings(filter);
    if (error == 0 && options->reconnects_syslog)
        error = allow_syslog(filter);
    return error;
}

const char *sandbox_absence(void)
{
    return NULL;
}

int sandbox_enter(const struct sandbox_options *options)
{
    scmp_filter_ctx filter = seccomp_init(OTHERWISE);
    if (filter == NULL)
        return -ENOMEM;
    int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (error == 0) /* threads of the work pool that there are already */
        error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (error == 0)
        error = add_all(filter, options);
    if (error == 0)
        error = seccomp_load(filter);
    seccomp_release(filter);
    return error == -EINVAL ? -ENOSYS : error;
}

#else

const char *sandbox_absence(void)
{
#ifdef SANITIZED
    return "a sanitizer, which needs more, is built in";
#else
    return "libseccomp is not built in";
#endif
}

int sandbox_enter(const struct sandbox_options *options)
{
    (void)options;
    return -ENOSYS;
}

#endif
