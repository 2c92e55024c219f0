-- SPDX-License-Identifier: MIT
-- Ten thousand files of 4 KiB at random, 200 a folder: /many/00/0000.html to /many/49/0199.html;
-- `... -- flat`: all of them in one folder, /flat/00000.html to /flat/09999.html.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

local requests = {}
local count = 10000

function init(args)
    math.randomseed(1)
    for i = 0, count - 1 do
        local path
        if args[1] == "flat" then
            path = string.format("/flat/%05d.html", i)
        else
            path = string.format("/many/%02d/%04d.html", math.floor(i / 200), i % 200)
        end
        requests[i + 1] = wrk.format("GET", path)
    end
end

function request()
    return requests[math.random(count)]
end
