/* SPDX-License-Identifier: MIT */
/*
 * Answers with a file's content: evaluates conditions and ranges, and picks a body.
 * It does not look files up: handler_static.c does.
 * Called by handler_static.c.
 */
#include "server/static_content.h"

#include "files/hash.h"
#include "http/condition.h"
#include "http/negotiate.h"
#include "http/range.h"
#include "http/response.h"
#include "server/body_parts.h"
#include "server/precondition.h"
#include "server/worker_state.h"

/* Room for the fields of a 206 beside its validators. */
#define FIELD_BYTES 768

/* Who asks for more ranges than this gets the whole file: no client that means well does. */
#define MOST_RANGES 1000

static struct http_text etag_of(const struct representation *file)
{
    return (struct http_text){file->etag, file->etag_length};
}

static struct http_validators validators_of(const struct representation *file)
{
    return (struct http_validators){
        .etag = etag_of(file),
        .has_modified = file->modified >= 0,
        .modified = file->modified,
    };
}

static struct http_text media_type_of(const struct representation *file)
{
    return (struct http_text){file->media_type, file->media_type_length};
}

static void write_validators(struct http_writer *writer, const struct representation *file)
{
    if (file->etag != NULL)
        http_write_field(writer, HTTP_FIELD_ETAG, etag_of(file));
    if (file->modified >= 0)
        http_write_date_field(writer, HTTP_FIELD_LAST_MODIFIED, file->modified);
}

/* Whether another representation could have been sent, had the client asked for it. */
static bool varies(const struct representation *file)
{
    return file->siblings != 0 || file->coding != CODING_NONE;
}

/* What an error has of it, that stands in for a 200. */
static struct http_text error_vary(const struct exchange *exchange,
                                   const struct representation *file)
{
    if (exchange->is_fallback)
        return varies(file) ? HTTP_TEXT("Vary: " ROUTE_FALLBACK_NAMES ", Accept-Encoding\r\n")
                            : ROUTE_FALLBACK_VARIES;
    return varies(file) ? HTTP_TEXT("Vary: Accept-Encoding\r\n") : (struct http_text){0};
}

/*
 * RFC 9110 15.4.5: of the fields that a 200 would have had those that a cache needs to find what it
 * has, and no others: not even the date, where there is a tag.
 */
static void answer_not_modified(struct exchange *exchange, const struct representation *file)
{
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    if (file->etag != NULL)
        http_write_field(&writer, HTTP_FIELD_ETAG, etag_of(file));
    else
        write_validators(&writer, file);
    exchange_respond(exchange, &(struct response){
                                   .status = 304,
                                   .reason = "the client's copy is current",
                                   .fields = {memory, (size_t)(writer.at - memory)},
                                   .varies = varies(file),
                               });
}

static void answer_unsatisfiable(struct exchange *exchange, const struct representation *file)
{
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    http_write_content_range(&writer, NULL, file->size);
    http_write(&writer, error_vary(exchange, file));
    exchange_fail_with(exchange, 416, "no range lies within the file",
                       (struct http_text){memory, (size_t)(writer.at - memory)});
}

/* Gives the response the bytes in memory, or a body that reads the file. */
static bool attach_content(struct exchange *exchange, struct response *response,
                           struct representation *file, uint64_t offset, uint64_t length)
{
    if (length == 0)
        return true;
    if (file->bytes != NULL) {
        response->content = file;
        response->offset = offset;
        response->length = length;
        return true;
    }
    if (body_from_file(&response->body, exchange->worker->store, file, offset, length) == 0)
        return true;
    exchange_fail(exchange, 503, "no memory for the file's content");
    return false;
}

static void answer_whole(struct exchange *exchange, struct representation *file)
{
    struct response response = {.status = 200,
                                .fields = {file->fields, file->fields_length},
                                .has_length = true,
                                .varies = varies(file)};

    if (attach_content(exchange, &response, file, 0, file->size))
        exchange_respond(exchange, &response);
}

/* What every 206 says of the representation (RFC 9110 15.3.7), beside its type and its range. */
static void write_part_fields(struct http_writer *writer, const struct representation *file)
{
    if (file->coding != CODING_NONE)
        http_write_field(writer, HTTP_FIELD_CONTENT_ENCODING,
                         http_text_of(coding_name(file->coding)));
    write_validators(writer, file);
    http_write_field(writer, HTTP_FIELD_ACCEPT_RANGES, HTTP_TEXT("bytes"));
}

static void answer_range(struct exchange *exchange, struct representation *file,
                         const struct http_range *range)
{
    struct response response = {.status = 206, .varies = varies(file)};
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    http_write_field(&writer, HTTP_FIELD_CONTENT_TYPE, media_type_of(file));
    http_write_content_range(&writer, range, file->size);
    write_part_fields(&writer, file);
    response.fields = (struct http_text){memory, (size_t)(writer.at - memory)};
    if (attach_content(exchange, &response, file, range->first, http_range_length(range)))
        exchange_respond(exchange, &response);
}

static void answer_parts(struct exchange *exchange, struct representation *file,
                         const struct http_multipart *multipart, const struct http_ranges *ranges)
{
    struct response response = {.status = 206, .varies = varies(file)};
    char memory[FIELD_BYTES];
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    http_multipart_write_type(multipart, &writer);
    write_part_fields(&writer, file);
    response.fields = (struct http_text){memory, (size_t)(writer.at - memory)};
    if (body_from_parts(&response.body, exchange->worker->store, file, multipart, ranges) == 0)
        exchange_respond(exchange, &response);
    else
        exchange_fail(exchange, 503, "no memory for the parts of a file");
}

/*
 * One part is answered as such, several as multipart/byteranges (RFC 9110 15.3.7.2). Where the
 * parts together are no shorter than the file, the file is what the client gets: asking for much
 * in pieces must not be a way to make us send more than it.
 */
static void answer_ranges(struct exchange *exchange, struct representation *file,
                          struct http_ranges *ranges)
{
    struct http_multipart multipart;

    http_multipart_init(&multipart, media_type_of(file), file->size, hash_seed());
    ranges->count =
        http_range_coalesce(ranges->at, ranges->count, http_multipart_overhead(&multipart));
    if (ranges->count == 1)
        answer_range(exchange, file, &ranges->at[0]);
    else if (http_multipart_length(&multipart, ranges->at, ranges->count) >= file->size)
        answer_whole(exchange, file);
    else
        answer_parts(exchange, file, &multipart, ranges);
}

/* A client that knows another version of the file gets all of this one (RFC 9110 13.1.5). */
static bool is_range_for(const struct exchange *exchange, const struct representation *file)
{
    struct http_validators validators = validators_of(file);

    return http_condition_allows_range(exchange->request, &validators,
                                       exchange->worker->clock.seconds);
}

static void answer_selected(struct exchange *exchange, struct representation *file,
                            struct http_text field)
{
    struct http_range memory[MOST_RANGES];
    struct http_ranges ranges = {.at = memory};

    switch (http_range_parse(field, file->size, memory, MOST_RANGES, &ranges.count)) {
    case HTTP_RANGE_NONE:
        answer_whole(exchange, file);
        break;
    case HTTP_RANGE_SATISFIABLE:
        if (ranges.count == 1)
            answer_range(exchange, file, &memory[0]);
        else
            answer_ranges(exchange, file, &ranges);
        break;
    case HTTP_RANGE_UNSATISFIABLE:
        answer_unsatisfiable(exchange, file);
        break;
    }
}

/* RFC 9110 14.2: ranges are for GET alone. */
static void answer_content(struct exchange *exchange, struct representation *file)
{
    const struct http_request *request = exchange->request;
    const struct http_text *ranges = http_request_field_single(request, HTTP_FIELD_RANGE);

    if (ranges == NULL || request->method != HTTP_METHOD_GET || !is_range_for(exchange, file))
        answer_whole(exchange, file);
    else
        answer_selected(exchange, file, *ranges);
}

/*
 * RFC 9110 12.5.3: what has no coding is acceptable unless excluded. Of what is never packed there
 * is nothing to negotiate about, so it is sent all the same.
 */
static bool is_refused(const struct exchange *exchange, const struct representation *file)
{
    return file->is_negotiated && http_identity_is_refused(exchange->request);
}

void static_answer_file(struct exchange *exchange, struct representation *file)
{
    struct http_validators validators;

    if (is_refused(exchange, file)) {
        exchange_fail_with(exchange, 406, "identity is refused, and no acceptable coding is there",
                           HTTP_TEXT("Vary: Accept-Encoding\r\n"));
        return;
    }
    clock_update(&exchange->worker->clock);
    if (!precondition_is_there(exchange->request)) {
        answer_content(exchange, file);
        return;
    }
    validators = validators_of(file);
    switch (precondition_evaluate(exchange, &validators, error_vary(exchange, file))) {
    case HTTP_CONDITION_PROCEED:
        answer_content(exchange, file);
        break;
    case HTTP_CONDITION_NOT_MODIFIED:
        answer_not_modified(exchange, file);
        break;
    case HTTP_CONDITION_FAILED:
        break;
    }
}
