-- SPDX-License-Identifier: MIT
-- A new connection for each request.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

wrk.headers["Connection"] = "close"
