/* SPDX-License-Identifier: MIT */
/* Media types: the built-in table, extensions in all their forms, and mime.types files. */
#include "files_fixture.h"

#include <ctype.h>
#include <errno.h>

#include "files/media_table.h"
#include "files/media_type.h"

static const struct {
    const char *name;
    const char *type;
} rows[] = {
    {"index.html", "text/html; charset=utf-8"},
    {"a/b.c/INDEX.HTM", "text/html; charset=utf-8"},
    {"app.js", "text/javascript; charset=utf-8"},
    {"app.mjs", "text/javascript; charset=utf-8"},
    {"style.css", "text/css; charset=utf-8"},
    {"notes.txt", "text/plain; charset=utf-8"},
    {"build.log", "text/plain; charset=utf-8"},
    {"README.md", "text/markdown; charset=utf-8"},
    /* a charset on these breaks them */
    {"module.wasm", "application/wasm"},
    {"picture.png", "image/png"},
    {"archive.zip", "application/zip"},
    {"data.json", "application/json"},
    {"site.webmanifest", "application/manifest+json"},
    {"photo.JPeG", "image/jpeg"},
    {"photo.avif", "image/avif"},
    {"photo.webp", "image/webp"},
    {"font.woff2", "font/woff2"},
    {"drawing.svg", "image/svg+xml"},
    {"film.mp4", "video/mp4"},
    {"film.webm", "video/webm"},
    {"feed.atom", "application/atom+xml"},
    {"page.xml", "application/xml"},
    {"paper.pdf", "application/pdf"},
    {"favicon.ico", "image/vnd.microsoft.icon"},
    {"disk.iso", "application/vnd.efi.iso"},
    {"package.deb", "application/vnd.debian.binary-package"},
    {"first.3g2", "video/3gpp2"}, /* the first row and the last one */
    {"play.m3u8", "application/vnd.apple.mpegurl"},
    {"part.m4s", "video/iso.segment"},
    {"part.ts", "video/mp2t"},
    {"subtitles.vtt", "text/vtt; charset=utf-8"},
    {"photo.jxl", "image/jxl"},
    {"photo.jfif", "image/jpeg"},
    {"app.js.map", "application/json"},
    {"config.yaml", "application/yaml"},
    {"model.glb", "model/gltf-binary"},
    {"formula.mml", "application/mathml+xml"},
    {"table.parquet", "application/vnd.apache.parquet"},
    {"tiles.mvt", "application/vnd.mapbox-vector-tile"},
    {"shader.wgsl", "text/wgsl; charset=utf-8"},
    {"image.iso.zsync", "application/x-zsync"},
    {"last.zst", "application/zstd"},
    /* an archive is an archive, whatever is in it */
    {"x.tar.gz", "application/gzip"},
    {"x.tgz", "application/gzip"},
    {"x.css.br", "application/x-brotli"},
    {"x.tar.xz", "application/x-xz"},
    {"x.tar.zst", "application/zstd"},
    {"x.TAR.GZ", "application/gzip"},
    {"x.html.gz", "application/gzip"},
    {"x.tar.bz2", "application/x-bzip2"},
    {"x.gz", "application/gzip"},
    {"README", "application/octet-stream"},
    {"", "application/octet-stream"},
    {"dir.html/", "application/octet-stream"},
    {"dir.html/file", "application/octet-stream"},
    {"ends.", "application/octet-stream"},
    {"..", "application/octet-stream"},
    {"x.unheard-of", "application/octet-stream"},
    {"x.an-extension-that-is-far-too-long-for-any-table", "application/octet-stream"},
};

START_TEST(builtin)
{
    struct media_types *types;
    const char *type;

    ck_assert_int_eq(media_types_new(&types, NULL, NULL), 0);
    type = media_type_find(types, rows[_i].name, strlen(rows[_i].name));
    ck_assert_msg(strcmp(type, rows[_i].type) == 0, "%s: %s, not %s", rows[_i].name, type,
                  rows[_i].type);
    media_types_free(&types);
    ck_assert_ptr_null(types);
}
END_TEST

START_TEST(default_type)
{
    struct media_types *types;
    char longer[MEDIA_TYPE_BYTES + 1];

    ck_assert_int_eq(media_types_new(&types, NULL, "text/x-whatever"), 0);
    ck_assert_str_eq(media_type_find(types, "README", 6), "text/x-whatever");
    ck_assert_str_eq(media_type_find(types, "a.png", 5), "image/png");
    media_types_free(&types);
    memset(longer, 'x', MEDIA_TYPE_BYTES);
    longer[MEDIA_TYPE_BYTES] = '\0';
    ck_assert_int_eq(media_types_new(&types, NULL, longer), -EINVAL);
    ck_assert_ptr_null(types);
}
END_TEST

static bool is_token(const char *text, size_t length)
{
    size_t good =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+._");

    return length > 0 && good >= length;
}

/* In order, each once and found in either case; a charset on text, on all text, and nowhere else.
 */
START_TEST(table)
{
    struct media_types *types;

    ck_assert_int_eq(media_types_new(&types, NULL, "none/none"), 0);
    for (size_t i = 0; i < media_table_count; i++) {
        const struct media_row *row = &media_table[i];
        const char *slash = strchr(row->type, '/'), *end = strchr(row->type, ';');
        char name[40] = "x.";

        ck_assert_msg(i == 0 || strcmp(media_table[i - 1].extension, row->extension) < 0, "%s",
                      row->extension);
        ck_assert(is_token(row->extension, strlen(row->extension)));
        ck_assert(slash != NULL && is_token(row->type, (size_t)(slash - row->type)));
        end = end != NULL ? end : row->type + strlen(row->type);
        ck_assert_msg(is_token(slash + 1, (size_t)(end - slash - 1)), "%s", row->type);
        ck_assert_msg(strcmp(end, strncmp(row->type, "text/", 5) == 0 ? MEDIA_TYPE_CHARSET : "") ==
                          0,
                      "%s", row->type);
        for (size_t j = 0; row->extension[j] != '\0'; j++)
            name[2 + j] = (char)(j % 2 ? toupper(row->extension[j]) : row->extension[j]);
        ck_assert_str_eq(media_type_find(types, name, strlen(name)), row->type);
    }
    media_types_free(&types);
}
END_TEST

START_TEST(file)
{
    static const char text[] = "# a comment\n"
                               "text/x-mine\tMINE other  # and what follows\n"
                               "\n"
                               "application/x-nothing\n"
                               "image/x-png png\r\n"
                               "not-a-type ext1\n"
                               "a//b ext2\n"
                               "text/html;charset=x ext3\n"
                               "application/first twice\n"
                               "application/second twice\n"
                               "text/unfinished last";
    struct media_types *types;
    struct place place;

    place_make(&place);
    place_write(&place, "mime.types", text);
    ck_assert_int_eq(media_types_new(&types, place_path(&place, "mime.types"), "none/none"), 0);
    ck_assert_str_eq(media_type_find(types, "a.mine", 6), "text/x-mine; charset=utf-8");
    ck_assert_str_eq(media_type_find(types, "a.OTHER", 7), "text/x-mine; charset=utf-8");
    ck_assert_str_eq(media_type_find(types, "a.png", 5), "image/x-png");
    ck_assert_str_eq(media_type_find(types, "a.css", 5), "text/css; charset=utf-8");
    ck_assert_str_eq(media_type_find(types, "a.twice", 7), "application/second");
    ck_assert_str_eq(media_type_find(types, "a.last", 6), "text/unfinished; charset=utf-8");
    ck_assert_str_eq(media_type_find(types, "a.ext1", 6), "none/none");
    ck_assert_str_eq(media_type_find(types, "a.ext2", 6), "none/none");
    ck_assert_str_eq(media_type_find(types, "a.ext3", 6), "none/none");
    ck_assert_str_eq(media_type_find(types, "a.and", 5), "none/none");
    media_types_free(&types);
    place_remove(&place);
}
END_TEST

/* More rows than are reserved at first, in an order that has to be sorted. */
START_TEST(long_file)
{
    struct media_types *types;
    struct place place;
    FILE *out;

    place_make(&place);
    out = fopen(place_path(&place, "mime.types"), "w");
    ck_assert_ptr_nonnull(out);
    for (unsigned i = 0; i < 2000; i++)
        fprintf(out, "text/x-%u e%u\n", i, (i * 7919) % 2000);
    fclose(out);
    ck_assert_int_eq(media_types_new(&types, place_path(&place, "mime.types"), NULL), 0);
    for (unsigned i = 0; i < 2000; i++) {
        char name[32], type[64];
        int length = snprintf(name, sizeof(name), "x.e%u", (i * 7919) % 2000);

        snprintf(type, sizeof(type), "text/x-%u; charset=utf-8", i);
        ck_assert_str_eq(media_type_find(types, name, (size_t)length), type);
    }
    media_types_free(&types);
    place_remove(&place);
}
END_TEST

START_TEST(no_file)
{
    struct media_types *types;
    struct place place;

    place_make(&place);
    ck_assert_int_eq(media_types_new(&types, place_path(&place, "none"), NULL), -ENOENT);
    ck_assert_int_eq(media_types_new(&types, place.folder, NULL), -EISDIR);
    place_fill(&place, "huge", (1 << 20) + 1, 1);
    ck_assert_int_eq(media_types_new(&types, place_path(&place, "huge"), NULL), -EFBIG);
    ck_assert_ptr_null(types);
    media_types_free(&types);
    place_write(&place, "empty", "");
    ck_assert_int_eq(media_types_new(&types, place_path(&place, "empty"), NULL), 0);
    ck_assert_str_eq(media_type_find(types, "a.png", 5), "image/png");
    media_types_free(&types);
    place_remove(&place);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("media_type");

    tcase_add_loop_test(tcase, builtin, 0, (int)COUNT(rows));
    tcase_add_test(tcase, default_type);
    tcase_add_test(tcase, table);
    tcase_add_test(tcase, file);
    tcase_add_test(tcase, long_file);
    tcase_add_test(tcase, no_file);
    return files_run("media_type", tcase);
}
