/* SPDX-License-Identifier: MIT */
/*
 * Lets one allocation of one process fail, by standing in front of the C library's functions:
 * preloaded by test_allocations.py, which says which one through the file that
 * EVIXD_ALLOCATIONS names. Does not see memory that is mapped.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the test writes, but for the counts; master and workers share the page. */
struct plan {
    _Atomic long pid;      /* whose allocations count; 0: nobody's */
    _Atomic long first;    /* the number of the first one that fails; 0: none does */
    _Atomic long failures; /* so many in a row */
    _Atomic long count;    /* of allocations since it was set to 0 */
};

static struct plan unmapped;
static struct plan *plan = &unmapped;

static void map_plan(void)
{
    const char *path = getenv("EVIXD_ALLOCATIONS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *memory = mmap(NULL, sizeof(unmapped), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory != MAP_FAILED)
        plan = memory;
}

static bool fails(void)
{
    if (plan->pid != getpid())
        return false;
    long number = atomic_fetch_add(&plan->count, 1) + 1;
    long first = plan->first;
    return first != 0 && number >= first && number < first + plan->failures;
}

/*
 * Whoever is loaded first may allocate before there is anything to allocate with: a sanitizer, for
 * one, while it looks for the functions that it stands in front of itself.
 */
static char early[1 << 18];
static size_t early_used;

static void *take_early(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof(early) - early_used)
        abort();
    early_used += size;
    return early + early_used - size;
}

static size_t early_left(const void *memory)
{
    const char *at = memory;
    return at >= early && at < early + sizeof(early) ? (size_t)(early + sizeof(early) - at) : 0;
}

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
} real;

__attribute__((constructor)) static void begin(void)
{
    map_plan();
    real.calloc = dlsym(RTLD_NEXT, "calloc");
    real.realloc = dlsym(RTLD_NEXT, "realloc");
    real.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    real.free = dlsym(RTLD_NEXT, "free");
    real.malloc = dlsym(RTLD_NEXT, "malloc");
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    if (!real.malloc)
        return take_early(size);
    return fails() ? no_memory() : real.malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!real.malloc)
        return take_early(count * size);
    return fails() ? no_memory() : real.calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    size_t left = early_left(memory);
    if (real.malloc && left == 0)
        return fails() ? no_memory() : real.realloc(memory, size);
    void *larger = malloc(size);
    if (larger && memory)
        memcpy(larger, memory, size < left ? size : left);
    return larger;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!real.malloc)
        return ENOMEM;
    return fails() ? ENOMEM : real.posix_memalign(out, alignment, size);
}

void free(void *memory)
{
    if (real.malloc && early_left(memory) == 0)
        real.free(memory);
}
