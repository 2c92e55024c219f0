/* SPDX-License-Identifier: MIT */
/*
 * Tests that each allocation of src/config may fail: the nth does, for all n until none is left.
 * libconfig's own are left alone, since it does not expect failure: the linker's --wrap reaches
 * only calls from the objects that are linked here.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_fixture.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
char *__wrap_strdup(const char *text);

static unsigned long left; /* allocations until one fails; 0: none does */

static bool is_failing(void)
{
    return left > 0 && --left == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_failing() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_failing() ? NULL : __real_calloc(count, size);
}

char *__wrap_strdup(const char *text)
{
    return is_failing() ? NULL : __real_strdup(text);
}

static void on_message(void *data, const char *line)
{
    snprintf(data, 256, "%s", line);
}

/* Loads with the nth allocation failing; returns whether there was an nth. */
static bool load_failing(const char *path, unsigned long n,
                         const struct config_overrides *overrides, int expected)
{
    char last[256] = "";
    const struct config_errors errors = {on_message, last};
    struct config *config;
    bool failed;
    int result;

    left = n;
    result = config_load(path, overrides, &config, &errors);
    failed = left == 0;
    left = 0;
    if (!failed) {
        ck_assert_int_eq(result, expected);
    } else {
        ck_assert_msg(result == -ENOMEM, "allocation %lu failed and the result was %d", n, result);
        ck_assert_str_eq(last, "out of memory");
        ck_assert_ptr_null(config);
    }
    config_free(config);
    return failed;
}

static unsigned long fail_each(const char *text, const struct config_overrides *overrides,
                               int expected)
{
    char path[512], *expanded = fixture_expand(text);
    unsigned long n = 1;

    fixture_write("test.conf", expanded);
    free(expanded);
    snprintf(path, sizeof(path), "%s/test.conf", fixture_folder);
    while (load_failing(path, n, overrides, expected))
        n++;
    return n - 1;
}

START_TEST(test_right_configuration)
{
    static const char *const listen[] = {"127.0.0.1:81", "unix:x"};
    const struct config_overrides overrides = {
        .listen = listen, .listen_count = 2, .echo_path = "/echo", .access_log = "./log"};
    static const char text[] =
        "@include \"more.conf\"\n"
        "error_log = { target = \"/x\"; }; index = ( \"a\", \"b\" ); headers = { A = \"1\"; };\n"
        "listen = ( { address = \":80\"; }, { address = \"unix:/x\"; } );\n"
        "hosts = ( { names = \"a\"; root = \"@/www\"; access_log = { format = \"%h\"; };\n"
        "  locations = ( { path = \"/x\"; headers = { B = \"2\"; A = \"\"; }; },\n"
        "    { path = \"/y/\"; redirect = { to = \"/\"; }; } ); } );\n";

    fixture_write("more.conf", "user = \"root\";\n");
    ck_assert_uint_gt(fail_each(text, NULL, 0), 50);
    ck_assert_uint_gt(fail_each(text, &overrides, 0), 50);
}
END_TEST

START_TEST(test_wrong_configuration)
{
    ck_assert_uint_gt(
        fail_each("workers = 0; backnd = 1; hosts = ( { root = \"none\"; } );", NULL, -EINVAL), 10);
    ck_assert_uint_gt(fail_each("workers = \n\n", NULL, -EINVAL), 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config/memory");
    TCase *memory = tcase_create("memory");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(memory, fixture_setup, fixture_teardown);
    tcase_set_timeout(memory, 60);
    tcase_add_test(memory, test_right_configuration);
    tcase_add_test(memory, test_wrong_configuration);
    suite_add_tcase(suite, memory);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
