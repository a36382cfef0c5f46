-- ARGV: version, default lock ms, maximum number of messages, number of mids to examine, prefix of
-- the tokens. Returns {mids examined, size of the queue, list to sleep on, ms until the first lock or
-- backoff seen ends (-1: none), {mid, content, attempt, lock ms, udt, token}…}.
local default_lock, count, steps, tokens = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local jobs, looked, worked, next_at = {}, 0, false, math.huge

-- examine examines a mid that was just moved to the left end of the circle.
local function examine(mid)
	local base, backs_off, waits = state(mid)
	if base == 'nx' then
		redis.call('LTRIM', mid_circle, 1, -1)
		return
	end
	if base == 'locked' or backs_off then
		next_at = math.min(next_at, number(base == 'locked' and locks or backoffs, mid))
		return
	end
	worked = true
	if base == 'done' then
		if not waits then
			forget(mid)
			redis.call('LTRIM', mid_circle, 1, -1)
			return
		end
		requeue_now(mid)
	end
	local lock_ms = number(lock_times, mid)
	if lock_ms <= 0 then lock_ms = default_lock end
	local token = tokens .. '-' .. (#jobs + 1)
	lock(mid, token, now + lock_ms)
	local attempt = redis.call('HINCRBY', nattempts, mid, 1)
	jobs[#jobs + 1] = {mid, redis.call('HGET', messages, mid), attempt, lock_ms, number(udts, mid), token}
end

local size = redis.call('LLEN', mids_ready) + redis.call('LLEN', mid_circle)
while #jobs < count and looked < steps and looked < size do
	local mid = redis.call('RPOPLPUSH', mids_ready, mid_circle) or redis.call('RPOPLPUSH', mid_circle, mid_circle)
	if not mid then break end
	looked = looked + 1
	if mid ~= marker then examine(mid) end
end
if worked then redis.call('SET', ndry_runs, 0) end

-- Sleeping workers wait for the element to arrive in the list that is empty now.
local bed = isleep_b
if #jobs == 0 then
	if redis.call('LLEN', isleep_b) > 0 then
		bed = isleep_a
	elseif redis.call('LLEN', isleep_a) == 0 then
		redis.call('LPUSH', isleep_a, '_')
	end
end
return {looked, size, bed == isleep_a and 'a' or 'b', next_at < math.huge and next_at - now or -1, unpack(jobs)}
