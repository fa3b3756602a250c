/** Who comes next, in the server: leases given, renewed and taken back. */

import { dueAt, dueRange } from '../../../frontier/order.ts'
import { PACED, SILENT, UNPACED } from './model.ts'

/** How many expired leases, or retries that are due, one script deals with. */
const MAX_RETURNS = 1000

/** Steps of lowered depths that a lease goes on with. */
const MAX_LOWERED = 500

export const RETURNS = `
-- Nobody knows whether it was sent: the place is free again, the host's next time stays.
local function takeBack(name, charged)
  local bar = string.find(name, '|', 1, true)
  local task = taskOf(string.sub(name, 1, bar - 1))
  local row = task and rowOf(task, string.sub(name, bar + 1))
  if not row or not heldOf(row) then
    push(gone.held, name)
    push(gone.leases, name)
    return
  end
  uncount(row)
  endLease(row, 'troubled')
  if charged then row.attempt = row.attempt + 1 end
  putBack(row, 0)
  rang = true
end

-- Changes that a look makes, too: what can be given by time alone is put where a lease finds it.
local function takeBackExpired()
  local names = call('ZRANGEBYSCORE', P .. 'leases', '-inf', now, 'LIMIT', 0, ${MAX_RETURNS})
  for _, name in ipairs(names) do takeBack(name, true) end
end

local function placeDue(task)
  local key = P .. 'z:' .. task.id
  local fps = call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, ${MAX_RETURNS})
  if #fps == 0 then return end
  callMany('ZREM', key, fps)
  fetchRows(task, fps)
  for _, fp in ipairs(fps) do
    local row = rowOf(task, fp)
    if row and row.state == PENDING and not heldOf(row) then place(row) end
  end
  rang = true
end

local function continueLowering(task)
  local key = P .. 'low:' .. task.id
  local left = call('ZRANGE', key, 0, ${MAX_LOWERED - 1}, 'WITHSCORES')
  if #left == 0 then return end
  local work = {}
  for n = 1, #left, 2 do
    call('ZREM', key, left[n])
    push(work, { left[n], tonumber(left[n + 1]) })
  end
  lowerDepths(task, work)
  rang = true
end
`

const [ANSWERING, QUIET] = [dueRange(false, 0), dueRange(true, 0)]

export const LEASE_STEPS = `
local pageLimit
-- Where the hosts stand that are due by an instant: silent ones, or the others.
local function rangeOf(silent, untilMs)
  if silent then return ${QUIET.fromMs}, untilMs + ${QUIET.untilMs} end
  return ${ANSWERING.fromMs}, untilMs
end

local function budgetOf(task)
  if not pageLimit then return math.huge end
  return math.max(0, pageLimit - task.counts.done - task.counts.leased)
end

local function flushDue()
  for _, task in pairs(tasks) do
    if task then
      callMany('ZREM', P .. 'd:' .. task.id, task.notDue)
      callMany('ZADD', P .. 'd:' .. task.id, task.due)
      task.due, task.notDue = {}, {}
    end
  end
end

local function writeHosts()
  local packed = {}
  for _, h in pairs(hosts) do
    if h.dirty then
      flushHost(h, packed)
      h.dirty, h.touched = false, false
    end
  end
  callMany('HSET', P .. 'hosts', packed)
  flushDue()
end

-- Hosts of the task that can start now, in the order of their turn. What was due and cannot start after all, or stands
-- among those of the other kind since an older version, gets its time reckoned anew.
local function startable(task, max, found, silent)
  if budgetOf(task) == 0 then return end
  local from, to = rangeOf(silent, now)
  local key = P .. 'd:' .. task.id
  local skip, size = 0, max + 16
  while skip < max do
    local members = call('ZRANGEBYSCORE', key, from, to, 'WITHSCORES', 'LIMIT', skip, size)
    local keys = {}
    for n = 1, #members, 2 do push(keys, string.sub(members[n], 7)) end
    fetchHosts(keys)
    local wrong = false
    for n = 1, #members, 2 do
      local h = hostOf(string.sub(members[n], 7))
      if isSilent(h) == silent and mayStart(h, limitsOf(task, h)) then
        skip = skip + 1
        push(found, { task = task, h = h, member = members[n], turn = isDown(h) and 0 or h.nextAt, n = 0 })
      else
        wrong = true
        push(task.notDue, members[n])
        touch(h)
      end
    end
    if #members < 2 * size or not wrong then return end
    writeHosts()
  end
end

-- Queues that politeness keeps waiting, of hosts that may be given beside it.
local function unpacedQueues(task, keys, found)
  if budgetOf(task) == 0 then return end
  fetchHosts(keys)
  local waiting = {}
  for _, key in ipairs(keys) do
    local h = hosts[key]
    for _, queue in ipairs(h and h.queues or {}) do
      if queue.task == task.id and not mayStart(h, limitsOf(task, h)) then
        push(waiting, { task = task, h = h, id = queue.id, n = 0 })
      end
    end
  end
  table.sort(waiting, function(a, b) return a.id < b.id end)
  for _, f in ipairs(waiting) do push(found, f) end
end

-- How a request of the host is given now, if it may be; counted.
local unpaced, maxSilent = {}, math.huge
local function takeAllowance(task, h)
  if not mayStart(h, limitsOf(task, h)) then
    local count = unpaced[h.key] or 0
    unpaced[h.key] = count - 1
    return count > 0 and ${UNPACED}
  end
  if not isSilent(h) then return ${PACED} end
  maxSilent = maxSilent - 1
  return maxSilent >= 0 and ${SILENT}
end

-- In rounds, one request a host, so that a host with many places does not take them all. Reserves as it goes.
local function plan(found, max)
  local budgets, turn, round = {}, 0, found
  while #round > 0 and turn < max do
    local nextRound = {}
    for _, f in ipairs(round) do
      local task, h = f.task, f.h
      local budget = budgets[task] or budgetOf(task)
      f.ready = f.ready or call('ZCARD', queueKey(task.id, h.key))
      local mode = turn < max and budget > 0 and f.n < f.ready and takeAllowance(task, h)
      if mode then
        f.n = f.n + 1
        f.turns = f.turns or {}
        turn = turn + 1
        f.turns[f.n] = { turn, isDown(h), mode }
        if mode ~= ${UNPACED} then reserve(h, limitsOf(task, h)) end
        touch(h)
        budgets[task] = budget - 1
        push(nextRound, f)
      end
    end
    round = nextRound
  end
end

local function leaseReply(row, held, expiresAt)
  local hop = row.hop
  return {
    row.task.name, row.fp, tostring(row.id), row.url, row.host, exact(row.depth), exact(row.priority), row.extra or '',
    hop and hop[1] or '', held.host, hop and hop[3] or {}, row.attempt + 1, held.token, exact(held.leasedAt),
    exact(expiresAt), held.down and 1 or 0, held.mode,
  }
end

-- Moves the first requests of each planned queue into the leases.
local function take(found, token, leaseMs)
  local picked, byTask = {}, {}
  for _, f in ipairs(found) do
    if f.n > 0 then
      local key = queueKey(f.task.id, f.h.key)
      local members = call('ZRANGE', key, 0, f.n - 1)
      call('ZREMRANGEBYRANK', key, 0, f.n - 1)
      local queue = queueOf(f.task, f.h.key)
      queue.filled = f.ready > f.n
      byTask[f.task] = byTask[f.task] or {}
      for n, member in ipairs(members) do
        local fp = string.sub(member, 11)
        push(byTask[f.task], fp)
        picked[f.turns[n][1]] = { f = f, fp = fp, down = f.turns[n][2], mode = f.turns[n][3] }
      end
    end
  end
  for task, fps in pairs(byTask) do fetchRows(task, fps) end
  local leases = {}
  for n, p in ipairs(picked) do
    local row = rowOf(p.f.task, p.fp)
    local held = { token = token, owner = owner, leasedAt = now, host = p.f.h.key, down = p.down, mode = p.mode }
    count(row.task, 'pending', row, -1)
    count(row.task, 'leased', row, 1)
    row.held = held
    push2(nowHeld, heldName(row), cmsgpack.pack({ token, owner, now, held.host, held.down, held.mode }))
    push2(expiries, now + leaseMs, heldName(row))
    leases[n] = leaseReply(row, held, now + leaseMs)
  end
  return leases
end

-- What an earlier call gave whose answer was lost on the way.
local function givenBefore(token)
  local leases = {}
  local all = call('HGETALL', P .. 'held')
  for n = 1, #all, 2 do
    local held = unpackHeld(all[n + 1])
    if held.token == token then
      local bar = string.find(all[n], '|', 1, true)
      local task = taskOf(string.sub(all[n], 1, bar - 1))
      local row = task and rowOf(task, string.sub(all[n], bar + 1))
      local expiresAt = tonumber(call('ZSCORE', P .. 'leases', all[n]) or 0)
      if row then push(leases, leaseReply(row, held, expiresAt)) end
    end
  end
  return leases
end
`

/**
 * Arguments: names of tasks, max, leaseMs, page limit, most of silent hosts, and hosts with how many of each may be given
 * beside politeness. Answers the leases in the order of their turn.
 */
export const LEASE = `
local known = begin()
if known and known[1] == 'again' then return { 'ok', givenBefore(owner .. '.' .. callNumber) } end
if known then return known end
local named = {}
for n = 1, num() do
  named[n] = taskNamed(arg())
  if not named[n] then return { 'notask', ARGV[at] } end
end
local max, leaseMs = num(), num()
pageLimit = num()
maxSilent = num() or math.huge
local beside = {}
for n = 1, num() do
  beside[n] = arg()
  unpaced[beside[n]] = num()
end
for _, task in ipairs(named) do continueLowering(task) end
takeBackExpired()
for _, task in ipairs(named) do placeDue(task) end
writeHosts()
local found = {}
for _, task in ipairs(named) do
  startable(task, max, found, false)
  startable(task, math.min(max, maxSilent), found, true)
end
table.sort(found, function(a, b)
  if a.turn ~= b.turn then return a.turn < b.turn end
  return string.sub(a.member, 1, 6) < string.sub(b.member, 1, 6)
end)
for _, task in ipairs(named) do unpacedQueues(task, beside, found) end
plan(found, max)
local leases = take(found, owner .. '.' .. callNumber, leaseMs)
finish('')
return { 'ok', leases }
`

/** Arguments: names of tasks, page limit, most of silent hosts. Answers finished, ready, or wait with the milliseconds until something is due. */
export const LOOK = `
local named = {}
for n = 1, num() do
  named[n] = taskNamed(arg())
  if not named[n] then return { 'notask', ARGV[at] } end
end
pageLimit = num()
local kinds = num() == 0 and { false } or { false, true }
local nextAt, over, left = math.huge, true, false
local function consider(key)
  local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if first[2] then nextAt = math.min(nextAt, tonumber(first[2])) end
end
for _, task in ipairs(named) do
  local c = task.counts
  if c.leased > 0 or (c.pending > 0 and budgetOf(task) > 0) then over = false end
  if call('EXISTS', P .. 'low:' .. task.id) == 1 then left = true end
end
if over and not left then return { 'ok', 'finished' } end
consider(P .. 'leases')
for _, task in ipairs(named) do consider(P .. 'z:' .. task.id) end
if left or nextAt <= now then return { 'ok', 'ready' } end
for _, task in ipairs(named) do
  for _, silent in ipairs(budgetOf(task) > 0 and kinds or {}) do
    local from, to = rangeOf(silent, ${dueRange(false).untilMs})
    local members = call('ZRANGEBYSCORE', P .. 'd:' .. task.id, from, to, 'WITHSCORES', 'LIMIT', 0, 32)
    local wrong = 0
    for n = 1, #members, 2 do
      local h = hostOf(string.sub(members[n], 7))
      local due = tonumber(members[n + 1]) - (silent and ${dueAt(0, true)} or 0)
      if isSilent(h) ~= silent then return { 'ok', 'ready' } end
      if due > now or mayStart(h, limitsOf(task, h)) then
        nextAt = math.min(nextAt, due)
        break
      end
      -- due by what was known of it, but no more; a lease reckons anew when there are too many of them
      wrong = wrong + 1
      if h.inFlight < placesOf(h, task.places) then nextAt = math.min(nextAt, h.nextAt) end
    end
    if wrong == 32 then return { 'ok', 'ready' } end
  end
end
if nextAt <= now then return { 'ok', 'ready' } end
return { 'ok', 'wait', nextAt < math.huge and string.format('%.17g', nextAt - now) or '' }
`

/** Arguments: leaseMs, and task, fingerprint and token of each lease. Answers 1 or 0 each. */
export const RENEW = `
local known = begin()
if known then return known end
local leaseMs, answers = num(), {}
for n = 1, num() do
  local task, fp, token = taskNamed(arg()), arg(), arg()
  local row = task and rowOf(task, fp)
  local held = row and heldOf(row)
  if held and held.token == token then
    push2(expiries, now + leaseMs, heldName(row))
    answers[n] = '1'
  else
    answers[n] = '0'
  end
end
return finish(table.concat(answers))
`

/** Arguments: task, fingerprint and token of each lease whose request goes out only now. */
export const STARTED = `
local known = begin()
if known then return known end
for _ = 1, num() do
  local task, fp, token = taskNamed(arg()), arg(), arg()
  local row = task and rowOf(task, fp)
  local held = row and heldOf(row)
  if held and held.token == token then
    local h = hostOf(held.host)
    startLate(h, limitsOf(task, h))
    touch(h)
  end
end
return finish('')
`
