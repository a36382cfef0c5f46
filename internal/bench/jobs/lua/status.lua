local key, now, mid = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local job = key .. ':job:' .. mid

local was = redis.call('HMGET', job, 'state', 'until', 'attempts', 'first', 'rplace')
local state, till, behind = was[1], tonumber(was[2] or 0), was[5]
if not state then
  return false
end
local backoff, lock = 0, 0
if state == 'locked' and till > now then
  lock = till - now
elseif state == 'done' then
  backoff = math.max(till - now, 0)
else
  state = 'queued'
  backoff = math.max((redis.call('ZSCORE', key .. ':backoff', mid) or 0) - now, 0)
end

local shown = state
if state == 'locked' and behind then
  shown = 'locked-with-requeue'
elseif state == 'queued' and backoff > 0 then
  shown = 'queued-with-backoff'
elseif state == 'done' and behind then
  shown = 'done-with-requeue'
elseif state == 'done' and backoff > 0 then
  shown = 'done-with-backoff'
elseif state == 'done' then
  shown = 'done-awaiting-gc'
end
return { shown, tonumber(was[3]), tonumber(was[4]), backoff, lock }
