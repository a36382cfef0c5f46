-- ARGV: version. Removes the remains of a queue without messages and returns 1, otherwise 0.
if redis.call('HLEN', messages) > 0 or redis.call('HLEN', messages_rq) > 0 then return 0 end
for _, key in ipairs(KEYS) do redis.call('DEL', key) end
return 1
