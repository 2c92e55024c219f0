/* SPDX-License-Identifier: MIT */
/*
 * A file system in user space that shows the files of one folder, and sleeps: every look at a name
 * takes a seek, every read the time that a slow disk takes for so many bytes, one after the other;
 * what was looked at before is not asked for again. Read-only, flat, spoken straight to /dev/fuse.
 * For tests of cold files and scripts/wrk/coldisk: slow_files SOURCE MOUNTPOINT BYTES_A_SECOND (as
 * root; TERM unmounts and ends it)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    FILES = 1024,
    FIRST_FILE = FUSE_ROOT_ID + 1,
    BUFFER_BYTES = 1 << 18,
    THREADS = 64,    /* more than the kernel asks for at once, for 16 readers */
    CACHED_S = 3600, /* names and attributes are asked for once */
};
#define SEEK_NS 10000000L

static struct {
    char *name;
    int fd;
} files[FILES];
static size_t file_count;
static const char *mountpoint;
static long rate;
static int device;

/* When the disk will have done all that it was asked for. */
static struct timespec disk_free;
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what)
{
    fprintf(stderr, "slow_files: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Waits for the disk to do what takes it so long, after all that it was asked for before. */
static void disk_work(int64_t ns)
{
    struct timespec now, done;
    pthread_mutex_lock(&disk_lock);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (disk_free.tv_sec < now.tv_sec ||
        (disk_free.tv_sec == now.tv_sec && disk_free.tv_nsec < now.tv_nsec))
        disk_free = now;
    ns += disk_free.tv_nsec;
    disk_free.tv_sec += ns / 1000000000;
    disk_free.tv_nsec = ns % 1000000000;
    done = disk_free;
    pthread_mutex_unlock(&disk_lock);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &done, NULL) == EINTR)
        ;
}

/* The kernel forgets a request whose process was killed: then the answer is refused, rightly. */
static void answer(uint64_t unique, int error, const void *data, size_t length)
{
    struct fuse_out_header head = {
        .len = (uint32_t)(sizeof(head) + length), .error = error, .unique = unique};
    struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)data, length}};
    if (writev(device, parts, 2) < 0 && errno != ENOENT)
        fail("answer");
}

static int fill_attributes(uint64_t node, struct fuse_attr *out)
{
    struct stat found = {.st_mode = S_IFDIR | 0555, .st_nlink = 2};
    if (node != FUSE_ROOT_ID) {
        if (node - FIRST_FILE >= file_count)
            return -ENOENT;
        if (fstat(files[node - FIRST_FILE].fd, &found) < 0)
            return -errno;
    }
    *out = (struct fuse_attr){
        .ino = node,
        .size = (uint64_t)found.st_size,
        .blocks = (uint64_t)found.st_blocks,
        .mtime = (uint64_t)found.st_mtim.tv_sec,
        .mtimensec = (uint32_t)found.st_mtim.tv_nsec,
        .ctime = (uint64_t)found.st_ctim.tv_sec,
        .mode = found.st_mode,
        .nlink = (uint32_t)found.st_nlink,
    };
    return 0;
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
    struct fuse_entry_out out = {.entry_valid = CACHED_S, .attr_valid = CACHED_S};
    disk_work(SEEK_NS);
    for (size_t i = 0; i < file_count; i++) {
        if (strcmp(files[i].name, name) != 0)
            continue;
        out.nodeid = FIRST_FILE + i;
        int error = fill_attributes(out.nodeid, &out.attr);
        answer(in->unique, error, &out, error < 0 ? 0 : sizeof(out));
        return;
    }
    out = (struct fuse_entry_out){.entry_valid = CACHED_S}; /* node 0: there is none, remember it */
    answer(in->unique, 0, &out, sizeof(out));
}

static void get_attributes(const struct fuse_in_header *in)
{
    struct fuse_attr_out out = {.attr_valid = CACHED_S};
    int error = fill_attributes(in->nodeid, &out.attr);
    answer(in->unique, error, &out, error < 0 ? 0 : sizeof(out));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *wanted)
{
    static _Thread_local char data[BUFFER_BYTES];
    size_t size = wanted->size < sizeof(data) ? wanted->size : sizeof(data);
    if (in->nodeid < FIRST_FILE || in->nodeid - FIRST_FILE >= file_count) {
        answer(in->unique, -EISDIR, NULL, 0);
        return;
    }
    ssize_t got = pread(files[in->nodeid - FIRST_FILE].fd, data, size, (off_t)wanted->offset);
    if (got > 0)
        disk_work(got * INT64_C(1000000000) / rate);
    answer(in->unique, got < 0 ? -errno : 0, data, got < 0 ? 0 : (size_t)got);
}

/* Offsets are numbers of files: 0 begins with the first. */
static void read_folder(const struct fuse_in_header *in, const struct fuse_read_in *wanted)
{
    static _Thread_local char data[BUFFER_BYTES];
    size_t used = 0;
    for (size_t i = (size_t)wanted->offset; i < file_count; i++) {
        size_t length = strlen(files[i].name);
        size_t bytes = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
        if (used + bytes > wanted->size || used + bytes > sizeof(data))
            break;
        struct fuse_dirent head = {
            .ino = FIRST_FILE + i, .off = i + 1, .namelen = (uint32_t)length, .type = DT_REG};
        memset(data + used, 0, bytes);
        memcpy(data + used, &head, FUSE_NAME_OFFSET);
        memcpy(data + used + FUSE_NAME_OFFSET, files[i].name, length);
        used += bytes;
    }
    answer(in->unique, 0, data, used);
}

static void initialise(const struct fuse_in_header *in, const struct fuse_init_in *kernel)
{
    struct fuse_init_out out = {
        .major = FUSE_KERNEL_VERSION,
        .minor = FUSE_KERNEL_MINOR_VERSION,
        .max_readahead = kernel->max_readahead,
        .max_write = 4096,
        .flags = kernel->flags & (FUSE_ASYNC_READ | FUSE_NO_OPEN_SUPPORT | FUSE_NO_OPENDIR_SUPPORT),
    };
    answer(in->unique, 0, &out, sizeof(out));
}

static void dispatch(const struct fuse_in_header *in)
{
    const void *body = in + 1;
    switch (in->opcode) {
    case FUSE_INIT:
        initialise(in, body);
        break;
    case FUSE_LOOKUP:
        look_up(in, body);
        break;
    case FUSE_GETATTR:
        get_attributes(in);
        break;
    case FUSE_READ:
        read_file(in, body);
        break;
    case FUSE_READDIR:
        read_folder(in, body);
        break;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
        answer(in->unique, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break; /* these want no answer */
    default:
        answer(in->unique, -ENOSYS, NULL, 0); /* of opening, too: then it is not asked for again */
    }
}

static void on_term(int number)
{
    (void)number;
    umount2(mountpoint, MNT_DETACH);
    _exit(0); /* closes the device: whoever waits for a read gets an error */
}

static void open_files(const char *source)
{
    DIR *folder = opendir(source);
    if (!folder)
        fail(source);
    struct dirent *entry;
    while ((entry = readdir(folder)) && file_count < FILES) {
        if (entry->d_name[0] == '.')
            continue;
        files[file_count].fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
        files[file_count].name = strdup(entry->d_name);
        if (files[file_count].fd < 0 || !files[file_count].name)
            fail(entry->d_name);
        file_count++;
    }
    closedir(folder);
}

static void mount_device(void)
{
    char options[128];
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0)
        fail("/dev/fuse");
    snprintf(options, sizeof(options), "fd=%d,rootmode=40555,user_id=0,group_id=0,allow_other",
             device);
    if (mount("slow_files", mountpoint, "fuse", MS_NOSUID | MS_NODEV | MS_RDONLY, options) < 0)
        fail(mountpoint);
}

static void *serve(void *unused)
{
    static _Thread_local char buffer[BUFFER_BYTES];
    (void)unused;
    for (;;) {
        ssize_t got = read(device, buffer, sizeof(buffer));
        if (got < 0 && errno == ENODEV)
            exit(0); /* unmounted by somebody else */
        if (got < 0 && errno != EINTR && errno != ENOENT)
            fail("read");
        if (got >= (ssize_t)sizeof(struct fuse_in_header))
            dispatch((const struct fuse_in_header *)(const void *)buffer);
    }
}

int main(int argc, char **argv)
{
    rate = argc == 4 ? atol(argv[3]) : 0;
    if (rate <= 0) {
        fprintf(stderr, "usage: slow_files SOURCE MOUNTPOINT BYTES_A_SECOND\n");
        return 1;
    }
    mountpoint = argv[2];
    open_files(argv[1]);
    mount_device();
    signal(SIGTERM, on_term);
    printf("mounted\n");
    fflush(stdout);
    for (int i = 1; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, NULL) != 0)
            fail("pthread_create");
    }
    serve(NULL);
    return 0;
}
