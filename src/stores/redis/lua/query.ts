/** What can be asked of the server: records, lists, counts, items, small state. */

export const RECORDS = `
local function urlOf(task, fp)
  local row = fp and rowOf(task, fp)
  return row and row.url or ''
end

local function recordOf(row)
  local task, hop = row.task, row.hop
  local attempts = {}
  for _, attempt in ipairs(row.attempts or {}) do push2(attempts, attempt[1], exact(attempt[2])) end
  return {
    tostring(row.id), row.fp, row.url, row.host, exact(row.depth), exact(row.priority), row.extra or '', stateOf(row),
    row.reason or '', row.status and exact(row.status) or '', hop and hop[1] or '', urlOf(task, row.parent),
    row.alias and rootOf(row).url or '', attempts,
  }
end
`

/** Arguments: task, fingerprint. Answers its record, if there is one. */
export const GET = `
local task = taskNamed(arg())
if not task then return { 'notask', ARGV[at] } end
local row = rowOf(task, arg())
return { 'ok', row and { recordOf(row) } or {} }
`

/** Arguments: task, filter, id after which to begin, max, size of the window. Answers records, and the id to go on after. */
export const LIST = `
local task = taskNamed(arg())
if not task then return { 'notask', ARGV[at] } end
local f, after, max, size = readFilter(), num(), num(), num()
local order = P .. 'o:' .. task.id
local function idAt(place)
  local fp = call('LINDEX', order, place)
  return fp and rowOf(task, fp).id or math.huge
end
local rows, last = {}, false
if f.state == 'failed' then
  local fps = call('ZRANGEBYSCORE', P .. 'f:' .. task.id, '(' .. after, '+inf', 'LIMIT', 0, size)
  fetchRows(task, fps)
  for n, fp in ipairs(fps) do rows[n] = rowOf(task, fp) end
  last = #fps < size
else
  local low, high = 0, call('LLEN', order)
  if after == 0 then high = 0 end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if idAt(middle) > after then high = middle else low = middle + 1 end
  end
  local nextPlace
  rows, nextPlace = windowOf(task, low, size)
  last = nextPlace == ''
end
local records = {}
for _, row in ipairs(rows) do
  if #records < max then
    after = row.id
    if matches(row, f) then push(records, recordOf(row)) end
  else
    last = false
  end
end
return { 'ok', records, exact(after), last and '1' or '' }
`

/** Arguments: task, cursor, size. Answers a window of its hosts, each with what it is about, and the next cursor. */
export const HOSTS = `
local task = taskNamed(arg())
if not task then return { 'notask', ARGV[at] } end
local found = call('HSCAN', P .. 'hosts', arg(), 'COUNT', num())
local list = {}
for n = 1, #found[2], 2 do
  local h = unpackHost(found[2][n], found[2][n + 1])
  for _, queue in ipairs(h.queues) do
    if queue.task == task.id and queue.opened then
      push(list, { h.key, exact(call('ZCARD', queueKey(task.id, h.key))), exact(h.nextAt), exact(h.inFlight),
        exact(h.crawlDelay), exact(h.backoffStep), exact(h.backoffAt), exact(h.silent), exact(h.downUntil) })
    end
  end
end
return { 'ok', list, found[1], exact(now), exact(task.delay), exact(task.loopbackDelay) }
`

/** Arguments: task. Answers its totals, its levels as pairs, its settings and how many items it has. */
export const STATS = `
local name = arg()
local task = taskNamed(name)
if not task then return { 'notask', name } end
return { 'ok', call('HGETALL', task.key), call('HGETALL', P .. 'l:' .. task.id), call('HLEN', P .. 'i:' .. task.id) }
`

/** Arguments: task, number after which to begin, max, size of the window. Answers pairs of number and line, and where to go on. */
export const READ_ITEMS = `
local task = taskNamed(arg())
if not task then return { 'notask', ARGV[at] } end
local from, max, size = num(), num(), num()
local found = {}
local last = math.min(from + size, task.lastSeq)
for first = from + 1, last, 500 do
  local seqs = {}
  for seq = first, math.min(first + 499, last) do push(seqs, seq) end
  for n, raw in ipairs(call('HMGET', P .. 'i:' .. task.id, unpack(seqs))) do
    if raw and #found < 2 * max then
      local line = string.sub(raw, 2)
      if string.sub(raw, 1, 1) == 'p' then
        local item = cmsgpack.unpack(line)
        line = item[1] .. item[2] .. item[3]
      end
      push2(found, exact(seqs[n]), line)
    end
  end
  if #found >= 2 * max then break end
end
return { 'ok', found, last < task.lastSeq and #found < 2 * max and exact(last) or '' }
`

/** Arguments: pairs of key and value; a value begins with a sign: = is kept, anything else deletes. */
export const SET_STATE = `
local known = begin()
if known then return known end
for _ = 1, num() do
  local key, value = arg(), arg()
  if string.sub(value, 1, 1) == '=' then
    call('HSET', P .. 'state', key, string.sub(value, 2))
    call('ZADD', P .. 'names', 0, key)
  else
    call('HDEL', P .. 'state', key)
    call('ZREM', P .. 'names', key)
  end
end
return finish('')
`
