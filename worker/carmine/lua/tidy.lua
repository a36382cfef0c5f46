-- ARGV: version. Removes what is left of a queue that has no messages, and answers 1; else 0.
if redis.call('HLEN', messages) > 0 or redis.call('HLEN', messages_rq) > 0 then return 0 end
for _, key in ipairs(KEYS) do redis.call('DEL', key) end
return 1
