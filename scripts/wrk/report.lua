-- SPDX-License-Identifier: MIT
-- What the loads have in common: one line of JSON for scripts/wrk/compare. Alone, it is a plain GET.

function done(summary, latency, requests)
    local errors = summary.errors
    local text = '{"requests": %d, "rate": %.1f, "bytes": %d, "p50": %d, "p99": %d, "p999": %d, ' ..
        '"errors": %d, "statuses": %d}'
    print("RESULT " .. string.format(text, summary.requests, summary.requests * 1e6 / summary.duration,
        summary.bytes, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
        errors.connect + errors.read + errors.write + errors.timeout, errors.status))
end
