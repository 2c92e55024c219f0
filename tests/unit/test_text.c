/* SPDX-License-Identifier: MIT */
/* Slices: comparison, lists, numbers, byte classes. */
#include "http_rows.h"

#include <errno.h>

static const struct {
    const char *rfc;
    const char *a, *b;
    bool equal;
} nocase_rows[] = {
    {"9110 5.1", "Content-Type", "content-TYPE", true},
    {"9110 5.1", "", "", true},
    {"9110 5.1", "close", "closed", false},
    {"9110 5.6.2: only letters have case", "@", "`", false},
    {"9110 5.6.2: only letters have case", "^", "~", false},
    {"9110 5.6.2: only letters have case", "\r", "-", false},
    {"9110 5.6.2: only letters have case", "[", "{", false},
    {"9110 5.6.2: bytes above 0x7F have none", "\xc4", "\xe4", false},
};

START_TEST(nocase)
{
    ck_assert_msg(http_text_equal_nocase(http_text_of(nocase_rows[_i].a),
                                         http_text_of(nocase_rows[_i].b)) == nocase_rows[_i].equal,
                  "RFC %s: %s and %s", nocase_rows[_i].rfc, nocase_rows[_i].a, nocase_rows[_i].b);
}
END_TEST

static const struct {
    const char *rfc;
    const char *list;
    const char *members; /* joined by | */
} list_rows[] = {
    {"9110 5.6.1", "a, b,c", "a|b|c"},
    {"9110 5.6.1.2: empty members", ",,, a,, ,b,", "a|b"},
    {"9110 5.6.1.2: nothing but commas", ",,,", ""},
    {"9110 5.6.1: empty", "", ""},
    {"9110 5.6.3: white space", " \t a b \t,\tc ", "a b|c"},
    {"9110 5.6.4: quoted comma", "a=\"1,2\", b", "a=\"1,2\"|b"},
    {"9110 5.6.4: quoted pair", "a=\"\\\",\", b", "a=\"\\\",\"|b"},
    {"9110 5.6.4: quote without end", "a, \"b, c", "a|\"b, c"},
    {"9110 5.6.4: backslash at the end", "\"a\\", "\"a\\"},
};

START_TEST(lists)
{
    struct http_text rest = http_text_of(list_rows[_i].list), member;
    char joined[64] = "";
    while (http_text_next_member(&rest, &member)) {
        ck_assert_uint_gt(member.length, 0);
        if (joined[0] != '\0')
            strcat(joined, "|");
        strncat(joined, member.data, member.length);
    }
    ck_assert_msg(strcmp(joined, list_rows[_i].members) == 0, "RFC %s: %s, not %s",
                  list_rows[_i].rfc, joined, list_rows[_i].members);
}
END_TEST

static const struct {
    const char *text;
    int result;
    uint64_t number;
} number_rows[] = {
    {"0", 0, 0},
    {"007", 0, 7},
    {"18446744073709551615", 0, UINT64_MAX},
    {"18446744073709551616", -ERANGE, 0},
    {"99999999999999999999999", -ERANGE, 0},
    {"000000000000000000000000000001", 0, 1},
    {"99999999999999999999999x", -EINVAL, 0},
    {"", -EINVAL, 0},
    {"+4", -EINVAL, 0},
    {"-4", -EINVAL, 0},
    {" 4", -EINVAL, 0},
    {"4 ", -EINVAL, 0},
    {"0x4", -EINVAL, 0},
    {"4,4", -EINVAL, 0},
    {"4.0", -EINVAL, 0},
};

START_TEST(numbers)
{
    uint64_t number = 0;
    int result = http_text_to_number(http_text_of(number_rows[_i].text), &number);
    ck_assert_msg(result == number_rows[_i].result, "\"%s\": %d", number_rows[_i].text, result);
    ck_assert_uint_eq(number, number_rows[_i].number);
}
END_TEST

/* The classes against the characters that the RFCs list. */
static const struct {
    const char *rfc;
    unsigned class;
    const char *others; /* beside letters and digits */
    bool above_ascii;
} class_rows[] = {
    {"9110 5.6.2 tchar", HTTP_BYTE_TOKEN, "!#$%&'*+-.^_`|~", false},
    {"3986 2.3 unreserved", HTTP_BYTE_UNRESERVED, "-._~", false},
    {"3986 3.2.2 reg-name", HTTP_BYTE_HOST, "-._~!$&'()*+,;=", false},
    {"9110 8.8.3 etagc", HTTP_BYTE_ETAG, "!#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", true},
    {"9110 5.5 field-value", HTTP_BYTE_VALUE, "\t !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", true},
    {"9112 3.2 visible but #", HTTP_BYTE_TARGET, "!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~", false},
};

START_TEST(classes)
{
    for (int byte = 0; byte < 256; byte++) {
        bool expected = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= 'a' && byte <= 'z') ||
                        (byte != 0 && byte < 128 && strchr(class_rows[_i].others, byte) != NULL) ||
                        (byte >= 128 && class_rows[_i].above_ascii);
        ck_assert_msg(http_byte_is((char)byte, class_rows[_i].class) == expected, "RFC %s: 0x%02x",
                      class_rows[_i].rfc, byte);
    }
}
END_TEST

START_TEST(hex)
{
    for (int byte = 0; byte < 256; byte++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = byte != 0 ? strchr(digits, byte) : NULL;
        ck_assert_int_eq(http_byte_hex((char)byte), digit != NULL ? (digit - digits) % 16 : -1);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("text");
    tcase_add_loop_test(tcase, nocase, 0, ROW_COUNT(nocase_rows));
    tcase_add_loop_test(tcase, lists, 0, ROW_COUNT(list_rows));
    tcase_add_loop_test(tcase, numbers, 0, ROW_COUNT(number_rows));
    tcase_add_loop_test(tcase, classes, 0, ROW_COUNT(class_rows));
    tcase_add_test(tcase, hex);
    return run_suite("text", tcase);
}
