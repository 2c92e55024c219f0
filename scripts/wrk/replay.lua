-- SPDX-License-Identifier: MIT
-- Replays an access log (common or combined format) in its order, over and over:
--     wrk -s replay.lua URL -- access.log
-- A line with 304 is asked as its client will have asked, with a date, one with 206 for a range.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

local requests = {}
local last = 0

local function fields(status, bytes)
    local found = {["Host"] = wrk.headers["Host"]}
    if status == "304" then
        found["If-Modified-Since"] = "Wed, 01 Jan 2020 00:00:00 GMT"
    elseif status == "206" then
        found["Range"] = "bytes=0-" .. math.max((tonumber(bytes) or 1) - 1, 0)
    end
    return found
end

function init(args)
    local name = args[1] or error("replay.lua: say `-- access.log` after the URL")
    for line in io.lines(name) do
        local method, path, status, bytes = line:match('"(%u+) (/%S*) [^"]*" (%d+) (%S+)')
        if method == "GET" or method == "HEAD" then
            requests[#requests + 1] = wrk.format(method, path, fields(status, bytes))
        end
    end
    if #requests == 0 then
        error("replay.lua: no GET or HEAD line in " .. name)
    end
end

function request()
    last = last % #requests + 1
    return requests[last]
end
