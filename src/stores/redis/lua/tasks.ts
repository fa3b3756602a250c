/** Tasks in the server: opened, opened anew with other settings, put back, forgotten. */

/** Arguments: name, identity, settings as JSON, then the settings that scripts act on. Answers what is to be done yet. */
export const OPEN_TASK = `
local known = begin()
if known then return known end
local name, identity, settings = arg(), arg(), arg()
local order, maxDepth, delay, loopbackDelay, places = arg(), arg(), arg(), arg(), arg()
local id = call('HGET', P .. 'tasks', name)
if id then
  local old = call('HMGET', P .. 't:' .. id, 'identity', 'settings', 'order', 'maxDepth', 'places', 'scan')
  if old[1] ~= identity then return { 'rules', old[1], identity } end
  if old[2] == settings and not old[6] then return finish('') end
  -- Noted with the settings, so that a crash before the end of the scan is made good by the next who opens the task.
  local scan = (old[6] or old[3] ~= order or old[5] ~= places) and 'order' or ''
  if old[6] == 'depth' or old[4] ~= maxDepth then scan = 'depth' end
  if scan ~= '' then call('HSET', P .. 't:' .. id, 'scan', scan) end
  call('HSET', P .. 't:' .. id, 'settings', settings, 'order', order, 'maxDepth', maxDepth, 'delayMs', delay,
    'loopbackDelayMs', loopbackDelay, 'places', places)
  rang = true
  return finish(scan)
end
id = call('HINCRBY', META, 'lastTaskId', 1)
call('HSET', P .. 'tasks', name, id)
call('HSET', P .. 't:' .. id, 'name', name, 'identity', identity, 'settings', settings, 'order', order, 'maxDepth',
  maxDepth, 'delayMs', delay, 'loopbackDelayMs', loopbackDelay, 'places', places)
return finish('')
`

export const SCAN = `
-- Rows from a place in the order of ids on; with the place where the next window begins, or '' at the end.
local function windowOf(task, from, size)
  local fps = call('LRANGE', P .. 'o:' .. task.id, from, from + size - 1)
  fetchRows(task, fps)
  local rows = {}
  for n, fp in ipairs(fps) do rows[n] = rowOf(task, fp) end
  return rows, #fps < size and '' or from + size
end

local function readFilter()
  return { state = opt(), reason = opt(), status = num(), host = opt(), depth = num() }
end

local function matches(row, f)
  if f.reason and f.reason ~= row.reason then return false end
  if f.status and f.status ~= row.status then return false end
  if f.host and f.host ~= row.host then return false end
  if f.depth and f.depth ~= row.depth then return false end
  return not f.state or f.state == stateOf(row)
end
`

/** Arguments: task, place, size. Applies the task's order and depth limit to a window of its rows. Answers the next place. */
export const RESCAN = `
local known = begin()
if known then return known end
local task = taskNamed(arg())
if not task then return { 'notask', ARGV[at] } end
local rows, nextPlace = windowOf(task, num(), num())
local isNewDepth = call('HGET', task.key, 'scan') == 'depth'
for _, row in ipairs(rows) do
  local tooDeep = task.maxDepth and row.depth > task.maxDepth
  if row.state == SKIPPED and row.reason == 'depth' then
    if isNewDepth and not tooDeep then revive(row) end
  elseif row.state == PENDING and not heldOf(row) then
    local queued = unqueue(row)
    if tooDeep then
      if not queued then call('ZREM', P .. 'z:' .. task.id, row.fp) end
      uncount(row)
      row.state, row.reason = SKIPPED, 'depth'
      recount(row)
    elseif queued then
      place(row)
    end
  end
end
if nextPlace == '' then call('HDEL', task.key, 'scan') end
rang = true
return finish(tostring(nextPlace))
`

/** Arguments: size, cursor. Reckons anew when the queues of a window of hosts are due. Answers the next cursor. */
export const RETIME = `
local known = begin()
if known then return known end
local size = num()
local found = call('HSCAN', P .. 'hosts', arg(), 'COUNT', size)
for n = 1, #found[2], 2 do
  local h = hosts[found[2][n]] or unpackHost(found[2][n], found[2][n + 1])
  hosts[h.key] = h
  touch(h)
end
rang = true
return finish(found[1] == '0' and '' or found[1])
`

/** Arguments: task, filter, place, size. Answers how many were put back, and the next place. */
export const REQUEUE = `
local known = begin()
if known then return known end
local task = taskNamed(arg())
if not task then return { 'notask', ARGV[at] } end
local f = readFilter()
local rows, nextPlace = windowOf(task, num(), num())
local n = 0
for _, row in ipairs(rows) do
  local settled = row.state == DONE or row.state == FAILED or (row.state == SKIPPED and f.state == 'skipped')
  local inReach = not task.maxDepth or row.depth <= task.maxDepth
  if settled and inReach and not row.alias and matches(row, f) then
    revive(row)
    n = n + 1
  end
end
rang = true
return finish(n .. '|' .. nextPlace)
`

/** Arguments: task. From now on nobody sees it; what is left of its queues is swept afterwards. */
export const CLEAR = `
local known = begin()
if known then return known end
local task = taskNamed(arg())
if not task then return finish('') end
local id = task.id
for _, name in ipairs(call('HKEYS', P .. 'held')) do
  local row = string.sub(name, 1, #tostring(id) + 1) == id .. '|' and rowOf(task, string.sub(name, #tostring(id) + 2))
  if row and heldOf(row) then endLease(row, 'troubled') end
end
tasks[id] = false
call('HDEL', P .. 'tasks', task.name)
call('HSET', P .. 'sweep', id, '0')
for _, kind in ipairs({ 't:', 'l:', 'r:', 'o:', 'f:', 'k:', 'low:', 'i:', 'd:', 'z:' }) do call('UNLINK', P .. kind .. id) end
rang = true
return finish('')
`

/** Arguments: size. Goes on with one cleared task. Answers whether there is more to do. */
export const SWEEP = `
local known = begin()
if known then return known end
local size = num()
local left = call('HGETALL', P .. 'sweep')
if #left == 0 then return finish('') end
local id, cursor = tonumber(left[1]), left[2]
local found = call('HSCAN', P .. 'hosts', cursor, 'COUNT', size)
for n = 1, #found[2], 2 do
  local h = unpackHost(found[2][n], found[2][n + 1])
  for _, queue in ipairs(h.queues) do
    if queue.task == id then
      hosts[h.key] = h
      h.dirty = true
    end
  end
end
if found[1] == '0' then call('HDEL', P .. 'sweep', id) else call('HSET', P .. 'sweep', id, found[1]) end
return finish('more')
`
