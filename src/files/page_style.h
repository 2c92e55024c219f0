/* SPDX-License-Identifier: MIT */
#ifndef EVIXD_FILES_PAGE_STYLE_H
#define EVIXD_FILES_PAGE_STYLE_H

/*
 * What the built-in pages have in common: colours for light and dark, and a policy that lets a
 * browser load and run nothing, with one exception for the page's own style, known by its hash.
 * Whoever changes a style puts its new hash beside it; a test compares them.
 */

#define PAGE_COLOURS                                                                               \
    ":root{color-scheme:light dark;--text:#1d2430;--faint:#5c6675;--line:#e3e7ed;"                 \
    "--link:#0b57c2;--row:#f4f7fb;--page:#fff}"                                                    \
    "@media(prefers-color-scheme:dark){:root{--text:#dfe4ec;--faint:#98a2b3;--line:#2b3340;"       \
    "--link:#8ab8ff;--row:#1b222d;--page:#12171f}}"

/* After the type and before the title; the icon keeps browsers from asking for one. */
#define PAGE_HEAD                                                                                  \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                      \
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"                    \
    "<link rel=\"icon\" href=\"data:,\">\n"

#define PAGE_POLICY(hash)                                                                          \
    "Content-Security-Policy: default-src 'none'; img-src data:; style-src 'sha256-" hash          \
    "'; base-uri 'none'; form-action 'none'\r\n"

#endif
