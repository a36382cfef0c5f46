local key, now, most, default = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ready, locked = key .. ':ready', key .. ':locked'

-- back makes the due members of a set ready.
local function back(set)
  local over = redis.call('ZRANGEBYSCORE', set, '-inf', now)
  for _, mid in ipairs(over) do
    local job = key .. ':job:' .. mid
    redis.call('ZREM', set, mid)
    redis.call('ZADD', ready, redis.call('HGET', job, 'place'), mid)
    redis.call('HSET', job, 'state', 'queued')
  end
end

back(locked)
back(key .. ':backoff')
for _, mid in ipairs(redis.call('ZRANGEBYSCORE', key .. ':done', '-inf', now)) do
  local job = key .. ':job:' .. mid
  local behind = redis.call('HMGET', job, 'rbody', 'rlock', 'rplace', 'rfirst')
  redis.call('ZREM', key .. ':done', mid)
  redis.call('DEL', job)
  if behind[3] then
    redis.call('HSET', job, 'state', 'queued', 'body', behind[1], 'lock', behind[2], 'place', behind[3], 'first', behind[4], 'attempts', 0)
    redis.call('ZADD', ready, behind[3], mid)
  end
end

local jobs = {}
local popped = redis.call('ZPOPMIN', ready, most)
for i = 1, #popped, 2 do
  local mid = popped[i]
  local job = key .. ':job:' .. mid
  local has = redis.call('HMGET', job, 'body', 'attempts', 'lock', 'first')
  local attempt, lock = has[2] + 1, tonumber(has[3])
  if lock == 0 then
    lock = default
  end
  local token = redis.call('INCR', key .. ':number')
  redis.call('HSET', job, 'state', 'locked', 'until', now + lock, 'token', token, 'attempts', attempt)
  redis.call('ZADD', locked, now + lock, mid)
  jobs[#jobs + 1] = { mid, has[1], attempt, token, lock, tonumber(has[4]) }
end
return jobs
