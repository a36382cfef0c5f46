-- ARGV: version, then for each mid: mid, fingerprint. Removes the mids whose fingerprint has not
-- changed. Returns 1 or 0 for each.

-- drop removes a mid from its list. It searches from the end, because mids come in the order of the
-- lists. A mid in both lists stays in the circle, where the next worker drops it: all versions that
-- use both lists do so.
local function drop(mid)
	for _, list in ipairs({mids_ready, mid_circle}) do
		if redis.call('LREM', list, -1, mid) > 0 then return end
	end
end

local removed = {}
for i = 2, #ARGV, 2 do
	local mid, same = ARGV[i], fingerprint(ARGV[i]) == ARGV[i + 1]
	if same then
		forget(mid)
		drop(mid)
	end
	removed[#removed + 1] = same and 1 or 0
end
return removed
