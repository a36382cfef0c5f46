local key, now, mid = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local job = key .. ':job:' .. mid

local was = redis.call('HMGET', job, 'state', 'until')
if was[1] == 'done' then
  return math.min(redis.call('HDEL', job, 'rbody', 'rlock', 'rfirst', 'rplace'), 1)
end
if was[1] ~= 'queued' and not (was[1] == 'locked' and tonumber(was[2]) <= now) then
  return 0
end
for _, set in ipairs({ ':ready', ':backoff', ':locked' }) do
  redis.call('ZREM', key .. set, mid)
end
redis.call('DEL', job)
return 1
