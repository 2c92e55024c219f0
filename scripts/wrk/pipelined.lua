-- SPDX-License-Identifier: MIT
-- Sixteen requests in one write, answered in order.

dofile(debug.getinfo(1, "S").source:match("@?(.*/)") .. "report.lua")

local batch

function init(args)
    local requests = {}
    for i = 1, 16 do
        requests[i] = wrk.format("GET")
    end
    batch = table.concat(requests)
end

function request()
    return batch
end
