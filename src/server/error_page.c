/* SPDX-License-Identifier: MIT */
/*
 * Error pages: self-contained HTML, light and dark, with a sentence for people.
 * They never show anything of the request or the server's insides.
 * Called by exchange.c.
 */
#include "server/error_page.h"

#include "http/response.h"

/* The statuses that a person is likely to see. */
static const struct {
    int status;
    const char *sentence;
} sentences[] = {
    {400, "The request could not be understood."},
    {403, "You may not see this."},
    {404, "There is nothing at this address."},
    {405, "This cannot be done with what is here."},
    {408, "The request took too long to arrive."},
    {412, "What you expected to find has changed."},
    {413, "That is more than is accepted here."},
    {414, "The address is too long."},
    {416, "The file has no such part."},
    {417, "What the request expects cannot be done."},
    {431, "The request has too many or too long fields."},
    {500, "Something went wrong here."},
    {501, "The request asks for something unknown here."},
    {503, "The server is overloaded. Please try again soon."},
    {505, "This version of HTTP is not spoken here."},
};

static struct http_text sentence_for(int status)
{
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
        if (sentences[i].status == status)
            return http_text_of(sentences[i].sentence);
    return status >= 300 && status < 400 ? HTTP_TEXT("It has moved.")
                                         : HTTP_TEXT("The request was not fulfilled.");
}

struct http_text error_page_content(int status, char memory[ERROR_PAGE_BYTES])
{
    struct http_writer writer;
    struct http_text reason = http_status_reason(status);

    http_writer_init(&writer, memory, ERROR_PAGE_BYTES);
    http_write(&writer, HTTP_TEXT("<!doctype html>\n<html lang=\"en\">\n<head>\n"
                                  "<meta charset=\"utf-8\">\n"
                                  "<meta name=\"viewport\" content=\"width=device-width\">\n"
                                  "<link rel=\"icon\" href=\"data:,\">\n"
                                  "<title>"));
    http_write_number(&writer, (uint64_t)status);
    http_write(&writer, HTTP_TEXT(" "));
    http_write(&writer, reason);
    http_write(&writer, HTTP_TEXT("</title>\n<style>:root{color-scheme:light dark}"
                                  "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;"
                                  "margin:20vh auto;padding:0 1rem}"
                                  "h1{font-size:1.5rem}</style>\n</head>\n<body>\n<h1>"));
    http_write_number(&writer, (uint64_t)status);
    http_write(&writer, HTTP_TEXT(" "));
    http_write(&writer, reason);
    http_write(&writer, HTTP_TEXT("</h1>\n<p>"));
    http_write(&writer, sentence_for(status));
    http_write(&writer, HTTP_TEXT("</p>\n</body>\n</html>\n"));
    return (struct http_text){memory, (size_t)(writer.at - memory)};
}

struct http_text error_page_fields(struct http_text more, char memory[ERROR_PAGE_FIELD_BYTES])
{
    struct http_writer writer;

    http_writer_init(&writer, memory, ERROR_PAGE_FIELD_BYTES);
    http_write(&writer, more);
    http_write(&writer, HTTP_TEXT("Content-Type: text/html; charset=utf-8\r\n"));
    return (struct http_text){memory, (size_t)(writer.at - memory)};
}
