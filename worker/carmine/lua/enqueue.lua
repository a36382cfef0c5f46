-- ARGV: version, mid, content, lock ms (0: the worker's), initial backoff ms, may update, may
-- requeue, may reset the backoff (1 or 0 each).
local mid, content, lock_ms, backoff = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local may_update, may_requeue, may_reset = ARGV[6] == '1', ARGV[7] == '1', ARGV[8] == '1'
local base, backs_off, waits = state(mid)

local function set_backoff()
	if backoff > 0 then redis.call('HSET', backoffs, mid, now + backoff) else redis.call('HDEL', backoffs, mid) end
end

local function wait_behind()
	if waits and not may_update then return 'already-queued' end
	set_or_drop(lock_times_rq, mid, lock_ms)
	if with_v2 then redis.call('SADD', requeue, mid) end -- its workers look only there, and handle the first content again
	if with_v2 and redis.call('HGET', messages, mid) == content then
		redis.call('HDEL', messages_rq, mid)
	else
		redis.call('HSET', messages_rq, mid, content)
	end
	return waits and 'updated' or 'added'
end

if base == 'nx' then
	forget(mid) -- old versions leave keys behind that they do not know
	if redis.call('EXISTS', mid_circle) == 0 then redis.call('LPUSH', mid_circle, marker) end
	redis.call('HSET', messages, mid, content)
	redis.call('HSET', udts, mid, now)
	set_or_drop(lock_times, mid, lock_ms)
	set_backoff()
	-- The list of ready mids comes before the circle, but workers of version 2 do not look there.
	redis.call('LPUSH', (with_v2 or backoff > 0) and mid_circle or mids_ready, mid)
	wake()
	return 'added'
end
if base == 'queued' then
	if not may_update and not may_reset then return 'already-queued' end
	if may_update then
		unlock(mid) -- an expired lock belongs to a worker with the old content
		-- A mark without its own content stands for the current content.
		if waits then redis.call('HSETNX', messages_rq, mid, redis.call('HGET', messages, mid)) end
		redis.call('HSET', messages, mid, content)
		redis.call('HSETNX', udts, mid, now)
		set_or_drop(lock_times, mid, lock_ms)
	end
	if may_reset then
		set_backoff()
		wake()
	end
	return 'updated'
end
if base == 'locked' then
	if may_requeue then return wait_behind() end
	return 'locked'
end
if backs_off then
	if may_requeue then return wait_behind() end
	return 'backoff'
end
local result = wait_behind()
if result ~= 'already-queued' then
	if with_v2 then
		requeue_now(mid) -- its workers would forget a done mid with its second version
		redis.call('HDEL', backoffs, mid)
	else
		redis.call('LPUSH', mids_ready, mid)
	end
	wake()
end
return result
