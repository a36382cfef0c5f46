local key, now, mid, token, ms = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local job = key .. ':job:' .. mid

local was = redis.call('HMGET', job, 'state', 'until', 'token')
if was[1] ~= 'locked' or tonumber(was[2]) <= now or was[3] ~= token then
  return 0
end
redis.call('HSET', job, 'until', now + ms)
redis.call('ZADD', key .. ':locked', now + ms, mid)
return 1
