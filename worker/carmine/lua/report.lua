-- ARGV: version, mid, token, done (1) or back to the queue (0), backoff ms (-1: none). Returns 1, or
-- 0 if the token is stale.
local mid, token, is_done, backoff = ARGV[2], ARGV[3], ARGV[4] == '1', tonumber(ARGV[5])
if not owns(mid, token) then return 0 end
local _, _, waits = state(mid)
unlock(mid)
if backoff >= 0 then redis.call('HSET', backoffs, mid, now + backoff) else redis.call('HDEL', backoffs, mid) end
if is_done then
	if waits and with_v2 then
		requeue_now(mid) -- its workers would forget a done mid with its second version
	else
		redis.call('SADD', done, mid)
	end
end
if not is_done and backoff <= 0 then wake() end
return 1
