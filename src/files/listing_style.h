/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_LISTING_STYLE_H
#define EVIXD_FILES_LISTING_STYLE_H

/* How a listing looks. */

#include "files/page_style.h"

/* Shapes that take the colour of the text around them. */
#define LISTING_ICON(shape)                                                                        \
    "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"    \
    "%3Cpath d='" shape "'/%3E%3C/svg%3E\")"

#define LISTING_FOLDER                                                                             \
    "M1 3.5A1.5 1.5 0 0 1 2.5 2h3L7 3.5h6.5A1.5 1.5 0 0 1 15 5v7.5a1.5 1.5 0 0 "                   \
    "1-1.5 1.5h-11A1.5 1.5 0 0 1 1 12.5z"
#define LISTING_FILE                                                                               \
    "M3 2.5A1.5 1.5 0 0 1 4.5 1H9l4 4v8.5a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 "               \
    "13.5zM4.5 2v12h7V6H8V2z"

#define LISTING_STYLE                                                                                                        \
    PAGE_COLOURS                                                                                                             \
    "*{box-sizing:border-box}"                                                                                               \
    "body{margin:0 auto;max-width:60rem;padding:1.75rem 1.25rem 3rem;color:var(--text);"                                     \
    "background:var(--page);font:1rem/1.5 system-ui,sans-serif}"                                                             \
    "h1{margin:0;font-size:1.375rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;"                                  \
    "overflow-wrap:anywhere}h1 a{font-weight:400}"                                                                           \
    "p{margin:.25rem 0 1.25rem;color:var(--faint)}"                                                                          \
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}"                                            \
    "table{width:100%;border-collapse:collapse}"                                                                             \
    "th,td{padding:.375rem .5rem;border-bottom:1px solid var(--line);text-align:left;"                                       \
    "vertical-align:baseline}"                                                                                               \
    "th{font-size:.8125rem;font-weight:600;white-space:nowrap}th a{color:var(--faint)}"                                      \
    "th[aria-sort] a{color:var(--text)}"                                                                                     \
    "th[aria-sort=ascending] a:after{content:\" \\2191\"}"                                                                   \
    "th[aria-sort=descending] a:after{content:\" \\2193\"}"                                                                  \
    "tbody tr:hover{background:var(--row)}"                                                                                  \
    "td:first-child{overflow-wrap:anywhere}"                                                                                 \
    "td:first-child a{display:block;position:relative;padding-left:1.625rem}"                                                \
    "td:first-child a:before{content:\"\";position:absolute;left:0;top:.25em;width:1em;"                                     \
    "height:1em;background:var(--faint);-webkit-mask:" LISTING_ICON(                                                         \
        LISTING_FILE) ";mask:" LISTING_ICON(LISTING_FILE) "}"                                                                \
                                                          ".d td:first-child "                                               \
                                                          "a:before{background:var(--link);-"                                \
                                                          "webkit-mask:" LISTING_ICON(LISTING_FOLDER) ";mask:" LISTING_ICON( \
                                                              LISTING_FOLDER) "}"                                            \
                                                                              "th+th,td+td{width:"                           \
                                                                              "1%;white-space:"                              \
                                                                              "nowrap;color:var(-"                           \
                                                                              "-faint);font-"                                \
                                                                              "variant-numeric:"                             \
                                                                              "tabular-nums}"                                \
                                                                              "td+td{font-size:."                            \
                                                                              "9375rem}"                                     \
                                                                              "th:nth-child(2),"                             \
                                                                              "td:nth-child(2){"                             \
                                                                              "padding-left:1."                              \
                                                                              "5rem;text-align:"                             \
                                                                              "right}"                                       \
                                                                              "th:nth-child(3),"                             \
                                                                              "td:nth-child(3){"                             \
                                                                              "padding-left:1."                              \
                                                                              "5rem}"                                        \
                                                                              "@media(max-width:"                            \
                                                                              "36rem){body{"                                 \
                                                                              "padding:1.25rem "                             \
                                                                              ".75rem "                                      \
                                                                              "2rem}th,td{"                                  \
                                                                              "padding:.5rem "                               \
                                                                              ".25rem}"                                      \
                                                                              "td+td{font-size:."                            \
                                                                              "8125rem}th:nth-"                              \
                                                                              "child(n+2),td:nth-"                           \
                                                                              "child(n+2){"                                  \
                                                                              "padding-left:."                               \
                                                                              "75rem}"                                       \
                                                                              "time{display:"                                \
                                                                              "inline-block;"                                \
                                                                              "width:11ch;height:"                           \
                                                                              "1.5em;overflow:"                              \
                                                                              "hidden;white-"                                \
                                                                              "space:normal;"                                \
                                                                              "vertical-align:"                              \
                                                                              "bottom}th "                                   \
                                                                              "i{display:none}}"                             \
                                                                              "th "                                          \
                                                                              "i{font-style:"                                \
                                                                              "normal;font-"                                 \
                                                                              "weight:400}"

#define LISTING_STYLE_HASH "y+go0JnT2cVHJ7MVBeKkCdMFwwHzkgQE7jpDnzcxWiU="

#endif
