/* SPDX-License-Identifier: MIT */
/*
 * Stands before a route: who may not see what is behind is told so, whatever there is.
 * It knows no files and no handlers.
 * Called by exchange.c, for routes that have a guard.
 */
#include "server/guard.h"

#include <stdlib.h>

#include "http/response.h"
#include "server/allow.h"
#include "server/handler.h"
#include "server/worker_state.h"

bool guard_is_needed(const struct config_location *location)
{
    return !location->allows_all || location->auth.users[0] != '\0';
}

/* ---- addresses --------------------------------------------------------------------------- */

static bool has_allowed_address(const struct exchange *exchange)
{
    struct in6_addr client;
    bool has_address = worker_client_address(exchange, &client);

    return allow_has(exchange->route->location, has_address ? &client : NULL);
}

/* ---- names and passwords ----------------------------------------------------------------- */

static void challenge(struct exchange *exchange, const char *reason)
{
    struct http_text realm = http_text_of(exchange->route->location->auth.realm);
    char memory[512]; /* a realm has 255 bytes at most */
    struct http_writer writer;

    http_writer_init(&writer, memory, sizeof(memory));
    http_write(&writer, HTTP_TEXT("WWW-Authenticate: Basic realm=\""));
    http_write(&writer, realm);
    http_write(&writer, HTTP_TEXT("\", charset=\"UTF-8\"\r\n"));
    exchange_fail_with(exchange, 401, reason,
                       (struct http_text){memory, (size_t)(writer.at - memory)});
}

static void turn_away(struct exchange *exchange)
{
    exchange_fail_with(exchange, 503, "too many wait for their password to be checked",
                       HTTP_TEXT("Retry-After: 1\r\n"));
}

static void on_verdict(struct auth_wait *wait, enum auth_verdict verdict)
{
    struct exchange *exchange = EVIX_CONTAINER_OF(wait, struct exchange, state.auth);

    exchange->is_started = false;
    if (verdict == AUTH_GRANTED) {
        exchange->is_authenticated = true;
        exchange_handle_late(exchange);
    } else if (verdict == AUTH_DENIED) {
        challenge(exchange, auth_realm_error(exchange->route->realm) != 0
                                ? "nobody is let in, since the file of users cannot be read"
                                : "the name or the password is wrong");
    } else {
        turn_away(exchange);
    }
}

static void cancel(struct exchange *exchange)
{
    auth_forget(&exchange->state.auth);
}

/* Who has the exchange while the password is checked. */
static const struct handler handler_guard = {.name = "guard", .cancel = cancel};

static bool wait_for_verdict(struct exchange *exchange)
{
    exchange->handler = &handler_guard;
    exchange->is_started = true;
    if (!exchange_defer(exchange)) {
        exchange_cancel(exchange);
        exchange_fail(exchange, 503, "no memory for a request that waits for its password");
    }
    return false;
}

static bool ask(struct exchange *exchange)
{
    const struct http_text *field =
        http_request_field_single(exchange->request, HTTP_FIELD_AUTHORIZATION);
    char memory[HTTP_CREDENTIALS_BYTES];
    struct http_credentials credentials;
    enum auth_verdict verdict = AUTH_DENIED;
    bool is_well = field != NULL && http_basic_parse(*field, memory, &credentials);
    struct in6_addr client;

    if (is_well)
        verdict = auth_ask(&exchange->state.auth, exchange->route->realm,
                           worker_client_address(exchange, &client) ? &client : NULL, &credentials,
                           on_verdict);
    explicit_bzero(memory, sizeof(memory));
    switch (verdict) {
    case AUTH_GRANTED:
        exchange->is_authenticated = true;
        return true;
    case AUTH_PENDING:
        return wait_for_verdict(exchange);
    case AUTH_BUSY:
        turn_away(exchange);
        return false;
    case AUTH_DENIED:
        break;
    }
    challenge(exchange, field == NULL ? "no name and password were given, or more than once"
                                      : "the credentials are malformed");
    return false;
}

bool guard_admit(struct exchange *exchange)
{
    if (!has_allowed_address(exchange)) {
        exchange_fail(exchange, 403, "the client's address is not among those that are allowed");
        return false;
    }
    return exchange->route->location->auth.users[0] == '\0' || ask(exchange);
}
