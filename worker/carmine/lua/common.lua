-- This precedes every script. KEYS are all keys of one queue, always in this order. ARGV[1] is the
-- oldest major version of Carmine whose workers share the queue.
local messages, messages_rq, lock_times, lock_times_rq, udts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local locks, lock_tokens, backoffs, nattempts, done, requeue = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local mids_ready, mid_circle, ndry_runs, isleep_a, isleep_b = KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16]
local marker = 'end-of-circle'
local with_v2 = ARGV[1] == '2'

-- The server's clock, on which workers on all machines agree. Redis before 7 requires this call
-- before a script that has read the clock writes.
if redis.replicate_commands then redis.replicate_commands() end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function number(hash, mid) return tonumber(redis.call('HGET', hash, mid)) or 0 end

-- state returns the state of a mid (nx, queued, locked or done), whether it is in a backoff, and
-- whether a second version waits behind it.
local function state(mid)
	if redis.call('HEXISTS', messages, mid) == 0 then return 'nx', false, false end
	local backs_off = now < number(backoffs, mid)
	local waits = redis.call('HEXISTS', messages_rq, mid) == 1 or redis.call('SISMEMBER', requeue, mid) == 1
	if redis.call('SISMEMBER', done, mid) == 1 then return 'done', backs_off, waits end
	if now < number(locks, mid) then return 'locked', backs_off, waits end
	return 'queued', backs_off, waits
end

-- owns reports whether token is that of the lock. Our locks have their token and their end in
-- lock-tokens. If another worker takes the message after the lock has expired, a version without
-- tokens changes the end, and one with tokens changes the token.
local function owns(mid, token)
	local until_ms = redis.call('HGET', locks, mid)
	return until_ms and redis.call('HGET', lock_tokens, mid) == token .. ':' .. until_ms
end

local function lock(mid, token, until_ms)
	redis.call('HSET', locks, mid, until_ms)
	redis.call('HSET', lock_tokens, mid, token .. ':' .. redis.call('HGET', locks, mid))
end

local function unlock(mid)
	redis.call('HDEL', locks, mid)
	redis.call('HDEL', lock_tokens, mid)
end

local function set_or_drop(hash, mid, value)
	if tonumber(value) > 0 then redis.call('HSET', hash, mid, value) else redis.call('HDEL', hash, mid) end
end

local function forget_requeue(mid)
	redis.call('HDEL', messages_rq, mid)
	redis.call('HDEL', lock_times_rq, mid)
	redis.call('SREM', requeue, mid)
end

-- forget removes everything of a mid except its place in the circle.
local function forget(mid)
	unlock(mid)
	forget_requeue(mid)
	for _, hash in ipairs({messages, lock_times, udts, backoffs, nattempts}) do redis.call('HDEL', hash, mid) end
	redis.call('SREM', done, mid)
end

-- requeue_now replaces the first version by the second. If there is only a mark in the set
-- `requeue`, as in versions before 3.2, the second version has the same content.
local function requeue_now(mid)
	local content = redis.call('HGET', messages_rq, mid)
	if content then redis.call('HSET', messages, mid, content) end
	set_or_drop(lock_times, mid, number(lock_times_rq, mid))
	redis.call('HSET', udts, mid, now)
	redis.call('HDEL', nattempts, mid)
	redis.call('SREM', done, mid)
	unlock(mid)
	forget_requeue(mid)
end

-- entry returns what is reported about a mid; times are in ms.
local function entry(mid)
	local base, backs_off, waits = state(mid)
	return {mid, base, backs_off and 1 or 0, waits and 1 or 0, number(nattempts, mid), number(udts, mid), number(backoffs, mid),
		number(locks, mid)}
end

-- fingerprint returns a text that changes with everything that is stored about a mid.
local function fingerprint(mid)
	local all = {redis.call('SISMEMBER', done, mid), redis.call('SISMEMBER', requeue, mid)}
	for _, hash in ipairs({messages, messages_rq, lock_times, lock_times_rq, udts, locks, lock_tokens, backoffs, nattempts}) do
		local value = redis.call('HGET', hash, mid)
		all[#all + 1] = value and redis.sha1hex(value) or '-'
	end
	return table.concat(all, ' ')
end

-- wake wakes one worker: sleeping workers wait for an element that is moved between two lists.
local function wake()
	if redis.call('RPOPLPUSH', isleep_a, isleep_b) then return end
	if redis.call('RPOPLPUSH', isleep_b, isleep_a) then return end
	redis.call('LPUSH', isleep_a, '_')
end
