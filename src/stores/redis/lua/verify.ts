/** The invariants of the store, counted anew in the server: in windows, or all in one script for an exact snapshot. */

import { UNPACED } from './model.ts'

/**
 * Arguments: part (rows, hosts, leases, kept, all), task, place or cursor, size. Answers problems as sentences, sums to be
 * added over all windows as pairs, where the next window begins or '', and what is kept of each task.
 */
export const VERIFY = `
local part, name, from, size = arg(), arg(), arg(), num()
local problems, sums, kept, nextPlace = {}, {}, {}, ''
local function found(sentence) if #problems < 40 then push(problems, sentence) end end
local function add(key, by) sums[key] = (sums[key] or 0) + by end

local function checkPlace(row)
  local task, key = row.task, queueKey(row.task.id, hostNow(row))
  local level = task.dfs and 0 - row.depth or row.depth
  local score = call('ZSCORE', key, memberOf(row, level))
  local places = 0
  if score and tonumber(score) == 0 - row.priority then
    places = places + 1
    add(task.id .. '|ready', 1)
  end
  if call('ZSCORE', P .. 'z:' .. task.id, row.fp) then places = places + 1 end
  if heldOf(row) then places = places + 1 end
  if places ~= 1 then found(row.url .. ' is pending, but not in exactly one of queue, delay and lease') end
end

local function checkRow(row)
  local task, id = row.task, row.task.id
  local state = stateOf(row)
  add(id .. '|' .. state, 1)
  add(id .. '|' .. state .. '|' .. row.depth, 1)
  if row.state == SKIPPED then add(id .. '|skip|' .. row.reason, 1) end
  if row.state == PENDING then checkPlace(row) end
  if row.alias and (row.state ~= SKIPPED or not rowOf(task, row.alias)) then
    found(row.url .. ' is an alias, but not skipped, or of a request that is not there')
  end
  if row.parent and not rowOf(task, row.parent) then found('The parent of ' .. row.url .. ' is not there') end
  local failed = call('ZSCORE', P .. 'f:' .. task.id, row.fp)
  if (row.state == FAILED) ~= (failed and tonumber(failed) == row.id or false) then
    found(row.url .. ' is ' .. state .. ', which the list of failed requests denies')
  end
  add(id .. '|items', row.itemCount)
  for seq = row.itemSeq, row.itemSeq + row.itemCount - 1 do
    if call('HEXISTS', P .. 'i:' .. task.id, seq) == 0 then found(row.url .. ' does not have the items that it counts') end
  end
end

local function checkRows(task, place)
  local rows, after = windowOf(task, place, size)
  for _, row in ipairs(rows) do
    if row then checkRow(row) else found('A request of task ' .. task.name .. ' is in the order and is not there') end
  end
  add(task.id .. '|known', #rows)
  return after
end

local function checkQueue(h, queue)
  local task = taskOf(queue.task)
  if not task then return end
  local ready = call('ZCARD', queueKey(task.id, h.key))
  add(task.id .. '|queued', ready)
  if queue.opened then add(task.id .. '|hosts', 1) end
  local score = call('ZSCORE', P .. 'd:' .. task.id, struct.pack('>I6', queue.id) .. h.key)
  local due = ready > 0 and dueOf(h, limitsOf(task, h))
  if due and not (score and tonumber(score) <= standsAt(h, math.max(due, now))) then
    found('Host ' .. h.key .. ' has work in task ' .. task.name .. ', but no turn')
  elseif ready == 0 and score then
    found('Host ' .. h.key .. ' has a turn in task ' .. task.name .. ', but no work')
  end
end

local function checkHosts(cursor)
  local window = call('HSCAN', P .. 'hosts', cursor, 'COUNT', size)
  for n = 1, #window[2], 2 do
    local h = unpackHost(window[2][n], window[2][n + 1])
    if h.inFlight ~= 0 then add('inFlight|' .. h.key, h.inFlight) end
    for _, queue in ipairs(h.queues) do checkQueue(h, queue) end
  end
  return window[1] == '0' and '' or window[1]
end

local function checkLeases()
  local all = call('HGETALL', P .. 'held')
  for n = 1, #all, 2 do
    local bar = string.find(all[n], '|', 1, true)
    local task = taskOf(string.sub(all[n], 1, bar - 1))
    local row = task and rowOf(task, string.sub(all[n], bar + 1))
    local held = unpackHeld(all[n + 1])
    if not row or row.state ~= PENDING then found('Request ' .. all[n] .. ' is leased, but not pending') end
    if not call('ZSCORE', P .. 'leases', all[n]) then found('The lease of request ' .. all[n] .. ' never expires') end
    if call('SISMEMBER', P .. 'owners', held.owner) == 0 then
      found('The lease of request ' .. all[n] .. ' has no owner')
    end
    if held.mode ~= ${UNPACED} then add('held|' .. held.host, 1) end
  end
  if #all / 2 ~= call('ZCARD', P .. 'leases') then found('The times of leases are not those of the leases') end
end

local function keptOf(task)
  local items = call('HLEN', P .. 'i:' .. task.id)
  return { task.id, call('HGETALL', task.key), call('HGETALL', P .. 'l:' .. task.id), items }
end

if part == 'rows' then
  local task = taskNamed(name)
  if task then nextPlace = tostring(checkRows(task, tonumber(from))) end
elseif part == 'kept' then
  for _, each in ipairs(call('HKEYS', P .. 'tasks')) do push(kept, { each, keptOf(taskNamed(each)) }) end
elseif part == 'hosts' then
  nextPlace = checkHosts(from)
elseif part == 'leases' then
  checkLeases()
else
  for _, each in ipairs(call('HKEYS', P .. 'tasks')) do
    local task, place = taskNamed(each), 0
    push(kept, { each, keptOf(task) })
    while place ~= '' do
      place = checkRows(task, place)
      -- rows that have been looked at are let go
      if place ~= '' then task.rows, task.raw = {}, {} end
    end
  end
  local cursor = '0'
  repeat cursor = checkHosts(cursor) until cursor == ''
  checkLeases()
end
local flat = {}
for key, n in pairs(sums) do push2(flat, key, n) end
return { 'ok', problems, flat, nextPlace, kept }
`
