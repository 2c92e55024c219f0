/* SPDX-License-Identifier: MIT */
/*
 * Tests passwords: the keyed hash, the file and its kinds of hashes, and who is let in how, with a
 * real loop and its threads. How often a password is hashed is counted: that is what costs time,
 * and what the time of an answer would tell.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "passwords.h"
#include "server/auth.h"
#include "server/password.h"
#include "server/password_file.h"

/* ---- counting hashes (the linker puts this in the place of the real one) ------------------- */

static unsigned hashed;

bool __real_password_matches(const char *password, const char *hash);
bool __wrap_password_matches(const char *password, const char *hash);
bool __wrap_password_matches(const char *password, const char *hash)
{
    __atomic_add_fetch(&hashed, 1, __ATOMIC_SEQ_CST);
    return __real_password_matches(password, hash);
}

static unsigned take_hashed(void)
{
    return __atomic_exchange_n(&hashed, 0, __ATOMIC_SEQ_CST);
}

/* ---- the hash ---------------------------------------------------------------------------- */

/* As published with the algorithm: the key 00 01 ... 0f, the bytes 00 01 ... */
START_TEST(test_published_values)
{
    static const struct {
        size_t length;
        unsigned char value[16];
    } rows[] = {
        {0,
         {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
          0x93}},
        {1,
         {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
          0x45}},
        {2,
         {0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6, 0x0a, 0xff,
          0xe4}},
    };
    struct hash_key key = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    unsigned char data[64];

    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hash_value value = keyed_hash_plain(&key, data, rows[i].length);

        ck_assert_mem_eq(&value, rows[i].value, 16);
    }
    for (size_t length = 0; length + 8 <= sizeof(data); length++) { /* a prefix is bytes before */
        struct hash_value whole = keyed_hash_plain(&key, data, 8 + length);
        struct hash_value parts = keyed_hash(&key, UINT64_C(0x0706050403020100), data + 8, length);

        ck_assert(hash_value_equal(&whole, &parts));
    }
}
END_TEST

START_TEST(test_keys_differ)
{
    struct hash_key a, b;

    ck_assert_int_eq(hash_key_make(&a), 0);
    ck_assert_int_eq(hash_key_make(&b), 0);
    struct hash_value x = keyed_hash(&a, 1, "text", 4), y = keyed_hash(&b, 1, "text", 4);
    struct hash_value z = keyed_hash(&a, 2, "text", 4), same = keyed_hash(&a, 1, "text", 4);
    ck_assert(!hash_value_equal(&x, &y));
    ck_assert(!hash_value_equal(&x, &z));
    ck_assert(hash_value_equal(&x, &same));
}
END_TEST

/* ---- kinds of hashes --------------------------------------------------------------------- */

static const struct {
    const char *hash, *password;
    bool matches;
} kinds[] = {
    {HASH_BCRYPT, "secret", true},
    {HASH_BCRYPT, "Secret", false},
    {HASH_BCRYPT, "", false},
    {HASH_SHA512, "secret", true},
    {HASH_SHA512, "secret ", false},
    {HASH_SHA256, "secret", true},
    {HASH_SHA256, "secre", false},
    {HASH_YESCRYPT, "secret", true},
    {HASH_YESCRYPT, "x", false},
    {HASH_UTF8, "p\xC3\xA4sswo\xCC\x88rd", false},
    {HASH_UTF8, "p\xC3\xA4ssw\xC3\xB6rd \xE2\x82\xAC", true},
    {HASH_EMPTY, "", true},
    {HASH_COLONS, "a:b:c", true},
    {"$6$rounds=1000$salt", "secret", false}, /* a setting without a hash */
    {"$6$", "", false},
    {"$2y$04$tooshort", "", false},
    {"$2y$99$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn.", "secret", false},
};

START_TEST(test_kinds)
{
    ck_assert_ptr_null(password_hash_check(kinds[_i].hash));
    ck_assert_msg(password_matches(kinds[_i].password, kinds[_i].hash) == kinds[_i].matches, "%s",
                  kinds[_i].hash);
}
END_TEST

START_TEST(test_kinds_not_taken)
{
    static const char *const hashes[] = {HASH_APR1, HASH_MD5, "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
                                         "secret",  "",       "abJnggxhB/yWI",
                                         "*",       "!",      "x"};

    for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++)
        ck_assert_ptr_nonnull(password_hash_check(hashes[i]));
    ck_assert_ptr_nonnull(strstr(password_hash_check(HASH_APR1), "apr1"));
}
END_TEST

/* ---- files ------------------------------------------------------------------------------- */

static char folder[64], path[96];

static void write_users(const char *text)
{
    char temporary[128];
    FILE *file;

    snprintf(temporary, sizeof(temporary), "%s.new", path);
    file = fopen(temporary, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(rename(temporary, path), 0);
}

static void setup(void)
{
    strcpy(folder, "/tmp/evixd-auth-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/users", folder);
    take_hashed();
}

static void teardown(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *hash_of(const struct password_file *file, const char *user)
{
    bool is_known;
    const char *hash = password_file_find(file, user, &is_known);

    ck_assert(!is_known || hash != NULL);
    return is_known ? hash : NULL;
}

START_TEST(test_file)
{
    struct password_file *file;

    write_users("# a remark\n\nzoe:" HASH_BCRYPT "\r\nadam:" HASH_SHA256 ":further:fields\n"
                "no colon\n:" HASH_BCRYPT "\nold:" HASH_APR1 "\n"
                "zoe:" HASH_SHA512 "\n a b:" HASH_UTF8 " \nlast:" HASH_COLONS);
    file = password_file_read(path, NULL, 7);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(file->error, 0);
    ck_assert_uint_eq(file->serial, 7);
    ck_assert_str_eq(hash_of(file, "zoe"), HASH_BCRYPT); /* the first of two */
    ck_assert_str_eq(hash_of(file, "adam"), HASH_SHA256);
    ck_assert_str_eq(hash_of(file, " a b"), HASH_UTF8);
    ck_assert_str_eq(hash_of(file, "last"), HASH_COLONS);
    ck_assert_ptr_null(hash_of(file, "old"));
    ck_assert_ptr_null(hash_of(file, ""));
    ck_assert_ptr_null(hash_of(file, "ada"));
    ck_assert_ptr_null(hash_of(file, "zzz"));
    ck_assert_ptr_null(hash_of(file, "# a remark"));
    ck_assert_uint_eq(file->problem_count, 3);
    ck_assert_uint_eq(file->problems[0].line, 5);
    ck_assert_uint_eq(file->problems[1].line, 6);
    ck_assert_uint_eq(file->problems[2].line, 7);
    ck_assert_ptr_nonnull(strstr(file->problems[2].text, "apr1"));
    password_file_unref(&file);
}
END_TEST

START_TEST(test_file_that_changes)
{
    struct password_file *first, *second, *third;

    write_users("a:" HASH_BCRYPT "\n");
    first = password_file_read(path, NULL, 1);
    second = password_file_read(path, first, 2);
    ck_assert_uint_eq(second->serial, 1); /* the same content */
    write_users("b:" HASH_BCRYPT "\n");
    ck_assert(!password_file_is_current(first, path));
    third = password_file_read(path, first, 3);
    ck_assert_uint_eq(third->serial, 3);
    password_file_unref(&first);
    password_file_unref(&second);
    password_file_unref(&third);
}
END_TEST

/* One that was written within the last tick may be written again without a trace. */
START_TEST(test_young_file_is_read_again)
{
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    struct password_file *file;

    write_users("a:" HASH_BCRYPT "\n");
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    file = password_file_read(path, NULL, 1);
    ck_assert(!password_file_is_current(file, path)); /* its ctime tells */
    file->read_at.tv_sec += 10;
    ck_assert(password_file_is_current(file, path));
    password_file_unref(&file);
}
END_TEST

START_TEST(test_file_that_cannot_be_read)
{
    struct password_file *file = password_file_read(path, NULL, 1);
    bool is_known;

    ck_assert_int_eq(file->error, -ENOENT);
    ck_assert_ptr_null(password_file_find(file, "a", &is_known));
    ck_assert(!is_known);
    ck_assert(!password_file_is_current(file, path));
    password_file_unref(&file);
    file = password_file_read(folder, NULL, 1);
    ck_assert_int_eq(file->error, -EINVAL);
    password_file_unref(&file);
}
END_TEST

/* ---- questions --------------------------------------------------------------------------- */

struct question {
    struct auth_wait wait;
    int answers;
    enum auth_verdict verdict;
    unsigned rank; /* how many were answered before */
};

static unsigned answered;
static struct evix_loop *loop;
static struct auth *auth;
static struct auth_realm *realm;

static void open_auth(const char *users)
{
    const struct evix_options options = {.backend = EVIX_BACKEND_EPOLL};

    write_users(users);
    ck_assert_int_eq(evix_loop_new(&loop, &options), 0);
    ck_assert_int_eq(auth_new(&auth, loop, false), 0);
    ck_assert_int_eq(auth_realm(auth, path, &realm), 0);
}

static void close_auth(void)
{
    evix_loop_free(&loop);
    auth_free(&auth);
}

static void on_verdict(struct auth_wait *wait, enum auth_verdict verdict)
{
    struct question *question = EVIX_CONTAINER_OF(wait, struct question, wait);

    question->answers++;
    question->verdict = verdict;
    question->rank = answered++;
}

/* "user:password"; `client` is an address of either family, or NULL */
static enum auth_verdict start_asking_from(struct question *question, const char *client,
                                           const char *text)
{
    size_t length = strcspn(text, ":");
    struct http_credentials credentials = {{text, length}, http_text_of(text + length + 1)};
    struct in6_addr address;

    if (client != NULL)
        ck_assert_int_eq(inet_pton(AF_INET6, client, &address), 1);
    memset(question, 0, sizeof(*question));
    return auth_ask(&question->wait, realm, client != NULL ? &address : NULL, &credentials,
                    on_verdict);
}

static enum auth_verdict start_asking(struct question *question, const char *text)
{
    return start_asking_from(question, NULL, text);
}

static enum auth_verdict ask(const char *text)
{
    struct question question;
    enum auth_verdict verdict = start_asking(&question, text);

    if (verdict != AUTH_PENDING)
        return verdict;
    ck_assert_int_eq(question.answers, 0);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(question.answers, 1);
    return question.verdict;
}

#define USERS "alice:" HASH_BCRYPT "\nbob:" HASH_SHA256 "\n"

START_TEST(test_answers)
{
    open_auth(USERS);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    ck_assert_int_eq(ask("bob:secret"), AUTH_GRANTED);
    ck_assert_int_eq(ask("alice:Secret"), AUTH_DENIED);
    ck_assert_int_eq(ask("alice:"), AUTH_DENIED);
    ck_assert_int_eq(ask("carol:secret"), AUTH_DENIED);
    ck_assert_int_eq(ask("alic:esecret"), AUTH_DENIED);
    close_auth();
}
END_TEST

/* The time of the answer does not tell which names there are. */
START_TEST(test_unknown_user_costs_as_much)
{
    open_auth(USERS);
    ck_assert_int_eq(ask("alice:wrong"), AUTH_DENIED);
    ck_assert_uint_eq(take_hashed(), 1);
    ck_assert_int_eq(ask("carol:wrong"), AUTH_DENIED);
    ck_assert_uint_eq(take_hashed(), 1);
    ck_assert_int_eq(ask("carol:secret"), AUTH_DENIED); /* the hash that is compared matches */
    ck_assert_uint_eq(take_hashed(), 1);
    close_auth();
}
END_TEST

START_TEST(test_what_was_right_is_remembered)
{
    struct question question;

    open_auth(USERS);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    ck_assert_uint_eq(take_hashed(), 1);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    ck_assert_uint_eq(take_hashed(), 0);
    /* what was wrong is not, and a known name opens nothing for another password */
    ck_assert_int_eq(start_asking(&question, "alice:wrong"), AUTH_PENDING);
    auth_forget(&question.wait);
    ck_assert_int_eq(ask("alice:wrong"), AUTH_DENIED);
    close_auth();
}
END_TEST

/* A browser asks for a page and all its images at once. */
START_TEST(test_the_same_is_hashed_once)
{
    struct question questions[20];

    open_auth(USERS);
    for (size_t i = 0; i < 20; i++)
        ck_assert_int_eq(start_asking(&questions[i], i % 2 == 0 ? "alice:secret" : "bob:wrong"),
                         AUTH_PENDING);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (size_t i = 0; i < 20; i++) {
        ck_assert_int_eq(questions[i].answers, 1);
        ck_assert_int_eq(questions[i].verdict, i % 2 == 0 ? AUTH_GRANTED : AUTH_DENIED);
    }
    ck_assert_uint_eq(take_hashed(), 2);
    close_auth();
}
END_TEST

/* Who guesses must not fill the memory, nor be let in. */
START_TEST(test_the_line_is_bounded)
{
    static struct question questions[300];
    char text[32];
    unsigned busy = 0, pending = 0;

    open_auth(USERS);
    for (size_t i = 0; i < 300; i++) {
        snprintf(text, sizeof(text), "alice:guess%zu", i);
        enum auth_verdict verdict = start_asking(&questions[i], text);

        busy += verdict == AUTH_BUSY;
        pending += verdict == AUTH_PENDING;
    }
    ck_assert_uint_eq(busy + pending, 300);
    ck_assert_uint_ge(busy, 100);
    ck_assert_uint_ge(pending, 50);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (size_t i = 0; i < 300; i++)
        ck_assert(questions[i].answers == 0 || questions[i].verdict == AUTH_DENIED);
    ck_assert_uint_eq(take_hashed(), pending);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    close_auth();
}
END_TEST

START_TEST(test_changes_are_seen)
{
    open_auth(USERS);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    write_users("bob:" HASH_SHA256 "\ncarol:" HASH_BCRYPT "\n");
    ck_assert_int_eq(ask("carol:secret"), AUTH_GRANTED); /* looked at, since it was not known */
    ck_assert_int_eq(ask("alice:secret"), AUTH_DENIED);  /* and forgotten with that */
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(ask("bob:secret"), AUTH_DENIED);
    write_users(USERS);
    ck_assert_int_eq(ask("bob:secret"), AUTH_GRANTED);
    close_auth();
}
END_TEST

static void on_time(struct evix_timer *timer)
{
    evix_timer_stop(timer);
}

/* Until what is known is no longer taken for granted without a look at the file. */
static void let_trust_end(void)
{
    struct evix_timer timer;

    evix_timer_init(&timer, loop, on_time);
    evix_timer_start(&timer, 1100, 0);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
}

/* What was right by the file as it was when the question was put is not so by the one that another
 * question has had read meanwhile. */
START_TEST(test_change_while_waiting)
{
    struct question guess, known;

    open_auth(USERS);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    let_trust_end();
    write_users("alice:" HASH_EMPTY "\nbob:" HASH_SHA256 "\n");
    ck_assert_int_eq(start_asking(&guess, "bob:wrong"), AUTH_PENDING);
    ck_assert_int_eq(start_asking(&known, "alice:secret"), AUTH_PENDING);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_int_eq(guess.verdict, AUTH_DENIED);
    ck_assert_int_eq(known.answers, 1);
    ck_assert_int_eq(known.verdict, AUTH_DENIED);
    ck_assert_int_eq(ask("alice:secret"), AUTH_DENIED);
    ck_assert_int_eq(ask("alice:"), AUTH_GRANTED);
    close_auth();
}
END_TEST

/*
 * A client that guesses must not keep those out that have been let in before, however many they
 * are: one look at the file answers all that ask the same.
 */
START_TEST(test_known_though_the_line_is_full)
{
    static struct question questions[200], known[300];
    char text[32];

    open_auth(USERS);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    let_trust_end();
    for (size_t i = 0; i < 200; i++) {
        snprintf(text, sizeof(text), "alice:guess%zu", i);
        (void)start_asking(&questions[i], text);
    }
    ck_assert_int_eq(start_asking(&known[0], "bob:secret"), AUTH_BUSY);
    for (size_t i = 0; i < 300; i++)
        ck_assert_int_eq(start_asking(&known[i], "alice:secret"), AUTH_PENDING);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (size_t i = 0; i < 300; i++)
        ck_assert(known[i].answers == 1 && known[i].verdict == AUTH_GRANTED);
    close_auth();
}
END_TEST

/* A client may go away at any time: first in line, with the thread at work, or behind. */
START_TEST(test_forgotten)
{
    struct question questions[5];

    open_auth(USERS);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(start_asking(&questions[i], i < 2 ? "alice:secret" : "bob:secret"),
                         AUTH_PENDING);
    auth_forget(&questions[0].wait);
    auth_forget(&questions[2].wait);
    auth_forget(&questions[4].wait);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(questions[i].answers, i % 2);
    ck_assert_int_eq(questions[1].verdict, AUTH_GRANTED);
    ck_assert_int_eq(questions[3].verdict, AUTH_GRANTED);
    close_auth();
}
END_TEST

/* The end comes while a thread is at work. */
START_TEST(test_end_while_asking)
{
    struct question question;

    open_auth(USERS);
    ck_assert_int_eq(start_asking(&question, "alice:secret"), AUTH_PENDING);
    auth_forget(&question.wait);
    close_auth();
    ck_assert_int_eq(question.answers, 0);
}
END_TEST

START_TEST(test_two_files)
{
    struct auth_realm *first, *again;
    char other[128];

    open_auth(USERS);
    first = realm;
    snprintf(other, sizeof(other), "%s", path);
    ck_assert_int_eq(auth_realm(auth, other, &again), 0);
    ck_assert_ptr_eq(again, first);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    snprintf(path, sizeof(path), "%s/more", folder);
    write_users("bob:" HASH_SHA256 "\n");
    ck_assert_int_eq(auth_realm(auth, path, &realm), 0);
    ck_assert_ptr_ne(realm, first);
    ck_assert_int_eq(ask("alice:secret"), AUTH_DENIED); /* known to the other alone */
    ck_assert_int_eq(ask("bob:secret"), AUTH_GRANTED);
    close_auth();
    unlink(other);
}
END_TEST

/* One client fills the queue of a realm, and has questions turned away. */
static void fill_queue(struct question *guesses, unsigned count, const char *client)
{
    unsigned busy = 0;
    char text[32];

    answered = 0;
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "alice:guess%u", i);
        busy += start_asking_from(&guesses[i], client, text) == AUTH_BUSY;
    }
    ck_assert_uint_ge(busy, 1);
}

static unsigned count_busy(const struct question *guesses, unsigned count)
{
    unsigned busy = 0;

    for (unsigned i = 0; i < count; i++)
        busy += guesses[i].answers == 1 && guesses[i].verdict == AUTH_BUSY;
    return busy;
}

/* They are answered in turn with those that guess: after two of theirs at most. */
START_TEST(test_guesses_do_not_lock_out_other_clients)
{
    static const struct {
        const char *guesser, *other;
    } rows[] = {
        {"::ffff:192.0.2.1", "::ffff:192.0.2.2"},
        {"::ffff:192.0.2.1", "2001:db8::1"},
        {"2001:db8::1", "2001:db8:0:1::1"},
        {"2001:db8::1", NULL},
        {NULL, "2001:db8::1"},
    };
    static struct question guesses[200];
    struct question honest[2];

    open_auth(USERS);
    fill_queue(guesses, 200, rows[_i].guesser);
    ck_assert_int_eq(start_asking_from(&honest[0], rows[_i].other, "alice:secret"), AUTH_PENDING);
    ck_assert_int_eq(start_asking_from(&honest[1], rows[_i].other, "bob:secret"), AUTH_PENDING);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(honest[i].answers, 1);
        ck_assert_int_eq(honest[i].verdict, AUTH_GRANTED);
    }
    ck_assert_uint_eq(count_busy(guesses, 200), 2); /* these made way */
    ck_assert_uint_le(honest[0].rank, 2 + 2);       /* they are told at once */
    ck_assert_uint_le(honest[1].rank, 2 + 4);
    close_auth();
}
END_TEST

/* Who has an IPv6 network has all its addresses. */
START_TEST(test_a_network_is_one_client)
{
    static struct question guesses[200];
    struct question other;

    open_auth(USERS);
    fill_queue(guesses, 200, "2001:db8::1");
    ck_assert_int_eq(start_asking_from(&other, "2001:db8::2:3:4:5", "bob:secret"), AUTH_BUSY);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_eq(count_busy(guesses, 200), 0);
    close_auth();
}
END_TEST

/* More of them than the queue has room for: the first come has as good a right as the last. */
START_TEST(test_many_clients)
{
    enum { CLIENTS = 150 };
    static struct question questions[CLIENTS];
    unsigned pending = 0;
    char client[32], text[32];

    open_auth(USERS);
    for (unsigned i = 0; i < CLIENTS; i++) {
        snprintf(client, sizeof(client), "::ffff:192.0.2.%u", i);
        snprintf(text, sizeof(text), "alice:guess%u", i);
        pending += start_asking_from(&questions[i], client, text) == AUTH_PENDING;
    }
    ck_assert_uint_eq(pending, 128);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_eq(count_busy(questions, CLIENTS), 0);
    close_auth();
}
END_TEST

/* Nor another realm, from whatever address. */
START_TEST(test_guesses_do_not_lock_out_other_realms)
{
    static struct question guesses[200];
    struct question honest[3];
    char other[128];

    open_auth(USERS);
    fill_queue(guesses, 200, "::ffff:192.0.2.1");
    snprintf(other, sizeof(other), "%s", path);
    snprintf(path, sizeof(path), "%s/more", folder);
    write_users("bob:" HASH_SHA256 "\n");
    ck_assert_int_eq(auth_realm(auth, path, &realm), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(start_asking_from(&honest[i], "::ffff:192.0.2.1",
                                           i == 0   ? "bob:secret"
                                           : i == 1 ? "bob:wrong"
                                                    : "carol:wrong"),
                         AUTH_PENDING);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(honest[i].answers, 1);
        ck_assert_int_eq(honest[i].verdict, i == 0 ? AUTH_GRANTED : AUTH_DENIED);
        ck_assert_uint_le(honest[i].rank, 2 * i + 1);
    }
    ck_assert_uint_eq(count_busy(guesses, 200), 0);
    close_auth();
    unlink(other);
}
END_TEST

/* A client that asks again and again does not keep another's second question from its turn. */
static struct question again[400];
static unsigned asked_again;

static void on_verdict_ask_again(struct auth_wait *wait, enum auth_verdict verdict)
{
    char text[32];
    struct http_credentials credentials = {{text, 5}, {text + 6, 0}};
    struct in6_addr address;
    int length;

    if (wait != NULL)
        on_verdict(wait, verdict);
    if (asked_again == 400)
        return;
    ck_assert_int_eq(inet_pton(AF_INET6, "::ffff:192.0.2.77", &address), 1);
    length = snprintf(text, sizeof(text), "alice:more%u", asked_again);
    credentials.password.length = (size_t)length - 6;
    ck_assert_int_eq(
        auth_ask(&again[asked_again++].wait, realm, &address, &credentials, on_verdict_ask_again),
        AUTH_PENDING);
}

START_TEST(test_no_client_starves)
{
    struct question questions[10];
    char text[32];

    open_auth(USERS);
    answered = 0;
    asked_again = 0;
    memset(again, 0, sizeof(again));
    on_verdict_ask_again(NULL, AUTH_DENIED);
    on_verdict_ask_again(NULL, AUTH_DENIED);
    for (unsigned i = 0; i < 10; i++) {
        snprintf(text, sizeof(text), "bob:guess%u", i);
        ck_assert_int_eq(start_asking_from(&questions[i], "::ffff:192.0.2.1", text), AUTH_PENDING);
    }
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    for (unsigned i = 0; i < 10; i++)
        ck_assert_uint_le(questions[i].rank, 2 * i + 3);
    close_auth();
}
END_TEST

/* What makes way may leave before it is told so, and what asks may leave as well. */
START_TEST(test_forgotten_while_making_way)
{
    static struct question guesses[200];
    struct question honest;

    open_auth(USERS);
    fill_queue(guesses, 200, "::ffff:192.0.2.1");
    ck_assert_int_eq(start_asking_from(&honest, "::ffff:192.0.2.2", "bob:secret"), AUTH_PENDING);
    auth_forget(&honest.wait);
    for (unsigned i = 0; i < 200; i++)
        if (guesses[i].wait.queue != NULL)
            auth_forget(&guesses[i].wait);
    ck_assert_int_ge(evix_loop_run(loop, EVIX_RUN_DEFAULT), 0);
    ck_assert_uint_eq(answered, 0);
    ck_assert_int_eq(ask("alice:secret"), AUTH_GRANTED);
    close_auth();
}
END_TEST

static void add_tests_of_crypt(TCase *hashes, TCase *questions)
{
    tcase_add_loop_test(hashes, test_kinds, 0, (int)(sizeof(kinds) / sizeof(kinds[0])));
    tcase_add_test(questions, test_answers);
    tcase_add_test(questions, test_unknown_user_costs_as_much);
    tcase_add_test(questions, test_what_was_right_is_remembered);
    tcase_add_test(questions, test_the_same_is_hashed_once);
    tcase_add_test(questions, test_the_line_is_bounded);
    tcase_add_test(questions, test_changes_are_seen);
    tcase_add_test(questions, test_change_while_waiting);
    tcase_add_test(questions, test_known_though_the_line_is_full);
    tcase_add_test(questions, test_forgotten);
    tcase_add_test(questions, test_end_while_asking);
    tcase_add_test(questions, test_two_files);
    tcase_add_loop_test(questions, test_guesses_do_not_lock_out_other_clients, 0, 5);
    tcase_add_test(questions, test_a_network_is_one_client);
    tcase_add_test(questions, test_many_clients);
    tcase_add_test(questions, test_guesses_do_not_lock_out_other_realms);
    tcase_add_test(questions, test_no_client_starves);
    tcase_add_test(questions, test_forgotten_while_making_way);
}

#ifdef HAVE_LIBCRYPT
static const bool has_crypt = true;
#else
static const bool has_crypt = false; /* every hash is refused */
#endif

int main(void)
{
    Suite *suite = suite_create("server/auth");
    TCase *hashes = tcase_create("hashes"), *questions = tcase_create("questions");
    SRunner *runner;
    int failed;

    tcase_add_test(hashes, test_published_values);
    tcase_add_test(hashes, test_keys_differ);
    tcase_add_test(hashes, test_kinds_not_taken);
    tcase_add_checked_fixture(questions, setup, teardown);
    tcase_set_timeout(questions, 60);
    tcase_add_test(questions, test_file);
    tcase_add_test(questions, test_file_that_changes);
    tcase_add_test(questions, test_young_file_is_read_again);
    tcase_add_test(questions, test_file_that_cannot_be_read);
    if (has_crypt)
        add_tests_of_crypt(hashes, questions);
    suite_add_tcase(suite, hashes);
    suite_add_tcase(suite, questions);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
