/* SPDX-License-Identifier: MIT */
/*
 * Feeds any text to the configuration's loader. What it refuses it must explain, in lines that are
 * lines; what it takes must be dumped, read back, and dumped the same.
 * Called by libFuzzer, or by replay.c with the corpus.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

#include "fuzz.h"

const char *__lsan_default_suppressions(void);

static unsigned messages;

/* libconfig 1.5 forgets a string that a syntax error follows; there is no way to free it. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so\n";
}

static void on_message(void *data, const char *line)
{
    (void)data;
    messages++;
    CHECK(line[0] != '\0');
    for (; *line != '\0'; line++)
        CHECK((unsigned char)*line >= 0x20 && *line != 0x7F);
}

static const struct config_errors errors = {.report = on_message};

static struct config *load(const char *text, size_t length,
                           const struct config_overrides *overrides)
{
    struct config *config;
    int result;

    messages = 0;
    result = config_load_text(text, length, "fuzz.conf", overrides, &config, &errors);
    CHECK((result == 0) == (config != NULL));
    CHECK((result == 0) == (messages == 0));
    return config;
}

static char *dump(const struct config *config, size_t *out_length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, out_length);

    CHECK(stream != NULL && config_dump(config, stream) == 0);
    CHECK(fclose(stream) == 0);
    return text;
}

/* The invariants that readers of a configuration rely on. */
static void check(const struct config *config)
{
    CHECK(config->listen_count > 0);
    CHECK((config->host_count == 0) == (config->default_host == NULL));
    for (size_t i = 0; i < config->host_count; i++) {
        const struct config_host *host = &config->hosts[i];
        const struct config_location *last = &host->locations[host->location_count - 1];

        CHECK(host->location_count > 0 && strcmp(last->path, "/") == 0);
        CHECK(host->is_default == (host == config->default_host));
        for (size_t j = 0; j < host->location_count; j++) {
            const struct config_location *location = &host->locations[j];

            CHECK(location->path_length == strlen(location->path));
            CHECK(j == 0 || location->path_length <= location[-1].path_length);
            CHECK(location->handler != CONFIG_HANDLER_STATIC || location->root[0] == '/');
            CHECK((location->handler == CONFIG_HANDLER_REDIRECT) ==
                  (location->redirect_status != 0));
            for (size_t k = 0; k < location->header_count; k++)
                CHECK(strpbrk(location->headers[k].value, "\r\n") == NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct config_overrides overrides = {.echo_path = "/echo", .access_log = "off"};
    struct config *config = load((const char *)data, size, size % 2 == 0 ? NULL : &overrides);
    struct config *again;
    size_t length, length_again;
    char *text, *text_again;

    if (config == NULL)
        return 0;
    check(config);
    text = dump(config, &length);
    again = load(text, length, NULL);
    CHECK(again != NULL);
    check(again);
    text_again = dump(again, &length_again);
    CHECK(length == length_again && memcmp(text, text_again, length) == 0);
    free(text);
    free(text_again);
    config_free(config);
    config_free(again);
    return 0;
}
