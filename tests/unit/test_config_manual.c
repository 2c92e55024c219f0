/* SPDX-License-Identifier: MIT */
/*
 * Tests that the schema, evixd.conf(5) and conf/evixd.conf say the same: the manual's list of
 * settings is the schema's, word for word, and the example file shows each setting with its
 * default. With EVIXD_WRITE_MANUAL=1 the list in the manual is written instead of compared.
 */
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "config/schema.h"
#include "config/value.h"
#include "config_fixture.h"

static const char begin_mark[] = ".\\\" settings begin\n";
static const char end_mark[] = ".\\\" settings end\n";

static const char *in_source(const char *name)
{
    static char path[4096];
    const char *folder = getenv("srcdir");

    snprintf(path, sizeof(path), "%s/%s", folder == NULL ? "." : folder, name);
    return path;
}

static char *read_source(const char *name)
{
    FILE *file = fopen(in_source(name), "r");
    char *text = NULL;
    size_t size = 0;

    ck_assert_msg(file != NULL, "cannot read %s", in_source(name));
    ck_assert_int_gt(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}

static void print_setting(FILE *out, const struct schema_setting *setting)
{
    char takes[256];

    schema_describe(setting, takes, sizeof(takes));
    takes[0] = (char)toupper((unsigned char)takes[0]);
    fprintf(out, ".It Ic %s\n%s%s%s%s%s.\n%s\n", setting->name, takes,
            setting->standard == NULL ? "" : "; default: ",
            setting->standard == NULL      ? ""
            : setting->standard[0] == '\0' ? "none"
                                           : setting->standard,
            setting->required ? "; required" : "", setting->record == NULL ? "" : "; see below",
            setting->about);
}

static void print_settings(FILE *out, const char *title, const struct schema_record *record)
{
    fprintf(out, ".Ss %s\n.Bl -tag -width Ds\n", title);
    for (size_t i = 0; i < record->count; i++)
        print_setting(out, &record->settings[i]);
    fputs(".El\n", out);
}

struct seen {
    const struct schema_record *records[32];
    size_t count;
};

/* A record, then those in it, each once: two settings may share one. */
static void print_record(FILE *out, const char *title, const struct schema_record *record,
                         struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->records[i] == record)
            return;
    }
    ck_assert_uint_lt(seen->count, 32);
    seen->records[seen->count++] = record;
    print_settings(out, title, record);
    for (size_t i = 0; i < record->count; i++) {
        if (record->settings[i].record != NULL)
            print_record(out, record->settings[i].name, record->settings[i].record, seen);
    }
}

static char *print_all(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct seen seen = {.count = 0};

    ck_assert_ptr_nonnull(out);
    print_record(out, "Top of the file", &schema_file, &seen);
    print_record(out, "Top of the file, hosts and locations", schema_file.shared, &seen);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

static void write_manual(const char *manual, const char *begin, const char *end,
                         const char *settings)
{
    FILE *file = fopen(in_source("man/evixd.conf.5"), "w");

    ck_assert_ptr_nonnull(file);
    fprintf(file, "%.*s%s%s", (int)(begin - manual), manual, settings, end);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(test_manual_is_the_schema)
{
    char *manual = read_source("man/evixd.conf.5"), *settings = print_all();
    char *begin = strstr(manual, begin_mark), *end = strstr(manual, end_mark);

    ck_assert_ptr_nonnull(begin);
    ck_assert_ptr_nonnull(end);
    begin += strlen(begin_mark);
    if (getenv("EVIXD_WRITE_MANUAL") != NULL) {
        write_manual(manual, begin, end, settings);
    } else {
        *end = '\0';
        ck_assert_str_eq(begin, settings);
    }
    free(manual);
    free(settings);
}
END_TEST

/* Each row of the table holds together: what it describes is not empty, and its default is one of
 * the values that it takes. */
static void check_record(const struct schema_record *record, struct seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->records[i] == record)
            return;
    }
    seen->records[seen->count++] = record;
    if (record->shared != NULL)
        check_record(record->shared, seen);
    for (size_t i = 0; i < record->count; i++) {
        const struct schema_setting *setting = &record->settings[i];
        struct config_arena *arena = arena_new();
        const struct value_context context = {arena, "/"};
        void *base = arena_array(arena, 1, record->bytes);
        char takes[256] = "";

        schema_describe(setting, takes, sizeof(takes));
        ck_assert_msg(takes[0] != '\0' && strcmp(takes, "(null)") != 0, "%s", setting->name);
        ck_assert_msg(setting->about != NULL && strchr(setting->about, '\n') == NULL, "%s",
                      setting->name);
        if (setting->standard != NULL && setting->type != SCHEMA_NAMES) {
            struct value value = value_from_text(setting, setting->standard);

            ck_assert_msg(value_store(&context, setting, &value, base) == 0,
                          "the default \"%s\" of %s.%s is refused", setting->standard, record->name,
                          setting->name);
        }
        arena_free(arena);
        if (setting->record != NULL)
            check_record(setting->record, seen);
    }
}

START_TEST(test_schema_is_sound)
{
    struct seen seen = {.count = 0};

    check_record(&schema_file, &seen);
    ck_assert_uint_ge(seen.count, 10);
}
END_TEST

/* A folder of the example that this machine need not have: what stands for it in the test, or NULL.
 */
static const char *stand_in(const char *text, size_t *length)
{
    static const struct {
        const char *folder, *stand_in;
    } folders[] = {{"/srv/www", "@/www"}, {"/run/evixd", "@"}};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        *length = strlen(folders[i].folder);
        if (strncmp(text, folders[i].folder, *length) == 0)
            return folders[i].stand_in;
    }
    return NULL;
}

/* Takes the "#" of settings away ("# " is a remark) and puts the test's folders for the example's.
 */
static char *uncomment(const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    bool start = true;

    ck_assert_ptr_nonnull(stream);
    for (; *text != '\0'; text++) {
        bool indented = start && text[0] == '#' && text[1] == ' ' && text[2] == ' ';
        size_t length;
        const char *folder = stand_in(text, &length);

        if (folder != NULL) {
            fputs(folder, stream);
            text += length - 1;
        } else if (!(start && text[0] == '#' && (indented || !isspace((unsigned char)text[1])))) {
            putc(*text, stream);
        }
        start = *text == '\n';
    }
    ck_assert_int_eq(fclose(stream), 0);
    return out;
}

static bool has_setting(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == text || strchr(" #\n", at[-1]) != NULL) && strncmp(at + length, " =", 2) == 0)
            return true;
    }
    return false;
}

static void check_names(const char *text, const struct schema_record *record)
{
    if (record->shared != NULL)
        check_names(text, record->shared);
    for (size_t i = 0; i < record->count; i++) {
        ck_assert_msg(has_setting(text, record->settings[i].name),
                      "conf/evixd.conf does not show %s", record->settings[i].name);
        if (record->settings[i].record != NULL)
            check_names(text, record->settings[i].record);
    }
}

START_TEST(test_example_shows_all_settings)
{
    char *text = read_source("conf/evixd.conf");

    check_names(text, &schema_file);
    free(text);
}
END_TEST

/* What the dump says up to its listeners: all that is neither listener nor host. */
static char *dump_top(const char *text)
{
    struct config *config = fixture_load(text, NULL, 0);
    char *dump = fixture_dump(config);
    char *listeners = strstr(dump, "\nlisten = (");

    ck_assert_ptr_nonnull(listeners);
    *listeners = '\0';
    config_free(config);
    return dump;
}

START_TEST(test_example_shows_the_defaults)
{
    char *text = read_source("conf/evixd.conf"), *all = uncomment(text);
    char *shown = dump_top(all), *right = dump_top("hosts = ( { root = \"@/www\"; } );");
    struct config *config = fixture_load(all, NULL, 0);

    ck_assert_str_eq(shown, right);
    /* and its examples of listeners and locations are read */
    ck_assert_uint_eq(config->listen_count, 5);
    ck_assert_uint_eq(config->hosts[0].location_count, 11);
    ck_assert_uint_eq(config->hosts[0].name_count, 2);
    config_free(config);
    free(text);
    free(all);
    free(shown);
    free(right);
}
END_TEST

START_TEST(test_examples_load_as_they_are)
{
    char *text = read_source("conf/evixd.conf"), *root = strstr(text, "\"/srv/www\"");
    char *minimal = read_source("conf/minimal.conf");
    struct config *config;

    ck_assert_ptr_nonnull(root);
    memcpy(root, "\"www\"     ", strlen("\"/srv/www\"")); /* the fixture's */
    config = fixture_load(text, NULL, 0);
    ck_assert_str_eq(config->listen[0].address, ":80");
    config_free(config);
    config = fixture_load(minimal, NULL, 0);
    ck_assert_str_eq(config->listen[0].address, "127.0.0.1:8080");
    config_free(config);
    free(text);
    free(minimal);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config/manual");
    TCase *manual = tcase_create("manual");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(manual, fixture_setup, fixture_teardown);
    tcase_add_test(manual, test_manual_is_the_schema);
    tcase_add_test(manual, test_schema_is_sound);
    tcase_add_test(manual, test_example_shows_all_settings);
    tcase_add_test(manual, test_example_shows_the_defaults);
    tcase_add_test(manual, test_examples_load_as_they_are);
    suite_add_tcase(suite, manual);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
