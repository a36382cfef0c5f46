-- ARGV: version, cursor, approximate count. Returns {now, next cursor, the entry of each…}.
local page, all = redis.call('HSCAN', messages, ARGV[2], 'COUNT', ARGV[3]), {}
for i = 1, #page[2], 2 do all[#all + 1] = entry(page[2][i]) end
return {now, page[1], all}
