/* SPDX-License-Identifier: MIT */
/*
 * Counts the instructions that a worker of evixd runs in user space for a request, by stepping
 * through it with ptrace(2): exact, on the real program and every backend, where a virtual machine
 * has no counters and valgrind knows no io_uring. It measures no time and nothing in the kernel.
 * Run by scripts/wrk/instructions: steps PID PORT REQUESTS <request
 *
 * Prints a line `request N` of instructions for each request, then `at ADDRESS N` for each address
 * that was run, N over all requests. Exits with 77 where processes cannot be stepped through.
 */
#include <arpa/inet.h>
#include <elf.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define PROGRAM_COUNTER rip
#elif defined(__aarch64__)
#define PROGRAM_COUNTER pc
#endif

enum {
    SKIP = 77,
    REQUEST_BYTES = 4096,
    RESPONSE_BYTES = 65536,
    REQUESTS = 256,
    ADDRESSES = 1 << 16, /* of different instructions run; a request runs some thousand */
};

/* Requests answered so far, written by the client and read by the one who steps. */
static volatile int *answered;

static char request[REQUEST_BYTES];
static size_t request_bytes;

struct count {
    uint64_t address;
    unsigned long times;
};
static struct count counts[ADDRESSES];
static unsigned long instructions[REQUESTS + 1];

static void fail(const char *what)
{
    fprintf(stderr, "steps: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void count_address(uint64_t address)
{
    size_t slot = (address * 0x9E3779B97F4A7C15ULL) >> 48;
    while (counts[slot].times > 0 && counts[slot].address != address)
        slot = (slot + 1) % ADDRESSES;
    counts[slot].address = address;
    counts[slot].times++;
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        fail("connect");
    return fd;
}

/* The length of a response, once its head is whole; 0 before that. */
static size_t response_length(const char *data)
{
    const char *end = strstr(data, "\r\n\r\n");
    if (!end)
        return 0;
    const char *field = strcasestr(data, "\r\nContent-Length:");
    size_t body =
        field && field < end ? strtoul(field + strlen("\r\nContent-Length:"), NULL, 10) : 0;
    bool bodiless = strncmp(data, "HTTP/1.1 304", 12) == 0;
    return (size_t)(end - data) + 4 + (bodiless ? 0 : body);
}

static void ask(int fd)
{
    static char data[RESPONSE_BYTES];
    size_t length = 0, whole = 0;
    if (write(fd, request, request_bytes) != (ssize_t)request_bytes)
        fail("write");
    do {
        ssize_t got = read(fd, data + length, sizeof(data) - 1 - length);
        if (got <= 0)
            fail("the response ended early");
        length += (size_t)got;
        data[length] = '\0';
        whole = response_length(data);
    } while (whole == 0 || length < whole);
}

/* The letter of /proc/PID/stat, after the name in brackets: S if it waits in a system call, t while
 * it is being stepped through. */
static char state_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, sizeof(text), file))
        fail(path);
    fclose(file);
    const char *bracket = strrchr(text, ')');
    return bracket ? bracket[2] : '?';
}

/* Nothing of a request is left to do once the worker waits again. */
static void wait_until_waiting(pid_t pid)
{
    while (state_of(pid) != 'S') {
        struct timespec pause = {.tv_nsec = 200000};
        nanosleep(&pause, NULL);
    }
}

static void run_client(pid_t worker, uint16_t port, int requests)
{
    int fd = connect_to(port);
    for (int i = 0; i < requests; i++) {
        ask(fd);
        wait_until_waiting(worker);
        *answered = i + 1;
    }
    _exit(0);
}

#ifdef PROGRAM_COUNTER
static uint64_t program_counter(pid_t pid)
{
    struct user_regs_struct registers;
    struct iovec place = {&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &place) < 0)
        fail("PTRACE_GETREGSET");
    return registers.PROGRAM_COUNTER;
}

/* A repeated string instruction stops after each round: it counts once. */
static void count_step(pid_t pid)
{
    static uint64_t last;
    uint64_t now = program_counter(pid);
    if (now == last)
        return;
    last = now;
    int current = *answered;
    if (current == 0)
        return; /* the first one accepts the connection and fills the cache */
    instructions[current]++;
    count_address(now);
}

/* Not while it runs a step: the trap of that would end it. */
static void detach(pid_t worker)
{
    ptrace(PTRACE_INTERRUPT, worker, 0, 0);
    waitpid(worker, NULL, __WALL);
    ptrace(PTRACE_DETACH, worker, 0, 0);
}

/* From one stop to the next, until the client has ended. What is no step is a signal, handed on. */
static void step_until_gone(pid_t worker, pid_t client)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid == client) {
            detach(worker);
            if (status != 0)
                exit(1);
            return;
        }
        if (pid != worker || !WIFSTOPPED(status))
            fail("the worker ended");
        int number = status >> 16 ? 0 : WSTOPSIG(status);
        count_step(worker);
        if (ptrace(PTRACE_SINGLESTEP, worker, 0, number == SIGTRAP ? 0 : number) < 0)
            fail("PTRACE_SINGLESTEP");
    }
}

static void attach(pid_t worker)
{
    if (ptrace(PTRACE_SEIZE, worker, 0, 0) < 0) {
        fprintf(stderr, "steps: the worker cannot be traced: %s\n", strerror(errno));
        exit(SKIP);
    }
    if (ptrace(PTRACE_INTERRUPT, worker, 0, 0) < 0)
        fail("PTRACE_INTERRUPT");
}
#else
static void step_until_gone(pid_t worker, pid_t client)
{
    (void)worker;
    (void)client;
}

static void attach(pid_t worker)
{
    (void)worker;
    fprintf(stderr, "steps: not on this architecture\n");
    exit(SKIP);
}
#endif

int main(int argc, char **argv)
{
    int requests = argc == 4 ? atoi(argv[3]) : 0;
    if (requests < 2 || requests > REQUESTS) {
        fprintf(stderr, "usage: steps PID PORT REQUESTS <request   (2 to %d)\n", REQUESTS);
        return 1;
    }
    pid_t worker = (pid_t)atoi(argv[1]);
    uint16_t port = (uint16_t)atoi(argv[2]);
    request_bytes = fread(request, 1, sizeof(request), stdin);
    answered =
        mmap(NULL, sizeof(*answered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answered == MAP_FAILED)
        fail("mmap");
    attach(worker);
    pid_t client = fork();
    if (client < 0)
        fail("fork");
    if (client == 0)
        run_client(worker, port, requests);
    step_until_gone(worker, client);
    for (int i = 1; i < requests; i++)
        printf("request %lu\n", instructions[i]);
    for (size_t i = 0; i < ADDRESSES; i++) {
        if (counts[i].times > 0)
            printf("at %llx %lu\n", (unsigned long long)counts[i].address, counts[i].times);
    }
    return 0;
}
