-- SPDX-License-Identifier: MIT
-- Ten thousand files of 4 KiB at random: /many/00000.html to /many/09999.html.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

local requests = {}
local count = 10000

function init(args)
    math.randomseed(1)
    for i = 1, count do
        requests[i] = wrk.format("GET", string.format("/many/%05d.html", i - 1))
    end
end

function request()
    return requests[math.random(count)]
end
