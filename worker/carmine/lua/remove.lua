-- ARGV: version, then for each mid: mid, fingerprint. Removes the mids that still have their fingerprint; answers 1 or 0 for each.

-- drop takes a mid out of its list. Mids come in the order of the lists, so it is near the end that is searched first. One that is in both lists
-- stays in the circle, where the next worker that comes by drops it: only versions that do so use both.
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
