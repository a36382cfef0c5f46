-- ARGV: version, mid, token. Undoes a take: the message is where it was, and the attempt is not counted. Answers 1, or 0 when the token is stale.
local mid, token = ARGV[2], ARGV[3]
if not owns(mid, token) then return 0 end
unlock(mid)
set_or_drop(nattempts, mid, number(nattempts, mid) - 1)
return 1
