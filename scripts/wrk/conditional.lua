-- SPDX-License-Identifier: MIT
-- A client that has the file already: revalidates by the date it was given, and gets 304.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

wrk.headers["If-Modified-Since"] = "Wed, 01 Jan 2020 00:00:00 GMT"
