/* SPDX-License-Identifier: MIT */
/*
 * Stands before the C library's preadv2(2), and answers what is asked of memory alone.
 * It knows no files: a range holds for every descriptor.
 * Called by what is tested, in place of the C library.
 */
#include "fake_page_cache.h"

#include <check.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ASKED_MAX 64

static struct {
    enum { THE_KERNELS, A_RANGE, NOT_TOLD } answer;
    uint64_t from, to;
    uint64_t asked[ASKED_MAX];
    size_t count;
} pages;

void pages_are(uint64_t from, uint64_t to)
{
    pages.answer = A_RANGE;
    pages.from = from;
    pages.to = to;
    pages.count = 0;
}

void pages_are_not_told(void)
{
    pages.answer = NOT_TOLD;
    pages.count = 0;
}

void pages_are_the_kernels(void)
{
    pages.answer = THE_KERNELS;
    pages.count = 0;
}

size_t pages_asked(void)
{
    return pages.count;
}

uint64_t pages_asked_last_byte(size_t number)
{
    ck_assert_uint_lt(number, pages.count);
    ck_assert_uint_lt(number, ASKED_MAX);
    return pages.asked[number];
}

static ssize_t refuse(int error)
{
    errno = error;
    return -1;
}

/* One buffer, as everywhere in src/files; a read that begins in the range ends with it. */
static ssize_t answer(int fd, const struct iovec *iov, uint64_t offset)
{
    if (pages.count < ASKED_MAX)
        pages.asked[pages.count] = offset + iov->iov_len - 1;
    pages.count++;
    if (pages.answer == NOT_TOLD)
        return refuse(EOPNOTSUPP);
    if (offset < pages.from || offset >= pages.to)
        return refuse(EAGAIN);
    uint64_t room = pages.to - offset;
    return pread(fd, iov->iov_base, iov->iov_len < room ? iov->iov_len : room, (off_t)offset);
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
    if ((flags & RWF_NOWAIT) != 0 && pages.answer != THE_KERNELS) {
        ck_assert_int_eq(count, 1);
        return answer(fd, iov, (uint64_t)offset);
    }
    return syscall(SYS_preadv2, fd, iov, count, (long)offset, (long)((uint64_t)offset >> 32),
                   flags);
}
