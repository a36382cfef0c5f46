local key, now, mid, body = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3]
local backoff, lock, flags = tonumber(ARGV[4]), ARGV[5], ARGV[6]
local update, requeue, reset = flags:find('u', 1, true), flags:find('q', 1, true), flags:find('b', 1, true)
local job = key .. ':job:' .. mid

-- wait moves a queued job to its place after its backoff was set.
local function wait(place)
  if backoff > 0 then
    redis.call('ZREM', key .. ':ready', mid)
    redis.call('ZADD', key .. ':backoff', now + backoff, mid)
  else
    redis.call('ZREM', key .. ':backoff', mid)
    redis.call('ZADD', key .. ':ready', place, mid)
  end
end

local was = redis.call('HMGET', job, 'state', 'until', 'place', 'rplace')
local state, till, place, behind = was[1], tonumber(was[2] or 0), was[3], was[4]

if not state then
  place = redis.call('INCR', key .. ':number')
  redis.call('HSET', job, 'state', 'queued', 'body', body, 'lock', lock, 'first', now, 'attempts', 0, 'place', place)
  if backoff > 0 then
    redis.call('ZADD', key .. ':backoff', now + backoff, mid)
  else
    redis.call('ZADD', key .. ':ready', place, mid)
  end
  return 'added'
end

if state == 'queued' or state == 'locked' and till <= now then
  if not update and not reset then
    return 'already-queued'
  end
  if update then
    redis.call('HSET', job, 'body', body, 'lock', lock)
  end
  if reset then
    redis.call('HSET', job, 'state', 'queued')
    redis.call('ZREM', key .. ':locked', mid)
    wait(place)
  end
  return 'updated'
end

if state == 'locked' and not requeue then
  return 'locked'
end
if state == 'done' and till > now and not requeue then
  return 'backoff'
end
if not behind then
  redis.call('HSET', job, 'rbody', body, 'rlock', lock, 'rfirst', math.max(now, till), 'rplace', redis.call('INCR', key .. ':number'))
  return 'added'
end
if not update then
  return 'already-queued'
end
redis.call('HSET', job, 'rbody', body, 'rlock', lock)
return 'updated'
