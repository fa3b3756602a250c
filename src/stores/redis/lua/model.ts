/** What a script works with: arguments, the clock, and tasks, hosts and requests read once and written back together. */

import { dueAt } from '../../../frontier/order.ts'
import { initialHostState } from '../../../politeness/host-state.ts'
import { POLITENESS } from './politeness.ts'

/**
 * Keys, all with the store's prefix, which is a hash tag: one crawl lives in one slot.
 *
 * meta      hash    format, last numbers given, count of changes, the clock
 * tasks     hash    name → number of the task (its n below)
 * t:n       hash    settings, totals and counters of a task
 * l:n       hash    requests by state and depth, and skipped ones by reason
 * r:n       hash    fingerprint → request, packed
 * o:n       list    fingerprints in the order of ids
 * f:n       zset    failed requests by id
 * k:n       hash    fingerprint → what a settled page leads to; for tasks with a maximum depth
 * low:n     zset    depths that are still to be passed on: work that a script left to the next
 * i:n       hash    number → item
 * d:n       zset    hosts with something to lease, by the time of their next start, then by age; silent ones in a range
 *                   of their own, see dueAt in src/frontier/order.ts
 * q:n:host  zset    what may be leased of a host: by priority, then level, then id
 * z:n       zset    retries whose time has not come
 * hosts     hash    host key → state and queues, packed
 * held      hash    n|fingerprint → lease, packed
 * leases    zset    n|fingerprint by the time when the lease expires
 * owners    set     numbers of the owners; w:number is a hash of what is known of one
 * sweep     hash    numbers of cleared tasks whose queues are still to be deleted
 * state     hash    small named values; names is a zset of their keys
 * bell      channel rung when there may be work
 */
export const HEAD = `
local call = redis.call
local P = string.sub(KEYS[1], 1, -5)
local META = KEYS[1]
local at = 0
local function arg() at = at + 1 return ARGV[at] end
local function num() at = at + 1 return tonumber(ARGV[at]) end
local function opt() at = at + 1 local value = ARGV[at] return value ~= '' and value end
-- Of an answer: whole numbers as they are, others as text, because an answer cuts them off.
local function exact(n)
  if n == math.floor(n) then return n end
  return string.format('%.17g', n)
end

-- The clock never goes back: it stands on the server's, moved on by what that was set back.
local now, wall
local clockOffset, clockLast = 0, 0
do
  local testNow, testWall = num(), num()
  if testNow then
    now, wall = testNow, testWall
  else
    local noted = call('HMGET', META, 'clockOffset', 'clockLast')
    clockOffset, clockLast = tonumber(noted[1] or 0), tonumber(noted[2] or 0)
    local t = call('TIME')
    wall = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
    now = wall + clockOffset
    if now < clockLast then
      clockOffset = clockOffset + clockLast - now
      now = clockLast
    end
  end
end

-- Calls of one owner in one lane are numbered: what is repeated is answered, what comes too late is not done.
local owner, lane, callNumber = opt(), opt(), num()
local function begin()
  if not owner then return nil end
  local known = call('HMGET', P .. 'w:' .. owner, 'info', lane .. ':n', lane .. ':r')
  if not known[1] then return { 'unowned' } end
  local last = tonumber(known[2] or 0)
  if callNumber < last then return { 'late' } end
  if callNumber == last then return { 'again', known[3] or '' } end
  return nil
end

local randoms, randomsUsed = {}, 0
local function random()
  randomsUsed = randomsUsed + 1
  return randoms[randomsUsed] or 0.5
end
${POLITENESS}`

const INITIAL = initialHostState()

/** `mode` of a lease. */
export const PACED = 0
export const UNPACED = 1
export const SILENT = 2

export const MODEL = `
local PENDING, DONE, FAILED, SKIPPED = 0, 2, 3, 4
local STATES = { [0] = 'pending', [2] = 'done', [3] = 'failed', [4] = 'skipped' }
local tasks, hosts, isLoopback = {}, {}, {}
local changed, rang = false, false
local gone = { leases = {}, held = {} }
local nowHeld, expiries = {}, {}
local lastId

-- Arguments of any number, in pieces that fit the stack.
local function callMany(command, key, values)
  for from = 1, #values, 4000 do call(command, key, unpack(values, from, math.min(from + 3999, #values))) end
end

local function push(list, value) list[#list + 1] = value end

local function push2(list, a, b)
  local n = #list
  list[n + 1] = a
  list[n + 2] = b
end

local function taskOf(id)
  id = tonumber(id)
  if tasks[id] ~= nil then return tasks[id] end
  local key = P .. 't:' .. id
  local v = call('HMGET', key, 'name', 'order', 'maxDepth', 'delayMs', 'loopbackDelayMs', 'places', 'pending',
    'leased', 'done', 'failed', 'skipped', 'lastSeq')
  if not v[1] then
    tasks[id] = false
    return false
  end
  local task = {
    id = id, key = key, name = v[1], dfs = v[2] == 'dfs', maxDepth = tonumber(v[3] or ''), delay = tonumber(v[4]),
    loopbackDelay = tonumber(v[5]), places = math.max(1, tonumber(v[6])), counts = {
      pending = tonumber(v[7] or 0), leased = tonumber(v[8] or 0), done = tonumber(v[9] or 0),
      failed = tonumber(v[10] or 0), skipped = tonumber(v[11] or 0),
    },
    lastSeq = tonumber(v[12] or 0), rows = {}, order = {}, sums = {}, raw = {},
    levels = { pending = {}, leased = {}, done = {}, failed = {}, skipped = {}, skip = {} }, due = {}, notDue = {},
  }
  tasks[id] = task
  return task
end

local function taskNamed(name)
  local id = call('HGET', P .. 'tasks', name)
  return id and taskOf(id)
end

local function sum(task, field, by) task.sums[field] = (task.sums[field] or 0) + by end

-- The one place where counts change.
local function count(task, state, row, by)
  task.counts[state] = task.counts[state] + by
  sum(task, state, by)
  local level = task.levels[state]
  level[row.depth] = (level[row.depth] or 0) + by
  if state == 'skipped' then
    local skip = task.levels.skip
    skip[row.reason] = (skip[row.reason] or 0) + by
  end
end

local function limitsOf(task, h)
  return h.loopback and task.loopbackDelay or task.delay, task.places
end

local function unpackHost(key, raw)
  local v = cmsgpack.unpack(raw)
  local h = {
    key = key, nextAt = v[1], inFlight = v[2], crawlDelay = v[3], backoffStep = v[4], backoffAt = v[5], silent = v[6],
    downUntil = v[7], loopback = v[8], queues = {},
  }
  for n = 9, #v, 3 do h.queues[(n - 6) / 3] = { task = v[n], id = v[n + 1], opened = v[n + 2] } end
  return h
end

local function hostOf(key)
  local h = hosts[key]
  if h then return h end
  local raw = call('HGET', P .. 'hosts', key)
  if raw then
    h = unpackHost(key, raw)
  else
    h = {
      key = key, nextAt = ${INITIAL.nextAtMs}, inFlight = ${INITIAL.inFlight}, crawlDelay = ${INITIAL.crawlDelayMs},
      backoffStep = ${INITIAL.backoffStep}, backoffAt = ${INITIAL.backoffAtMs}, silent = ${INITIAL.silentFailures},
      downUntil = ${INITIAL.downUntilMs}, loopback = isLoopback[key] or false, queues = {}, dirty = true,
    }
  end
  hosts[key] = h
  return h
end

local function fetchHosts(keys)
  local missing = {}
  for _, key in ipairs(keys) do
    if not hosts[key] then push(missing, key) end
  end
  for from = 1, #missing, 4000 do
    local found = call('HMGET', P .. 'hosts', unpack(missing, from, math.min(from + 3999, #missing)))
    for n, raw in ipairs(found) do
      if raw then hosts[missing[from + n - 1]] = unpackHost(missing[from + n - 1], raw) end
    end
  end
end

-- What changes a host's state or queue: the times of all its queues are reckoned anew.
local function touch(h) h.dirty = true h.touched = true end

-- Where its queues stand that are due at an instant.
local function standsAt(h, due) return isSilent(h) and due + ${dueAt(0, true)} or due end

local function queueOf(task, key)
  local h = hostOf(key)
  for _, queue in ipairs(h.queues) do
    if queue.task == task.id then return queue, h end
  end
  local queue = { task = task.id, id = call('HINCRBY', META, 'lastQueueId', 1), opened = false }
  push(h.queues, queue)
  h.dirty = true
  return queue, h
end

local function queueKey(task, key) return P .. 'q:' .. task .. ':' .. key end

local function hostInUrl(url) return string.match(url, '^%a+://([^/?#]*)') end

local function rowFrom(task, fp, v)
  return {
    fp = fp, task = task, id = v[1], state = v[2], depth = v[3], url = v[4],
    host = v[5] == true and hostInUrl(v[4]) or v[5], parent = v[6] or false, priority = v[7] or 0, attempt = v[8] or 0,
    status = v[9] or false, itemSeq = v[10] or 0, itemCount = v[11] or 0, reason = v[12] or false,
    alias = v[13] or false, extra = v[14] or false, hop = v[15] or false, attempts = v[16] or false,
  }
end

local function packRow(row)
  local v = {
    row.id, row.state, row.depth, row.url, row.host == hostInUrl(row.url) or row.host, row.parent, row.priority,
    row.attempt, row.status, row.itemSeq, row.itemCount, row.reason, row.alias, row.extra, row.hop, row.attempts,
  }
  -- most end in what is not there
  local n = 16
  while n > 5 and (not v[n] or v[n] == 0) do
    v[n] = nil
    n = n - 1
  end
  return cmsgpack.pack(v)
end

-- What is kept of a request, as a list: false when there is nothing.
local function rawOf(task, fp)
  local v = task.raw[fp]
  if v == nil then
    local packed = call('HGET', P .. 'r:' .. task.id, fp)
    v = packed and cmsgpack.unpack(packed)
    task.raw[fp] = v
  end
  return v
end

local function rowOf(task, fp)
  local row = task.rows[fp]
  if row ~= nil then return row end
  local v = rawOf(task, fp)
  row = v and rowFrom(task, fp, v)
  task.rows[fp] = row
  return row
end

local function fetchRows(task, fps)
  local missing = {}
  for _, fp in ipairs(fps) do
    if task.rows[fp] == nil and task.raw[fp] == nil then push(missing, fp) end
  end
  for from = 1, #missing, 4000 do
    local found = call('HMGET', P .. 'r:' .. task.id, unpack(missing, from, math.min(from + 3999, #missing)))
    for n, raw in ipairs(found) do
      task.raw[missing[from + n - 1]] = raw and cmsgpack.unpack(raw)
    end
  end
end

local function heldName(row) return row.task.id .. '|' .. row.fp end

local function unpackHeld(raw)
  local v = cmsgpack.unpack(raw)
  return { token = v[1], owner = v[2], leasedAt = v[3], host = v[4], down = v[5], mode = v[6] or ${PACED} }
end

-- The lease of a row, or false.
local function heldOf(row)
  if row.held == nil then
    local raw = row.state == PENDING and call('HGET', P .. 'held', heldName(row))
    row.held = raw and unpackHeld(raw)
  end
  return row.held
end

local function stateOf(row)
  if row.state == PENDING and heldOf(row) then return 'leased' end
  return STATES[row.state]
end

-- Around every change of a row's state, reason or depth.
local function uncount(row)
  count(row.task, stateOf(row), row, -1)
  if row.state == FAILED then call('ZREM', P .. 'f:' .. row.task.id, row.fp) end
end

local function recount(row)
  row.dirty = true
  count(row.task, stateOf(row), row, 1)
  if row.state == FAILED then call('ZADD', P .. 'f:' .. row.task.id, row.id, row.fp) end
end

local function rootOf(row)
  local root = row
  for _ = 1, 1000 do
    if not root.alias then return root end
    local nextRow = rowOf(root.task, root.alias)
    if not nextRow then return root end
    root = nextRow
  end
  return root
end

local function memberOf(row, level)
  return struct.pack('>I4I6', math.min(math.max(level, -2000000000), 2000000000) + 2147483648, row.id) .. row.fp
end

local function hostNow(row) return row.hop and row.hop[2] or row.host end

-- Puts a pending row where it belongs: into its host's queue, or aside until its time has come.
local function place(row, retryAt)
  local task = row.task
  if retryAt then
    call('ZADD', P .. 'z:' .. task.id, retryAt, row.fp)
    return
  end
  local queue, h = queueOf(task, hostNow(row))
  local level = task.dfs and 0 - row.depth or row.depth
  call('ZADD', queueKey(task.id, h.key), 0 - row.priority, memberOf(row, level))
  queue.filled = true
  touch(h)
  if not queue.opened then
    queue.opened = true
    sum(task, 'hosts', 1)
  end
end

-- Takes it out of the queue: false when it was not there, so it is delayed or leased.
local function unqueue(row)
  local queue, h = queueOf(row.task, hostNow(row))
  local key = queueKey(row.task.id, h.key)
  if call('ZREM', key, memberOf(row, row.depth), memberOf(row, 0 - row.depth)) == 0 then return false end
  queue.filled = nil
  touch(h)
  return true
end

local function putBack(row, inMs)
  row.state = PENDING
  row.reason = false
  recount(row)
  place(row, inMs > 0 and now + inMs)
end

-- Ends a lease and tells the host what became of it. The row's new state is the caller's business.
local function endLease(row, signal, value)
  local held = heldOf(row)
  local name = heldName(row)
  push(gone.held, name)
  push(gone.leases, name)
  row.held = false
  if held.mode == ${UNPACED} then return held end
  local h = hostOf(held.host)
  local delay = limitsOf(row.task, h)
  settleHost(h, signal, value, held.leasedAt, delay)
  touch(h)
  return held
end

local function flushTask(task)
  local id = task.id
  local rows = {}
  for fp, row in pairs(task.rows) do
    if row and row.dirty then push2(rows, fp, packRow(row)) end
  end
  callMany('HSET', P .. 'r:' .. id, rows)
  callMany('RPUSH', P .. 'o:' .. id, task.order)
  for field, by in pairs(task.sums) do
    if by ~= 0 then call('HINCRBY', task.key, field, by) end
  end
  for kind, level in pairs(task.levels) do
    for which, by in pairs(level) do
      if by ~= 0 then call('HINCRBY', P .. 'l:' .. id, kind .. '|' .. which, by) end
    end
  end
  callMany('ZREM', P .. 'd:' .. id, task.notDue)
  callMany('ZADD', P .. 'd:' .. id, task.due)
end

local function flushHost(h, packed)
  local v = {
    h.nextAt, h.inFlight, h.crawlDelay, h.backoffStep, h.backoffAt, h.silent, h.downUntil, h.loopback,
  }
  for _, queue in ipairs(h.queues) do
    local task = taskOf(queue.task)
    if task then
      push2(v, queue.task, queue.id)
      push(v, queue.opened)
      if h.touched then
        local member = struct.pack('>I6', queue.id) .. h.key
        if queue.filled == nil then queue.filled = call('EXISTS', queueKey(task.id, h.key)) == 1 end
        local due = queue.filled and dueOf(h, limitsOf(task, h))
        if due then push2(task.due, standsAt(h, due), member) else push(task.notDue, member) end
      end
    else
      call('UNLINK', queueKey(queue.task, h.key))
    end
  end
  push2(packed, h.key, cmsgpack.pack(v))
end

local function flush()
  if lastId then call('HSET', META, 'lastId', lastId) end
  local packed = {}
  for _, h in pairs(hosts) do
    if h.dirty then flushHost(h, packed) end
  end
  callMany('HSET', P .. 'hosts', packed)
  for _, task in pairs(tasks) do
    if task then flushTask(task) end
  end
  callMany('HDEL', P .. 'held', gone.held)
  callMany('ZREM', P .. 'leases', gone.leases)
  callMany('HSET', P .. 'held', nowHeld)
  callMany('ZADD', P .. 'leases', expiries)
end

-- The last thing a script does: everything is written, the call is noted, those who wait are woken.
local function finish(reply)
  flush()
  call('HINCRBY', META, 'changes', 1)
  if now - clockLast >= 1000 then call('HSET', META, 'clockOffset', clockOffset, 'clockLast', now) end
  if owner then
    call('HSET', P .. 'w:' .. owner, 'seen', now, lane .. ':n', callNumber, lane .. ':r', reply or '')
  end
  if rang then call('PUBLISH', P .. 'bell', owner or '') end
  return { 'ok', reply or '' }
end
`
