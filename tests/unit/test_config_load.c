/* SPDX-License-Identifier: MIT */
/*
 * Tests what is said about a wrong configuration: each row is a file and the messages, whole, with
 * file and line. And includes, since the lines must survive them.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config_fixture.h"

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))
/* What most rows do not want to hear about. */
#define HOST "hosts = ( { root = \"@/www\"; } );\n"

static const struct {
    const char *text, *messages;
} wrong[] = {
    /* types, ranges, units */
    {HOST "workers = \"many\";",
     "test.conf:2: workers: expected \"auto\" or an integer from 1 to 1024, found \"many\"\n"},
    {HOST "workers = 0;\n",
     "test.conf:2: workers: expected \"auto\" or an integer from 1 to 1024, found 0\n"},
    {HOST "workers = \"atuo\";", "test.conf:2: workers: expected \"auto\" or an integer from 1 to "
                                 "1024, found \"atuo\"; did you "
                                 "mean \"auto\"?\n"},
    {HOST "backend = \"epol\";",
     "test.conf:2: backend: expected \"auto\", \"io_uring\", \"epoll\" or \"poll\", found "
     "\"epol\"; did you mean \"epoll\"?\n"},
    {HOST "limits = {\n  connections = 0;\n  fields = \"many\";\n};",
     "test.conf:3: limits.connections: expected an integer from 1 to 1000000, found 0\n"
     "test.conf:4: limits.fields: expected an integer from 1 to 10000, found \"many\"\n"},
    {HOST "limits = { connections = 4294967297; };",
     "test.conf:2: limits.connections: expected an integer from 1 to 1000000, found 4294967297\n"},
    {HOST "limits = { connections = -1; };",
     "test.conf:2: limits.connections: expected an integer from 1 to 1000000, found -1\n"},
    {HOST "limits = { connections = 0x100000001; };",
     "test.conf:2: limits.connections: expected an integer from 1 to 1000000, found 4294967297\n"},
    {HOST "limits = { connections = 99999999999999999999; };",
     "test.conf:2: the number 99999999999999999999 is too large\n"
     "test.conf:2: limits.connections: expected an integer from 1 to 1000000, found "
     "9223372036854775807\n"},
    {HOST "limits = { connections = 1.5; };",
     "test.conf:2: limits.connections: expected an integer from 1 to 1000000, found 1.5\n"},
    {HOST "limits = { head = \"32KB\"; body = \"2T\"; };",
     "test.conf:2: limits.head: expected a size from 256 to 1M, in bytes or with K, M, G or T "
     "right behind the number, found \"32KB\"\n"
     "test.conf:2: limits.body: expected a size from 0 to 1T, found \"2T\"\n"},
    {HOST "limits = { target = \"16K\"; head = \"8K\"; };",
     "test.conf: limits.target (16384) is larger than limits.head (8192), which it is part of\n"},
    {HOST "timeouts = { head = \"5x\"; body = -1; send = 0.0001; linger = 86401; };",
     "test.conf:2: timeouts.head: expected a time from 0 to 24h, in seconds or with ms, s, m or h "
     "right behind the number, found \"5x\"\n"
     "test.conf:2: timeouts.body: expected a time from 0 to 24h, found -1\n"
     "test.conf:2: timeouts.send: expected a time from 0 to 24h, found 0.0001\n"
     "test.conf:2: timeouts.linger: expected a time from 0 to 24h, found 86401\n"},
    {HOST "timeouts = { head = \"3d\"; body = \"15 s\"; send = \"1m 30s\"; linger = \"25h\"; };",
     "test.conf:2: timeouts.head: expected a time from 0 to 24h, in seconds or with ms, s, m or h "
     "right behind the number, found \"3d\"\n"
     "test.conf:2: timeouts.body: expected a time from 0 to 24h, in seconds or with ms, s, m or h "
     "right behind the number, found \"15 s\"\n"
     "test.conf:2: timeouts.send: expected a time from 0 to 24h, in seconds or with ms, s, m or h "
     "right behind the number, found \"1m 30s\"\n"
     "test.conf:2: timeouts.linger: expected a time from 0 to 24h, found \"25h\"\n"},
    {HOST "timeouts = { stuck = 0.999; };",
     "test.conf:2: timeouts.stuck: expected 0, or a time from 1s to 24h, found 0.999\n"},
    {HOST "timeouts = { stuck = \"25h\"; };",
     "test.conf:2: timeouts.stuck: expected 0, or a time from 1s to 24h, found \"25h\"\n"},
    {HOST "timeouts = { head = 18446744073709552; };",
     "test.conf:2: timeouts.head: expected a time from 0 to 24h, found 18446744073709552\n"},
    {HOST "limits = 5; listen = \"x\"; timeouts = ( );",
     "test.conf:2: limits: expected a group: { name = value; ... }, found 5\n"
     "test.conf:2: timeouts: expected a group: { name = value; ... }, found a list\n"
     "test.conf:2: listen: expected a list of groups: ( { name = value; ... }, ... ), found "
     "\"x\"\n"},
    {HOST "error_log = { target = \"stder\"; level = \"warn\"; };",
     "test.conf:2: error_log.target: expected \"stderr\", \"syslog\" or a path with a slash, found "
     "\"stder\"; did you mean \"stderr\"?\n"
     "test.conf:2: error_log.level: expected \"error\", \"warning\", \"notice\", \"info\" or "
     "\"debug\", found \"warn\"\n"},
    {HOST "access_log = { target = \"of\"; format = \"combind\"; };",
     "test.conf:2: access_log.target: expected \"off\", \"stdout\", \"stderr\" or a path with a "
     "slash, found \"of\"; did you mean \"off\"?\n"
     "test.conf:2: access_log.format: expected \"common\", \"combined\", \"json\" or a text with % "
     "directives, found \"combind\"; did you mean \"combined\"?\n"},
    {HOST "default_type = \"text\"; user = \"a b\"; group = 5;",
     "test.conf:2: user: expected the name of an account or group, found \"a b\"\n"
     "test.conf:2: group: expected the name of a group, found 5\n"
     "test.conf:2: default_type: expected a media type such as text/plain, found \"text\"\n"},
    {HOST "user = \"no-such-user\"; group = \"no-such-group\";",
     "test.conf:2: user: there is no user \"no-such-user\"\n"
     "test.conf:2: group: there is no group \"no-such-group\"\n"},
    {HOST "mime_types = \"none\"; pid_file = \"a\\nb\";",
     "test.conf:2: pid_file: expected a path, found \"a?b\"\n"
     "test.conf:2: mime_types: \"none\": No such file or directory\n"},
    {HOST "mime_types = \"www\";", "test.conf:2: mime_types: \"www\": Is a directory\n"},

    /* names */
    {HOST "timeout = { };",
     "test.conf:2: unknown setting \"timeout\"; did you mean \"timeouts\"?\n"},
    {HOST "timeouts = { keepalive = 5; };",
     "test.conf:2: unknown setting \"keepalive\" in timeouts; did you mean \"keep_alive\"?\n"},
    {HOST "Workers = 2;", "test.conf:2: unknown setting \"Workers\"; did you mean \"workers\"?\n"},
    {HOST "keep_alive = 5;",
     "test.conf:2: unknown setting \"keep_alive\"; it belongs in timeouts\n"},
    {HOST "document_directory = \"/\";", "test.conf:2: unknown setting \"document_directory\"\n"},
    {"hosts = ( { root = \"@/www\";\n locations = ( { path = \"/\";\n lisitng = true; } ); } );",
     "test.conf:3: unknown setting \"lisitng\" in location; did you mean \"listing\"?\n"},

    /* listeners */
    {HOST "listen = ( { address = \"localhost:80:80\"; },\n"
          " { address = \"127.0.0.1:80\"; mode = \"0660\"; },\n { adress = \":80\"; },\n 5 );",
     "test.conf:2: listen.address: expected HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH, found "
     "\"localhost:80:80\"\n"
     "test.conf:3: listen.mode: only a unix socket has permissions\n"
     "test.conf:4: unknown setting \"adress\" in listen; did you mean \"address\"?\n"
     "test.conf:5: listen: expected a group in each place of the list, found 5\n"},
    {HOST
     "listen = ( { address = \"unix:/0123456789012345678901234567890123456789012345678901234567"
     "89012345678901234567890123456789012345678901234567\"; } );",
     "test.conf:2: listen.address: expected an address of at most 107 bytes, found "
     "\"unix:/0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
     "567890123...\"\n"},
    {HOST "listen = ( { address = \"example.org:80\"; },\n { address = \"127.0.0.1:99999\"; },\n"
          " { address = \"127.0.0.1\"; },\n { address = \"http://127.0.0.1:80\"; },\n"
          " { address = \"::1:80\"; },\n { address = \"[x]:80\"; } );",
     "test.conf:2: listen.address: expected an IP address or localhost before the port, found "
     "\"example.org:80\"\n"
     "test.conf:3: listen.address: expected a port from 0 to 65535, found \"127.0.0.1:99999\"\n"
     "test.conf:4: listen.address: expected HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH, found "
     "\"127.0.0.1\"\n"
     "test.conf:5: listen.address: expected HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH, found "
     "\"http://127.0.0.1:80\"\n"
     "test.conf:6: listen.address: expected HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH, found "
     "\"::1:80\"\n"
     "test.conf:7: listen.address: expected HOST:PORT, [V6]:PORT, :PORT, PORT or unix:PATH, found "
     "\"[x]:80\"\n"},
    {HOST "listen = ( { address = \"unix:/x\"; mode = 660; backlog = 0; protocol = \"https\"; } );",
     "test.conf:2: listen.backlog: expected an integer from 1 to 65535, found 0\n"
     "test.conf:2: listen.mode: expected octal permissions in quotes, such as \"0660\", found 660\n"
     "test.conf:2: listen.protocol: expected \"http\" or \"echo\", found \"https\"; did you mean "
     "\"http\"?\n"},
    {HOST "listen = ( { address = \":80\"; },\n { address = \"127.0.0.1:80\"; },\n"
          " { address = \"localhost:80\"; } );",
     "test.conf:4: listen.address: \"127.0.0.1:80\" is listened on already, by test.conf:3\n"},

    /* hosts */
    {"", "test.conf: nothing to serve: expected hosts = ( { root = \"/DIRECTORY\"; } );\n"},
    {"hosts = ( );",
     "test.conf: nothing to serve: expected hosts = ( { root = \"/DIRECTORY\"; } );\n"},
    {"\nhosts = ( {\n } );",
     "test.conf:2: host: no root: expected root = \"/DIRECTORY\"; for what is below \"/\"\n"},
    {"hosts = ( { root = \"\"; } );",
     "test.conf:1: host: no root: expected root = \"/DIRECTORY\"; for what is below \"/\"\n"},
    {"hosts = ( {\n root = \"@/none\"; } );",
     "test.conf:2: host.root: \"none\": No such file or directory\n"},
    {"hosts = ( {\n root = \"test.conf\"; } );",
     "test.conf:2: host.root: \"test.conf\": Not a directory\n"},
    {"hosts = ( { root = \"www\"; names = ( \"a b\", 5, \"x:80\", \"*.*.x\" ); } );",
     "test.conf:1: host.names: expected a host name such as example.org or *.example.org, without "
     "port, found \"a b\"\n"
     "test.conf:1: host.names: expected a text in quotes, found 5\n"
     "test.conf:1: host.names: expected a host name such as example.org or *.example.org, without "
     "port, found \"x:80\"\n"
     "test.conf:1: host.names: expected a host name such as example.org or *.example.org, without "
     "port, found \"*.*.x\"\n"},
    {"hosts = ( { root = \"www\"; names = 5; default = 1; } );",
     "test.conf:1: host.names: expected a host name, \"*.\" and a host name, or a list of them, "
     "found 5\n"
     "test.conf:1: host.default: expected true or false, found 1\n"},
    {"hosts = ( { root = \"www\"; names = \"a.org\"; },\n"
     " { root = \"www\"; names = ( \"b.org\", \"A.ORG\", \"b.org\" ); } );",
     "test.conf:2: host.names: \"a.org\" is given twice, at test.conf:1\n"
     "test.conf:2: host.names: \"b.org\" is given twice, at test.conf:2\n"},
    {"hosts = ( { root = \"www\"; names = \"a\"; default = true; },\n"
     " { root = \"www\"; names = \"b\"; default = true; } );",
     "test.conf:2: host.default: there is a default host already, at test.conf:1\n"},
    {"hosts = ( { root = \"www\"; },\n { root = \"www\"; } );",
     "test.conf:2: host: it has no names and is not the default, so nothing can reach it\n"},

    /* locations */
    {"hosts = ( { root = \"www\"; locations = ( { path = \"img\"; },\n { path = \"/a//b\"; },\n"
     " { path = \"/a/../b\"; },\n { path = \"/a%20b\"; },\n { } ); } );",
     "test.conf:1: location.path: expected a path that begins with a slash, found \"img\"\n"
     "test.conf:2: location.path: expected a path without \"//\", \"/.\" and \"/..\", found "
     "\"/a//b\"\n"
     "test.conf:3: location.path: expected a path without \"//\", \"/.\" and \"/..\", found "
     "\"/a/../b\"\n"
     "test.conf:4: location.path: expected a path without query, not percent-encoded, found "
     "\"/a%20b\"\n"
     "test.conf:5: location: \"path\" is missing\n"},
    {"hosts = ( { root = \"www\"; locations = ( { path = \"/a\"; },\n { path = \"/b\"; },\n"
     " { path = \"/a\"; } ); } );",
     "test.conf:3: location.path: \"/a\" has a location already, at test.conf:1\n"},
    {"hosts = ( { root = \"www\"; locations = ( { path = \"/a\"; handler = \"statc\"; },\n"
     " { path = \"/b\"; handler = \"redirect\"; },\n"
     " { path = \"/c\"; handler = \"echo\"; redirect = { to = \"/g\"; }; },\n"
     " { path = \"/d\"; redirect = { status = 300; to = \"//evil.example/\"; }; },\n"
     " { path = \"/e\"; redirect = { to = \"/a b\"; }; },\n"
     " { path = \"/f\"; redirect = { status = 301; }; } ); } );",
     "test.conf:1: location.handler: expected \"static\", \"echo\", \"redirect\" or \"status\", "
     "found "
     "\"statc\"; did you mean \"static\"?\n"
     "test.conf:2: location.handler: \"redirect\" needs a redirect = { status = ...; to = ...; }\n"
     "test.conf:3: location.handler: expected \"redirect\", since the location has a redirect\n"
     "test.conf:4: redirect.status: expected 301, 302, 303, 307 or 308, found 300\n"
     "test.conf:4: redirect.to: expected an absolute path, or a URL that begins with http:// or "
     "https://, found \"//evil.example/\"\n"
     "test.conf:5: redirect.to: expected a path or URL without query, as it is to be sent "
     "(percent-encoded), found \"/a b\"\n"
     "test.conf:6: redirect: \"to\" is missing\n"},
    /* again, for redirects: what would lead to another host */
    {"hosts = ( { root = \"www\"; locations = ( { path = \"/c\"; redirect = { to = \"/\"; }; },\n"
     " { path = \"/\"; redirect = { to = \"https://a.example\"; }; },\n"
     " { path = \"/d/\"; redirect = { to = \"/e\"; }; } ); } );",
     "test.conf:1: redirect.to: expected a slash at the end of both or neither of the path \"/c\" "
     "and \"/\", which stands for it\n"
     "test.conf:2: redirect.to: expected a slash at the end of both or neither of the path \"/\" "
     "and \"https://a.example\", which stands for it\n"
     "test.conf:3: redirect.to: expected a slash at the end of both or neither of the path \"/d/\" "
     "and \"/e\", which stands for it\n"},
    {"hosts = ( { root = \"www\"; index = ( \"a/b\", \"..\" ); listing = \"yes\"; } );",
     "test.conf:1: host.index: expected the name of a file, without a slash, found \"a/b\"\n"
     "test.conf:1: host.index: expected the name of a file, without a slash, found \"..\"\n"
     "test.conf:1: host.listing: expected true or false, found \"yes\"\n"},

    /* headers: */
    {HOST "headers = {\n X-A = \"a\\r\\nSet-Cookie: b\";\n X-B = \"a\nb\";\n X-C = \"\\x1b\";\n"
          " X-D = 5;\n Content-Length = \"5\";\n transfer-encoding = \"chunked\";\n"
          " X-E = \" a\";\n};",
     "test.conf:3: headers.X-A: expected a value without line breaks (CR, LF)\n"
     "test.conf:4: headers.X-B: expected a value without line breaks (CR, LF)\n"
     "test.conf:6: headers.X-C: expected a value without control bytes\n"
     "test.conf:7: headers.X-D: expected a text in quotes\n"
     "test.conf:8: headers: expected a field that evixd does not set by itself, found "
     "\"Content-Length\"\n"
     "test.conf:9: headers: expected a field that evixd does not set by itself, found "
     "\"transfer-encoding\"\n"
     "test.conf:10: headers.X-E: expected a value without blanks around it\n"},
    {HOST "headers = { Content-Type = \"text/x\"; };\nheaders_always = { etag = \"x\"; };",
     "test.conf:2: headers: expected a field that evixd does not set by itself, found "
     "\"Content-Type\"\n"
     "test.conf:3: headers: expected a field that evixd does not set by itself, found \"etag\"\n"},

    /* logs: the file may come to be, its folder may not */
    {HOST "error_log = { target = \"none/x.log\"; };\naccess_log = { target = \"./www\"; };",
     "test.conf:2: error_log.target: the folder of \"none/x.log\": No such file or directory\n"
     "test.conf:3: access_log.target: \"./www\": Is a directory\n"},
    {HOST "error_log = { target = \"test.conf/x.log\"; };",
     "test.conf:2: error_log.target: the folder of \"test.conf/x.log\": Not a directory\n"},

    /* unix sockets */
    {HOST "listen = ( { address = \":1\"; owner = \"root\"; group = \"root\"; },\n"
          " { address = \"unix:x\"; owner = \"no-such-user\";\n group = \"no-such-group\"; } );",
     "test.conf:2: listen.owner: only a unix socket has permissions\n"
     "test.conf:2: listen.group: only a unix socket has permissions\n"
     "test.conf:3: listen.owner: there is no user \"no-such-user\"\n"
     "test.conf:3: listen.group: there is no group \"no-such-group\"\n"},

    /* who may, and what is said to those who may not */
    {HOST "allow = ( \"10.0.0.1/8\", \"10.0.0.0/33\",\n \"example.org\", 5 );",
     "test.conf:2: allow: expected a network without bits behind its prefix, such as "
     "10.0.0.0/8, found \"10.0.0.1/8\"\n"
     "test.conf:2: allow: expected a prefix of 0 to 32 bits, found \"10.0.0.0/33\"\n"
     "test.conf:3: allow: expected an address, a network such as 10.0.0.0/8, \"unix\" or "
     "\"all\", found \"example.org\"\n"
     "test.conf:3: allow: expected a text in quotes, found 5\n"},
    {HOST "error_pages = ( { status = 200; file = \"/a\"; },\n { status = 404; file = \"a\"; },\n"
          " { file = \"/a/../b\"; } );",
     "test.conf:2: error_pages.status: expected an integer from 400 to 599, found 200\n"
     "test.conf:3: error_pages.file: expected the absolute path of a file beneath the root, not "
     "percent-encoded, found \"a\"\n"
     "test.conf:4: error_pages: \"status\" is missing\n"
     "test.conf:4: error_pages.file: expected a path without \"//\", \"/.\" and \"/..\", found "
     "\"/a/../b\"\n"},
    {"hosts = ( { root = \"www\"; error_pages = ( { status = 404; file = \"/a\"; },\n"
     " { status = 404; file = \"/b\"; } ); } );",
     "test.conf:1: error_pages: status 404 is given twice\n"},
    {"error_pages = ( { status = 404; file = \"/a\"; } );\n"
     "hosts = ( { locations = ( { path = \"/\"; handler = \"echo\"; } ); } );",
     "test.conf:2: host: no root: expected root = \"/DIRECTORY\"; for the files of its "
     "error_pages\n"},

#ifdef HAVE_LIBCRYPT
    {HOST "auth = { realm = \"x\"; };", "test.conf:2: auth: expected users = \"/FILE\"; without it "
                                        "nobody is asked (\"\" says that this "
                                        "is meant)\n"},
    {"hosts = ( { root = \"www\"; locations = ( { path = \"/a\";\n auth = { }; } ); } );",
     "test.conf:2: auth: expected users = \"/FILE\"; without it nobody is asked (\"\" says that "
     "this "
     "is meant)\n"},
    {HOST "auth = { realm = \"a \\\"b\\\"\"; users = \"none\"; password = \"x\"; };",
     "test.conf:2: auth.realm: expected a text without quotes and backslashes, found \"a \"b\"\"\n"
     "test.conf:2: auth.users: \"none\": No such file or directory\n"
     "test.conf:2: unknown setting \"password\" in auth\n"},
#else
    {HOST "auth = { users = \"test.conf\"; };",
     "test.conf:1: auth.users: this evixd was built without libcrypt and cannot check passwords\n"},
#endif

    /* patterns and fallbacks */
    {"hosts = ( { root = \"www\"; locations = ( { path = \"/\"; files = \"a/b\"; },\n"
     " { path = \"/a\"; files = ( \"*.{js,css}\",\n \"[ab\", \"\", \"[\xc3\xa4]\" ); },\n"
     " { path = \"/b\"; fallback = \"/dir/\"; } ); } );",
     "test.conf:1: location.files: expected a pattern of a file's name, such as *.css, without a "
     "slash, found \"a/b\"\n"
     "test.conf:2: location.files: expected a pattern without braces: name the alternatives one by "
     "one, found \"*.{js,css}\"\n"
     "test.conf:3: location.files: expected a pattern whose brackets are closed, found \"[ab\"\n"
     "test.conf:3: location.files: expected a pattern of a file's name, such as *.css, without a "
     "slash, found \"\"\n"
     "test.conf:3: location.files: expected a pattern with nothing but ASCII in brackets, found "
     "\"[\xc3\xa4]\"\n"
     "test.conf:4: location.fallback: expected the absolute path of a file beneath the root, not "
     "percent-encoded, found \"/dir/\"\n"},
    {"hosts = ( { root = \"www\"; locations = ( { path = \"/a\"; files = ( \"*.js\", \"*.css\" ); "
     "},\n"
     " { path = \"/a\"; files = \"*.css\"; }, { path = \"/a\"; files = \"*.txt\"; },\n"
     " { path = \"/a\"; } ); } );",
     "test.conf:2: location.path: \"/a\" has a location already, at test.conf:1, for the same "
     "files\n"},

    /* one slip, one error */
    {"hosts = ( { roof = \"www\"; } );",
     "test.conf:1: unknown setting \"roof\" in host; did you mean \"root\"?\n"},
    {"hosts = ( { locations = ( { path = \"/\"; roof = \"www\"; } ); } );",
     "test.conf:1: unknown setting \"roof\" in location; did you mean \"root\"?\n"},
    {"host = ( { root = \"www\"; } );",
     "test.conf:1: unknown setting \"host\"; did you mean \"hosts\"?\n"},
    {"hosts = ( { root = \"www\"; locations = ( { paht = \"/\"; } ); } );",
     "test.conf:1: unknown setting \"paht\" in location; did you mean \"path\"?\n"},

    /* files that are written */
    {HOST "pid_file = \"none/x.pid\";",
     "test.conf:2: pid_file: the folder of \"none/x.pid\": No such file or directory\n"},
    {HOST "pid_file = \"www\";", "test.conf:2: pid_file: \"www\": Is a directory\n"},

    {HOST "listen = ( { address = \"unix:none/x.sock\"; },\n { address = \"unix:www\"; },\n"
          " { address = \"unix:test.conf/x\"; }, { address = \"unix:www/x.sock\"; } );",
     "test.conf:2: listen.address: the folder of \"none/x.sock\": No such file or directory\n"
     "test.conf:3: listen.address: \"www\": Is a directory\n"
     "test.conf:4: listen.address: the folder of \"test.conf/x\": Not a directory\n"},

    /* syntax */
    {HOST "workers == 2;\n",
     "test.conf:2: syntax error at or before: workers == 2; (expected name = value; or a closing "
     "bracket)\n"},
    {HOST "limits = { head = 5;\n\n",
     "test.conf:4: syntax error at the end of the file: is a bracket left open?\n"},
    {"hosts = ( { root = \"www\";\n listing = yes; } );",
     "test.conf:2: syntax error at or before: listing = yes; } ); (expected true, false, or a text "
     "in "
     "double quotes)\n"},
    {HOST "user = 'root';",
     "test.conf:2: syntax error at or before: user = 'root'; (expected a text in double quotes)\n"},
    {"hosts = ( { root = \"www\";\n listing = true } };",
     "test.conf:2: syntax error at or before: listing = true } }; (expected name = value; or a "
     "closing bracket)\n"},
    {"hosts = ( { root = \"www\"; root = \"www\"; } );",
     "test.conf:1: a setting was given before: hosts = ( { root = \"www\"; root = \"www\"; } );\n"},
    {HOST "workers = 2;\nworkers = 3;\n",
     "test.conf:3: workers: this setting was given before: workers = 3;\n"},
    {HOST "/* a comment\nthat goes on", "test.conf:2: a comment begins here and is never closed\n"},
    {HOST "/*/", "test.conf:2: a comment begins here and is never closed\n"},
    {HOST "user = \"root;\ngroup = 5;", "test.conf:2: a string begins here and is never closed\n"},
    {HOST "user = \"ro\\x00ot\";", "test.conf:2: a string cannot hold a NUL byte (\\x00)\n"},

    /* includes */
    {HOST "@include \"none.conf\"", "test.conf:2: none.conf: No such file or directory\n"},
    {HOST "@include \"www\"", "test.conf:2: www: Is a directory\n"},
    {HOST "@include \"/dev/null\"", "test.conf:2: /dev/null: not a regular file\n"},
    {HOST "@include \"x", "test.conf:2: @include: expected a path in quotes\n"},
    {HOST "@include \"", "test.conf:2: @include: expected a path in quotes\n"},
    {HOST "@include \"\"", "test.conf:2: @include: expected a path in quotes\n"},
    {HOST "@include \"none\" @include \"/\"",
     "test.conf:2: none: No such file or directory\n"
     "test.conf:2: unexpected \"@\": expected @include \"PATH\" at the start of a line\n"},
    {HOST "user = 5 @include \"/\";",
     "test.conf:2: unexpected \"@\": expected @include \"PATH\" at the start of a line\n"},
    {"@include \"test.conf\"\n", "test.conf:1: @include: more than 10 files deep\n"},
};

START_TEST(test_wrong)
{
    fixture_refuse(wrong[_i].text, wrong[_i].messages);
}
END_TEST

/* Everything in one run, in the order of the lines. */
START_TEST(test_all_errors_at_once)
{
    fixture_refuse("workers = 0;\n\nhosts = ( { root = \"www\"; defualt = true; } );\n"
                   "backend = \"x\";\nlimits = { body = true; };\n",
                   "test.conf:1: workers: expected \"auto\" or an integer from 1 to 1024, found 0\n"
                   "test.conf:3: unknown setting \"defualt\" in host; did you mean \"default\"?\n"
                   "test.conf:4: backend: expected \"auto\", \"io_uring\", \"epoll\" or \"poll\", "
                   "found \"x\"\n"
                   "test.conf:5: limits.body: expected a size from 0 to 1T, found true\n");
}
END_TEST

START_TEST(test_many_errors_are_counted)
{
    char text[4096] = HOST;
    size_t used = strlen(text);
    unsigned lines = 0;

    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "unknown_thing_%d = 1;\n", i);
    fixture_load(text, NULL, -EINVAL);
    for (const char *at = fixture_messages; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, 51);
    ck_assert_ptr_nonnull(strstr(fixture_messages, "\nand 10 errors more\n"));
}
END_TEST

START_TEST(test_include)
{
    struct config *config;

    fixture_write("site.conf", "{ root = \"www\"; names = \"inner.example\"; }\n");
    fixture_write("limits.conf", "limits = { fields = 7; }; # no newline at the end");
    config = fixture_load("workers = 3;\n  @include \"limits.conf\"\n"
                          "hosts = (\n@include \"@/site.conf\"\n); backend = \"poll\";\n",
                          NULL, 0);
    ck_assert_uint_eq(config->workers, 3);
    ck_assert_uint_eq(config->limits.fields, 7);
    ck_assert_int_eq(config->backend, CONFIG_BACKEND_POLL);
    ck_assert_str_eq(config->hosts[0].names[0], "inner.example");
    ck_assert_ptr_nonnull(strstr(config->hosts[0].source, "/site.conf:1"));
    config_free(config);
}
END_TEST

START_TEST(test_include_is_no_include_in_comments_and_strings)
{
    struct config *config =
        fixture_load("# @include \"none\"\n/*\n@include \"none\"\n*/\n// x\n"
                     "access_log = { format = \"%h\n@include \\\"none\\\"\"; };\n"
                     "hosts = ( { root = \"www\"; } );",
                     NULL, -EINVAL);

    ck_assert_ptr_null(config);
    /* the newline is what is refused, not a missing file */
    ck_assert_str_eq(fixture_messages,
                     "test.conf:6: access_log.format: expected a text without control bytes, found "
                     "\"%h?@include \"none\"\"\n");
}
END_TEST

START_TEST(test_lines_behind_includes)
{
    fixture_write("one.conf", "\nworkers = 0;\n@include \"two.conf\"\n\nbakend = \"poll\";\n");
    fixture_write("two.conf", "# comment\nuser = 5;");
    fixture_refuse("@include \"one.conf\"\nlimits = { fields = 0; };\n" HOST
                   "@include \"two.conf\"\n",
                   "two.conf:2: user: this setting was given before: user = 5;\n");
    fixture_refuse("@include \"one.conf\"\nlimits = { fields = 0; };\n" HOST,
                   "one.conf:2: workers: expected \"auto\" or an integer from 1 to 1024, found 0\n"
                   "two.conf:2: user: expected the name of an account, found 5\n"
                   "one.conf:5: unknown setting \"bakend\"; did you mean \"backend\"?\n"
                   "test.conf:2: limits.fields: expected an integer from 1 to 10000, found 0\n");
}
END_TEST

START_TEST(test_include_is_relative_to_its_file)
{
    char path[512];
    struct config *config;

    snprintf(path, sizeof(path), "%s/conf.d", fixture_folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    fixture_write("conf.d/a.conf", "@include \"b.conf\"\n");
    fixture_write("conf.d/b.conf", "workers = 9;\n");
    config = fixture_load("@include \"conf.d/a.conf\"\n" HOST, NULL, 0);
    ck_assert_uint_eq(config->workers, 9);
    config_free(config);
}
END_TEST

START_TEST(test_unreadable_files)
{
    static const struct {
        const char *path, *message;
        int result;
    } rows[] = {
        {"none.conf", "none.conf: No such file or directory\n", -ENOENT},
        {"www", "www: Is a directory\n", -EISDIR},
        {"www/", "www/: Is a directory\n", -EISDIR},
        {"test.conf/x", "test.conf/x: Not a directory\n", -ENOTDIR},
    };

    fixture_write("test.conf", "");
    for (int i = 0; i < ROWS(rows); i++) {
        char path[512];
        struct config *config;

        fixture_messages[0] = '\0';
        snprintf(path, sizeof(path), "%s/%s", fixture_folder, rows[i].path);
        ck_assert_int_eq(config_load(path, NULL, &config, &fixture_errors), rows[i].result);
        ck_assert_ptr_null(config);
        ck_assert_str_eq(fixture_messages, rows[i].message);
    }
}
END_TEST

START_TEST(test_not_a_text)
{
    static char large[1024 * 1024 + 2];
    struct config *config;

    ck_assert_int_eq(config_load_text("a\0b", 3, "x.conf", NULL, &config, &fixture_errors),
                     -EINVAL);
    ck_assert_str_eq(fixture_messages, "x.conf: not a text file: a NUL byte after 1 bytes\n");
    fixture_messages[0] = '\0';
    memset(large, '\n', sizeof(large));
    ck_assert_int_eq(
        config_load_text(large, sizeof(large), "x.conf", NULL, &config, &fixture_errors), -EINVAL);
    ck_assert_str_eq(fixture_messages, "x.conf: more than 1048576 bytes of configuration\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config/load");
    TCase *load = tcase_create("load");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(load, fixture_setup, fixture_teardown);
    tcase_add_loop_test(load, test_wrong, 0, ROWS(wrong));
    tcase_add_test(load, test_all_errors_at_once);
    tcase_add_test(load, test_many_errors_are_counted);
    tcase_add_test(load, test_include);
    tcase_add_test(load, test_include_is_no_include_in_comments_and_strings);
    tcase_add_test(load, test_lines_behind_includes);
    tcase_add_test(load, test_include_is_relative_to_its_file);
    tcase_add_test(load, test_unreadable_files);
    tcase_add_test(load, test_not_a_text);
    suite_add_tcase(suite, load);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
