/* SPDX-License-Identifier: MIT */
/*
 * Lets the conditions of a request decide whether it is carried out.
 * It does not compare tags or dates: http/condition.c does.
 * Called by handlers that have a representation, just before they answer with it.
 */
#include "server/precondition.h"

#include "server/worker_state.h"

enum http_condition precondition_evaluate(struct exchange *exchange,
                                          const struct http_validators *validators,
                                          struct http_text fields)
{
    struct clock *clock = &exchange->worker->clock;

    clock_update(clock);
    enum http_condition condition =
        http_condition_evaluate(exchange->request, validators, clock->seconds);
    if (condition == HTTP_CONDITION_FAILED)
        exchange_fail_with(exchange, 412, "a precondition does not hold", fields);
    return condition;
}

bool precondition_decides(struct exchange *exchange, struct http_text fields)
{
    if (!precondition_is_there(exchange->request))
        return false;
    enum http_condition condition =
        precondition_evaluate(exchange, &(struct http_validators){.has_modified = false}, fields);
    if (condition == HTTP_CONDITION_NOT_MODIFIED)
        exchange_respond(exchange, &(struct response){
                                       .status = 304,
                                       .reason = "the client wants it only if there is none",
                                       .fields = fields,
                                   });
    return condition != HTTP_CONDITION_PROCEED;
}
