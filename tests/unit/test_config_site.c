/* SPDX-License-Identifier: MIT */
/*
 * Tests what a right configuration becomes: defaults, values, inheritance, order, overrides, and
 * that its dump loads back to the same.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_fixture.h"

#define HOST "hosts = ( { root = \"@/www\"; } );\n"

static const char *under(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", fixture_folder, name);
    return path;
}

START_TEST(test_defaults)
{
    struct config *config = fixture_load(HOST, NULL, 0);
    const struct config_host *host = config->hosts;

    ck_assert_str_eq(config->path, under("test.conf"));
    ck_assert_uint_eq(config->workers, 0);
    ck_assert_int_eq(config->backend, CONFIG_BACKEND_AUTO);
    ck_assert_str_eq(config->user, "");
    ck_assert_str_eq(config->group, "");
    ck_assert_str_eq(config->pid_file, "");
    ck_assert_int_eq(config->error_log.target, CONFIG_TARGET_STDERR);
    ck_assert_str_eq(config->error_log.path, "");
    ck_assert_int_eq(config->error_log.level, LOG_LEVEL_NOTICE);
    ck_assert_uint_eq(config->limits.connections, 10000);
    ck_assert_uint_eq(config->limits.connections_per_address, 0);
    ck_assert_uint_eq(config->limits.target_bytes, 8192);
    ck_assert_uint_eq(config->limits.head_bytes, 32768);
    ck_assert_uint_eq(config->limits.fields, 100);
    ck_assert_uint_eq(config->limits.body_bytes, 16 << 20);
    ck_assert_uint_eq(config->limits.requests_per_connection, 0);
    ck_assert_uint_eq(config->limits.min_rate, 128);
    ck_assert_uint_eq(config->timeouts.head_ms, 15000);
    ck_assert_uint_eq(config->timeouts.body_ms, 30000);
    ck_assert_uint_eq(config->timeouts.send_ms, 30000);
    ck_assert_uint_eq(config->timeouts.keep_alive_ms, 65000);
    ck_assert_uint_eq(config->timeouts.linger_ms, 5000);
    ck_assert_uint_eq(config->timeouts.shutdown_ms, 30000);
    ck_assert_int_eq(config->files.cache, CONFIG_CACHE_WATCH);
    ck_assert_uint_eq(config->files.entries, 20000);
    ck_assert_uint_eq(config->files.memory_bytes, 64 << 20);
    ck_assert_uint_eq(config->files.small_bytes, 65536);
    ck_assert_int_eq(config->files.symlinks, CONFIG_SYMLINKS_BENEATH);
    ck_assert_str_eq(config->mime_types, "");
    ck_assert_str_eq(config->default_type, "application/octet-stream");
    ck_assert_uint_eq(config->listen_count, 1);
    ck_assert_str_eq(config->listen[0].address, "127.0.0.1:8080");
    ck_assert_uint_eq(config->listen[0].backlog, 4096);
    ck_assert_int_eq(config->listen[0].protocol, CONFIG_PROTOCOL_HTTP);
    ck_assert_uint_eq(config->host_count, 1);
    ck_assert_ptr_eq(config->default_host, host);
    ck_assert(host->is_default);
    ck_assert_uint_eq(host->name_count, 0);
    ck_assert_int_eq(host->access_log.target, CONFIG_TARGET_OFF);
    ck_assert_int_eq(host->access_log.format, CONFIG_LOG_COMBINED);
    ck_assert_uint_eq(host->location_count, 1);
    ck_assert_str_eq(host->locations[0].path, "/");
    ck_assert_int_eq(host->locations[0].handler, CONFIG_HANDLER_STATIC);
    ck_assert_str_eq(host->locations[0].root, under("www"));
    ck_assert_uint_eq(host->locations[0].index_count, 1);
    ck_assert_str_eq(host->locations[0].index[0], "index.html");
    ck_assert(!host->locations[0].listing && !host->locations[0].dotfiles);
    ck_assert(host->locations[0].precompressed);
    ck_assert_uint_eq(host->locations[0].header_count, 0);
    ck_assert_uint_eq(host->locations[0].redirect_status, 0);
    ck_assert_str_eq(host->locations[0].redirect_to, "");
    config_free(config);
}
END_TEST

START_TEST(test_values)
{
    struct config *config = fixture_load(
        "workers = 4; backend = \"io_uring\"; pid_file = \"logs/evixd.pid\";\n"
        "error_log = { target = \"/var/log/evixd//\"; level = \"debug\"; };\n"
        "limits = { connections = 1000000; body = 0; head = 0x400; target = 1024; min_rate = "
        "\"1M\"; };\n"
        "timeouts = { head = 1.5; body = \"500ms\"; send = 0; keep_alive = \"24h\"; linger = 2L; "
        "};\n"
        "files = { cache = \"off\"; memory = 5000000000; small = \"0\"; symlinks = \"refuse\"; };\n"
        "default_type = \"text/plain; charset=utf-8\"; mime_types = \"test.conf\";\n" HOST,
        NULL, 0);

    ck_assert_uint_eq(config->workers, 4);
    ck_assert_int_eq(config->backend, CONFIG_BACKEND_IO_URING);
    ck_assert_str_eq(config->pid_file, under("logs/evixd.pid"));
    ck_assert_int_eq(config->error_log.target, CONFIG_TARGET_FILE);
    ck_assert_str_eq(config->error_log.path, "/var/log/evixd");
    ck_assert_int_eq(config->error_log.level, LOG_LEVEL_DEBUG);
    ck_assert_uint_eq(config->limits.connections, 1000000);
    ck_assert_uint_eq(config->limits.body_bytes, 0);
    ck_assert_uint_eq(config->limits.head_bytes, 1024);
    ck_assert_uint_eq(config->limits.min_rate, 1 << 20);
    ck_assert_uint_eq(config->timeouts.head_ms, 1500);
    ck_assert_uint_eq(config->timeouts.body_ms, 500);
    ck_assert_uint_eq(config->timeouts.send_ms, 0);
    ck_assert_uint_eq(config->timeouts.keep_alive_ms, 86400000);
    ck_assert_uint_eq(config->timeouts.linger_ms, 2000);
    ck_assert_int_eq(config->files.cache, CONFIG_CACHE_OFF);
    ck_assert_uint_eq(config->files.memory_bytes, 5000000000); /* above 32 bits, without an L */
    ck_assert_uint_eq(config->files.small_bytes, 0);
    ck_assert_int_eq(config->files.symlinks, CONFIG_SYMLINKS_REFUSE);
    ck_assert_str_eq(config->default_type, "text/plain; charset=utf-8");
    ck_assert_str_eq(config->mime_types, under("test.conf"));
    config_free(config);
}
END_TEST

START_TEST(test_listeners)
{
    struct config *config = fixture_load(
        "listen = ( { address = \"[::]:80\"; }, { address = \"0.0.0.0:80\"; backlog = 5; },\n"
        "  { address = \"[::]:81\"; }, { address = \"unix:www/sock\"; mode = \"0600\"; },\n"
        "  { address = \"127.0.0.1:7\"; protocol = \"echo\"; }, { address = \"82\"; },\n"
        "  { address = \"127.0.0.1:0\"; }, { address = \"127.0.0.1:0\"; } );\n" HOST,
        NULL, 0);

    ck_assert_uint_eq(config->listen_count, 8);
    ck_assert(config->listen[0].v6_only && !config->listen[0].wildcard);
    ck_assert_uint_eq(config->listen[1].backlog, 5);
    ck_assert_int_eq(config->listen[1].sockaddr.ss_family, AF_INET);
    ck_assert(!config->listen[1].v6_only && !config->listen[2].v6_only);
    ck_assert_msg(strncmp(config->listen[3].address, "unix:/", 6) == 0, "made absolute");
    ck_assert_uint_eq(config->listen[3].mode, 0600);
    ck_assert_int_eq(config->listen[4].protocol, CONFIG_PROTOCOL_ECHO);
    ck_assert(config->listen[5].wildcard);
    ck_assert_str_eq(config->listen[5].address, ":82");
    ck_assert_int_eq(config->listen[5].sockaddr.ss_family, AF_INET6);
    ck_assert_ptr_nonnull(strstr(config->listen[3].source, "/test.conf:2"));
    config_free(config);
}
END_TEST

START_TEST(test_echo_service_needs_no_host)
{
    struct config *config =
        fixture_load("listen = ( { address = \"127.0.0.1:7\"; protocol = \"echo\"; } );", NULL, 0);

    ck_assert_uint_eq(config->host_count, 0);
    ck_assert_ptr_null(config->default_host);
    config_free(config);
}
END_TEST

/* The order of locations, so that the first that matches on a boundary is the longest. */
START_TEST(test_order_of_locations)
{
    static const char *const order[] = {"/img/large/", "/img/large", "/other",
                                        "/img2",       "/img",       "/"};
    struct config *config = fixture_load(
        "hosts = ( { locations = ( { path = \"/img\"; }, { path = \"/\"; }, { path = \"/img2\"; "
        "},\n"
        " { path = \"/img/large\"; }, { path = \"/other\"; }, { path = \"/img/large/\"; } );\n"
        " root = \"www\"; } );",
        NULL, 0);

    ck_assert_uint_eq(config->hosts[0].location_count, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_str_eq(config->hosts[0].locations[i].path, order[i]);
        ck_assert_uint_eq(config->hosts[0].locations[i].path_length, strlen(order[i]));
        /* the root is written behind the locations, and yet inherited */
        ck_assert_str_eq(config->hosts[0].locations[i].root, under("www"));
    }
    config_free(config);
}
END_TEST

static void check_header(const struct config_location *location, size_t index, const char *name,
                         const char *value)
{
    ck_assert_uint_lt(index, location->header_count);
    ck_assert_str_eq(location->headers[index].name, name);
    ck_assert_str_eq(location->headers[index].value, value);
}

static const char family[] =
    "index = ( \"file.html\", \"file.htm\" ); listing = true;\n"
    "headers = { X-File = \"file\"; X-Both = \"file\"; };\n"
    "access_log = { target = \"stdout\"; format = \"%h %r\"; };\n"
    "hosts = (\n"
    " { names = ( \"A.Example\", \"*.a.example\" ); root = \"@/www/\"; index = \"host.html\";\n"
    "   headers = { x-both = \"host\"; X-Host = \"host\"; };\n"
    "   access_log = { format = \"json\"; };\n"
    "   locations = (\n"
    "     { path = \"/own\"; root = \"@\"; index = ( ); listing = false; dotfiles = true;\n"
    "       headers = { X-Host = \"\"; X-Own = \"a \\\"b\\\" \\\\ c\"; X-None = \"\"; }; },\n"
    "     { path = \"/old/\"; redirect = { status = 308; to = \"https://new.example/\"; }; },\n"
    "     { path = \"/now\"; handler = \"redirect\"; redirect = { to = \"/later\"; }; },\n"
    "     { path = \"/echo\"; handler = \"echo\"; } ); },\n"
    " { names = [ \"b.example\", \"[::1]\" ]; default = true; root = \"@/www\";\n"
    "   access_log = { target = \"logs/b.log\"; }; } );\n";

START_TEST(test_inheritance)
{
    struct config *config = fixture_load(family, NULL, 0);
    const struct config_host *a = &config->hosts[0], *b = &config->hosts[1];
    const struct config_location *location;

    ck_assert_str_eq(a->names[0], "a.example");
    ck_assert_str_eq(a->names[1], "*.a.example");
    ck_assert_str_eq(b->names[1], "[::1]");
    ck_assert_ptr_eq(config->default_host, b);
    ck_assert(!a->is_default);
    ck_assert_str_eq(a->root, under("www"));

    ck_assert_int_eq(a->access_log.target, CONFIG_TARGET_STDOUT);
    ck_assert_int_eq(a->access_log.format, CONFIG_LOG_JSON);
    ck_assert_int_eq(b->access_log.target, CONFIG_TARGET_FILE);
    ck_assert_str_eq(b->access_log.path, under("logs/b.log"));
    ck_assert_int_eq(b->access_log.format, CONFIG_LOG_CUSTOM);
    ck_assert_str_eq(b->access_log.format_text, "%h %r");

    location = fixture_location(config, 0, "/");
    ck_assert_uint_eq(location->index_count, 1);
    ck_assert_str_eq(location->index[0], "host.html");
    ck_assert(location->listing);
    ck_assert_uint_eq(location->header_count, 3);
    check_header(location, 0, "X-File", "file");
    check_header(location, 1, "x-both", "host");
    check_header(location, 2, "X-Host", "host");

    location = fixture_location(config, 0, "/own");
    ck_assert_str_eq(location->root, fixture_folder);
    ck_assert_uint_eq(location->index_count, 0);
    ck_assert(!location->listing && location->dotfiles);
    ck_assert_uint_eq(location->header_count, 3);
    check_header(location, 2, "X-Own", "a \"b\" \\ c");

    location = fixture_location(config, 1, "/");
    ck_assert_uint_eq(location->index_count, 2);
    ck_assert_str_eq(location->index[1], "file.htm");
    ck_assert_uint_eq(location->header_count, 2);
    check_header(location, 1, "X-Both", "file");
    config_free(config);
}
END_TEST

/* What a host says of access holds below it, until somebody says otherwise. */
START_TEST(test_policy)
{
    struct config *config = fixture_load(
        "allow = \"unix\"; fallback = \"/f\"; headers_always = { X-A = \"a\"; X-B = \"b\"; };\n"
        "error_pages = ( { status = 404; file = \"/404.html\"; } );\n"
        "listen = ( { address = \"unix:/tmp/x\"; owner = \"root\"; group = \"root\"; } );\n"
        "hosts = ( { root = \"@/www\"; allow = ( \"10.0.0.0/8\", \"::1\" ); locations = (\n"
        " { path = \"/open/\"; allow = ( \"::1\", \"all\" ); fallback = \"\"; error_pages = ( );\n"
        "   headers_always = { X-A = \"\"; X-C = \"c\"; }; },\n"
        " { path = \"/nobody/\"; allow = ( ); } ); }, { names = \"b\"; root = \"@/www\"; } );",
        NULL, 0);
    const struct config_location *location = fixture_location(config, 0, "/");

    ck_assert_uint_eq(location->network_count, 2);
    ck_assert(!location->allows_all);
    ck_assert_uint_eq(location->networks[0].bits, 96 + 8);
    ck_assert_uint_eq(location->networks[1].bits, 128);
    ck_assert_str_eq(location->fallback, "/f");
    ck_assert_uint_eq(location->error_page_count, 1);
    ck_assert_uint_eq(location->error_pages[0].status, 404);
    ck_assert_str_eq(location->error_pages[0].file, "/404.html");
    ck_assert_uint_eq(location->header_always_count, 2);

    location = fixture_location(config, 0, "/open/");
    ck_assert(location->allows_all);
    ck_assert_str_eq(location->fallback, "");
    ck_assert_uint_eq(location->error_page_count, 0);
    ck_assert_uint_eq(location->header_always_count, 2);
    ck_assert_str_eq(location->headers_always[0].name, "X-B");

    location = fixture_location(config, 0, "/nobody/");
    ck_assert(!location->allows_all);
    ck_assert_uint_eq(location->network_count, 0);

    location = fixture_location(config, 1, "/");
    ck_assert(!location->allows_all && location->networks[0].is_unix);
    ck_assert_str_eq(config->listen[0].owner, "root");
    ck_assert_str_eq(config->listen[0].group, "root");
    config_free(config);
}
END_TEST

/* Of one path: those with patterns first, as the file has them. */
START_TEST(test_order_of_patterns)
{
    struct config *config =
        fixture_load("hosts = ( { root = \"@/www\"; locations = ( { path = \"/\"; }, { path = "
                     "\"/\"; files = \"*.z\"; },\n { path = \"/a/\"; }, { path = \"/\"; files = "
                     "\"*.a\"; } ); } );",
                     NULL, 0);
    static const char *const order[] = {"", "*.z", "*.a", ""};

    ck_assert_uint_eq(config->hosts[0].location_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct config_location *location = &config->hosts[0].locations[i];

        ck_assert_str_eq(location->path, i == 0 ? "/a/" : "/");
        ck_assert_str_eq(location->pattern_count == 0 ? "" : location->patterns[0], order[i]);
    }
    config_free(config);

    /* patterns alone leave the rest of the host to the host's own settings */
    config = fixture_load("hosts = ( { root = \"@/www\"; locations = ( { path = \"/\"; files = "
                          "\"*.a\"; } ); } );",
                          NULL, 0);
    ck_assert_uint_eq(config->hosts[0].location_count, 2);
    ck_assert_uint_eq(config->hosts[0].locations[1].pattern_count, 0);
    config_free(config);
}
END_TEST

START_TEST(test_handlers)
{
    struct config *config = fixture_load(family, NULL, 0);
    const struct config_location *location = fixture_location(config, 0, "/old/");

    ck_assert_int_eq(location->handler, CONFIG_HANDLER_REDIRECT);
    ck_assert_uint_eq(location->redirect_status, 308);
    ck_assert_str_eq(location->redirect_to, "https://new.example/");
    location = fixture_location(config, 0, "/now");
    ck_assert_int_eq(location->handler, CONFIG_HANDLER_REDIRECT);
    ck_assert_uint_eq(location->redirect_status, 301);
    location = fixture_location(config, 0, "/echo");
    ck_assert_int_eq(location->handler, CONFIG_HANDLER_ECHO);
    ck_assert_uint_eq(location->redirect_status, 0);
    config_free(config);
}
END_TEST

/* A host of which all paths are redirects needs no root. */
START_TEST(test_host_without_files)
{
    struct config *config =
        fixture_load("hosts = ( { locations = ( { path = \"/\"; redirect = { to "
                     "= \"https://example.org/\"; }; } ); } );",
                     NULL, 0);

    ck_assert_uint_eq(config->hosts[0].location_count, 1);
    ck_assert_str_eq(config->hosts[0].locations[0].root, "");
    config_free(config);
}
END_TEST

/* What -T prints loads back to the same, and so do all its values. */
START_TEST(test_dump_reads_back)
{
    static const char *const texts[] = {
        HOST,
        family,
        "workers = 3; backend = \"poll\"; user = \"root\"; group = \"root\"; pid_file = \"/x\";\n"
        "error_log = { target = \"/tmp/a \\\"b\\\" \\\\c\"; level = \"info\"; };\n"
        "limits = { body = 123456789012; target = 1000; }; timeouts = { head = 1.234; };\n"
        "headers = { X-Tab = \"a\\tb\"; X-Utf8 = \"gr\xc3\xbc\xc3\x9f\"; };\n"
        "listen = ( { address = \":80\"; }, { address = \"unix:/tmp/x y\"; mode = \"0777\"; },\n"
        "  { address = \"[::1]:80\"; protocol = \"echo\"; backlog = 1; } );\n" HOST,
        "listen = ( { address = \"[::]:1\"; protocol = \"echo\"; } );",
        "listen = ( { address = \"unix:/tmp/x\"; owner = \"root\"; group = \"root\"; } );\n"
        "headers_always = { X-A = \"a\"; X-B = \"b\"; }; fallback = \"/a?b%c.html\";\n"
        "error_pages = ( { status = 404; file = \"/404.html\"; } ); allow = \"unix\";\n"
        "hosts = ( { root = \"@/www\"; allow = ( \"127.0.0.0/8\", \"::1\" ); locations = (\n"
        " { path = \"/a/\"; files = ( \"*.[jt]s\", \"*.css\" ); allow = ( ); },\n"
#ifdef HAVE_LIBCRYPT
        " { path = \"/b/\"; auth = { realm = \"r\"; users = \"test.conf\"; }; },\n"
#endif
        " { path = \"/a/\"; allow = \"all\"; error_pages = ( ); fallback = \"\";\n"
        "   headers_always = { X-A = \"\"; }; } ); } );",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct config *config = fixture_load(texts[i], NULL, 0), *again;
        char *dump = fixture_dump(config), *second;

        fixture_messages[0] = '\0';
        ck_assert_msg(
            config_load_text(dump, strlen(dump), "dump.conf", NULL, &again, &fixture_errors) == 0,
            "%s\nin:\n%s", fixture_messages, dump);
        second = fixture_dump(again);
        ck_assert_str_eq(dump, second);
        ck_assert_mem_eq(&config->limits, &again->limits, sizeof(config->limits));
        ck_assert_mem_eq(&config->timeouts, &again->timeouts, sizeof(config->timeouts));
        ck_assert_mem_eq(&config->files, &again->files, sizeof(config->files));
        ck_assert_uint_eq(config->listen_count, again->listen_count);
        for (size_t j = 0; j < config->listen_count; j++)
            ck_assert_int_eq(config->listen[j].wildcard, again->listen[j].wildcard);
        free(dump);
        free(second);
        config_free(config);
        config_free(again);
    }
}
END_TEST

START_TEST(test_dump_to_a_full_disk)
{
    struct config *config = fixture_load(HOST, NULL, 0);
    FILE *full = fopen("/dev/full", "w");

    ck_assert_ptr_nonnull(full);
    ck_assert_int_eq(config_dump(config, full), -EIO);
    fclose(full);
    config_free(config);
}
END_TEST

START_TEST(test_overrides)
{
    static const char *const listen[] = {"8081", "unix:sock"};
    const struct config_overrides overrides = {
        .listen = listen,
        .listen_count = 2,
        .workers = "7",
        .backend = "epoll",
        .level = "debug",
        .access_log = "./access.log",
        .echo_path = "/echo",
    };
    struct config *config;
    char here[4096], expected[8192];

    ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
    config = fixture_load(family, &overrides, 0);
    ck_assert_uint_eq(config->listen_count, 2);
    ck_assert_str_eq(config->listen[0].address, ":8081");
    ck_assert_str_eq(config->listen[0].source, "--listen");
    ck_assert_uint_eq(config->listen[0].backlog, 4096);
    /* the command line's paths are the shell's, not the file's */
    snprintf(expected, sizeof(expected), "unix:%s/sock", here);
    ck_assert_str_eq(config->listen[1].address, expected);
    ck_assert_uint_eq(config->workers, 7);
    ck_assert_int_eq(config->backend, CONFIG_BACKEND_EPOLL);
    ck_assert_int_eq(config->error_log.level, LOG_LEVEL_DEBUG);
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_host *host = &config->hosts[i];

        ck_assert_int_eq(fixture_location(config, i, "/echo")->handler, CONFIG_HANDLER_ECHO);
        ck_assert_int_eq(host->access_log.target, CONFIG_TARGET_FILE);
        snprintf(expected, sizeof(expected), "%s/./access.log", here);
        ck_assert_str_eq(host->access_log.path, expected);
        ck_assert_str_eq(host->locations[host->location_count - 1].path, "/");
    }
    /* the format stays the file's */
    ck_assert_int_eq(config->hosts[0].access_log.format, CONFIG_LOG_JSON);
    /* one that the file had, too: replaced, not doubled */
    ck_assert_uint_eq(config->hosts[0].location_count, 5);
    config_free(config);
}
END_TEST

START_TEST(test_wrong_overrides)
{
    static const char *const listen[] = {"70000", "localhost:80", "127.0.0.1:80"};
    const struct config_overrides overrides = {
        .listen = listen,
        .listen_count = 3,
        .workers = "0",
        .backend = "select",
        .access_log = "of",
        .echo_path = "echo",
    };

    fixture_load(HOST "backend = \"x\";", &overrides, -EINVAL);
    ck_assert_str_eq(
        fixture_messages,
        "--echo: expected a path that begins with a slash, found \"echo\"\n"
        "--access-log: expected \"off\", \"stdout\", \"stderr\" or a path with a slash, found "
        "\"of\"; did you mean \"off\"?\n"
        "--workers: expected \"auto\" or an integer from 1 to 1024, found 0\n"
        "--backend: expected \"auto\", \"io_uring\", \"epoll\" or \"poll\", found \"select\"\n"
        "--listen: expected a port from 0 to 65535, found \"70000\"\n"
        "--listen: \"127.0.0.1:80\" is listened on already, by --listen\n"
        "test.conf:2: backend: expected \"auto\", \"io_uring\", \"epoll\" or \"poll\", found "
        "\"x\"\n");
}
END_TEST

START_TEST(test_directory)
{
    const struct config_overrides overrides = {.echo_path = "/e/", .access_log = "stdout"};
    struct config *config;

    ck_assert_int_eq(config_from_directory(under("www"), NULL, &config, &fixture_errors), 0);
    ck_assert_str_eq(config->path, "");
    ck_assert_str_eq(config->listen[0].address, "127.0.0.1:8080");
    ck_assert_str_eq(config->hosts[0].root, under("www"));
    ck_assert_uint_eq(config->hosts[0].location_count, 1);
    ck_assert(config->hosts[0].locations[0].listing);
    ck_assert_int_eq(config->hosts[0].access_log.target, CONFIG_TARGET_OFF);
    config_free(config);
    ck_assert_int_eq(config_from_directory(under("www"), &overrides, &config, &fixture_errors), 0);
    ck_assert_uint_eq(config->hosts[0].location_count, 2);
    ck_assert_str_eq(config->hosts[0].locations[0].path, "/e/");
    ck_assert_int_eq(config->hosts[0].access_log.target, CONFIG_TARGET_STDOUT);
    config_free(config);
}
END_TEST

START_TEST(test_directory_with_a_strange_name)
{
    char path[512];
    struct config *config;

    snprintf(path, sizeof(path), "%s/a \"b\" \\n '*' @ gr\xc3\xbc\xc3\x9f", fixture_folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(config_from_directory(path, NULL, &config, &fixture_errors), 0);
    ck_assert_str_eq(config->hosts[0].root, path);
    config_free(config);
}
END_TEST

START_TEST(test_wrong_directory)
{
    const struct config_overrides overrides = {.workers = "none"};
    struct config *config;

    fixture_write("file", "");
    ck_assert_int_eq(config_from_directory(under("none"), NULL, &config, &fixture_errors), -ENOENT);
    ck_assert_int_eq(config_from_directory(under("file"), NULL, &config, &fixture_errors),
                     -ENOTDIR);
    ck_assert_ptr_null(config);
    ck_assert_int_eq(config_from_directory(under("www"), &overrides, &config, &fixture_errors),
                     -EINVAL);
    ck_assert_str_eq(fixture_messages,
                     "none: No such file or directory\nfile: Not a directory\n"
                     "--workers: expected \"auto\" or an integer from 1 to 1024, found \"none\"\n");
}
END_TEST

/* Looking changes nothing on the disk. */
START_TEST(test_loading_touches_nothing)
{
    struct config *config = fixture_load("pid_file = \"a.pid\"; error_log = { target = "
                                         "\"./b.log\"; }; access_log = { target = \"./c.log\"; };\n"
                                         "listen = ( { address = \"unix:d.sock\"; } );\n" HOST,
                                         NULL, 0);
    static const char *const names[] = {"a.pid", "b.log", "c.log", "d.sock"};

    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(access(under(names[i]), F_OK), -1);
    config_free(config);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config/site");
    TCase *site = tcase_create("site");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(site, fixture_setup, fixture_teardown);
    tcase_add_test(site, test_defaults);
    tcase_add_test(site, test_values);
    tcase_add_test(site, test_listeners);
    tcase_add_test(site, test_echo_service_needs_no_host);
    tcase_add_test(site, test_order_of_locations);
    tcase_add_test(site, test_inheritance);
    tcase_add_test(site, test_policy);
    tcase_add_test(site, test_order_of_patterns);
    tcase_add_test(site, test_handlers);
    tcase_add_test(site, test_host_without_files);
    tcase_add_test(site, test_dump_reads_back);
    tcase_add_test(site, test_dump_to_a_full_disk);
    tcase_add_test(site, test_overrides);
    tcase_add_test(site, test_wrong_overrides);
    tcase_add_test(site, test_directory);
    tcase_add_test(site, test_directory_with_a_strange_name);
    tcase_add_test(site, test_wrong_directory);
    tcase_add_test(site, test_loading_touches_nothing);
    suite_add_tcase(suite, site);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
