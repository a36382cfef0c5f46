-- ARGV: version, number of content bytes after which to stop, mid… Returns {now, {fingerprint,
-- entry, content, lock ms, content behind, lock ms behind}…}; missing values are false or 0.
local all, bytes = {}, 0
for i = 3, #ARGV do
	local mid = ARGV[i]
	local content, behind = redis.call('HGET', messages, mid), redis.call('HGET', messages_rq, mid)
	if not behind and redis.call('SISMEMBER', requeue, mid) == 1 then behind = content end
	all[#all + 1] = {fingerprint(mid), entry(mid), content, number(lock_times, mid), behind, number(lock_times_rq, mid)}
	bytes = bytes + #(content or '') + #(behind or '')
	if bytes > tonumber(ARGV[2]) then break end
end
return {now, unpack(all)}
