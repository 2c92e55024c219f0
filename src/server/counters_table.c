/* SPDX-License-Identifier: MIT */
/*
 * The names of the counters.
 * It counts nothing and formats nothing.
 * Read by the forms of the status.
 */
#include "server/counters_table.h"

#define LIMIT "limit_hits_total", "limit"

const struct counter_name counter_names[COUNTER_COUNT] = {
    [COUNTER_RECEIVED] = {"received_bytes_total", NULL, "received", "Bytes from clients."},
    [COUNTER_SENT] = {"sent_bytes_total", NULL, "sent", "Bytes that the kernel took for clients."},
    [COUNTER_ACCEPTED] = {"accepted_connections_total", NULL, "accepted", "Connections accepted."},
    [COUNTER_ABORTED] = {"aborted_responses_total", NULL, "aborted",
                         "Responses that were cut off, by the client or by us."},
    [COUNTER_LATENCY_NS] = {NULL, NULL, "latency_ns", NULL},
    [COUNTER_LIMIT_CONNECTIONS] = {LIMIT, "connections", "Times that a limit was met."},
    [COUNTER_LIMIT_ADDRESS] = {LIMIT, "connections_per_address", NULL},
    [COUNTER_LIMIT_DESCRIPTORS] = {LIMIT, "accept", NULL},
    [COUNTER_LIMIT_TARGET] = {LIMIT, "target", NULL},
    [COUNTER_LIMIT_HEAD] = {LIMIT, "head", NULL},
    [COUNTER_LIMIT_BODY] = {LIMIT, "body", NULL},
    [COUNTER_LOG_LOST] = {"access_log_lost_lines_total", NULL, "lost",
                          "Lines of access logs that could not be written."},
    [COUNTER_LOG_CUT] = {"access_log_cut_lines_total", NULL, "cut",
                         "Lines of access logs that were too long and had values cut."},
    [COUNTER_TIMEOUT_SHUTDOWN] = {NULL, "timeout", "shutdown", NULL},
    [COUNTER_LOOP_ITERATIONS] = {"loop_iterations_total", NULL, "iterations",
                                 "Turns of the event loops."},
    [COUNTER_CPU_NS] = {NULL, NULL, "cpu_ns", NULL},
};

const char *const connection_wait_names[WAIT_COUNT] = {
    [WAIT_NOTHING] = "working", [WAIT_HEAD] = "reading_head",    [WAIT_KEEP_ALIVE] = "idle",
    [WAIT_SEND] = "sending",    [WAIT_CONTENT] = "reading_body", [WAIT_LINGER] = "lingering",
};

const char *const connection_timeout_names[WAIT_COUNT] = {
    [WAIT_HEAD] = "head", [WAIT_KEEP_ALIVE] = "keep_alive", [WAIT_CONTENT] = "body",
    [WAIT_SEND] = "send", [WAIT_LINGER] = "linger",
};
