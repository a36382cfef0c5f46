-- ARGV: version, mid, token. Undoes a take: the message stays in its place, and the attempt is not
-- counted. Returns 1, or 0 if the token is stale.
local mid, token = ARGV[2], ARGV[3]
if not owns(mid, token) then return 0 end
unlock(mid)
set_or_drop(nattempts, mid, number(nattempts, mid) - 1)
return 1
