-- SPDX-License-Identifier: MIT
-- Ranges of 4 KiB at random offsets of the path that was given: 206.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

local requests = {}
local count = 1000
local bytes = 4096
local file_bytes = 10 * 1024 * 1024

function init(args)
    math.randomseed(1)
    for i = 1, count do
        local first = math.random(0, file_bytes - bytes)
        local range = string.format("bytes=%d-%d", first, first + bytes - 1)
        requests[i] = wrk.format("GET", nil, {["Range"] = range, ["Host"] = wrk.headers["Host"]})
    end
end

function request()
    return requests[math.random(count)]
end
