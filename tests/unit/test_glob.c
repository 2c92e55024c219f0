/* SPDX-License-Identifier: MIT */
/*
 * Tests patterns of names: what each sign stands for, where matching must back up, and that no name
 * makes it take for ever.
 */
#include <check.h>
#include <string.h>

#include "server/glob.h"

static const struct {
    const char *pattern, *name;
    bool matches;
} rows[] = {
    {"a.css", "a.css", true},
    {"a.css", "a.cs", false},
    {"a.css", "a.csss", false},
    {"a.css", "A.css", false},
    {"*.css", "a.css", true},
    {"*.css", ".css", true},
    {"*.css", "a.css.map", false},
    {"*.css", "css", false},
    {"*", "", true},
    {"*", "anything", true},
    {"**", "x", true},
    {"", "", true},
    {"", "x", false},
    {"a*", "a", true},
    {"*a", "ba", true},
    {"a*b*c", "aXbYbZc", true},
    {"a*b*c", "acb", false},
    {"*.min.*", "app.min.js", true},
    {"*.min.*", "app.min", false},
    {"*aab", "aaaab", true},
    {"*ab*ab", "abab", true},
    {"*ab*ab", "ab", false},
    {"?", "", false},
    {"?", "x", true},
    {"?", "xy", false},
    {"?.txt", "\xC3\xA4.txt", true},
    {"?.txt", "\xE2\x82\xAC.txt", true},
    {"??.txt", "\xC3\xA4.txt", false},
    {"?.txt", "\xFF.txt", true},
    {"*\xC3\xA4", "x\xC3\xA4", true},
    {"*.[jt]s", "a.ts", true},
    {"*.[jt]s", "a.cs", false},
    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[a-c]", "", false},
    {"[!a-c]", "d", true},
    {"[!a-c]", "b", false},
    {"[!a]", "\xC3\xA4", false}, /* sets are of ASCII */
    {"[]]", "]", true},
    {"[!]]", "]", false},
    {"[!]]", "x", true},
    {"[a-]", "-", true},
    {"[-a]", "-", true},
    {"[*]", "*", true},
    {"[*]", "x", false},
    {"[?]x", "?x", true},
    {"v[0-9]*.js", "v12.js", true},
    {"v[0-9]*.js", "vx.js", false},
    {"a\\b", "a\\b", true},
    {"a b", "a b", true},
};

START_TEST(test_match)
{
    ck_assert_msg(glob_matches(rows[_i].pattern, rows[_i].name) == rows[_i].matches, "%s of %s",
                  rows[_i].pattern, rows[_i].name);
}
END_TEST

/* A matcher that tries every way to share a name out among the stars would not come back. */
START_TEST(test_time_is_bounded)
{
    char name[2048], pattern[512];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i + 2 < sizeof(pattern); i += 2)
        memcpy(pattern + i, "*a", 2);
    strcpy(pattern + sizeof(pattern) - 2, "b");
    ck_assert(!glob_matches(pattern, name));
    name[sizeof(name) - 2] = 'b';
    ck_assert(glob_matches(pattern, name));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server/glob");
    TCase *glob = tcase_create("glob");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(glob, test_match, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(glob, test_time_is_bounded);
    suite_add_tcase(suite, glob);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
