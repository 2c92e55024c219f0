/* SPDX-License-Identifier: MIT */
/* The buffered access log of a worker: server/access_log.h. */

#include "server/access_log.h"
#include "server/counters.h"

#include <evix/loop.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static char path[96];
static char rotated[96];
static char last_line[LOG_LINE_BYTES + 1];
static unsigned line_count;
static struct evix_loop *loop;
static struct access_log access_log;
static int saved_stdout = -1;

static void on_line(void *data, enum log_level level, const char *line, size_t length)
{
    (void)data;
    (void)level;
    memcpy(last_line, line, length + 1);
    line_count++;
}

static struct counters_slot slot;

static void set_up(void)
{
    memset(&slot, 0, sizeof(slot)); /* cases may share a process */
    strcpy(folder, "/tmp/evixd-accesslog-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/access.log", folder);
    snprintf(rotated, sizeof(rotated), "%s/access.log.1", folder);
    log_set_sink(on_line, NULL);
    line_count = 0;
    last_line[0] = '\0';
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(evix_loop_new(&loop, NULL), 0);
    saved_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    ck_assert_int_ge(saved_stdout, 0);
}

static void tear_down(void)
{
    evix_loop_free(&loop);
    dup2(saved_stdout, STDOUT_FILENO);
    close(saved_stdout);
    unlink(path);
    unlink(rotated);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const struct config_access_log to_file = {CONFIG_TARGET_FILE, path, CONFIG_LOG_CUSTOM,
                                                 "%U %{User-Agent}i"};
static const struct config_access_log to_stdout = {CONFIG_TARGET_STDOUT, "", CONFIG_LOG_CUSTOM,
                                                   "%U %{User-Agent}i"};

/* A line "/NUMBER xxx", with as many x as asked for. */
static void write_record(struct access_log *log, unsigned number, size_t length)
{
    static char agent[2 * LOG_VALUE_BYTES];
    char target[24];
    memset(agent, 'x', sizeof(agent));
    snprintf(target, sizeof(target), "/%u", number);
    struct access_record record = {
        .target = http_text_of(target),
        .user_agent = {agent, length},
    };
    access_log_write(log, &record);
}

static char *read_file(const char *name, size_t *length)
{
    struct stat status;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &status), 0);
    char *text = calloc(1, (size_t)status.st_size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(read(fd, text, (size_t)status.st_size), status.st_size);
    close(fd);
    *length = (size_t)status.st_size;
    return text;
}

static void assert_file(const char *name, const char *expected)
{
    size_t length;
    char *text = read_file(name, &length);
    ck_assert_str_eq(text, expected);
    free(text);
}

/* Every line is whole: a number, a space, `length` times x. Returns how many there are. */
static unsigned count_whole_lines(const char *text, size_t length)
{
    unsigned count = 0;
    for (const char *at = text; *at != '\0'; count++) {
        const char *end = strchr(at, '\n');
        const char *space = strchr(at, ' ');
        ck_assert_ptr_nonnull(end);
        ck_assert_ptr_nonnull(space);
        ck_assert_int_eq(*at, '/');
        ck_assert_uint_eq((size_t)(end - space - 1), length);
        ck_assert_uint_eq(strspn(space + 1, "x"), length);
        at = end + 1;
    }
    return count;
}

START_TEST(log_that_is_off_does_nothing)
{
    static const struct config_access_log off = {CONFIG_TARGET_OFF, "", CONFIG_LOG_COMBINED,
                                                 "combined"};
    ck_assert_int_eq(access_log_open(&access_log, loop, &off), 0);
    ck_assert(!access_log_is_on(&access_log));
    write_record(&access_log, 1, 3);
    access_log_flush(&access_log);
    ck_assert_int_eq(access_log_reopen(&access_log), 0);
    access_log_close(&access_log);
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
}
END_TEST

/* Buffered, and on disk after a second at the latest, without anybody asking. */
START_TEST(lines_are_flushed_by_time)
{
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    ck_assert(access_log_is_on(&access_log));
    write_record(&access_log, 1, 3);
    write_record(&access_log, 2, 1);
    assert_file(path, "");
    uint64_t start_ms = evix_now_ms(loop);
    evix_ref(&access_log.flush_timer.handle); /* so that the loop waits for it */
    ck_assert_int_eq(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_le(evix_now_ms(loop) - start_ms, 5000);
    ck_assert_uint_ge(evix_now_ms(loop) - start_ms, 900);
    assert_file(path, "/1 xxx\n/2 x\n");
    access_log_close(&access_log);
}
END_TEST

/* A worker that is done does not hang on for its log. */
START_TEST(pending_flush_does_not_keep_the_loop)
{
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    write_record(&access_log, 1, 3);
    ck_assert(!evix_loop_alive(loop));
    access_log_close(&access_log);
    assert_file(path, "/1 xxx\n");
    access_log_close(&access_log);
}
END_TEST

START_TEST(full_buffer_is_written_in_whole_lines)
{
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    for (unsigned i = 0; i < 5000; i++)
        write_record(&access_log, i, 50);
    size_t length;
    char *text = read_file(path, &length);
    ck_assert_uint_gt(length, ACCESS_LOG_BUFFER_BYTES);
    count_whole_lines(text, 50);
    free(text);
    access_log_close(&access_log);
    text = read_file(path, &length);
    ck_assert_uint_eq(count_whole_lines(text, 50), 5000);
    free(text);
    ck_assert_uint_eq(line_count, 0);
}
END_TEST

/* Several workers, one file, no line torn or lost. */
START_TEST(processes_share_a_file)
{
    for (int worker = 0; worker < 4; worker++) {
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid != 0)
            continue;
        if (access_log_open(&access_log, loop, &to_file) != 0)
            _exit(1);
        for (unsigned i = 0; i < 3000; i++) {
            write_record(&access_log, i, 70);
            if (i % 100 == 0)
                access_log_flush(&access_log);
        }
        access_log_close(&access_log);
        _exit(0);
    }
    for (int worker = 0; worker < 4; worker++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    size_t length;
    char *text = read_file(path, &length);
    ck_assert_uint_eq(count_whole_lines(text, 70), 4 * 3000);
    free(text);
}
END_TEST

/* What was logged before a rotation stays in the old file, the rest goes to the new one. */
START_TEST(rotation_loses_nothing)
{
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    write_record(&access_log, 1, 1);
    ck_assert_int_eq(rename(path, rotated), 0);
    write_record(&access_log, 2, 1);
    ck_assert_int_eq(access_log_reopen(&access_log), 0);
    write_record(&access_log, 3, 1);
    access_log_close(&access_log);
    assert_file(rotated, "/1 x\n/2 x\n");
    assert_file(path, "/3 x\n");
}
END_TEST

START_TEST(failed_reopening_keeps_the_old_file)
{
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    ck_assert_int_eq(rename(path, rotated), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(access_log_reopen(&access_log), -EISDIR);
    ck_assert_ptr_nonnull(strstr(last_line, "the old file stays in use"));
    write_record(&access_log, 1, 1);
    access_log_close(&access_log);
    assert_file(rotated, "/1 x\n");
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(unusable_path_is_an_error)
{
    static const struct config_access_log missing = {CONFIG_TARGET_FILE, "/nonexistent/x",
                                                     CONFIG_LOG_JSON, "json"};
    ck_assert_int_eq(access_log_open(&access_log, loop, &missing), -ENOENT);
    ck_assert_ptr_nonnull(strstr(last_line, "/nonexistent/x"));
    ck_assert(!access_log_is_on(&access_log));
    access_log_close(&access_log);
}
END_TEST

/* Where it is to be lived with, it is said once, and the lines go to the file once it can be. */
START_TEST(path_that_is_usable_later)
{
    char name[sizeof(path) + 8];
    struct config_access_log later = {CONFIG_TARGET_FILE, name, CONFIG_LOG_CUSTOM,
                                      "%U %{User-Agent}i"};

    snprintf(name, sizeof(name), "%s/later", path);
    ck_assert_int_eq(access_log_open_patiently(&access_log, loop, &later), 0);
    ck_assert(access_log_is_on(&access_log));
    write_record(&access_log, 1, 3);
    access_log_flush(&access_log);
    ck_assert_uint_eq(line_count, 1);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    access_log_flush(&access_log);
    assert_file(name, "/1 xxx\n");
    ck_assert_uint_eq(line_count, 2);
    ck_assert_ptr_nonnull(strstr(last_line, "written again"));
    access_log_close(&access_log);
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* /dev/full fails as a full disk does. */
START_TEST(full_disk_is_said_once)
{
    static const struct config_access_log full = {CONFIG_TARGET_FILE, "/dev/full",
                                                  CONFIG_LOG_CUSTOM, "%U %{User-Agent}i"};
    ck_assert_int_eq(access_log_open(&access_log, loop, &full), 0);
    for (unsigned i = 0; i < 20000; i++)
        write_record(&access_log, i, 50);
    access_log_flush(&access_log);
    ck_assert_uint_eq(line_count, 1);
    ck_assert_ptr_nonnull(strstr(last_line, "No space left on device"));
    access_log_close(&access_log);
    ck_assert_uint_eq(line_count, 2);
    ck_assert_ptr_nonnull(strstr(last_line, "20000 lines were lost"));
}
END_TEST

/*
 * A disk that fills in the middle of a line (here: a limit of the file's size, which is met by a
 * short write), and that has room again: the line goes on where it broke off, and the loss is told.
 */
START_TEST(lines_go_on_when_there_is_room_again)
{
    struct rlimit limit, narrow;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    narrow = limit;
    narrow.rlim_cur = 1000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &narrow), 0);
    for (unsigned i = 0; i < 20000; i++)
        write_record(&access_log, i, 50);
    access_log_flush(&access_log);
    ck_assert_uint_eq(line_count, 1);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    access_log_flush(&access_log);
    ck_assert_uint_eq(line_count, 2);
    unsigned lost = 0;
    const char *told = strstr(last_line, "written again, ");
    ck_assert_ptr_nonnull(told);
    ck_assert_int_eq(sscanf(told, "written again, %u lines were lost", &lost), 1);
    access_log_close(&access_log);

    size_t length;
    char *text = read_file(path, &length);
    unsigned kept = count_whole_lines(text, 50);
    ck_assert_uint_ge(kept, 1000);
    ck_assert_uint_eq(kept + lost, 20000);
    free(text);
}
END_TEST

/* A disk that is full once a file has so many bytes. Gives what has to be set afterwards. */
static void narrow_files(struct rlimit *limit, rlim_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, limit), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, limit->rlim_max}), 0);
}

static void append_to_file(const char *text)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A rotation while a line is broken off: the new file has it whole. */
START_TEST(broken_line_does_not_cross_a_rotation)
{
    struct rlimit limit, narrow;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    narrow = limit;
    narrow.rlim_cur = 8;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &narrow), 0);
    write_record(&access_log, 1, 10);
    write_record(&access_log, 2, 3);
    access_log_flush(&access_log);
    ck_assert_int_eq(rename(path, rotated), 0);
    ck_assert_int_eq(access_log_reopen(&access_log), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    access_log_close(&access_log);
    assert_file(path, "/1 xxxxxxxxxx\n/2 xxx\n");
    assert_file(rotated, "/1 xxxxx");
}
END_TEST

/* Told to open its file anew, which is the same one: the line goes on there. */
START_TEST(broken_line_goes_on_in_the_same_file)
{
    struct rlimit limit;
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    narrow_files(&limit, 8);
    write_record(&access_log, 1, 10);
    write_record(&access_log, 2, 3);
    access_log_flush(&access_log);
    ck_assert_int_eq(access_log_reopen(&access_log), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    access_log_close(&access_log);
    assert_file(path, "/1 xxxxxxxxxx\n/2 xxx\n");
}
END_TEST

/* Another worker's line came behind the broken one: that is written once more, and whole. */
START_TEST(broken_line_that_others_follow)
{
    struct rlimit limit;
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    narrow_files(&limit, 8);
    write_record(&access_log, 1, 10);
    access_log_flush(&access_log);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    append_to_file("\n/7 other\n/8 torn");
    access_log_close(&access_log);
    assert_file(path, "/1 xxxxx\n/7 other\n/8 torn\n/1 xxxxxxxxxx\n");
}
END_TEST

/* A line that another process left unfinished does not take ours along. */
START_TEST(file_that_ends_inside_a_line)
{
    append_to_file("/1 xx");
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    write_record(&access_log, 2, 3);
    access_log_flush(&access_log);
    write_record(&access_log, 3, 1);
    access_log_close(&access_log);
    assert_file(path, "/1 xx\n/2 xxx\n/3 x\n");
}
END_TEST

/* Standard output becomes a pipe; returns its other end. */
static int capture_stdout(void)
{
    int pair[2];
    ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
    ck_assert_int_eq(dup2(pair[1], STDOUT_FILENO), STDOUT_FILENO);
    close(pair[1]);
    return pair[0];
}

/* Nobody reads: the pipe fills, then the buffer, then lines are lost; nobody waits. */
START_TEST(stuck_pipe_does_not_stop_us)
{
    int reader = capture_stdout();
    static char text[1 << 20];
    size_t length = 0;
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_stdout), 0);
    for (unsigned i = 0; i < 20000; i++)
        write_record(&access_log, i, 50);
    access_log_flush(&access_log);
    ck_assert_uint_eq(line_count, 1);
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0); /* it is not ours alone */

    ck_assert_int_eq(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
    for (int round = 0; round < 100; round++) {
        ssize_t got;
        while ((got = read(reader, text + length, sizeof(text) - 1 - length)) > 0)
            length += (size_t)got;
        access_log_flush(&access_log);
    }
    ck_assert_ptr_nonnull(strstr(last_line, "written again"));
    text[length] = '\0';
    ck_assert_uint_ge(count_whole_lines(text, 50), 1500);
    access_log_close(&access_log);
    close(reader);
}
END_TEST

START_TEST(reader_that_has_gone_does_not_end_us)
{
    int reader = capture_stdout();
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_stdout), 0);
    write_record(&access_log, 1, 5);
    close(reader);
    access_log_flush(&access_log);
    ck_assert_ptr_nonnull(strstr(last_line, "Broken pipe"));
    access_log_close(&access_log);
}
END_TEST

static const struct config_access_log wide = {
    CONFIG_TARGET_FILE, path, CONFIG_LOG_CUSTOM,
    "%U %{User-Agent}i|%{User-Agent}i|%{User-Agent}i|%{User-Agent}i|%{User-Agent}i"};

/* Longer than the buffer: its values are cut, all alike, and the lines around it are not touched.
 */
START_TEST(line_longer_than_the_buffer)
{
    size_t length;
    ck_assert_int_eq(access_log_open(&access_log, loop, &wide), 0);
    access_log_count_in(&access_log, &slot);
    write_record(&access_log, 1, 1);
    write_record(&access_log, 2, LOG_VALUE_BYTES - 3);
    write_record(&access_log, 3, 1);
    ck_assert_uint_eq(line_count, 0);
    access_log_close(&access_log);
    ck_assert_uint_eq(line_count, 0);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_CUT], 1);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_LOST], 0);

    char *text = read_file(path, &length);
    char *second = strchr(text, '\n') + 1;
    char *third = strchr(second, '\n') + 1;
    ck_assert_int_eq(strncmp(text, "/1 x|x|x|x|x\n", (size_t)(second - text)), 0);
    ck_assert_str_eq(third, "/3 x|x|x|x|x\n");
    ck_assert_uint_le((size_t)(third - second), ACCESS_LOG_BUFFER_BYTES);
    ck_assert_uint_ge((size_t)(third - second), ACCESS_LOG_BUFFER_BYTES / 2);
    for (char *value = second + 3; value < third; value = strpbrk(value, "|\n") + 1) {
        ck_assert_uint_eq(strspn(value, "x"), LOG_VALUE_BYTES / 2 - 3);
        ck_assert_int_eq(strncmp(value + strspn(value, "x"), "...", 3), 0);
    }
    free(text);
}
END_TEST

/* A line is counted once, whether one value of it is cut or five, and when it waited for room. */
START_TEST(lines_with_cut_values_are_counted)
{
    static const struct config_access_log five = {
        CONFIG_TARGET_FILE, path, CONFIG_LOG_CUSTOM,
        "%{User-Agent}i%{User-Agent}i%{User-Agent}i%{User-Agent}i%{User-Agent}i"};
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_file), 0);
    access_log_count_in(&access_log, &slot);
    for (unsigned i = 0; i < 50; i++) {
        write_record(&access_log, i, LOG_VALUE_BYTES - 3);
        write_record(&access_log, i, 2 * LOG_VALUE_BYTES);
    }
    access_log_close(&access_log);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_CUT], 50);

    ck_assert_int_eq(access_log_open(&access_log, loop, &five), 0);
    access_log_count_in(&access_log, &slot);
    write_record(&access_log, 1, 2 * LOG_VALUE_BYTES);
    access_log_close(&access_log);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_CUT], 51);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_LOST], 0);
}
END_TEST

/* While such lines come again and again, those of others are all there. */
START_TEST(long_lines_take_no_others_along)
{
    size_t length;
    ck_assert_int_eq(access_log_open(&access_log, loop, &wide), 0);
    for (unsigned i = 0; i < 4000; i++)
        write_record(&access_log, i, i % 100 == 0 ? LOG_VALUE_BYTES - 3 : 20);
    access_log_close(&access_log);
    ck_assert_uint_eq(line_count, 0);
    char *text = read_file(path, &length);
    char *at = text;
    for (unsigned i = 0; i < 4000; i++) {
        char *end;
        ck_assert_int_eq(*at, '/');
        ck_assert_uint_eq(strtoul(at + 1, &end, 10), i);
        at = strchr(end, '\n') + 1;
    }
    ck_assert_int_eq(*at, '\0');
    free(text);
}
END_TEST

/* On a pipe a line is no longer than what it takes in one piece, however many write to it. */
START_TEST(long_lines_stay_whole_on_a_pipe)
{
    static char text[4 * PIPE_BUF];
    int reader = capture_stdout();
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_stdout), 0);
    write_record(&access_log, 1, 2 * PIPE_BUF);
    write_record(&access_log, 2, 10);
    access_log_close(&access_log);
    ssize_t length = read(reader, text, sizeof(text) - 1);
    ck_assert_int_gt(length, 0);
    close(reader);
    char *end = strchr(text, '\n');
    ck_assert_ptr_nonnull(end);
    ck_assert_int_le(end + 1 - text, PIPE_BUF);
    ck_assert_int_ge(end + 1 - text, PIPE_BUF / 4);
    ck_assert_int_eq(strncmp(end - 4, "x...", 4), 0);
    ck_assert_str_eq(end + 1, "/2 xxxxxxxxxx\n");
    ck_assert_uint_eq(line_count, 0);
}
END_TEST

/* A socket, as the journal gives one: more room for a line, and nobody waits. */
START_TEST(lines_on_a_socket)
{
    static char text[1 << 20];
    int pair[2];
    size_t length = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_int_eq(dup2(pair[1], STDOUT_FILENO), STDOUT_FILENO);
    close(pair[1]);
    ck_assert_int_eq(access_log_open(&access_log, loop, &to_stdout), 0);
    for (unsigned i = 0; i < 20000; i++)
        write_record(&access_log, i, 8000);
    access_log_flush(&access_log);
    ck_assert_uint_eq(line_count, 1);
    for (int round = 0; round < 40; round++) {
        ssize_t got;
        while ((got = recv(pair[0], text + length, sizeof(text) - 1 - length, MSG_DONTWAIT)) > 0)
            length += (size_t)got;
        access_log_flush(&access_log);
    }
    ck_assert_ptr_nonnull(strstr(last_line, "written again"));
    text[length] = '\0';
    ck_assert_uint_ge(count_whole_lines(text, 8000), 8);
    access_log_close(&access_log);
    close(pair[0]);
}
END_TEST

/* What is lost is in the counters of the status as well. */
START_TEST(lost_lines_are_counted)
{
    static const struct config_access_log full = {CONFIG_TARGET_FILE, "/dev/full",
                                                  CONFIG_LOG_CUSTOM, "%U %{User-Agent}i"};
    ck_assert_int_eq(access_log_open(&access_log, loop, &full), 0);
    access_log_count_in(&access_log, &slot);
    for (unsigned i = 0; i < 3000; i++)
        write_record(&access_log, i, 50);
    access_log_close(&access_log);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_LOST], 3000);
    ck_assert_uint_eq(slot.data.counts[COUNTER_LOG_CUT], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access_log");
    TCase *tests = tcase_create("access_log");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, log_that_is_off_does_nothing);
    tcase_add_test(tests, lines_are_flushed_by_time);
    tcase_add_test(tests, pending_flush_does_not_keep_the_loop);
    tcase_add_test(tests, full_buffer_is_written_in_whole_lines);
    tcase_add_test(tests, processes_share_a_file);
    tcase_add_test(tests, rotation_loses_nothing);
    tcase_add_test(tests, failed_reopening_keeps_the_old_file);
    tcase_add_test(tests, unusable_path_is_an_error);
    tcase_add_test(tests, path_that_is_usable_later);
    tcase_add_test(tests, full_disk_is_said_once);
    tcase_add_test(tests, lines_go_on_when_there_is_room_again);
    tcase_add_test(tests, broken_line_does_not_cross_a_rotation);
    tcase_add_test(tests, stuck_pipe_does_not_stop_us);
    tcase_add_test(tests, reader_that_has_gone_does_not_end_us);
    tcase_add_test(tests, line_longer_than_the_buffer);
    tcase_add_test(tests, lines_with_cut_values_are_counted);
    tcase_add_test(tests, long_lines_take_no_others_along);
    tcase_add_test(tests, long_lines_stay_whole_on_a_pipe);
    tcase_add_test(tests, lines_on_a_socket);
    tcase_add_test(tests, lost_lines_are_counted);
    tcase_add_test(tests, broken_line_goes_on_in_the_same_file);
    tcase_add_test(tests, broken_line_that_others_follow);
    tcase_add_test(tests, file_that_ends_inside_a_line);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
