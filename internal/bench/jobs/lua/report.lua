local key, now, mid, token, verdict, backoff = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local job = key .. ':job:' .. mid

local was = redis.call('HMGET', job, 'state', 'until', 'token', 'place', 'rplace')
if was[1] ~= 'locked' or tonumber(was[2]) <= now or was[3] ~= token then
  return 0
end
redis.call('ZREM', key .. ':locked', mid)
if verdict == 'retry' then
  redis.call('HSET', job, 'state', 'queued')
  if backoff > 0 then
    redis.call('ZADD', key .. ':backoff', now + backoff, mid)
  else
    redis.call('ZADD', key .. ':ready', was[4], mid)
  end
  return 1
end
local till = 0
if backoff > 0 then
  till = now + backoff
end
redis.call('HSET', job, 'state', 'done', 'until', till)
redis.call('HDEL', job, 'body')
if was[5] then
  redis.call('HSET', job, 'rfirst', math.max(now, till))
end
redis.call('ZADD', key .. ':done', till, mid)
return 1
