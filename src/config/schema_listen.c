/* SPDX-License-Identifier: MIT */
/*
 * The rows of a listener.
 * Called through schema_listen.
 */
#include "config/schema_rows.h"

#include "config/address.h"
#include "config/rules.h"

static const struct schema_choice protocols[] = {
    {"http", CONFIG_PROTOCOL_HTTP},
    {"echo", CONFIG_PROTOCOL_ECHO},
    {NULL, 0},
};

static const struct schema_setting listen_settings[] = {
    {.name = "address",
     .type = SCHEMA_ADDRESS,
     .required = true,
     PLACE(struct config_listen, address),
     .expected = ADDRESS_EXPECTED,
     .about =
         "Where to listen: HOST is numeric or localhost; without it, or with *, on every address. "
         "PATH is a file, relative to the folder of the configuration file; abstract sockets "
         "(@name) are not supported."},
    {.name = "name",
     .type = SCHEMA_TEXT,
     PLACE(struct config_listen, name),
     .standard = "",
     .check = rules_check_socket_name,
     .expected = "the name of a socket",
     .about =
         "Name of a socket that systemd opened (FileDescriptorName=) and that is taken instead; "
         "without it, the one with this address is."},
    {.name = "backlog",
     .type = SCHEMA_INTEGER,
     PLACE(struct config_listen, backlog),
     .standard = "4096",
     .min = 1,
     .max = 65535,
     .about = "Connections that wait to be accepted; the kernel's somaxconn bounds it."},
    {.name = "defer_accept",
     .type = SCHEMA_BOOLEAN,
     PLACE(struct config_listen, defer_accept),
     .standard = "true",
     .about =
         "HTTP over TCP: accept a connection when its first bytes have come, or after a "
         "second without any. A client that has connected and sent nothing yet when evixd stops "
         "is reset; with false its connection is closed in good order."},
    {.name = "mode",
     .type = SCHEMA_MODE,
     PLACE(struct config_listen, mode),
     .standard = "0660",
     .max = 0777,
     .about = "Permissions of a unix socket."},
    {.name = "owner",
     .type = SCHEMA_TEXT,
     PLACE(struct config_listen, owner),
     .standard = "",
     .check = rules_check_account,
     .expected = "the name of an account",
     .about = "Owner of a unix socket; empty: the user that starts evixd."},
    {.name = "group",
     .type = SCHEMA_TEXT,
     PLACE(struct config_listen, group),
     .standard = "",
     .check = rules_check_account,
     .expected = "the name of a group",
     .about = "Group of a unix socket; empty: the group of the user that starts evixd."},
    {.name = "protocol",
     .type = SCHEMA_CHOICE,
     PLACE(struct config_listen, protocol),
     .standard = "http",
     .choices = protocols,
     .about = "HTTP, or the plain TCP echo service of RFC 862."},
};
const struct schema_record schema_listen = {
    .name = "listen",
    .bytes = sizeof(struct config_listen),
    .settings = listen_settings,
    .count = COUNT(listen_settings),
};
