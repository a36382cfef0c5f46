-- ARGV: version, mid… Returns {now, the entry of each…}.
local all = {}
for i = 2, #ARGV do all[#all + 1] = entry(ARGV[i]) end
return {now, unpack(all)}
