/* SPDX-License-Identifier: MIT */
#ifndef SERVER_ERROR_STYLE_H
#define SERVER_ERROR_STYLE_H

/* How an error page looks: the colours of the others, and little else, since many are sent. */

#include "files/page_style.h"

#define ERROR_STYLE                                                                                \
    PAGE_COLOURS                                                                                   \
    "body{margin:0;display:grid;place-items:center;min-height:80vh;color:var(--text);"             \
    "background:var(--page);font:1rem/1.5 system-ui,sans-serif}main{padding:1.25rem}"              \
    "h1{margin:0;font-size:1.75rem;line-height:1.2;letter-spacing:-.01em}"                         \
    "h1 span{display:block;font-size:4rem;font-weight:300;color:var(--faint)}"                     \
    "p{margin:.5rem 0 0}a{color:var(--link)}"

#define ERROR_STYLE_HASH "VCcTMva0KI7CR0KI1Ll1GxxmklW553JDiaai+nGZkFg="

#endif
