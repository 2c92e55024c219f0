/* SPDX-License-Identifier: MIT */
/*
 * Makes the error pages and keeps them.
 * It decides on no status, and sends nothing.
 * Called by exchange.c and, at the end, by worker.c.
 */
#include "server/error_page.h"

#include <assert.h>
#include <stdlib.h>

#include "files/page_style.h"
#include "http/negotiate.h"
#include "http/response.h"
#include "server/error_style.h"

/* The longest page; a test makes all of them. */
#define PAGE_BYTES 2048

/* What a person is told. Statuses that the server gives, and those of a configured redirect. */
static const struct {
    int status;
    const char *sentence;
} sentences[] = {
    {400, "The request could not be understood."},
    {401, "You have to say who you are to see this."},
    {403, "You may not see this."},
    {404, "There is nothing at this address."},
    {405, "This cannot be done with what is here."},
    {406, "There is nothing here in a form that you accept."},
    {408, "The request took too long to arrive."},
    {412, "What you expected to find has changed."},
    {413, "That is more than is accepted here."},
    {414, "The address is too long."},
    {416, "The file has no such part."},
    {417, "What the request expects cannot be done."},
    {429, "That was too much in too short a time. Please try again later."},
    {431, "The request has too many or too long fields."},
    {500, "Something went wrong here."},
    {501, "The request asks for something unknown here."},
    {502, "The server behind this one gave no sensible answer."},
    {503, "The server is busy. Please try again soon."},
    {504, "The server behind this one took too long to answer."},
    {505, "This version of HTTP is not spoken here."},
};
#define SENTENCES (sizeof(sentences) / sizeof(sentences[0]))

static_assert(SENTENCES + 1 == ERROR_STATUSES, "one more is for those without words");

static size_t index_of(int status)
{
    size_t index = 0;

    while (index < SENTENCES && sentences[index].status != status)
        index++;
    return index;
}

static struct http_text sentence_of(int status)
{
    size_t index = index_of(status);

    if (index < SENTENCES)
        return http_text_of(sentences[index].sentence);
    return status >= 300 && status < 400 ? HTTP_TEXT("It has moved.")
                                         : HTTP_TEXT("The request was not fulfilled.");
}

/* ---- making ------------------------------------------------------------------------------ */

static struct http_text fields_of(enum error_form form)
{
#define REST "Vary: Accept\r\n"
    switch (form) {
    case ERROR_TEXT:
        return HTTP_TEXT("Content-Type: text/plain; charset=utf-8\r\n" REST);
    case ERROR_JSON:
        return HTTP_TEXT("Content-Type: application/json\r\n" REST);
    case ERROR_HTML:
    case ERROR_FORMS:
        break;
    }
    return HTTP_TEXT(
        "Content-Type: text/html; charset=utf-8\r\n" REST PAGE_POLICY(ERROR_STYLE_HASH));
}

static void write_html(struct http_writer *writer, int status)
{
    http_write(writer, HTTP_TEXT(PAGE_HEAD "<title>"));
    http_write_number(writer, (uint64_t)status);
    http_write(writer, HTTP_TEXT(" "));
    http_write(writer, http_status_reason(status));
    http_write(writer, HTTP_TEXT("</title>\n<style>" ERROR_STYLE
                                 "</style>\n</head>\n<body>\n<main>\n<h1><span>"));
    http_write_number(writer, (uint64_t)status);
    http_write(writer, HTTP_TEXT("</span> "));
    http_write(writer, http_status_reason(status));
    http_write(writer, HTTP_TEXT("</h1>\n<p>"));
    http_write(writer, sentence_of(status));
    http_write(writer, HTTP_TEXT("</p>\n"));
    if (status == 404)
        http_write(writer, HTTP_TEXT("<p><a href=\"/\">To the start page</a></p>\n"));
    http_write(writer, HTTP_TEXT("</main>\n</body>\n</html>\n"));
}

static void write_text(struct http_writer *writer, int status)
{
    http_write_number(writer, (uint64_t)status);
    http_write(writer, HTTP_TEXT(" "));
    http_write(writer, http_status_reason(status));
    http_write(writer, HTTP_TEXT("\n"));
    http_write(writer, sentence_of(status));
    http_write(writer, HTTP_TEXT("\n"));
}

/* Members as in RFC 9457; none of the texts needs an escape. */
static void write_json(struct http_writer *writer, int status)
{
    http_write(writer, HTTP_TEXT("{\"status\":"));
    http_write_number(writer, (uint64_t)status);
    http_write(writer, HTTP_TEXT(",\"title\":\""));
    http_write(writer, http_status_reason(status));
    http_write(writer, HTTP_TEXT("\",\"detail\":\""));
    http_write(writer, sentence_of(status));
    http_write(writer, HTTP_TEXT("\"}\n"));
}

static struct http_text make(int status, enum error_form form)
{
    char memory[PAGE_BYTES], *copy;
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    if (form == ERROR_HTML)
        write_html(&writer, status);
    else if (form == ERROR_TEXT)
        write_text(&writer, status);
    else
        write_json(&writer, status);
    assert(!writer.failed);
    copy = malloc((size_t)(writer.at - memory));
    if (copy == NULL)
        return (struct http_text){0};
    memcpy(copy, memory, (size_t)(writer.at - memory));
    return (struct http_text){copy, (size_t)(writer.at - memory)};
}

/* ---- finding ----------------------------------------------------------------------------- */

/* A program that takes anything shows it to a person as it comes: in a terminal, or in a log. */
static bool takes_anything(const struct http_request *request)
{
    const struct http_text *accept = http_request_field(request, HTTP_FIELD_ACCEPT);

    return accept == NULL || (http_text_equal(*accept, HTTP_TEXT("*/*")) &&
                              !http_request_field_is_repeated(request, HTTP_FIELD_ACCEPT));
}

enum error_form error_page_form(const struct http_request *request)
{
    if (takes_anything(request))
        return ERROR_TEXT;
    if (http_accept_prefers_json(request))
        return ERROR_JSON;
    return http_accept_names_page(request) ? ERROR_HTML : ERROR_TEXT;
}

static void forget(struct error_page *page)
{
    free((char *)(uintptr_t)page->content.data);
    *page = (struct error_page){{0}, {0}};
}

struct error_page error_page_find(struct error_pages *pages, int status, enum error_form form)
{
    size_t index = index_of(status);
    struct error_page *page = index < SENTENCES ? &pages->pages[index][form] : &pages->other;

    if (page == &pages->other)
        forget(page);
    if (page->content.data == NULL)
        page->content = make(status, form);
    if (page->content.data != NULL)
        page->fields = fields_of(form);
    return *page;
}

void error_pages_fini(struct error_pages *pages)
{
    for (size_t i = 0; i < ERROR_STATUSES; i++)
        for (size_t form = 0; form < ERROR_FORMS; form++)
            forget(&pages->pages[i][form]);
    forget(&pages->other);
}
