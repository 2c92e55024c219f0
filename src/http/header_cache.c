/* SPDX-License-Identifier: MIT */
/*
 * Remembers header sections and what they were read as, in a table indexed by a hash.
 * It reads none itself, and keeps only those of plain requests: head.c asks it before it parses,
 * and tells it what came of that.
 */
#include "http/header_cache.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS = 256, SECTION_BYTES = 1024, FIELDS = 24 };

/* A field line by its places in the section, since the next one lies elsewhere in memory. */
struct placed_field {
    uint16_t name, name_length, value, value_length;
    uint16_t id, next; /* as in struct http_field */
};

struct slot {
    uint64_t hash;   /* of the section that is kept; meaningless while length is 0 */
    uint64_t seen;   /* of one that came once since */
    uint16_t length; /* 0: none is kept */
    uint16_t host, host_length, port;
    uint8_t minor_version;
    bool keep_alive;
    uint8_t field_count;
    struct placed_field fields[FIELDS];
    char bytes[SECTION_BYTES];
};

struct http_header_cache {
    struct slot slots[SLOTS];
};

struct http_header_cache *http_header_cache_new(void)
{
    return calloc(1, sizeof(struct http_header_cache));
}

/*
 * Two lanes of eight bytes, multiplied and mixed. Whoever finds two sections for one place has them
 * parsed each time, as they would be anyway: what is found is always compared.
 */
static uint64_t hash_of(struct http_text section)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t a = section.length, b = factor;
    const char *at = section.data, *end = section.data + section.length;
    for (; end - at >= 16; at += 16) {
        uint64_t words[2];
        memcpy(words, at, sizeof(words));
        a = (a ^ words[0]) * factor;
        b = (b ^ words[1]) * factor;
        a ^= a >> 32;
        b ^= b >> 32;
    }
    uint64_t rest[2] = {0};
    memcpy(rest, at, (size_t)(end - at));
    a = (a ^ rest[0]) * factor;
    b = (b ^ rest[1]) * factor;
    a ^= (b >> 29) ^ b;
    return (a ^ a >> 32) * factor;
}

static struct slot *slot_of(struct http_header_cache *cache, uint64_t hash)
{
    return &cache->slots[hash >> 56];
}

/* Its target is in origin-form, so that the host is the section's; the method means no content. */
static bool is_plain(const struct http_request *request)
{
    return request->target.data[0] == '/' &&
           (request->method == HTTP_METHOD_GET || request->method == HTTP_METHOD_HEAD);
}

static void give(const struct slot *slot, const char *start, struct http_request *request)
{
    for (unsigned i = 0; i < slot->field_count; i++) {
        const struct placed_field *from = &slot->fields[i];
        request->fields[i] = (struct http_field){
            .name = {start + from->name, from->name_length},
            .value = {start + from->value, from->value_length},
            .id = from->id,
            .next = from->next,
        };
    }
    /* Backwards, so that the first of those that repeat is what remains. */
    for (unsigned i = slot->field_count; i > 0; i--)
        request->known[slot->fields[i - 1].id] = (uint16_t)i;
    request->known[HTTP_FIELD_OTHER] = 0;
    request->field_count = slot->field_count;
    request->host = (struct http_text){start + slot->host, slot->host_length};
    request->port = slot->port;
    request->keep_alive = slot->keep_alive;
}

bool http_header_cache_find(struct http_header_cache *cache, struct http_text section,
                            struct http_request *request)
{
    if (!is_plain(request) || section.length > SECTION_BYTES)
        return false;
    uint64_t hash = hash_of(section);
    const struct slot *slot = slot_of(cache, hash);
    if (slot->hash != hash || slot->length != section.length ||
        slot->minor_version != request->minor_version ||
        slot->field_count > request->field_capacity ||
        memcmp(slot->bytes, section.data, section.length) != 0)
        return false;
    give(slot, section.data, request);
    return true;
}

static uint16_t place(struct http_text text, struct http_text section)
{
    if (text.length == 0)
        return 0;
    assert(text.data >= section.data && text.data + text.length <= section.data + section.length);
    return (uint16_t)(text.data - section.data);
}

static void keep(struct slot *slot, struct http_text section, const struct http_request *request)
{
    for (unsigned i = 0; i < request->field_count; i++) {
        const struct http_field *from = &request->fields[i];
        slot->fields[i] = (struct placed_field){
            .name = place(from->name, section),
            .name_length = (uint16_t)from->name.length,
            .value = place(from->value, section),
            .value_length = (uint16_t)from->value.length,
            .id = from->id,
            .next = from->next,
        };
    }
    slot->field_count = (uint8_t)request->field_count;
    slot->host = place(request->host, section);
    slot->host_length = (uint16_t)request->host.length;
    slot->port = request->port;
    slot->minor_version = request->minor_version;
    slot->keep_alive = request->keep_alive;
    slot->length = (uint16_t)section.length;
    memcpy(slot->bytes, section.data, section.length);
}

void http_header_cache_note(struct http_header_cache *cache, struct http_text section,
                            const struct http_request *request)
{
    if (!is_plain(request) || request->body != HTTP_BODY_NONE || request->has_content_length ||
        request->expect_continue || section.length > SECTION_BYTES || request->field_count > FIELDS)
        return;
    uint64_t hash = hash_of(section);
    struct slot *slot = slot_of(cache, hash);
    if (slot->seen == hash) {
        slot->hash = hash;
        slot->seen = 0;
        keep(slot, section, request);
    } else {
        slot->seen = hash;
    }
}
