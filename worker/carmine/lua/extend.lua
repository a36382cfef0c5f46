-- ARGV: version, mid, token, lock ms from now on. Returns 1, or 0 if the token is stale.
local mid, token = ARGV[2], ARGV[3]
if not owns(mid, token) then return 0 end
lock(mid, token, now + tonumber(ARGV[4]))
return 1
