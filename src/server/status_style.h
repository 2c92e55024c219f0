/* SPDX-License-Identifier: MIT */
#ifndef SERVER_STATUS_STYLE_H
#define SERVER_STATUS_STYLE_H

/* How the status page looks. */

#include "files/page_style.h"

#define STATUS_STYLE                                                                               \
    PAGE_COLOURS                                                                                   \
    ":root{--card:#fff;--back:#f5f7fa;--bar:#3d7de0;--mark:#d4562b;--s2:#2e9e5b;--s3:#3d7de0;"     \
    "--s4:#d99a1c;--s5:#d0352b}"                                                                   \
    "@media(prefers-color-scheme:dark){:root{--card:#1a212c;--back:#11161e;--bar:#5b97f5;"         \
    "--mark:#ff8a5c;--s2:#45b974;--s3:#5b97f5;--s4:#e8b04a;--s5:#f0655b}}"                         \
    "*{box-sizing:border-box}"                                                                     \
    "body{margin:0 auto;max-width:76rem;padding:1.25rem;color:var(--text);"                        \
    "background:var(--back);font:.9375rem/1.45 system-ui,sans-serif;"                              \
    "font-variant-numeric:tabular-nums}"                                                           \
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}"                  \
    "h1,h2,p,figure{margin:0}h1{font-size:1.375rem;font-weight:650;letter-spacing:-.01em}"         \
    "h2{font-size:.8125rem;font-weight:600;color:var(--faint)}"                                    \
    "header{display:flex;flex-wrap:wrap;gap:.75rem 2rem;justify-content:space-between;"            \
    "margin-bottom:1.25rem}header p{color:var(--faint)}nav{text-align:right}"                      \
    "nav a{padding:.1rem .35rem;border-radius:.375rem}"                                            \
    "nav a[aria-current]{color:var(--text);background:var(--line);font-weight:600}"                \
    ".tiles{display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:.75rem}"                \
    ".tile,figure,section{background:var(--card);border:1px solid var(--line);"                    \
    "border-radius:.625rem;padding:.875rem 1rem;min-width:0;overflow-x:auto}"                      \
    ".tile p{color:var(--faint)}.tile .big{margin:.1rem 0;color:var(--text);"                      \
    "font-size:1.75rem;line-height:1.2;font-weight:600;letter-spacing:-.02em;white-space:nowrap}"  \
    ".big small{margin-left:.1rem;font-size:1rem;font-weight:400;color:var(--faint)}"              \
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));"     \
    "gap:.75rem;margin:.75rem 0}"                                                                  \
    "figcaption{display:flex;flex-wrap:wrap;gap:0 1rem;justify-content:space-between;"             \
    "color:var(--faint);font-size:.8125rem;min-height:1.3em}"                                      \
    ".quantiles{display:flex;flex-wrap:wrap}.quantiles "                                           \
    "span{margin-left:.75rem;white-space:nowrap}b{color:var(--text);font-weight:600}"              \
    ".plot{position:relative;margin-top:.5rem;border-bottom:1px solid var(--faint)}"               \
    ".plot svg{display:block;width:100%;height:9rem}"                                              \
    ".top{position:absolute;top:-.2rem;left:0;font-size:.75rem;color:var(--faint)}"                \
    "svg rect{fill:var(--bar)}svg rect:hover{fill:var(--mark)}svg .mark{fill:var(--mark)}"         \
    ".axis{display:flex;margin-top:.2rem;font-size:.75rem;color:var(--faint)}"                     \
    ".axis{overflow:hidden}.axis span{flex:2 1 "                                                   \
    "0;min-width:0;white-space:nowrap;text-align:center}"                                          \
    ".axis span:first-child{flex-grow:1;text-align:left}"                                          \
    ".axis span:last-child{flex-grow:1;text-align:right}"                                          \
    ".tables{columns:19rem 3;column-gap:.75rem}.tables "                                           \
    "section{break-inside:avoid;margin-bottom:.75rem}"                                             \
    ".wide{margin-bottom:.75rem}.scroll{overflow-x:auto}"                                          \
    "table{width:100%;border-collapse:collapse;margin-top:.375rem}"                                \
    "th,td{padding:.25rem 0;border-top:1px solid var(--line);font-weight:400;text-align:left;"     \
    "vertical-align:baseline}tr:first-child>*{border-top:0}"                                       \
    "td{text-align:right;white-space:nowrap}.none{color:var(--faint)}"                             \
    "thead th{font-size:.75rem;color:var(--faint)}tbody tr:first-child>*"                          \
    "{border-top:1px solid var(--line)}section:not(.wide) tbody tr:first-child>*{border-top:0}"    \
    ".wide th,.wide td{padding-left:1rem;text-align:right;white-space:nowrap}"                     \
    ".wide th:first-child{padding-left:0;text-align:left}"                                         \
    ".share{display:block;width:100%;height:.5rem;margin:.6rem 0 .2rem;border-radius:.25rem;"      \
    "background:var(--line)}"                                                                      \
    "i{display:inline-block;width:.6rem;height:.6rem;margin-right:.5rem;border-radius:.2rem}"      \
    "i.s2{background:var(--s2)}i.s3{background:var(--s3)}i.s4{background:var(--s4)}"               \
    "i.s5{background:var(--s5)}svg .s2{fill:var(--s2)}svg .s3{fill:var(--s3)}"                     \
    "svg .s4{fill:var(--s4)}svg .s5{fill:var(--s5)}"                                               \
    "footer{margin-top:1rem;font-size:.8125rem;color:var(--faint)}"                                \
    "@media(max-width:68rem){.tiles{grid-template-columns:repeat(3,minmax(0,1fr))}}"               \
    "@media(max-width:40rem){body{padding:.875rem}nav{text-align:left}nav a:first-child"           \
    "{margin-left:-.1rem}.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tile{padding:."     \
    "625rem .75rem}"                                                                               \
    ".tile .big{font-size:1.375rem}.quantiles span{margin:0 .75rem 0 0}}"

#define STATUS_STYLE_HASH "g4bh9wcl156ZrZ8jXdHxnyvc+T8QZg5hp8BigSBtcJ4="

#endif
